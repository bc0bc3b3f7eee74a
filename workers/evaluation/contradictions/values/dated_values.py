"""Compare claims about a course over time with the values that the evidence gives for single years or months.

"It grew from 3.8 to 4.1 million" is wrong over "4.1 million in 2022 and 3.8 million in 2023", although both figures
stand there, and "Did revenue grow in 2023?" is answered by the value of the year before.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from workers.evaluation.contradictions.antonyms import DEGREES, POLES
from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.units import MONTHS
from workers.evaluation.text.words import KEPT_TEXTS, content_words, key_of

Time = tuple[int, int]
"""Year and month, each 0 where it is not given."""

MAX_TEXT = 400
"""Longest sentence that is read, code points."""

_PIECE = re.compile(r"[,;]\s|\s(?:and|but|while|after|compared (?:to|with)|up from|down from|from|to)\s", re.IGNORECASE)
_FROM_TO = re.compile(r"\bfrom\b(?P<first>.{1,40}?)\bto\b(?P<last>.{1,40})", re.IGNORECASE)
_RANGES = re.compile(r"\b(?:rang\w+|var(?:y|ies|ied|ying)|extend\w*|anywhere)\s+$", re.IGNORECASE)
"""Words before "from … to …" that give the ends of a range, in whatever order."""
_CHANGE_ROW = next(row for row, _ in POLES["increase"] & POLES["grow"])
_GONE = re.compile(r"\b(?:go|goes|going|gone|went|come|came) (up|down)\b", re.IGNORECASE)
_COUNTED = re.compile(
    r"\b(?:numbers?|count|total|rate|risk|frequency|share) of (?:[^\W\d_]+ )?(?:falls|rises|drops|climbs|jumps|gains|dips|declines|increases|decreases|cuts|raises)\b",
    re.IGNORECASE,
)
"""Things that are counted under the name of a change: "the number of falls"."""
_WORD = re.compile(r"[^\W\d_]+")


def is_course_wrong(claim: str, sentences: Sequence[str]) -> bool:
    """Return true if a claim's course is not that of the evidence's years: another order, or another direction.

    Args:
        claim: a statement with "from … to …".
        sentences: the evidence.
    """
    span = _FROM_TO.search(claim[:MAX_TEXT])
    if not span or _RANGES.search(claim[: span.start()]):
        return False
    ends = [[each.values[0] for each in read_details(span[name]).quantities] for name in ("first", "last")]
    if not all(len(values) == 1 for values in ends):
        return False
    (first,), (last,) = ends
    direction = direction_of(claim)
    if direction and not DENIED.search(claim) and direction * (last - first) < 0:
        return True
    times = {value: time for time, value in dated_values(claim, sentences).items()}
    return first in times and last in times and times[first] > times[last]


def answer_by_course(question: str, sentences: Sequence[str]) -> bool | None:
    """Return whether something rose or fell in the year or month that a question names; ``None`` if that is not known.

    Args:
        question: a question for yes or no.
        sentences: the evidence.
    """
    direction = direction_of(question)
    times = times_of(question)
    if not direction or len(times) > 1 or DENIED.search(question):
        return None
    known = dated_values(question, sentences)
    time = next(iter(times)) if times else max(known, default=(0, 0))
    if not times and len(known) != 2:
        return None
    earlier = [each for each in known if each < time]
    if time not in known or not earlier:
        return None
    return (known[time] - known[max(earlier)]) * direction > 0


def dated_values(text: str, sentences: Iterable[str]) -> dict[Time, float]:
    """Return value by time from the sentences that share most words with a text. Empty if a time has two values."""
    topic = content_words(text)
    read = [(len(topic & content_words(sentence)), values) for sentence in sentences if (values := _read(sentence))]
    best = max((shared for shared, _ in read), default=0)
    found: dict[Time, float] = {}
    for shared, values in read:
        for time, value in values if shared == best else ():
            if found.setdefault(time, value) != value:
                return {}
    return found if best else {}


@lru_cache(maxsize=KEPT_TEXTS)
def _read(sentence: str) -> tuple[tuple[Time, float], ...]:
    found = []
    for piece in _PIECE.split(sentence[:MAX_TEXT]):
        times, quantities = times_of(piece), read_details(piece).quantities
        if len(times) == 1 and len(quantities) == 1:
            found.append((times.pop(), quantities[0].values[0]))
    return tuple(found)


def times_of(text: str) -> set[Time]:
    """Return the years and months that a text names."""
    dates = read_details(text[:MAX_TEXT]).dates
    told = {(date.year or 0, date.month or 0) for date in dates if date.year or date.month}
    return told or {
        (0, MONTHS[key]) for word in _WORD.findall(text) if word[0].isupper() and (key := key_of(word)) in MONTHS
    }


def direction_of(text: str) -> int:
    """Return 1 for a text about a rise, -1 for one about a fall, 0 for neither or both."""
    words = [word.lower() for word in _WORD.findall(_GONE.sub(_risen_or_fallen, _COUNTED.sub(" ", text)))]
    sides = {side for word in words if word not in DEGREES for row, side in POLES.get(word, ()) if row == _CHANGE_ROW}
    return sides.pop() if len(sides) == 1 else 0


def _risen_or_fallen(match: re.Match[str]) -> str:
    return "rise" if match[1].lower() == "up" else "fall"
