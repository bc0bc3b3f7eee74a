"""analytics: feedback.analytics and dead-letters → ClickHouse."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from schemas.topics import DEAD_LETTERS, FEEDBACK_ANALYTICS
from workers import metrics
from workers.agents.base import AgentDefinition, Handler, Resources
from workers.delivery.errors import UnreadableRecord
from workers.delivery.records import Result, Work
from workers.stores.recorded import stored_row


def _handler(resources: Resources) -> Handler:
    async def handle(works: Sequence[Work]) -> Sequence[Result]:
        assert resources.analytics is not None
        results: list[Result] = []
        tables: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for work in works:
            try:
                table, columns = stored_row(work.record)
                tables[table].append(columns)
                results.append([])
            except ValueError as error:
                results.append(error)
            except UnreadableRecord as error:
                results.append(error)
        for table, rows in tables.items():
            with metrics.SINK_FLUSH_SECONDS.labels("clickhouse").time():
                await resources.analytics.insert(table, rows)
            metrics.SINK_ROWS.labels("clickhouse", table).inc(len(rows))
        return results

    return handle


ANALYTICS = AgentDefinition("analytics", (FEEDBACK_ANALYTICS, DEAD_LETTERS), _handler, needs=("analytics",), sink=True)
