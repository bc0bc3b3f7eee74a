"""Whether numbers are the same, and whether one follows from others.

A claim with hundreds of numbers can meet evidence with hundreds more, so nothing here compares
each with each: numbers are sorted and looked up within their tolerance.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from schemas.grounding import Operation
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


class Derivation(NamedTuple):
    """How a number follows from others.

    Attributes:
        operation: what is done with them.
        inputs: their positions, in the order of the calculation.
    """

    operation: Operation
    inputs: tuple[int, ...]


def derive(number: Quantity, inputs: Sequence[Quantity], *, only_sums: bool = False) -> Derivation | None:
    """How a number follows from others: sum, difference, product, ratio, share, change or mean.

    Dimensions must come out right: money is money plus money, a rate times a duration (47 min at
    $3,000/h are $2,350) or a price times a count; a percentage is a ratio of two numbers of one
    kind. Only the first eight inputs are tried.

    Args:
        number: the number in question.
        inputs: those it may follow from.
        only_sums: whether it is called a total.

    Returns:
        The calculation whose result is the smallest within the tolerance; ``None`` if there is none.
    """
    results = _results(tuple(inputs[:MAX_INPUTS]), number.dimension, number.is_unit, only_sums)
    tolerance = DERIVED * 4 if number.approximate else DERIVED
    for target in number.values:
        if abs(target) < 10 and not only_sums:
            continue  # small numbers follow from almost anything
        reach = _reach(target, tolerance)
        position = bisect_left(results, target - reach, key=_result)
        while position < len(results) and results[position][0] <= target + reach:
            if _close(target, results[position][0], tolerance):
                return results[position][1]
            position += 1
    return None


def is_derived(number: Quantity, inputs: Sequence[Quantity], *, only_sums: bool = False) -> bool:
    """Whether a number follows from others; see :func:`derive`."""
    return derive(number, inputs, only_sums=only_sums) is not None


Step = tuple[float, Derivation]


def _result(step: Step) -> float:
    return step[0]


@lru_cache(maxsize=512)
def _results(inputs: tuple[Quantity, ...], dimension: str, is_unit: bool, only_sums: bool) -> list[Step]:
    """What the numbers give in a dimension, in order; of several ways to one result the first."""
    kind = dimension if is_unit else COUNT
    values = {place: other.values[0] for place, other in enumerate(inputs) if _kind(other) == kind}
    first: dict[float, int] = {}
    for place, value in values.items():
        first.setdefault(value, place)
    steps = [*_sums(list(values.items())), *_sums([(place, value) for value, place in first.items()])]
    if not only_sums:
        for one, two in combinations(range(len(inputs)), 2):
            if _kind(inputs[one]) == _kind(inputs[two]):
                steps += _within(inputs, one, two, kind)
            elif _kind(inputs[one]) == kind:
                steps += _across(inputs, one, two)
            elif _kind(inputs[two]) == kind:
                steps += _across(inputs, two, one)
    found: dict[float, Derivation] = {}
    for value, derivation in steps:
        found.setdefault(value, derivation)
    return sorted(found.items())


def _kind(number: Quantity) -> str:
    return number.dimension if number.is_unit else COUNT


def _sums(values: Sequence[tuple[int, float]]) -> Iterator[Step]:
    """Total, mean and sums of two."""
    places = tuple(place for place, _ in values)
    if len(values) > 1:
        total = sum(value for _, value in values)
        yield total, Derivation("sum", places)
        yield total / len(values), Derivation("mean", places)
    for (one, first), (two, second) in combinations(values, 2):
        yield first + second, Derivation("sum", (one, two))


def _within(inputs: Sequence[Quantity], one: int, two: int, kind: str) -> Iterator[Step]:
    """What two numbers of one kind give in a kind."""
    own = _kind(inputs[one])
    first, second = inputs[one].values[0], inputs[two].values[0]
    high, low = (one, two) if first >= second else (two, one)
    if own == kind:
        yield abs(first - second), Derivation("difference", (high, low))
    if own == kind == COUNT:
        yield first * second, Derivation("product", (one, two))
    for above, below in ((one, two), (two, one)):
        over, under = inputs[above].values[0], inputs[below].values[0]
        if under and kind == "percent":
            yield 100 * over / under, Derivation("share", (above, below))
            yield 100 * abs(over - under) / under, Derivation("change", (below, above))
        if under and kind == COUNT:
            yield over / under, Derivation("ratio", (above, below))


def _across(inputs: Sequence[Quantity], one: int, two: int) -> Iterator[Step]:
    """What an amount gives with a count or a duration: a price times a count, a rate times a time."""
    amount, other = inputs[one], inputs[two]
    value, by = amount.values[0], other.values[0]
    product, ratio = Derivation("product", (one, two)), Derivation("ratio", (one, two))
    if amount.per:
        if other.dimension == amount.per[0]:
            yield value * by / amount.per[1], product
    elif other.dimension == "time":
        # Without a unit of the rate: by the hour, as most are; or an amount spread over hours or days.
        yield value * by / HOUR, product
        yield from ((value / (by / unit), ratio) for unit in (HOUR, 24 * HOUR) if by)
    elif _kind(other) == COUNT or other.dimension == "month":
        yield value * by, product
        yield from ((value / by, ratio),) if by else ()
    if other.dimension == "percent":
        yield value * by / 100, Derivation("part", (one, two))
        yield value * (1 + by / 100), Derivation("increase", (one, two))
        yield value * (1 - by / 100), Derivation("decrease", (one, two))


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
