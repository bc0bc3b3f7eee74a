"""Compare days of the week on which something is so: "Is it open on Mondays?" over "Tuesday to Sunday"."""

import re
from collections.abc import Sequence

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.facts.dates import read_weekdays
from workers.evaluation.facts.units import WEEKDAYS
from workers.evaluation.text.words import content_words, stem, word_set

_EXCEPT = re.compile(r"\b(?:except|apart from|other than|excluding|but not)\b|,\s*not\b", re.IGNORECASE)
_DAILY = re.compile(r"\b(?:daily|every day|each day|all days|seven days a week|all week)\b", re.IGNORECASE)
_PIECE = re.compile(r"[;.]\s|,?\s(?:but|while|whereas)\s(?!not\b)|,\s(?=closed\b)", re.IGNORECASE)
_ALL = frozenset(range(7))
_DAYS = frozenset(map(stem, WEEKDAYS)) | frozenset(map(stem, word_set("day daily every week weekday weekend")))
_OPENING = frozenset(map(stem, word_set("open opening opens opened hours close closed closes times")))
_CLOSED = re.compile(r"\b(?:closed|closes?|shut)\b(?! (?:at|by)\b(?! (?:the )?weekend))", re.IGNORECASE)
_RECURRING = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days|every|each|weekends?|weekdays?|daily|open|opens|closed|closes)\b",
    re.IGNORECASE,
)
"""Words of a schedule; "on Monday" alone may be one day."""
_PAST = re.compile(r"\b(?:was|were|had|did|last|will|next)\b", re.IGNORECASE)


def is_day_right(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return whether something is so on the days that a statement names; ``None`` if the evidence does not decide it.

    Args:
        claim: a statement.
        sentences: the evidence.
    """
    if not read_weekdays(claim) or not _RECURRING.search(claim) or _PAST.search(claim) or _EXCEPT.search(claim):
        return None
    if not content_words(claim) & _OPENING:
        # "Closed on Mondays" says nothing of what the staff does.
        sentences = [text for text in sentences if not _CLOSED.search(text)]
    return answer_by_days(claim, [text for text in sentences if _has_subject(text, claim)])


def _has_subject(text: str, claim: str) -> bool:
    """Return true if the first words of a text that tell something are in a claim, or are of opening."""
    first = next(filter(None, (content_words(word) for word in text.split())), frozenset[str]())
    return bool(first & (content_words(claim) | _OPENING | _DAYS))


def answer_by_days(question: str, sentences: Sequence[str]) -> bool | None:
    """Return the answer that the days of the evidence give; ``None`` if the question or the evidence names none.

    A text that lists the days of something says that it is so on no other day. The piece of the evidence that shares
    most words with the question decides.

    Args:
        question: a question for yes or no.
        sentences: the evidence.
    """
    asked = read_weekdays(question)
    if not asked or DENIED.search(question):
        return None
    topic = content_words(question) - _DAYS
    best, found = (0, False), set[bool]()
    for piece in (piece for text in sentences for piece in _PIECE.split(text)):
        days = _days(piece)
        words = content_words(piece)
        count = len((topic - _OPENING) & words) + bool(topic & _OPENING and words & _OPENING)
        # "Closed on Mondays" is an exception from "open daily".
        shared = (count, not _DAILY.search(piece))
        if days is None or not count or shared < best:
            continue
        if shared > best:
            best, found = shared, set()
        turned = bool(DENIED.search(_EXCEPT.split(piece)[0])) != (
            bool(_CLOSED.search(question)) != bool(_CLOSED.search(piece))
        )
        if asked <= days:
            found.add(not turned)
        elif not asked & days and not turned:
            found.add(False)  # Of other days "closed on Mondays" says nothing.
    return found.pop() if len(found) == 1 else None


def _days(piece: str) -> frozenset[int] | None:
    told, *excepted = _EXCEPT.split(piece, maxsplit=1)
    days = _ALL if _DAILY.search(told) else read_weekdays(told)
    without = read_weekdays(excepted[0]) if excepted else frozenset()
    if _DAILY.search(told) and excepted and not without:
        return None  # "every day except 25 December"
    return (days - without) or None
