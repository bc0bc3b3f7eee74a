"""Decisions in their undo window: taken back and repeated, while Redis is away, too large, unreadable."""

from datetime import timedelta

import pytest
from pydantic import ValidationError
from structlog.testing import capture_logs

from tests.harness.deployment import until
from tests.harness.review_consoles import ANNA, APPROVE, BEN, Clock, Console, Published, SlowRedis, decisions
from tests.harness.reviews import review_request, store_decision, store_requests
from workers.decision.finality import released_by
from workers.errors import StoreUnavailable
from workers.review.queue.shared_state import SharedState
from workers.review.review_errors import InvalidDecision
from workers.review.review_models import DecisionBody
from workers.review.review_service import ReviewService
from workers.settings import Settings
from workers.stores.clickhouse.analytics_store import AnalyticsStore

REJECT = DecisionBody(user_action="reject")
LARGE = DecisionBody(user_action="reject", user_comment="x" * 5_000)


# ------------------------------------------------------------------ repeated


async def test_a_decision_repeated_after_its_undo_is_published(
    console: Console, rows: AnalyticsStore, clock: Clock, published: Published
) -> None:
    request, here, there = review_request(1), console(), console()
    await store_requests(rows, [request])
    await here.decide(request.review_id, APPROVE, ANNA)
    clock.now += timedelta(seconds=3)
    # Here the first copy is still held.
    await there.undo(request.review_id, ANNA)
    clock.now += timedelta(seconds=3)
    await there.decide(request.review_id, APPROVE, ANNA)
    clock.now += timedelta(seconds=5)
    await here._pending.publish_due()
    assert await decisions(published) == [], "the first one is dropped, and the second one can still be undone"
    clock.now += timedelta(seconds=6)
    await there._pending.publish_due()
    (decision,) = await decisions(published)
    assert decision.timestamp == clock.now - timedelta(seconds=11)


async def test_a_published_decision_says_from_when_readers_have_its_result(
    console: Console, rows: AnalyticsStore, clock: Clock, published: Published
) -> None:
    request, here = review_request(1), console()
    await store_requests(rows, [request])
    made = clock.now
    await here.decide(request.review_id, APPROVE, ANNA)
    clock.now += timedelta(seconds=42)  # the broker was away at the end of the window
    await here._pending.publish_due()
    (decision,) = await decisions(published)
    assert (decision.timestamp, decision.published_at) == (made, clock.now)
    assert released_by(decision).released_at == clock.now
    assert decision.feedback_id == (await here.decide(request.review_id, APPROVE, ANNA)).decision_id


# ------------------------------------------------------------------ while Redis is away


async def test_an_undo_while_redis_is_away_holds_and_the_request_is_free_again(
    console: Console, rows: AnalyticsStore, clock: Clock, published: Published, slow_redis: SlowRedis
) -> None:
    request, here, there = review_request(1), console(through=slow_redis.client), console(through=slow_redis.client)
    await store_requests(rows, [request])
    await here.decide(request.review_id, APPROVE, ANNA)
    slow_redis.freeze()
    await here.undo(request.review_id, ANNA)
    await slow_redis.thaw(here)
    repeated = await here.decide(request.review_id, APPROVE, ANNA)
    assert repeated.undo_until == clock.now + timedelta(seconds=10)
    assert here._pending.waiting == 1, "a receipt stands for a decision that is held"
    await here.undo(request.review_id, ANNA)
    clock.now += timedelta(minutes=1)
    for each in (here, there):
        await each._pending.publish_due()
    assert await decisions(published) == []
    assert (await there.decide(request.review_id, REJECT, BEN)).undo_until is not None


async def test_a_note_of_an_undo_holds_although_the_copy_is_still_there(
    console: Console, rows: AnalyticsStore, clock: Clock, published: Published, slow_redis: SlowRedis
) -> None:
    request = review_request(1)
    here, dead, last = (console(through=slow_redis.client) for _ in range(3))
    await store_requests(rows, [request])
    receipt = await dead.decide(request.review_id, APPROVE, ANNA)
    copies = dead._locks._shared.key("pending")
    copy = await slow_redis.client.hget(copies, receipt.decision_id)  # type: ignore[misc]
    slow_redis.freeze()
    # Nobody knows whether the console that holds the decision would hear of it.
    with pytest.raises(StoreUnavailable, match="again"):
        await here._pending.take_back(receipt.decision_id)
    await slow_redis.thaw(here)
    await here.undo(request.review_id, ANNA)
    await slow_redis.client.hset(copies, receipt.decision_id, copy)  # type: ignore[misc]
    clock.now += timedelta(minutes=1)
    for each in (dead, last):
        await each._pending.publish_due()
    assert await decisions(published) == []
    assert await slow_redis.client.hlen(copies) == 0  # type: ignore[misc]


# ------------------------------------------------------------------ too large


async def test_a_decision_that_fits_into_no_record_is_refused_before_it_is_claimed(
    console: Console, rows: AnalyticsStore, settings: Settings
) -> None:
    settings.kafka.max_record_bytes = 6_000
    request, service = review_request(1), console()
    await store_requests(rows, [request])
    for body in (
        LARGE,
        LARGE.model_copy(update={"user_comment": '"' * 1_500}),
        LARGE.model_copy(update={"user_action": "upvote"}),
    ):
        with pytest.raises(InvalidDecision, match="bytes"):
            await service.decide(request.review_id, body, ANNA)
    assert (await service.decide(request.review_id, APPROVE, BEN)).undo_until is not None


async def test_a_verdict_is_given_once_for_a_claim_and_has_no_other_fields(
    console: Console, rows: AnalyticsStore
) -> None:
    request = review_request(1)
    await store_requests(rows, [request])
    verdict = {"claim_id": request.claims[0].claim_id, "verdict": "supported"}
    with pytest.raises(ValidationError, match="sure"):
        DecisionBody.model_validate({"user_action": "approve", "claim_verdicts": [verdict | {"sure": 1}]})
    with pytest.raises(ValidationError, match="twice"):
        DecisionBody.model_validate({"user_action": "approve", "claim_verdicts": [verdict, verdict]})


@pytest.mark.parametrize("case", ["first review, this console", "second review, the console is dead"])
async def test_a_decision_that_the_topic_refuses_is_dropped_and_the_others_are_published(
    console: Console, rows: AnalyticsStore, settings: Settings, clock: Clock, published: Published, case: str
) -> None:
    requests, second = [review_request(number) for number in (1, 2)], case.startswith("second")
    settings.review.second_share = 1.0
    await store_requests(rows, requests)
    for request in requests if second else ():
        await store_decision(rows, request, action="approve")
    service = console()
    await service.decide(requests[0].review_id, LARGE, BEN)
    await service.decide(requests[1].review_id, APPROVE, BEN)
    clock.now += timedelta(minutes=1)
    if second:
        service = console()
    settings.kafka.max_record_bytes = 6_000  # lowered while the decisions were held
    await restarted_producer(service)
    with capture_logs() as logs:
        service.start()
        await until(lambda: nothing_held(service), "all others are published", 60)
    assert [each["review_id"] for each in logs if each["event"] == "decision_dropped"] == [requests[0].review_id]
    assert not service.failure.done()
    await service.stop()
    assert {each.answer_id for each in await decisions(published)} == {"a-2"}
    # Its request is free again.
    assert (await service.decide(requests[0].review_id, REJECT, BEN)).undo_until is not None


async def test_an_unreadable_copy_is_left_and_stops_nobody(
    console: Console, rows: AnalyticsStore, clock: Clock, published: Published, slow_redis: SlowRedis
) -> None:
    request, service = review_request(1), console(through=slow_redis.client)
    await store_requests(rows, [request])
    copies = service._locks._shared.key("pending")
    await slow_redis.client.hset(copies, "unreadable", b'{"decision": "of a later version"}')  # type: ignore[misc]
    await service.decide(request.review_id, APPROVE, ANNA)
    clock.now += timedelta(minutes=1)
    with capture_logs() as logs:
        for _ in range(3):
            await service._pending.publish_due()
    assert [each.answer_id for each in await decisions(published)] == ["a-1"]
    assert [each["decision_id"] for each in logs if each["event"] == "decision_copy_ignored"] == ["unreadable"]
    assert await slow_redis.client.hkeys(copies) == [b"unreadable"]  # type: ignore[misc]


async def restarted_producer(service: ReviewService) -> None:
    await service._producer.stop()
    await service._producer.start()


async def nothing_held(service: ReviewService) -> bool:
    return service._pending.waiting == 0 and not await service._locks._shared.ask(
        "hlen", service._locks._shared.key("pending")
    )


async def test_a_write_that_redis_refuses_stops_no_other_command(slow_redis: SlowRedis) -> None:
    """A server that is full or read-only answers; only one that does not respond is waited for."""
    shared = SharedState(slow_redis.client, "full:")
    await shared.ask("set", shared.key("before"), b"there")
    await slow_redis.client.config_set("maxmemory", 1)
    with capture_logs() as logs:
        await shared.insist("set", shared.key("note"), b"undone")
        assert await shared.ask("get", shared.key("before")) == b"there"
    assert "shared_state_write_refused" in [line["event"] for line in logs]
    await slow_redis.client.config_set("maxmemory", 0)
    await shared.insist("set", shared.key("note"), b"undone")
    assert await shared.ask("get", shared.key("note")) == b"undone"
