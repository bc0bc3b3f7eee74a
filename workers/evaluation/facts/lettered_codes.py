"""Find identifiers of letters and digits, and which of them differ in one place: "12b" and "12c", "A3" and "A4".

``series`` finds the members of a series that are a word and a number.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from workers.evaluation.facts.units import SCALES, UNITS
from workers.evaluation.text.words import KEPT_TEXTS

Runs = tuple[str, ...]
"""Letters and digits of an identifier in turn, lower case: ("wh", "1000", "xm", "4")."""

MAX_LETTERS = 3
"""Most letters in which identifiers differ; more are a word."""
LEAST_DIGITS = 3
"""Least digits of identifiers that begin with different digits: "7700X", not "2D"."""

_ONE = r"(?<![\w.,:/$€£#@-])(?=[A-Za-z-]{0,12}\d)[A-Za-z\d]+(?:-[A-Za-z\d]+)*(?![\w-]|[.,:/]\w|\s?%)"
_TOKEN = re.compile(_ONE)
_RANGE = re.compile(rf"({_ONE})\s?(?:to|through|until|bis|[–—])\s?({_ONE})", re.IGNORECASE)
_WITH_LETTER = re.compile(r"(?<![\w-])([^\W\d_]{2,20})\s(\d{1,6})([A-Za-z])(?!\w)")
_RUN = re.compile(r"[a-z]+|\d+")
_MEASURES = frozenset((*UNITS, *SCALES, "st", "nd", "rd", "th", "am", "pm", "er", "re"))
"""Letters behind a number that is none of an identifier: "5g", "2nd", "10am"."""


@lru_cache(maxsize=KEPT_TEXTS)
def lettered_codes(text: str) -> frozenset[Runs]:
    """Return the identifiers of a text that have both letters and digits."""
    return frozenset(
        runs for token in _TOKEN.findall(text) if len(runs := runs_of(token)) > 1 and not _is_measure(runs)
    )


def runs_of(token: str) -> Runs:
    """Return the letters and digits of an identifier in turn."""
    return tuple(_RUN.findall(token.lower()))


@lru_cache(maxsize=KEPT_TEXTS)
def code_ranges(text: str) -> frozenset[tuple[Runs, Runs]]:
    """Return the first and the last identifier of each range of a text: "A9 to A12"."""
    return frozenset((runs_of(first), runs_of(last)) for first, last in _RANGE.findall(text))


def is_in_range(own: Runs, ranges: Iterable[tuple[Runs, Runs]]) -> bool:
    """Return true if an identifier lies between the ends of a range: A10 in "A9 to A12"."""
    return any(
        _are_similar(own, first) and _are_similar(own, last) and _order(first) < _order(own) < _order(last)
        for first, last in ranges
    )


@lru_cache(maxsize=KEPT_TEXTS)
def numbers_with_letter(text: str) -> frozenset[tuple[str, str]]:
    """Return the words and numbers of identifiers with a letter: ("room", "12") of "Room 12b"."""
    return frozenset(
        (word.lower(), number)
        for word, number, letter in _WITH_LETTER.findall(text)
        if not _is_measure((number, letter.lower()))
    )


def _is_measure(runs: Runs) -> bool:
    """Return true for a figure with its unit; "12b" is none, since bits are not written so."""
    return len(runs) == 2 and runs[0].isdigit() and runs[1] in _MEASURES and runs[1] != "b"


def has_other_code(claim: Iterable[Runs], near: frozenset[Runs], known: frozenset[Runs]) -> bool:
    """Return true if a claim has an identifier that no evidence has, in the place of a similar one.

    Args:
        claim: identifiers of the claim that are in no range of the evidence.
        near: identifiers of its best evidence.
        known: identifiers of all evidence.
    """
    own = frozenset(claim)
    return any(_are_similar(one, other) for one in own - known for other in near - own)


def _order(runs: Runs) -> list[tuple[int, str]]:
    """Return a key by which identifiers are sorted, their numbers by size."""
    return [(int(run), "") if run.isdigit() else (-1, run) for run in runs]


def _are_similar(one: Runs, two: Runs) -> bool:
    """Return true if two identifiers differ in one run of letters or digits."""
    if len(one) != len(two):
        return False
    places = [place for place, runs in enumerate(zip(one, two, strict=True)) if runs[0] != runs[1]]
    if len(places) != 1:
        return False
    mine, theirs = one[places[0]], two[places[0]]
    if mine.isdigit() != theirs.isdigit():
        return False
    if not mine.isdigit():
        return len(mine) == len(theirs) <= MAX_LETTERS
    return places[0] > 0 or min(len(mine), len(theirs)) >= LEAST_DIGITS
