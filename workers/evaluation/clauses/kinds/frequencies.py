"""Compare the frequency of an action: "paid monthly" over "paid at the end of each quarter"."""

import re
from collections.abc import Iterator, Sequence
from math import isclose

from workers.evaluation.clauses.placed_answers import read_parts
from workers.evaluation.facts.units import NUMBER_WORDS, WEEKDAYS
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words, key_of

MAX_TEXT = 300
"""Longest statement that is read, code points."""
SHARED = 0.5
"""Least share of a statement's words in the part of the evidence that says how often."""
ROUNDED = 0.03
"""Difference of two periods that months and quarters of whole days make, as a share: "four times a year", "quarterly"."""

_DAYS: dict[str, float] = {
    "hour": 1 / 24,
    "day": 1.0,
    "night": 1.0,
    "morning": 1.0,
    "evening": 1.0,
    "week": 7.0,
    "fortnight": 14.0,
    "month": 30.0,
    "quarter": 91.0,
    "year": 365.0,
    **dict.fromkeys(WEEKDAYS, 7.0),
}
"""Days of a period; a weekday comes once a week."""
_ADVERBS = {
    "hourly": 1 / 24,
    "daily": 1.0,
    "nightly": 1.0,
    "weekly": 7.0,
    "fortnightly": 14.0,
    "biweekly": 14.0,
    "monthly": 30.0,
    "quarterly": 91.0,
    "half-yearly": 182.0,
    "yearly": 365.0,
    "annually": 365.0,
}
_NUMBERS = "|".join(sorted((word for word in NUMBER_WORDS if word.isascii()), key=len, reverse=True))
_PERIOD = rf"(?P<unit>{'|'.join(sorted(_DAYS, key=len, reverse=True))})s?\b"
_EVERY = PrefilteredPattern(
    rf"\b(?:every|each)\s(?:(?P<other>other|second)\s|(?P<count>\d{{1,3}}|{_NUMBERS})\s)?{_PERIOD}", re.I
)
_TIMES = PrefilteredPattern(rf"\b(?:once|(?P<twice>twice)|(?P<count>\d{{1,3}}|{_NUMBERS})\stimes)\s(?:an?|per|every|each)\s{_PERIOD}", re.I)  # fmt: skip
_ADVERB = PrefilteredPattern(rf"\b(?:{'|'.join(sorted(_ADVERBS, key=len, reverse=True))})\b", re.I)
_POLAR = re.compile(r"^\W*(?:is|are|was|were|do|does|did|must|should|will|has|have)\s", re.I)


def is_frequency_right(statement: str, sentences: Sequence[str], topic: str = "") -> bool | None:
    """Return whether the evidence says that something is done as often as a statement, or a question for yes or no, has it.

    Args:
        statement: the statement or question; pronouns stand for nothing.
        sentences: the evidence.
        topic: the question of a statement that says nothing but how often.

    Returns:
        ``None`` if the statement tells no frequency, or the evidence tells none or several of its matter.
    """
    text = _POLAR.sub("", statement[:MAX_TEXT], count=1)
    told = list(_frequencies(text))
    if len(told) != 1:
        return None
    matter = content_words(without_frequency(text)) or content_words(without_frequency(topic[:MAX_TEXT]))
    if not matter:
        return None
    found: dict[int, set[float]] = {}
    for part in read_parts(sentences):
        own = list(_frequencies(part.text))
        shared = len(matter & part.words)
        if len(own) == 1 and shared >= SHARED * len(matter):
            found.setdefault(shared, set()).add(own[0])
    best = found[max(found)] if found else set()
    return isclose(best.pop(), told[0], rel_tol=ROUNDED) if len(best) == 1 else None


def says_only_frequency(statement: str) -> bool:
    """Return true if a statement says nothing but how often: "Every 7 days."."""
    rest = without_frequency(statement)
    return rest != statement and not content_words(rest)


def _frequencies(text: str) -> Iterator[float]:
    """Yield the days between two times."""
    for match in _TIMES.finditer(text):
        times = 2.0 if match["twice"] else _number(match["count"])
        yield _DAYS[key_of(match["unit"])] / times
    for match in _EVERY.finditer(_TIMES.sub(" ", text)):
        yield _DAYS[key_of(match["unit"])] * (2.0 if match["other"] else _number(match["count"]))
    for match in _ADVERB.finditer(text):
        yield _ADVERBS[key_of(match[0])]


def _number(text: str | None) -> float:
    return 1.0 if text is None else max(1.0, float(text) if text.isdigit() else NUMBER_WORDS[key_of(text)])


def without_frequency(text: str) -> str:
    """Return a text without what it says of how often."""
    for pattern in (_TIMES, _EVERY, _ADVERB):
        text = pattern.sub(" ", text)
    return text
