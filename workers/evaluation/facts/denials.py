"""Compare denials that an exception, a condition or a contrast makes.

"Not unless invited" is "only if invited", and neither is "even without an invitation"; "in adults but not in infants" is
not "in infants but not in adults".
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from workers.evaluation.facts.antonyms import without_privative
from workers.evaluation.text.words import content_words, stem

MIN_SHARED = 2
"""Least number of words that a question shares with a contrast that answers it."""

_WORD = re.compile(r"[^\W_]+")
_NOT = r"\b(?:not|no|never|nobody|none|nothing|cannot|neither|nor|without|\w+n['’]t)\b"
_EXCEPTED = re.compile(
    rf"{_NOT}[^.;]{{0,150}}?\b(?:unless|except|until|without|before|other than|if not)\b", re.IGNORECASE
)
_RESTRICTED = re.compile(
    r"\b(?:only|solely|exclusively|unless|except|provided|as long as|must|needs?|requires?|required|once|after|on condition)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(_NOT, re.IGNORECASE)
_CONTRAST = re.compile(r"[,;]?\s(?:but|while|whereas|though|although|yet)\s|;\s|,\s(?=not\s)", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:only\s+(?:if|when|with|after|once|by|on|where)|unless|once|provided|as long as|so long as|until|on condition|must|requires?)\b",
    re.IGNORECASE,
)
_REGARDLESS = re.compile(
    r"\b(?:regardless of|irrespective of|no matter|whatever|whichever|whether or not|without|even (?:if|without|before|when|after|though))\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[,;.]\s|[.;]$")


def is_exception_of(claim: str, evidence: str) -> bool:
    """Return true if one text denies with an exception what the other allows with a restriction.

    Such a pair is no contradiction by its negation: "may not enter unless invited" and "may enter only if invited".
    """
    return any(
        _EXCEPTED.search(one) and _RESTRICTED.search(two) and not _EXCEPTED.search(two)
        for one, two in ((claim, evidence), (evidence, claim))
    )


def drops_condition(claim: str, evidence: str) -> bool:
    """Return true if a claim holds without a condition of the evidence: "even before the fee is paid" for "once it is paid"."""
    stated = _CONDITION.search(evidence)
    waived = _REGARDLESS.search(claim)
    if not stated or not waived or _REGARDLESS.search(evidence):
        return False
    condition = content_words(_CLAUSE_END.split(evidence[stated.end() :])[0])
    told = content_words(_CLAUSE_END.split(claim[waived.end() :])[0])
    return bool(condition & told) and len(condition & told) * 2 >= len(told)


def crosses_contrast(claim: str, evidence: str) -> bool:
    """Return true if a claim denies the affirmed side of a contrast of the evidence, and affirms the denied one."""
    own, theirs = _read_contrast(claim), _read_contrast(evidence)
    if own is None or theirs is None:
        return False
    crossed = own.affirmed & theirs.denied and own.denied & theirs.affirmed
    return bool(crossed) and not (own.affirmed & theirs.affirmed or own.denied & theirs.denied)


def answer_by_contrast(question: str, sentences: Iterable[str]) -> bool | None:
    """Return the answer to a question for yes or no about one side of a contrast; ``None`` if it is about neither.

    "Dogs are welcome in the garden but not in the dining room" answers no to "Are dogs allowed in the dining room?".
    """
    if _DENIED.search(question):
        return None
    asked = content_words(question)
    found = set()
    for contrast in filter(None, map(_read_contrast, sentences)):
        if len(asked & (contrast.affirmed | contrast.denied)) < MIN_SHARED:
            continue
        if contrast.denied and contrast.denied <= asked:
            found.add(False)
        elif contrast.affirmed_last in asked and not contrast.denied & asked:
            found.add(True)
    return found.pop() if len(found) == 1 else None


@dataclass(frozen=True, slots=True)
class _Contrast:
    """Hold the stems that only the affirmed and only the denied side of a contrast has, and the affirmed side's last."""

    affirmed: frozenset[str]
    denied: frozenset[str]
    affirmed_last: str


def _read_contrast(text: str) -> _Contrast | None:
    sides = [side for side in _CONTRAST.split(text) if content_words(side)]
    if len(sides) != 2:
        return None
    one, two = map(content_words, sides)
    denied = [
        bool(_DENIED.search(side)) or any(without_privative(word) in other for word in words)
        for side, words, other in zip(sides, (one, two), (two, one), strict=True)
    ]
    if denied[0] == denied[1]:
        return None
    affirmed, other, text = (one, two, sides[0]) if denied[1] else (two, one, sides[1])
    other = frozenset(word for word in other if without_privative(word) not in affirmed)
    told = [stem(word.lower()) for word in _WORD.findall(text)]
    last = next((word for word in reversed(told) if word in affirmed - other), "")
    return _Contrast(affirmed - other, other - affirmed, last)
