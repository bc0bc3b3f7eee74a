"""Undone and bulk steps beside deadlines, and while the broker is away."""

from datetime import timedelta
from uuid import uuid4

import pytest

from schemas.review import POLICY, ReviewDecision, ReviewEvent
from schemas.topics import REVIEW_EVENTS
from tests.harness.review_consoles import ANNA, APPROVE, BEN, Clock, Console, Published, decisions, store_events
from tests.harness.reviews import AT, review_request, store_decision, store_requests
from workers.agents.tasks import deadline_sweeper
from workers.agents.tasks.deadline_sweeper import DeadlineSweeper
from workers.console.presentation.words import review_event_words
from workers.delivery.producer import ConfirmedProducer
from workers.errors import BrokerUnavailable
from workers.review.decision_events import decided
from workers.review.queue.locks import DecisionMark
from workers.review.review_errors import AlreadyDecided, TooLate
from workers.review.review_models import DecisionBody, Filters, WithdrawalBody
from workers.review.team_actions import BulkBody, TeamActions
from workers.settings import Settings
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.clickhouse.rows.review_rows import review_rows, withdrawing_row
from workers.stores.queries.reviews.review_queries import ReviewStore


async def kinds(published: Published) -> list[str]:
    return [ReviewEvent.from_bytes(value).kind for value in await published(REVIEW_EVENTS)]


# ------------------------------------------------------------------ deadlines


async def test_a_decision_made_before_the_deadline_comes_before_that_of_the_policy(
    console: Console, rows: AnalyticsStore, clock: Clock, published: Published, sweeper: DeadlineSweeper
) -> None:
    requests, service = [review_request(1), review_request(2)], console()
    await store_requests(rows, requests)
    deadline = requests[0].deadline_at
    assert deadline is not None
    clock.now = deadline - timedelta(seconds=1)
    await service.decide(requests[0].review_id, APPROVE, ANNA)
    clock.now = deadline + timedelta(seconds=5)
    assert await sweeper.sweep() == 0, "the decision can still be undone"
    clock.now = deadline + timedelta(seconds=10)
    await service._pending.publish_due()
    clock.now = deadline + timedelta(seconds=30)
    assert await sweeper.sweep() == 2, "the rows do not show the decision yet"
    made = await decisions(published)
    assert [each.decided_by for each in made if each.answer_id == "a-1"] == ["first", POLICY], "the first one is final"
    (late,) = [each for each in made if each.answer_id == "a-2"]
    assert (late.decided_by, late.timestamp, late.published_at) == (POLICY, requests[1].deadline_at, clock.now)


async def test_the_time_of_a_review_goes_on_after_an_undo_and_stands_with_the_undone_decision(
    console: Console, rows: AnalyticsStore, clock: Clock, published: Published
) -> None:
    request, service = review_request(1), console()
    await store_requests(rows, [request])
    await service.lock(request.review_id, ANNA)
    clock.now += timedelta(seconds=30)
    await service.decide(request.review_id, APPROVE.model_copy(update={"review_duration": 20}), ANNA)
    clock.now += timedelta(seconds=3)
    await service.undo(request.review_id, ANNA)
    (event,) = [each for each in map(ReviewEvent.from_bytes, await published(REVIEW_EVENTS)) if each.kind == "undone"]
    assert event.undone is not None
    assert event.undone.review_duration == 20
    clock.now += timedelta(seconds=5)
    await service.lock(request.review_id, ANNA)
    # The reviewer cannot have worked for longer than 20 s before the undo and 5 s after it.
    await service.decide(request.review_id, APPROVE.model_copy(update={"review_duration": 60, "reason": "x"}), ANNA)
    await service.stop()
    (decision,) = await decisions(published)
    assert decision.review_duration == 25


async def test_places_without_a_request_stop_no_other_deadline(
    rows: AnalyticsStore, clock: Clock, published: Published, sweeper: DeadlineSweeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadline_sweeper, "BATCH", 2)
    last = review_request(3)
    deadline = last.deadline_at
    assert deadline is not None
    earlier = (deadline - timedelta(hours=1)).isoformat()
    lonely = [review_request(number, deadline_at=earlier) for number in (1, 2)]
    await store_requests(rows, [last])
    await rows.store(row for each in lonely for row in review_rows(each) if row.table == "review_queue")
    clock.now = deadline + timedelta(hours=1)
    for _ in range(3):
        await sweeper.sweep()
    assert {each.answer_id for each in await decisions(published)} == {"a-3"}


async def test_a_request_that_comes_back_after_its_deadline_gets_the_step_of_the_policy(
    console: Console, rows: AnalyticsStore, clock: Clock, published: Published, sweeper: DeadlineSweeper, settings: Settings
) -> None:  # fmt: skip
    settings.review.deadline_held = "escalate"
    request, service = review_request(1), console()
    await store_requests(rows, [request])
    assert request.deadline_at is not None
    clock.now = request.deadline_at - timedelta(seconds=2)
    await service.escalate(request.review_id, ANNA)
    await store_events(rows, published)
    clock.now = request.deadline_at + timedelta(seconds=3)
    await service.undo(request.review_id, ANNA)
    await store_events(rows, published)
    place = await service.open_place(request.review_id, ANNA)
    assert (place.queue, place.deadline_at) == ("default", clock.now + timedelta(seconds=1))
    clock.now += timedelta(seconds=60)
    assert await sweeper.sweep() == 1
    await store_events(rows, published)
    place = await service.open_place(request.review_id, ANNA)
    assert (place.queue, place.deadline_at) == ("escalated", clock.now + timedelta(hours=24))


# ------------------------------------------------------------------ the broker is away


async def test_an_undo_while_the_broker_is_away_holds_and_is_recorded_later(
    console: Console, rows: AnalyticsStore, clock: Clock, published: Published, producer: ConfirmedProducer
) -> None:
    request, service = review_request(1), console()
    await store_requests(rows, [request])
    await service.decide(request.review_id, DecisionBody(user_action="reject", reason="wrong_figure"), ANNA)
    await producer.stop()
    await service.undo(request.review_id, ANNA)
    with pytest.raises(BrokerUnavailable):
        await service._pending.publish_due()
    await producer.start()
    clock.now += timedelta(minutes=1)
    for _ in range(2):
        await service._pending.publish_due()
    assert await decisions(published) == []
    (event,) = [ReviewEvent.from_bytes(value) for value in await published(REVIEW_EVENTS)]
    assert event.undone is not None
    assert (event.kind, event.reviewer, event.undone.reason) == ("undone", "first", "wrong_figure")


async def test_an_action_on_several_requests_that_loses_the_broker_names_what_it_has_done(
    console: Console, rows: AnalyticsStore, clock: Clock, published: Published, producer: ConfirmedProducer,
    settings: Settings, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    settings.review.undo_seconds = 0.0
    requests, service = [review_request(number) for number in range(4)], console()
    await store_requests(rows, requests)
    team = TeamActions(service, ReviewStore(rows, settings.clickhouse.database), (), clock)
    body = BulkBody(action="approve", review_ids=[each.review_id for each in requests], preview=False)
    publish, sent = service._publish, list[ReviewDecision]()

    async def publish_two(decision: ReviewDecision) -> None:
        if len(sent) == 2:
            await producer.stop()
        sent.append(decision)
        await publish(decision)

    monkeypatch.setattr(service, "_publish", publish_two)
    outcomes = await team.act(body, ANNA)
    assert [(each.review_id, each.done) for each in outcomes] == [
        (each.review_id, number < 2) for number, each in enumerate(requests)
    ]
    assert all("producer" in each.detail for each in outcomes[2:])
    with pytest.raises(BrokerUnavailable):
        await team.act(body.model_copy(update={"review_ids": [requests[3].review_id]}), ANNA)
    await producer.start()
    assert [each.answer_id for each in await decisions(published)] == ["a-0", "a-1"]


async def test_decisions_on_several_requests_say_until_when_each_can_be_undone(
    console: Console, rows: AnalyticsStore, clock: Clock, settings: Settings
) -> None:
    requests, service = [review_request(number) for number in range(2)], console()
    await store_requests(rows, requests)
    team = TeamActions(service, ReviewStore(rows, settings.clickhouse.database), (), clock)
    for action, request in zip(("reject", "escalate"), requests, strict=True):
        body = BulkBody(action=action, review_ids=[request.review_id], preview=False)  # type: ignore[arg-type]
        (outcome,) = await team.act(body, ANNA)
        assert outcome.undo_until == clock.now + timedelta(seconds=10), action


@pytest.mark.parametrize("with_redis", [True, False])
async def test_an_undone_escalation_counts_before_its_row_is_there_and_leaves_the_one_before(
    console: Console, rows: AnalyticsStore, clock: Clock, published: Published, with_redis: bool
) -> None:
    request, service = review_request(1), console(with_redis=with_redis)
    await store_requests(rows, [request])
    await service.escalate(request.review_id, ANNA, reason="the first time")
    await store_events(rows, published)
    before = await service.item(request.review_id, ANNA)
    clock.now += timedelta(hours=1)
    await service.escalate(request.review_id, ANNA, "specialists", reason="the second time")
    await store_events(rows, published)
    clock.now += timedelta(milliseconds=1500.7)
    await service.undo(request.review_id, ANNA)
    item = await service.item(request.review_id, ANNA)
    assert (item.queue, item.deadline_at, item.escalation) == (before.queue, before.deadline_at, before.escalation)
    assert [(each.kind, each.detail) for each in item.history][-1] == ("resumed", before.queue)
    await store_events(rows, published)
    assert (await service.item(request.review_id, ANNA)).history == item.history
    assert (await service.item(request.review_id, BEN)).history == item.history


async def test_an_undone_skip_is_named_as_such(
    console: Console, rows: AnalyticsStore, clock: Clock, published: Published
) -> None:
    request, service = review_request(1), console()
    await store_requests(rows, [request])
    await service.skip(request.review_id, ANNA)
    clock.now += timedelta(seconds=1)
    await service.undo(request.review_id, ANNA)
    for _ in range(2):
        history = (await service.item(request.review_id, ANNA)).history
        assert [review_event_words(each.kind, each.detail) for each in history if each.kind == "resumed"] == [
            "skip undone"
        ]
        await store_events(rows, published)


# ------------------------------------------------------------------ second opinions


async def test_a_skip_of_a_second_opinion_is_undone(
    console: Console, rows: AnalyticsStore, settings: Settings, clock: Clock, published: Published
) -> None:
    settings.review.second_share = 1.0
    request, service = review_request(1), console()
    await store_requests(rows, [request])
    await store_decision(rows, request, action="reject")
    await service.skip(request.review_id, BEN)
    await store_events(rows, published)
    assert await service.next(Filters(), BEN) is None
    clock.now += timedelta(seconds=1)
    with pytest.raises(TooLate):
        await service.undo(request.review_id, ANNA)
    await service.undo(request.review_id, BEN)
    await store_events(rows, published)
    assert sorted(await kinds(published)) == ["resumed", "skipped"]
    found = await service.next(Filters(), BEN)
    assert found is not None and found.second_review


# ------------------------------------------------------------------ withdrawals, many decisions


async def test_there_is_no_decision_to_withdraw_where_the_pipeline_made_the_answer_final(
    console: Console, rows: AnalyticsStore
) -> None:
    request = review_request(1)
    await store_requests(rows, [request])
    late = decided(request, by="first", profile={}, at=AT, action="approve")
    await rows.insert("review_queue", [withdrawing_row(late).columns])
    with pytest.raises(AlreadyDecided, match="the pipeline itself made this answer final"):
        await console().withdraw(request.review_id, WithdrawalBody(reason="wrong"), ANNA)


async def test_thousands_of_decisions_whose_rows_are_not_stored_hide_no_queue(
    console: Console, rows: AnalyticsStore, clock: Clock, settings: Settings
) -> None:
    requests, service = [review_request(1), review_request(2)], console(with_redis=False)
    await store_requests(rows, requests)
    for name in [str(uuid4()) for _ in range(4_000)] + [requests[0].review_id]:
        await service._locks.mark(name, DecisionMark(str(uuid4()), "first", clock.now, "acme", "approve"))
    page = await service.queue(Filters(), ANNA, cursor=None, limit=5)
    assert ([item.answer_id for item in page.items], page.open_count) == (["a-2"], 1)
    found = await service.next(Filters(), ANNA)
    assert found is not None and found.answer_id == "a-2"
    stats = await service.stats(ANNA)
    assert (stats.backlog, stats.decided_today) == (1, 4_001)


async def test_the_time_of_a_review_goes_on_where_its_page_was_left(
    console: Console, rows: AnalyticsStore, clock: Clock, published: Published
) -> None:
    request, service = review_request(1), console()
    await store_requests(rows, [request])
    for leave in (service.unlock, service.skip):
        await service.lock(request.review_id, ANNA)
        clock.now += timedelta(seconds=20)
        await leave(request.review_id, ANNA)
        clock.now += timedelta(seconds=100)
        # The time of another person is not theirs.
        await service.lock(request.review_id, BEN)
        clock.now += timedelta(seconds=7)
        await service.unlock(request.review_id, BEN)
    await service.lock(request.review_id, ANNA)
    clock.now += timedelta(seconds=5)
    await service.decide(request.review_id, APPROVE.model_copy(update={"review_duration": 600}), ANNA)
    await service.stop()
    (decision,) = await decisions(published)
    assert decision.review_duration == 45
