"""Answer questions for yes or no that days of the week decide: "Is it open on Mondays?" over "Tuesday to Sunday"."""

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
_CLOSED = re.compile(r"\b(?:closed|closes?|shut)\b(?! (?:at|by)\b)", re.IGNORECASE)


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
    best, found = 0, set[bool]()
    for piece in (piece for text in sentences for piece in _PIECE.split(text)):
        days = _days(piece)
        shared = len(topic & content_words(piece)) + bool(topic & _OPENING and content_words(piece) & _OPENING)
        if days is None or not shared or shared < best:
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
