"""Sources of traces while Redis hangs: it is left alone for a while, and no record waits for another's reply."""

from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from structlog.testing import capture_logs

from tests.harness.tcp_servers import TcpServer, never_answer
from workers.agents import intake
from workers.delivery.records import Record, WorkItem
from workers.intake import trace_sources as module
from workers.intake.trace_sources import TraceSources
from workers.local.ports import LOOPBACK
from workers.settings import GatewaySettings, GatewayTopic, RedisSettings, Settings
from workers.stores.redis.client import open_redis

REDIS = RedisSettings(timeout_seconds=0.1)


def export(number: int, kind: str = "LLM") -> Any:
    """An export with one call, or one retrieval, whose parent is in another export."""
    attributes = {"openinference.span.kind": kind}
    attributes["output.value" if kind == "LLM" else "retrieval.documents.0.document.content"] = "Text."
    span = {
        "traceId": f"{number + 1:032x}", "spanId": f"{ord(kind[0]):016x}", "parentSpanId": "00000000000000ff",
        "name": kind, "startTimeUnixNano": "1", "endTimeUnixNano": "2",
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
    }  # fmt: skip
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": [span]}]}]}


@pytest.fixture
async def server() -> AsyncIterator[TcpServer]:
    async with TcpServer(never_answer) as server:
        yield server


async def test_a_redis_that_hangs_is_left_alone_after_a_failure(server: TcpServer) -> None:
    redis = open_redis(f"redis://{LOOPBACK}:{server.port}/0", REDIS)
    sources = TraceSources(redis, "x:", 60.0)
    with capture_logs() as logs:
        for number in range(50):
            await sources.keep(export(number, "RETRIEVER"), "ann", "acme")
            await sources.wait(export(number), "ann", "acme", 0.5)
            assert await sources.joined(export(number), "ann", "acme") == export(number)
            assert await sources.joined({"resourceSpans": []}, "ann", "acme") == {"resourceSpans": []}
    await redis.aclose()
    assert server.accepted == 2, "one write and one read"
    assert [line["event"] for line in logs] == ["trace_lookup_failed"]


async def test_redis_is_asked_again_after_the_pause(server: TcpServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.0)
    redis = open_redis(f"redis://{LOOPBACK}:{server.port}/0", REDIS)
    sources = TraceSources(redis, "x:", 60.0)
    with capture_logs() as logs:
        for _ in range(3):
            await sources.joined(export(0), "ann", "acme")
    await redis.aclose()
    assert server.accepted == 3
    assert len(logs) == 1, "logged once while it lasts"


async def test_the_records_of_a_batch_ask_redis_together(server: TcpServer) -> None:
    settings = Settings(
        _env_file=None, redis=REDIS, gateways=GatewaySettings(topics={"spans": GatewayTopic(format="otlp")})
    )
    with ThreadPoolExecutor(2) as pool:
        context: Any = SimpleNamespace(
            settings=settings, pipeline_version="1", steps_pool=pool,
            addresses=SimpleNamespace(redis=f"redis://{LOOPBACK}:{server.port}/0"),
            erasures=SimpleNamespace(covers=lambda _: False),
        )  # fmt: skip
        async with AsyncExitStack() as stack:
            handle: Any = await intake._open(context, stack)
            for _ in range(3):
                works = [WorkItem(Record("spans", 0, n, None, orjson.dumps(export(n)))) for n in range(8)]
                assert len(await handle(works)) == 8
    assert server.accepted == 8, "those of the first batch, all at once"
