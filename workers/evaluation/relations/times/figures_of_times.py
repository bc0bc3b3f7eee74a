"""Compare the value of one year, month or day with a course that several sentences give.

"In 2018 revenue was 4.2 million. In 2019 it rose to 5.1." gives each year a value. The second sentence names neither what
rose nor its scale.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from workers.evaluation.contradictions.antonyms import POLES
from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.contradictions.values.dated_values import Time, direction_of, times_of
from workers.evaluation.facts.calculation.arithmetic import restates, same_dimension, same_quantity
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.units import MONTHS, SCALES, UNITS, WEEKDAYS
from workers.evaluation.text.words import content_words, kept_for_sentences, key_of

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""
MAX_OTHERS = 2
"""Most words of a course that a claim with another value may leave out; more may name another thing."""
_DAY = 100
"""Number of a Monday in the place of a month."""
_CALCULATED = re.compile(
    r"\b(?:by|more|less|fewer|than|average|mean|total|together|difference|between|from|since|until|compared|times|twice|half|doubled|tripled|halved|per)\b",
    re.IGNORECASE,
)
"""Words of a figure that is not the value itself."""
_CHANGE = next(row for row, _ in POLES["increase"] & POLES["grow"])
_GENERAL = content_words(
    "figure number amount value total level year month day one again then even later already changed reached came stood hit there"
)
_GONE = re.compile(r"\b(?:goes|gone|went|going)\s(?:up|down)\b", re.IGNORECASE)
"""A change whose "up to" is no limit."""
_WORD = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")


@dataclass(slots=True)
class _Course:
    """Hold the values of one thing by time, and the stems of the words that name it."""

    words: frozenset[str]
    values: dict[Time, Quantity] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Point:
    """Hold the only value of a text, its time, and the stems of the words that name what has it."""

    time: Time
    value: Quantity
    words: frozenset[str]


def is_figure_of_time(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return whether a claim has the value that the evidence gives for its year, month or day of the week.

    Args:
        claim: the claim, or the short answer.
        sentences: the evidence, those of one source in order, with an empty one between sources.

    Returns:
        ``None`` unless the claim has one time and one value, and the evidence a course of the same thing.
    """
    if DENIED.search(claim[:MAX_TEXT]) or (own := _point(claim)) is None or own.value.bound or not own.words:
        return None
    courses = list(_courses(sentences))
    same = [course for course in courses if own.words <= course.words]
    known = [(course, value) for course in same if (value := _value_at(course, own)) is not None]
    if any(same_quantity(value, own.value) for _, value in known):
        is_stated = any((value.is_unit or not own.value.is_unit) and restates(own.value, value) for _, value in known)
        return True if is_stated and not direction_of(claim) else None
    is_of_other_time = any(len(course.words - own.words) <= MAX_OTHERS for course, _ in known) and any(
        same_quantity(value, own.value)
        for course in courses
        for value in course.values.values()
        if _alike(value, own.value)
    )
    others = (_value_at(course, own) for course in courses if not own.words & course.words)
    is_of_other_thing = bool(same) and any(value is not None and same_quantity(value, own.value) for value in others)
    return False if is_of_other_time or is_of_other_thing else None


def _value_at(course: _Course, own: _Point) -> Quantity | None:
    """Return the only value that a course has at the time of a claim, if it is of the kind of the claim's value."""
    values = [value for time, value in course.values.items() if _agree(time, own.time)]
    return values[0] if len(values) == 1 and _alike(values[0], own.value) else None


def _alike(one: Quantity, two: Quantity) -> bool:
    return same_dimension(one.dimension, two.dimension) or not (one.is_unit and two.is_unit)


def _agree(one: Time, two: Time) -> bool:
    return all(first == second or not first or not second for first, second in zip(one, two, strict=True)) and any(
        first and first == second for first, second in zip(one, two, strict=True)
    )


def _courses(sentences: Sequence[str]) -> Iterator[_Course]:
    """Yield the courses; a sentence goes on with the one before if it names nothing else."""
    course: _Course | None = None
    for sentence in sentences:
        point = _point(sentence)
        if course is not None and point is not None and point.words <= course.words:
            course.values.setdefault(point.time, point.value)
            continue
        if course is not None:
            yield course
        course = None if point is None or not point.words else _Course(point.words, {point.time: point.value})
    if course is not None:
        yield course


@kept_for_sentences
def _point(sentence: str) -> _Point | None:
    """Return the time, value and words of a text with one time and one value, unless that is a difference."""
    text = _GONE.sub("changed", sentence[:MAX_TEXT])
    values = read_details(text).quantities
    if len(values) != 1 or _CALCULATED.search(_without_opening_by(text)):
        return None
    times = times_of(text) or {(0, _DAY + day) for day in read_details(text).weekdays}
    return _Point(times.pop(), values[0], _topic(text)) if len(times) == 1 else None


def _without_opening_by(text: str) -> str:
    """Return a text without the "by" of a time at its beginning: "By 2010 it had grown to 15,500"."""
    return re.sub(r"^\W*by\s", "", text, flags=re.IGNORECASE)


def _topic(text: str) -> frozenset[str]:
    told = " ".join(word for word in _WORD.findall(text) if not _is_of_value(key_of(word)))
    return frozenset(word for word in content_words(told) if not _DIGIT.search(word)) - _GENERAL


def _is_of_value(word: str) -> bool:
    return (
        word in MONTHS
        or word in WEEKDAYS
        or word in UNITS
        or word in SCALES
        or any(row == _CHANGE for row, _ in POLES.get(word, ()))
    )
