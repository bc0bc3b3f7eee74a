"""Compare figures of a numbered period: "28 days in the first year" over "28 days; in the first year 24"."""

import re
from collections.abc import Sequence

from workers.evaluation.facts.calculation.arithmetic import same_quantity
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import key_of

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""

_PERIOD = PrefilteredPattern(
    r"\b(?P<number>first|second|third|fourth|fifth|last|final|initial)\s(?P<noun>year|month|week|day|hour|quarter|term|season|night|half"
    r"|round|attempt|offence|offense|violation|reminder|child|adult|car|bag|item)\b(?!\sof\s(?:the|each|every)\s(?:year|month|week|day)\b)",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[^.!?\s]\s)[A-Z][^\W\d_]+")


def is_period_right(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return false if the evidence has another figure of a claim's kind for the period that the claim names.

    Args:
        claim: the claim, or the short answer.
        sentences: the evidence.

    Returns:
        ``None`` unless the claim has one figure and one numbered period, and the evidence one figure of its kind there.
    """
    period = _period_of(claim)
    own = _figures(claim)
    if period is None or len(own) != 1:
        return None
    (figure,) = own
    known = [
        other
        for sentence in sentences
        if _period_of(sentence) == period and not _names(sentence) - _names(claim)
        for other in _figures(sentence)
        if (other.dimension, other.is_unit, other.per) == (figure.dimension, figure.is_unit, figure.per)
    ]
    return same_quantity(figure, known[0]) if len(known) == 1 and not (known[0].bound or figure.bound) else None


def _period_of(text: str) -> tuple[str, str] | None:
    found = {(key_of(match["number"]), key_of(match["noun"])) for match in _PERIOD.finditer(text[:MAX_TEXT])}
    return found.pop() if len(found) == 1 else None


def _names(text: str) -> frozenset[str]:
    """Return the words with a capital within a text: a sentence with another name is about somebody else."""
    return frozenset(_NAME.findall(text[:MAX_TEXT]))


def _figures(text: str) -> list[Quantity]:
    return [number for number in read_details(text[:MAX_TEXT]).quantities if number.dimension != "ordinal"]
