"""Compare times of day with those of the same days of a schedule: "until 6:30 pm on Saturday" over "Saturday 9:00–13:00"."""

import re
from collections.abc import Sequence

from workers.evaluation.facts.text_details import read_details
from workers.evaluation.text.words import kept_for_sentences

MAX_TEXT = 400
"""Longest claim, question and sentence that are read, code points."""

_PIECE = re.compile(
    r"[,;]\s|\.\s|\s(?:and|but|while|whereas)\s(?=(?:only\s)?(?:at|from|on|until|till)\s)", re.IGNORECASE
)
_Part = tuple[frozenset[int], frozenset[int]]


def is_time_of_day_right(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if the evidence has a claim's time of day for other days of the week only.

    Args:
        claim: the claim, or the short answer.
        question: the question, whose days hold for an answer without any.
        sentences: the evidence.

    Returns:
        ``None`` if the claim names no days and times, or the evidence has none for these days.
    """
    own = read_details(claim[:MAX_TEXT])
    days = own.weekdays or read_details(question[:MAX_TEXT]).weekdays
    times = frozenset(date.minute for date in own.dates if date.minute is not None)
    if not days or not times:
        return None
    parts = [part for sentence in sentences for part in _parts(sentence)]
    here = frozenset(time for told, known in parts if days <= told for time in known)
    elsewhere = frozenset(time for told, known in parts if not days & told for time in known)
    return False if here and times - here and times - here <= elsewhere else None


@kept_for_sentences
def _parts(sentence: str) -> tuple[_Part, ...]:
    """Return the days and times of each part of a schedule; a part without days or times decides nothing."""
    read = [read_details(piece) for piece in _PIECE.split(sentence[:MAX_TEXT])]
    found = [(each.weekdays, frozenset(date.minute for date in each.dates if date.minute is not None)) for each in read]
    return tuple((days, times) for days, times in found if days and times)
