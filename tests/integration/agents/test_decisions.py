"""The decisions agent on the real broker: one final state, through repeats, crashes, deadlines and rebalances."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiokafka import AIOKafkaProducer
from clickhouse_connect.driver.asyncclient import AsyncClient

from schemas.base import Event
from schemas.feedback import AnalyticsRow, FeedbackMessage
from schemas.identifiers import record_key
from schemas.memory import ConversationTurn
from schemas.release import ReleasedAnswer
from schemas.review import POLICY, ReviewDecision, ReviewRequest
from schemas.topics import (
    ANSWERS_RELEASED,
    DEAD_LETTERS,
    FEEDBACK_ANALYTICS,
    FEEDBACK_INSIGHTS,
    MEMORY_TURNS,
    REVIEW_DECISIONS,
    REVIEW_EVENTS,
    Topic,
)
from tests.harness.deployment import Deployment, until
from tests.harness.keys import name_of
from tests.harness.reviews import review_request
from workers.decision.reader_text.reader_texts import ENGLISH
from workers.review.decision_events import decided, decided_by_deadline, review_event
from workers.runtime.worker import Worker
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.rows.review_rows import review_rows

NOW = datetime.now(UTC)
READ_SECONDS = 0.4
"""Time between two looks at a topic, each of which opens a consumer."""


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def deployment(addresses: Addresses, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Deployment]:
    """Topics and tables that the tests share; each has answers of its own."""
    deployment = Deployment(addresses, tmp_path_factory.mktemp("decisions"))
    await deployment.prepare()
    yield deployment
    await deployment.close()


@pytest_asyncio.fixture(loop_scope="module")
async def alone(addresses: Addresses, tmp_path: Path) -> AsyncIterator[Deployment]:
    """A deployment of a test's own, with no worker."""
    deployment = Deployment(addresses, tmp_path)
    await deployment.prepare()
    yield deployment
    await deployment.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(deployment: Deployment) -> AsyncIterator[AsyncClient]:
    opened = await deployment.client()
    yield opened
    await opened.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(deployment: Deployment, client: AsyncClient) -> AsyncIterator["Running"]:
    """A worker that most tests share; starting one takes seconds."""
    async with Running(deployment) as running:
        yield running


class Running:
    """A worker in this process, with the agents of the release flow."""

    def __init__(self, deployment: Deployment, **review: Any) -> None:
        self.deployment = deployment
        settings = deployment.settings
        settings.review = settings.review.model_copy(update={"sweep_seconds": 0.3, "undo_seconds": 0.0} | review)
        settings.delivery.commit_interval_seconds = 0.2
        self.worker = Worker(settings, deployment.addresses, ["decisions", "analytics"])

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


async def released(deployment: Deployment, *numbers: int) -> dict[int, list[ReleasedAnswer]]:
    """What stands on answers.released of these answers, in the order of the log, once all of them are final."""
    found: dict[int, list[ReleasedAnswer]] = {}

    async def final() -> bool:
        found.clear()
        for record in sorted(await deployment.read(ANSWERS_RELEASED), key=lambda record: record.offset):
            if record.value is not None:
                event = ReleasedAnswer.from_bytes(record.value)
                found.setdefault(int(event.answer_id[2:]), []).append(event)
        return all(any(event.final for event in found.get(number, ())) for number in numbers)

    await until(final, f"final answers {numbers}", 60, READ_SECONDS)
    return {number: found[number] for number in numbers}


async def rows_of(deployment: Deployment, *numbers: int) -> list[AnalyticsRow]:
    rows = [AnalyticsRow.from_bytes(record.value) for record in await deployment.read(FEEDBACK_ANALYTICS)]
    return [row for row in rows if row.columns.get("answer_id") in [f"a-{number}" for number in numbers]]


def held(number: int, *, final: bool = False) -> ReleasedAnswer:
    request = review_request(number)
    return ReleasedAnswer(
        release_id="r", answer_id=request.answer_id, tenant=request.tenant, state="released" if final else "held",
        final=final, revision=4, content="text" if final else None, review_id=request.review_id,
        pipeline_version="v", released_at=NOW,
    )  # fmt: skip


async def test_decisions_become_final_states_turns_and_rows_once(deployment: Deployment, running: Running) -> None:
    await send(deployment, ANSWERS_RELEASED, held(1), held(2), held(3), held(9, final=True))
    await send(deployment, REVIEW_DECISIONS, said(1, "upvote"), said(1, "reject", by="third", second_review=True))
    await send(deployment, REVIEW_DECISIONS, said(1), said(1), said(1, "reject", by="second"))
    await send(deployment, REVIEW_DECISIONS, said(2, "correct"), said(3, "reject"), said(9, "reject"), said(4))
    await send(deployment, REVIEW_EVENTS, review_event("skipped", "r", "a-1", "acme", by="first", at=NOW))
    found = await released(deployment, 1, 2, 3, 4, 9)
    await running.done()
    found = await released(deployment, 1, 2, 3, 4, 9)
    final = {number: next(event for event in events if event.final) for number, events in found.items()}
    assert {number: event.state for number, event in final.items()} == {
        1: "released", 2: "replaced", 3: "rejected", 4: "released", 9: "released",
    }  # fmt: skip
    assert final[1].content == "Loki needs 16 GiB [1](/s/1).\n\n---\n\n[1] Loki\n"
    assert (final[2].content, final[3].content) == ("Loki needs 2 GiB, says first.", ENGLISH.rejected)
    for events in found.values():
        assert len({event.to_bytes() for event in events if event.final}) == 1
    turns = [ConversationTurn.from_bytes(record.value) for record in await deployment.read(MEMORY_TURNS)]
    assert {(t.answer_id, t.response, t.revision) for t in turns if t.answer_id in ("a-1", "a-2", "a-3", "a-4", "a-9")} == {
        ("a-1", "Loki needs 16 GiB [1].", 100), ("a-2", "Loki needs 2 GiB, says first.", 100),
        ("a-4", "Loki needs 16 GiB [1].", 100),
    }  # fmt: skip
    rows = await rows_of(deployment, 1, 2, 3, 4, 9)
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
    messages = [FeedbackMessage.from_bytes(record.value) for record in await deployment.read(FEEDBACK_INSIGHTS)]
    told = {
        (str(record["answer_id"]), str(record["user_action"]), message.processing_priority)
        for message in messages
        for record in [message.payload.model_dump()]
        if record["answer_id"] in ("a-1", "a-2", "a-9")
    }
    assert told == {
        ("a-1", "upvote", "low"), ("a-1", "reject", "high"), ("a-1", "approve", "low"),
        ("a-2", "correct", "high"), ("a-9", "reject", "high"),
    }  # fmt: skip
    assert {message.message_type for message in messages} == {"human_feedback"}


async def test_an_older_word_behind_a_final_one_does_not_stay_the_last_and_one_of_an_erased_person_does(
    deployment: Deployment, running: Running
) -> None:
    """Compaction keeps the last record of a key; whoever is erased must not be written once more."""
    await send(deployment, REVIEW_DECISIONS, said(11), said(12))
    await released(deployment, 11, 12)
    await running.done()
    await deployment.send([(record_key("acme", "a-12").encode(), None)], ANSWERS_RELEASED)
    await send(deployment, ANSWERS_RELEASED, held(12), held(11))

    async def words(number: int) -> list[bool | None]:
        records = [record for record in await deployment.read(ANSWERS_RELEASED) if name_of(record) == f"a-{number}"]
        ordered = sorted(records, key=lambda record: record.offset)
        return [ReleasedAnswer.from_bytes(record.value).final if record.value else None for record in ordered]

    async def repeated() -> bool:
        return await words(11) == [True, False, True]

    await until(repeated, "the final word is repeated", 60)
    assert await words(12) == [True, None, False]


async def test_a_decision_on_another_partition_is_brought_to_that_of_its_answer(
    deployment: Deployment, running: Running
) -> None:
    """Two producers that partition differently: the decisions on one answer meet on one log all the same."""
    producer = AIOKafkaProducer(bootstrap_servers=deployment.addresses.kafka)
    await producer.start()
    try:
        await send(deployment, REVIEW_DECISIONS, said(13))
        await released(deployment, 13)
        topic = deployment.settings.topic_name(REVIEW_DECISIONS.name)
        for partition in range(4):
            other = said(13, "reject", by=f"foreign-{partition}")
            await producer.send_and_wait(topic, other.to_bytes(), key=None, partition=partition)
    finally:
        await producer.stop()

    async def ruled() -> bool:
        rows = await rows_of(deployment, 13)
        late = {row.columns["decided_by"] for row in rows if row.columns.get("ruling") == "late"}
        return late == {f"foreign-{partition}" for partition in range(4)}

    await until(ruled, "all of them are ruled", 60)
    assert [event.state for event in (await released(deployment, 13))[13]] == ["released"]


@pytest.mark.long
async def test_a_worker_killed_among_decisions_leaves_one_final_state_each(alone: Deployment) -> None:
    """A third are final and committed, a third in work when it is killed; then all come a second time."""
    share, count = 40, 120
    worker = await alone.start_worker(["decisions"])
    await send(alone, REVIEW_DECISIONS, *(said(number, "correct") for number in range(share)))
    await released(alone, *range(share))
    await send(alone, REVIEW_DECISIONS, *(said(number, "correct") for number in range(share, 2 * share)))
    await worker.kill()
    worker = await alone.start_worker(["decisions"], ready=False)
    others = [said(number, "reject", by="second") for number in range(count)]
    await send(alone, REVIEW_DECISIONS, *(said(number, "correct") for number in range(2 * share, count)), *others)
    await worker.wait_ready()
    await released(alone, *range(count))

    async def ruled() -> bool:
        rows = await rows_of(alone, *range(count))
        return len({row.columns["decision_id"] for row in rows if row.columns.get("ruling") == "late"}) == count

    await until(ruled, "all of the second ones are late", 120, READ_SECONDS)
    found = await released(alone, *range(count))
    assert await worker.terminate() == 0
    for events in found.values():
        assert {(event.state, event.decided_by) for event in events} == {("replaced", "first")}
        assert len({event.to_bytes() for event in events}) == 1
    assert await alone.read(DEAD_LETTERS) == []


# ------------------------------------------------------------------ deadlines


async def ask(deployment: Deployment, *requests: ReviewRequest) -> None:
    """Write requests' rows to their topic, as the release agent does."""
    rows = [row for request in requests for row in review_rows(request)]
    await deployment.send([(b"k", row.record().to_bytes()) for row in rows], FEEDBACK_ANALYTICS)


def overdue(number: int, *, shown: str = "held", **changes: Any) -> ReviewRequest:
    deadline = (NOW - timedelta(hours=1)).isoformat()
    request = review_request(number, held=shown == "held", deadline_at=deadline, **changes)
    assert request.releasable is not None
    return request.model_copy(update={"releasable": request.releasable.model_copy(update={"state": shown})})


async def test_what_nobody_decides_in_time_the_policy_decides(deployment: Deployment, running: Running) -> None:
    shown = overdue(22, shown="warned"), overdue(23, shown="released")
    await ask(deployment, overdue(21), *shown, review_request(24, deadline_at=None))
    found = await released(deployment, 21, 22, 23)
    assert {number: events[0].state for number, events in found.items()} == {
        21: "rejected",
        22: "warned",
        23: "released",
    }
    assert {event.decided_by for events in found.values() for event in events} == {POLICY}
    told = [json.loads(record.value or b"")["payload"] for record in await deployment.read(FEEDBACK_INSIGHTS)]
    assert not {"a-21", "a-22", "a-23"} & {each["answer_id"] for each in told}, "nobody has said anything"


async def test_a_deadline_that_passes_while_a_person_decides_changes_nothing(
    deployment: Deployment, running: Running, client: AsyncClient
) -> None:
    request = overdue(31)
    assert request.deadline_at is not None
    deadline = decided_by_deadline(request, "reject", request.deadline_at)
    await send(deployment, REVIEW_DECISIONS, said(31), deadline, deadline)
    await ask(deployment, request)

    async def closed() -> bool:
        result = await client.query(
            f"SELECT state, decided_by FROM {deployment.name}.review_queue FINAL WHERE answer_id = 'a-31'"
        )
        return result.result_rows == [("released", "first")]

    await until(closed, "the review is closed", 60)
    await running.done()
    found = await released(deployment, 31)
    assert {(event.state, event.decided_by) for event in found[31]} == {("released", "first")}


async def test_an_escalated_review_gets_a_new_deadline_and_then_the_last_word(alone: Deployment) -> None:
    async with Running(alone, deadline_held="escalate", escalation_hours=0.0003, deadline_last="warn"):
        await ask(alone, overdue(1))
        found = await released(alone, 1)

        async def told() -> bool:
            events = [row.columns for row in await rows_of(alone, 1) if row.table == "review_events"]
            return {(event["kind"], event["reviewer"], event["queue"]) for event in events} == {
                ("escalated", POLICY, "escalated")
            }

        await until(told, "the escalation is told", 60, READ_SECONDS)
    assert [event.state for event in found[1]] == ["warned"]
