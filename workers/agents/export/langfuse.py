"""Run the exporter langfuse: send scores to Langfuse. Off without an address.

It reads answers.enriched, feedback.events and review.decisions.
"""

import asyncio
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import orjson

from schemas.enriched import EnrichedAnswer
from schemas.feedback import FeedbackEvent
from schemas.identifiers import LIVE_RUN
from schemas.topics import ANSWERS_ENRICHED, FEEDBACK_EVENTS, REVIEW_DECISIONS
from workers.agents.base import AgentContext, AgentDefinition, Handler
from workers.delivery.records import Record, Result, WorkItem
from workers.errors import ReceiverUnavailable, RefusedByReceiver, RouteMissing
from workers.exporters.export_selection import left_out
from workers.exporters.langfuse_scores import (
    PATH,
    SCORES_PATH,
    Event,
    LangfuseStyle,
    answer_events,
    feedback_events,
    requests,
    statuses,
)
from workers.exporters.receiver import REFUSALS, Receiver
from workers.observability import metrics
from workers.observability.caller_traces import seeded_trace_id
from workers.stores.clickhouse.rows.recorded_rows import feedback_of
from workers.stores.queries.answer_queries import AnswerStore

AGENT = "langfuse"

OVERTAKEN_SECONDS = 5.0
"""Maximum age of feedback whose answer may not be in ClickHouse yet, where the trace is looked up."""


@dataclass(slots=True)
class _Case:
    """Hold one record during the export: left out, unreadable, feedback without its trace yet, or events."""

    record: Record
    left_out: str | None = None
    failure: Exception | None = None
    feedback: FeedbackEvent | None = None
    events: list[Event] = field(default_factory=list)


class LangfuseExporter:
    """Convert batches to requests; the whole batch waits while Langfuse or ClickHouse is unavailable.

    Args:
        context: clock, settings and threads.
        receiver: Langfuse's ingestion of batches.
        scores: Langfuse's route for single scores, used where there is no ingestion of batches.
        store: store of the traces of answers.
    """

    def __init__(self, context: AgentContext, receiver: Receiver, scores: Receiver, store: AnswerStore) -> None:
        settings = context.settings.langfuse
        self._context = context
        self._receiver = receiver
        self._scores = scores
        self._store = store
        self._style = LangfuseStyle(settings.environment, settings.tag_traces)

    async def handle(self, works: Sequence[WorkItem]) -> Sequence[Result]:
        """Export a batch.

        Raises:
            ReceiverUnavailable: Langfuse is unavailable; retry the batch.
            StoreUnavailable: ClickHouse is unavailable; retry the batch.
            RefusedByReceiver: a whole request is refused; dividing the batch finds the record.
        """
        cases = [_Case(work.record) for work in works]
        # Enriched answers are the largest records: parse them in a thread.
        await asyncio.get_running_loop().run_in_executor(self._context.steps_pool, self._read_all, cases)
        await self._place([case for case in cases if case.feedback is not None])
        events = [event for case in cases for event in case.events]
        try:
            told: dict[str, int] = {}
            for names, body in requests(events):
                told |= await self._send(names, body)
        except RouteMissing:
            told = await self._send_single(events)
        return [_result(case, told) for case in cases]

    def _read_all(self, cases: Sequence[_Case]) -> None:
        now, hours = self._context.now(), self._context.settings.exports.max_age_hours
        for case in cases:
            case.left_out = left_out(case.record, now, hours)
            try:
                if case.left_out is None:
                    self._read(case)
            except Exception as error:
                case.failure = error

    def _read(self, case: _Case) -> None:
        if case.record.topic == ANSWERS_ENRICHED.name:
            enriched = EnrichedAnswer.from_bytes(case.record.value)
            if enriched.run == LIVE_RUN:
                case.events = answer_events(enriched, self._style)
            else:
                case.left_out = "replay"
            return
        event = feedback_of(case.record)
        if event is None or event.explicit is None:
            case.left_out = "not_said"
        else:
            case.feedback = event

    async def _place(self, cases: Sequence[_Case]) -> None:
        """Find the traces of feedback; wait once for answers that are not stored yet."""
        asked = [(case.feedback.tenant, case.feedback.answer_id) for case in cases if case.feedback]
        if not asked:
            return
        found = await self._store.traces(asked)
        age = self._context.now().timestamp() - max(case.record.timestamp for case in cases)
        if age < OVERTAKEN_SECONDS and not found.keys() >= set(asked):
            await asyncio.sleep(OVERTAKEN_SECONDS - max(0.0, age))
            found = await self._store.traces(asked)
        for case, key in zip(cases, asked, strict=True):
            assert case.feedback is not None
            trace = found.get(key)
            known = trace or (
                seeded_trace_id(case.feedback.tenant, case.feedback.answer_id) if trace is not None else None
            )
            case.events = feedback_events(case.feedback, known, self._style)

    async def _send(self, names: Sequence[str], body: bytes) -> dict[str, int]:
        """Send one request.

        Returns:
            The status of each event: accepted or permanently refused.

        Raises:
            ReceiverUnavailable: the status of an event is unknown; retry the batch.
        """
        try:
            told = dict(statuses(await self._receiver.post(body, {})))
        except ValueError:
            raise ReceiverUnavailable(
                f"the export target of {AGENT} returned no confirmation; check that its url is the address of Langfuse"
            ) from None
        for name in names:
            status = told.get(name)
            if status is None:
                raise ReceiverUnavailable(f"the export target of {AGENT} returned no status for an event")
            if not 200 <= status < 300 and status not in REFUSALS:
                raise ReceiverUnavailable(f"the export target of {AGENT} returned status {status} for an event")
        return told

    async def _send_single(self, events: Sequence[Event]) -> dict[str, int]:
        """Send each score by itself; return the status of each event.

        Raises:
            ReceiverUnavailable: Langfuse did not confirm a score; retry the batch. Scores are sent under the same
                identifiers then, so that a repeat replaces.
        """
        told: dict[str, int] = {}
        for event in events:
            try:
                if event["type"] != "score-create":
                    raise RefusedByReceiver("only scores have a route of their own")
                await self._scores.post(orjson.dumps(event["body"]), {})
                told[event["id"]] = 200
            except RefusedByReceiver:
                told[event["id"]] = 400
        return told


def _result(case: _Case, told: Mapping[str, int]) -> Result:
    if case.failure is not None:
        return case.failure
    refused = [event["body"].get("name", event["type"]) for event in case.events if told[event["id"]] in REFUSALS]
    result = case.left_out or ("refused" if refused else "sent" if case.events else "not_said")
    metrics.EXPORTS.labels(AGENT, result).inc()
    if refused:
        return RefusedByReceiver(f"the export target of {AGENT} refused {', '.join(refused)}")
    return []


async def _open(context: AgentContext, stack: AsyncExitStack) -> Handler:
    settings = context.settings.langfuse
    assert settings.url is not None and settings.secret_key is not None
    session = await stack.enter_async_context(context.services.http())
    clickhouse = await stack.enter_async_context(context.services.clickhouse())
    context.require("store-check", clickhouse.problem)
    keys = b64encode(f"{settings.public_key}:{settings.secret_key.get_secret_value()}".encode()).decode()
    headers = {"Authorization": f"Basic {keys}", "Content-Type": "application/json"}
    batches, scores = (
        Receiver(AGENT, session, settings.url.rstrip("/") + path, headers) for path in (PATH, SCORES_PATH)
    )
    store = AnswerStore(clickhouse, context.settings.clickhouse.database)
    return LangfuseExporter(context, batches, scores, store).handle


LANGFUSE = AgentDefinition(
    AGENT,
    (ANSWERS_ENRICHED, FEEDBACK_EVENTS, REVIEW_DECISIONS),
    _open,
    # A later result replaces an earlier one of the same answer or feedback: keep their order.
    ordered=True,
    stores=frozenset({"clickhouse"}),
    switched_on=lambda settings: settings.langfuse.url is not None,
)
