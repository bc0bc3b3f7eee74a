"""Who was forgotten stays forgotten when every agent reads its topics again from the beginning."""

import json
import shutil
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiokafka import TopicPartition
from clickhouse_connect.driver.asyncclient import AsyncClient
from redis.asyncio import Redis

from schemas.export import example
from schemas.review import ReviewDecision
from schemas.topics import (
    ANSWERS_GENERATED,
    ANSWERS_RELEASED,
    DEAD_LETTERS,
    FEEDBACK_EVENTS,
    FEEDBACK_REWARDS,
    MEMORY_TURNS,
    REVIEW_DECISIONS,
    Topic,
)
from tests.harness.deployment import Deployment, until
from tests.harness.keys import name_of
from tests.harness.migrated import make_tables, return_tables
from workers.delivery.followers.erasure_follower import ErasureFollower, ErasuresUnreadable
from workers.delivery.records import Record
from workers.observability import metrics
from workers.privacy.erasure import forget
from workers.runtime.agent_choice import AGENTS
from workers.runtime.worker import Worker
from workers.settings.addresses import Addresses
from workers.stores.queries.person_queries import BY_ANSWER

AT = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
MINE, THEIRS = ["mine-1", "mine-2"], ["theirs-1", "theirs-2"]
FACT = "Loki restarts because the ingester exceeds its memory limit of 2 GiB."
PRIVATE = "o'brien"


@pytest.fixture
async def deployment(addresses: Addresses, tmp_path: Path) -> AsyncIterator[Deployment]:
    # One partition: what was sent before is handled before.
    deployment = Deployment(addresses, tmp_path, partitions=1)
    await deployment.prepare()
    yield deployment
    await deployment.close()


def answer(name: str, user: str, at: datetime = AT) -> dict[str, Any]:
    return {
        "answer_id": name, "tenant": "acme", "user_id": user, "query": f"Why does Loki restart? ({name})", "answer": FACT,
        "model": {"id": "llama"}, "requested_at": at.isoformat(), "completed_at": (at + timedelta(seconds=3)).isoformat(),
        "contexts": [{"chunk_id": "doc-1", "content": FACT}],
    }  # fmt: skip


def rating(name: str, user: str | None) -> dict[str, Any]:
    return {
        "feedback_id": f"{user} on {name}", "answer_id": name, "tenant": "acme", "user_id": user, "kind": "explicit",
        "explicit": {"rating": 4, "comment": f"said by {user}"}, "occurred_at": (AT + timedelta(hours=1)).isoformat(),
    }  # fmt: skip


class Site:
    """The deployment with whatever worker runs on it."""

    def __init__(self, deployment: Deployment, client: AsyncClient) -> None:
        self.deployment, self.client = deployment, client
        self.settings = deployment.settings
        self.worker: Worker | None = None

    async def start(self) -> None:
        self.worker = Worker(self.settings, self.deployment.addresses)
        await self.worker.start()

    async def stop(self) -> None:
        if self.worker is not None:
            await self.worker.stop()
        self.worker = None

    async def send(self, topic: Topic, *events: dict[str, Any]) -> None:
        records = [(event["answer_id"].encode(), json.dumps(event).encode()) for event in events]
        await self.deployment.send(records, topic)

    async def stored(self, table: str) -> set[str]:
        sql = f"SELECT DISTINCT {BY_ANSWER[table]} FROM {self.deployment.name}.{table}"
        return {row[0] for row in (await self.client.query(sql)).result_rows}

    async def turns(self) -> set[str]:
        assert self.worker is not None
        return {row["answer_id"] for row in await self.worker.remembered()}

    async def until_stored(self, answers: set[str]) -> None:
        """Every table, and the memory, is written by itself."""
        tables = ("answers", "claims", "citation_logs", "rewards", "implicit_feedback", "feedback")
        found: dict[str, set[str]] = {}

        async def there() -> bool:
            found.update({table: await self.stored(table) for table in tables} | {"memory": await self.turns()})
            return all(answers <= names for names in found.values())

        try:
            await until(there, "rows", 120)
        except TimeoutError:
            assert dict.fromkeys(found, answers) == found

    async def until_caught_up(self) -> None:
        async def done() -> bool:
            assert self.worker is not None
            marks = [
                agent.application.consumer.highwater(TopicPartition(*partition))
                for agent in self.worker._running
                for partition in agent.application.assigned()
            ]
            return None not in marks and self.worker.caught_up()

        await until(done, "caught up", 120)

    async def until_erased(self, answer_id: str) -> None:
        """The worker itself has found out about an answer, and reads of it on the register's topic."""
        late = Record(
            FEEDBACK_REWARDS.name, 0, 0, None, json.dumps({"tenant": "acme", "answer_id": answer_id}).encode()
        )

        async def known() -> bool:
            assert self.worker is not None
            return self.worker._erasures.register.covers(late)

        await until(known, f"{answer_id} on the register", 60)

    async def everything_stored(self) -> str:
        """All rows of all tables, and all keys of Redis."""
        rows = (await self.deployment.table_texts(self.client)).values()
        redis = Redis.from_url(self.deployment.addresses.redis)
        keys = [key async for key in redis.scan_iter(f"{self.settings.redis.key_prefix}*")]
        await redis.aclose()
        assert self.worker is not None
        return " ".join([*rows, str(keys), str(await self.worker.remembered())])

    async def wipe(self) -> None:
        """Empty stores: all that is there afterwards was made from what the topics hold."""
        await return_tables(self.client, self.deployment.name)
        await make_tables(self.client, self.deployment.name)
        shutil.rmtree(self.settings.memory_uri)
        redis = Redis.from_url(self.deployment.addresses.redis)
        async for key in redis.scan_iter(f"{self.settings.redis.key_prefix}*"):
            await redis.delete(key)
        await redis.aclose()

    def rewind(self) -> None:
        """New groups begin where groups that are set back would; the embedded broker lets nobody set them back."""
        self.settings.kafka.group_prefix += "-again"

    async def last_values(self, topic: Topic) -> dict[str, bytes | None]:
        """What compaction would keep."""
        return {name_of(record): record.value for record in await self.deployment.read(topic)}


def dropped(agent: str) -> float:
    return metrics.RECORDS_ERASED.labels(agent)._value.get()


async def test_nothing_of_an_erased_person_comes_back_when_all_groups_are_rewound(
    deployment: Deployment, client: AsyncClient
) -> None:
    site = Site(deployment, client)
    before = {agent: dropped(agent) for agent in AGENTS}
    decision = example(ReviewDecision) | {"tenant": "acme", "user_action": "approve", "user_id": None}
    try:
        await site.start()
        await site.send(ANSWERS_GENERATED, *(answer(name, PRIVATE) for name in MINE))
        await site.send(ANSWERS_GENERATED, *(answer(name, "user-18") for name in THEIRS))
        unreadable = answer("broken", PRIVATE) | {"contexts": PRIVATE}
        await site.send(ANSWERS_GENERATED, unreadable)
        await site.send(
            FEEDBACK_EVENTS,
            rating("mine-1", PRIVATE), rating("mine-1", "user-18"), rating("mine-2", None), rating("theirs-1", "user-18"),
            rating("theirs-2", PRIVATE),
        )  # fmt: skip
        await site.send(REVIEW_DECISIONS, decision | {"answer_id": "mine-2"}, decision | {"answer_id": "theirs-2"})
        await site.until_stored({*MINE, *THEIRS})
        await site.until_caught_up()
        assert PRIVATE in await site.everything_stored()
        await site.stop()
        # This one is on its way during the erasure, so that no store can name it.
        await site.send(ANSWERS_GENERATED, answer("mine-3", PRIVATE))
        await forget(site.settings, deployment.addresses, "acme", PRIVATE, lambda: datetime.now(UTC))
        await site.wipe()
        site.rewind()
        await site.start()
        await site.until_stored(set(THEIRS))
        await site.until_caught_up()
        await site.until_erased("mine-3")
        # Late words about an erased answer; then the person comes back and is like any other.
        await site.send(FEEDBACK_EVENTS, rating("mine-3", "user-18"), rating("mine-1", None))
        await site.send(ANSWERS_GENERATED, answer("back-1", PRIVATE, datetime.now(UTC)))
        await site.until_stored({*THEIRS, "back-1"})
        await site.until_caught_up()
        stored = await site.everything_stored()
        for name in (*MINE, "mine-3", "broken", f"said by {PRIVATE}"):
            assert name not in stored
        for table in ("answers", "claims", "rewards", "citation_logs"):
            assert await site.stored(table) == {*THEIRS, "back-1"}, table
        assert await site.turns() == {*THEIRS, "back-1"}
        given = await client.query(f"SELECT feedback_id FROM {deployment.name}.feedback FINAL WHERE kind = 'explicit'")
        assert {row[0] for row in given.result_rows} == {"user-18 on theirs-1", decision["feedback_id"]}
        for topic in (ANSWERS_RELEASED, FEEDBACK_REWARDS):
            values = await site.last_values(topic)
            assert {name for name, value in values.items() if value is not None} == {*THEIRS, "back-1"}
        # Three answers and the one that nobody can read; the others drop what was made of them.
        counts = {agent: dropped(agent) - before[agent] for agent in AGENTS}
        assert all(counts[agent] == 4 for agent in ("citations", "grounding", "quality", "signals", "assembly"))
        assert all(counts[agent] >= 2 for agent in ("release", "memory", "feedback", "analytics"))
    finally:
        await site.stop()
    assert len([letter for letter in await deployment.read(DEAD_LETTERS) if b"broken" in (letter.value or b"")]) == 1
    assert {name_of(record) for record in await deployment.read(MEMORY_TURNS)} >= set(THEIRS)


async def test_without_the_register_no_agent_starts(
    deployment: Deployment, client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = deployment.settings
    settings.kafka.request_timeout_seconds = 0.5
    monkeypatch.setattr(
        "workers.runtime.worker.ErasureFollower", lambda settings, *_: ErasureFollower(settings, "127.0.0.1:1")
    )
    worker = Worker(settings, deployment.addresses, ["signals"])
    try:
        with pytest.raises(
            ErasuresUnreadable,
            match=r"privacy\.erasures cannot be read to its end .* check that the broker is available",
        ):
            await worker.start()
        assert worker._running == []
    finally:
        await worker.stop()
