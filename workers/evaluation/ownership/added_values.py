"""Find figures that are the sum of the value of a claim's subject and the value of another thing.

"The warranty is 24 months on laptops, 12 months on batteries" makes no warranty of 36 months on batteries: the claim
names one of the two things alone. "The flat with its utilities costs 950 euros" names both, and "the hall has 540
seats" neither of "the stalls" and "the balcony". A claim, or its question, with a word for a total is left alone.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from workers.evaluation.budget import spend
from workers.evaluation.facts.calculation.arithmetic import EXACT
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.sentence_pieces import AGGREGATES, Piece, kind_of, told_stems, values_of
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.verb_forms import is_verb
from workers.evaluation.ownership.held_values import HeldSentence

MAX_HOLDERS = 8
"""Maximum number of things of one sentence whose values are added up."""
_JOINED = re.compile(
    r"\b(?:with|including|incl|plus|besides|along|by|until|after|once|reach\w*|arriv\w*|left|ready|finish\w*|start\w*|so far|since|then|whole|entire|everything|altogether|add\w*|sums?|mit|inklusive|zusammen|insgesamt|beide\w*|gesamt\w*|tota\w+|ensemble|les deux|en tout|insieme|complessiv\w+|entramb\w+|junt[oa]s|ambos|samen|totaal|razem|łącznie|samt|avec|compris|con|incluido)\b",
    re.IGNORECASE,
)
"""Words of claims whose value may include that of another thing, or of an earlier time or way."""
_DIFFERENCE = re.compile(
    r"\b(?:another|additional\w*|extra|further|surcharge|supplement|adds?|zusätzlich\w*|weitere[nr]?|aufpreis|zuschlag"
    r"|suppl[ée]ment\w*|de plus|en plus|adicional\w*|suplemento)\b"
    r"|\d\S*\s(?:\w+\s){0,3}(?:more|mehr|más)\b|\d\S*\s(?:\w+\s)?(?!after\b|under\b)[^\W\d_]{3,}er\b",
    re.IGNORECASE,
)
"""A value that is added to that of another thing by its source: "the double room costs 25 euros more"."""
_PREPOSITION = re.compile(
    r"\W*(?P<word>on|for|in|at|of|from|to|auf|für|in|bei|von|pour|sur|en|para|por)\s", re.IGNORECASE
)
_PHRASE = re.compile(r"\w[\w'’-]*")


class _Holder(NamedTuple):
    """Hold a value and the words of the thing that it belongs to."""

    value: Quantity
    words: frozenset[str]


def adds_another(value: Quantity, words: frozenset[str], text: str, sources: Sequence[Sequence[HeldSentence]]) -> bool:
    """Return true if a figure is the value of the thing that a claim names plus the value of one that it does not name.

    Args:
        value: a figure of the claim that no source states.
        words: stems of the claim and of its topic.
        text: plain text of both.
        sources: the sentences of each source.
    """
    if value.bound or value.approximate or words & AGGREGATES or _JOINED.search(text) or read_details(text).is_total:
        return False
    spend(sum(map(len, sources)))
    return any(
        _is_sum(value, words, holders)
        for sentences in sources
        for holders in _groups(sentences, kind_of(value))
        if len(holders) > 1
    )


def _is_sum(value: Quantity, words: frozenset[str], holders: Sequence[_Holder]) -> bool:
    shared = frozenset.intersection(*(each.words for each in holders))
    things = [(each.value.values[0], each.words - shared) for each in holders if each.words - shared]
    named = [amount for amount, own in things if own & words]
    others = [amount for amount, own in things if not own & words]
    if len(named) != 1 or len(things) != len(holders):
        return False
    sums = [*(named[0] + other for other in others), sum(named) + sum(others)]
    return any(abs(value.values[0] - each) <= EXACT * abs(each) for each in sums)


def _groups(sentences: Sequence[HeldSentence], kind: str) -> Iterator[list[_Holder]]:
    """Yield the things with values of a kind in each sentence, and those of two sentences one after the other."""
    held = [
        (
            each.number,
            [] if any(_DIFFERENCE.search(piece.text) for piece in each.pieces) else [*_holders(each.pieces, kind)],
        )
        for each in sentences
    ]
    yield from (holders for _, holders in held)
    for (number, first), (following, second) in pairwise(held):
        if following == number + 1 and len(first) == len(second) == 1:
            yield [*first, *second]


def _holders(pieces: Sequence[Piece], kind: str) -> Iterator[_Holder]:
    marked = [each for each in pieces if values_of(each, kind)][:MAX_HOLDERS]
    for piece in marked:
        values = values_of(piece, kind)
        if len(values) != 1 or not isinstance(values[0], Quantity):
            continue
        # "The warranty on laptops lasts 24 months, on batteries 12 months": the phrase behind the same word tells them apart.
        openings = {match["word"].lower() for each in marked if (match := _PREPOSITION.match(each.text))}
        phrase = next(filter(None, (_phrase_behind(word, piece.text) for word in openings)), frozenset())
        yield _Holder(values[0], phrase or piece.subject or piece.words)


def _phrase_behind(word: str, text: str) -> frozenset[str]:
    """Return the stems of the words behind a preposition, up to a verb or a figure."""
    match = re.search(rf"\b{word}\s", text, re.IGNORECASE)
    if match is None:
        return frozenset()
    found: list[str] = []
    for each in _PHRASE.findall(text[match.end() :]):
        if each[0].isdigit() or (found and is_verb(each.lower())):
            break
        found.append(each)
    return told_stems(" ".join(found))
