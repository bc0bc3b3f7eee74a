"""The query history in a real Valkey: atomic, bounded, expiring, and away at times."""

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import numpy as np
import orjson
import pytest
from redis.asyncio import Redis

from schemas.identifiers import person_digest
from tests.harness.deployment import until
from tests.harness.tcp_servers import TcpServer, never_answer
from workers.evaluation.thresholds import FeedbackRules
from workers.feedback.query_fingerprint import fingerprint
from workers.feedback.retry_detection import AskedQuery, find_retries
from workers.local.services import LocalServices
from workers.observability import metrics
from workers.settings import RedisSettings
from workers.settings.addresses import Addresses
from workers.stores.redis import query_history as module
from workers.stores.redis.query_history import PersonQuery, QueryHistory

PERSON = person_digest("acme", "user-17")
VECTOR = np.full(384, 0.05, dtype=np.float16)


def asked(name: str, seconds: float = 0.0, person: str = PERSON) -> PersonQuery:
    return PersonQuery(person, AskedQuery(name, 1_700_000_000.25 + seconds, VECTOR))


async def names(history: QueryHistory, *queries: PersonQuery) -> list[list[str]]:
    found = await history.exchange(queries)
    assert found is not None
    return [[query.answer_id for query in others] for others in found]


@pytest.fixture
def prefix() -> str:
    return f"test-{uuid4().hex[:8]}:"


@pytest.fixture
async def redis(addresses: Addresses) -> AsyncIterator[Redis]:
    client = Redis.from_url(addresses.redis)
    yield client
    await client.aclose()


@pytest.fixture
async def history(addresses: Addresses, prefix: str) -> AsyncIterator[QueryHistory]:
    opened = QueryHistory(addresses.redis, RedisSettings(key_prefix=prefix), 300)
    yield opened
    await opened.close()


async def test_a_query_meets_those_before_it_and_never_itself(history: QueryHistory) -> None:
    assert await names(history, asked("a"), asked("b", 10), asked("a")) == [[], ["a"], ["b"]]


async def test_what_was_noted_comes_back_as_it_was(history: QueryHistory) -> None:
    await history.exchange([asked("a", 0.123456)])
    ((found,),) = await history.exchange([asked("b", 60)]) or [[]]
    assert found.asked_at == 1_700_000_000.25 + 0.123456
    np.testing.assert_array_equal(found.vector, VECTOR)
    (pair,) = find_retries(asked("b", 60).query, [found], FeedbackRules())
    assert pair.similarity_score == pytest.approx(1.0)


async def test_digests_come_back_and_no_entry_holds_a_word(history: QueryHistory, redis: Redis, prefix: str) -> None:
    digests = fingerprint("Is grinder 5 at Leeds down?", PERSON)
    await history.exchange([PersonQuery(PERSON, replace(asked("a").query, fingerprint=digests))])
    ((found,),) = await history.exchange([asked("b", 60)]) or [[]]
    assert found.fingerprint == digests
    entry = str(await redis.get(f"{prefix}history:{{{PERSON}}}:entry:a")).lower()
    assert "query_id" in entry
    assert "leeds" not in entry
    assert "grinder" not in entry


async def test_an_entry_of_an_earlier_version_is_read(history: QueryHistory, redis: Redis, prefix: str) -> None:
    await history.exchange([asked("a")])
    key = f"{prefix}history:{{{PERSON}}}:entry:a"
    content = orjson.loads(await redis.get(key) or b"")
    assert set(content) == {"query_id", "timestamp", "embedding"}
    ((found,),) = await history.exchange([asked("b", 60)]) or [[]]
    assert found.fingerprint is None


async def test_people_are_told_apart(history: QueryHistory) -> None:
    other = person_digest("other", "user-17")
    assert await names(history, asked("a"), asked("b", 1, other), asked("c", 2)) == [[], [], ["a"]]


async def test_the_last_ten_queries_are_kept(history: QueryHistory, redis: Redis, prefix: str) -> None:
    found = await names(history, *(asked(f"q{n:02}", n) for n in range(15)))
    assert found[-1] == [f"q{n:02}" for n in range(13, 3, -1)]
    kept = [key async for key in redis.scan_iter(f"{prefix}*")]
    assert len(kept) == 10 + 1, "ten entries and one index; the rest is gone before its time"


async def test_no_key_holds_a_name_and_every_key_expires(history: QueryHistory, redis: Redis, prefix: str) -> None:
    await history.exchange([asked("a")])
    keys = [key.decode() async for key in redis.scan_iter(f"{prefix}*")]
    assert sorted(keys) == [f"{prefix}history:{{{PERSON}}}:{end}" for end in ("entry:a", "index")]
    for key in keys:
        assert 290_000 < await redis.pttl(key) <= 300_000
    assert b"user-17" not in b"".join([await redis.get(key) for key in keys if "entry" in key])


async def test_an_expired_query_is_forgotten_and_leaves_the_index(
    addresses: Addresses, redis: Redis, prefix: str
) -> None:
    short = QueryHistory(addresses.redis, RedisSettings(key_prefix=prefix), 0.2)
    await short.exchange([asked("a")])

    async def expired() -> bool:
        return not await redis.exists(f"{prefix}history:{{{PERSON}}}:entry:a")

    await until(expired, "the entry's expiry", 60, 0.02)
    assert await names(short, asked("b", 1)) == [[]]
    await short.close()


async def test_an_entry_that_was_evicted_leaves_the_index(history: QueryHistory, redis: Redis, prefix: str) -> None:
    await history.exchange([asked("a"), asked("b", 1)])
    await redis.delete(f"{prefix}history:{{{PERSON}}}:entry:a")
    assert await names(history, asked("c", 2)) == [["b"]]
    assert await redis.zcard(f"{prefix}history:{{{PERSON}}}:index") == 2


async def test_what_somebody_else_has_written_is_passed_over(history: QueryHistory, redis: Redis, prefix: str) -> None:
    await history.exchange([asked("a"), asked("b", 1)])
    await redis.set(f"{prefix}history:{{{PERSON}}}:entry:a", b"{not ours")
    assert await names(history, asked("c", 2)) == [["b"]]


async def test_of_two_workers_that_note_two_queries_at_once_one_sees_the_other(
    addresses: Addresses, prefix: str
) -> None:
    """40 workers, 40 queries of one person: every pair within the last ten is found by one of its two."""
    settings = RedisSettings(key_prefix=prefix, history_queries=100, timeout_seconds=20)
    workers = [QueryHistory(addresses.redis, settings, 300) for _ in range(40)]
    try:
        found = await asyncio.gather(*(worker.exchange([asked(f"q{n}", n)]) for n, worker in enumerate(workers)))
    finally:
        await asyncio.gather(*(worker.close() for worker in workers))
    pairs = {frozenset((f"q{n}", other.answer_id)) for n, answer in enumerate(found) for other in (answer or [[]])[0]}
    assert len(pairs) == 40 * 39 // 2


async def test_a_person_can_be_forgotten(history: QueryHistory, redis: Redis, prefix: str) -> None:
    await history.exchange([asked("a"), asked("b", 1), asked("c", 2, "somebody else")])
    assert await history.forget(PERSON) == 2
    assert await history.forget(PERSON) == 0
    assert [key async for key in redis.scan_iter(f"{prefix}*{PERSON}*")] == []
    assert await names(history, asked("d", 3, "somebody else")) == [["c"]]


async def test_without_redis_there_is_no_history_and_it_comes_back_by_itself(
    tmp_path: Path, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.05)
    told: list[str] = []
    monkeypatch.setattr(module.log, "warning", lambda event, **_: told.append(event))
    monkeypatch.setattr(module.log, "info", lambda event, **_: told.append(event))
    services = LocalServices(tmp_path, kafka=False, clickhouse=False)
    url = (await services.start()).redis_url or ""
    history = QueryHistory(url, RedisSettings(key_prefix=prefix), 300)
    assert await names(history, asked("a")) == [[]]
    assert metrics.REDIS_AVAILABLE.labels("signals")._value.get() == 1
    await services.stop()
    for _ in range(3):
        assert await history.exchange([asked("b", 1)]) is None
        await history.check()
    assert metrics.REDIS_AVAILABLE.labels("signals")._value.get() == 0
    assert told == ["query_history_suspended"], "once a minute, not once a record"
    again = LocalServices(tmp_path, kafka=False, clickhouse=False)
    await again.start()
    try:

        async def back() -> bool:
            return await history.exchange([asked("c", 2)]) is not None

        await until(back, "the history is back", 60, 0.02)
        assert metrics.REDIS_AVAILABLE.labels("signals")._value.get() == 1
        assert told == ["query_history_suspended", "query_history_resumed"]
    finally:
        await history.close()
        await again.stop()


async def test_a_redis_that_does_not_answer_costs_one_timeout_and_not_one_for_each_record(
    prefix: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.CRITICAL)
    monkeypatch.setattr(module, "PAUSE_SECONDS", 3600.0)
    redis = RedisSettings(key_prefix=prefix, timeout_seconds=0.1)
    async with TcpServer(never_answer) as server:
        history = QueryHistory(f"redis://127.0.0.1:{server.port}", redis, 300)
        for _ in range(1000):
            assert await history.exchange([asked("a")]) is None
        assert server.accepted <= 4
        await history.close()
