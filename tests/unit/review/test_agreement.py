"""Kappa has an interval that holds it, narrows with pairs, and is unknown where kappa is."""

import pytest

from workers.review.agreement import cohens_kappa, kappa_interval, review_pairs

PAIRS = [("approve", "approve")] * 6 + [("reject", "reject")] * 3 + [("approve", "reject")] * 2


def test_the_interval_holds_kappa_and_narrows_with_pairs() -> None:
    kappa, few, many = cohens_kappa(PAIRS), kappa_interval(PAIRS), kappa_interval(PAIRS * 20)
    assert kappa is not None and few is not None and many is not None
    assert few[0] < kappa < few[1]
    assert few[0] < many[0] < kappa < many[1] < few[1]


def test_the_interval_of_equal_pairs_is_equal() -> None:
    assert kappa_interval(PAIRS) == kappa_interval(list(PAIRS))


@pytest.mark.parametrize("pairs", [[], [("approve", "approve")] * 5])
def test_the_interval_is_unknown_where_kappa_is(pairs: list[tuple[str, str]]) -> None:
    assert cohens_kappa(pairs) is None
    assert kappa_interval(pairs) is None


def test_full_agreement_has_an_interval_up_to_one() -> None:
    low, high = kappa_interval([("approve", "approve"), ("reject", "reject")] * 10) or (0.0, 0.0)
    assert high == 1.0
    assert low >= 0.0


def test_every_two_reviews_of_a_request_are_a_pair() -> None:
    assert review_pairs([("approve", "reject", "correct"), ("approve", "approve")]) == [
        ("approve", "reject"), ("approve", "correct"), ("reject", "correct"), ("approve", "approve"),
    ]  # fmt: skip


def test_pairs_of_one_request_do_not_narrow_the_interval_as_those_of_several_do() -> None:
    three = [("approve",) * 3] * 10 + [("reject",) * 3] * 5 + [("approve", "reject", "reject")] * 5
    apart = review_pairs(three)
    together, single = kappa_interval(three), kappa_interval(apart)
    assert together is not None and single is not None
    assert together[1] - together[0] > 1.2 * (single[1] - single[0])
