"""Spans of a real worker, received as a collector receives them: part of the gateway's trace, chained, without text."""

import json
from collections import defaultdict
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from schemas.headers import header
from schemas.identifiers import record_key
from schemas.topics import ANSWERS_ENRICHED, ANSWERS_RELEASED, FEEDBACK_ANALYTICS
from tests.harness.deployment import Deployment, until
from tests.harness.keys import name_of
from workers.runtime.agent_choice import AGENTS
from workers.settings.addresses import Addresses

GATEWAY_TRACE, GATEWAY_SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
UNSAMPLED = "0af7651916cd43dd8448eb211c80319c"
TEXT = "unmistakable words of an answer"


class Collector:
    """Takes OTLP over HTTP, as protobuf."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.bodies = b""

    async def receive(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.bodies += body
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            for scope in resource.scope_spans:
                self.spans.extend(scope.spans)
        return web.Response(content_type="application/x-protobuf")

    def by_agent(self, trace: str) -> dict[str, list[Any]]:
        found = defaultdict(list)
        for span in self.spans:
            if span.trace_id.hex() == trace:
                found[span.name.removeprefix("touchstone ")].append(span)
        return found


@pytest.fixture
async def collector() -> AsyncIterator[tuple[Collector, str]]:
    taking = Collector()
    app = web.Application()
    app.add_routes([web.post("/v1/traces", taking.receive)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield taking, f"http://127.0.0.1:{runner.addresses[0][1]}/v1/traces"
    await runner.cleanup()


def answer(name: str, trace: dict[str, str] | None) -> tuple[bytes, bytes]:
    event = {
        "answer_id": name, "tenant": "t", "session_id": "s", "query": "How fast?", "answer": f"At 47 rpm [1]. {TEXT}.",
        "contexts": [{"chunk_id": "c", "content": f"At 47 rpm. {TEXT}."}], "completed_at": "2026-11-20T10:15:00Z",
    }  # fmt: skip
    return name.encode(), json.dumps(event | ({"trace": trace} if trace else {})).encode()


@pytest.fixture
async def deployment(
    addresses: Addresses, tmp_path: Path, collector: tuple[Collector, str], int8_folder: Path
) -> AsyncIterator[Deployment]:
    environment = {"TOUCHSTONE_TRACING__ENDPOINT": collector[1]}
    deployment = Deployment(addresses, tmp_path, int8=int8_folder, environment=environment)
    await deployment.prepare()
    yield deployment
    await deployment.close()


async def test_every_agents_spans_are_part_of_the_gateways_trace_and_of_each_other(
    deployment: Deployment, collector: tuple[Collector, str]
) -> None:
    taking, _ = collector
    client = await deployment.client()
    try:
        worker = await deployment.start_worker()
        await deployment.send(
            [
                answer("a-1", {"traceparent": f"00-{GATEWAY_TRACE}-{GATEWAY_SPAN}-01"}),
                answer("a-2", None),
                answer("a-3", {"traceparent": f"00-{UNSAMPLED}-{GATEWAY_SPAN}-00"}),
            ]
        )

        async def settled() -> bool:
            stored = await deployment.query(client, "SELECT count() FROM {db}.answers FINAL")
            rewards = await deployment.query(client, "SELECT count() FROM {db}.feedback FINAL")
            busy = await worker.metric("touchstone_consumer_lag_records") + await worker.metric(
                "touchstone_records_in_flight"
            )
            return stored == (3,) and rewards == (3,) and busy == 0

        await until(settled, "three answers stored")
        assert await worker.terminate() == 0  # sends what is left
        traces = (await client.query(f"SELECT answer_id, trace_id FROM {deployment.name}.answers FINAL")).result_rows
    finally:
        await client.close()

    own = sha256(record_key("t", "a-2").encode()).hexdigest()[:32]
    # What a worker says of its version is about no answer, and a trace of its own.
    of_versions = {
        sha256(record.key).hexdigest()[:32]
        for record in await deployment.read(FEEDBACK_ANALYTICS)
        if name_of(record) not in ("a-1", "a-2", "a-3")
    }
    assert dict(traces) == {"a-1": GATEWAY_TRACE, "a-2": "", "a-3": UNSAMPLED}
    assert {span.trace_id.hex() for span in taking.spans} - of_versions == {GATEWAY_TRACE, own}, (
        "the gateway's no is obeyed"
    )
    spans = taking.by_agent(GATEWAY_TRACE)
    # Nobody decides on a review here.
    assert set(spans) == set(AGENTS) - {"decisions"}
    readers = ("citations", "grounding", "quality", "assembly", "signals")
    assert [spans[agent][0].parent_span_id.hex() for agent in readers] == [GATEWAY_SPAN] * len(readers)
    (assembly,) = spans["assembly"]
    assert [span.parent_span_id for span in spans["release"]] == [assembly.span_id]
    assert {span.parent_span_id for span in spans["analytics"]} >= {assembly.span_id}
    assert set(taking.by_agent(own)) == set(AGENTS) - {"decisions"}
    assert all(span.end_time_unix_nano > span.start_time_unix_nano for span in taking.spans)
    assert TEXT.encode() not in taking.bodies

    expected = {"a-1": GATEWAY_TRACE, "a-2": own, "a-3": UNSAMPLED}
    for topic in (ANSWERS_ENRICHED, ANSWERS_RELEASED, FEEDBACK_ANALYTICS):
        records = [record for record in await deployment.read(topic) if name_of(record) in expected]
        assert {name_of(record) for record in records} == set(expected)
        for record in records:
            context = (header(record.headers, "traceparent") or "").split("-")
            assert context[1] == expected[name_of(record)], topic.name
            assert int(context[3], 16) & 1 == (name_of(record) != "a-3"), "whether it is sampled"
