"""Run the agent analytics: insert rows of feedback.analytics, and dead-letters, into ClickHouse."""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

from schemas.topics import DEAD_LETTERS, FEEDBACK_ANALYTICS
from workers.agents.base import AgentContext, AgentDefinition, Handler
from workers.delivery.records import Result, WorkItem
from workers.errors import RejectedByStore, UnreadableRecord
from workers.observability import metrics
from workers.stores.clickhouse.rows.recorded_rows import stored_rows


async def _open(context: AgentContext, stack: AsyncExitStack) -> Handler:
    store = await stack.enter_async_context(context.services.clickhouse())
    context.require("store-check", store.problem)

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        results: list[Result] = []
        tables: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for work in works:
            try:
                for table, columns in stored_rows(work.record):
                    tables[table].append(columns)
                results.append([])
            except ValueError as error:
                results.append(error)
            except UnreadableRecord as error:
                results.append(error)
        refused: RejectedByStore | None = None
        for table, rows in tables.items():
            try:
                with metrics.SINK_FLUSH_SECONDS.labels("clickhouse").time():
                    await store.insert(table, rows)
                metrics.SINK_ROWS.labels("clickhouse", table).inc(len(rows))
            except RejectedByStore as error:
                refused = error  # a refused row of one table does not keep back those of the others
        if refused is not None:
            raise refused
        return results

    return handle


ANALYTICS = AgentDefinition(
    "analytics", (FEEDBACK_ANALYTICS, DEAD_LETTERS), _open, sink=True, stores=frozenset({"clickhouse"})
)
