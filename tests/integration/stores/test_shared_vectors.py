"""Vectors that workers share in a real Valkey: made once, the same to the last bit, and nobody waits for them."""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from hashlib import blake2b
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import numpy as np
import pytest
from prometheus_client import REGISTRY
from redis.asyncio import Redis
from structlog.testing import capture_logs

from tests.harness.deployment import until
from tests.harness.tcp_servers import TcpServer, never_answer
from workers.console.opening import opened_resources
from workers.inference import opening
from workers.inference.backends import Vectors
from workers.inference.embedding import EmbeddingService
from workers.local.services import LocalServices, ServicePorts
from workers.pipeline.shared_vectors import open_shared_vectors
from workers.runtime.worker import Worker
from workers.settings import InferenceSettings, RedisSettings, Settings
from workers.settings.addresses import Addresses
from workers.stores.redis import shared_vector_store as module
from workers.stores.redis.client import open_redis
from workers.stores.redis.shared_vector_store import SharedVectors

DIMENSIONS = 384
BATCH = 8
SECONDS = 600


class Model:
    """A model whose vectors use every bit, and that knows what it was asked."""

    name = "counting"
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self.embedded: list[str] = []
        self.gate = threading.Event()
        self.gate.set()

    def encode(self, texts: Sequence[str]) -> Vectors:
        assert self.gate.wait(60)
        self.embedded += texts
        return np.stack([vector_of(text) for text in texts])


def vector_of(text: str) -> Vectors:
    vector = np.random.default_rng(list(text.encode())).normal(size=DIMENSIONS).astype(np.float32)
    vector[:3] = -0.0, np.finfo(np.float32).tiny / 2, np.nextafter(np.float32(1), np.float32(2))
    return vector


def digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()


def looked_up(result: str) -> float:
    return REGISTRY.get_sample_value("touchstone_shared_vectors_total", {"result": result}) or 0.0


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests side by side make each other wait; that is no outage."""
    monkeypatch.setattr(module, "TIMEOUT_SECONDS", 60.0)


@pytest.fixture
def prefix() -> str:
    return f"test-{uuid4().hex[:8]}:"


@pytest.fixture
async def redis(addresses: Addresses) -> AsyncIterator[Redis]:
    client = Redis.from_url(addresses.redis)
    yield client
    await client.aclose()


class Workers:
    """Services as several workers have them, each with a model of its own."""

    def __init__(self, url: str, prefix: str) -> None:
        self.url, self.prefix = url, prefix
        self.running: list[tuple[EmbeddingService, Model]] = []

    def start(self, made_by: str = "model@1", seconds: int = SECONDS) -> tuple[EmbeddingService, Model]:
        model = Model()
        shared = SharedVectors(self.url, RedisSettings(key_prefix=self.prefix), made_by, seconds)
        service = EmbeddingService(model, InferenceSettings(batch_texts=BATCH), shared)
        service.start()
        self.running.append((service, model))
        return service, model

    async def stop(self) -> None:
        for service, model in self.running:
            model.gate.set()
            await service.stop()


@pytest.fixture
async def workers(addresses: Addresses, prefix: str) -> AsyncIterator[Workers]:
    started = Workers(addresses.redis, prefix)
    yield started
    await started.stop()


async def written(redis: Redis, prefix: str, count: int) -> list[bytes]:
    """The keys, once there are so many."""

    async def there() -> bool:
        return len([key async for key in redis.scan_iter(f"{prefix}*", count=1000)]) == count

    await until(there, f"{count} vectors in Redis", 60, 0.01)
    return [key async for key in redis.scan_iter(f"{prefix}*", count=1000)]


# --- shared ------------------------------------------------------------------------------------


async def test_what_one_worker_has_embedded_no_other_embeds_again(workers: Workers, redis: Redis, prefix: str) -> None:
    texts = [f"text {number}" for number in range(20)]
    (first, model), (second, idle) = workers.start(), workers.start()
    made = await first.embed(texts)
    await written(redis, prefix, 20)
    before = looked_up("hit")
    found = await second.embed(texts)
    assert sorted(model.embedded) == sorted(texts)
    assert idle.embedded == []
    assert looked_up("hit") - before == 20
    for text in texts:
        assert found[text].tobytes() == made[text].tobytes() == vector_of(text).tobytes()
        assert found[text].dtype == np.float32
        with pytest.raises(ValueError, match="read-only"):
            found[text][0] = 7
    await second.embed(texts)
    assert looked_up("hit") - before == 20, "they are in its own memory now"


async def test_of_a_batch_the_model_makes_what_nobody_has_made(workers: Workers, redis: Redis, prefix: str) -> None:
    (first, _), (second, model) = workers.start(), workers.start()
    await first.embed(["a", "b"])
    await written(redis, prefix, 2)
    before = looked_up("miss")
    found = await second.embed(["a", "new", "b"])
    assert model.embedded == ["new"]
    assert looked_up("miss") - before == 1
    assert all(np.array_equal(found[text], vector_of(text)) for text in found)
    await written(redis, prefix, 3)


async def test_every_key_expires_and_none_holds_a_text(workers: Workers, redis: Redis, prefix: str) -> None:
    service, _ = workers.start(made_by="model@1", seconds=SECONDS)
    await service.embed(["a secret text"])
    (key,) = await written(redis, prefix, 1)
    assert key.decode() == f"{prefix}vectors:model@1:{digest('a secret text').hex()}"
    assert SECONDS - 60 < await redis.ttl(key) <= SECONDS
    assert await redis.get(key) == vector_of("a secret text").astype("<f4").tobytes()


async def test_vectors_of_another_model_are_not_read(workers: Workers, redis: Redis, prefix: str) -> None:
    (first, _), (second, model) = workers.start(made_by="model@1"), workers.start(made_by="model@2")
    await first.embed(["a"])
    await written(redis, prefix, 1)
    await second.embed(["a"])
    assert model.embedded == ["a"]
    await written(redis, prefix, 2)


@pytest.mark.parametrize(
    "wrong",
    [
        b"",
        b"no vector",
        vector_of("a").tobytes()[:-4],
        vector_of("a").tobytes() + bytes(4),
        np.full(DIMENSIONS, np.nan, dtype=np.float32).tobytes(),
        np.full(DIMENSIONS, np.inf, dtype=np.float32).tobytes(),
    ],
    ids=["empty", "words", "too short", "too long", "not a number", "infinite"],
)
async def test_what_is_no_vector_is_made_anew_and_overwritten(
    workers: Workers, redis: Redis, prefix: str, wrong: bytes
) -> None:
    key = f"{prefix}vectors:model@1:{digest('a').hex()}"
    await redis.set(key, wrong)
    service, model = workers.start()
    assert np.array_equal((await service.embed(["a"]))["a"], vector_of("a"))
    assert model.embedded == ["a"]

    async def overwritten() -> bool:
        return bool(await redis.get(key) == vector_of("a").tobytes())

    await until(overwritten, "the vector in place of what was there", 60, 0.01)


# --- a start -----------------------------------------------------------------------------------


async def test_worker_and_console_share_where_the_settings_say_so_and_only_there(
    settings: Settings, addresses: Addresses, topics: None, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def shared_by(text: str) -> set[str]:
        """What the model of the worker, then that of the console, is asked."""
        models: list[Model] = []

        def open_model(_: Settings) -> Model:
            models.append(Model())
            return models[-1]

        monkeypatch.setattr(opening, "open_backend", open_model)
        worker = Worker(settings, addresses, ["grounding"])
        try:
            await worker.start()
            async with worker.services.embedder() as embedder:
                await embedder.embed([text])
        finally:
            await worker.stop()
        async with opened_resources(settings, addresses) as resources:
            await resources.embedding.embed([text])
        assert models[0].embedded == [text]
        return set(models[1].embedded)

    pattern = f"{settings.redis.key_prefix}vectors:*"
    assert open_shared_vectors(settings, addresses.redis) is None
    assert await shared_by("a") == {"a"}
    assert [key async for key in redis.scan_iter(pattern, count=1000)] == []
    settings.inference.shared_cache_seconds = SECONDS
    assert await shared_by("a") == set()
    assert len([key async for key in redis.scan_iter(pattern, count=1000)]) == 1


# --- callers -----------------------------------------------------------------------------------


class Hanging(TcpServer):
    """A server that takes connections and never answers."""

    def __init__(self) -> None:
        super().__init__(self._hang)
        self.reached = asyncio.Event()

    @property
    def url(self) -> str:
        """Return the address of the server."""
        return f"redis://127.0.0.1:{self.port}"

    async def _hang(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reached.set()
        await never_answer(reader, writer)


async def test_who_gives_up_while_redis_is_asked_takes_nothing_from_the_others(
    prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TIMEOUT_SECONDS", 0.3)
    async with Hanging() as server:
        workers = Workers(server.url, prefix)
        service, model = workers.start()
        gone = asyncio.create_task(service.embed(["given up", "shared"]))
        stays = asyncio.create_task(service.embed(["shared"]))
        await server.reached.wait()
        gone.cancel()
        assert set(await stays) == {"shared"}
        assert model.embedded == ["shared"], "nobody waits for the other one"
        await workers.stop()


async def test_a_stop_leaves_nobody_waiting_for_redis(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TIMEOUT_SECONDS", 0.5)
    async with Hanging() as server:
        workers = Workers(server.url, prefix)
        service, _ = workers.start()
        asked = asyncio.create_task(service.embed(["text"]))
        await server.reached.wait()
        async with asyncio.timeout(60):
            await workers.stop()
            (told,) = await asyncio.gather(asked, return_exceptions=True)
        assert isinstance(told, asyncio.CancelledError)


# --- faults ------------------------------------------------------------------------------------


async def test_a_redis_that_hangs_costs_one_timeout_and_not_one_for_each_batch(
    prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TIMEOUT_SECONDS", 0.5)
    # Every batch would ask again, were it not that whether it is back is seen beside.
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.0)
    async with Hanging() as server:
        workers = Workers(server.url, prefix)
        service, model = workers.start()
        shared = service._shared
        assert shared is not None
        before = looked_up("failed")
        with capture_logs() as logs:
            await service.embed(["0"])
            assert server.accepted > 0, "the first batch has asked"
            # From here on, a batch that waited for Redis would wait for an hour.
            monkeypatch.setattr(module, "TIMEOUT_SECONDS", 3600.0)
            await shared._redis.aclose()
            shared._redis = open_redis(server.url, RedisSettings(key_prefix=prefix), 3600.0)
            async with asyncio.timeout(60):
                for number in range(1, 10):
                    await service.embed([str(number)])
            assert shared._beside, "whether it is back is asked beside"
            # Nothing is cancelled: before Python 3.12, `wait_for` in the client can swallow that.
            await server.stop()
            async with asyncio.timeout(60):
                await workers.stop()
        assert model.embedded == [str(number) for number in range(10)]
        assert looked_up("failed") - before == 10
        assert [line["event"] for line in logs] == ["shared_vectors_suspended"]


async def test_after_a_failure_redis_is_left_alone(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TIMEOUT_SECONDS", 0.1)
    async with Hanging() as server:
        shared = SharedVectors(server.url, RedisSettings(key_prefix=prefix), "model@1", SECONDS)
        for _ in range(100):
            assert await shared.find([digest("a")], DIMENSIONS) == {}
            shared.keep({digest("a"): vector_of("a")})
        await shared.close()
        assert server.accepted <= 1 + module.MAX_WRITES


async def test_what_waits_to_be_written_is_bounded(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TIMEOUT_SECONDS", 2.0)
    async with Hanging() as server:
        shared = SharedVectors(server.url, RedisSettings(key_prefix=prefix), "model@1", SECONDS)
        for _ in range(100):
            shared.keep({digest("a"): vector_of("a")})

        async def all_there() -> bool:
            return server.accepted >= module.MAX_WRITES

        await until(all_there, "the writes", 60, 0.01)
        await asyncio.sleep(0.2)
        assert server.accepted == module.MAX_WRITES
    await shared.close()


class OwnValkey:
    """A server of the test's own, at one address however often it is started."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._ports = ServicePorts()
        self._running: LocalServices | None = None

    async def start(self) -> str:
        self._running = LocalServices(self._directory, kafka=False, clickhouse=False, ports=self._ports)
        url = (await self._running.start()).redis_url or ""
        self._ports = ServicePorts(redis=urlsplit(url).port)
        return url

    async def stop(self) -> None:
        if self._running is not None:
            await self._running.stop()
            self._running = None


@pytest.fixture
async def own(tmp_path: Path) -> AsyncIterator[OwnValkey]:
    valkey = OwnValkey(tmp_path)
    yield valkey
    await valkey.stop()


async def test_a_redis_that_is_slow_full_or_away_costs_nobody_a_vector(
    own: OwnValkey, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.05)
    url = await own.start()
    workers, redis = Workers(url, prefix), Redis.from_url(url)
    service, model = workers.start()
    texts = iter(f"text {number}" for number in range(10_000))

    async def works() -> None:
        text = next(texts)
        async with asyncio.timeout(60):
            assert np.array_equal((await service.embed([text]))[text], vector_of(text))
        assert model.embedded[-1] == text

    async def count() -> int:
        return len([key async for key in redis.scan_iter(f"{prefix}*", count=1000)])

    async def is_back() -> bool:
        before = await count()
        await works()
        await asyncio.sleep(0.02)
        return await count() > before

    with capture_logs() as logs:

        def told() -> list[str]:
            return [line["event"] for line in logs if line["event"].startswith("shared_vectors")]

        async def resumed() -> bool:
            return told()[-1] == "shared_vectors_resumed"

        # One look and one write for a batch, and nobody waits for the write.
        await redis.config_resetstat()
        await redis.execute_command("CLIENT", "PAUSE", "600000", "WRITE")
        batch = [next(texts) for _ in range(BATCH)]
        assert set(await service.embed(batch)) == set(batch)
        assert service._shared is not None and service._shared._writes == 1, "the write still waits"
        await redis.execute_command("CLIENT", "UNPAUSE")
        await written(redis, prefix, BATCH)
        calls = {name: stat["calls"] for name, stat in (await redis.info("commandstats")).items()}
        assert calls["cmdstat_mget"] == 1
        assert calls["cmdstat_set"] == BATCH
        assert told() == []

        # Full: what is there is still read.
        await redis.config_set("maxmemory-policy", "noeviction")
        await redis.config_set("maxmemory", "1")
        for _ in range(3):
            await works()

        async def noticed() -> bool:
            return bool(told())

        await until(noticed, "that it is full", 60, 0.01)
        other, idle = workers.start()
        await other.embed(batch)
        assert idle.embedded == []
        assert told() == ["shared_vectors_suspended"]
        assert logs[0]["operation"] == "write"
        await redis.config_set("maxmemory", "0")
        await until(is_back, "writing again", 60, 0.05)
        # The keys are seen before the writer has read its answer.
        await until(resumed, "word of it", 60, 0.01)
        assert told() == ["shared_vectors_suspended", "shared_vectors_resumed"]

        # Away, and there again.
        await redis.aclose()
        await own.stop()
        for _ in range(3):
            await works()
            await asyncio.sleep(0.06)
        assert told()[2:] == ["shared_vectors_suspended"]
        await own.start()
        await until(is_back, "it is back", 60, 0.05)
        await until(resumed, "word of it", 60, 0.01)
        assert told()[2:] == ["shared_vectors_suspended", "shared_vectors_resumed"]
        third, idle = workers.start()
        await third.embed([model.embedded[-1]])
        assert idle.embedded == []
    await workers.stop()
    await redis.aclose()
