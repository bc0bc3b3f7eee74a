"""Write the results of a replay to separate topics and to rows with its name in ClickHouse."""

import asyncio
from collections.abc import Container, Iterable, Sequence

from schemas.enriched import EnrichedAnswer
from schemas.headers import event_headers
from schemas.identifiers import judgement_id, record_key
from schemas.topics import ANSWERS_ENRICHED, MEMORY_TURNS, SHADOWED, Topic, shadow
from workers.decision.decision_basis import DecisionBasis, basis_of
from workers.decision.release_events import conversation_turn
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.pipeline.pipeline import EvaluatedAnswer
from workers.pipeline.reports import report_topic
from workers.settings import Settings
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.clickhouse.row_reading import ask, in_parameters
from workers.stores.clickhouse.rows.clickhouse_rows import enriched_rows
from workers.stores.queries.runs.replay_records import StoredReplay
from workers.stores.tables.table_row import TableRow

AGENT = "replay"

REJECTED = """
SELECT DISTINCT tenant, answer_id FROM {database}.review_decisions FINAL
WHERE ruling IN ('final', 'withdrawal') AND action = 'reject' AND answer_id IN {{answers:Array(String)}}
"""


class ReplayOutputs:
    """Writes results of a replay and waits for the acknowledgement.

    Args:
        producer: connected producer.
        analytics: connected store.
        row: the replay.
        settings: database of the tables, and the policy of decisions.
        memory: send turns to memory.
    """

    def __init__(
        self,
        producer: ConfirmedProducer,
        analytics: AnalyticsStore,
        row: StoredReplay,
        settings: Settings,
        *,
        memory: bool,
    ) -> None:
        self._producer, self._analytics, self._settings = producer, analytics, settings
        self._run, self._version, self._memory = row.run, row.pipeline_version, memory
        self._about = f"{row.run} {row.started_at.isoformat()}"
        self._rejected = REJECTED.format(database=settings.clickhouse.database)
        self._shadows = {topic.name: shadow(topic, row.run) for topic in SHADOWED}

    async def write(self, judged: Sequence[EvaluatedAnswer]) -> None:
        """Write answers to the topics, then to ClickHouse; a repetition overwrites.

        Raises:
            BrokerUnavailable, ResultTooLarge: the broker does not acknowledge.
            StoreUnavailable, RejectedByStore: ClickHouse does not acknowledge.
        """
        rejected = await self._rejected_among(judged)
        outputs, rows = await asyncio.to_thread(self._made, judged, rejected)
        await self._producer.send(outputs, agent=AGENT)
        await self._analytics.store(rows, about=self._about)

    async def _rejected_among(self, judged: Sequence[EvaluatedAnswer]) -> set[tuple[str, str]]:
        """Return the answers that a person has rejected; they must not be remembered."""
        if not self._memory or not judged:
            return set()
        names = dict.fromkeys(each.enriched.answer_id for each in judged)
        rejected: set[tuple[str, str]] = set()
        for part in in_parameters(names, lambda name: [name]):
            rejected |= {(row[0], row[1]) for row in await ask(self._analytics, self._rejected, {"answers": part})}
        return rejected

    def _made(
        self, judged: Sequence[EvaluatedAnswer], rejected: Container[tuple[str, str]]
    ) -> tuple[list[Output], list[TableRow]]:
        outputs = [output for each in judged for output in self._outputs(each, rejected)]
        return outputs, [row for each in judged for row in enriched_rows(each.enriched, self._basis(each.enriched))]

    def _basis(self, enriched: EnrichedAnswer) -> DecisionBasis:
        settings = self._settings
        return basis_of(enriched, settings.gate, settings.grounding, settings.decision)

    def _outputs(self, judged: EvaluatedAnswer, rejected: Container[tuple[str, str]]) -> Iterable[Output]:
        enriched = judged.enriched
        name = enriched.tenant, enriched.answer_id
        for report, value in judged.reports:
            topic = self._shadows[report_topic(report.agent).name]
            yield self._output(topic, enriched, type(report).__name__, report.judgement_id, value)
        event_id = judgement_id(enriched.tenant, enriched.answer_id, "assembly", self._run)
        yield self._output(self._shadows[ANSWERS_ENRICHED.name], enriched, "EnrichedAnswer", event_id, judged.value)
        turn = conversation_turn(enriched) if self._memory and name not in rejected else None
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
        return Output(topic, record_key(enriched.tenant, key or enriched.answer_id).encode(), value, headers)
