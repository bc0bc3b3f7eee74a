"""analytics: feedback.analytics and dead-letters → ClickHouse."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json

from schemas.dead_letters import HEADER_FIELDS, read_dead_letter
from schemas.feedback import AnalyticsRow
from schemas.topics import DEAD_LETTERS, FEEDBACK_ANALYTICS
from workers import metrics
from workers.agents.base import AgentDefinition, Handler, Resources
from workers.delivery.errors import UnreadableRecord
from workers.delivery.records import Record, Result, Work


def _handler(resources: Resources) -> Handler:
    async def handle(works: Sequence[Work]) -> Sequence[Result]:
        assert resources.analytics is not None
        results: list[Result] = []
        tables: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for work in works:
            try:
                table, columns = _row(work.record)
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


def _row(record: Record) -> tuple[str, dict[str, Any]]:
    if record.topic != DEAD_LETTERS.name:
        row = AnalyticsRow.from_bytes(record.value)
        return row.table, row.columns
    try:
        letter = read_dead_letter(record.key, record.value, record.headers)
    except ValidationError as error:
        raise UnreadableRecord(f"a dead letter lacks its reason ({error.error_count()} fields)") from None
    columns = letter.model_dump(mode="json", include={*HEADER_FIELDS, "key_base64", "value_base64"})
    # Revision 0: a letter that comes again never undoes the mark of its requeueing.
    return "dead_letters", columns | {"headers": to_json(letter.headers_base64).decode(), "revision": 0}


ANALYTICS = AgentDefinition("analytics", (FEEDBACK_ANALYTICS, DEAD_LETTERS), _handler, needs=("analytics",), sink=True)
