"""Read the case of which something is said: "only if accompanied", "unless the door is closed", "even if it snows"."""

import re
from dataclasses import dataclass

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words, key_of

MAX_TEXT = 300
"""Longest text that is read, code points."""

CASE = PrefilteredPattern(
    r"\b(?P<word>only\s(?:if|when|with|after|once|for|while|where)|unless|even\s(?:if|when|though)|if|when|provided|as\slong\sas)\s(?:that\s)?(?P<case>[^.;]+)",
    re.IGNORECASE,
)
"""Words that name a case."""
_OPENING = re.compile(r"\W*(?:yes|no)[,.:;]\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Case:
    """Hold a statement and its case.

    Attributes:
        word: "only", "unless", "even", "if" or empty.
        main: stems of the statement.
        case: those of its case.
        denials: numbers of denials in the statement and in the case.
    """

    word: str
    main: frozenset[str]
    case: frozenset[str]
    denials: tuple[int, int]


def is_same_case(claim: str, evidence: str) -> bool:
    """Return true for "is refunded unless you cancel late" and "is not refunded if you cancel late"."""
    own, other = read_case(without_yes(claim)), read_case(evidence)
    return (
        {own.word, other.word} == {"if", "unless"}
        and own.denials[1] == other.denials[1]
        and abs(own.denials[0] - other.denials[0]) == 1
        and bool(own.case)
        and own.case <= other.case
        and own.main <= other.main
    )


def read_case(text: str) -> Case:
    """Split a statement from its case."""
    text = text[:MAX_TEXT]
    match = CASE.search(text)
    if match is None:
        return Case("", content_words(text), frozenset(), (len(DENIED.findall(text)), 0))
    case, behind = match["case"], ""
    if not content_words(text[: match.start()]):
        # "Unless it is cancelled, the contract renews": the case stands first.
        case, _, behind = case.partition(", ")
    main = re.sub(r"\bcannot\b", "not", f"{text[: match.start()]} {behind}", flags=re.IGNORECASE)
    word = key_of(match["word"]).split()[0]
    word = {"when": "if", "provided": "only", "as": "only"}.get(word, word)
    return Case(word, content_words(main), content_words(case), (len(DENIED.findall(main)), len(DENIED.findall(case))))


def without_yes(claim: str) -> str:
    """Return a claim without "Yes," or "No," at its start."""
    return _OPENING.sub("", claim, count=1)
