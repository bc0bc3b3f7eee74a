"""A query that comes again by meaning: pairs, not arrivals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from workers.evaluation.thresholds import FeedbackRules
from workers.feedback.query_fingerprint import fingerprint
from workers.feedback.retry_detection import AskedQuery, find_retries

RULES = FeedbackRules()


def direction(cosine: float) -> NDArray[np.float16]:
    """A unit vector with that cosine to the first axis."""
    return np.array([cosine, (1 - cosine**2) ** 0.5, 0.0], dtype=np.float16)


def query(name: str, seconds: float, cosine: float = 1.0) -> AskedQuery:
    return AskedQuery(name, 1_000_000 + seconds, direction(cosine))


def test_nearly_the_same_query_within_five_minutes_is_a_retry_of_the_earlier() -> None:
    (pair,) = find_retries(query("b", 60, 0.9), [query("a", 0)], RULES)
    assert (pair.original_answer_id, pair.retry_answer_id, pair.delay_seconds) == ("a", "b", 60)
    assert pair.similarity_score == pytest.approx(0.9, abs=1e-3)


def test_an_earlier_answer_that_comes_late_finds_the_same_pair() -> None:
    assert find_retries(query("a", 0), [query("b", 60, 0.9)], RULES) == find_retries(
        query("b", 60, 0.9), [query("a", 0)], RULES
    )


@pytest.mark.parametrize(("cosine", "found"), [(0.80, 0), (0.84, 0), (0.86, 1), (1.0, 1), (-1.0, 0)])
def test_the_threshold_decides(cosine: float, found: int) -> None:
    assert len(find_retries(query("b", 1, cosine), [query("a", 0)], RULES)) == found


@pytest.mark.parametrize(
    ("earlier", "later", "cosine", "found"),
    [
        ("Wie schwer ist der Motor?", "Welches Gewicht hat der Motor?", 0.79, 1),
        ("Wie schwer ist der Motor?", "Welches Gewicht hat der Motor?", 0.7, 0),
        ("Is invoice 20418 paid?", "Has invoice 20418 been settled yet?", 0.78, 1),
        ("Is invoice 20418 paid?", "Has invoice 20481 been settled yet?", 0.78, 0),
        ("How long is the warranty?", "What does the warranty cover?", 0.81, 0),
    ],
)
def test_two_queries_for_the_same_kind_of_thing_may_lie_further_apart(
    earlier: str, later: str, cosine: float, found: int
) -> None:
    first = AskedQuery("a", 0.0, direction(1.0), fingerprint(earlier, "person"))
    second = AskedQuery("b", 60.0, direction(cosine), fingerprint(later, "person"))
    assert len(find_retries(second, [first], RULES)) == found


@pytest.mark.parametrize(("seconds", "found"), [(1, 1), (300, 1), (300.01, 0), (100_000, 0)])
def test_after_five_minutes_it_is_a_new_question(seconds: float, found: int) -> None:
    assert len(find_retries(query("b", seconds), [query("a", 0)], RULES)) == found


def test_a_query_never_matches_itself() -> None:
    assert find_retries(query("a", 0), [query("a", 0), query("a", -60)], RULES) == []


def test_two_answers_to_one_question_are_no_retry() -> None:
    """An experiment sends one query to two models at one moment."""
    assert find_retries(query("b", 0), [query("a", 0)], RULES) == []


def test_a_vector_of_another_model_is_no_match() -> None:
    other = AskedQuery("a", 1_000_000, np.ones(8, dtype=np.float16))
    assert find_retries(query("b", 1), [other], RULES) == []


def test_a_vector_of_zeros_is_like_nothing() -> None:
    empty = AskedQuery("a", 1_000_000, np.zeros(3, dtype=np.float16))
    assert find_retries(query("b", 1), [empty], RULES) == []


def test_the_most_similar_comes_first() -> None:
    found = find_retries(query("c", 60), [query("a", 0, 0.9), query("b", 30, 0.99)], RULES)
    assert [pair.original_answer_id for pair in found] == ["b", "a"]


@given(st.permutations([query(name, seconds, 0.95) for name, seconds in zip("abcde", range(0, 500, 100), strict=True)]))
def test_which_answers_were_asked_again_does_not_depend_on_the_order_of_arrival(arrivals: list[AskedQuery]) -> None:
    seen: list[AskedQuery] = []
    pairs = set()
    for asked in arrivals:
        pairs |= {(p.original_answer_id, p.retry_answer_id) for p in find_retries(asked, seen, RULES)}
        seen.append(asked)
    expected = {(a, b) for i, a in enumerate("abcde") for j, b in enumerate("abcde") if 0 < j - i <= 3}
    assert pairs == expected
