"""Dates and periods are compared with many others as with each of them, in a time that does not grow with their number."""

import random
from itertools import product

from tests.harness.operations import count_operations
from workers.evaluation.facts.dates import Date, DatePool, Period, PeriodPool, agrees

DATES = [Date(*parts) for parts in product((None, 2025, 2026), (None, 3, 4), (None, 1), (None, 600, 615))]


def agree(one: Date, two: Date) -> bool:
    """The definition: a named part in common, and none that differs."""
    named = [(a, b) for a, b in zip(one.parts, two.parts, strict=True) if a is not None and b is not None]
    return bool(named) and all(a == b for a, b in named)


def test_two_dates_agree_if_they_have_a_named_part_in_common_and_none_that_differs() -> None:
    for one, two in product(DATES, DATES):
        assert agrees(one, two) is agree(one, two) is agrees(two, one), (one, two)


def test_a_pool_says_of_a_date_what_its_dates_say() -> None:
    pick = random.Random(1)
    for size in (0, 1, 2, 3, 5, 20):
        for _ in range(20):
            others = [pick.choice(DATES) for _ in range(size)]
            pool = DatePool(others)
            for date in DATES:
                assert pool.agrees(date) is any(agree(date, other) for other in others)
                shares = any(
                    a is not None and b is not None
                    for other in others
                    for a, b in zip(date.parts, other.parts, strict=True)
                )
                assert pool.has_comparable(date) is shares


def test_a_pool_says_of_a_period_what_its_periods_say() -> None:
    pick = random.Random(2)

    def period() -> Period:
        first = pick.randint(0, 40)
        return first, first + pick.choice((0, 2, 11))

    for size in (0, 1, 2, 5, 20):
        for _ in range(50):
            others = [period() for _ in range(size)]
            pool = PeriodPool(others)
            for first, last in (period() for _ in range(20)):
                expected = any(first <= end and start <= last for start, end in others)
                assert pool.overlaps((first, last)) is expected


def test_a_comparison_costs_the_same_with_many_dates_and_periods() -> None:
    def cost(number: int) -> int:
        pool = DatePool(
            Date(year, month, day) for year, month, day in product(range(number), range(1, 13), range(1, 29))
        )
        periods = PeriodPool((start, start + 2) for start in range(0, 30 * number, 3))
        questions = (Date(5_000, 1, 1), Date(month=13))

        def ask() -> None:
            assert not any(map(pool.agrees, questions))
            assert not periods.overlaps((-9, -1))

        ask()  # builds the index
        return count_operations(ask)

    assert cost(40) == cost(4)
