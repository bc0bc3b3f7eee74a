"""analytics: feedback.analytics and dead-letters → ClickHouse."""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

from schemas.topics import DEAD_LETTERS, FEEDBACK_ANALYTICS
from workers.agents.base import AgentContext, AgentDefinition, Handler
from workers.delivery.records import Result, WorkItem
from workers.errors import UnreadableRecord
from workers.observability import metrics
from workers.stores.clickhouse.recorded_rows import stored_row


async def _open(context: AgentContext, stack: AsyncExitStack) -> Handler:
    store = await stack.enter_async_context(context.services.clickhouse())
    context.require("store-check", store.problem)

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
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
                await store.insert(table, rows)
            metrics.SINK_ROWS.labels("clickhouse", table).inc(len(rows))
        return results

    return handle


ANALYTICS = AgentDefinition(
    "analytics", (FEEDBACK_ANALYTICS, DEAD_LETTERS), _open, sink=True, stores=frozenset({"clickhouse"})
)
