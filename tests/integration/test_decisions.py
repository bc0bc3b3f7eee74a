"""The decisions agent on the real broker: one final state, through repeats, crashes, deadlines and rebalances."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from clickhouse_connect.driver.asyncclient import AsyncClient

from schemas.base import Event
from schemas.feedback import AnalyticsRow
from schemas.memory import ConversationTurn
from schemas.release import ReleasedAnswer
from schemas.review import POLICY, ReviewDecision, ReviewRequest
from schemas.topics import (
    ANSWERS_RELEASED,
    DEAD_LETTERS,
    FEEDBACK_ANALYTICS,
    MEMORY_TURNS,
    REVIEW_DECISIONS,
    REVIEW_EVENTS,
    Topic,
)
from tests.harness.deployment import Deployment, until
from tests.harness.reviews import review_request
from workers.addresses import Addresses
from workers.app import Worker
from workers.steps.finality import REJECTION_TEXT, Standing, later_standing, standing_of
from workers.steps.reviewing import decided, decided_by_deadline, review_event
from workers.steps.rows import review_rows

NOW = datetime.now(UTC)


@pytest.fixture
async def deployment(addresses: Addresses, tmp_path: Any) -> AsyncIterator[Deployment]:
    deployment = Deployment(addresses, tmp_path)
    await deployment.prepare()
    yield deployment
    await deployment.stop()


@pytest.fixture
async def client(deployment: Deployment) -> AsyncIterator[AsyncClient]:
    opened = await deployment.client()
    yield opened
    await opened.command(f"DROP DATABASE IF EXISTS {deployment.name}")
    await opened.close()


class Running:
    """A worker in this process, with the agents of the release flow."""

    def __init__(self, deployment: Deployment, agents: Sequence[str] = ("decisions",), **review: Any) -> None:
        self.deployment = deployment
        settings = deployment.settings
        settings.review = settings.review.model_copy(update={"sweep_seconds": 0.3} | review)
        settings.delivery.commit_interval_seconds = 0.2
        self.worker = Worker(settings, deployment.addresses, agents)

    async def __aenter__(self) -> "Running":
        await self.worker.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.worker.stop()

    async def done(self) -> None:
        async def caught_up() -> bool:
            return self.worker.caught_up()

        await until(caught_up, "everything is committed", 60)


def said(number: int, action: str = "approve", by: str = "first", **changes: Any) -> ReviewDecision:
    request = review_request(number)
    text = f"Loki needs 2 GiB, says {by}." if action == "correct" else None
    return decided(request, by=by, profile={}, at=NOW, action=action, corrected_answer=text, **changes)  # type: ignore[arg-type]


async def send(deployment: Deployment, topic: Topic, *events: Event) -> None:
    await deployment.send([(event.answer_id.encode(), event.to_bytes()) for event in events], topic)  # type: ignore[attr-defined]


async def released(deployment: Deployment, *, until_final: int = 0) -> dict[str, list[ReleasedAnswer]]:
    """What stands on answers.released, by answer, in the order of the log."""
    found: dict[str, list[ReleasedAnswer]] = {}

    async def enough() -> bool:
        found.clear()
        for record in sorted(await deployment.read(ANSWERS_RELEASED), key=lambda record: record.offset):
            event = ReleasedAnswer.from_bytes(record.value)
            found.setdefault(event.answer_id, []).append(event)
        return sum(any(event.final for event in events) for events in found.values()) >= until_final

    await until(enough, f"{until_final} final answers", 60)
    return found


def standing(events: Sequence[ReleasedAnswer]) -> Standing | None:
    known: Standing | None = None
    for event in events:
        known = later_standing(known, standing_of(event))
    return known


def held(number: int, *, final: bool = False, revision: int = 4) -> ReleasedAnswer:
    request = review_request(number)
    return ReleasedAnswer(
        release_id="r", answer_id=request.answer_id, tenant=request.tenant, state="released" if final else "held",
        final=final, revision=revision, content="text" if final else None, review_id=request.review_id,
        pipeline_version="v", released_at=NOW,
    )  # fmt: skip


async def test_decisions_become_final_states_turns_and_rows_once(deployment: Deployment) -> None:
    votes = said(1, "upvote"), said(1, "reject", by="third", second_review=True)
    async with Running(deployment) as running:
        await send(deployment, ANSWERS_RELEASED, held(1), held(2), held(3), held(9, final=True))
        await send(deployment, REVIEW_DECISIONS, *votes, said(1), said(1), said(1, "reject", by="second"))
        await send(deployment, REVIEW_DECISIONS, said(2, "correct"), said(3, "reject"), said(9, "reject"), said(4))
        await send(deployment, REVIEW_EVENTS, review_event("skipped", "r", "a-1", "acme", by="first", at=NOW))
        found = await released(deployment, until_final=5)
        await running.done()
    final = {name: next(event for event in events if event.final) for name, events in found.items()}
    assert {name: event.state for name, event in final.items()} == {
        "a-1": "released", "a-2": "replaced", "a-3": "rejected", "a-4": "released", "a-9": "released",
    }  # fmt: skip
    assert final["a-1"].content == "Loki needs 16 GiB [1](/s/1).\n\n---\n\n[1] Loki\n"
    assert (final["a-2"].content, final["a-3"].content) == ("Loki needs 2 GiB, says first.", REJECTION_TEXT)
    for events in found.values():
        assert len({event.to_bytes() for event in events if event.final}) == 1
    turns = [ConversationTurn.from_bytes(record.value) for record in await deployment.read(MEMORY_TURNS)]
    assert {(turn.answer_id, turn.response, turn.revision) for turn in turns} == {
        ("a-1", "Loki needs 16 GiB [1].", 100), ("a-2", "Loki needs 2 GiB, says first.", 100),
        ("a-4", "Loki needs 16 GiB [1].", 100),
    }  # fmt: skip
    rows = [AnalyticsRow.from_bytes(record.value) for record in await deployment.read(FEEDBACK_ANALYTICS)]
    rulings = {
        (row.columns["answer_id"], row.columns["action"], row.columns["decided_by"]): row.columns["ruling"]
        for row in rows
        if row.table == "review_decisions"
    }
    assert rulings == {
        ("a-1", "upvote", "first"): "vote", ("a-1", "reject", "third"): "second", ("a-1", "approve", "first"): "final",
        ("a-1", "reject", "second"): "late", ("a-2", "correct", "first"): "final", ("a-3", "reject", "first"): "final",
        ("a-4", "approve", "first"): "final", ("a-9", "reject", "first"): "late",
    }  # fmt: skip
    closed = {row.columns["answer_id"]: row.columns["state"] for row in rows if row.table == "review_queue"}
    assert closed == {"a-1": "released", "a-2": "replaced", "a-3": "rejected", "a-9": "withdrawn", "a-4": "released"}
    assert [row.columns["kind"] for row in rows if row.table == "review_events"] == ["skipped"]


async def test_what_was_final_before_a_restart_stays_so(deployment: Deployment) -> None:
    async with Running(deployment) as running:
        await send(deployment, REVIEW_DECISIONS, *(said(number, "reject") for number in range(12)))
        await released(deployment, until_final=12)
        await running.done()
    async with Running(deployment) as running:
        await send(deployment, REVIEW_DECISIONS, *(said(number, by="second") for number in range(13)))
        found = await released(deployment, until_final=13)
        await running.done()
    found = await released(deployment)
    assert [{event.state for event in found[f"a-{number}"]} for number in range(13)] == [{"rejected"}] * 12 + [
        {"released"}
    ]


async def test_a_worker_killed_among_decisions_leaves_one_final_state_each(deployment: Deployment) -> None:
    count = 300
    first, second = [said(n, "correct") for n in range(count)], [said(n, "reject", by="second") for n in range(count)]
    log = [decision for pair in zip(first, second, strict=True) for decision in pair]
    worker = await deployment.start_worker(["decisions"])
    for start in range(0, len(log), 100):
        await send(deployment, REVIEW_DECISIONS, *log[start : start + 100])
        if start == 200:
            await worker.kill()
            worker = await deployment.start_worker(["decisions"], ready=False)
    await worker.wait_ready()
    found = await released(deployment, until_final=count)

    async def settled() -> bool:
        return await worker.metric("touchstone_consumer_lag_records", agent="decisions") == 0

    await until(settled, "the lag is gone", 60)
    found = await released(deployment)
    assert await worker.terminate() == 0
    assert len(found) == count
    for events in found.values():
        assert {(event.state, event.decided_by) for event in events} == {("replaced", "first")}
        assert len({event.to_bytes() for event in events}) == 1
    assert await deployment.read(DEAD_LETTERS) == []


async def test_an_older_word_behind_a_final_one_deceives_nobody_and_does_not_stay_the_last(
    deployment: Deployment,
) -> None:
    async with Running(deployment) as running:
        await send(deployment, REVIEW_DECISIONS, said(1))
        await released(deployment, until_final=1)
        await running.done()
        await send(deployment, ANSWERS_RELEASED, held(1))

        async def repeated() -> bool:
            return [event.final for event in (await released(deployment))["a-1"]] == [True, False, True]

        await until(repeated, "the final word is repeated", 60)
    events = (await released(deployment))["a-1"]
    assert events[0] == events[2]
    assert standing(events) == standing_of(events[0])


async def test_a_decision_on_another_partition_is_brought_to_that_of_its_answer(deployment: Deployment) -> None:
    """Two producers that partition differently: the decisions on one answer meet on one log all the same."""
    producer = AIOKafkaProducer(bootstrap_servers=deployment.addresses.kafka)
    await producer.start()
    try:
        async with Running(deployment) as running:
            await send(deployment, REVIEW_DECISIONS, said(1))
            await released(deployment, until_final=1)
            for partition in range(4):
                other = said(1, "reject", by=f"foreign-{partition}")
                topic = deployment.settings.topic_name(REVIEW_DECISIONS.name)
                await producer.send_and_wait(topic, other.to_bytes(), key=None, partition=partition)

            async def ruled() -> bool:
                rows = [AnalyticsRow.from_bytes(record.value) for record in await deployment.read(FEEDBACK_ANALYTICS)]
                late = {row.columns["decided_by"] for row in rows if row.columns.get("ruling") == "late"}
                return late == {f"foreign-{partition}" for partition in range(4)}

            await until(ruled, "all of them are ruled", 60)
            await running.done()
    finally:
        await producer.stop()
    assert [event.state for event in (await released(deployment))["a-1"]] == ["released"]


# ------------------------------------------------------------------ deadlines


async def ask(deployment: Deployment, *requests: ReviewRequest) -> None:
    """Write requests' rows to their topic, as the release agent does."""
    rows = [row for request in requests for row in review_rows(request)]
    await deployment.send([(b"k", row.to_bytes()) for row in rows], FEEDBACK_ANALYTICS)


def overdue(number: int, *, shown: str = "held", **changes: Any) -> ReviewRequest:
    request = review_request(
        number, held=shown == "held", deadline_at=(NOW - timedelta(hours=1)).isoformat(), **changes
    )
    assert request.releasable is not None
    return request.model_copy(update={"releasable": request.releasable.model_copy(update={"state": shown})})


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({}, {"a-1": "rejected", "a-2": "warned", "a-3": "released"}),
        ({"deadline_held": "warn"}, {"a-1": "warned", "a-2": "warned", "a-3": "released"}),
    ],
)
async def test_what_nobody_decides_in_time_the_policy_decides(
    deployment: Deployment, policy: dict[str, Any], expected: dict[str, str]
) -> None:
    async with Running(deployment, ["decisions", "analytics"], **policy):
        await ask(
            deployment,
            overdue(1),
            overdue(2, shown="warned"),
            overdue(3, shown="released"),
            review_request(4, deadline_at=None),
        )
        found = await released(deployment, until_final=3)
    assert {name: events[0].state for name, events in found.items()} == expected
    assert {event.decided_by for events in found.values() for event in events} == {POLICY}


async def test_an_escalated_review_gets_a_new_deadline_and_then_the_last_word(
    deployment: Deployment, client: AsyncClient
) -> None:
    settings = {"deadline_held": "escalate", "escalation_hours": 0.0003, "deadline_last": "warn"}
    async with Running(deployment, ["decisions", "analytics"], **settings):
        await ask(deployment, overdue(1))
        found = await released(deployment, until_final=1)

        async def told() -> bool:
            result = await client.query(f"SELECT kind, reviewer, queue FROM {deployment.name}.review_events FINAL")
            return result.result_rows == [("escalated", POLICY, "escalated")]

        await until(told, "the escalation is told", 60)
    assert [event.state for event in found["a-1"]] == ["warned"]


async def test_a_deadline_that_passes_while_a_person_decides_changes_nothing(
    deployment: Deployment, client: AsyncClient
) -> None:
    request = overdue(1)
    assert request.deadline_at is not None
    deadline = decided_by_deadline(request, "reject", request.deadline_at)
    async with Running(deployment, ["decisions", "analytics"]) as running:
        await send(deployment, REVIEW_DECISIONS, said(1), deadline, deadline)
        await ask(deployment, request)

        async def closed() -> bool:
            result = await client.query(
                f"SELECT state, decided_by FROM {deployment.name}.review_queue FINAL WHERE answer_id = 'a-1'"
            )
            return result.result_rows == [("released", "first")]

        await until(closed, "the review is closed", 60)
        await running.done()
        found = await released(deployment)
    assert [(event.state, event.decided_by) for event in found["a-1"] if event.final] == [("released", "first")]
