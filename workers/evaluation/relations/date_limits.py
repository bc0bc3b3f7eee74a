"""Compare on which side of a day or time something lies: "by 10 May" and "no later than 10 May", not "after 10 May"."""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.facts.dates import Date, read_dates
from workers.evaluation.facts.units import MONTHS
from workers.evaluation.text.words import content_words, stem

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""
SHARED = 0.6
"""Share of the claim's other words that the sentence has."""

_UP_TO = r"by|until|till|before|no later than|not later than|on or before|up to|at (?:the )?latest(?: on| at| by)?"
_FROM = r"after|from|no (?:earlier|sooner) than|not (?:earlier than|before|until)|since|as of|starting(?: on| at| from)?|at (?:the )?earliest(?: on| at)?|only (?:from|after)|on or after"
_SIDE = re.compile(rf"\b(?:(?P<start>{_FROM})|(?P<end>{_UP_TO}))\s(?:the\s)?(?=\d|[^\W\d_]+\s\d)", re.IGNORECASE)
_BEHIND = re.compile(r"^[^.;]{0,12}?\bat the (?:(?P<end>latest)|(?P<start>earliest))\b", re.IGNORECASE)
_DENIAL = re.compile(
    r"\b(?:not(?! (?:later|earlier|before|until))|no(?! (?:later|earlier|sooner))|never|cannot|\w+n['’]t|closed|closes?|ends?|ended|expires?|clos(?:ed|ing)"
    r"|forbidden|prohibited|except|without|late(?:r)? (?:ones|submissions|applications))\b",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[^\W\d_]{3,}")
_MONTHS = frozenset(map(stem, MONTHS))


def is_side_kept(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if the evidence places the matter of a claim on the other side of its day or time.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if the claim has no such limit, if the evidence has both sides or none, or if either denies something:
        nothing after ten and quiet from ten on are the same.
    """
    claim = claim[:MAX_TEXT]
    own = list(_sides(claim))
    if len(own) != 1 or _DENIAL.search(claim):
        return None
    ((date, is_end),) = own
    words = _words(f"{question} {claim}") - _words(question) or _words(claim)
    found = set[bool]()
    for sentence in sentences:
        sentence = sentence[:MAX_TEXT]
        sides = {side for other, side in _sides(sentence) if other == date}
        if not sides:
            continue
        if _DENIAL.search(sentence) or len(words & content_words(sentence)) < SHARED * len(words):
            return None
        found |= sides
    return False if found == {not is_end} else None


def _sides(text: str) -> Iterator[tuple[Date, bool]]:
    """Yield each day or time that has a side, with whether it is the end."""
    for match in _SIDE.finditer(text):
        rest = text[match.end() : match.end() + 24]
        dates, _ = read_dates(rest)
        if dates:
            is_end = match["end"] is not None
            behind = _BEHIND.search(rest[4:])
            yield dates[0], is_end if behind is None else behind["end"] is not None


def _words(text: str) -> frozenset[str]:
    return content_words(" ".join(_WORDS.findall(text))) - _MONTHS
