"""Compare a limit with one that the evidence states as a noun: "up to 4 g per day" over "the daily maximum is 3 grams"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from workers.evaluation.facts.calculation.arithmetic import same_dimension, same_quantity
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words, kept_for_sentences, key_of

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""
MAX_FIGURE = 24
"""Length of the text behind the noun in which its figure is read, code points."""

_RATES = {
    "hourly": ("time", 3600.0),
    "daily": ("time", 86400.0),
    "weekly": ("time", 604800.0),
    "monthly": ("month", 1.0),
    **dict.fromkeys(("annual", "yearly"), ("month", 12.0)),
}
_LIMIT = PrefilteredPattern(
    r"(?:\b(?P<rate>hourly|daily|weekly|monthly|annual|yearly)\s)?(?:\w+\s)?\b(?P<noun>maximum|max|limit|ceiling|minimum|min)\b(?! (?:depth|height|speed|power|temperature))"
    r"(?:\s(?!is\b|are\b|and\b)\w+){0,4}?(?:\s(?:is|are)|:)\s",
    re.IGNORECASE,
)
"""A noun for a limit up to its figure; the greatest depth of a lake is no limit."""


def is_maximum_kept(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return whether a claim has the limit that the evidence states for the same unit and time.

    Args:
        claim: the claim, or the short answer.
        sentences: the evidence.

    Returns:
        ``None`` if the claim sets not exactly one limit, or the evidence states none of its kind.
    """
    own = [number for number in read_details(claim[:MAX_TEXT]).quantities if number.bound] or list(_stated(claim))
    if len(own) != 1:
        return None
    (limit,) = own
    words = content_words(claim[:MAX_TEXT]) - content_words(limit.written)
    known = [
        other
        for sentence in sentences
        for other in _stated(sentence)
        # A limit without a time of its own may be that of something else.
        if (other.per or words & content_words(sentence))
        and other.bound == limit.bound
        and other.per == limit.per
        and other.is_unit == limit.is_unit
        and same_dimension(other.dimension, limit.dimension)
    ]
    bare = replace(limit, bound=0)
    if not known or any(same_quantity(bare, replace(other, bound=0)) for other in known):
        return True if known else None
    # A figure that stands elsewhere may be the limit of somebody else.
    stated = (number for sentence in sentences for number in read_details(sentence[:MAX_TEXT]).quantities)
    is_of_others = any(same_quantity(replace(bare, per=None), replace(other, bound=0, per=None)) for other in stated)
    return None if is_of_others else False


@kept_for_sentences
def _stated(sentence: str) -> tuple[Quantity, ...]:
    return tuple(_read(sentence[:MAX_TEXT]))


def _read(sentence: str) -> Iterator[Quantity]:
    for match in _LIMIT.finditer(sentence):
        figures = read_details(sentence[match.end() : match.end() + MAX_FIGURE]).quantities
        if figures:
            per = _RATES[key_of(match["rate"])] if match["rate"] else figures[0].per
            yield replace(figures[0], bound=1 if key_of(match["noun"]).startswith("min") else -1, per=per)
