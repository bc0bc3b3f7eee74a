"""Find items that a claim adds to a list of its evidence: "Windows, macOS and Linux" over "Windows and macOS"."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from workers.evaluation.text.parser import parse
from workers.evaluation.text.words import STOP_WORDS, stem

if TYPE_CHECKING:
    from spacy.tokens import Token

MAX_TEXT = 300
"""Longest claim that is read, code points."""
MIN_LISTED = 2
"""Fewest other items that one sentence of the evidence has."""
MAX_ITEM = 3
"""Most words of an item within a list."""
KEY = 5
"""Letters by which words are compared with those of the evidence: "photography" and "photographs"."""

_LIST = re.compile(r",\s[^,;.]{2,40}(?:,|\s)\s?(?:and|or|as well as)\s")
"""At least three items."""
_JOINT = re.compile(r",\s(?:and\s|or\s|as well as\s)?|\s(?:and|or|as well as)\s", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_OPEN = re.compile(
    r"\b(?:other|others|more|many|several|various|similar|etc|so on|even|all|some|any|much)\b", re.IGNORECASE
)


def adds_item(claim: str, sentences: Sequence[str], evidence: Iterable[frozenset[str]]) -> bool:
    """Return true if a claim lists a thing of which no evidence has a word, beside items of one sentence.

    Args:
        claim: plain text, English.
        sentences: the evidence nearest to the claim.
        evidence: stems of each piece of all evidence.
    """
    claim = claim[:MAX_TEXT]
    if not _LIST.search(claim):
        return False
    items = list(_items(claim))
    if len(items) <= MIN_LISTED:
        return False
    known = {word[:KEY] for words in evidence for word in words}
    strange = [
        place for place, item in enumerate(items) if item and not any(stem(word)[:KEY] in known for word in item)
    ]
    if len(strange) != 1 or any(map(str.isdigit, "".join(items[strange[0]]))):
        return False  # figures are compared by value
    others = [frozenset(map(stem, item)) for item in _beside(items, strange[0])]
    if len(others) < MIN_LISTED or not any(_has_list(sentence, others) for sentence in sentences):
        return False
    return _is_thing(frozenset(items[strange[0]]), parse(claim))


def _beside(items: Sequence[tuple[str, ...]], place: int) -> Iterator[tuple[str, ...]]:
    """Yield the items before and behind one, as far as no part lies between that is none."""
    yield from takewhile(bool, reversed(items[:place]))
    yield from takewhile(bool, items[place + 1 :])


def _items(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the content words of each item; of the first and last part, which go on, those beside the list."""
    parts = _JOINT.split(text)
    for place, part in enumerate(parts):
        words = _WORD.findall(part)
        told = [word for word in words if word.lower() not in STOP_WORDS]
        if not told or _OPEN.search(part):
            yield ()
        elif place == 0:
            yield (told[-1].lower(),) if words[-1] == told[-1] else ()
        elif place < len(parts) - 1:
            yield tuple(word.lower() for word in told) if len(words) <= MAX_ITEM else ()
        else:
            yield _first_item(words)


def _first_item(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words up to the one that goes on with the sentence: "parents" of "parents have access"."""
    found: list[str] = []
    for word in words:
        if word.lower() not in STOP_WORDS:
            found.append(word.lower())
        elif found:
            break
    return tuple(found) if len(found) < MAX_ITEM else tuple(found[:1])


def _has_list(sentence: str, items: Sequence[frozenset[str]]) -> bool:
    """Return true if parts beside each other of a sentence have all these items, and the sentence names no open rest."""
    if _OPEN.search(sentence):
        return False
    parts = [frozenset(map(stem, map(str.lower, _WORD.findall(part)))) for part in _JOINT.split(sentence)]
    places = [next((place for place, part in enumerate(parts) if item <= part), None) for item in items]
    found = sorted(place for place in places if place is not None)
    return len(found) == len(items) == len(set(found)) and found[-1] - found[0] == len(found) - 1


def _is_thing(words: frozenset[str], tokens: "Iterable[Token]") -> bool:
    """Return true if words name a thing: they have a noun and no verb."""
    kinds = {token.pos_ for token in tokens if token.lower_ in words}
    return bool(kinds & {"NOUN", "PROPN"}) and "VERB" not in kinds
