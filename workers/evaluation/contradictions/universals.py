"""Read which texts say the same of all things: "all survived" and "none died", "not all have one" and "some have none"."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from workers.evaluation.contradictions.antonyms import POLES, without_privative
from workers.evaluation.contradictions.cases import without_yes
from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words, stem

_ALL = PrefilteredPattern(r"\b(?:all|every|each|everyone|everybody|both)\b", re.IGNORECASE)
_NONE = PrefilteredPattern(r"\b(?:none|no\sone|nobody|no|neither|nor)\b", re.IGNORECASE)
_NOT_ALL = PrefilteredPattern(r"\bnot\s(?:all|every|each|everyone|everybody)\b", re.IGNORECASE)
_SOME = PrefilteredPattern(r"\bsome\b", re.IGNORECASE)
_EXCEPT = PrefilteredPattern(
    r"\b(?:except|excluding|apart\sfrom|other\sthan|but\s(?:for|one|two|three|the|a|an))\b", re.IGNORECASE
)
_ALL_BUT = PrefilteredPattern(
    r"\ball\sbut\s(?P<number>one|two|three|four|five|six|seven|eight|nine|ten|\d+)\b", re.IGNORECASE
)
_SHARES = re.compile(r"\b(?:all|every|each|everyone|everybody|both|none|no|nobody|neither|nor|some)\b", re.IGNORECASE)
_OF_TWO = PrefilteredPattern(r"\b(?:both|neither)\b", re.IGNORECASE)
_PIECE = re.compile(r"[,;.:]\s|\s(?:and|but|while|whereas)\s", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_SMALL = content_words("one two person people cannot")
_MUST = content_words("must")
"""A duty to close both is the prohibition to open either."""

MAX_LEFT = 2
"""Most further words of the evidence: a claim without them says more of all."""


@dataclass(frozen=True, slots=True)
class _Share:
    """Hold whether something is said of all, of none or not of all, and its words by their stems."""

    kind: Literal["all", "none", "not-all"]
    words: Mapping[str, str]


def says_same_of_all(claim: str, evidence: str) -> bool:
    """Return true if a claim says of all, of none or not of all what the evidence says so, or by the opposite word."""
    return any(_comparisons(claim, evidence)) or is_said_by_opposite(claim, evidence)


def is_said_by_opposites(claim: str, texts: Sequence[str]) -> bool:
    """Return true if one of the texts says a claim by the opposite; most evidence has no word for shares."""
    return bool(_SHARES.search(" ".join(texts))) and any(is_said_by_opposite(claim, text) for text in texts)


def is_said_by_opposite(claim: str, evidence: str) -> bool:
    """Return true for "none died" over "all survived", and for "two are closed" over "all but two are open"."""
    if not _SHARES.search(evidence):
        return False
    claim = without_yes(claim)
    return _is_remainder(claim, evidence) or any(is_same for is_same in _comparisons(claim, evidence, of_kinds=True))


def _comparisons(claim: str, evidence: str, *, of_kinds: bool = False) -> Iterator[bool]:
    """Yield whether each part of the evidence says the same; with ``of_kinds`` only parts of the other kind."""
    own = _read(without_yes(claim)) if _SHARES.search(claim) else None
    if own is None:
        return
    # Of "three were injured and nobody died" only the second part is said of all.
    pieces = [evidence] if _OF_TWO.search(evidence) else _PIECE.split(evidence)
    for share in filter(None, map(_read, pieces)):
        if not of_kinds or share.kind != own.kind:
            yield _is_same(own, share)


def _is_same(own: _Share, other: _Share) -> bool:
    further = own.words.keys() - other.words.keys()
    left = other.words.keys() - own.words.keys()
    if len(left) > len(further) + MAX_LEFT:
        return False
    if own.kind == other.kind:
        return bool(own.words) and not further
    if "not-all" in (own.kind, other.kind) or not further:
        return False
    return all(any(_are_opposite(own.words[one], other.words[two]) for two in left) for one in further - _MUST)


def _is_remainder(claim: str, evidence: str) -> bool:
    """Return true for "two are closed" and "two did not open" over "all but two are open"."""
    excepted = _ALL_BUT.search(evidence)
    if not excepted or not re.search(rf"\b{excepted['number']}\b", claim, re.IGNORECASE):
        return False
    own, other = _words(claim), _words(_ALL_BUT.sub(" ", evidence))
    further = own.keys() - other.keys() - content_words(excepted["number"])
    if not further:
        return len(DENIED.findall(claim)) == 1
    return not DENIED.search(claim) and all(
        any(_are_opposite(own[one], other[two]) for two in other.keys() - own.keys()) for one in further
    )


def _are_opposite(one: str, two: str) -> bool:
    return (
        without_privative(one) == two
        or without_privative(two) == one
        or any(
            row == other and side != other_side
            for row, side in POLES.get(one, ())
            for other, other_side in POLES.get(two, ())
        )
    )


def _read(text: str) -> _Share | None:
    if _EXCEPT.search(text):
        return None
    if _NOT_ALL.search(text):
        rest = _NOT_ALL.sub(" ", text)
        return None if DENIED.search(rest) else _Share("not-all", _words(rest))
    denials, universals = len(DENIED.findall(text)), len(_ALL.findall(text))
    if _SOME.search(text):
        return _Share("not-all", _words(_SOME.sub(" ", text))) if denials == 1 and not universals else None
    nones = len(_NONE.findall(text))
    if universals == 1 and not denials:
        return _Share("all", _words(_ALL.sub(" ", text)))
    return _Share("none", _words(text)) if nones and nones == denials and not universals else None


def _words(text: str) -> dict[str, str]:
    """Return the content words of a text by their stems."""
    kept = content_words(_NONE.sub(" ", text)) - _SMALL
    return {stem(word): word for word in _lowered(text) if stem(word) in kept}


def _lowered(text: str) -> Iterator[str]:
    return (word.lower() for word in _WORD.findall(text))
