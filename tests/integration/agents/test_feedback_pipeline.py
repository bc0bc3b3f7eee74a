"""Feedback through real agents: from answers and events to rewards, rows and memory, with and without Redis."""

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient

from schemas.export import example
from schemas.feedback import FeedbackEvent, ModelPosterior, Reward
from schemas.headers import header
from schemas.identifiers import fact_id
from schemas.memory import ConversationTurn
from schemas.review import ReviewDecision
from schemas.topics import (
    ANSWERS_GENERATED,
    DEAD_LETTERS,
    FEEDBACK_EVENTS,
    FEEDBACK_REWARDS,
    MEMORY_TURNS,
    REVIEW_DECISIONS,
    ROUTING_POSTERIORS,
    Topic,
)
from tests.harness.deployment import Deployment, until
from tests.harness.keys import name_of
from workers.local.services import LocalServices
from workers.observability import metrics
from workers.runtime.worker import Worker
from workers.settings.addresses import Addresses

AT = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
AGENTS = ["signals", "feedback", "analytics"]
GOOD = "Loki restarts because the ingester exceeds its memory limit of 2 GiB."


@pytest.fixture
async def deployment(addresses: Addresses, tmp_path: Path) -> AsyncIterator[Deployment]:
    deployment = Deployment(addresses, tmp_path)
    await deployment.prepare()
    yield deployment
    await deployment.close()


class Running:
    """A worker in this process."""

    def __init__(self, deployment: Deployment, client: AsyncClient, addresses: Addresses | None = None) -> None:
        self.deployment, self.client = deployment, client
        self.worker = Worker(deployment.settings, addresses or deployment.addresses, AGENTS)

    async def __aenter__(self) -> "Running":
        await self.worker.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.worker.stop()

    async def send(self, topic: Topic, *events: dict[str, Any]) -> None:
        await self.deployment.send(
            [(event["answer_id"].encode(), json.dumps(event).encode()) for event in events], topic
        )

    async def rewards(self) -> dict[str, dict[str, Any]]:
        result = await self.client.query(f"SELECT * FROM {self.deployment.name}.rewards FINAL")
        return {row["answer_id"]: row for row in result.named_results()}

    async def until_rows(self, query: str, expected: Sequence[tuple[Any, ...]]) -> None:
        found: Sequence[Any] = []

        async def there() -> bool:
            nonlocal found
            found = (await self.client.query(query)).result_rows
            return found == expected

        try:
            await until(there, "rows", 60)
        except TimeoutError:
            assert found == expected

    async def until_rewards(self, expected: dict[str, float]) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}

        async def there() -> bool:
            found.clear()
            found.update(await self.rewards())
            return {name: round(row["reward"], 6) for name, row in found.items()} == expected

        try:
            await until(there, "rewards", 60)
        except TimeoutError:
            assert {name: row["reward"] for name, row in found.items()} == expected
        return found


def answer(
    name: str, query: str = "Why does Loki keep restarting?", seconds: float = 0, **changes: Any
) -> dict[str, Any]:
    asked = AT + timedelta(seconds=seconds)
    return {
        "answer_id": name, "tenant": "acme", "user_id": "user-17", "query": query, "answer": GOOD,
        "model": {"id": "llama"}, "query_type": "ops",
        "requested_at": asked.isoformat(), "completed_at": (asked + timedelta(seconds=3)).isoformat(),
    } | changes  # fmt: skip


def said(name: str, identifier: str, hours: float = 1, **explicit: Any) -> dict[str, Any]:
    return {
        "feedback_id": identifier, "answer_id": name, "tenant": "acme", "kind": "explicit", "explicit": explicit,
        "occurred_at": (AT + timedelta(hours=hours)).isoformat(),
    }  # fmt: skip


async def test_answers_and_feedback_become_rewards(
    deployment: Deployment, client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.agents.tasks.posterior_publisher.LINEAR_EVERY", 0.0)
    async with Running(deployment, client) as running:
        # Feedback before its answer, on an answer that never was, and twice.
        early = said("a", "f1", rating=2)
        await running.send(FEEDBACK_EVENTS, early, early, said("ghost", "f2", vote="up"))
        await running.until_rewards({"a": 0.4, "ghost": 1.0})
        await running.send(
            ANSWERS_GENERATED,
            answer("a"),
            answer("b", "Why does Loki restart all the time?", 60),
            answer("c", "How long is the warranty?", 90),
            answer("d", "Anything new?", 95, answer="", user_id="user-18"),
        )
        rows = await running.until_rewards(
            {"a": round(0.7 * 0.4 + 0.3 * 0.3, 6), "b": 0.9, "c": 0.9, "d": 0.0, "ghost": 1.0}
        )
        assert (rows["a"]["tenant"], rows["a"]["model_id"], rows["a"]["query_type"]) == ("acme", "llama", "ops")
        assert {name: len(row["query_features"]) for name, row in rows.items() if name != "ghost"} == dict.fromkeys(
            "abcd", 16
        )
        assert (rows["ghost"]["model_id"], rows["d"]["error_occurred"]) == ("unknown", True)
        columns = "query_id, retry_detected, original_query_id, round(retry_delay_seconds), asked_again, error_type"
        query = f"SELECT {columns}, latency_tolerance FROM {deployment.name}.implicit_feedback FINAL ORDER BY query_id"
        expected = [
            ("a", False, None, None, True, None, "high"),
            ("b", True, "a", 60.0, False, None, "high"),
            ("c", False, None, None, False, None, "high"),
            ("d", False, None, None, False, "empty_response", "high"),
        ]
        # Each table is written for itself: that the rewards are there says nothing of the others.
        await running.until_rows(query, expected)
        # Days later the person thinks better of it; a reviewer approves; a second opinion comes with the same id.
        decision = example(ReviewDecision) | {"answer_id": "b", "tenant": "acme", "user_action": "approve"}
        await running.send(FEEDBACK_EVENTS, said("a", "f1", 100, rating=5))
        await running.send(REVIEW_DECISIONS, decision, decision | {"answer_id": "c", "decided_by": "policy"})
        rows = await running.until_rewards(
            {"a": round(0.7 + 0.3 * 0.3, 6), "b": round(0.7 + 0.3 * 0.9, 6), "c": 0.9, "d": 0.0, "ghost": 1.0}
        )
        joined = await client.query(
            f"SELECT rating, kind FROM {deployment.name}.feedback FINAL WHERE feedback_id = 'f1' ORDER BY occurred_at"
        )
        assert joined.result_rows == [(2, "explicit"), (5, "explicit")]

        async def published() -> bool:
            records = await deployment.read(ROUTING_POSTERIORS)
            posteriors = {record.key: ModelPosterior.from_bytes(record.value) for record in records}
            # Four rewards, older than today, so that each weighs less than one.
            return sorted(posteriors) == [b'["acme","llama","ops"]'] and all(
                0 < found.observations < 4 and found.linear is not None for found in posteriors.values()
            )

        await until(published, "the posterior of the four known answers", 60)
    records = await deployment.read(FEEDBACK_REWARDS)
    of_a = [(Reward.from_bytes(record.value), record) for record in records if name_of(record) == "a"]
    assert {header(record.headers, "ce_id") for _, record in of_a} == {fact_id("acme", "a", "reward")}
    revisions = [reward.revision for reward, _ in of_a]
    assert revisions == sorted(revisions)
    assert await deployment.read(DEAD_LETTERS) == []


async def test_what_comes_again_changes_nothing_and_a_replay_is_no_retry(
    deployment: Deployment, client: AsyncClient
) -> None:
    async with Running(deployment, client) as running:
        await running.send(ANSWERS_GENERATED, answer("a"), answer("x", "How long is the warranty?", 30))
        await running.until_rewards({"a": 0.9, "x": 0.9})
        replayed = answer("y", "How long is the warranty?", 60)
        producer_headers = [("replay_id", b"r-1")]
        await send_with_headers(deployment, replayed, producer_headers)
        await running.send(
            ANSWERS_GENERATED, answer("a"), answer("x", "How long is the warranty?", 30), answer("z", "New?", 90)
        )
        before = await running.until_rewards({"a": 0.9, "x": 0.9, "z": 0.9})
        assert before["a"]["revision"] == before["x"]["revision"] == 1


async def send_with_headers(deployment: Deployment, event: dict[str, Any], headers: list[tuple[str, bytes]]) -> None:
    from aiokafka import AIOKafkaProducer

    producer = AIOKafkaProducer(bootstrap_servers=deployment.addresses.kafka)
    await producer.start()
    try:
        topic = deployment.settings.topic_name(ANSWERS_GENERATED.name)
        await producer.send_and_wait(
            topic, json.dumps(event).encode(), key=event["answer_id"].encode(), headers=headers
        )
    finally:
        await producer.stop()


async def test_feedback_that_cannot_be_read_is_dead_lettered_and_its_neighbours_count(
    deployment: Deployment, client: AsyncClient
) -> None:
    async with Running(deployment, client) as running:
        bad = said("a", "f1") | {"explicit": {"rating": 6}}
        await running.send(FEEDBACK_EVENTS, bad, said("a", "f2", rating=4))
        await running.until_rewards({"a": 0.8})
    (letter,) = await deployment.read(DEAD_LETTERS)
    assert header(letter.headers, "dlq_agent") == "feedback"
    assert "explicit.rating" in (header(letter.headers, "dlq_error") or "")


async def test_without_redis_all_but_retries_goes_on_and_it_resumes_by_itself(
    deployment: Deployment, client: AsyncClient, tmp_path: Path
) -> None:
    services = LocalServices(tmp_path / "valkey", kafka=False, clickhouse=False)
    url = (await services.start()).redis_url or ""
    again = LocalServices(tmp_path / "valkey", kafka=False, clickhouse=False)
    try:
        async with Running(deployment, client, replace(deployment.addresses, redis=url)) as running:
            await running.send(ANSWERS_GENERATED, answer("a"))
            await running.until_rewards({"a": 0.9})
            await services.stop()
            await running.send(
                ANSWERS_GENERATED,
                answer("b", seconds=60),
                answer("c", "Slow one?", 65, completed_at=(AT + timedelta(seconds=90)).isoformat()),
            )
            await running.until_rewards({"a": 0.9, "b": 0.9, "c": 0.7})
            assert running.worker.readiness()["signals"] is None, "an agent that lacks Redis is no hindrance"
            assert metrics.REDIS_AVAILABLE.labels("signals")._value.get() == 0
            await again.start()

            async def back() -> bool:
                return metrics.REDIS_AVAILABLE.labels("signals")._value.get() == 1

            await until(back, "the worker finds Redis again", 60)
            await running.send(ANSWERS_GENERATED, answer("d", "How long is the warranty?", 100))
            await running.until_rewards({"a": 0.9, "b": 0.9, "c": 0.7, "d": 0.9})
            await running.send(ANSWERS_GENERATED, answer("e", "How long is the warranty period?", 130))
            await running.until_rewards({"a": 0.9, "b": 0.9, "c": 0.7, "d": 0.3, "e": 0.9})
    finally:
        await services.stop()
        await again.stop()


async def test_a_worker_starts_without_redis(deployment: Deployment, client: AsyncClient) -> None:
    nowhere = replace(deployment.addresses, redis="redis://127.0.0.1:1/0")
    async with Running(deployment, client, nowhere) as running:
        await running.send(ANSWERS_GENERATED, answer("a"), answer("b", seconds=60))
        await running.until_rewards({"a": 0.9, "b": 0.9})


async def test_a_turn_is_told_what_the_person_thought(
    deployment: Deployment, client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{__name__}.AGENTS", [*AGENTS, "memory"])
    turn = example(ConversationTurn) | {
        "tenant": "acme",
        "answer_id": "a",
        "turn_id": "turn_" + fact_id("acme", "a", "turn"),
    }
    untold = example(ConversationTurn) | {
        "tenant": "acme",
        "answer_id": "b",
        "turn_id": "turn_" + fact_id("acme", "b", "turn"),
    }
    async with Running(deployment, client) as running:
        await running.send(FEEDBACK_EVENTS, said("a", "f1", rating=4))
        await running.until_rewards({"a": 0.8})
        await running.send(MEMORY_TURNS, turn, untold)
        await running.send(ANSWERS_GENERATED, answer("b", "How long is the warranty?"))

        async def told() -> bool:
            turns = {row["answer_id"]: row["user_feedback"] for row in await running.worker.remembered()}
            return turns == {"a": 0.8, "b": None}

        await until(told, "the turn knows its feedback", 60)
        # The tombstone of an erasure is no reward.
        await deployment.send([(b"a", None)], FEEDBACK_REWARDS)  # type: ignore[list-item]
        await running.send(FEEDBACK_EVENTS, said("a", "f1", 2, rating=1))

        async def revised() -> bool:
            return any(row["user_feedback"] == 0.2 for row in await running.worker.remembered())

        await until(revised, "the turn knows the revised feedback", 60)
    assert await deployment.read(DEAD_LETTERS) == []


def test_the_example_of_an_event_is_one() -> None:
    assert FeedbackEvent.model_validate(example(FeedbackEvent)).explicit is not None
