"""Distinguish what a whole has from what one of its parts has: "the whole course costs 35 euros" over "a lesson costs 35"."""

import re
from collections.abc import Sequence

from workers.evaluation.facts.amounts_of_each import amounts_of_each, is_form
from workers.evaluation.facts.calculation.arithmetic import same_dimension, same_quantity
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.text.words import content_words

MAX_TEXT = 300
"""Longest claim that is read, code points."""
_ALL = re.compile(r"\b(?:in (?:all|total)|altogether|together|combined)\b", re.IGNORECASE)
_WHOLE = re.compile(rf"{_ALL.pattern}|\b(?:whole|entire|complete|full)\b", re.IGNORECASE)
_EACH = re.compile(r"\b(?:each|every|per|apiece|single|one)\b", re.IGNORECASE)
_ONE = re.compile(r"\ban?\s((?:[^\W\d_]+\s)?[^\W\d_]+)", re.IGNORECASE)


def is_of_whole(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return false if the figure that a claim has for a whole is what the evidence has for each of its several parts.

    Args:
        claim: the claim, or the short answer.
        sentences: the evidence, those of one source in order.

    Returns:
        ``None`` if the claim names no whole, or the parts, or has another figure.
    """
    claim = claim[:MAX_TEXT]
    own = read_details(claim)
    if len(own.quantities) != 1 or not _WHOLE.search(claim) or _EACH.search(claim):
        return None
    (value,) = own.quantities
    # "The tickets cost 12.50 euros in total" is about all, "a ticket costs 12.50 euros in total" and "the full ticket"
    # are about one.
    named = content_words(" ".join(_ONE.findall(claim))) if _ALL.search(claim) else own.words
    parts = [
        part
        for part in amounts_of_each(tuple(sentences))
        if same_dimension(part.amount.dimension, value.dimension)
        and part.amount.is_unit == value.is_unit
        and not any(is_form(part.noun, word) for word in named)
    ]
    is_of_part = any(same_quantity(part.amount, value) for part in parts)
    return False if is_of_part and len({part.amount for part in parts}) == 1 else None
