"""Find figures that are the sum or the difference of the values of several things, given to things with another value.

"The warranty is 24 months on laptops, 12 months on batteries" makes no warranty of 36 months on batteries, and none of
12 months more: the claim names one of the two things alone, and no calculation. "The flat with its utilities costs 950
euros" names both, and "the hall has 540 seats" neither of "the stalls" and "the balcony". A claim, or its question, with
a word for a calculation is left alone. Of several things that a claim names, amounts add up; speeds, temperatures and
periods of validity do not.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import NamedTuple

from workers.evaluation.budget import spend
from workers.evaluation.facts.calculation.arithmetic import DEGREES, EXACT
from workers.evaluation.facts.calculation.named_calculations import names_difference
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.sentence_pieces import AGGREGATES, Piece, read_pieces, told_stems, values_of
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.verb_forms import is_verb, verb_stem
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
    r"\W*(?P<word>on|for|in|at|of|from|to|auf|für|in|im|am|bei|beim|von|vom|pour|sur|en|au|aux|para|por|al|nel|nella|per|voor)\s",
    re.IGNORECASE,
)
_AND = re.compile(r"\s(?:and|or|und|oder|et|ou|y|o|e|en)\s(?=(?:[^\W\d]{2,8}\s)?\d)", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_PHRASE = re.compile(r"\w[\w'’-]*")

FOR_EACH = re.compile(
    r"\b(?:each|every|apiece|respectively|jeweils|jede[rsnm]?|chacune?|chaque|cada|ognuno|ciascuno)\b", re.IGNORECASE
)
"""Words that give an amount to each of several things."""
_HOW_MUCH = re.compile(r"\b(?:how (?:much|many)|wie ?viele?)\b", re.IGNORECASE)
_BESIDE = re.compile(
    r"\b(?:off|on top|upgrad\w*|rebate|bonus|premium|advantage|benefit|range\w*|wait\w*|break|pause|delay\w*|late[r]?|early|earlier"
    r"|overtime|excess|shortfall|abschlag|vorteil|spanne|pause|verspätung|remise|rabais|retard|avantage|retraso|ventaja)\b",
    re.IGNORECASE,
)
"""Words of things that are the difference of two values."""
_NOT_ADDED = frozenset(("km/h", *DEGREES))
"""Dimensions in which several things have nothing together."""
_STATES = re.compile(
    r"\b(?:guarant\w*|warrant\w*|notice|valid\w*|expir\w*|retention|retain\w*|kept|age[ds]?|old|deadline|interval|interest|tax|vat|rate|discount|duty|levy"
    r"|garanti\w*|\w*frist\w*|gültig\w*|alter|zins\w*|steuer\w*|rabatt|préavis|validité|taux|taxe|plazo|interés|impuesto)\b",
    re.IGNORECASE,
)
"""Words for times and shares that each of several things has for itself."""
_MARKS = re.compile(r"\b(?:(?:1[5-9]|20)\d\d|old|long|last|next)\b", re.IGNORECASE)
_LETTER = re.compile(r"(?<=\w )[B-HJ-Z]\b")
"""Words and letters that tell things apart and are no words of a sentence otherwise: "in 2022", "the old pump"."""


class Holder(NamedTuple):
    """Hold a value and the words of the thing that it belongs to.

    Attributes:
        value: the value.
        words: stems.
        last: stem of the word before the value, often a verb that the other things share: "earn 3 points, others 2".
    """

    value: Quantity
    words: frozenset[str]
    last: str


class Group(NamedTuple):
    """Hold the things with values of a kind in one sentence, and all words of the sentence."""

    holders: tuple[Holder, ...]
    words: frozenset[str]

    def of(self, dimension: str) -> "Group":
        """Return the group without values of other dimensions: cars are not added to passengers."""
        alike = tuple(each for each in self.holders if each.value.dimension in (dimension, ""))
        return self if len(alike) == len(self.holders) else Group(alike, self.words)


class Claimed(NamedTuple):
    """Hold a figure of a claim, and what the claim says of it.

    Attributes:
        value: the figure, which no source states.
        words: stems of the words of its clause and of the topic.
        own: those of the claim alone, without verbs.
        text: plain text of topic and claim.
    """

    value: Quantity
    words: frozenset[str]
    own: frozenset[str]
    text: str


def combines_others(claimed: Claimed, groups: Sequence[Group]) -> bool:
    """Return true if a figure combines the values of things that the claim does not name, or that do not add up."""
    value, text = claimed.value, claimed.text
    if value.bound or value.approximate or claimed.words & AGGREGATES or read_details(text).is_total:
        return False
    spend(len(groups))
    groups = [alike for each in groups if len((alike := each.of(value.dimension)).holders) > 1]
    words = claimed.words | _marks(text)
    if not _JOINED.search(text) and any(_is_sum(value, words, each.holders) for each in groups):
        return True
    if _DIFFERENCE.search(text) or _BESIDE.search(text) or names_difference(_HOW_MUCH.sub(" ", text)):
        return False
    known = (each for each in groups if claimed.own <= each.words)
    return any(
        _is_difference(value, words, each.holders) or (not _JOINED.search(text) and _is_wrong_sum(claimed, words, each))
        for each in known
    )


def _named(words: frozenset[str], holders: Sequence[Holder]) -> tuple[list[float], list[float]]:
    """Return the values of the things that a claim names, and of the others; none if a thing has no words of its own."""
    shared = frozenset.intersection(*(each.words for each in holders))
    own = [each.words - shared - {each.last} or each.words - shared for each in holders]
    if not all(own):
        return [], []
    is_named = [bool(each & words) for each in own]
    amounts = [each.value.values[0] for each in holders]
    return (
        [amount for amount, named in zip(amounts, is_named, strict=True) if named],
        [amount for amount, named in zip(amounts, is_named, strict=True) if not named],
    )


def _is_sum(value: Quantity, words: frozenset[str], holders: Sequence[Holder]) -> bool:
    """Return true for the value of the only thing that a claim names plus that of another one."""
    named, others = _named(words, holders)
    if len(named) != 1:
        return False
    return _is_one_of(value, [*(named[0] + other for other in others), sum(named) + sum(others)])


def _is_difference(value: Quantity, words: frozenset[str], holders: Sequence[Holder]) -> bool:
    """Return true if a claim names one thing, and its figure is the difference of two values."""
    named, others = _named(words, holders)
    return len(named) == 1 and _is_one_of(value, [abs(one - two) for one, two in combinations([*named, *others], 2)])


def _is_wrong_sum(claimed: Claimed, words: frozenset[str], group: Group) -> bool:
    """Return true for the sum of other things than those that a claim names, or of things that have no sum."""
    named, others = _named(words, group.holders)
    if not named:
        return False
    if _is_one_of(claimed.value, [sum(named)]):
        has_no_sum = claimed.value.dimension in _NOT_ADDED or (
            claimed.value.dimension in ("time", "month", "percent") and _STATES.search(claimed.text)
        )
        return len(named) > 1 and bool(has_no_sum or FOR_EACH.search(claimed.text))
    return _is_one_of(claimed.value, [one + two for one, two in combinations([*named, *others], 2)])


def _is_one_of(value: Quantity, amounts: Sequence[float]) -> bool:
    return any(abs(value.values[0] - each) <= EXACT * abs(each) for each in amounts)


def _marks(text: str) -> frozenset[str]:
    return frozenset(map(str.lower, _MARKS.findall(text))) | frozenset(_LETTER.findall(text))


def groups_of(sentences: Sequence[HeldSentence], kind: str) -> list[Group]:
    """Return the things with values of a kind where a sentence, or two of them one after the other, has several."""
    spend(len(sentences))
    return [each for each in _groups(sentences, kind) if len(each.holders) > 1]


def _groups(sentences: Sequence[HeldSentence], kind: str) -> Iterator[Group]:
    """Yield the things with values of a kind in each sentence, and those of two sentences one after the other."""
    held = [
        (
            each.number,
            Group(
                ()
                if any(_DIFFERENCE.search(piece.text) for piece in each.pieces)
                else tuple(_holders(each.pieces, kind)),
                frozenset().union(*(piece.words | piece.classes for piece in each.pieces)),
            ),
        )
        for each in sentences
    ]
    yield from (group for _, group in held)
    for (number, first), (following, second) in pairwise(held):
        if following == number + 1 and len(first.holders) == len(second.holders) == 1:
            yield Group((*first.holders, *second.holders), first.words | second.words)


def _holders(pieces: Sequence[Piece], kind: str) -> Iterator[Holder]:
    marked = [part for each in pieces for part in _parts(each, kind)][:MAX_HOLDERS]
    first_words = [_words_before(piece, kind) for piece in marked]
    # "24 months on laptops and 12 months on batteries": what stands behind the values tells the things apart.
    is_gapped = not all(first_words)
    openings = {match["word"].lower() for each in marked if (match := _PREPOSITION.match(each.text))}
    shared: frozenset[str] = frozenset()
    for piece, before in zip(marked, first_words, strict=True):
        values = [each for each in values_of(piece, kind) if isinstance(each, Quantity)]
        if len({each.dimension for each in values}) != len(values):
            continue
        # "The warranty on laptops lasts 24 months, on batteries 12 months": the phrase behind the same word tells them apart.
        phrase = next(filter(None, (_phrase_behind(word, piece.text) for word in openings)), frozenset())
        own = phrase or (not is_gapped and piece.subject) or piece.words
        if not before and not phrase:
            own |= shared
        shared = before or shared
        words = own | piece.classes | _marks(piece.text)
        yield from (Holder(value, words, _word_before(value, piece)) for value in values)


def _parts(piece: Piece, kind: str) -> Sequence[Piece]:
    """Return a piece, or one part for each of several values: "200 in 2022 and 250 in 2023". The subject is in each."""
    values = values_of(piece, kind)
    if len(frozenset(each.dimension for each in values if isinstance(each, Quantity))) == len(values):
        return [piece] if values else []
    parts = [part for text in _AND.split(piece.text) for part in read_pieces(text)]
    if len(parts) != len(values) or any(len(values_of(part, kind)) != 1 for part in parts):
        return [piece]
    shared = _words_before(piece, kind)
    return [replace(part, subject=part.words | shared) for part in parts]


def _words_before(piece: Piece, kind: str) -> frozenset[str]:
    """Return the stems of the words before the first value, which also hold for a part without a subject after it."""
    first = next((each.written for each in values_of(piece, kind) if isinstance(each, Quantity)), "")
    codes = frozenset(word for word in piece.words if " " in word)  # "Grinder 5"
    return told_stems(piece.text.partition(first)[0]) | codes if first else frozenset()


def _word_before(value: Quantity, piece: Piece) -> str:
    """Return the stem of the word in small letters before a value, or an empty text."""
    word = _WORD.findall(piece.text.partition(value.written)[0])[-1:]
    return verb_stem(word[0]) if word and word[0].islower() else ""


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
