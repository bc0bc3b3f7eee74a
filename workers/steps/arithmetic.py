"""Whether numbers are the same, and whether one follows from others.

A claim with hundreds of numbers can meet evidence with hundreds more, so nothing here compares
each with each: numbers are sorted and looked up within their tolerance.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
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


def same_quantity(first: Quantity, second: Quantity) -> bool:
    """Whether two numbers are the same, up to rounding and units."""
    if first.is_unit and second.is_unit and first.dimension != second.dimension:
        return False
    tolerance = ABOUT if first.approximate or second.approximate else EXACT
    # "0.8 h" for 47 minutes and "3.2M" for 3,241,000 are rounded; 47 and 48 minutes differ.
    slack = max(first.step, second.step) if first.step != second.step else 0.0
    return any(abs(one - two) <= slack or _close(one, two, tolerance) for one in first.values for two in second.values)


def is_derived(number: Quantity, inputs: Sequence[Quantity]) -> bool:
    """Whether a number follows from two others: sum, difference, product, ratio or share.

    Durations count in hours as well, since rates are by the hour: 47 min at $3,000/h are $2,350.
    Only the first eight inputs are tried.
    """
    results = _results(tuple(inputs[:MAX_INPUTS]))
    tolerance = DERIVED * 4 if number.approximate else DERIVED
    for target in number.values:
        if abs(target) < 10:
            continue  # small numbers follow from almost anything
        reach = _reach(target, tolerance)
        position = bisect_left(results, target - reach)
        while position < len(results) and results[position] <= target + reach:
            if _close(target, results[position], tolerance):
                return True
            position += 1
    return False


@lru_cache(maxsize=256)
def _results(inputs: tuple[Quantity, ...]) -> list[float]:
    """What two of the numbers give, in order."""
    values = [value for other in inputs for value in _readings(other)]
    results: set[float] = set()
    for index, one in enumerate(values):
        for two in values[index + 1 :]:
            results |= {one + two, abs(one - two), one * two}
            results |= {one / two, 100 * one / two} if two else set()
            results |= {two / one, 100 * two / one} if one else set()
    return sorted(results)


def _readings(number: Quantity) -> tuple[float, ...]:
    if number.dimension == "time":
        return (number.values[0], number.values[0] / 3600)
    return number.values[:1]


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
