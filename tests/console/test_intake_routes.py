"""Answers by HTTP: single, in batches, as CloudEvents and OTLP; repeats, refusals, backpressure."""

import asyncio
import gzip
import json
import threading
from base64 import b64decode, b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from schemas.answers import GeneratedAnswer
from schemas.topics import ANSWERS_GENERATED, FEEDBACK_EVENTS
from tests.clients.model_server import DOCUMENT
from tests.harness.console import ConsoleThread
from tests.harness.deployment import Deployment
from tests.harness.distributions import write_distribution
from tests.harness.keys import name_of
from tests.harness.paths import DATA
from workers.console.http.backpressure import IntakeGate
from workers.console.http.tenant_quotas import TenantQuotas
from workers.console.routes.intake import _KnownRequests
from workers.intake.trace_sources import TraceSources
from workers.settings import GatewaySettings
from workers.settings.addresses import Addresses

GOLDEN = DATA / "gateways"


def golden(name: str, number: int = 0) -> Any:
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))["cases"][number]


@pytest.fixture
def sent(console: ConsoleThread, addresses: Addresses, tmp_path: Path) -> Any:
    """The records of these keys in a topic of the console."""
    deployment = Deployment(addresses, tmp_path, name=console.settings.kafka.group_prefix)

    def read(*keys: str, topic: Any = ANSWERS_GENERATED) -> list[Any]:
        return [record for record in console.call(deployment.read(topic)) if name_of(record) in keys]

    return read


@pytest.fixture
def of_trace(console: ConsoleThread, addresses: Addresses, tmp_path: Path) -> Any:
    """The answers of a trace."""
    deployment = Deployment(addresses, tmp_path, name=console.settings.kafka.group_prefix)

    def read(trace: str) -> list[GeneratedAnswer]:
        records = console.call(deployment.read(ANSWERS_GENERATED))
        return [GeneratedAnswer.from_bytes(each.value) for each in records if name_of(each).startswith(trace)]

    return read


@pytest.fixture
def client(console: ConsoleThread) -> httpx.Client:
    return console.client("ingest")


def test_one_answer_and_a_batch_are_in_the_topic_when_they_are_accepted(client: httpx.Client, sent: Any) -> None:
    context = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    one = client.post("/v1/answers", json={"answer": "Paris.", "answer_id": "v1-one"}, headers={"traceparent": context})
    assert (one.status_code, one.json()) == (202, {"accepted": ["v1-one"], "skipped": 0, "refused": 0, "renamed": {}})
    batch = [{"answer": "Paris.", "answer_id": f"v1-batch-{number}", "tenant": "acme"} for number in range(3)]
    several = client.post("/v1/answers", json=batch)
    assert several.json()["accepted"] == ["v1-batch-0", "v1-batch-1", "v1-batch-2"]
    records = sent("v1-one", "v1-batch-2")
    answers = {name_of(record): GeneratedAnswer.from_bytes(record.value) for record in records}
    assert answers["v1-batch-2"].tenant == "acme"
    assert answers["v1-one"].trace is not None
    assert answers["v1-one"].trace.traceparent == context
    assert (
        dict(next(record.headers for record in records if record.key == b"v1-one"))["traceparent"].decode() == context
    )


def test_an_identifier_that_is_too_long_is_told_with_the_one_in_its_place(client: httpx.Client, sent: Any) -> None:
    long = "i" * 300
    body = {"id": long, "response": {"choices": [{"message": {"content": "Paris."}}]}}
    taken = client.post("/v1/answers/openai", json=body).json()
    assert taken["renamed"] == {long: taken["accepted"][0]}
    assert len(sent(taken["accepted"][0])) == 1
    absent = client.get(f"/api/answers/{long}")
    assert absent.status_code in (403, 404), "found or not, the identifier is accepted"


def test_an_answer_without_a_name_has_the_same_whenever_it_is_sent(client: httpx.Client) -> None:
    body = {"query": "Capital of France?", "answer": "Paris."}
    first, again = (client.post("/v1/answers", json=body).json()["accepted"] for _ in range(2))
    assert first == again
    other = client.post("/v1/answers", json=body | {"answer": "Lyon."}).json()["accepted"]
    assert other != first


def test_equal_keys_of_two_tenants_behind_one_token_are_two_keys(client: httpx.Client, sent: Any) -> None:
    headers, body = {"Idempotency-Key": "order-16"}, [{"answer": "One."}]
    names = []
    for tenant in ("acme", "keys"):
        taken = client.post("/v1/answers", params={"tenant": tenant}, json=body, headers=headers)
        assert taken.status_code == 202, taken.text
        names += taken.json()["accepted"]
    assert {GeneratedAnswer.from_bytes(record.value).tenant for record in sent(*names)} == {"acme", "keys"}


def test_a_repeat_under_its_key_is_answered_alike_and_sent_once(client: httpx.Client, sent: Any) -> None:
    headers = {"Idempotency-Key": "order-17"}
    body = [{"answer": "One."}, {"answer": "Two."}]
    first = client.post("/v1/answers", json=body, headers=headers)
    again = client.post("/v1/answers", json=body, headers=headers)
    assert first.status_code == again.status_code == 202
    names = first.json()["accepted"]
    assert again.json()["accepted"] == names
    assert len(set(names)) == 2
    assert len(sent(*names)) == 2
    other = client.post("/v1/answers", json=[{"answer": "Three."}], headers=headers)
    assert other.status_code == 422
    assert "Idempotency-Key" in other.json()["detail"]


def test_without_redis_a_repeat_under_its_key_has_the_same_names(
    console: ConsoleThread, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    from redis.asyncio import Redis

    away = Redis.from_url("redis://127.0.0.1:1", socket_timeout=0.2)
    monkeypatch.setattr(console.resources, "redis", away)
    headers = {"Idempotency-Key": "order-18"}
    first, again = (client.post("/v1/answers", json={"answer": "One."}, headers=headers) for _ in range(2))
    assert first.status_code == again.status_code == 202
    assert first.json() == again.json()
    console.call(away.aclose())


def test_a_repeat_under_its_key_is_complete_when_the_first_came(
    console: ConsoleThread, client: httpx.Client, sent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The day of an answer is part of its place in the stores: on another day it would be a second answer."""

    async def crashed(*_: object) -> None:
        """The answer is with the broker, and nobody has noted that it is."""

    midnight = datetime(2026, 11, 3, tzinfo=UTC)
    headers = {"Idempotency-Key": f"order-{uuid4()}"}
    with monkeypatch.context() as first:
        first.setattr(console.resources, "now", lambda: midnight - timedelta(seconds=1))
        first.setattr(_KnownRequests, "keep", crashed)
        client.post("/v1/answers", json={"answer": "One."}, headers=headers).raise_for_status()
    monkeypatch.setattr(console.resources, "now", lambda: midnight + timedelta(seconds=1))
    mistaken = client.post("/v1/answers", json={"query": "No answer."}, headers=headers)
    assert mistaken.status_code == 422, "and what came first is known all the same"
    for _ in range(2):
        again = client.post("/v1/answers", json={"answer": "One."}, headers=headers).raise_for_status().json()
    records = [GeneratedAnswer.from_bytes(each.value) for each in sent(*again["accepted"])]
    assert [each.completed_at for each in records] == [midnight - timedelta(seconds=1)] * 2


def test_a_request_that_was_refused_leaves_its_key_to_the_one_that_is_put_right(client: httpx.Client) -> None:
    headers = {"Idempotency-Key": f"order-{uuid4()}"}
    assert client.post("/v1/answers", json={"query": "No answer."}, headers=headers).status_code == 422
    assert client.post("/v1/answers", json={"answer": "One."}, headers=headers).status_code == 202
    assert client.post("/v1/answers", json={"answer": "Two."}, headers=headers).status_code == 422


def test_without_redis_another_request_under_a_known_key_takes_no_answers_place(
    console: ConsoleThread, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console.resources, "redis", None)
    headers = {"Idempotency-Key": "order-19"}
    one, other = (
        client.post("/v1/answers", json={"answer": said}, headers=headers).json()["accepted"]
        for said in ("One.", "Two.")
    )
    assert one != other


def test_records_of_other_formats_become_answers_and_feedback(client: httpx.Client, sent: Any) -> None:
    record = golden("litellm")["record"] | {"id": "v1-litellm"}
    embedding = record | {"call_type": "aembedding"}
    taken = client.post("/v1/answers/litellm", params={"tenant": "acme"}, json=[record, embedding])
    assert (taken.status_code, taken.json()) == (
        202,
        {"accepted": ["v1-litellm"], "skipped": 1, "refused": 0, "renamed": {}},
    )
    (answer,) = (GeneratedAnswer.from_bytes(each.value) for each in sent("v1-litellm"))
    assert answer.tenant == "acme"
    assert len(sent("v1-litellm", topic=FEEDBACK_EVENTS)) == 1
    unknown = client.post("/v1/answers/helicone", json=record)
    assert unknown.status_code == 404
    assert "litellm" in unknown.json()["detail"]


def test_records_in_the_format_of_a_plugin_become_answers_and_a_broken_one_is_told_to_the_operator(
    client: httpx.Client, sent: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = """
from workers.gateways.adapted import Draft, finished
from workers.gateways.formats import Format

DESK = Format("desk", "Desk", lambda r, at: [finished(Draft(identifier="v1-desk", answer=r["said"]), "desk", r, at)])
"""
    points = {"touchstone.formats": {"desk": "console_desk:DESK", "broken-desk": "no_such_desk:DESK"}}
    write_distribution(tmp_path, "console-desk", points, {"console_desk.py": source})
    monkeypatch.syspath_prepend(tmp_path)
    taken = client.post("/v1/answers/desk", json={"said": "At nine."})
    assert (taken.status_code, taken.json()["accepted"]) == (202, ["v1-desk"])
    (answer,) = (GeneratedAnswer.from_bytes(each.value) for each in sent("v1-desk"))
    assert answer.answer == "At nine."
    refused = client.post("/v1/answers/desk", json={"other": "secret"})
    assert (refused.status_code, "raised KeyError in console_desk.py" in refused.json()["detail"]) == (422, True)
    broken = client.post("/v1/answers/broken-desk", json={"said": "At nine."})
    assert broken.status_code == 503
    assert "broken-desk cannot be used; the console's log has the reason" in broken.json()["detail"]


def test_cloud_events_structured_binary_and_in_batches(client: httpx.Client, sent: Any) -> None:
    def event(number: int, **data: Any) -> dict[str, Any]:
        return {"specversion": "1.0", "id": str(number), "source": "/app", "type": "answer", "data": data}

    structured = client.post(
        "/v1/answers",
        content=json.dumps(event(1, answer="One.")),
        headers={"Content-Type": "application/cloudevents+json"},
    )
    attributes = {
        "ce-specversion": "1.0",
        "ce-id": "2",
        "ce-source": "/app",
        "ce-type": "answer",
        "ce-time": "2026-11-02T08:00:00Z",
    }
    binary = client.post("/v1/answers", json={"answer": "Two."}, headers=attributes)
    batch = client.post(
        "/v1/answers",
        content=json.dumps([event(3, answer="Three."), event(4, answer="Four.")]),
        headers={"Content-Type": "application/cloudevents-batch+json"},
    )
    assert [each.json()["accepted"] for each in (structured, binary, batch)] == [
        ["/app/1"],
        ["/app/2"],
        ["/app/3", "/app/4"],
    ]
    (record,) = sent("/app/2")
    assert GeneratedAnswer.from_bytes(record.value).completed_at.isoformat() == "2026-11-02T08:00:00+00:00"
    broken = client.post(
        "/v1/answers", content=json.dumps({"specversion": "1.0", "data": {"answer": "x"}}),
        headers={"Content-Type": "application/cloudevents+json"},
    )  # fmt: skip
    assert broken.status_code == 422
    assert "id" in broken.json()["detail"]


def test_an_exporter_of_opentelemetry_is_answered_as_it_expects(client: httpx.Client, sent: Any) -> None:
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    case = golden("otlp")
    (answer,) = case["answers"]
    plain = client.post("/v1/traces", json=case["record"])
    assert (plain.status_code, plain.json(), plain.headers["Content-Type"]) == (200, {}, "application/json")
    packed = client.post(
        "/v1/traces", content=gzip.compress(json.dumps(case["record"]).encode()),
        headers={"Content-Type": "application/json", "Content-Encoding": "gzip"},
    )  # fmt: skip
    assert packed.status_code == 200
    spans = {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "GET /"}]}]}]}
    proto = client.post(
        "/v1/traces", content=ParseDict(spans, ExportTraceServiceRequest()).SerializeToString(),
        headers={"Content-Type": "application/x-protobuf"},
    )  # fmt: skip
    assert (proto.status_code, proto.content, proto.headers["Content-Type"]) == (200, b"", "application/x-protobuf")
    events = client.post("/v1/logs", json=golden("otlp-logs")["record"])
    assert events.status_code == 200
    assert len(sent(answer["answer_id"])) == 3


def test_of_an_export_with_a_call_that_cannot_be_taken_the_rest_is_taken_and_the_exporter_told(
    client: httpx.Client, sent: Any
) -> None:
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
        ExportTraceServiceRequest,
        ExportTraceServiceResponse,
    )

    def call(said: str, **named: str) -> dict[str, Any]:
        told = {"gen_ai.operation.name": "chat", "gen_ai.completion.0.content": said}
        return named | {"attributes": [{"key": key, "value": {"stringValue": value}} for key, value in told.items()]}

    # Base64 and hexadecimal of the same bytes, for protobuf's own mapping.
    spans = [call("x" * 60_001), call("Taken.", traceId="qqqqqqqqqqqqqqqqqqqqqg==", spanId="u7u7u7u7u7s=")]
    export = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    plain = client.post("/v1/traces", json=export)
    assert plain.status_code == 200, plain.text
    assert plain.json()["partialSuccess"]["rejectedSpans"] == "1"
    proto = client.post(
        "/v1/traces", content=ParseDict(export, ExportTraceServiceRequest()).SerializeToString(),
        headers={"Content-Type": "application/x-protobuf"},
    )  # fmt: skip
    assert ExportTraceServiceResponse.FromString(proto.content).partial_success.rejected_spans == 1
    assert len(sent(f"{'a' * 32}-{'b' * 16}")) == 2
    details = {"eventName": "gen_ai.client.inference.operation.details"}
    events = {"resourceLogs": [{"scopeLogs": [{"logRecords": [details | each for each in spans]}]}]}
    logs = client.post("/v1/logs", json=events)
    assert logs.json()["partialSuccess"]["rejectedLogRecords"] == "1"
    none = {"resourceSpans": [{"scopeSpans": [{"spans": spans[:1]}]}]}
    assert client.post("/v1/traces", json=none).status_code == 422


def exports_of(name: str) -> list[Any]:
    """The exports of a client's recording, in a trace of their own."""
    text = (DATA / "clients" / f"{name}.json").read_text(encoding="utf-8")
    for trace in {span["traceId"] for span in _spans(json.loads(text)["traces"])}:
        text = text.replace(trace, b64encode(uuid4().bytes).decode())
    exports: list[Any] = json.loads(text)["traces"]
    return exports


def _spans(exports: list[Any]) -> Iterator[Any]:
    for export in exports:
        for resource in export["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                yield from scope["spans"]


def test_the_sources_of_an_earlier_export_are_those_of_the_call(client: httpx.Client, sent: Any) -> None:
    first, second = exports_of("openinference-llamaindex")
    assert client.post("/v1/traces", json=first).json() == {}, "a retrieval alone is no answer"
    assert client.post("/v1/traces", json=second).status_code == 200
    trace, root = next(
        (b64decode(span["traceId"]).hex(), b64decode(span["spanId"]).hex())
        for span in _spans([second])
        if not span.get("parentSpanId")
    )
    (record,) = sent(f"{trace}-{root}")
    answer = GeneratedAnswer.from_bytes(record.value)
    assert [chunk.content for chunk in answer.contexts or ()] == [DOCUMENT]


@pytest.fixture
def waiting(console: ConsoleThread, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set when an export waits for sources, which it does for a minute."""
    begun = threading.Event()
    absent = TraceSources._absent

    async def looked(sources: TraceSources, traces: Any, caller: str) -> Any:
        found = await absent(sources, traces, caller)
        if found:
            begun.set()
        return found

    monkeypatch.setattr(TraceSources, "_absent", looked)
    monkeypatch.setattr(console.settings.gateways, "trace_wait_seconds", 60.0)
    return begun


def _without_root(export: Any) -> tuple[Any, str]:
    """The export without the span around all others, as a batch processor sends it first, and the trace."""
    scopes = [scope for resource in export["resourceSpans"] for scope in resource["scopeSpans"]]
    for scope in scopes:
        scope["spans"] = [span for span in scope["spans"] if span.get("parentSpanId")]
    return export, b64decode(next(_spans([export]))["traceId"]).hex()


def test_sources_that_arrive_after_their_call_are_joined(
    console: ConsoleThread, client: httpx.Client, of_trace: Any, waiting: threading.Event
) -> None:
    first, second = exports_of("openinference-llamaindex")
    calls, trace = _without_root(second)
    with ThreadPoolExecutor(1) as pool:
        posted = pool.submit(client.post, "/v1/traces", json=calls)
        assert waiting.wait(60)
        assert of_trace(trace) == [], "nothing is sent while it waits"
        assert not posted.done(), "nor acknowledged"
        assert console.client("ingest").post("/v1/traces", json=first).status_code == 200
        assert posted.result(60).status_code == 200
    (answer,) = of_trace(trace)
    assert [chunk.content for chunk in answer.contexts or ()] == [DOCUMENT]


def test_without_sources_an_incomplete_trace_waits_no_longer_than_it_may(
    console: ConsoleThread,
    client: httpx.Client,
    of_trace: Any,
    waiting: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(console.settings.gateways, "trace_wait_seconds", 0.2)
    calls, trace = _without_root(exports_of("openinference-llamaindex")[1])
    assert client.post("/v1/traces", json=calls).status_code == 200
    assert waiting.is_set()
    (answer,) = of_trace(trace)
    assert answer.contexts is None


@pytest.mark.parametrize("name", ["openinference-langchain", "openllmetry-openai", "pydantic-ai"])
def test_a_complete_trace_does_not_wait(client: httpx.Client, waiting: threading.Event, name: str) -> None:
    exports = exports_of(name)
    whole = {"resourceSpans": [resource for export in exports for resource in export["resourceSpans"]]}
    assert client.post("/v1/traces", json=whole).status_code == 200
    assert not waiting.is_set()


def test_sources_of_another_callers_trace_are_not_joined(console: ConsoleThread, sent: Any) -> None:
    first, second = exports_of("openinference-llamaindex")
    console.client("ingest").post("/v1/traces?tenant=acme", json=first)
    console.client("ingest").post("/v1/traces?tenant=other", json=second)
    trace, root = next(
        (b64decode(span["traceId"]).hex(), b64decode(span["spanId"]).hex())
        for span in _spans([second])
        if not span.get("parentSpanId")
    )
    (record,) = sent(f"{trace}-{root}")
    assert GeneratedAnswer.from_bytes(record.value).contexts is None


@pytest.mark.parametrize(("tenant", "joined"), [("acme", True), ("keys", False), (None, False)])
def test_sources_are_not_joined_across_the_tenants_of_one_token(
    client: httpx.Client, sent: Any, tenant: str | None, joined: bool
) -> None:
    """A gateway with one token serves several tenants, and each of them chooses its trace."""
    first, second = exports_of("openinference-llamaindex")
    for export, name in ((first, "acme"), (second, tenant)):
        attributes = [{"key": "touchstone.tenant", "value": {"stringValue": name}}] if name else []
        for resource in export["resourceSpans"]:
            resource["resource"] = {"attributes": attributes}
    for export in (first, second):
        client.post("/v1/traces", json=export).raise_for_status()
    root = next(span for span in _spans([second]) if not span.get("parentSpanId"))
    (record,) = sent("-".join(b64decode(root[name]).hex() for name in ("traceId", "spanId")))
    answer = GeneratedAnswer.from_bytes(record.value)
    assert answer.tenant == (tenant or "default")
    assert (answer.contexts is not None) is joined


def test_an_exporter_is_told_which_spans_were_not_evaluated_and_why(client: httpx.Client) -> None:
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
        ExportTraceServiceRequest,
        ExportTraceServiceResponse,
    )

    def span(name: str) -> dict[str, Any]:
        attribute = {"key": "gen_ai.operation.name", "value": {"stringValue": name}}
        return {"traceId": uuid4().hex, "spanId": "b" * 16, "attributes": [attribute]}

    export = {"resourceSpans": [{"scopeSpans": [{"spans": [span("chat"), span("divine")]}]}]}
    (partial,) = client.post("/v1/traces", json=export).json().values()
    assert "1 calls without content; set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY" in str(partial)
    assert "1 spans with an unknown gen_ai.operation.name" in partial["errorMessage"]
    assert "rejectedSpans" not in partial, "a warning"
    export["resourceSpans"][0]["scopeSpans"][0]["spans"] = [span("divine")]
    del export["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"]
    del export["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["spanId"]
    content = ParseDict(export, ExportTraceServiceRequest()).SerializeToString()
    reply = client.post("/v1/traces", content=content, headers={"Content-Type": "application/x-protobuf"})
    told = ExportTraceServiceResponse.FromString(reply.content).partial_success
    assert (told.rejected_spans, "unknown gen_ai.operation.name" in told.error_message) == (0, True)


def test_a_call_that_is_too_large_as_one_record_costs_no_other_of_its_export(client: httpx.Client, sent: Any) -> None:
    documents = json.dumps([{"id": str(number), "content": f"{number}" * 90_000} for number in range(5)])
    trace = uuid4().hex

    def call(trace_id: str, **told: str) -> dict[str, Any]:
        told = {"gen_ai.operation.name": "chat", "gen_ai.completion.0.content": "Said."} | told
        attributes = [{"key": key, "value": {"stringValue": value}} for key, value in told.items()]
        return {"traceId": trace_id, "spanId": "b" * 16, "attributes": attributes}

    large, small = call(uuid4().hex, **{"gen_ai.retrieval.documents": documents}), call(trace)
    reply = client.post("/v1/traces", json={"resourceSpans": [{"scopeSpans": [{"spans": [large, small]}]}]})
    assert reply.status_code == 200, reply.text
    assert reply.json()["partialSuccess"]["rejectedSpans"] == "1"
    assert len(sent(f"{trace}-{'b' * 16}")) == 1
    alone = client.post("/v1/traces", json={"resourceSpans": [{"scopeSpans": [{"spans": [large]}]}]})
    assert (alone.status_code, "fewer or shorter contexts" in alone.text) == (422, True)


@pytest.mark.parametrize("length", [ord("{"), ord("[")])
def test_protobuf_is_read_as_such_whatever_the_length_of_its_first_message(client: httpx.Client, length: int) -> None:
    from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, TracesData

    export = TracesData(resource_spans=[ResourceSpans(schema_url="x" * (length - 2))]).SerializeToString()
    assert export[:2] == bytes([ord("\n"), length])
    taken = client.post("/v1/traces", content=export, headers={"Content-Type": "application/x-protobuf"})
    assert taken.status_code == 200, taken.text


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ([{"answer": "Good."}, {"query": "?"}], "record 1 cannot be accepted"),
        ([], "1 to 500 records"),
        ([{"answer": "x"}] * 501, "1 to 500 records"),
        ("text", "must be a JSON object"),
        ({"answer": "x", "schema_version": "7.0"}, "schema_version 7.0"),
        ({"answer": "x", "contexts": [{"chunk_id": "c", "content": "y" * 90_000}] * 5}, "fewer or shorter contexts"),
    ],
)
def test_a_request_with_a_record_that_cannot_be_taken_is_refused_as_a_whole(
    client: httpx.Client, body: Any, told: str
) -> None:
    refused = client.post("/v1/answers", json=body)
    assert refused.status_code == 422
    assert told in refused.json()["detail"]


def test_a_response_of_an_unknown_shape_is_refused_with_the_name_of_its_field(client: httpx.Client) -> None:
    body = {"response": {"results": [{"outputText": "Paris."}]}}
    refused = client.post("/v1/answers/openai", json=body)
    assert refused.status_code == 422
    assert [each["field"] for each in refused.json()["fields"]] == ["body.0.response"]
    assert "Paris" not in refused.text


def test_encodings_that_are_not_read_and_bombs_are_refused(client: httpx.Client) -> None:
    headers = {"Content-Type": "application/json"}
    brotli = client.post("/v1/traces", content=b"x", headers=headers | {"Content-Encoding": "br"})
    assert brotli.status_code == 415
    wrong = client.post("/v1/traces", content=b"x", headers=headers | {"Content-Encoding": "gzip"})
    assert wrong.status_code == 400
    bomb = client.post(
        "/v1/traces", content=gzip.compress(b" " * 50_000_000), headers=headers | {"Content-Encoding": "gzip"}
    )
    assert bomb.status_code == 413


@pytest.mark.parametrize("cut", [1, 8, 20, 100])
def test_a_gzip_body_that_is_incomplete_is_refused(client: httpx.Client, cut: int) -> None:
    packed = gzip.compress(json.dumps({"answer": "x " * 500, "answer_id": "v1-cut"}).encode())
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    refused = client.post("/v1/answers", content=packed[: -min(cut, len(packed) - 11)], headers=headers)
    assert (refused.status_code, refused.json()["title"]) == (400, "Bad Request")
    assert "incomplete gzip" in refused.json()["detail"]


def test_every_member_of_a_gzip_body_is_read(client: httpx.Client, sent: Any) -> None:
    content = json.dumps([{"answer": "x", "answer_id": f"v1-member-{number}"} for number in range(2)]).encode()
    packed = gzip.compress(content[:30]) + gzip.compress(content[30:])
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    taken = client.post("/v1/answers", content=packed, headers=headers)
    assert taken.json()["accepted"] == ["v1-member-0", "v1-member-1"]
    followed = client.post("/v1/answers", content=packed + b"rubbish", headers=headers)
    assert followed.status_code == 400
    bombs = gzip.compress(b" " * 5_000_000) * 20
    assert client.post("/v1/answers", content=bombs, headers=headers).status_code == 413


def test_a_token_of_one_tenant_sends_in_its_name_alone(console: ConsoleThread, sent: Any) -> None:
    mine = console.client("acme")
    taken = mine.post("/v1/answers", json={"answer": "x", "answer_id": "v1-acme", "tenant": "other"})
    assert taken.status_code == 202
    (record,) = sent("v1-acme")
    assert GeneratedAnswer.from_bytes(record.value).tenant == "acme"
    assert mine.post("/v1/answers", params={"tenant": "other"}, json={"answer": "x"}).status_code == 403


def test_while_too_much_waits_for_the_broker_senders_are_told_to_come_again(
    console: ConsoleThread, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits, go_on = asyncio.Event(), asyncio.Event()
    send = console.resources.producer.send

    async def slow(*arguments: Any, **options: Any) -> None:
        waits.set()
        await go_on.wait()
        await send(*arguments, **options)

    async def post() -> list[httpx.Response]:
        async with httpx.AsyncClient(base_url=console.url, headers=client.headers, timeout=60) as sender:
            first = asyncio.ensure_future(sender.post("/v1/answers", json={"answer": "first"}))
            await waits.wait()
            refused = await sender.post("/v1/answers", json={"answer": "second"})
            go_on.set()
            return [refused, await first, await sender.post("/v1/answers", json={"answer": "second"})]

    monkeypatch.setattr(console.resources, "intake", IntakeGate(10))
    with monkeypatch.context() as patched:
        patched.setattr(console.resources.producer, "send", slow)
        refused, accepted, later = console.call(post())
    assert refused.status_code == 429
    assert refused.headers["Retry-After"] == "1"
    assert accepted.status_code == later.status_code == 202, "one request is always taken, and room comes back"


def test_a_tenant_over_its_quota_is_told_when_to_come_again_and_others_are_taken(
    console: ConsoleThread, client: httpx.Client, sent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = GatewaySettings(tenants_answers_per_second={"flood": 0.2})
    monkeypatch.setattr(console.resources, "quotas", TenantQuotas(settings, lambda: 0.0))

    def post(name: str, *tenants: str) -> httpx.Response:
        body = [{"answer": "x", "answer_id": f"{name}-{n}", "tenant": tenant} for n, tenant in enumerate(tenants)]
        return client.post("/v1/answers", json=body)

    assert post("quota-first", "flood", "flood").status_code == 202
    refused = post("quota-second", "flood", "small")
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
    assert post("quota-third", "small").status_code == 202
    assert [len(sent(f"quota-{name}-0")) for name in ("first", "second", "third")] == [1, 0, 1]
