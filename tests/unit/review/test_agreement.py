"""Kappa has an interval that holds it, narrows with pairs, and is unknown where kappa is."""

import numpy as np
import pytest

from workers.review.agreement import LEAST_REQUESTS, cohens_kappa, kappa_interval, review_pairs

PAIRS = [("approve", "approve")] * 12 + [("reject", "reject")] * 6 + [("approve", "reject")] * 4


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


def test_full_agreement_has_no_interval_since_it_would_have_no_width() -> None:
    agreed = [("approve", "approve"), ("reject", "reject")] * 20
    assert cohens_kappa(agreed) == 1.0
    assert kappa_interval(agreed) is None
    low, high = kappa_interval([*agreed, ("approve", "reject")]) or (0.0, 0.0)
    assert 0.0 < low < high == 1.0


@pytest.mark.parametrize("number", [1, 2, 19])
def test_few_requests_have_no_interval(number: int) -> None:
    pairs = ([("approve", "reject"), ("reject", "approve"), ("approve", "approve")] * 7)[:number]
    assert cohens_kappa(pairs) is not None
    assert kappa_interval(pairs) is None
    # Three reviews of a request are three pairs of one request, not of three.
    assert kappa_interval([("approve", "reject", "approve")] * number) is None


def test_intervals_hold_the_kappa_that_reviews_were_drawn_with() -> None:
    drawn, shares = np.random.default_rng(7), np.array([0.6, 0.2, 0.2])
    held = 0
    for _ in range(100):
        chance = 0.5 * np.diag(shares) + 0.5 * np.outer(shares, shares)
        cells = drawn.choice(9, size=LEAST_REQUESTS, p=chance.ravel())
        pairs = [
            ("approve", "reject", "correct")[cell // 3 : cell // 3 + 1]
            + ("approve", "reject", "correct")[cell % 3 : cell % 3 + 1]
            for cell in cells
        ]
        low, high = kappa_interval(pairs) or (0.0, 0.0)
        held += low <= 0.5 <= high
    assert held >= 90


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
