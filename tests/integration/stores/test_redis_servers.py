"""Redis as a deployment has it: Sentinel, cluster, TLS and users, with everything that uses it."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from redis.asyncio import Redis

from schemas.identifiers import person_digest
from tests.harness.deployment import until
from tests.harness.redis_servers import (
    SERVICE,
    USER,
    Certificates,
    RedisServers,
    make_certificates,
    redis_servers,
    start_cluster,
    start_sentinels,
    tls_before,
)
from workers.console.routes.intake import Taken, _KnownRequests
from workers.doctor.redis_checks import examine_redis
from workers.feedback.retry_detection import AskedQuery
from workers.intake.trace_sources import TraceSources
from workers.local.ports import LOOPBACK
from workers.review.queue.locks import DecisionMark, ReviewLocks
from workers.review.queue.shared_state import SharedState
from workers.settings import RedisSettings, Settings
from workers.stores.redis import shared_vector_store
from workers.stores.redis.client import REDIS_ERRORS, InvalidRedisUrl, RedisClient, open_redis
from workers.stores.redis.query_history import PersonQuery, QueryHistory
from workers.stores.redis.shared_vector_store import SharedVectors

NOW = datetime(2026, 11, 3, tzinfo=UTC)
NAMES = [f"name-{number}" for number in range(40)]
"""So many that their keys are on every node of a cluster."""
TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests side by side make each other wait; that is no outage."""
    monkeypatch.setattr(shared_vector_store, "TIMEOUT_SECONDS", 60.0)


@pytest.fixture
async def servers(tmp_path: Path) -> AsyncIterator[RedisServers]:
    async with redis_servers(tmp_path) as started:
        yield started


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


def settings_of(servers: RedisServers, **options: Any) -> Settings:
    return Settings(redis=RedisSettings(timeout_seconds=30, sentinel_password=servers.password, **options))


def asked(name: str, person: str) -> PersonQuery:
    return PersonQuery(person_digest("acme", person), AskedQuery(name, 1_700_000_000.0, np.ones(8, np.float16)))


async def exchanged(history: QueryHistory, name: str) -> list[list[str]] | None:
    found = await history.exchange([asked(name, person) for person in NAMES])
    return found and [[query.answer_id for query in queries] for queries in found]


async def use_history(url: str, settings: Settings) -> None:
    history = QueryHistory(url, settings.redis, 300)
    assert await exchanged(history, "first") == [[]] * len(NAMES)
    assert await exchanged(history, "second") == [["first"]] * len(NAMES)
    assert await history.forget(person_digest("acme", NAMES[0])) == 2
    await history.close()


async def use_vectors(url: str, settings: Settings) -> None:
    vectors = SharedVectors(url, settings.redis, "model@1", 60)
    kept = {name.encode(): np.full(8, number, np.float32) for number, name in enumerate(NAMES)}
    vectors.keep(kept)
    await asyncio.gather(*vectors._beside)
    found = await vectors.find([*kept, b"unknown"], 8)
    assert {name: vector[0] for name, vector in found.items()} == {name: vector[0] for name, vector in kept.items()}
    await vectors.close()


async def use_console(redis: RedisClient, settings: Settings) -> None:
    shared = SharedState(redis, settings.redis.key_prefix)
    locks = ReviewLocks(shared, 60)
    for name in NAMES:
        assert (await locks.acquire(name, "ann", NOW)) is not None
        assert (await locks.mark(name, DecisionMark(f"decision-{name}", "ann", NOW))).by == "ann"
    assert list(await locks.known([*NAMES, "unknown"])) == NAMES
    assert list(await locks.marks([*NAMES, "unknown"])) == NAMES
    other = await locks.acquire(NAMES[0], "bob", NOW)
    assert other is not None
    assert other.holder == "ann"
    await locks.release(NAMES[0], "ann")
    await locks.withdraw(NAMES[0], f"decision-{NAMES[0]}")
    assert list(await locks.known(NAMES)) == NAMES[1:]
    pending = shared.key("pending")
    await shared.ask("hset", pending, "decision", b"copy")
    assert await shared.ask("hget", pending, "decision") == b"copy"
    assert await shared.ask("hvals", pending) == [b"copy"]
    assert await shared.ask("hdel", pending, "decision") == 1
    assert not await shared.ask("exists", shared.key("undone", "decision"))


async def use_intake(redis: RedisClient, settings: Settings) -> None:
    resources: Any = SimpleNamespace(redis=redis, settings=settings, now=lambda: NOW)
    for name in NAMES:
        known = _KnownRequests(resources, SimpleNamespace(name="ann"), "acme", name, "digest")  # type: ignore[arg-type]
        assert await known.find() is None
        await known.keep(Taken(accepted=[name]))
        assert (await known.find()) == Taken(accepted=[name])
    sources = TraceSources(redis, settings.redis.key_prefix, 60)
    await sources.keep(export("RETRIEVER", "0000000000000001", "retrieval.documents.0.document.content"), "ann", "acme")
    joined = await sources.joined(export("LLM", "0000000000000002", "output.value"), "ann", "acme")
    assert len(joined["resourceSpans"]) == 2
    await sources.keep(export("TOOL", "0000000000000003", "output.value"), "ann", "acme")
    joined = await sources.joined(export("LLM", "0000000000000002", "output.value"), "ann", "acme")
    assert len(joined["resourceSpans"]) == 3


def export(kind: str, span_id: str, attribute: str) -> dict[str, Any]:
    attributes = {"openinference.span.kind": kind, attribute: "Text."}
    span = {
        "traceId": TRACE, "spanId": span_id, "name": kind, "startTimeUnixNano": "1", "endTimeUnixNano": "2",
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
    }  # fmt: skip
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": [span]}]}]}


async def use_everything(url: str, settings: Settings) -> None:
    await use_history(url, settings)
    await use_vectors(url, settings)
    redis = open_redis(url, settings.redis)
    await use_console(redis, settings)
    await use_intake(redis, settings)
    await redis.aclose()
    findings = await examine_redis(settings, url)
    assert {finding.status for finding in findings} == {"ok"}, findings
    assert {finding.check for finding in findings} == {"redis", "redis version", "redis clock", "redis rights"}


async def test_a_user_with_the_documented_rights_does_everything(servers: RedisServers) -> None:
    port = await servers.start()
    await use_everything(f"redis://{USER}:{servers.password}@{LOOPBACK}:{port}/0", settings_of(servers))


async def test_all_goes_through_sentinel_and_on_with_the_next_primary(servers: RedisServers) -> None:
    url, primary = await start_sentinels(servers)
    settings = settings_of(servers)
    await use_everything(url, settings)
    history = QueryHistory(url, settings.redis, 300)
    assert await exchanged(history, "before") is not None
    await servers.kill(primary)

    async def goes_on() -> bool:
        return await exchanged(history, "after") is not None

    await until(goes_on, "a failover", 60, 0.1)
    assert history._redis.connection_pool.master_address[1] != primary
    await history.close()


async def test_the_connections_to_sentinels_are_closed(servers: RedisServers) -> None:
    url, _ = await start_sentinels(servers)
    sentinel = int(url.rpartition("@")[2].split(",")[0].rpartition(":")[2])

    async def connected() -> int:
        clients = await servers.ask(sentinel, "CLIENT", "LIST")
        return int(clients.count("cmd=sentinel|masters"))

    redis = open_redis(url, settings_of(servers).redis)
    await redis.ping()
    assert await connected() == 1
    await redis.aclose()

    async def closed() -> bool:
        return await connected() == 0

    await until(closed, "closed connections", 60, 0.02)


async def test_a_cluster_is_used_on_all_its_nodes_and_goes_on_without_one(servers: RedisServers) -> None:
    url, first = await start_cluster(servers)
    settings = settings_of(servers)
    await use_everything(url, settings)
    history = QueryHistory(url, settings.redis, 300)
    assert await exchanged(history, "before") is not None
    await servers.kill(first)

    async def goes_on() -> bool:
        return await exchanged(history, "after") is not None

    await until(goes_on, "a failover", 60, 0.1)
    await history.close()


async def test_a_cluster_that_does_not_respond_is_an_outage_and_no_error(servers: RedisServers) -> None:
    url, _ = await start_cluster(servers)
    settings = settings_of(servers)
    await servers.stop()
    history, vectors = QueryHistory(url, settings.redis, 300), SharedVectors(url, settings.redis, "model@1", 60)
    assert await exchanged(history, "first") is None
    assert await vectors.find([b"name"], 8) == {}
    redis = open_redis(url, settings.redis)
    assert await ReviewLocks(SharedState(redis, settings.redis.key_prefix), 60).acquire("name", "ann", NOW) is None
    assert [finding.status for finding in await examine_redis(settings, url)] == ["warning"]
    for opened in (history, vectors):
        await opened.close()
    await redis.aclose()


async def test_tls_is_checked_on_both_sides(servers: RedisServers, certificates: Certificates) -> None:
    port = await servers.start()
    files = {"ssl_certfile": certificates.client, "ssl_keyfile": certificates.key(certificates.client)}
    async with tls_before(port, certificates) as encrypted:
        url = f"rediss://{USER}:{servers.password}@{LOOPBACK}:{encrypted}/0"
        await use_everything(url, settings_of(servers, ssl_cafile=certificates.ca, **files))
        for lacking in ({"ssl_cafile": certificates.ca}, files):
            client = open_redis(url, settings_of(servers, **lacking).redis)
            with pytest.raises(REDIS_ERRORS):
                await client.ping()
            await client.aclose()


async def test_sentinels_and_servers_behind_tls(servers: RedisServers, certificates: Certificates) -> None:
    """A client certificate is shown to each of them."""
    port = await servers.start()
    async with tls_before(port, certificates) as encrypted:
        watched = f"sentinel monitor {SERVICE} {LOOPBACK} {encrypted} 1"
        # The sentinel cannot reach the server behind TLS: it tells the address all the same.
        sentinel = await servers.start(watched, f"sentinel down-after-milliseconds {SERVICE} 600000", sentinel=True)
        async with tls_before(sentinel, certificates) as before_sentinel:
            url = f"rediss+sentinel://{USER}:{servers.password}@{LOOPBACK}:{before_sentinel}/{SERVICE}"
            key = certificates.key(certificates.client)
            options = {"ssl_cafile": certificates.ca, "ssl_certfile": certificates.client, "ssl_keyfile": key}
            redis = open_redis(url, settings_of(servers, **options).redis)
            assert await redis.ping()
            await redis.aclose()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://secret@host", "scheme"),
        ("redis+other://secret@host", "scheme"),
        ("redis://user:secret@one:6379,two:6379/0", "several hosts"),
        ("redis+sentinel://user:secret@one,two", "name of the service"),
        ("redis+cluster://user:secret@one:none", "port"),
        ("redis://user:secret@one:99999", "port"),
        ("redis://user:secret@one?socket_timeout=soon", "query"),
    ],
)
def test_an_invalid_address_is_told_without_its_password(url: str, message: str) -> None:
    with pytest.raises(InvalidRedisUrl, match=message) as refused:
        open_redis(url, RedisSettings())
    assert "secret" not in str(refused.value)


async def test_hosts_users_and_options_of_an_address_are_read() -> None:
    url = "redis+cluster://a%40b:p%2Fw@[::1]:7000,node,other:7002/0?health_check_interval=7"
    cluster: Any = open_redis(url, RedisSettings())
    nodes = [(node.host, node.port) for node in cluster.startup_nodes]
    assert nodes == [("::1", 7000), ("node", 6379), ("other", 7002)]
    assert cluster.connection_kwargs["username"] == "a@b"
    assert cluster.connection_kwargs["password"] == "p/w"
    assert cluster.connection_kwargs["health_check_interval"] == 7
    single: Any = open_redis("redis://host/3", RedisSettings(), decode_responses=True)
    assert isinstance(single, Redis)
    assert single.get_connection_kwargs()["db"] == 3
    await single.aclose()


async def test_a_server_is_reached_by_its_unix_socket(servers: RedisServers) -> None:
    socket = servers.directory / "valkey.sock"
    await servers.start(f"unixsocket {socket}", "unixsocketperm 700")
    client = open_redis(f"unix://{USER}:{servers.password}@{socket}?db=0", settings_of(servers).redis)
    try:
        await client.set("touchstone:name", "value")
        assert await client.get("touchstone:name") == b"value"
    finally:
        await client.aclose()
