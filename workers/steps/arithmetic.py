"""Whether numbers are the same, and whether one follows from others.

A claim with hundreds of numbers can meet evidence with hundreds more, so nothing here compares
each with each: numbers are sorted and looked up within their tolerance.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from workers.steps.quantities import Quantity

EXACT = 1e-6
"""Relative difference within which two numbers are equal (floating point only)."""
DERIVED = 0.005
"""The same for a number calculated from others, which is rounded more often than not."""
ABOUT = 0.1
"""The same where one is called approximate."""
MAX_INPUTS = 8
"""Numbers from which others are derived, the first ones; chance hits grow with their square."""
DEGREES = frozenset(("degree", "celsius", "fahrenheit"))
"""Dimensions of temperature."""
COUNT = "count"
"""Kind of all numbers without a unit: apples and pears add up."""
HOUR = 3600.0
"""Seconds."""


def same_quantity(first: Quantity, second: Quantity) -> bool:
    """Whether two numbers are the same, up to rounding and units."""
    if first.is_unit and second.is_unit and not same_dimension(first.dimension, second.dimension):
        return False
    tolerance = ABOUT if first.approximate or second.approximate else EXACT
    # "0.8 h" for 47 minutes and "3.2M" for 3,241,000 are rounded; 47 and 48 minutes differ.
    slack = max(first.step, second.step) if first.step != second.step else 0.0
    return any(abs(one - two) <= slack or _close(one, two, tolerance) for one in first.values for two in second.values)


def same_dimension(one: str, two: str) -> bool:
    """Whether two dimensions are the same; degrees may be Celsius or Fahrenheit."""
    return one == two or (one in DEGREES and two in DEGREES and "degree" in (one, two))


def satisfies(value: Quantity, bound: Quantity) -> bool:
    """Whether a number keeps a bound ("at least 500"); another bound does if it is the stricter one."""
    if value.bound * bound.bound < 0:
        return False
    return any(bound.bound * (one - two) >= -EXACT * abs(two) for one in value.values for two in bound.values)


def is_derived(number: Quantity, inputs: Sequence[Quantity], *, only_sums: bool = False) -> bool:
    """Whether a number follows from others: sum, difference, product, ratio, share, change or mean.

    Dimensions must come out right: money is money plus money, a rate times a duration (47 min at
    $3,000/h are $2,350) or a price times a count; a percentage is a ratio of two numbers of one
    kind. Only the first eight inputs are tried.

    Args:
        number: the number in question.
        inputs: those it may follow from.
        only_sums: whether it is called a total.
    """
    results = _results(tuple(inputs[:MAX_INPUTS]), number.dimension, number.is_unit, only_sums)
    tolerance = DERIVED * 4 if number.approximate else DERIVED
    for target in number.values:
        if abs(target) < 10 and not only_sums:
            continue  # small numbers follow from almost anything
        reach = _reach(target, tolerance)
        position = bisect_left(results, target - reach)
        while position < len(results) and results[position] <= target + reach:
            if _close(target, results[position], tolerance):
                return True
            position += 1
    return False


@lru_cache(maxsize=512)
def _results(inputs: tuple[Quantity, ...], dimension: str, is_unit: bool, only_sums: bool) -> list[float]:
    """What the numbers give in a dimension, in order."""
    kind = dimension if is_unit else COUNT
    same = [other for other in inputs if _kind(other) == kind]
    results = set(_sums([other.values[0] for other in same]))
    results |= set(_sums(list(dict.fromkeys(other.values[0] for other in same))))
    if only_sums:
        return sorted(results)
    for index, one in enumerate(inputs):
        for two in inputs[index + 1 :]:
            first, second = one.values[0], two.values[0]
            if _kind(one) == _kind(two):
                results |= set(_within(first, second, kind, _kind(one)))
            elif _kind(one) == kind:
                results |= set(_across(one, two))
            elif _kind(two) == kind:
                results |= set(_across(two, one))
    return sorted(results)


def _kind(number: Quantity) -> str:
    return number.dimension if number.is_unit else COUNT


def _sums(values: Sequence[float]) -> Iterator[float]:
    """Total, mean and sums of two."""
    if len(values) > 1:
        yield sum(values)
        yield sum(values) / len(values)
    for index, one in enumerate(values):
        yield from (one + two for two in values[index + 1 :])


def _within(one: float, two: float, kind: str, own: str) -> Iterator[float]:
    """What two numbers of one kind give in a kind."""
    if own == kind:
        yield abs(one - two)
    if own == kind == COUNT:
        yield one * two
    for above, below in ((one, two), (two, one)):
        if below and kind == "percent":
            yield from (100 * above / below, 100 * abs(above - below) / below)
        if below and kind == COUNT:
            yield above / below


def _across(amount: Quantity, other: Quantity) -> Iterator[float]:
    """What an amount gives with a count or a duration: a price times a count, a rate times a time."""
    value, by = amount.values[0], other.values[0]
    if amount.per:
        if other.dimension == amount.per[0]:
            yield value * by / amount.per[1]
    elif other.dimension == "time":
        # Without a unit of the rate: by the hour, as most are; or an amount spread over hours or days.
        yield value * by / HOUR
        yield from (value / (by / unit) for unit in (HOUR, 24 * HOUR) if by)
    elif _kind(other) == COUNT or other.dimension == "month":
        yield value * by
        yield from (value / by,) if by else ()
    if other.dimension == "percent":
        yield from (value * by / 100, value * (1 + by / 100), value * (1 - by / 100))


def _close(one: float, two: float, tolerance: float) -> bool:
    return abs(one - two) <= tolerance * max(abs(one), abs(two))


def _reach(value: float, tolerance: float) -> float:
    """How far from a value another may lie and be close to it; a little too far, never too little."""
    return abs(value) * tolerance / (1.0 - tolerance) * (1.0 + 1e-9) + 1e-12


class Pool:
    """Numbers to look others up in, by what decides on tolerance, each group in order of value."""

    def __init__(self, numbers: Iterable[Quantity]) -> None:
        groups: dict[tuple[bool, float], list[tuple[float, Quantity]]] = {}
        for number in dict.fromkeys(numbers):
            for value in number.values:
                groups.setdefault((number.approximate, number.step), []).append((value, number))
        self._groups = [(*key, sorted(entries, key=_value)) for key, entries in groups.items()]

    def has(self, number: Quantity) -> bool:
        """Whether one of them is the same (``same_quantity``)."""
        for approximate, step, entries in self._groups:
            slack = max(number.step, step) if number.step != step else 0.0
            tolerance = ABOUT if number.approximate or approximate else EXACT
            for value in number.values:
                reach = max(slack * (1.0 + 1e-9), _reach(value, tolerance))
                position = bisect_left(entries, value - reach, key=_value)
                while position < len(entries) and entries[position][0] <= value + reach:
                    if same_quantity(number, entries[position][1]):
                        return True
                    position += 1
        return False


def _value(entry: tuple[float, Quantity]) -> float:
    return entry[0]
