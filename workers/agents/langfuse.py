"""langfuse: answers.enriched, feedback.events, review.decisions → scores → Langfuse. Off without an address."""

import asyncio
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from schemas.enriched import EnrichedAnswer
from schemas.feedback import FeedbackEvent
from schemas.identifiers import LIVE_RUN
from schemas.topics import ANSWERS_ENRICHED, FEEDBACK_EVENTS, REVIEW_DECISIONS
from workers import metrics
from workers.agents.base import AgentDefinition, Handler, Resources
from workers.delivery.errors import ReceiverUnavailable, RefusedByReceiver
from workers.delivery.records import Record, Result, Work
from workers.exporters.langfuse import PATH, Event, LangfuseStyle, answer_events, feedback_events, requests, statuses
from workers.exporters.receiver import REFUSALS, Receiver
from workers.exporters.records import left_out
from workers.exporters.traces import seeded_trace_id
from workers.stores.answers import AnswerStore
from workers.stores.recorded import feedback_of

AGENT = "langfuse"

OVERTAKEN_SECONDS = 5.0
"""Feedback this young may have overtaken its answer on the way to ClickHouse, which is asked for the trace."""


@dataclass(slots=True)
class _Case:
    """One record on its way: left out, unreadable, feedback whose trace is still to be found, or events."""

    record: Record
    left_out: str | None = None
    failure: Exception | None = None
    feedback: FeedbackEvent | None = None
    events: list[Event] = field(default_factory=list)


class LangfuseExporter:
    """Turns batches into requests; all of a batch waits while Langfuse or ClickHouse is away.

    Args:
        resources: clock, settings and threads.
        receiver: Langfuse.
        store: knows the traces of answers.
    """

    def __init__(self, resources: Resources, receiver: Receiver, store: AnswerStore) -> None:
        settings = resources.settings.langfuse
        self._resources = resources
        self._receiver = receiver
        self._store = store
        self._style = LangfuseStyle(settings.environment, settings.tag_traces)

    async def handle(self, works: Sequence[Work]) -> Sequence[Result]:
        """Export a batch.

        Raises:
            ReceiverUnavailable: Langfuse is to be waited for.
            StoreUnavailable: ClickHouse is.
            RefusedByReceiver: a whole request is refused; whose fault it is shows when it is divided.
        """
        cases = [_Case(work.record) for work in works]
        # Enriched answers are the largest records there are: reading them is not for the loop.
        await asyncio.get_running_loop().run_in_executor(self._resources.steps_pool, self._read_all, cases)
        await self._place([case for case in cases if case.feedback is not None])
        told: dict[str, int] = {}
        for names, body in requests(event for case in cases for event in case.events):
            told |= await self._send(names, body)
        return [_result(case, told) for case in cases]

    def _read_all(self, cases: Sequence[_Case]) -> None:
        now, hours = self._resources.now(), self._resources.settings.exports.max_age_hours
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
        """Find the traces that feedback belongs to; an answer that is on its way is waited for, once."""
        asked = [(case.feedback.tenant, case.feedback.answer_id) for case in cases if case.feedback]
        if not asked:
            return
        found = await self._store.traces(asked)
        age = self._resources.now().timestamp() - max(case.record.timestamp for case in cases)
        if age < OVERTAKEN_SECONDS and not found.keys() >= set(asked):
            await asyncio.sleep(OVERTAKEN_SECONDS - max(0.0, age))
            found = await self._store.traces(asked)
        for case, key in zip(cases, asked, strict=True):
            assert case.feedback is not None
            trace = found.get(key)
            known = trace or (seeded_trace_id(case.feedback.answer_id) if trace is not None else None)
            case.events = feedback_events(case.feedback, known, self._style)

    async def _send(self, names: Sequence[str], body: bytes) -> dict[str, int]:
        """Send one request.

        Returns:
            The status of each of its events: taken, or refused for good.

        Raises:
            ReceiverUnavailable: something of it is not settled.
        """
        try:
            told = dict(statuses(await self._receiver.post(body, {})))
        except ValueError:
            raise ReceiverUnavailable(
                f"the receiver of {AGENT} confirms nothing; is its url that of Langfuse?"
            ) from None
        for name in names:
            status = told.get(name)
            if status is None:
                raise ReceiverUnavailable(f"the receiver of {AGENT} says nothing of an event")
            if not 200 <= status < 300 and status not in REFUSALS:
                raise ReceiverUnavailable(f"the receiver of {AGENT} answers with status {status} for an event")
        return told


def _result(case: _Case, told: Mapping[str, int]) -> Result:
    if case.failure is not None:
        return case.failure
    refused = [event["body"].get("name", event["type"]) for event in case.events if told[event["id"]] in REFUSALS]
    result = case.left_out or ("refused" if refused else "sent" if case.events else "not_said")
    metrics.EXPORTS.labels(AGENT, result).inc()
    if refused:
        return RefusedByReceiver(f"the receiver of {AGENT} refuses {', '.join(refused)}")
    return []


def _handler(resources: Resources) -> Handler:
    settings = resources.settings.langfuse
    assert resources.http is not None and resources.analytics is not None
    assert settings.url is not None and settings.secret_key is not None
    keys = b64encode(f"{settings.public_key}:{settings.secret_key.get_secret_value()}".encode()).decode()
    headers = {"Authorization": f"Basic {keys}", "Content-Type": "application/json"}
    receiver = Receiver(AGENT, resources.http, settings.url.rstrip("/") + PATH, headers)
    store = AnswerStore(resources.analytics, resources.settings.clickhouse.database)
    return LangfuseExporter(resources, receiver, store).handle


LANGFUSE = AgentDefinition(
    AGENT,
    (ANSWERS_ENRICHED, FEEDBACK_EVENTS, REVIEW_DECISIONS),
    _handler,
    needs=("http", "analytics"),
    # A later result of an answer, or of what somebody says, replaces an earlier one: none may pass another.
    ordered=True,
    switched_on=lambda settings: settings.langfuse.url is not None,
)
