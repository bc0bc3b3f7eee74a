"""Read what one of several things has, and how many there are: "each node has 32 GiB" and "four nodes"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from workers.evaluation.facts.calculation.arithmetic import NOUN
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.quantities import undated_quantities
from workers.evaluation.text.words import STOP_WORDS, stem

MAX_TEXT = 300
"""Longest sentence that is read, code points."""
MAX_FOUND = 12
"""Maximum number of amounts that are kept."""

_EACH = re.compile(
    r"\b(?:each(?: of (?:the|its|our) [\w-]{1,12})?|every|per|an?|one|single)\s(?:single\s)?(?P<noun>(?:[^\W\d_]+\s)?[^\W\d_]{3,})\b",
    re.IGNORECASE,
)
_APIECE = re.compile(r"\b(?:each|apiece)\b(?!\s[^\W\d_])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class OfEach:
    """Describe an amount of one thing.

    Attributes:
        noun: stem of the thing.
        amount: amount of one item.
        count: how many there are.
    """

    noun: str
    amount: Quantity
    count: float


@lru_cache(maxsize=256)
def amounts_of_each(texts: tuple[str, ...]) -> tuple[OfEach, ...]:
    """Return the amounts of things that are counted once in the sentences of a source.

    Args:
        texts: the sentences, in order.
    """
    numbers = [undated_quantities(text[:MAX_TEXT]) for text in texts]
    counts = [
        (each.dimension.removeprefix(NOUN), each.face)
        for found in numbers
        for each in found
        if each.dimension.startswith(NOUN) and each.face > 1 and not each.bound
    ][:MAX_FOUND]
    found: dict[OfEach, None] = {}
    for text, own in zip(texts, numbers, strict=True):
        for noun, amount in _amounts(text[:MAX_TEXT], own):
            alike = {count for name, count in counts if is_form(name, noun)}
            if len(alike) == 1 and not is_form(amount.dimension.removeprefix(NOUN), noun):
                found[OfEach(noun, amount, *alike)] = None
    return tuple(found)[:MAX_FOUND]


def is_form(one: str, other: str) -> bool:
    """Return true if two stems are forms of one word: "node" and "nod", "child" and "childr"."""
    shorter, longer = sorted((one, other), key=len)
    most = 2 if len(shorter) >= 4 else 1
    return one == other or (len(shorter) >= 3 and longer.startswith(shorter) and len(longer) - len(shorter) <= most)


def _amounts(text: str, numbers: Sequence[Quantity]) -> Iterator[tuple[str, Quantity]]:
    nouns = {stem(word) for match in _EACH.finditer(text) for word in match["noun"].lower().split()[-2:]} - STOP_WORDS
    of_one = [number for number in numbers if number.is_unit or number.face > 1]
    for noun in nouns:
        yield from ((noun, number) for number in of_one)
    if _APIECE.search(text):
        counted = [number for number in numbers if number.dimension.startswith(NOUN)]
        for number in counted[:1]:
            noun = number.dimension.removeprefix(NOUN)
            yield from ((noun, other) for other in of_one if other is not number)
