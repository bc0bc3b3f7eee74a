"""Find claims that repeat a sentence of the evidence with another value: "A worker needs 16 GiB" over "needs 4 GiB".

A figure that follows from stated figures by some calculation is no error. A claim that names no calculation and repeats
a sentence tells what that sentence tells, so that its figure must be that of the sentence.
"""

import re
from collections.abc import Sequence

from workers.evaluation.facts.calculation.arithmetic import same_dimension, same_quantity, satisfies
from workers.evaluation.facts.calculation.named_calculations import names_calculation
from workers.evaluation.facts.calculation.time_spans import spans_between
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.text_details import Details, read_details
from workers.evaluation.facts.units import NUMBER_WORDS, SCALES, UNITS
from workers.evaluation.text.words import stem

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""
MIN_WORDS = 2
"""Least number of words besides the value that a claim and the sentence have in common, unless they are all words."""

_HOW_MUCH = re.compile(r"\bhow (?:much|many)\b", re.IGNORECASE)
_OF_VALUES = frozenset(map(stem, (*UNITS, *SCALES, *NUMBER_WORDS)))


def is_value_kept(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a sentence has all words of a claim with another value, and no sentence has the claim's value.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if the claim has not exactly one figure, names a calculation, or repeats no sentence with one figure
        of that kind.
    """
    claim = claim[:MAX_TEXT]
    own = read_details(claim)
    if len(own.quantities) != 1 or own.dates or names_calculation(f"{_HOW_MUCH.sub('', question)} {claim}"):
        return None
    (value,) = own.quantities
    words = _words(own)
    is_rough = value.approximate and not value.bound
    if not value.is_unit or is_rough or not words or read_details(question).quantities:
        return None
    known = [read_details(sentence[:MAX_TEXT]) for sentence in sentences]
    figures = [figure for each in known for figure in (*each.quantities, *each.implied, *spans_between(each.dates))]
    if any(same_quantity(value, figure) or _admits(figure, value) for figure in figures):
        return None
    alike = [each for each in known if words <= each.words and (len(words) >= MIN_WORDS or words == _words(each))]
    rivals = [_rivals(each, value) for each in alike]
    return False if any(len(each) == 1 for each in rivals) else None


def _words(details: Details) -> frozenset[str]:
    return frozenset(word for word in details.words if word not in _OF_VALUES and not word[0].isdigit())


def _rivals(details: Details, value: Quantity) -> list[Quantity]:
    """Return the figures of a kind; a rate in another unit of time is none."""
    return [
        figure
        for figure in details.quantities
        if figure.is_unit and same_dimension(figure.dimension, value.dimension) and figure.per == value.per
    ]


def _admits(figure: Quantity, value: Quantity) -> bool:
    """Return true if one of two figures of a kind is a bound that the other keeps: 8 seconds are "under 10 seconds"."""
    if not same_dimension(figure.dimension, value.dimension):
        return False
    return satisfies(value, figure) if figure.bound else bool(value.bound) and satisfies(figure, value)
