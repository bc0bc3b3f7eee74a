"""Where a replay writes: topics of its own, and rows of its own in ClickHouse."""

import asyncio
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from typing import Any

from schemas.enriched import EnrichedAnswer
from schemas.headers import event_headers
from schemas.identifiers import judgement_id
from schemas.topics import ANSWERS_ENRICHED, MEMORY_TURNS, REPORT_TOPICS, Topic
from workers.agents.whole import JudgedAnswer
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.steps.outcomes import conversation_turn
from workers.steps.rows import enriched_rows
from workers.stores.analytics import AnalyticsStore
from workers.stores.feedback import ask
from workers.stores.replays import ReplayRow

AGENT = "replay"

REJECTED = """
SELECT DISTINCT answer_id FROM {database}.review_decisions FINAL
WHERE ruling = 'final' AND action = 'reject' AND answer_id IN {{answers:Array(String)}}
"""

SHADOWED: tuple[Topic, ...] = (*REPORT_TOPICS.values(), ANSWERS_ENRICHED)
"""Topics that a replay writes its own kind of."""


def shadow(topic: Topic, run: str) -> Topic:
    """The topic of a replay beside a topic."""
    return replace(topic, name=f"{topic.name}.shadow.{run}", joined=False)


class ReplayOutputs:
    """Writes what a replay finds, confirmed.

    Args:
        producer: connected producer.
        analytics: connected store.
        row: the replay.
        database: where the tables are.
        memory: whether turns are sent to memory.
    """

    def __init__(
        self, producer: ConfirmedProducer, analytics: AnalyticsStore, row: ReplayRow, database: str, *, memory: bool
    ) -> None:
        self._producer, self._analytics = producer, analytics
        self._run, self._version, self._memory = row.run, row.pipeline_version, memory
        self._about = f"{row.run} {row.started_at.isoformat()}"
        self._rejected = REJECTED.format(database=database)
        self._shadows = {topic.name: shadow(topic, row.run) for topic in SHADOWED}

    async def write(self, judged: Sequence[JudgedAnswer]) -> None:
        """Write answers to the topics, then to ClickHouse; done again, it replaces itself.

        Raises:
            BrokerUnavailable, ResultTooLarge: the broker does not confirm.
            StoreUnavailable, RejectedByStore: ClickHouse does not.
        """
        rejected = await self._rejected_among(judged)
        outputs, tables = await asyncio.to_thread(self._made, judged, rejected)
        await self._producer.send(outputs, agent=AGENT)
        for table, rows in tables.items():
            await self._analytics.insert(table, rows, about=self._about)

    async def _rejected_among(self, judged: Sequence[JudgedAnswer]) -> set[str]:
        """Answers that a person has rejected: whatever this version says, they are not to be remembered."""
        if not self._memory or not judged:
            return set()
        names = [each.enriched.answer_id for each in judged]
        return {row[0] for row in await ask(self._analytics, self._rejected, {"answers": names})}

    def _made(
        self, judged: Sequence[JudgedAnswer], rejected: Container[str]
    ) -> tuple[list[Output], dict[str, list[dict[str, Any]]]]:
        tables: dict[str, list[dict[str, Any]]] = {}
        for each in judged:
            for row in enriched_rows(each.enriched):
                tables.setdefault(row.table, []).append(row.columns)
        return [output for each in judged for output in self._outputs(each, rejected)], tables

    def _outputs(self, judged: JudgedAnswer, rejected: Container[str]) -> Iterable[Output]:
        enriched = judged.enriched
        for report, value in judged.reports:
            topic = self._shadows[REPORT_TOPICS[report.agent].name]
            yield self._output(topic, enriched, type(report).__name__, report.judgement_id, value)
        event_id = judgement_id(enriched.answer_id, "assembly", self._run)
        yield self._output(self._shadows[ANSWERS_ENRICHED.name], enriched, "EnrichedAnswer", event_id, judged.value)
        turn = conversation_turn(enriched) if self._memory and enriched.answer_id not in rejected else None
        if turn is not None:
            key = turn.session_id or turn.answer_id
            yield self._output(MEMORY_TURNS, enriched, "ConversationTurn", turn.turn_id, turn.to_bytes(), key)

    def _output(
        self, topic: Topic, enriched: EnrichedAnswer, kind: str, event_id: str, value: bytes, key: str | None = None
    ) -> Output:
        trace = enriched.answer.trace
        headers = event_headers(
            event_id=event_id,
            event_type=kind,
            time=enriched.enriched_at,
            pipeline_version=self._version,
            traceparent=trace.traceparent if trace else None,
            replay_id=self._run,
            agent=AGENT,
        )
        return Output(topic, (key or enriched.answer_id).encode(), value, headers)
