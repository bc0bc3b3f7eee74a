"""Compare numbers and derive numbers from other numbers.

Claims and evidence can contain hundreds of numbers. Numbers are therefore sorted and looked up within their tolerance
instead of compared pair by pair.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations, permutations
from itertools import product as all_of
from math import inf
from typing import NamedTuple

from schemas.grounding import Operation
from workers.evaluation.facts.numbers.quantity import PLACE, Quantity

EXACT = 1e-6
"""Relative difference below which two numbers are equal (floating point error only)."""
DERIVED = 0.005
"""The same for a calculated number, which is usually rounded."""
ABOUT = 0.1
"""The same if one number is marked as approximate."""
MAX_INPUTS = 8
"""Maximum number of inputs of a derivation; chance matches grow with its square."""
DEGREES = frozenset(("degree", "celsius", "fahrenheit"))
"""Dimensions of temperature."""
CENT = "cent"
"""Dimension of an amount in cents, in whole units of a currency that the text does not name."""
WITH_CENTS = frozenset(("usd", "eur", "gbp", "chf"))
"""Currencies of which an amount in cents may be."""
NOUN = "noun:"
"""Beginning of the dimension of a number with a noun: "25 students"."""
LEAST_BARE = 100
"""Least number without a unit that has the unit of the number before it: "500,000 euros, of which 320,000 are spent"."""
MAX_PRICED = 6
"""Most numbers of which sums of products and proportions are tried."""
COUNT = "count"
"""Kind of all numbers without a unit; they can be added."""
ROUGH = 0.45
"""Relative difference up to which one unit of time stands for a duration: "one hour" for 40 minutes."""
HOUR = 3600.0
"""Seconds."""
CALENDAR = 0.02
"""Relative difference of amounts in months and days that are the same, since months differ in length."""
_DAYS = {"time": 1 / 86400.0, "month": 365.25 / 12}
"""Days in the base unit of a rate."""


def same_quantity(first: Quantity, second: Quantity) -> bool:
    """Return true if two numbers are equal up to rounding and unit conversion."""
    if first.is_unit and second.is_unit and not same_dimension(first.dimension, second.dimension):
        return False
    if any(
        one.dimension == "percent" and not any(map(str.isdigit, one.written)) and two.dimension.startswith(NOUN)
        for one, two in ((first, second), (second, first))
    ):
        return False  # a quarter of the students are not 25 students
    if any(
        one.dimension == "month" and two.dimension.startswith(NOUN) and one.face not in one.values
        for one, two in ((first, second), (second, first))
    ):
        return False  # ten years, which are 120 months, are not 120 visitors
    if first.dimension and second.dimension and first.dimension.startswith(PLACE) != second.dimension.startswith(PLACE):
        return False  # page 36 is neither 36 months nor 36 seats
    tolerance = ABOUT if first.approximate or second.approximate else EXACT
    # "0.8 h" for 47 minutes and "3.2M" for 3,241,000 are rounded; 47 and 48 minutes differ.
    is_rounded = first.step != second.step
    coarsest = _coarsest(first, second)
    return any(
        (
            is_rounded
            and abs(one - two) <= max(_precision(one, first.step), _precision(two, second.step))
            and abs(one - two) <= coarsest * max(abs(one), abs(two))
        )
        or _close(one, two, tolerance)
        for one in first.values
        for two in second.values
    )


def restates(claimed: Quantity, told: Quantity) -> bool:
    """Return true if a claimed number is one of the evidence, unless it is more exact.

    "3.2 million" restates 3,241,000, and "3.4 million" is not said by "3 million". Two sources that say so still agree
    (``same_quantity``).
    """
    if not same_quantity(claimed, told):
        return False
    if claimed.step >= told.step:
        return True
    tolerance = ABOUT if claimed.approximate or told.approximate else EXACT
    return any(
        abs(one - two) <= _precision(one, claimed.step) or _close(one, two, tolerance)
        for one in claimed.values
        for two in told.values
    )


def _coarsest(first: Quantity, second: Quantity) -> float:
    """Return the relative difference up to which one number is the other in round figures.

    "Two days" are 44 hours and not 36, but 36 are "less than two days". "An hour" is said of less exact times, but half a day is not a day.
    """
    if first.dimension not in ("time", "month") or first.bound or second.bound:
        return inf
    coarse = max(first, second, key=lambda each: each.step)
    return ABOUT if abs(coarse.face) >= 2 else ROUGH


def _precision(value: float, step: float) -> float:
    """Return the step of a value; 0 for the other reading of a number, which the step does not belong to: "0.3" is 30 %."""
    return step if not value or step <= abs(value) else 0.0


def same_dimension(one: str, two: str) -> bool:
    """Return true if two dimensions are equal; plain degrees match Celsius and Fahrenheit, cents any currency with cents."""
    return (
        one == two
        or (one in DEGREES and two in DEGREES and "degree" in (one, two))
        or (CENT in (one, two) and bool(WITH_CENTS & {one, two}))
    )


def satisfies(value: Quantity, bound: Quantity) -> bool:
    """Return true if a number satisfies a bound ("at least 500"); a bound satisfies another if it is stricter."""
    if value.bound * bound.bound < 0:
        return False
    return any(bound.bound * (one - two) >= -EXACT * abs(two) for one in value.values for two in bound.values)


class Derivation(NamedTuple):
    """Describe the calculation that derives a number from other numbers.

    Attributes:
        operation: name of the calculation.
        inputs: positions of the input numbers, in the order of the calculation.
    """

    operation: Operation
    inputs: tuple[int, ...]


def derive(
    number: Quantity, inputs: Sequence[Quantity], *, only_sums: bool = False, is_mean: bool = False
) -> Derivation | None:
    """Derive a number from others as a sum, difference, product, ratio, share, change or mean.

    Dimensions must match: money is money plus money, a rate times a duration (47 min at
    $3,000/h are $2,350) or a price times a count; a percentage is a ratio of two numbers of one
    kind. Only the first eight inputs are tried.

    Args:
        number: the number in question.
        inputs: numbers that it may be derived from.
        only_sums: accept sums only, because the number is called a total.
        is_mean: accept means, because the number is called one; 15 is by chance the mean of 10 and 20.

    Returns:
        The calculation whose result is the smallest within the tolerance; ``None`` if there is none.
    """
    inputs = _in_currency(inputs[:MAX_INPUTS], number)
    for place, other in enumerate(inputs):
        if _is_same_rate(number, other):
            return Derivation("ratio", (place,))
    results = _results(tuple(inputs), number.dimension, number.is_unit, only_sums, is_mean)
    tolerance = DERIVED * 4 if number.approximate else DERIVED
    for target in number.values:
        if abs(target) < 10 and not only_sums:
            continue  # Small numbers can be derived from almost any inputs.
        reach = _reach(target, tolerance)
        position = bisect_left(results, target - reach, key=_result)
        while position < len(results) and results[position][0] <= target + reach:
            if _close(target, results[position][0], tolerance):
                return results[position][1]
            position += 1
    return None


def _in_currency(inputs: Sequence[Quantity], number: Quantity) -> Sequence[Quantity]:
    """Return the inputs with amounts in cents as amounts of the currency of a number."""
    if number.dimension not in WITH_CENTS or not any(each.dimension == CENT for each in inputs):
        return inputs
    return [replace(each, dimension=number.dimension) if each.dimension == CENT else each for each in inputs]


def _is_same_rate(number: Quantity, other: Quantity) -> bool:
    """Return true if two amounts are one amount in two units of time: "$620 a month" and "$7,440 a year"."""
    if not number.per or not other.per or number.per == other.per or _kind(number) != _kind(other):
        return False
    if number.per[0] not in _DAYS or other.per[0] not in _DAYS:
        return False
    days, other_days = number.per[1] * _DAYS[number.per[0]], other.per[1] * _DAYS[other.per[0]]
    # A month has 28 to 31 days, and a year 52 weeks and a day.
    exact = number.per[0] == other.per[0]
    tolerance = max(DERIVED if exact else CALENDAR, DERIVED * 4 if number.approximate else 0.0)
    return any(_close(value, given * days / other_days, tolerance) for value in number.values for given in other.values)


def is_derived(
    number: Quantity,
    inputs: Sequence[Quantity],
    *,
    only_sums: bool = False,
    is_compared: bool = False,
    is_mean: bool = False,
) -> bool:
    """Return true if a number can be derived from others, also in two steps; see :func:`derive`.

    Args:
        number: the number in question.
        inputs: numbers that it may be derived from.
        only_sums: accept sums only, because the number is called a total.
        is_compared: accept differences below 10, because the number is called one.
        is_mean: accept means, because the number is called one.
    """
    if derive(number, inputs, only_sums=only_sums, is_mean=is_mean) is not None:
        return True
    few = _in_currency(list(dict.fromkeys(inputs)), number)
    if len(few) > MAX_PRICED:
        return False
    named = [*(_differences(number, few) if is_compared else ()), *(_means(number, few) if is_mean else ())]
    if number.dimension != "percent" and any(_is_result(number, value) for value in named):
        return True
    if abs(number.values[0]) < 10:
        return False
    if any(_is_result(number, value) for value in _sums_of_products(number, few)):
        return True
    if only_sums:
        return False
    if any(_is_result(number, value) for value in _proportions(number, few)):
        return True
    measured = [_with_unit_of(number, other) for other in few]
    return measured != few and derive(number, measured) is not None


def _is_result(number: Quantity, value: float) -> bool:
    return any(_close(target, value, DERIVED * 4 if number.approximate else DERIVED) for target in number.values)


def _differences(number: Quantity, inputs: Sequence[Quantity]) -> Iterator[float]:
    same = [other.values[0] for other in inputs if _kind(other) == _kind(number)]
    yield from (abs(one - two) for one, two in combinations(same, 2))
    if number.dimension == "month":
        # "Tom is 42 and his sister is 37" tells ages without a unit.
        bare = [other.values[0] for other in inputs if not other.dimension]
        yield from (12.0 * abs(one - two) for one, two in combinations(bare, 2))
    if _kind(number) == COUNT:
        yield from (one / two for one in same for two in same if two)


def _means(number: Quantity, inputs: Sequence[Quantity]) -> Iterator[float]:
    """Yield the mean of all numbers of one kind."""
    same = [other.values[0] for other in inputs if _kind(other) == _kind(number)]
    if len(same) > 1:
        yield sum(same) / len(same)


def _sums_of_products(number: Quantity, inputs: Sequence[Quantity]) -> Iterator[float]:
    """Yield what several things cost together: "8 adults at $15, 4 children at $10"."""
    amounts = [other for other in inputs if other.is_unit and other.dimension == number.dimension]
    counts = [other.values[0] for other in inputs if _kind(other) == COUNT]
    for one, two in combinations(amounts, 2):
        for first, second in all_of((*counts, 1.0), repeat=2):
            if (first, second) != (1.0, 1.0):
                yield first * one.values[0] + second * two.values[0]


def _proportions(number: Quantity, inputs: Sequence[Quantity]) -> Iterator[float]:
    """Yield the rule of three: 60 litres at 6 litres for each 100 km are enough for 1,000 km."""
    if not number.is_unit:
        return
    for own in inputs:
        if own.dimension != number.dimension:
            continue
        others = [each for each in inputs if each is not own and each.is_unit and each.dimension != number.dimension]
        for one, two in permutations(others, 2):
            if one.dimension == two.dimension and two.values[0]:
                yield own.values[0] * one.values[0] / two.values[0]


def _with_unit_of(number: Quantity, other: Quantity) -> Quantity:
    if number.is_unit and not other.is_unit and not other.dimension and abs(other.values[0]) >= LEAST_BARE:
        return replace(other, dimension=number.dimension, is_unit=True)
    return other


Step = tuple[float, Derivation]


def _result(step: Step) -> float:
    return step[0]


@lru_cache(maxsize=512)
def _results(inputs: tuple[Quantity, ...], dimension: str, is_unit: bool, only_sums: bool, is_mean: bool) -> list[Step]:
    """Return the results of calculations in a dimension, in order; keep the first calculation for each result."""
    kind = dimension if is_unit else COUNT
    values = {place: other.values[0] for place, other in enumerate(inputs) if _kind(other) == kind}
    first: dict[float, int] = {}
    for place, value in values.items():
        first.setdefault(value, place)
    steps = [
        *_sums(list(values.items()), is_mean),
        *_sums([(place, value) for value, place in first.items()], is_mean),
    ]
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


def _sums(values: Sequence[tuple[int, float]], is_mean: bool) -> Iterator[Step]:
    """Yield the total, the sums of two values, and the mean where it is asked for."""
    places = tuple(place for place, _ in values)
    if len(values) > 1:
        total = sum(value for _, value in values)
        yield total, Derivation("sum", places)
        if is_mean:
            yield total / len(values), Derivation("mean", places)
    for (one, first), (two, second) in combinations(values, 2):
        yield first + second, Derivation("sum", (one, two))


def _within(inputs: Sequence[Quantity], one: int, two: int, kind: str) -> Iterator[Step]:
    """Yield the results in a given kind that two numbers of one kind give."""
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
    """Yield the products of an amount with a count or a duration: a price times a count, a rate times a time."""
    amount, other = inputs[one], inputs[two]
    value, by = amount.values[0], other.values[0]
    product, ratio = Derivation("product", (one, two)), Derivation("ratio", (one, two))
    if amount.per:
        if other.dimension == amount.per[0]:
            yield value * by / amount.per[1], product
    elif other.dimension == "time":
        # A rate without a unit of time is per hour, like most; otherwise the amount is spread over hours or days.
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
    """Return an upper bound of the distance within which another value counts as close; never too small."""
    return abs(value) * tolerance / (1.0 - tolerance) * (1.0 + 1e-9) + 1e-12


class Pool:
    """Index numbers for lookup, grouped by the properties that decide on tolerance and sorted by value."""

    def __init__(self, numbers: Iterable[Quantity]) -> None:
        groups: dict[tuple[str, bool, float], list[tuple[float, Quantity]]] = {}
        self._extremes: dict[str, tuple[float, float]] = {}
        for number in dict.fromkeys(numbers):
            kind = number.dimension if number.is_unit else COUNT
            for value in number.values:
                groups.setdefault((kind, number.approximate, number.step), []).append((value, number))
            self._extend(number)
        self._groups: dict[str, list[tuple[bool, float, list[tuple[float, Quantity]]]]] = {}
        for (kind, approximate, step), entries in groups.items():
            self._groups.setdefault(kind, []).append((approximate, step, sorted(entries, key=_value)))

    def has(self, number: Quantity) -> bool:
        """Return true if one of the numbers is the same (``same_quantity``)."""
        return self._has(number, same_quantity)

    def restates(self, number: Quantity) -> bool:
        """Return true if a claimed number is one of these numbers of the evidence, and not more exact (``restates``)."""
        return self._has(number, restates)

    def _has(self, number: Quantity, is_same: Callable[[Quantity, Quantity], bool]) -> bool:
        # A number without a unit may be the same as one with any unit.
        kinds = (*_alike(number.dimension), COUNT) if number.is_unit else tuple(self._groups)
        return any(self._is_in(number, group, is_same) for kind in kinds for group in self._groups.get(kind, ()))

    def count(self, dimension: str) -> int:
        """Return how many different numbers of a dimension there are."""
        values = (
            value for kind in _alike(dimension) for _, _, entries in self._groups.get(kind, ()) for value, _ in entries
        )
        return len(frozenset(values))

    def measures(self, number: Quantity) -> bool:
        """Return true if one of the numbers has the same dimension."""
        return any(kind in self._extremes for kind in _alike(number.dimension))

    def satisfy(self, bound: Quantity) -> bool:
        """Return true if one of the numbers has the same dimension and satisfies a bound (``satisfies``)."""
        for kind in _alike(bound.dimension):
            highest, lowest = self._extremes.get(kind, (-inf, inf))
            if any(
                (highest if bound.bound > 0 else -lowest) - bound.bound * value >= -EXACT * abs(value)
                for value in bound.values
            ):
                return True
        return False

    def _extend(self, number: Quantity) -> None:
        """Keep the highest number that is not an upper bound, and the lowest that is not a lower bound."""
        highest, lowest = self._extremes.get(number.dimension, (-inf, inf))
        if number.bound >= 0:
            highest = max(highest, *number.values)
        if number.bound <= 0:
            lowest = min(lowest, *number.values)
        self._extremes[number.dimension] = highest, lowest

    @staticmethod
    def _is_in(
        number: Quantity,
        group: tuple[bool, float, list[tuple[float, Quantity]]],
        is_same: Callable[[Quantity, Quantity], bool],
    ) -> bool:
        approximate, step, entries = group
        slack = max(number.step, step) if number.step != step else 0.0
        tolerance = ABOUT if number.approximate or approximate else EXACT
        for value in number.values:
            reach = max(slack * (1.0 + 1e-9), _reach(value, tolerance))
            position = bisect_left(entries, value - reach, key=_value)
            while position < len(entries) and entries[position][0] <= value + reach:
                if is_same(number, entries[position][1]):
                    return True
                position += 1
        return False


def _alike(dimension: str) -> tuple[str, ...]:
    """Return the dimensions that are the same as one (``same_dimension``)."""
    if dimension == "degree":
        return tuple(DEGREES)
    if dimension == CENT:
        return (CENT, *WITH_CENTS)
    if dimension in WITH_CENTS:
        return (dimension, CENT)
    return (dimension, "degree") if dimension in DEGREES else (dimension,)


def _value(entry: tuple[float, Quantity]) -> float:
    return entry[0]
