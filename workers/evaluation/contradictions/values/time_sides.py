"""Read on which side of a day, month, year or time something lies; a denial turns the side round.

"Does not run before April" is "runs from April", and "not valid after 30 June" is "valid until 30 June".
"""

import re
from collections.abc import Iterator

from workers.evaluation.facts.dates import Date, read_dates
from workers.evaluation.facts.units import MONTHS

MAX_TEXT = 300
"""Longest text that is read, code points."""

Side = tuple[Date, bool, bool, str]
"""A time, whether it is an end, whether a denial turned its side, and its preposition."""
_MONTH_NAMES = "|".join(name.title() for name in MONTHS if len(name) > 3 or name == "may")
UP_TO = r"by|until|till|before|no later than|not later than|on or before|up to|at (?:the )?latest(?: on| at| by)?"
FROM = r"after|from|no (?:earlier|sooner) than|not earlier than|since|as of|starting(?: on| at| from| in)?|at (?:the )?earliest(?: on| at| in)?|only (?:from|after)|on or after"
_SIDE = re.compile(
    rf"\b(?:(?P<start>(?i:{FROM}))|(?P<end>(?i:{UP_TO})))\s(?:the\s)?(?=\d|[^\W\d_]+\s\d|(?:{_MONTH_NAMES})\b)"
)
_BEHIND = re.compile(r"^[^.;]{0,12}?\bat the (?:(?P<end>latest)|(?P<start>earliest))\b", re.IGNORECASE)
_DENIED = re.compile(r"\b(?:not|never|no|cannot|nobody|\w+n['’]t)\b(?! (?:later|earlier|sooner))", re.IGNORECASE)
_OTHERWISE = re.compile(
    r"\b(?:closed?|closes|closing|ends?|ended|expires?|expired|stops?|stopped|forbidden|prohibited|refused|rejected|except|without|only|unless"
    r"|late(?:r)? (?:ones|submissions|applications))\b",
    re.IGNORECASE,
)
"""Words that turn a side round in a way that is not read."""
_RANGE = re.compile(r"\b(?:from|between)\b[^.;]{2,25}?\b(?:to|until|till|through|and)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[,;:]\s|\.\s|\s(?:but|while|whereas|and)\s", re.IGNORECASE)
_SPAN = re.compile(r"\b(?:years?|months?|weeks?|days?|hours?|minutes?)\s*$", re.IGNORECASE)


def time_sides(text: str) -> list[Side]:
    """Return each time that has a side.

    The list is empty if the text has a range, or a word that turns a side otherwise ("closes").
    """
    text = text[:MAX_TEXT]
    return [] if _RANGE.search(text) or _OTHERWISE.search(text) else list(_sides(text))


def _sides(text: str) -> Iterator[Side]:
    for match in _SIDE.finditer(text):
        date = date_at(text[match.end() : match.end() + 24])
        if date is None or _SPAN.search(text[: match.start()]):
            continue
        behind = _BEHIND.search(text[match.end() + 4 : match.end() + 24])
        is_end = match["end"] is not None if behind is None else behind["end"] is not None
        is_denied = len(_DENIED.findall(_CLAUSE.split(text[: match.start()])[-1])) % 2 == 1
        yield date, is_end != is_denied, is_denied, (match["start"] or match["end"]).lower()


def date_at(text: str) -> Date | None:
    """Return the date, time, year or month at the beginning of a text."""
    dates, _ = read_dates(text)
    if dates:
        return dates[0]
    month = re.match(rf"(?:{_MONTH_NAMES})\b", text)
    return Date(month=MONTHS[month[0].lower()]) if month else None


def says_same_side(claim: str, evidence: str) -> bool:
    """Return true if one text denies one side of a time and the other affirms the other side."""
    own, theirs = time_sides(claim), time_sides(evidence)
    return any(one[0] == two[0] and one[1] == two[1] and one[2] != two[2] for one in own for two in theirs) and not any(
        one[0] == two[0] and one[1] != two[1] for one in own for two in theirs
    )
