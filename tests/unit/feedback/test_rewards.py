"""What an answer earns: seed 001's order and weights, and a fold that no order, repeat or delay can spoil."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.export import example
from schemas.feedback import FeedbackEvent, Reward
from schemas.identifiers import fact_id
from schemas.review import WITHDRAWN, ReviewDecision
from workers.evaluation.thresholds import FeedbackRules
from workers.feedback.observed_events import review_event
from workers.feedback.rewards import EVENTS_OF_A_KIND, combine, reward_of
from workers.stores.clickhouse.rows.feedback_rows import implicit_feedback_row, reward_row

RULES = FeedbackRules()
AT = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)


def event(kind: str, identifier: str = "", minutes: float = 0, **part: Any) -> FeedbackEvent:
    outer = {name: part.pop(name) for name in ("tenant", "user_id", "session_id", "model_id") if name in part}
    return FeedbackEvent.model_validate(
        ({"feedback_id": identifier} if identifier else {})
        | {"answer_id": "a", "kind": kind, kind: part, "model_id": "m",
         "occurred_at": AT + timedelta(minutes=minutes)} | outer
    )  # fmt: skip


def call(seconds: float | None = 2.0, **part: Any) -> FeedbackEvent:
    return event("execution", "call", **{"status": "success", "latency_seconds": seconds} | part)


def said(identifier: str = "said", minutes: float = 1, **part: Any) -> FeedbackEvent:
    return event("explicit", identifier, minutes, **part)


def did(identifier: str = "did", minutes: float = 1, **part: Any) -> FeedbackEvent:
    return event("behaviour", identifier, minutes, **part)


def retry(original: str = "a", again: str = "b", delay: float = 60.0) -> FeedbackEvent:
    pair = {"original_answer_id": original, "retry_answer_id": again, "delay_seconds": delay, "similarity_score": 0.9}
    return event("retry", f"{original}-{again}", **pair)


def reward(*events: FeedbackEvent, rules: FeedbackRules = RULES) -> Reward:
    found = reward_of(combine(events), rules, AT)
    assert found is not None
    return found


# --- implicit -------------------------------------------------------------------------------


@pytest.mark.parametrize(("seconds", "expected"), [(3, 0.9), (10, 0.9), (20, 0.7), (40, 0.5)])
def test_latency_alone_is_rewarded_by_its_class(seconds: float, expected: float) -> None:
    assert reward(call(seconds)).reward == expected


def test_an_error_costs_everything_whatever_else_was_seen() -> None:
    found = reward(call(status="error"), retry(), did(response_copied=True))
    assert (found.reward, found.error_occurred) == (0.0, True)
    assert reward(call(error_type="refusal")).reward == 0.0


def test_a_retry_comes_before_latency_and_behaviour() -> None:
    found = reward(call(1), retry(), did(response_copied=True, time_spent_seconds=60))
    assert (found.reward, found.retry_detected) == (0.3, True)


def test_the_retry_costs_the_answer_that_made_the_person_ask_again_and_not_the_next() -> None:
    first = reward(call(2), retry("a", "b"))
    second = reward(call(2), retry("z", "a"))
    assert (first.reward, second.reward) == (0.3, 0.9)
    assert second.retry_detected is False


def test_behaviour_and_latency_are_meant() -> None:
    assert reward(call(2), did(response_copied=True)).reward == pytest.approx((0.9 + 0.7) / 2)


def test_a_latency_that_nobody_measured_earns_nothing() -> None:
    """Seed 001 gives 0.7 for an unknown class; what was not observed counts nothing here."""
    assert reward_of(combine([call(None)]), RULES, AT) is None
    assert reward(call(None), did(response_copied=True)).reward == pytest.approx(0.7)


# --- explicit -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"rating": 5}, 1.0),
        ({"rating": 1}, 0.2),
        ({"quality_score": 0.4}, 0.4),
        ({"met_expectations": True}, 1.0),
        ({"met_expectations": False}, 0.0),
        ({"vote": "up"}, 1.0),
        ({"vote": "down"}, 0.0),
        ({"review_action": "approve"}, 1.0),
        ({"review_action": "correct"}, 0.5),
        ({"review_action": "reject"}, 0.0),
        ({"rating": 5, "quality_score": 0.95, "met_expectations": True}, (1 + 0.95 + 1) / 3),
        ({"rating": 2, "vote": "down"}, 0.2),
    ],
)
def test_the_explicit_reward_is_the_mean_of_what_is_there(part: dict[str, Any], expected: float) -> None:
    found = reward(said(**part))
    assert found.explicit_reward == pytest.approx(expected)
    assert found.reward == pytest.approx(expected)
    assert found.implicit_reward is None


def test_a_comment_alone_earns_nothing() -> None:
    assert reward_of(combine([said(comment="Hm.")]), RULES, AT) is None


def test_a_decision_of_a_reviewer_counts_and_that_of_a_deadline_does_not() -> None:
    decision = ReviewDecision.model_validate(example(ReviewDecision) | {"answer_id": "a", "user_action": "reject"})
    judged = review_event(decision)
    assert judged is not None
    assert reward(judged).explicit_reward == 0.0
    assert review_event(decision.model_copy(update={"decided_by": "policy"})) is None


def test_the_first_decision_of_a_review_is_final() -> None:
    first, later = said("r1", 1, review_action="approve"), said("r2", 2, review_action="reject", user_id="u")
    assert reward(later, first).explicit_reward == 1.0


@pytest.mark.parametrize("others", [[], [call(2)], [said("vote", rating=5, user_id="reader")]])
def test_a_withdrawal_takes_the_place_of_the_decision_in_any_order(others: list[FeedbackEvent]) -> None:
    approval = said("d1", 1, review_action="approve")
    withdrawal = said(f"d1{WITHDRAWN}12345678", 9, review_action="reject", user_id="auditor")
    late = said("d2", 10, review_action="approve", user_id="reviewer")
    rejected = reward(said("d1", 1, review_action="reject"), *others)
    events = [approval, withdrawal, late, *others]
    for order in (events, events[::-1]):
        assert reward(*order).explicit_reward == rejected.explicit_reward
        assert reward(*order).reward == rejected.reward < reward(approval, *others).reward


def test_of_several_people_the_mean_counts_and_of_one_the_last_word() -> None:
    events = [
        said("1", 1, rating=1, user_id="u"),
        said("2", 2, rating=5, user_id="u"),
        said("3", 1, rating=3, user_id="v"),
    ]
    assert reward(*events).explicit_reward == pytest.approx((1.0 + 0.6) / 2)


# --- combined -------------------------------------------------------------------------------


def test_both_sides_are_weighted_70_to_30() -> None:
    found = reward(call(2), said(rating=2))
    assert found.reward == pytest.approx(0.7 * 0.4 + 0.3 * 0.9)
    assert (found.explicit_reward, found.implicit_reward) == (0.4, 0.9)


def test_one_side_alone_counts_whole() -> None:
    assert reward(call(2)).reward == 0.9
    assert reward(said(rating=2)).reward == pytest.approx(0.4)


def test_the_weights_are_settings() -> None:
    events = (call(2), said(rating=2))
    assert reward(*events, rules=FeedbackRules(explicit_weight=1, implicit_weight=0)).reward == pytest.approx(0.4)
    assert reward(*events, rules=FeedbackRules(explicit_weight=0.2, implicit_weight=0.2)).reward == pytest.approx(0.65)
    with pytest.raises(ValidationError, match="are both 0"):
        FeedbackRules(explicit_weight=0, implicit_weight=0)


def test_a_late_rating_revises_the_reward_under_the_same_identifier() -> None:
    early = reward(call(2))
    late = reward(call(2), said(minutes=3 * 24 * 60, rating=1))
    assert early.reward_id == late.reward_id == fact_id("default", "a", "reward")
    assert late.revision > early.revision
    assert late.reward < early.reward
    assert late.answered_at == early.answered_at == AT


def test_feedback_on_an_answer_that_never_was_is_told_without_a_model() -> None:
    found = reward(said(rating=4, model_id=None))
    assert (found.model_id, found.reward, found.answered_at) == ("unknown", 0.8, AT + timedelta(minutes=1))


# --- the fold: order, repeats, revisions ----------------------------------------------------

explicit = st.fixed_dictionaries(
    {}, optional={
        "rating": st.integers(1, 5), "quality_score": st.floats(0, 1), "met_expectations": st.booleans(),
        "vote": st.sampled_from(["up", "down"]), "review_action": st.sampled_from(["approve", "correct", "reject"]),
    },
)  # fmt: skip
behaviour = st.fixed_dictionaries(
    {}, optional={"time_spent_seconds": st.floats(0, 100), "response_copied": st.booleans(), "query_rephrased": st.booleans()}
)  # fmt: skip
execution = st.fixed_dictionaries(
    {"status": st.sampled_from(["success", "error"])}, optional={"latency_seconds": st.floats(0, 100)}
)
people = st.sampled_from([{}, {"user_id": "u"}, {"user_id": "v"}, {"session_id": "s"}])
shapes = st.one_of(
    st.tuples(st.just("explicit"), explicit),
    st.tuples(st.just("behaviour"), behaviour),
    st.tuples(st.just("execution"), execution),
)


@st.composite
def histories(draw: st.DrawFn) -> list[FeedbackEvent]:
    drawn = draw(st.lists(st.tuples(shapes, people, st.integers(0, 5)), min_size=1, max_size=6))
    return [
        event(kind, f"f{number}", minutes, **part, **person)
        for number, ((kind, part), person, minutes) in enumerate(drawn)
    ]


@given(histories(), st.randoms(use_true_random=False))
def test_the_order_of_events_does_not_matter(events: list[FeedbackEvent], rng: random.Random) -> None:
    shuffled = list(events)
    rng.shuffle(shuffled)
    assert combine(shuffled) == combine(events)


@given(histories(), st.data())
def test_what_comes_twice_counts_once(events: list[FeedbackEvent], data: st.DataObject) -> None:
    again = data.draw(st.lists(st.sampled_from(events)))
    assert combine([*events, *again]) == combine(events)


@given(histories(), st.data())
def test_a_revision_replaces_whenever_it_comes(events: list[FeedbackEvent], data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(events) - 1))
    old = events[position]
    kind, part = data.draw(shapes)
    new = event(kind, old.feedback_id, 10, **part)
    replaced = [*events[:position], new, *events[position + 1 :]]
    revised = combine([*events, new])
    assert revised == combine([new, *events])
    assert reward_of(revised, RULES, AT) == _at_revision(reward_of(combine(replaced), RULES, AT), revised.revision)
    assert revised.revision == combine(events).revision + 1


def _at_revision(found: Reward | None, revision: int) -> Reward | None:
    return None if found is None else found.model_copy(update={"revision": revision})


@given(histories())
def test_a_reward_is_a_share_and_more_events_only_raise_its_revision(events: list[FeedbackEvent]) -> None:
    revisions = []
    for count in range(1, len(events) + 1):
        feedback = combine(events[:count])
        revisions.append(feedback.revision)
        found = reward_of(feedback, RULES, AT)
        assert found is None or 0 <= found.reward <= 1
    assert revisions == sorted(set(revisions))


@given(histories(), st.randoms(use_true_random=False), st.integers(1, 2))
def test_beyond_the_bound_the_order_does_not_matter_either(
    events: list[FeedbackEvent], rng: random.Random, bound: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workers.feedback.rewards.EVENTS_OF_A_KIND", bound)
        shuffled = [*events, *events]
        rng.shuffle(shuffled)
        assert combine(shuffled) == combine(events)
        assert combine(events).revision == len(events), "what is not looked at is counted all the same"


def test_a_flood_counts_by_its_last_opinions_and_drowns_neither_the_call_nor_the_review() -> None:
    review = event("explicit", "review", -5, review_action="approve", user_id="reviewer")
    late = event("explicit", "second review", 9_999, review_action="reject", user_id="reviewer")
    old = [said(f"old-{n}", n, rating=1, user_id=f"u{n}") for n in range(EVENTS_OF_A_KIND)]
    new = [said(f"new-{n}", 1_000 + n, rating=5, user_id=f"u{n}") for n in range(EVENTS_OF_A_KIND)]
    calls = [event("execution", f"call-{n}", n, status="error") for n in range(1, 2 * EVENTS_OF_A_KIND)]
    found = combine([*new, *calls, call(), review, late, *old])
    assert (found.explicit, found.latency_seconds, found.answered_at) == ({"rating": 1.0, "review": 1.0}, 2.0, AT)
    assert found.revision == 4 * EVENTS_OF_A_KIND + 2


# --- rows -----------------------------------------------------------------------------------


def test_the_row_of_seed_001_says_what_this_query_repeats_and_whether_it_was_asked_again() -> None:
    feedback = combine([call(20), retry("z", "a", 40), retry("a", "b", 5)])
    row = implicit_feedback_row(feedback, RULES)
    assert row is not None
    assert row.columns["original_query_id"] == "z"
    assert (row.columns["retry_detected"], row.columns["retry_delay_seconds"]) == (True, 40)
    assert (row.columns["asked_again"], row.columns["latency_accepted"]) == (True, False)
    assert row.columns["latency_tolerance"] == "medium"


def test_what_people_only_say_makes_no_row_of_implicit_feedback() -> None:
    assert implicit_feedback_row(combine([said(rating=3)]), RULES) is None


def test_the_row_of_a_reward_holds_its_columns() -> None:
    events = call(2), said(rating=5)
    columns = reward_row(reward(*events), combine(events).elsewhere).columns
    assert columns["revision"] == 2
    assert columns["query_type"] == ""


def test_a_reward_knows_where_it_could_have_been_counted_before() -> None:
    """Feedback hours after the answer: either may have come first."""
    called = call(2)
    later = said(rating=5).model_copy(update={"occurred_at": called.occurred_at + timedelta(hours=3)})
    hour = called.occurred_at.replace(minute=0, second=0, microsecond=0)
    assert set(combine([later, called]).elsewhere) == {(called.tenant, hour + timedelta(hours=3))}
    assert combine([called]).elsewhere == ()


# --- events ---------------------------------------------------------------------------------


def test_an_event_without_identifier_is_known_by_its_content() -> None:
    first, same, other = (event("explicit", rating=rating) for rating in (4, 4, 5))
    assert first.feedback_id == same.feedback_id != other.feedback_id


def test_an_event_must_hold_what_its_kind_says() -> None:
    with pytest.raises(ValidationError, match="field behaviour is missing"):
        FeedbackEvent(answer_id="a", kind="behaviour", occurred_at=AT)
