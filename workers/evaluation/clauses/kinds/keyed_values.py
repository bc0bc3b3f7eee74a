"""Compare values that a sentence gives for other values: "18 kg for 60 cm, 24 kg for 80 cm"."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.facts.calculation.arithmetic import same_quantity
from workers.evaluation.facts.forms.plain_forms import plain_forms
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.text_details import MAX_LENGTH, read_details
from workers.evaluation.text.words import kept_for_sentences

LEAST_PAIRS = 2
"""Least number of pairs of a sentence that are a list of values."""
_LINK = re.compile(r"\s?(?:for|at|up to|für|bei|pour|para|per|voor|bij)\s?(?:an?\s|the\s|up to\s)?", re.IGNORECASE)

Pair = tuple[Quantity, Quantity]
"""A value and the value that it is given for."""


def is_keyed_value_right(claim: str, topic: str, sentences: Sequence[str]) -> bool | None:
    """Return whether a claim has the value that the evidence gives for the size, weight or time which it or its topic names.

    Args:
        claim: the claim.
        topic: the question that it answers, or an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if the evidence has no such list, or the claim no value of it, or one that it denies or bounds.
    """
    told = read_details(claim).quantities
    if DENIED.search(claim) or any(each.bound for each in told):
        return None
    asked = (*told, *read_details(topic).quantities)
    for sentence in sentences:
        pairs = _pairs(sentence)
        keys = [pair for pair in pairs if any(same_quantity(pair[1], each) for each in asked)]
        values = [each for each in told if any(same_quantity(each, value) for value, _ in pairs)]
        if len(keys) == 1 and len(values) == 1:
            return same_quantity(values[0], keys[0][0])
    return None


@kept_for_sentences
def _pairs(sentence: str) -> tuple[Pair, ...]:
    found = tuple(_read(sentence[:MAX_LENGTH]))
    return found if len(found) >= LEAST_PAIRS and len({key.dimension for _, key in found}) == 1 else ()


def _read(sentence: str) -> Iterator[Pair]:
    """Yield the values with a unit that stand before another one and a word such as "for"."""
    text, placed, position = plain_forms(sentence), list[tuple[int, int, Quantity]](), 0
    for quantity in read_details(sentence).quantities:
        if (start := text.find(quantity.written, position)) >= 0:
            position = start + len(quantity.written)
            placed.append((start, position, quantity))
    for (_, end, value), (start, _, key) in pairwise(placed):
        if value.dimension != key.dimension and key.is_unit and value.is_unit and _LINK.fullmatch(text, end, start):
            yield value, key
