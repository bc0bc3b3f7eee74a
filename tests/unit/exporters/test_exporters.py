"""Exporters against receivers that enforce their documented formats: what arrives, what waits, what is given up."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from google.protobuf.json_format import MessageToDict
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from pydantic import ValidationError

from schemas.answers import TraceReference
from schemas.enriched import EnrichedAnswer
from schemas.export import example
from schemas.feedback import ExplicitSignals, FeedbackEvent
from schemas.release import Alert
from schemas.review import ReviewDecision, ReviewRequest
from schemas.topics import (
    ALERTS_RAISED,
    ANSWERS_ENRICHED,
    DEAD_LETTERS,
    FEEDBACK_EVENTS,
    REVIEW_DECISIONS,
    REVIEW_REQUESTS,
    Topic,
)
from tests.harness.deployment import until
from tests.harness.paths import DATA
from tests.harness.receivers import Langfuse, OtlpCollector, WebhookReceiver, serving
from workers.agents.base import AgentContext, AgentDefinition
from workers.agents.export.langfuse import LangfuseExporter
from workers.agents.export.otel import OTEL
from workers.agents.export.webhooks import ALERT_WEBHOOK, REVIEW_WEBHOOK
from workers.delivery.failures.attempts import AttemptJournal
from workers.delivery.failures.breaker import DeadLetterBreaker
from workers.delivery.failures.dead_letter_sender import DeadLetterSender
from workers.delivery.failures.handler_calls import Handler
from workers.delivery.followers.erasure_follower import ErasureRegister
from workers.delivery.limits import BatchLimits
from workers.delivery.processing import BatchProcessor
from workers.delivery.records import Output, Record, WorkItem
from workers.exporters import langfuse_scores as langfuse
from workers.exporters.evaluations import evaluations
from workers.exporters.otlp_events import OtlpEvents, parsed_headers
from workers.exporters.receiver import Receiver as Client
from workers.exporters.receiver import open_session
from workers.exporters.slack_messages import slack_message
from workers.exporters.webhook_messages import alert_notice, review_notice, signature_headers
from workers.feedback.observed_events import review_event
from workers.observability import metrics
from workers.observability.caller_traces import exemplar, named_place, seeded_trace_id, trace_place
from workers.runtime.agent_choice import AGENTS, EXPORTERS, AgentSwitchedOff, chosen_agents
from workers.runtime.health import HealthServer
from workers.services.shared_service import SharedService
from workers.services.shared_services import SharedServices
from workers.settings import BreakerSettings, DeliverySettings, ExportSettings, Settings
from workers.settings.addresses import Addresses

NOW = datetime(2026, 11, 2, 9, tzinfo=UTC)
SECRET = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PRIVATE = "unmistakable words"


class Producer:
    """Confirms at once; dead letters are what these agents send."""

    def __init__(self) -> None:
        self.sent: list[Output] = []

    async def send(self, outputs: Sequence[Output], *, agent: str) -> None:
        self.sent.extend(outputs)


class Acknowledgements:
    def __init__(self) -> None:
        self.offsets: list[int] = []

    def is_current(self, epoch: int) -> bool:
        return True

    def acknowledge(self, topic: str, partition: int, offset: int, epoch: int) -> bool:
        self.offsets.append(offset)
        return True


class Traces:
    """The look-up of traces, as ClickHouse would answer it."""

    def __init__(self, known: dict[tuple[str, str], str]) -> None:
        self.known = known
        self.asked = 0

    async def traces(self, answers: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
        self.asked += 1
        return {key: self.known[key] for key in answers if key in self.known}


class Export:
    """One exporting agent at work on records that a test hands it."""

    def __init__(self, processor: BatchProcessor, producer: Producer, acknowledged: Acknowledgements) -> None:
        self.processor = processor
        self.dead = producer.sent
        self.acknowledged = acknowledged.offsets
        self._offset = 0

    async def give(self, topic: Topic, *values: bytes, **more: Any) -> None:
        for value in values:
            record = Record(topic.name, 0, self._offset, b"k", value, **({"timestamp": NOW.timestamp()} | more))
            await self.processor.submit(WorkItem(record))
            self._offset += 1

    async def done(self) -> None:
        assert await self.processor.drain(20)
        assert sorted(self.acknowledged) == list(range(self._offset))

    def reasons(self) -> list[str]:
        assert {output.topic.name for output in self.dead} <= {DEAD_LETTERS.name}
        return [dict(output.headers)["dlq_error_class"].decode() for output in self.dead]


Start = Callable[..., Any]


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    running: list[BatchProcessor] = []
    stack = AsyncExitStack()
    session = await stack.enter_async_context(open_session(ExportSettings(timeout_seconds=60)))
    pool = ThreadPoolExecutor(2)

    def context(given: dict[str, Any]) -> AgentContext:
        settings, addresses = Settings(_env_file=None, **given), Addresses("", "", "", local=True)
        services = SharedServices(settings, addresses)
        services.http = SharedService(lambda: nullcontext(session))
        return AgentContext(settings, addresses, "1-abc", services, Producer(), ErasureRegister(), pool, lambda: NOW)

    def run(name: str, handler: Handler, batch: int = 4) -> Export:
        producer, acknowledged = Producer(), Acknowledgements()
        delivery = DeliverySettings(retry_initial_seconds=0.01, retry_max_seconds=0.05, max_attempts=2)
        processor = BatchProcessor(
            name, handler, acknowledged, producer, DeadLetterSender(producer, "1"), delivery, BatchLimits(batch, 0.05),
            AttemptJournal(tmp_path / name, "g"), DeadLetterBreaker(name, BreakerSettings()), ErasureRegister(),
        )  # fmt: skip
        processor.start()
        running.append(processor)
        return Export(processor, producer, acknowledged)

    async def make(agent: AgentDefinition, **settings: Any) -> Export:
        return run(agent.name, await agent.open(context(settings), stack))

    def make_langfuse(taking: Langfuse, traces: Traces | None = None, **more: Any) -> Export:
        given = {"url": taking.url, "public_key": taking.keys[0], "secret_key": taking.keys[1], **more}
        made = context({"langfuse": given})
        keys = {"Authorization": "Basic " + _basic(*taking.keys), "Content-Type": "application/json"}
        batches, scores = (
            Client("langfuse", session, taking.url + path, keys) for path in (langfuse.PATH, langfuse.SCORES_PATH)
        )
        return run("langfuse", LangfuseExporter(made, batches, scores, traces or Traces({})).handle)

    make.langfuse = make_langfuse
    yield make
    for processor in running:
        await processor.stop()
    await stack.aclose()
    pool.shutdown()


def _basic(user: str, password: str) -> str:
    from base64 import b64encode

    return b64encode(f"{user}:{password}".encode()).decode()


def answered(name: str = "a-1", traceparent: str | None = f"00-{TRACE}-{SPAN}-01", **more: Any) -> EnrichedAnswer:
    enriched = EnrichedAnswer.model_validate(example(EnrichedAnswer) | {"answer_id": name} | more)
    enriched.answer.answer_id = name
    enriched.answer.trace = TraceReference(traceparent=traceparent) if traceparent else None
    return enriched


def alert(name: str, severity: str = "warning") -> bytes:
    return Alert.model_validate(example(Alert) | {"alert_id": name, "severity": severity}).to_bytes()


def vote(name: str, action: str | None = "upvote", **more: Any) -> bytes:
    said = {"vote": {"upvote": "up", "downvote": "down"}[action]} if action else {}
    event = example(FeedbackEvent) | {"answer_id": name, "feedback_id": f"f-{name}", "explicit": said} | more
    return FeedbackEvent.model_validate(event).to_bytes()


# ---------------------------------------------------------------- what is told


def test_every_score_that_is_known_is_told_and_none_that_is_not() -> None:
    enriched = answered()
    enriched.evaluation.metrics["freshness"] = None
    told = {each.name: each for each in evaluations(enriched)}
    assert set(told) == {
        "faithfulness", "relevance", "correctness", "coverage", "consistency", "traceability",
        "gate_score", "grounding_score", "hallucination_risk", "quality_score", "release",
    }  # fmt: skip
    assert (told["gate_score"].value, told["gate_score"].label) == (0.9314, "pass")
    assert (told["release"].value, told["release"].label) == (None, "released")
    bare = answered(failed=["grounding"], missing=["quality"], grounding=None, quality=None, evaluation={})
    assert [(each.name, each.error) for each in evaluations(bare)] == [
        ("release", None), ("grounding", "evaluation_failed"), ("quality", "evaluation_missing"),
    ]  # fmt: skip


def test_no_text_of_an_answer_is_told() -> None:
    enriched = answered()
    enriched.answer.answer = enriched.answer.query = PRIVATE
    for claim in enriched.grounding.claims if enriched.grounding else []:
        claim.text = PRIVATE
    assert PRIVATE not in str(evaluations(enriched))
    request = ReviewRequest.model_validate(example(ReviewRequest) | {"query": PRIVATE, "answer": PRIVATE})
    assert PRIVATE.encode() not in review_notice(request, None).body() + slack_message(review_notice(request, None))


@pytest.mark.parametrize(
    ("trace", "context", "named"),
    [
        (None, None, (seeded_trace_id("acme-ops", "a-1"), None)),
        ({"traceparent": f"00-{TRACE}-{SPAN}-01"}, (TRACE, SPAN), (TRACE, SPAN)),
        ({"trace_id": TRACE}, (TRACE, None), (TRACE, None)),
        # Another trace than that of the span: the sender's name counts where names are free.
        ({"traceparent": f"00-{TRACE}-{SPAN}-01", "trace_id": "lf-7"}, (TRACE, SPAN), ("lf-7", None)),
        ({"traceparent": "nonsense"}, None, (seeded_trace_id("acme-ops", "a-1"), None)),
    ],
)
def test_an_answer_stands_where_its_sender_says(trace: Any, context: Any, named: Any) -> None:
    answer = answered().answer
    answer.trace = TraceReference.model_validate(trace) if trace else None
    place = trace_place(answer)
    assert (place and (place.trace_id, place.span_id)) == context
    assert (named_place(answer).trace_id, named_place(answer).span_id) == named


def test_an_exemplar_is_of_a_trace_that_somebody_keeps() -> None:
    assert exemplar(answered().answer) == {"trace_id": TRACE, "span_id": SPAN}
    assert exemplar(answered(traceparent=f"00-{TRACE}-{SPAN}-00").answer) is None
    assert exemplar(answered(traceparent=None).answer) is None


async def test_the_histograms_carry_the_trace_where_openmetrics_is_asked_for() -> None:
    metrics.RESPONSE_QUALITY.observe(0.42, exemplar(answered().answer))
    server = HealthServer("127.0.0.1", 0, dict)
    url = f"http://127.0.0.1:{await server.start()}/metrics"
    try:
        async with httpx.AsyncClient() as client:
            plain = await client.get(url)
            asked = await client.get(
                url, headers={"Accept": "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.4"}
            )
    finally:
        await server.stop()
    assert TRACE not in plain.text
    assert asked.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    families = {family.name: family for family in openmetrics(asked.text)}
    told = [s.exemplar for s in families["touchstone_response_quality_score"].samples if s.exemplar]
    assert {"trace_id": TRACE, "span_id": SPAN} in [each.labels for each in told]


# ---------------------------------------------------------------- OpenTelemetry


async def test_the_events_hang_below_the_span_of_the_answer(start: Start) -> None:
    collector = OtlpCollector(headers={"Authorization": "Bearer a b"})
    async with serving(collector, "/v1/logs"):
        otel = {"endpoint": f"{collector.url}/v1/logs", "headers": "Authorization=Bearer%20a%20b"}
        export = await start(OTEL, otel=otel)
        await export.give(
            ANSWERS_ENRICHED,
            answered("a-1").to_bytes(),
            answered("a-2", traceparent=None).to_bytes(),
            answered("a-3", failed=["grounding"], grounding=None).to_bytes(),
        )
        await export.done()
    of = {name: [e for e in collector.events if e["gen_ai.response.id"] == name] for name in ("a-1", "a-2", "a-3")}
    assert {(e["trace_id"], e["span_id"], e["flags"]) for e in of["a-1"]} == {(TRACE, SPAN, 1)}
    assert {(e["trace_id"], e["span_id"]) for e in of["a-2"]} == {("", "")}
    told = {e["gen_ai.evaluation.name"]: e for e in of["a-1"]}
    assert told["faithfulness"]["gen_ai.evaluation.score.value"] == 0.9433
    assert told["hallucination_risk"]["gen_ai.evaluation.score.label"] == "low"
    failed = {e["gen_ai.evaluation.name"]: e.get("error.type") for e in of["a-3"]}
    assert failed["grounding"] == "evaluation_failed"
    assert collector.resources[0] == {"service.name": "touchstone", "service.version": "1-abc"}


async def test_a_repeat_has_the_same_identifiers(start: Start) -> None:
    collector = OtlpCollector()
    async with serving(collector, "/v1/logs"):
        export = await start(OTEL, otel={"endpoint": f"{collector.url}/v1/logs"})
        await export.give(ANSWERS_ENRICHED, answered().to_bytes(), answered().to_bytes())
        await export.done()
    names = [event["log.record.uid"] for event in collector.events]
    assert len(names) == 2 * len(set(names)) == 24


async def test_a_complete_result_is_another_event_than_the_degraded_one_before_it(start: Start) -> None:
    collector = OtlpCollector()
    async with serving(collector, "/v1/logs"):
        export = await start(OTEL, otel={"endpoint": f"{collector.url}/v1/logs"})
        degraded = answered().model_copy(update={"rank": 2, "degraded": True})
        await export.give(ANSWERS_ENRICHED, degraded.to_bytes(), answered().to_bytes())
        await export.done()
    names = [event["log.record.uid"] for event in collector.events]
    assert len(names) == len(set(names))


async def test_what_a_collector_rejects_is_a_dead_letter_and_nothing_else_is(start: Start) -> None:
    collector = OtlpCollector(reject=lambda event: event["gen_ai.response.id"] == "a-2")
    async with serving(collector, "/v1/logs"):
        export = await start(OTEL, otel={"endpoint": f"{collector.url}/v1/logs"})
        await export.give(ANSWERS_ENRICHED, *(answered(f"a-{n}").to_bytes() for n in range(4)), b"{}")
        await export.done()
    assert sorted(export.reasons()) == ["RefusedByReceiver", "UnreadableEvent"]
    assert {event["gen_ai.response.id"] for event in collector.events} == {"a-0", "a-1", "a-3"}


async def test_what_a_proxy_says_is_no_confirmation(start: Start) -> None:
    collector = OtlpCollector(pages=[b"<html>log in</html>", b"ok"])
    async with serving(collector, "/v1/logs"):
        export = await start(OTEL, otel={"endpoint": f"{collector.url}/v1/logs"})
        await export.give(ANSWERS_ENRICHED, answered().to_bytes())
        await export.done()
    assert collector.requests == 3
    assert len(collector.events) == 12


@pytest.mark.parametrize(
    ("body", "rejected"),
    [(b"", 0), (b"{}", 0), (b'{"partialSuccess": {}}', 0), (b'{"partialSuccess": {"rejectedLogRecords": "2"}}', 2)],
)
def test_an_answer_is_read_in_both_encodings_of_otlp(body: bytes, rejected: int) -> None:
    assert OtlpEvents("touchstone", "1").rejected(body) == rejected


async def test_a_confirmation_that_is_lost_doubles_nothing_at_who_keeps_identifiers(start: Start) -> None:
    scores, hook = Langfuse(lost=1), WebhookReceiver(secret=SECRET, clock=NOW.timestamp, lost=1)
    async with serving(scores, langfuse.PATH), serving(hook, "/hook"):
        exports = (
            (start.langfuse(scores), ANSWERS_ENRICHED, answered().to_bytes()),
            (
                await start(ALERT_WEBHOOK, alert_webhook={"url": f"{hook.url}/hook", "secret": SECRET}),
                ALERTS_RAISED,
                alert("w"),
            ),
        )
        for export, topic, value in exports:
            await export.give(topic, value)
            await export.done()
    assert (scores.requests, len(scores.scores)) == (2, 13)
    assert hook.identifiers == ["w", "w"]


def test_headers_are_those_of_the_environment_variable_of_opentelemetry() -> None:
    assert parsed_headers("a=1, b = x%20y,,c=p=q") == {"a": "1", "b": "x y", "c": "p=q"}


# ---------------------------------------------------------------- waiting and giving up


@pytest.mark.parametrize("status", [301, 401, 403, 404, 410, 429, 500, 503])
async def test_a_receiver_that_is_away_or_refuses_us_costs_no_record_and_is_told_nothing_twice(
    start: Start, status: int
) -> None:
    taking = WebhookReceiver(secret=SECRET, clock=NOW.timestamp)
    async with serving(taking, "/hook"):
        export = await start(ALERT_WEBHOOK, alert_webhook={"url": f"{taking.url}/hook", "secret": SECRET})
        taking.away = status
        await export.give(ALERTS_RAISED, *(alert(f"w-{number}") for number in range(6)))

        async def tried() -> bool:
            return taking.requests > 2 and export.processor.waiting_for is not None

        await until(tried, "the receiver is waited for", 60, 0.01)
        assert export.acknowledged == []
        assert str(status) in str(export.processor.waiting_for)
        # One comes through, the next does not: the first is not told again.
        taking.troubles = [(503, {"Retry-After": "0"})]
        taking.away = None
        await export.done()
    assert sorted(taking.identifiers) == [f"w-{number}" for number in range(6)]
    assert export.dead == []


async def test_nobody_at_the_address_is_waited_for(start: Start) -> None:
    export = await start(ALERT_WEBHOOK, alert_webhook={"url": "http://127.0.0.1:9/hook", "secret": SECRET})
    await export.give(ALERTS_RAISED, alert("w"))

    async def waiting() -> bool:
        return export.processor.waiting_for is not None

    await until(waiting, "the receiver is waited for", 60, 0.01)
    assert "127.0.0.1" not in str(export.processor.waiting_for), "an address may be a secret"
    assert export.acknowledged == export.dead == []


async def test_a_pause_that_is_asked_for_is_kept(start: Start) -> None:
    taking = WebhookReceiver(secret=SECRET, clock=NOW.timestamp, troubles=[(429, {"Retry-After": "1"})])
    async with serving(taking, "/hook"):
        export = await start(ALERT_WEBHOOK, alert_webhook={"url": f"{taking.url}/hook", "secret": SECRET})
        begun = asyncio.get_running_loop().time()
        await export.give(ALERTS_RAISED, alert("w"))
        await export.done()
        assert asyncio.get_running_loop().time() - begun > 0.99
    assert taking.requests == 2


async def test_what_a_receiver_refuses_for_good_is_a_dead_letter_and_nothing_else_is(start: Start) -> None:
    taking = WebhookReceiver(
        secret=SECRET, clock=NOW.timestamp, refuse=lambda message: message["data"]["alert_id"] == "w-1"
    )
    async with serving(taking, "/hook"):
        export = await start(ALERT_WEBHOOK, alert_webhook={"url": f"{taking.url}/hook", "secret": SECRET})
        await export.give(ALERTS_RAISED, *(alert(f"w-{number}") for number in range(3)))
        await export.done()
    assert export.reasons() == ["RefusedByReceiver"]
    assert sorted(message["data"]["alert_id"] for message in taking.messages) == ["w-0", "w-2"]


async def test_a_replay_and_what_is_too_old_are_not_exported(start: Start) -> None:
    taking, collector, scores = WebhookReceiver(), OtlpCollector(), Langfuse()
    old = (NOW - timedelta(hours=73)).timestamp()
    async with serving(taking, "/hook"), serving(collector, "/v1/logs"), serving(scores, langfuse.PATH):
        hook = await start(ALERT_WEBHOOK, alert_webhook={"url": f"{taking.url}/hook", "format": "slack"})
        otel = await start(OTEL, otel={"endpoint": f"{collector.url}/v1/logs"})
        for export, topic, value in (
            (hook, ALERTS_RAISED, alert("w")),
            (otel, ANSWERS_ENRICHED, answered().to_bytes()),
            (start.langfuse(scores), ANSWERS_ENRICHED, answered().to_bytes()),
        ):
            before = counted(export.processor.agent, "replay", "too_old")
            await export.give(topic, value, headers=[("replay_id", b"r-1")])
            await export.give(topic, value, timestamp=old)
            await export.done()
            assert counted(export.processor.agent, "replay", "too_old") == before + 2
    assert taking.requests == collector.requests == scores.requests == 0


def counted(agent: str, *results: str) -> float:
    return sum(metrics.EXPORTS.labels(agent, result)._value.get() for result in results)


# ---------------------------------------------------------------- Langfuse


async def test_scores_are_of_the_type_that_they_are_and_at_the_observation(start: Start) -> None:
    taking = Langfuse()
    async with serving(taking, langfuse.PATH):
        export = start.langfuse(taking, environment="prod")
        await export.give(ANSWERS_ENRICHED, answered("a-1").to_bytes(), answered("a-2", None).to_bytes())
        await export.done()
    scores = taking.of("a-1")
    assert {name: (score["value"], score["dataType"]) for name, score in scores.items()} | {"relevance": 0} == {
        "faithfulness": (0.9433, "NUMERIC"), "relevance": 0, "correctness": (1.0, "NUMERIC"),
        "coverage": (0.7488, "NUMERIC"), "consistency": (1.0, "NUMERIC"), "freshness": (0.9279, "NUMERIC"),
        "traceability": (1.0, "NUMERIC"), "gate_score": (0.9314, "NUMERIC"), "gate_score_passed": (1.0, "BOOLEAN"),
        "grounding_score": (scores["grounding_score"]["value"], "NUMERIC"),
        "hallucination_risk": ("low", "CATEGORICAL"),
        "quality_score": (scores["quality_score"]["value"], "NUMERIC"), "release": ("released", "CATEGORICAL"),
    }  # fmt: skip
    assert {(s["traceId"], s["observationId"], s["environment"]) for s in scores.values()} == {(TRACE, SPAN, "prod")}
    assert scores["gate_score"]["comment"].startswith("Gate score 0.93 reaches 0.80")
    assert {(s["traceId"], s.get("observationId")) for s in taking.of("a-2").values()} == {
        (seeded_trace_id("acme-ops", "a-2"), None)
    }


@pytest.mark.parametrize("order", [("degraded", "complete", "complete"), ("complete", "degraded")])
async def test_a_repeat_makes_no_second_score_and_a_complete_result_stays(start: Start, order: tuple[str, ...]) -> None:
    taking = Langfuse()
    results = {
        "complete": answered().to_bytes(),
        "degraded": answered(rank=1, degraded=True, enriched_at="2026-11-03T00:00:01Z").to_bytes(),
    }
    async with serving(taking, langfuse.PATH):
        export = start.langfuse(taking)
        for kind in order:
            await export.give(ANSWERS_ENRICHED, results[kind])
            await export.done()
    assert len(taking.scores) == len(taking.of("a-1")) == 13
    assert {score["metadata"]["degraded"] for score in taking.scores} == {False}


@pytest.mark.parametrize(
    ("action", "value"), [("approve", 1), ("reject", 0), ("correct", 0), ("upvote", 1), ("downvote", 0)]
)
async def test_satisfaction_is_that_of_seed_002(start: Start, action: str, value: int) -> None:
    taking = Langfuse(version=3)
    decision = example(ReviewDecision) | {"answer_id": "a-1", "user_action": action, "user_comment": "so"}
    sent = ReviewDecision.model_validate(decision).to_bytes()
    async with serving(taking, langfuse.PATH):
        export = start.langfuse(taking, Traces({("acme-ops", "a-1"): TRACE}), tag_traces=True)
        await export.give(REVIEW_DECISIONS, sent, sent)
        await export.done()
    (score,) = taking.scores
    told = {
        "user_action": action, "upvote": action == "upvote", "downvote": action == "downvote", "user_comment": "so",
    }  # fmt: skip
    assert (score["name"], score["value"], score["dataType"]) == ("user_satisfaction", value, "NUMERIC")
    assert score["comment"] == f"User {action} on generated answer"
    assert score["metadata"] == told | {"tags": ["feedback-linked"], "answer_id": "a-1", "tenant": "acme-ops"}
    assert taking.traces == {TRACE: {"tags": {"feedback-linked"}, "metadata": told}}


async def test_a_vote_that_is_taken_back_replaces_the_first(start: Start) -> None:
    taking = Langfuse()
    async with serving(taking, langfuse.PATH):
        export = start.langfuse(taking, Traces({("acme-ops", "a-1"): ""}))
        later = {"occurred_at": "2026-11-02T08:40:00Z"}
        await export.give(FEEDBACK_EVENTS, vote("a-1"), vote("a-1", "downvote", **later), vote("a-1"))
        await export.done()
    (score,) = taking.scores
    assert (score["value"], score["traceId"]) == (0, seeded_trace_id("acme-ops", "a-1"))


async def test_stars_are_a_score_of_their_own_and_behaviour_is_none(start: Start) -> None:
    taking = Langfuse()
    watched = FeedbackEvent.model_validate(
        example(FeedbackEvent) | {"kind": "behaviour", "explicit": None, "behaviour": {"response_copied": True}}
    )
    async with serving(taking, langfuse.PATH):
        export = start.langfuse(taking, Traces({("acme-ops", "a-1"): TRACE}))
        stars = vote("a-1", None, explicit={"rating": 4, "comment": "good"})
        await export.give(FEEDBACK_EVENTS, stars, watched.to_bytes())
        await export.done()
    (score,) = taking.scores
    assert (score["name"], score["value"], score["comment"]) == ("user_rating", 4, "good")


async def test_feedback_that_overtakes_its_answer_waits_for_it(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.agents.export.langfuse.OVERTAKEN_SECONDS", 0.2)
    taking, traces = Langfuse(), Traces({})
    find = traces.traces

    async def stored_by_then(answers: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
        found = await find(answers)
        traces.known = {("acme-ops", "a-1"): TRACE}
        return found

    monkeypatch.setattr(traces, "traces", stored_by_then)
    async with serving(taking, langfuse.PATH):
        export = start.langfuse(taking, traces)
        await export.give(FEEDBACK_EVENTS, vote("a-1"), vote("unknown"))
        await export.done()
    assert traces.asked == 2
    assert {s["metadata"]["answer_id"]: s["traceId"] for s in taking.scores} == {
        "a-1": TRACE, "unknown": seeded_trace_id("acme-ops", "unknown"),
    }  # fmt: skip


async def test_a_score_that_langfuse_refuses_is_the_dead_letter_of_its_record_alone(start: Start) -> None:
    taking = Langfuse(refuse={"user_rating"})
    async with serving(taking, langfuse.PATH):
        export = start.langfuse(taking, Traces({}))
        said = vote("a-1"), vote("a-2", None, explicit={"rating": 4}), vote("a-3")
        await export.give(FEEDBACK_EVENTS, *said, timestamp=(NOW - timedelta(minutes=1)).timestamp())
        await export.done()
    assert export.reasons() == ["RefusedByReceiver"]
    assert {score["metadata"]["answer_id"] for score in taking.scores} == {"a-1", "a-3"}


async def test_scores_go_one_by_one_where_there_is_no_ingestion_of_batches(start: Start) -> None:
    taking = Langfuse(version=5, refuse={"coverage"})
    async with serving(taking, langfuse.PATH, langfuse.SCORES_PATH):
        export = start.langfuse(taking, tag_traces=True)
        await export.give(ANSWERS_ENRICHED, answered("a-1").to_bytes())
        await export.give(FEEDBACK_EVENTS, vote("a-2"), timestamp=(NOW - timedelta(minutes=1)).timestamp())
        await export.done()
    assert len(taking.of("a-1")) == 12, "all but the refused one"
    assert taking.of("a-2")["user_satisfaction"]["value"] == 1.0
    assert export.reasons() == ["RefusedByReceiver"]


async def test_an_address_without_any_route_of_langfuse_loses_nothing(start: Start) -> None:
    taking = Langfuse(version=5)
    async with serving(taking, langfuse.PATH):
        export = start.langfuse(taking)
        await export.give(ANSWERS_ENRICHED, answered("a-1").to_bytes())
        async with asyncio.timeout(60):
            while taking.requests < 3:
                await asyncio.sleep(0.01)
        assert export.reasons() == []


async def test_a_trace_is_tagged_only_where_langfuse_takes_that(start: Start) -> None:
    taking = Langfuse(version=4)
    async with serving(taking, langfuse.PATH):
        export = start.langfuse(taking, Traces({("acme-ops", "a-1"): TRACE}))
        await export.give(FEEDBACK_EVENTS, vote("a-1"))
        await export.done()
    assert [score["metadata"]["tags"] for score in taking.scores] == [["feedback-linked"]]
    assert taking.traces == {}


async def test_a_confirmation_that_comes_in_pieces_is_read_to_its_end(start: Start) -> None:
    taking = Langfuse(pieces=3)
    async with serving(taking, langfuse.PATH):
        export = start.langfuse(taking)
        await export.give(ANSWERS_ENRICHED, answered("a-1").to_bytes(), answered("a-2").to_bytes())
        await export.done()
    assert taking.requests == 1
    assert len(taking.scores) == 26


async def test_an_answer_that_confirms_nothing_is_no_confirmation(start: Start) -> None:
    taking = Langfuse(troubles=[(200, {}), (207, {}), (401, {})])
    async with serving(taking, langfuse.PATH):
        export = start.langfuse(taking)
        await export.give(ANSWERS_ENRICHED, answered().to_bytes())
        await export.done()
    assert taking.requests == 4
    assert len(taking.scores) == 13


@given(st.lists(st.text(max_size=200), max_size=40), st.integers(200, 2_000))
def test_every_event_goes_into_one_request_within_the_limit(texts: list[str], limit: int) -> None:
    events = [{"id": str(number), "body": text} for number, text in enumerate(texts)]
    made = list(langfuse.requests([*events, *events[:3]], limit))
    assert [event for _, body in made for event in orjson.loads(body)["batch"]] == events
    assert [names for names, _ in made] == [[e["id"] for e in orjson.loads(body)["batch"]] for _, body in made]
    for names, body in made:
        assert len(body) <= limit + len('{"batch":[]}') or len(names) == 1


@given(st.builds(ExplicitSignals, rating=st.none() | st.integers(1, 5), vote=st.sampled_from([None, "up", "down"])))
def test_whatever_is_said_is_scored_once_by_its_kind(said: ExplicitSignals) -> None:
    event = FeedbackEvent(answer_id="a", kind="explicit", explicit=said, occurred_at=NOW)
    made = langfuse.feedback_events(event, None, langfuse.LangfuseStyle())
    assert [each["body"]["name"] for each in made] == [
        name for name, there in (("user_satisfaction", said.vote), ("user_rating", said.rating)) if there
    ]
    assert made == langfuse.feedback_events(event, None, langfuse.LangfuseStyle())


# ---------------------------------------------------------------- webhooks


def test_the_signature_is_that_of_the_specification() -> None:
    """The example that the specification's libraries are tested with."""
    at = datetime.fromtimestamp(1614265330, UTC)
    headers = signature_headers("msg_p5jXN8AQM9LWM0D4loKWxJek", at, b'{"test": 2432232314}', SECRET)
    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


async def test_a_review_request_is_told_with_its_link(start: Start) -> None:
    taking = WebhookReceiver(secret=SECRET, clock=NOW.timestamp)
    async with serving(taking, "/hook"):
        hook = {"url": f"{taking.url}/hook", "secret": SECRET}
        export = await start(
            REVIEW_WEBHOOK, review_webhook=hook, exports={"console_url": "https://touchstone.example/"}
        )
        await export.give(REVIEW_REQUESTS, ReviewRequest.model_validate(example(ReviewRequest)).to_bytes())
        await export.done()
    (message,) = taking.messages
    request = example(ReviewRequest)
    assert message["type"] == "review.requested"
    assert message["data"]["reasons"] == request["reasons"]
    assert message["data"]["url"] == f"https://touchstone.example/review/{request['review_id']}"


async def test_lesser_alerts_are_not_told(start: Start) -> None:
    taking = WebhookReceiver()
    async with serving(taking, "/hook"):
        hook = {"url": f"{taking.url}/hook", "format": "slack", "least_severity": "critical"}
        export = await start(ALERT_WEBHOOK, alert_webhook=hook)
        await export.give(ALERTS_RAISED, alert("w-1"), alert("w-2", "critical"))
        await export.done()
    assert [message["text"][:8] for message in taking.messages] == ["critical"]


def test_an_alert_with_an_integer_of_any_size_is_sent() -> None:
    metadata = {"tokens": 2**70, "share": 0.5, "empty": float("nan")}
    body = alert_notice(Alert.model_validate(example(Alert) | {"metadata": metadata}), None).body()
    assert json.loads(body)["data"]["metadata"] == metadata | {"empty": None}


def test_nobody_calls_a_channel_together_by_a_name() -> None:
    raised = Alert.model_validate(example(Alert) | {"tenant": "<!channel>", "answer_id": "a&<@U1>"})
    message = json.loads(slack_message(alert_notice(raised, "https://t.example")))
    assert "<!" not in str(message)
    assert "<@" not in str(message)
    links = [block["text"]["text"] for block in message["blocks"] if "text" in block][1:]
    assert links == ["<https://t.example/answers/a%26%3C%40U1%3E?tenant=%3C%21channel%3E|Open in Touchstone>"]
    for block in message["blocks"]:
        assert len(block.get("fields", [])) <= 10


# ---------------------------------------------------------------- switched off and on


def test_an_exporter_runs_where_its_receiver_is_set_and_nowhere_else() -> None:
    off = Settings(_env_file=None)
    assert [agent.name for agent in chosen_agents(None, off)] == list(AGENTS)
    keys = {"public_key": "pk", "secret_key": "sk"}
    for name, settings in {
        "otel": {"otel": {"endpoint": "https://c/v1/logs"}},
        "langfuse": {"langfuse": {"url": "https://l", **keys}},
        "alert-webhook": {"alert_webhook": {"url": "https://h", "secret": SECRET}},
        "review-webhook": {"review_webhook": {"url": "https://h", "format": "slack"}},
    }.items():
        on = Settings(_env_file=None, **settings)
        assert [agent.name for agent in chosen_agents(None, on)] == [*AGENTS, name]
        assert chosen_agents([name], on) == [EXPORTERS[name]]
        with pytest.raises(AgentSwitchedOff, match=f"TOUCHSTONE_{name.replace('-', '_').upper()}__"):
            chosen_agents([name], off)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"otel": {"endpoint": "http://collector:4318/v1/logs"}}, "otel.endpoint would send"),
        ({"otel": {"endpoint": "https://c/v1/logs", "headers": "Authorization: Bearer x"}}, "name=value"),
        ({"otel": {"endpoint": "https://c/v1/logs", "headers": "a=b%0d%0ac"}}, "control characters"),
        ({"langfuse": {"url": "https://l", "public_key": "pk"}}, "requires public_key and secret_key"),
        ({"langfuse": {"environment": "langfuse-prod"}}, "must not begin with langfuse"),
        ({"alert_webhook": {"url": "https://h"}}, "format json must be signed"),
        ({"alert_webhook": {"url": "https://h", "secret": "whsec_" + "x" * 8}}, "24 to 64 bytes"),
        ({"alert_webhook": {"url": "https://h", "secret": "not base64 at all, and long enough"}}, "24 to 64 bytes"),
        ({"review_webhook": {"url": "ftp://h", "secret": SECRET}}, "must begin with"),
        ({"review_webhook": {"url": "http://hooks.example", "secret": SECRET}}, "review_webhook.url would send"),
    ],
)
def test_a_receiver_that_cannot_be_meant_is_refused_and_no_secret_is_told(settings: Any, said: str) -> None:
    with pytest.raises(ValidationError, match=said) as caught:
        Settings(_env_file=None, **settings)
    assert SECRET not in str(caught.value)
    assert "hooks.example" not in str(caught.value)


def test_plaintext_within_a_cluster_is_said_so() -> None:
    Settings(_env_file=None, otel={"endpoint": "http://collector:4318/v1/logs"}, exports={"plaintext": True})
    Settings(_env_file=None, otel={"endpoint": "http://127.0.0.1:4318/v1/logs"})


# ---------------------------------------------------------------- golden files

GOLDEN = DATA / "exports"


def exported() -> dict[str, Any]:
    """What each receiver is told of the examples, without what differs from one sending to the next."""
    enriched = EnrichedAnswer.model_validate(example(EnrichedAnswer))
    request = ExportLogsServiceRequest.FromString(OtlpEvents("touchstone", enriched.pipeline_version).request(enriched))
    said = ReviewDecision.model_validate(example(ReviewDecision))
    feedback = review_event(said)
    assert feedback is not None
    style = langfuse.LangfuseStyle("production", tag_traces=True)
    raised = alert_notice(Alert.model_validate(example(Alert)), "https://touchstone.example")
    asked = review_notice(ReviewRequest.model_validate(example(ReviewRequest)), "https://touchstone.example")
    return {
        "otlp": MessageToDict(request),
        "langfuse": {"batch": langfuse.answer_events(enriched, style)},
        "langfuse-feedback": {"batch": langfuse.feedback_events(feedback, TRACE, style)},
        "webhook-alert": json.loads(raised.body()),
        "webhook-review": json.loads(asked.body()),
        "slack-alert": json.loads(slack_message(raised)),
        "slack-review": json.loads(slack_message(asked)),
    }


@pytest.mark.parametrize("name", sorted(exported()))
def test_what_is_told_is_what_has_always_been_told(name: str) -> None:
    """Whoever changes one of these changes what dashboards and rules at the receivers are built on.

    OTLP 1.9 and the semantic conventions for generative AI as of November 2026; Langfuse's ingestion.yml of versions 3
    and 4; Standard Webhooks 1.0.0; Slack's Block Kit.
    """
    golden = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    assert json.loads(json.dumps(exported()[name])) == golden
