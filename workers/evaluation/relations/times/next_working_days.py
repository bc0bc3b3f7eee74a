"""Compare days of the week with a "next working day": an order of a Friday is shipped on Monday."""

import re
from collections.abc import Sequence

from workers.evaluation.facts.units import WEEKDAYS
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words, key_of

MAX_TEXT = 300
"""Longest claim, question and sentence that are read, code points."""

_NEXT = PrefilteredPattern(
    r"\b(?P<which>next|following|second|third)\s(?:working|business|work)\s?day\b", re.IGNORECASE
)
_NUMBERS = {"next": 1, "following": 1, "second": 2, "third": 3}
_OPEN = re.compile(
    r"\b(?:same|saturdays?|sundays?|weekends?|holidays?|within|before|after|by|until|unless|except|at the (?:latest|earliest))\b",
    re.IGNORECASE,
)
"""Words of a rule with further conditions."""
_AFTER_ORDER = re.compile(
    r"\bafter\s(?:(?:the|an?|your|its|their)\s)?(?:order\w*|receipt|requests?|purchases?|payments?|bookings?)\b",
    re.IGNORECASE,
)
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_DAYS = PrefilteredPattern(rf"\b{_DAY}\b", re.IGNORECASE)
_DAYS_OF = re.compile(rf"\b{_DAY}(?:['’]s)?", re.IGNORECASE)
_START = PrefilteredPattern(
    rf"\b(?:placed|order\w*|made|received|submitted|bought|paid|sent|booked|report\w*|request\w*|handed\sin|arriv\w+|return\w*)\s(?:[\w'’]+\s){{0,3}}?on\s(?:an?\s)?(?P<start>{_DAY})"
    rf"|\b(?P<of>{_DAY})(?:['’]s)?\s(?:orders?|requests?|purchases?)",
    re.IGNORECASE,
)
"""The day on which something begins."""
_WORKING_DAYS = 5
_GENERAL = content_words(
    "order ordered request requests next following second third working business work day days placed made received sent submitted bought paid booked reported requested returned on"
)


def is_working_day_right(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return whether a claim names the working day that follows the day on which something began.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        True if the claim says no more than that; ``None`` unless one sentence of the evidence has such a rule without
        further conditions, and claim and question name the day of the beginning and one other.
    """
    claim, question = claim[:MAX_TEXT], question[:MAX_TEXT]
    rules = [(sentence, found) for sentence in sentences if (found := _NEXT.search(sentence[:MAX_TEXT]))]
    if len(rules) != 1 or (days := _days(claim, question)) is None:
        return None
    ((sentence, rule),) = rules
    start, end = days
    told = content_words(f"{question} {claim}") - _GENERAL
    if _OPEN.search(_AFTER_ORDER.sub(" ", sentence)) or not told & content_words(sentence):
        return None
    if (named := _read(sentence)) and named != [start]:
        return None
    if end != _after(start, _NUMBERS[key_of(rule["which"])]):
        return False
    rest = content_words(_DAYS_OF.sub(" ", claim)) - _GENERAL - content_words(f"{question} {sentence}")
    return None if rest else True


def _after(start: int, count: int) -> int:
    day = start
    for _ in range(count):
        day = (day + 1) % 7
        while day >= _WORKING_DAYS:
            day = (day + 1) % 7
    return day


def _days(claim: str, question: str) -> tuple[int, int] | None:
    """Return the day of the beginning and the other one."""
    own, asked = _read(claim), _read(question)
    if len(own) == 1 and len(asked) == 1:
        return asked[0], own[0]
    begin = _START.search(claim)
    if len(own) != 2 or begin is None:
        return None
    start = WEEKDAYS[key_of(begin["start"] or begin["of"])]
    return start, own[1] if own[0] == start else own[0]


def _read(text: str) -> list[int]:
    """Return the days of the week of a text, in order."""
    return [WEEKDAYS[key_of(name)] for name in _DAYS.findall(text)]
