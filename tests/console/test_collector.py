"""The configurations of deploy/otelcol, run by an OpenTelemetry Collector: ``OTELCOL`` names its binary."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from schemas.answers import GeneratedAnswer
from schemas.topics import ANSWERS_GENERATED
from tests.clients.model_server import ANSWER, DOCUMENT
from tests.clients.recordings import NOW
from tests.console.test_intake_routes import exports_of
from tests.harness.console import ConsoleThread, secret
from tests.harness.deployment import Deployment
from tests.harness.paths import ROOT
from workers.gateways.adapted import Received
from workers.gateways.formats import format_named
from workers.local.ports import free_port
from workers.settings.addresses import Addresses

BINARY = os.environ.get("OTELCOL") or shutil.which("otelcol")
pytestmark = pytest.mark.skipif(BINARY is None, reason="no OpenTelemetry Collector: set OTELCOL to its binary")
WAIT_SECONDS = 60.0


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Starts a collector with a configuration; returns where it receives spans."""
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, **environment: str) -> str:
        endpoint = f"127.0.0.1:{free_port()}"
        with (tmp_path / "collector.log").open("wb") as log:
            command = [str(BINARY), "--config", str(ROOT / "deploy" / "otelcol" / name)]
            settings = {**os.environ, "OTLP_ENDPOINT": endpoint, "TRACE_WAIT": "1s", **environment}
            started.append(subprocess.Popen(command, env=settings, stdout=log, stderr=subprocess.STDOUT))
        until = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < until:
            try:
                httpx.get(f"http://{endpoint}")
                return f"http://{endpoint}/v1/traces"
            except httpx.TransportError:
                assert started[-1].poll() is None, (tmp_path / "collector.log").read_text()[-2000:]
                time.sleep(0.05)
        raise AssertionError("the collector does not listen")

    yield start
    for process in started:
        process.terminate()
        process.wait(60)


def send(target: str, *exports: Any) -> None:
    """Sends each export in a request of its own, as a batch processor does."""
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    for export in exports:
        content = ParseDict(export, ExportTraceServiceRequest()).SerializeToString()
        sent = httpx.post(target, content=content, headers={"Content-Type": "application/x-protobuf"})
        assert sent.status_code == 200, sent.text


def test_spans_that_a_collector_groups_by_trace_are_one_answer_over_http(
    console: ConsoleThread, addresses: Addresses, collector: Callable[..., str], tmp_path: Path
) -> None:
    target = collector("http.yaml", CONSOLE=console.url, TOKEN=secret("ingest"))
    exports = exports_of("openinference-llamaindex")
    traces = {span["traceId"] for export in exports for span in _spans(export)}
    send(target, *exports)
    deployment = Deployment(addresses, tmp_path, name=console.settings.kafka.group_prefix)
    until, found = time.monotonic() + WAIT_SECONDS, []
    while not found and time.monotonic() < until:
        answers = [GeneratedAnswer.from_bytes(each.value) for each in console.call(deployment.read(ANSWERS_GENERATED))]
        found = [answer for answer in answers if answer.trace and answer.trace.trace_id in _hexadecimal(traces)]
    (answer,) = found
    assert answer.answer == ANSWER
    assert [chunk.content for chunk in answer.contexts or ()] == [DOCUMENT]


async def test_spans_that_a_collector_groups_by_trace_are_one_record_in_kafka(
    addresses: Addresses, collector: Callable[..., str]
) -> None:
    topic = f"otlp-{uuid4().hex}"
    admin = AIOKafkaAdminClient(bootstrap_servers=addresses.kafka)
    await admin.start()
    await admin.create_topics([NewTopic(topic, 1, 1)])
    await admin.close()
    target = collector("kafka.yaml", KAFKA=addresses.kafka, OTLP_TOPIC=topic)
    send(target, *exports_of("openinference-langchain"))
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=addresses.kafka, auto_offset_reset="earliest")
    await consumer.start()
    try:
        records = await consumer.getmany(timeout_ms=int(WAIT_SECONDS * 1000))
    finally:
        await consumer.stop()
    (record,) = [record for batch in records.values() for record in batch]
    (found,) = format_named("otlp").answers(record.value, Received(NOW))
    assert found.answer.answer == ANSWER
    assert [chunk.content for chunk in found.answer.contexts or ()] == [DOCUMENT]


def _spans(export: Any) -> Iterator[Any]:
    for resource in export["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            yield from scope["spans"]


def _hexadecimal(identifiers: set[str]) -> set[str]:
    from base64 import b64decode

    return {b64decode(each).hex() for each in identifiers}
