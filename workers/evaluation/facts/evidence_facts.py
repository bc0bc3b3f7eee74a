"""Index the exact details of all evidence and count the details of a claim that no evidence contains."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workers.evaluation.facts.calculation.arithmetic import MAX_INPUTS, Pool, is_derived, same_dimension
from workers.evaluation.facts.calculation.time_spans import spans_between
from workers.evaluation.facts.dates import DatePool, PeriodPool
from workers.evaluation.facts.numbers.quantity import PLACE, Quantity
from workers.evaluation.facts.text_details import Details, periods_of
from workers.evaluation.text.words import stem

SMALLEST_FIGURE = 10
"""Smallest number without a unit that an answer must have from its sources; "two ways" only counts what follows."""
UNCALCULATED = frozenset(("ratio", "ordinal"))
"""Dimensions whose numbers are stated and never calculated: results of games, floors."""


class KnownFacts:
    """Hold the numbers, dates, identifiers and names of several texts.

    Args:
        texts: details of each text; see ``read_details``.
    """

    def __init__(self, texts: Iterable[Details]) -> None:
        texts = list(texts)
        self.numbers = Pool(number for text in texts for number in (*text.quantities, *text.implied))
        self.faces = frozenset(number.face for text in texts for number in text.quantities)
        self.digits = frozenset(f"{face:g}" for face in self.faces)
        self.spans = Pool(span for text in texts for span in spans_between(text.dates))
        self.stated_dates = DatePool(date for text in texts for date in text.dates)
        self.dates = DatePool(date for text in texts for date in (*text.dates, *text.implied_dates))
        self.periods = PeriodPool(period for text in texts for period in periods_of(text))
        self.is_endless = any(text.is_endless for text in texts)
        self.codes = frozenset(code for text in texts for code in text.codes)
        self.words = frozenset(word for text in texts for word in (*text.words, *text.names))


@dataclass(frozen=True, slots=True)
class MissingDetails:
    """Count the details of a claim that no evidence contains.

    Attributes:
        numbers: quantities that the evidence does not contain, whose bounds it does not satisfy, and that cannot
            be derived from others.
        dates: dates and periods.
        names: names and identifiers.
        figures: the numbers and dates among them that answers do not add by themselves: those with a unit, of two
            digits or more, or endless.
    """

    numbers: int = 0
    dates: int = 0
    names: int = 0
    figures: int = 0


def missing_details(
    own: Details, known: KnownFacts, nearest: Sequence[Details], *, is_mean: bool = False
) -> MissingDetails:
    """Count the details of a claim that no evidence has.

    Args:
        own: details of the claim.
        known: details of all evidence.
        nearest: details of the nearest evidence, from whose numbers and dates others may be derived.
        is_mean: whether the question of the claim asks for a mean.
    """
    near = [
        number
        for each in nearest
        for number in (*each.quantities, *each.implied)
        if not number.dimension.startswith(PLACE)
    ]
    spans = Pool(spans_between([date for each in nearest for date in each.dates]))
    dates = [known.dates.agrees(date) for date in own.dates]
    periods = [known.periods.overlaps(period) for period in own.periods]
    codes = [code in known.codes for code in own.codes]
    names = [name in known.words or stem(name) in known.words for name in own.names]
    numbers = _known_numbers(own, known.numbers, near, spans, is_mean or own.is_mean)
    endless = own.is_endless and not known.is_endless
    unknown = [number for number, is_known in zip(own.quantities, numbers, strict=True) if not is_known]
    faces = {number.face for number in near}
    return MissingDetails(
        len(unknown) + endless,
        dates.count(False) + periods.count(False),
        codes.count(False) + names.count(False),
        sum(number.is_unit or (abs(number.face) >= SMALLEST_FIGURE and number.face not in faces) for number in unknown)
        + dates.count(False)
        + endless,
    )


def _known_numbers(own: Details, pool: Pool, near: Sequence[Quantity], spans: Pool, is_mean: bool) -> list[bool]:
    """Return for each number of a claim whether the evidence contains it, satisfies its bound or derives it.

    A duration from which another number of the claim can be derived is an assumption and does not count.
    """
    rates = {"time", "month", *(number.per[0] for number in near if number.per)}
    nearest = Pool(near)
    distinct = list(dict.fromkeys(own.quantities))
    known = {
        number
        for number in distinct
        if pool.restates(number) or (number.bound and nearest.satisfy(number)) or (number.is_unit and spans.has(number))
    }
    sides = frozenset(number.face for number in near)
    known |= {
        number
        for number in distinct
        if number.dimension == "ratio"
        and not any(other.dimension == "ratio" for other in near)
        and sides.issuperset(divmod(number.face, 1000))
    }  # a record has the goals of each side in a field of its own
    assumable = [number for number in distinct if number.dimension in rates][:MAX_INPUTS]
    counts = [number for number in distinct if not number.is_unit][:MAX_INPUTS]
    for number in distinct if near else ():
        if number in known:
            continue
        if is_one_unit(number) and not any(same_dimension(number.dimension, other.dimension) for other in near):
            known.add(number)  # "in one day"
            continue
        if number.face in own.ends or number.dimension in UNCALCULATED:
            continue  # an end of a range is stated and not calculated: 25 is no sum of 10 and 15 in "$10 to $25"
        if is_derived(number, near, is_compared=own.is_compared, is_mean=is_mean):
            known.add(number)
            continue
        if number.is_unit and any(is_derived(number, [*near[:MAX_INPUTS], each]) for each in counts if each != number):
            known.add(number)  # "Four tickets cost 36 euros."
            continue
        for assumed in assumable:
            if assumed != number and is_derived(number, [*near[:MAX_INPUTS], assumed]):
                known |= {number, assumed}
    return [number in known for number in own.quantities]


def is_one_unit(number: Quantity) -> bool:
    """Return true for one of a unit without a figure, as in "in one day"."""
    return number.face == 1.0 and number.approximate and not number.bound
