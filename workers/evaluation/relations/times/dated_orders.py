"""Compare which of two dated things came first: "built after the tower" over "built in 1887" and "the tower in 1903"."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from workers.evaluation.budget import spend
from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.units import MONTHS, NUMBER_WORDS, UNITS
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import KEPT_TEXTS, content_words, key_of, stem

MAX_TEXT = 300
"""Longest claim, question and sentence that are read, code points."""

_Day = tuple[int, int, int]
_BEGUN = content_words(
    """
    built build complete completed finish finished erected erect constructed founded founding established established opened
    opening open created launched launch released release published appeared appear came come dates date dated follow followed born started
    start began introduced inaugurated issued
    """
)
"""Verbs of the beginning of a thing, any of which may stand for another."""
_ORDER = PrefilteredPattern(
    r"^(?P<one>[^,;]{3,100}?)\s(?P<word>before|after|earlier\sthan|later\sthan)\s(?P<two>(?:the|its|his|her|[A-Z])[^,;]{2,80})",
    re.IGNORECASE,
)
_FIRST = PrefilteredPattern(
    r"\b(?P<word>first|earlier|earliest|older|oldest|last|later|latest|newer|newest|younger|youngest|more\srecent|most\srecent)(?=\s?(?:[,;:.?]|$))",
    re.IGNORECASE,
)
"""An order that stands for itself: "the first woman to climb it" may be the second of two things that are dated."""
_LATE = re.compile(r"^(?:last|later|latest|newer|newest|younger|youngest|more\srecent|most\srecent)$", re.IGNORECASE)
_WHICH = re.compile(r"^\W*(?:which|what|who)\b", re.IGNORECASE)
_PIECE = re.compile(r"[;.]\s|,\s|\s(?:and|but|while|whereas)\s", re.IGNORECASE)
_DATES_FROM = re.compile(r"\bdat(?:es|ed|ing)\s(?:back\s)?(?:from|to)\s(?=1\d{3}|20\d\d)", re.IGNORECASE)
_OF_TIMES = frozenset(map(stem, (*UNITS, *MONTHS, *NUMBER_WORDS, "exactly", "about", "also", "only", "first")))


def is_dated_order_right(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return whether the dates of the evidence give two things the order that a claim gives them.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` unless the evidence has one date for each of the two things; also for a right order of two things that
        the claim names, as it may give their distance in time.
    """
    claim, question = claim[:MAX_TEXT], question[:MAX_TEXT]
    if DENIED.search(claim):
        return None
    order = _ORDER.match(claim)
    asked = _FIRST.search(question) if not order and _WHICH.match(question) else None
    if order is None and asked is None:
        return None
    events = [event for sentence in sentences for event in _dated(sentence[:MAX_TEXT])]
    spend(len(events))
    if order is not None:
        one, two = _words(order["one"]), _words(order["two"])
        first, second = _day_of(one - two, two - one, events), _day_of(two - one, one - two, events)
        if first is None or second is None or _is_open(first, second):
            return None
        is_before = key_of(order["word"]).startswith(("before", "earlier"))
        return None if (first < second) == is_before else False
    return _is_first(claim, question, bool(asked and _LATE.match(asked["word"])), events)


_Event = tuple[frozenset[str], _Day]


def _is_first(claim: str, question: str, is_last: bool, events: Sequence[_Event]) -> bool | None:
    """Return whether the one of two dated things that a short answer names is the one that a question asks for."""
    if len(events) != 2 or (_FIRST.search(claim) and not _FIRST.search(question)):
        return None
    own = _words(_FIRST.sub(" ", claim)) - _BEGUN
    named = [event for event in events if own and own <= event[0]]
    others = [event for event in events if event not in named]
    if len(named) != 1 or _is_open(named[0][1], others[0][1]):
        return None
    return (named[0][1] > others[0][1]) == is_last


def _is_open(one: _Day, two: _Day) -> bool:
    """Return true if two dates have no order: a year and a month of it."""
    return all(first == second or not first or not second for first, second in zip(one, two, strict=True))


def _day_of(words: frozenset[str], others: frozenset[str], events: Sequence[_Event]) -> _Day | None:
    """Return the only date of the pieces of the evidence that speak of a thing and not of the other one."""
    thing, verbs = words - _BEGUN, words & _BEGUN
    days = {
        day
        for known, day in events
        if thing
        and thing <= known
        and not (others - _BEGUN) & known
        and (not verbs or verbs & known or known & _BEGUN or known == thing)
    }
    return days.pop() if len(days) == 1 else None


@lru_cache(maxsize=KEPT_TEXTS)
def _dated(sentence: str) -> tuple[_Event, ...]:
    return tuple(_read(sentence))


def _read(sentence: str) -> Iterator[_Event]:
    """Yield the words and the date of each part of a sentence that has one date with a year."""
    for piece in _PIECE.split(_DATES_FROM.sub("built in ", sentence)):
        dates = {(date.year, date.month or 0, date.day or 0) for date in read_details(piece).dates if date.year}
        if len(dates) == 1 and not DENIED.search(piece):
            ((year, month, day),) = dates
            yield _words(piece), (year, month, day)


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in content_words(text) if not word[0].isdigit() and word not in _OF_TIMES)
