"""Decisions from requests, agreement, and what deadlines do."""

from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.review import POLICY
from tests.harness.reviews import AT, review_request
from workers.decision.finality import released_by
from workers.decision.release_events import fitted_request
from workers.feedback.observed_events import review_event
from workers.review.agreement import cohens_kappa
from workers.review.decision_events import decided, decided_by_deadline
from workers.review.queue.deadlines import deadline_action, last_action
from workers.settings import ReviewSettings
from workers.stores.clickhouse.rows.review_rows import review_rows

REQUEST = review_request(7)
SAID: dict[str, Any] = {"by": "first", "profile": {}, "at": AT}


# ------------------------------------------------------------------ decisions


def test_the_same_words_of_the_same_person_are_the_same_decision() -> None:
    one = decided(REQUEST, **SAID, action="reject", comment="No.")
    assert (
        one.feedback_id
        == decided(REQUEST, **SAID | {"at": AT + timedelta(hours=1)}, action="reject", comment="No.").feedback_id
    )
    others = [
        decided(REQUEST, **SAID, action="reject"),
        decided(REQUEST, **SAID, action="approve", comment="No."),
        decided(REQUEST, **SAID | {"by": "second"}, action="reject", comment="No."),
        decided(REQUEST, **SAID, action="reject", comment="No.", second_review=True),
        decided(review_request(8), **SAID, action="reject", comment="No."),
    ]
    assert len({one.feedback_id, *(other.feedback_id for other in others)}) == 6


@pytest.mark.parametrize(
    ("state", "action", "expected"),
    [
        ("held", "reject", "rejected"), ("held", "warn", "warned"), ("released", "keep", "released"),
        ("warned", "keep", "warned"),
    ],
)  # fmt: skip
def test_a_deadline_decides_the_same_whoever_finds_it_passed(state: Any, action: Any, expected: str) -> None:
    assert REQUEST.releasable is not None and REQUEST.deadline_at is not None
    shown = REQUEST.releasable.model_copy(update={"state": state})
    request = REQUEST.model_copy(update={"releasable": shown})
    decision = decided_by_deadline(request, action, REQUEST.deadline_at)
    assert decision == decided_by_deadline(request, action, REQUEST.deadline_at)
    assert (decision.decided_by, released_by(decision).state) == (POLICY, expected)
    later = decided_by_deadline(request, action, REQUEST.deadline_at + timedelta(hours=1))
    assert later.feedback_id != decision.feedback_id


def test_what_the_policy_does_is_told_by_settings_and_ends_after_one_escalation() -> None:
    def does(held: bool, queue: str, **settings: Any) -> str:
        return deadline_action(ReviewSettings(**settings), queue, held=held, answer="It takes 3 days.")

    assert (does(True, "default"), does(False, "default")) == ("reject", "keep")
    assert does(True, "default", deadline_held="warn") == "warn"
    for held, queue in product((True, False), ("default", "escalated", "lawyers")):
        action = does(held, queue, deadline_held="escalate", deadline_shown="escalate", deadline_last="warn")
        assert action == ("escalate" if queue != "escalated" else "warn" if held else "keep")


@pytest.mark.parametrize(
    ("answer", "queue", "done"),
    [
        ("", "default", "reject"),
        (" \u200b\n", "default", "reject"),
        ("", "escalated", "reject"),
        ("3", "default", "warn"),
        ("👍", "escalated", "warn"),
    ],
)
def test_no_deadline_releases_an_empty_answer(answer: str, queue: str, done: str) -> None:
    settings = ReviewSettings(deadline_held="warn", deadline_last="warn")
    assert deadline_action(settings, queue, held=True, answer=answer) == done
    assert deadline_action(settings, queue, held=False, answer=answer) == "keep", "readers have it already"
    settings = ReviewSettings(deadline_held="escalate", deadline_last="warn")
    assert deadline_action(settings, "default", held=True, answer=answer) == "escalate"
    assert last_action(settings, held=True, answer=answer) == done


# ------------------------------------------------------------------ feedback


def test_a_vote_is_a_vote_and_no_decision_and_is_counted_once() -> None:
    vote = review_event(decided(REQUEST, **SAID, action="downvote"))
    assert vote is not None and vote.explicit is not None
    assert (vote.explicit.vote, vote.explicit.review_action) == ("down", None)
    assert vote.feedback_id == decided(REQUEST, **SAID, action="downvote").feedback_id
    decision = review_event(decided(REQUEST, **SAID, action="reject"))
    assert decision is not None and decision.explicit is not None
    assert (decision.explicit.vote, decision.explicit.review_action) == (None, "reject")


def test_a_second_opinion_measures_the_first_and_is_no_feedback() -> None:
    assert review_event(decided(REQUEST, **SAID, action="reject", second_review=True)) is None


# ------------------------------------------------------------------ requests


def test_a_request_that_does_not_fit_leaves_out_contexts_and_then_the_formatted_text() -> None:
    contexts = [{"number": n, "chunk_id": f"c{n}", "content": '"' * 20_000} for n in range(1, 9)]
    request = review_request(1, contexts=contexts, contexts_total=8)
    assert fitted_request(request, 10_000_000) is request
    fitted = fitted_request(request, 100_000)
    assert [context.number for context in fitted.contexts] == [1, 2]
    assert fitted.contexts_total == 8 and fitted.releasable == request.releasable
    # In its row it is JSON within JSON.
    assert all(len(row.record().to_bytes()) < 250_000 for row in review_rows(fitted))
    assert request.releasable is not None
    long = request.releasable.model_copy(update={"body": "x" * 150_000})
    bare = fitted_request(request.model_copy(update={"releasable": long}), 100_000)
    assert bare.contexts == [] and bare.releasable is not None
    assert (bare.releasable.body, bare.releasable.state) == (None, "held")


# ------------------------------------------------------------------ agreement


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        ([], None),
        ([("a", "a")] * 4, None),
        ([("a", "a"), ("b", "b")], 1.0),
        ([("a", "b"), ("b", "a")], -1.0),
        # Cohen's own way to count: 45 and 25 in agreement of 100, 60 to 40 against 60 to 40.
        ([("a", "a")] * 45 + [("a", "b")] * 15 + [("b", "a")] * 15 + [("b", "b")] * 25, (0.70 - 0.52) / 0.48),
    ],
)
def test_agreement_is_what_chance_does_not_explain(pairs: list[tuple[str, str]], kappa: float | None) -> None:
    assert cohens_kappa(pairs) == (None if kappa is None else pytest.approx(kappa))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), max_size=30))
def test_agreement_is_at_most_one_and_the_same_from_both_sides(pairs: list[tuple[str, str]]) -> None:
    kappa = cohens_kappa(pairs)
    assert kappa is None or -1 - 1e-9 <= kappa <= 1
    other = cohens_kappa([(second, first) for first, second in pairs])
    assert (kappa is None and other is None) or kappa == pytest.approx(other)
