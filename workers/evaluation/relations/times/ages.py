"""Compare ages with the dates of birth and event: "65 years old" over "born in 1950" and "the prize in 1991"."""

import re
from collections.abc import Sequence

from workers.evaluation.facts.calculation.time_spans import YEAR
from workers.evaluation.facts.dates import Date
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words

MAX_TEXT = 300
"""Longest claim, question and sentence that are read, code points."""

_AGE = PrefilteredPattern(r"\b(?:aged?|years? old|year-old|years of age|lived to)\b|\bhow old\b", re.IGNORECASE)
_EVENT = PrefilteredPattern(
    r"\b(?:when|as|at the time)\s(?P<event>(?:s?he|they|the|his|her|[A-Z])[^?.;,]{4,80})", re.IGNORECASE
)
_DEATH = PrefilteredPattern(
    r"\b(?:died?|death|dead|lived? to|pass(?:ed)? away)\b|\bhow old did [^?]{1,60} (?:become|get|live)\b", re.IGNORECASE
)
_OF_OTHER = re.compile(r"(?:the|his|her) ", re.IGNORECASE)
"""The beginning of an event that befell somebody else: "when her father died"."""
_YEAR = r"\b(?:1\d{3}|20\d\d)\b"
_BORN = PrefilteredPattern(
    rf"\bborn\b[^.;]{{0,60}}?{_YEAR}|\((?P<first>[^()–]{{0,30}}{_YEAR})\s?(?=[–-]|to\b)", re.IGNORECASE
)
_DIED = PrefilteredPattern(
    rf"\b(?:died|death|passed away)\b[^.;]{{0,60}}?{_YEAR}|\([^()–]{{0,30}}{_YEAR}\s?(?:[–-]|to\b)\s?(?P<last>[^()–-]{{0,30}}{_YEAR})\s?\)",
    re.IGNORECASE,
)
_DIE = content_words("died death")
_PIECE = re.compile(r"[.;]\s|,\s|\s(?:and|but|before|after)\s", re.IGNORECASE)
_TOLD = re.compile(r"\b(?:\d{1,3}|aged?|years?|old|lived|about|around|approximately)\b", re.IGNORECASE)
_BARE = re.compile(r"(?<![\d.,])\d{1,3}(?![\d.,%]*\d)")


def is_age_right(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return whether a claim's age is the completed years from the birth to the event that claim or question names.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence, on one person.

    Returns:
        ``None`` without an age, an event, one birth and one date of the event.
    """
    claim, question = claim[:MAX_TEXT], question[:MAX_TEXT]
    if not (_AGE.search(claim) or _AGE.search(question)):
        return None
    event = _EVENT.search(claim) or _EVENT.search(question)
    is_death = _DEATH.search(event["event"] if event else f"{question} {claim}") is not None
    is_death &= event is None or not _OF_OTHER.match(event["event"])
    if not event and not is_death:
        return None
    ages = [float(figure) for figure in _BARE.findall(YEAR.sub(" ", claim))]
    ages = ages or [number.face for number in read_details(claim).quantities if number.dimension in ("month", "")]
    births = _dates(_BORN, sentences)
    ends = _dates(_DIED, sentences) if is_death else set()
    ends = ends or _dates_of(content_words(event["event"]) if event and not is_death else _DIE, sentences)
    if len(ages) not in (1, 2) or len(births) != 1 or len(ends) != 1:
        return None
    return set(ages) <= _completed_years(births.pop(), ends.pop())


def without_age(claim: str) -> str:
    """Return a claim without its age and the words that only say that it is one."""
    return _TOLD.sub(" ", claim)


def _completed_years(birth: Date, end: Date) -> set[float]:
    """Return the years of age; two of them where the days or months are not known."""
    years = (end.year or 0) - (birth.year or 0)
    first, last = (birth.month, birth.day), (end.month, end.day)
    if birth.month is None or end.month is None or (birth.month == end.month and None in (birth.day, end.day)):
        return {float(years), float(years - 1)}
    return {float(years - ((last[0] or 0, last[1] or 0) < (first[0] or 0, first[1] or 0)))}


def _dates(pattern: PrefilteredPattern, sentences: Sequence[str]) -> set[Date]:
    """Return the dates with a year at the end of the matches of a pattern."""
    found = set()
    for match in (match for text in sentences for match in pattern.finditer(text[:MAX_TEXT])):
        if dates := _dated(match[match.lastgroup or 0]):
            found.add(dates[-1])
    return found


def _dated(text: str) -> list[Date]:
    dates = [date for date in read_details(text).dates if date.year is not None]
    return dates or [Date(year=int(year)) for year in YEAR.findall(text)]


def _dates_of(words: frozenset[str], sentences: Sequence[str]) -> set[Date]:
    """Return the dates of the pieces of the evidence that share most words with an event."""
    found = dict[int, set[Date]]()
    for piece in (piece for text in sentences for piece in _PIECE.split(text[:MAX_TEXT])):
        if (shared := len(words & content_words(piece))) and (dates := _dated(piece)):
            found.setdefault(shared, set()).update(dates)
    return found[max(found)] if found else set()
