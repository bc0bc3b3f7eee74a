"""Exact details of much evidence, to look those of a claim up in: what of them is said nowhere?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workers.steps.arithmetic import Pool, is_derived, same_dimension, satisfies
from workers.steps.checks import Details, agrees, periods_of
from workers.steps.quantities import Quantity
from workers.steps.words import stem


class KnownDetails:
    """Numbers, dates, identifiers and names of texts taken together.

    Args:
        texts: what ``read_details`` found in each.
    """

    def __init__(self, texts: Iterable[Details]) -> None:
        texts = list(texts)
        self.numbers = Pool(number for text in texts for number in (*text.quantities, *text.implied))
        self.dates = list(dict.fromkeys(date for text in texts for date in text.dates))
        self.periods = list(dict.fromkeys(period for text in texts for period in periods_of(text)))
        self.codes = frozenset(code for text in texts for code in text.codes)
        self.words = frozenset(word for text in texts for word in (*text.words, *text.names))


@dataclass(frozen=True, slots=True)
class MissingDetails:
    """How many details of a claim are known nowhere.

    Attributes:
        numbers: quantities that are neither written nor within a bound nor follow from others.
        dates: dates and periods.
        names: names and identifiers.
    """

    numbers: int = 0
    dates: int = 0
    names: int = 0

    def __bool__(self) -> bool:
        return bool(self.numbers or self.dates or self.names)


def missing_details(own: Details, known: KnownDetails, near: Sequence[Quantity]) -> MissingDetails:
    """Count the details of a claim that no evidence has.

    Args:
        own: those of the claim.
        known: those of all evidence.
        near: numbers of the evidence nearest to the claim, from which others may follow.
    """
    dates = [any(agrees(date, other) for other in known.dates) for date in own.dates]
    periods = [any(first <= end and start <= last for start, end in known.periods) for first, last in own.periods]
    codes = [code in known.codes for code in own.codes]
    names = [name in known.words or stem(name) in known.words for name in own.names]
    return MissingDetails(
        _known_numbers(own.quantities, known.numbers, near).count(False),
        dates.count(False) + periods.count(False),
        codes.count(False) + names.count(False),
    )


def _known_numbers(claimed: Sequence[Quantity], pool: Pool, near: Sequence[Quantity]) -> list[bool]:
    """For each number of a claim whether the evidence has it, keeps its bound or lets it follow.

    A duration that another number of the claim follows from is an assumption, and no news.
    """
    rates = {"time", "month", *(number.per[0] for number in near if number.per)}
    known = [pool.has(number) or any(_keeps(other, number) for other in near) for number in claimed]
    for place, number in enumerate(claimed):
        if known[place] or not near:
            continue
        if is_derived(number, near):
            known[place] = True
            continue
        for other, assumed in enumerate(claimed):
            if other != place and assumed.dimension in rates and is_derived(number, [*near, assumed]):
                known[place] = known[other] = True
    return known


def _keeps(other: Quantity, number: Quantity) -> bool:
    return bool(number.bound) and same_dimension(number.dimension, other.dimension) and satisfies(other, number)
