"""The review queue on real stores: order, locks, races, undo, second opinions; with Redis and without."""

import asyncio
import itertools
from datetime import timedelta

import pytest

from schemas.review import ReviewDecision, ReviewEvent, ReviewRequest
from schemas.topics import REVIEW_EVENTS
from tests.harness.deployment import until
from tests.harness.review_consoles import ANNA, APPROVE, BEN, Clock, Console, Published, decisions, store_events
from tests.harness.reviews import AT, review_request, store_decision, store_requests
from workers.errors import UnavailableError
from workers.review.decision_events import decided, review_event
from workers.review.review_errors import (
    AlreadyDecided,
    InvalidDecision,
    LockedByAnother,
    RequestChanged,
    TooLate,
    UnknownReview,
)
from workers.review.review_models import DecisionBody, Filters, Reviewer
from workers.review.review_service import ReviewService
from workers.settings import ReviewTarget, Settings
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.clickhouse.rows.review_rows import MAX_TITLE, review_event_row, review_rows, withdrawing_row


def version_of(request: ReviewRequest) -> int:
    return review_rows(request)[1].version


# ------------------------------------------------------------------ looking


async def test_the_queue_is_ordered_by_risk_and_age_filtered_and_paged(console: Console, rows: AnalyticsStore) -> None:
    same = [review_request(number, priority=0.5) for number in (1, 2, 3)]
    other = review_request(
        9, tenant="other", model_id="gpt", signals=[], reasons=["audit"], hallucination_risk="low", gate_score=0.9,
        priority=0.1,
    )  # fmt: skip
    await store_requests(rows, [*same, review_request(80), other])
    service = console()
    page = await service.queue(Filters(), ANNA, cursor=None, limit=2)
    assert [item.answer_id for item in page.items] == ["a-80", "a-3"]
    assert page.open_count == 5
    rest = await service.queue(Filters(), ANNA, cursor=page.next_cursor, limit=10)
    assert [item.answer_id for item in rest.items] == ["a-2", "a-1", "a-9"]
    assert rest.next_cursor is None
    for filters, expected in (
        (Filters(tenant="other"), ["a-9"]),
        (Filters(model="gpt"), ["a-9"]),
        (Filters(signal="hedging"), ["a-80", "a-3", "a-2", "a-1"]),
        (Filters(reason="audit"), ["a-9"]),
        (Filters(min_risk="medium"), ["a-80", "a-3", "a-2", "a-1"]),
        (Filters(max_score=0.6, tenant="acme"), ["a-80", "a-3", "a-2", "a-1"]),
        (Filters(queue="escalated"), []),
    ):
        found = await service.queue(filters, ANNA, cursor=None, limit=10)
        assert ([item.answer_id for item in found.items], found.open_count) == (expected, len(expected)), filters
    theirs = await service.queue(Filters(), Reviewer("x", frozenset({"other"})), cursor=None, limit=10)
    assert [item.answer_id for item in theirs.items] == ["a-9"]


def rejected(request: ReviewRequest) -> ReviewDecision:
    return decided(request, by="first", profile={}, at=AT, action="reject")


async def pages(service: ReviewService, filters: Filters, who: Reviewer, limit: int) -> list[tuple[list[str], int]]:
    """Answers of each page and what it says of all, from the first page to the last."""
    told, cursor = [], None
    while True:
        page = await service.queue(filters, who, cursor=cursor, limit=limit)
        told.append(([item.answer_id for item in page.items], page.open_count))
        if page.next_cursor is None:
            return told
        cursor = page.next_cursor


async def test_decided_requests_are_paged_the_latest_first_and_counted(console: Console, rows: AnalyticsStore) -> None:
    requests = [review_request(number) for number in range(6)] + [review_request(6, tenant="other")]
    await store_requests(rows, [*requests, review_request(90)])
    # Two pairs at the same time: their identifiers tell them apart.
    for request, minutes in zip(requests[:5], (5, 3, 3, 1, 1), strict=True):
        await store_decision(rows, request, at=AT + timedelta(minutes=minutes))
    # Withdrawn: nobody has decided, so that they have no time.
    withdrawn = [withdrawing_row(rejected(request)).columns for request in requests[5:]]
    await rows.insert("review_queue", withdrawn)
    service = console()
    (whole,) = await pages(service, Filters(state="decided"), ANNA, 7)
    assert whole[1] == 7
    assert whole[0] == [
        request.answer_id
        for names in ((0,), (1, 2), (3, 4), (5, 6))
        for request in sorted((requests[name] for name in names), key=lambda request: request.review_id)
    ]
    for limit in (1, 2, 3):
        told = await pages(service, Filters(state="decided"), ANNA, limit)
        assert [answer for page, _ in told for answer in page] == whole[0]
        assert {count for _, count in told} == {7}
        assert all(len(page) == limit for page, _ in told[:-1])
    assert await pages(service, Filters(state="decided", tenant="other"), ANNA, 5) == [(["a-6"], 1)]
    theirs = Reviewer(ANNA.name, frozenset({"acme"}))
    assert await pages(service, Filters(state="decided", model="llama"), theirs, 4) == [
        (whole[0][:4], 6),
        ([name for name in whole[0][4:] if name != "a-6"], 6),
    ]


async def test_decided_requests_are_found_by_what_the_request_said_and_shown_with_it(
    console: Console, rows: AnalyticsStore, settings: Settings
) -> None:
    settings.review.second_share = 1.0
    other = review_request(
        9, model_id="gpt", signals=[], reasons=["audit"], hallucination_risk="low", gate_score=0.9, priority=0.1,
    )  # fmt: skip
    requests = [review_request(1), other]
    await store_requests(rows, requests)
    await store_requests(rows, [review_request(3)])
    for request in requests:
        await store_decision(rows, request)
    # A decision that came before its request.
    early = review_request(4, signals=["refusal"], query="ポンプの点検は年に何回必要ですか。" * 20)
    await store_decision(rows, early)
    await store_requests(rows, [early])
    # A degraded result of the same answer came first; the complete one counts.
    await store_requests(rows, [review_request(1, rank=1, reasons=["degraded"], signals=["truncated"])])
    service = console()
    # Requests that somebody may still review are not among the decided ones for them.
    assert (await service.queue(Filters(state="decided"), BEN, cursor=None, limit=10)).items == []
    for state, who in (("decided", ANNA), ("second", BEN)):
        for filters, expected in (
            (Filters(signal="hedging", state=state), ["a-1"]),
            (Filters(signal="refusal", state=state), ["a-4"]),
            (Filters(reason="audit", state=state), ["a-9"]),
            (Filters(reason="degraded", state=state), []),
            (Filters(signal="truncated", state=state), []),
            (Filters(min_risk="medium", state=state), ["a-1", "a-4"]),
            (Filters(max_score=0.6, state=state), ["a-1", "a-4"]),
            (Filters(queue="default", state=state), ["a-1", "a-4", "a-9"]),
            (Filters(queue="escalated", state=state), []),
        ):
            found = await service.queue(filters, who, cursor=None, limit=10)
            assert sorted(item.answer_id for item in found.items) == expected, filters
            assert found.open_count == len(expected), filters
    shown = {
        item.answer_id: item
        for item in (await service.queue(Filters(state="decided"), ANNA, cursor=None, limit=10)).items
    }
    for request in (*requests, early):
        item = shown[request.answer_id]
        # Cut by code points, in whatever script.
        assert item.query == request.query[:MAX_TITLE]
        assert (item.reasons, item.priority) == (list(request.reasons), request.priority)
        assert (item.signals, item.hallucination_risk) == (list(request.signals), request.hallucination_risk)


async def test_second_reviews_are_paged_the_oldest_decision_first_and_counted(
    console: Console, rows: AnalyticsStore, settings: Settings
) -> None:
    settings.review.second_share = 1.0
    settings.review.undo_seconds = 60.0
    requests = [review_request(number) for number in range(5)]
    await store_requests(rows, requests)
    for number, request in enumerate(requests):
        await store_decision(rows, request, at=AT - timedelta(minutes=10 - number // 2))
    service = console()
    ((whole, count),) = await pages(service, Filters(state="second"), BEN, 5)
    assert (set(whole), whole[4], count) == ({f"a-{number}" for number in range(5)}, "a-4", 5)
    for limit in (1, 2, 3):
        told = await pages(service, Filters(state="second"), BEN, limit)
        assert [answer for page, _ in told for answer in page] == whole
        assert {of_all for _, of_all in told} == {5}
    assert await pages(service, Filters(state="second"), ANNA, 2) == [([], 0)], "who has decided is not asked again"
    # Decided a moment ago and not stored yet: it is left out, and the pages behind it are not lost.
    taken = next(request for request in requests if request.answer_id == whole[1])
    await service.decide(taken.review_id, APPROVE, BEN)
    told = await pages(service, Filters(state="second"), Reviewer("third"), 1)
    assert [answer for page, _ in told for answer in page] == [whole[0], *whole[2:]]
    await service.stop()


async def test_a_cursor_of_another_state_is_refused(console: Console, rows: AnalyticsStore, settings: Settings) -> None:
    settings.review.second_share = 1.0
    requests = [review_request(number) for number in range(4)]
    await store_requests(rows, requests)
    for request in requests[:2]:
        await store_decision(rows, request)
    service = console()
    made = {
        state: (await service.queue(Filters(state=state), who, cursor=None, limit=1)).next_cursor
        for state, who in {"open": BEN, "decided": ANNA, "second": BEN}.items()
    }
    assert None not in made.values()
    for state, other in itertools.permutations(made, 2):
        with pytest.raises(InvalidDecision, match="same state"):
            await service.queue(Filters(state=state), BEN, cursor=made[other], limit=1)


async def test_an_item_shows_everything_and_only_to_those_whom_it_concerns(
    console: Console, rows: AnalyticsStore
) -> None:
    request = review_request(1)
    await store_requests(rows, [request])
    item = await console().item(request.review_id, ANNA)
    assert (item.query, item.answer, item.version, item.state) == (
        request.query,
        request.answer,
        version_of(request),
        "open",
    )
    assert [(claim.start, claim.end, claim.verdict) for claim in item.claims] == [(0, 18, "contradicted")]
    assert item.contexts == request.contexts
    for who, review_id in ((Reviewer("x", frozenset({"other"})), request.review_id), (ANNA, "nothing")):
        with pytest.raises(UnknownReview):
            await console().item(review_id, who)


async def test_a_more_complete_result_replaces_the_request_and_its_version(
    console: Console, rows: AnalyticsStore
) -> None:
    complete, degraded = review_request(1), review_request(1, rank=3, answer="Loki needs [1].", priority=0.9)
    await store_requests(rows, [complete])
    await store_requests(rows, [degraded])
    service = console()
    page = await service.queue(Filters(), ANNA, cursor=None, limit=10)
    assert [(item.version, item.priority) for item in page.items] == [(version_of(complete), 0.01)]
    assert (await service.item(complete.review_id, ANNA)).answer == complete.answer
    with pytest.raises(RequestChanged):
        await service.decide(
            complete.review_id, DecisionBody(user_action="approve", version=version_of(degraded)), ANNA
        )


# ------------------------------------------------------------------ taking


async def test_two_reviewers_are_given_different_requests(console: Console, rows: AnalyticsStore) -> None:
    await store_requests(rows, [review_request(number) for number in (1, 2)])
    here, there = console(), console()
    given = await asyncio.gather(here.next(Filters(), ANNA), there.next(Filters(), BEN))
    assert {item.answer_id for item in given if item} == {"a-1", "a-2"}
    assert await there.next(Filters(), Reviewer("third")) is None
    taken = next(item for item in given if item and item.lock and item.lock.holder == "first")
    with pytest.raises(LockedByAnother) as caught:
        await there.lock(taken.review_id, BEN)
    assert caught.value.who == "first"
    with pytest.raises(LockedByAnother):
        await there.decide(taken.review_id, APPROVE, BEN)
    renewed = await here.lock(taken.review_id, ANNA)
    assert renewed is not None and taken.lock is not None and renewed.since == taken.lock.since
    await here.unlock(taken.review_id, ANNA)
    assert (await there.lock(taken.review_id, BEN)).holder == "second"  # type: ignore[union-attr]


async def test_a_lock_expires(console: Console, rows: AnalyticsStore, settings: Settings) -> None:
    settings.review.lock_seconds = 0.3
    await store_requests(rows, [review_request(1)])
    service = console()
    item = await service.next(Filters(), ANNA)
    assert item is not None

    async def free() -> bool:
        return await service.next(Filters(), BEN) is not None

    await until(free, "the lock expires", 60)


async def test_a_skipped_request_goes_to_others(console: Console, rows: AnalyticsStore, published: Published) -> None:
    await store_requests(rows, [review_request(number) for number in (1, 2)])
    service = console()
    item = await service.next(Filters(), ANNA)
    assert item is not None and item.answer_id == "a-2"
    await service.skip(item.review_id, ANNA)
    await service.escalate((await service.next(Filters(), BEN)).review_id, BEN, "lawyers")  # type: ignore[union-attr]
    events = [ReviewEvent.from_bytes(value) for value in await published(REVIEW_EVENTS)]
    told = sorted((event.kind, event.reviewer, event.answer_id) for event in events)
    assert told == [
        ("assigned", "first", "a-2"), ("assigned", "second", "a-2"), ("escalated", "second", "a-2"),
        ("skipped", "first", "a-2"),
    ]  # fmt: skip
    escalated = next(event for event in events if event.kind == "escalated")
    assert (escalated.queue, escalated.deadline_at) == ("lawyers", AT + timedelta(hours=24))


async def test_an_escalated_request_comes_back_to_its_reviewer_only_when_they_ask_for_it(
    console: Console, rows: AnalyticsStore, clock: Clock, published: Published
) -> None:
    await store_requests(rows, [review_request(1)])
    service = console()
    item = await service.next(Filters(), ANNA)
    assert item is not None
    await service.escalate(item.review_id, ANNA)
    await store_events(rows, published)
    assert await service.next(Filters(), ANNA) is None
    for who, filters in ((ANNA, Filters(queue="escalated")), (BEN, Filters())):
        found = await service.next(filters, who)
        assert found is not None and found.queue == "escalated", who.name
        await service.unlock(found.review_id, who)
    place = await service.open_place(item.review_id, BEN)
    clock.now += timedelta(seconds=1)
    await service.assign(place, BEN, ANNA.name)
    await store_events(rows, published)
    assigned = await service.next(Filters(), ANNA)
    assert assigned is not None, "somebody gave it back"


@pytest.mark.parametrize("with_redis", [True, False])
@pytest.mark.parametrize("kind", ["skipped", "escalated"])
async def test_a_skip_and_an_escalation_are_undone_like_decisions_and_not_later(
    console: Console, rows: AnalyticsStore, clock: Clock, published: Published, kind: str, with_redis: bool
) -> None:
    await store_requests(rows, [review_request(1)])
    service = console(with_redis=with_redis)
    item = await service.next(Filters(), ANNA)
    assert item is not None

    async def leave() -> None:
        await (service.skip if kind == "skipped" else service.escalate)(item.review_id, ANNA)
        clock.now += timedelta(seconds=1)

    await leave()
    await store_events(rows, published)
    assert await service.next(Filters(), ANNA) is None
    with pytest.raises(TooLate):
        await service.undo(item.review_id, BEN)
    await (console() if with_redis else service).undo(item.review_id, ANNA)
    await store_events(rows, published)
    kinds = {ReviewEvent.from_bytes(value).kind for value in await published(REVIEW_EVENTS)}
    assert "resumed" in kinds
    assert "undone" not in kinds, "the audit lists undone decisions, and there was none"
    again = await service.next(Filters(), ANNA)
    assert again is not None
    assert (again.queue, again.deadline_at) == (item.queue, item.deadline_at)
    with pytest.raises(TooLate, match="nothing to undo for “How much memory does Loki need"):
        await service.undo(item.review_id, ANNA)
    await leave()
    clock.now += timedelta(seconds=11)
    if with_redis:
        with pytest.raises(TooLate, match=f"was {kind} too long ago"):
            await service.undo(item.review_id, ANNA)


# ------------------------------------------------------------------ deciding


@pytest.mark.parametrize("consoles", [1, 2])
async def test_of_two_who_decide_at_once_one_is_told_who_was_faster(
    console: Console, rows: AnalyticsStore, consoles: int
) -> None:
    request = review_request(1)
    await store_requests(rows, [request])
    services = [console() for _ in range(consoles)]
    results = await asyncio.gather(
        services[0].decide(request.review_id, APPROVE, ANNA),
        services[-1].decide(request.review_id, DecisionBody(user_action="reject"), BEN),
        return_exceptions=True,
    )
    (refused,) = [result for result in results if isinstance(result, AlreadyDecided)]
    assert refused.who in ("first", "second")
    assert (await services[0].queue(Filters(), ANNA, cursor=None, limit=10)).items == []


async def test_whoever_was_refused_because_another_console_was_faster_is_not_offered_it_again(
    console: Console, rows: AnalyticsStore
) -> None:
    request = review_request(1)
    await store_requests(rows, [request])
    faster, slower = console(), console()
    await faster.decide(request.review_id, APPROVE, ANNA)
    with pytest.raises(AlreadyDecided):
        await slower.decide(request.review_id, DecisionBody(user_action="reject"), BEN)
    assert (await slower.queue(Filters(), BEN, cursor=None, limit=10)).items == []
    await faster.undo(request.review_id, ANNA)
    assert [item.answer_id for item in (await slower.queue(Filters(), BEN, cursor=None, limit=10)).items] == ["a-1"]


async def test_a_decision_carries_all_that_it_decides_on_and_sent_twice_is_one(
    console: Console, rows: AnalyticsStore, clock: Clock, published: Published
) -> None:
    request = review_request(1)
    await store_requests(rows, [request])
    service = console()
    await service.lock(request.review_id, ANNA)
    clock.now += timedelta(seconds=30)
    verdict = {"claim_id": request.claims[0].claim_id, "verdict": "contradicted", "comment": "It is 2 GiB."}
    body = DecisionBody.model_validate(
        {
            "user_action": "correct", "corrected_answer": "Loki needs 2 GiB [1].", "user_comment": "The source says 2.",
            "reason": "wrong_figure", "review_duration": 3_000, "claim_verdicts": [verdict], "version": version_of(request),
        }
    )  # fmt: skip
    receipt = await service.decide(request.review_id, body, ANNA)
    assert receipt == await service.decide(request.review_id, body, ANNA)
    assert receipt.undo_until == clock.now + timedelta(seconds=10)
    assert await decisions(published) == []
    await service.stop()
    (decision,) = await decisions(published)
    assert decision.feedback_id == receipt.decision_id
    assert (decision.query, decision.original_answer, decision.answer_metrics) == (
        request.query, request.answer, request.answer_metrics,
    )  # fmt: skip
    # Nobody can have looked for longer than they had it.
    assert (decision.review_duration, decision.reason, decision.evaluator_versions) == (
        30,
        "wrong_figure",
        {"pipeline": "v"},
    )
    assert [each.model_dump(include=set(verdict)) for each in decision.claim_verdicts] == [verdict]
    assert "first" not in str(decision.user_profile)
    shown = request.releasable
    assert shown is not None and decision.releasable is not None
    # The correction cites a source that the answer did not.
    assert decision.releasable.model_copy(update={"citations": shown.citations}) == shown
    assert [each["number"] for each in decision.releasable.citations] == [
        *(each["number"] for each in shown.citations),
        1,
    ]


async def test_a_verdict_on_a_claim_that_nobody_made_is_refused(console: Console, rows: AnalyticsStore) -> None:
    request = review_request(1)
    await store_requests(rows, [request])
    body = DecisionBody.model_validate(
        {"user_action": "approve", "claim_verdicts": [{"claim_id": "c", "verdict": "supported"}]}
    )
    with pytest.raises(InvalidDecision, match=r"claim_verdicts\.0\.claim_id"):
        await console().decide(request.review_id, body, ANNA)


async def test_a_vote_is_feedback_at_once_and_closes_nothing(
    console: Console, rows: AnalyticsStore, published: Published
) -> None:
    request = review_request(1)
    await store_requests(rows, [request])
    service = console()
    receipt = await service.decide(request.review_id, DecisionBody(user_action="upvote"), ANNA)
    assert receipt.undo_until is None
    assert [each.user_action for each in await decisions(published)] == ["upvote"]
    assert await service.next(Filters(), BEN) is not None


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_decision_is_taken_back_in_time_also_from_another_console(
    console: Console, rows: AnalyticsStore, clock: Clock, elsewhere: bool,
    published: Published,
) -> None:  # fmt: skip
    request = review_request(1)
    await store_requests(rows, [request])
    service = console()
    await service.decide(request.review_id, DecisionBody(user_action="reject"), ANNA)
    other = console() if elsewhere else service
    with pytest.raises(TooLate):
        await other.undo(request.review_id, BEN)
    await other.undo(request.review_id, ANNA)
    clock.now += timedelta(minutes=1)
    await service.stop()
    assert await decisions(published) == []
    # It is open again, in both consoles, and the next decision is the one that counts.
    for each in (service, other):
        assert [item.answer_id for item in (await each.queue(Filters(), BEN, cursor=None, limit=5)).items] == ["a-1"]
    await other.decide(request.review_id, APPROVE, BEN)
    clock.now += timedelta(seconds=11)
    await other._pending.publish_due()
    assert [each.user_action for each in await decisions(published)] == ["approve"]
    with pytest.raises(TooLate):
        await other.undo(request.review_id, BEN)


async def test_what_a_dead_console_has_left_is_published_by_the_next(
    console: Console, rows: AnalyticsStore, clock: Clock, published: Published
) -> None:
    request = review_request(1)
    await store_requests(rows, [request])
    await console().decide(request.review_id, APPROVE, ANNA)
    clock.now += timedelta(minutes=1)
    await console()._pending.publish_due()
    assert [each.decided_by for each in await decisions(published)] == ["first"]


async def test_without_redis_the_same_console_refuses_the_second_and_the_log_decides_between_two(
    console: Console, rows: AnalyticsStore, published: Published
) -> None:
    request = review_request(1)
    await store_requests(rows, [request])
    here, there = console(with_redis=False), console(with_redis=False)
    assert (await here.next(Filters(), ANNA)) is not None
    await here.decide(request.review_id, APPROVE, ANNA)
    with pytest.raises(AlreadyDecided):
        await here.decide(request.review_id, APPROVE, BEN)
    await there.decide(request.review_id, APPROVE, BEN)
    await here.stop()
    await there.stop()
    assert [each.decided_by for each in await decisions(published)] == ["first", "second"]


# ------------------------------------------------------------------ second opinions


async def test_a_sample_is_reviewed_once_more_blindly_and_by_somebody_else(
    console: Console, rows: AnalyticsStore, settings: Settings, clock: Clock,
    published: Published,
) -> None:  # fmt: skip
    settings.review.second_share = 0.5
    requests = [review_request(number) for number in range(40)]
    await store_requests(rows, requests)
    for request in requests[1:]:
        await store_decision(rows, request, action="reject", comment="No.")
    service = console()
    first = await service.next(Filters(), BEN)
    assert first is not None and not first.second_review and first.answer_id == "a-0"
    page = await service.queue(Filters(state="second"), BEN, cursor=None, limit=100)
    sampled = {item.review_id for item in page.items}
    assert 8 <= len(sampled) <= 32
    assert sampled == {r.review_id for r in requests[1:] if int(r.review_id[:8], 16) < 2**31}
    assert (await service.queue(Filters(state="second"), ANNA, cursor=None, limit=100)).items == []
    item = await service.next(Filters(state="second"), BEN)
    assert item is not None and item.second_review
    assert (item.state, item.history, item.decided_by, item.action) == ("open", [], None, None)
    assert item.priority == requests[int(item.answer_id[2:])].priority
    assert (await service.item(item.review_id, ANNA)).action == "reject"
    with pytest.raises(InvalidDecision, match="second review"):
        await service.escalate(item.review_id, BEN)
    await service.decide(item.review_id, DecisionBody(user_action="approve", version=item.version), BEN)
    assert (await service.item(item.review_id, BEN)).action is None, "it could still be undone"
    with pytest.raises(AlreadyDecided):
        await service.decide(item.review_id, APPROVE, ANNA)
    await service.stop()
    (decision,) = await decisions(published)
    assert (decision.second_review, decision.user_action) == (True, "approve")


async def test_a_second_opinion_can_be_left_to_others(
    console: Console, rows: AnalyticsStore, settings: Settings
) -> None:
    settings.review.second_share = 1.0
    requests = [review_request(number) for number in (1, 2)]
    await store_requests(rows, requests)
    for request in requests:
        await store_decision(rows, request, action="reject")
    service = console()
    item = await service.next(Filters(), BEN)
    assert item is not None and item.second_review
    await service.skip(item.review_id, BEN)
    await rows.insert(
        "review_events",
        [review_event_row(review_event("skipped", item.review_id, item.answer_id, item.tenant, by="second", at=AT)).columns],
    )  # fmt: skip
    other = await service.next(Filters(), BEN)
    assert other is not None and other.review_id != item.review_id
    left = await service.next(Filters(), Reviewer("third"))
    assert left is not None and left.review_id == item.review_id


async def test_a_request_is_offered_until_its_target_of_independent_reviews(
    console: Console, rows: AnalyticsStore, settings: Settings,
) -> None:  # fmt: skip
    settings.review.second_share = 0.0
    settings.review.tenants = {"acme": ReviewTarget(second_share=1.0, reviews=3)}
    request, other = review_request(1), review_request(2, tenant="other")
    await store_requests(rows, [request, other])
    for each in (request, other):
        await store_decision(rows, each, action="reject")
    service, third, fourth = console(), Reviewer("third"), Reviewer("fourth")

    async def offered(who: Reviewer) -> list[tuple[str, int, int]]:
        page = await service.queue(Filters(state="second"), who, cursor=None, limit=10)
        return [(item.tenant, item.reviews_done, item.reviews_wanted) for item in page.items]

    assert await offered(BEN) == [("acme", 1, 3)], "only the tenant with a target"
    assert await offered(ANNA) == [], "who has decided is not asked again"
    item = await service.next(Filters(), BEN)
    assert item is not None and item.second_review
    await service.decide(request.review_id, APPROVE, BEN)
    assert await offered(third) == [], "until the rows show this decision, nobody else is asked"
    await store_decision(rows, request, ruling="second", by=BEN.name, action="approve")

    assert await offered(third) == [("acme", 2, 3)]
    assert await offered(BEN) == []
    item = await service.next(Filters(), third)
    assert item is not None and (item.second_review, item.history, item.action) == (True, [], None)
    receipt = await service.decide(request.review_id, APPROVE, third)
    assert receipt.undo_until is not None
    await service.undo(request.review_id, third)
    assert await offered(third) == [("acme", 2, 3)], "what was undone is to be decided again"
    await service.decide(request.review_id, APPROVE, third)
    await store_decision(rows, request, ruling="second", by=third.name, action="approve")

    assert await offered(fourth) == [], "three have decided"
    assert await service.next(Filters(), fourth) is None
    with pytest.raises(AlreadyDecided):
        await service.decide(request.review_id, APPROVE, fourth)
    done = await service.item(request.review_id, fourth)
    assert (done.reviews_done, done.reviews_wanted, done.action) == (3, 3, "reject")


async def test_disagreements_stay_hidden_from_who_is_still_to_review(
    console: Console, rows: AnalyticsStore, settings: Settings
) -> None:
    settings.review.second_share, settings.review.reviews = 1.0, 3
    request, service, third = review_request(1), console(), Reviewer("third")
    await store_requests(rows, [request])
    await store_decision(rows, request, action="reject")
    await store_decision(rows, request, ruling="second", by=BEN.name, action="approve")
    assert [(each.first, each.second) for each in await service.disagreements(ANNA)] == [("reject", "approve")]
    assert len(await service.disagreements(BEN)) == 1
    assert await service.disagreements(third) == []
    await store_decision(rows, request, ruling="second", by=third.name, action="correct", corrected_answer="2 GiB [1].")
    seen = await service.disagreements(third)
    assert {(each.first_by, each.second_by, each.second) for each in seen} == {
        ("first", "second", "approve"), ("first", "third", "correct"),
    }  # fmt: skip


async def test_agreement_covers_every_pair_of_independent_reviews(
    console: Console, rows: AnalyticsStore, settings: Settings
) -> None:
    settings.review.second_share, settings.review.reviews = 1.0, 3
    said = [("approve", "approve", "approve"), ("reject", "reject", "approve"), ("reject", "reject", "reject")]
    for number, (first, *others) in enumerate(said * 7):
        request = review_request(number)
        await store_requests(rows, [request])
        await store_decision(rows, request, action=first)
        for name, action in zip(("second", "third"), others, strict=True):
            await store_decision(rows, request, ruling="second", by=name, action=action)
        if number == 18:
            assert (await console().stats(ANNA)).agreement_interval is None, "19 requests say too little"
    # One person's second word on a request counts once.
    await store_decision(
        rows, review_request(0), ruling="second", by="third", action="reject", at=AT + timedelta(hours=1)
    )
    stats = await console().stats(ANNA)
    assert stats.agreement_pairs == 63
    # Observed 7/9; by chance (first 3/9 approve, second 5/9): 3/9·5/9 + 6/9·4/9 = 39/81.
    assert stats.agreement == pytest.approx((7 / 9 - 39 / 81) / (1 - 39 / 81))
    assert stats.agreement_interval is not None
    assert stats.agreement_interval[0] <= stats.agreement <= stats.agreement_interval[1]


async def test_a_second_review_that_was_not_published_is_offered_again(
    console: Console, rows: AnalyticsStore, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.review.second_share, settings.review.undo_seconds = 1.0, 0.0
    request, service = review_request(1), console()
    await store_requests(rows, [request])
    await store_decision(rows, request, action="reject")
    assert await service.next(Filters(), BEN) is not None

    async def away(*_: object) -> None:
        raise UnavailableError("the broker is away")

    with monkeypatch.context() as patched:
        patched.setattr(service, "_publish", away)
        with pytest.raises(UnavailableError):
            await service.decide(request.review_id, APPROVE, BEN)
    assert (await service.decide(request.review_id, APPROVE, BEN)).undo_until is None


async def test_figures_tell_backlog_pace_and_agreement(console: Console, rows: AnalyticsStore) -> None:
    requests = [review_request(number) for number in range(7)]
    await store_requests(rows, requests)
    verdicts = [("approve", "approve"), ("reject", "reject"), ("approve", "reject"), ("correct", "correct")]
    for request, (first, second) in zip(requests, verdicts, strict=False):
        text = "Loki needs 2 GiB [1]."
        await store_decision(rows, request, action=first, duration=20 + requests.index(request), corrected_answer=text)
        await store_decision(rows, request, ruling="second", by="second", action=second, corrected_answer=text)
    await store_decision(rows, requests[4], by="policy", action="reject")
    stats = await console().stats(ANNA)
    assert (stats.backlog, stats.held, stats.decided_today, stats.decided_by_policy_today) == (2, 2, 4, 1)
    assert stats.oldest_at == requests[6].requested_at
    # Observed 3/4; by chance 2/4·1/4 + 1/4·2/4 + 1/4·1/4 = 5/16.
    assert stats.agreement == pytest.approx((3 / 4 - 5 / 16) / (1 - 5 / 16))
    assert (stats.agreement_pairs, stats.median_active_seconds) == (4, pytest.approx(22, abs=1))
    assert (await console().stats(Reviewer("x", frozenset({"other"})))).backlog == 0


SHARES = {
    (1.0, 2): [False, True, False, True, False, True],
    (0.5, 2): [False, False, True, False, False, True],
    (1.0, 3): [False, True, True, False, True, True],
}
"""Which of six requests are second reviews, so that each decision gets its share of further ones."""


@pytest.mark.parametrize(("share", "reviews"), SHARES)
async def test_second_reviews_come_in_their_share_while_the_queue_is_long(
    console: Console, rows: AnalyticsStore, settings: Settings, share: float, reviews: int
) -> None:
    settings.review.second_share, settings.review.reviews = share, reviews
    service = console()
    requests = [review_request(number) for number in range(24)]
    await store_requests(rows, requests)
    for request in requests[:16]:
        await store_decision(rows, request, by="first", at=AT)
    taken = []
    for _ in range(6):
        item = await service.next(Filters(), BEN, without=[each.review_id for each in taken])
        assert item is not None
        taken.append(item)
    assert [item.second_review for item in taken] == SHARES[share, reviews]
