"""Compare on which side of a day or time something lies: "by 10 May" and "no later than 10 May", not "after 10 May".

What was finished before 2010 was not finished in 2010.
"""

import re
from collections.abc import Sequence

from workers.evaluation.contradictions.values.time_sides import Side, date_at, time_sides
from workers.evaluation.facts.dates import Date
from workers.evaluation.facts.units import MONTHS
from workers.evaluation.text.words import content_words, stem

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""
SHARED = 0.6
"""Share of the claim's other words that the sentence has."""

_IN = re.compile(r"\b(?:in|on|during)\s(?=\d|[A-Z])")
_DENIAL = re.compile(r"\b(?:not|no|never|cannot|\w+n['’]t)\b", re.IGNORECASE)
_WORDS = re.compile(r"[^\W\d_]{3,}")
_MONTHS = frozenset(map(stem, MONTHS))
_EXCLUSIVE = ("before", "after")


def is_side_kept(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if the evidence places the matter of a claim on the other side of its day or time.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if the claim has no such limit, or if the evidence has both sides or none.
    """
    claim = claim[:MAX_TEXT]
    words = _words(f"{question} {claim}") - _words(question) or _words(claim)
    own = time_sides(claim)
    if not own and not _DENIAL.search(claim):
        return _is_within(claim, words, sentences)
    if len(own) != 1:
        return None
    ((date, is_end, _, _),) = own
    found = set[bool]()
    for sentence in sentences:
        told = time_sides(sentence)
        sides = {side for other, side, _, _ in told if other == date}
        if not sides and _is_other_month(own[0], told):
            # "Runs from March" says more than "does not run before April".
            sides = {not is_end} if words <= content_words(sentence) else set()
        if not sides:
            continue
        if len(words & content_words(sentence)) < SHARED * len(words):
            return None
        found |= sides
    return False if found == {not is_end} else None


def _is_other_month(own: Side, told: Sequence[Side]) -> bool:
    """Return true if the evidence has one other month for the same side."""
    if len(told) != 1:
        return False
    (date, is_end, *_), (other, side, *_) = own, told[0]
    return is_end is side and date != other and date == Date(month=date.month) and other == Date(month=other.month)


def _is_within(claim: str, words: frozenset[str], sentences: Sequence[str]) -> bool | None:
    """Return false if a claim says "in 2010" and the evidence "before 2010" or "after 2010"."""
    claimed = {date for date in (date_at(claim[match.end() :][:12]) for match in _IN.finditer(claim)) if date}
    if len(claimed) != 1:
        return None
    found = set[bool]()
    for sentence in sentences:
        sentence = sentence[:MAX_TEXT]
        if not words or len(words & content_words(sentence)) < SHARED * len(words):
            continue
        if any(date_at(sentence[match.end() :][:12]) in claimed for match in _IN.finditer(sentence)):
            return None
        found |= {
            preposition not in _EXCLUSIVE or is_denied
            for date, _, is_denied, preposition in time_sides(sentence)
            if date in claimed
        }
    return False if found == {False} else None


def _words(text: str) -> frozenset[str]:
    return content_words(" ".join(_WORDS.findall(text))) - _MONTHS
