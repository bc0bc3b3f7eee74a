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
_DIGIT = re.compile(r"\d")
_WHEN = re.compile(r"\b(?:when|(?:which|what) (?:week)?days?)\b", re.IGNORECASE)
_HELD = re.compile(
    r"\b(?:open|opens|opened|opening|hours|held|takes? place|runs?|operates?|available|serv\w+|deliver\w*|collect\w*)\b",
    re.IGNORECASE,
)
_OF_HELD = frozenset(map(stem, word_set("held take place run operate available serve delivered collected shut")))
_RESTED = re.compile(r"\b(?:we|they) rest\b|\b(?:rest day|day of rest|days? off)\b", re.IGNORECASE)
_CLOCK = re.compile(r"\d[:.]\d\d|\d\s?[ap]\.?m\b", re.IGNORECASE)
_SEASON = re.compile(
    r"\b(?:winter|summer|spring|autumn|season|holidays?|january|february|march|april|june|july|august|september|october"
    r"|november|december)\b",
    re.IGNORECASE,
)
_OWN = re.compile(r"\b(?:we|our|it|they|there)\b", re.IGNORECASE)
_STOP = re.compile(rf"{_PIECE.pattern}|,\s(?=(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b)", re.IGNORECASE)
_PAST = re.compile(r"\b(?:was|were|had|did|last|will|next)\b", re.IGNORECASE)


def is_day_asked(answer: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return whether a short answer names the days on which something is open or closed, as its question asks.

    Args:
        answer: days of the week and nothing else.
        question: a question without a figure for the days on which something is open, held, closed or not held.
        sentences: the evidence.

    Returns:
        ``None`` if the answer has some of the days only, or the evidence has days of several kinds.
    """
    named = read_weekdays(answer)
    is_other = bool(_DIGIT.search(question)) or not content_words(answer) <= _DAYS or not _WHEN.search(question)
    if not named or is_other or not (_CLOSED.search(question) or DENIED.search(question) or _HELD.search(question)):
        return None
    topic = content_words(question) - _DAYS - _OPENING - _OF_HELD
    texts = [text for text in sentences if read_weekdays(text) or _DAILY.search(text)]
    if any(map(_SEASON.search, texts)):
        return None
    own = [text for text in texts if topic & content_words(text) or _OWN.search(text)]
    is_named = any(topic & content_words(text) for text in own)
    opened, closed = _opened_and_closed([piece for text in (own if is_named else texts) for piece in _STOP.split(text)])
    if (not opened and not closed) or opened & closed:
        return None
    closed = closed or _ALL - opened
    is_closed = bool(_CLOSED.search(question)) != bool(DENIED.search(question))
    right, wrong = (closed, opened) if is_closed else (opened, closed)
    if named & wrong:
        return False
    return True if named == right else None


def _opened_and_closed(pieces: Sequence[str]) -> tuple[frozenset[int], frozenset[int]]:
    """Return the days on which something is open, and those on which it is closed."""
    opened, closed = frozenset[int](), frozenset[int]()
    waiting = frozenset[int]()
    for piece in pieces:
        told, *excepted = _EXCEPT.split(piece, maxsplit=1)
        days = (_days(piece) or frozenset()) | waiting
        waiting = frozenset()
        if _CLOSED.search(told) or _RESTED.search(told) or DENIED.search(told):
            closed |= days
        elif _HELD.search(told) or _CLOCK.search(told):
            opened |= days
            closed |= read_weekdays(excepted[0]) if excepted else frozenset()
        else:
            waiting = days  # "Mondays, Tuesdays and Fridays closed"
    return opened, closed


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
    is_exclusive = not any(asked & read_weekdays(text) for text in sentences)
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
        elif (
            not asked & days
            and _CLOSED.search(question)
            and not _CLOSED.search(piece)
            and not DENIED.search(piece)
            and is_exclusive
        ):
            found.add(True)  # What opens from Tuesday to Sunday is closed on Mondays.
    return found.pop() if len(found) == 1 else None


def _days(piece: str) -> frozenset[int] | None:
    told, *excepted = _EXCEPT.split(piece, maxsplit=1)
    days = _ALL if _DAILY.search(told) else read_weekdays(told)
    without = read_weekdays(excepted[0]) if excepted else frozenset()
    if _DAILY.search(told) and excepted and not without:
        return None  # "every day except 25 December"
    return (days - without) or None
