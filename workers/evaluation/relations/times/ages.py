"""Compare ages at an event with the years of birth and event: "65 years old" over "born in 1950" and "the prize in 1991"."""

import re
from collections.abc import Sequence

from workers.evaluation.facts.calculation.time_spans import YEAR
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words

MAX_TEXT = 300
"""Longest claim, question and sentence that are read, code points."""

_AGE = PrefilteredPattern(r"\b(?:aged?|years? old|year-old|years of age)\b|\bhow old\b", re.IGNORECASE)
_EVENT = PrefilteredPattern(
    r"\b(?:when|as|at the time)\s(?P<event>(?:s?he|they|the|his|her|[A-Z])[^?.;,]{4,80})", re.IGNORECASE
)
_BORN = PrefilteredPattern(
    r"\bborn\b[^.;]{0,60}?\b(?P<year>1\d{3}|20\d\d)\b|\(\s?(?P<first>1\d{3}|20\d\d)\s?[–-]", re.IGNORECASE
)
_PIECE = re.compile(r"[.;]\s|,\s|\s(?:and|but|before|after)\s", re.IGNORECASE)
_BARE = re.compile(r"(?<![\d.,])\d{1,3}(?![\d.,%]*\d)")


def is_age_right(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return whether a claim's age is the time from the birth to the event that claim or question names.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence, on one person.

    Returns:
        ``None`` without an age, an event, one birth and one year of the event.
    """
    claim, question = claim[:MAX_TEXT], question[:MAX_TEXT]
    event = _EVENT.search(claim) or _EVENT.search(question)
    if not event or not (_AGE.search(claim) or _AGE.search(question)):
        return None
    ages = [float(figure) for figure in _BARE.findall(YEAR.sub(" ", claim))]
    ages = ages or [number.face for number in read_details(claim).quantities if number.dimension in ("month", "")]
    births = {match["year"] or match["first"] for text in sentences for match in _BORN.finditer(text[:MAX_TEXT])}
    year = _year_of(event["event"], sentences)
    if len(ages) != 1 or len(births) != 1 or year is None:
        return None
    return 0 <= year - int(births.pop()) - ages[0] <= 1


def _year_of(event: str, sentences: Sequence[str]) -> int | None:
    """Return the only year of the piece of the evidence that shares most words with an event."""
    words, found = content_words(event), dict[int, set[str]]()
    for piece in (piece for text in sentences for piece in _PIECE.split(text[:MAX_TEXT])):
        years = set(YEAR.findall(piece))
        if years and (shared := len(words & content_words(piece))):
            found.setdefault(shared, set()).update(years)
    best = found[max(found)] if found else set()
    return int(best.pop()) if len(best) == 1 else None
