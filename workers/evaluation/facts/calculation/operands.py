"""Read the numbers of a source as inputs of calculations: with the words and the column that they belong to.

A number without a unit has the unit of its heading: "Revenue (k€) | 910", "Rain in mm" above a list of months.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from workers.evaluation.facts.calculation.time_spans import spans_between
from workers.evaluation.facts.dates import read_dates, read_periods
from workers.evaluation.facts.forms.plain_forms import plain_forms
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.quantities import undated_quantities
from workers.evaluation.facts.series import find_codes
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.units import SCALES, UNITS
from workers.evaluation.text.words import content_words, key_of, stem

MAX_OPERANDS = 40
"""Maximum number of operands of a source; calculations grow with their number."""
MAX_ROW = 80
"""Maximum length of a line without separators that is read as a row, code points."""

_PARTS = re.compile(r"[;|]\s?|,\s|\n|\s(?:and|und|et|y|e)\s(?!a half|half|\d)|(?<=[^\W\d])\.\s|[–—]\s")
_KEY = re.compile(r"^\s*([^:]{1,60}):\s")
_NAMED_ROW = re.compile(r"^\s*[^:]{1,60}:\s[^;\d]*;\s")
"""The beginning of a row whose first cell is a name: "Month: July; Books lent: 210" counts books and no months."""
_BRACKETS = re.compile(r"[(\[](?:in )?([^()\[\]]{1,20})[)\]]")
_IN = re.compile(r"\bin ([^\W\d_%€$£]*\s?[^\W\d_]+|[^\W\d_]{0,8}\s?[€$£])(?=[\s.,:;|)]|$)")
_EACH = re.compile(r"\b(?:each|apiece|je)\b", re.IGNORECASE)
_SYMBOLS = re.compile(r"([%€$£]|000)")
_RATES = {
    "monthly": ("month", 1.0),
    "annual": ("month", 12.0),
    "yearly": ("month", 12.0),
    "weekly": ("time", 604800.0),
    "daily": ("time", 86400.0),
    "hourly": ("time", 3600.0),
}
_UNIT_STEMS = frozenset(map(stem, (*UNITS, *SCALES)))
_THOUSANDS = frozenset(("000", "t", "tsd", "teur", "thousands"))
_MONEY = frozenset(("usd", "eur", "gbp", "jpy", "pound", "cent"))
Unit = tuple[str, float]
"""Dimension and factor to its base unit."""


@dataclass(frozen=True, slots=True)
class Operand:
    """Describe a number of a source.

    Attributes:
        quantity: the number, in the unit of its heading if it has none itself.
        words: stems of the content words of its clause, or of its row.
        near: those of its clause or cell, if it has any besides a unit.
        text: the text that it stands in.
        place: position of that text in its source.
        column: name or position of its column within a row; empty in prose.
        times: number of such amounts, as in "24 crates of 15 kg each".
        is_derived: whether it is the time between two dates.
    """

    quantity: Quantity
    words: frozenset[str]
    near: frozenset[str]
    text: str
    place: int
    column: str = ""
    times: float = 1.0
    is_derived: bool = False


@lru_cache(maxsize=256)
def read_operands(texts: tuple[str, ...]) -> list[Operand]:
    """Return the numbers of a source's sentences and rows, in order."""
    found: list[Operand] = []
    heading: Unit | None = None
    for place, text in enumerate(texts):
        own = _heading(text)
        numbers = list(_numbers(text, place, own or heading))
        # A heading without numbers of its own holds for the rows below it.
        if own and not numbers:
            heading = own
        found += numbers[: MAX_OPERANDS - len(found)]
    dates = [date for text in texts for date in read_details(text).dates] if len(texts) > 1 else []
    return found + [
        Operand(span, frozenset(), frozenset(), "", len(texts), is_derived=True) for span in spans_between(dates)
    ]


def _numbers(text: str, place: int, heading: Unit | None) -> Iterator[Operand]:
    is_row = any(mark in text for mark in (" | ", "; ", ": ")) or len(text) <= MAX_ROW
    everything = content_words(text)
    if _heading(text) and not _has_figure(text):
        return
    parts = _PARTS.split(text)
    is_keyed = sum(bool(_KEY.match(part)) for part in parts) > 1
    for position, part in enumerate(parts):
        near = frozenset(word for word in content_words(part) if word.isalpha() and word not in _UNIT_STEMS)
        words = everything if is_row else content_words(part)
        own = _heading(part) or heading
        key = _KEY.match(part)
        if key and key[1].strip().isdecimal():
            part = part[key.end() :]
        column = (key[1].lower() if key and is_keyed else str(position)) if is_row else ""
        rate = next((unit for name, unit in _RATES.items() if name in part.lower()), None)
        numbers = [
            _in_unit(number if number.per or not rate else replace(number, per=rate), own)
            for number in _read(_BRACKETS.sub(_without_heading, part))
        ]
        for number in numbers:
            is_repeated = len(numbers) == 2 and number is numbers[1] and not numbers[0].is_unit and _EACH.search(part)
            times = numbers[0].face if is_repeated else 1.0
            yield Operand(number, words, near or words, text, place, column, times)
    details = read_details(text)
    for number in (*details.implied, *spans_between(details.dates)):
        yield Operand(number, everything, everything, text, place, is_derived=True)


def _without_heading(match: re.Match[str]) -> str:
    return "" if _unit(match[1]) else match[0]


def _read(part: str) -> list[Quantity]:
    """Return the numbers of a part without dates and identifiers; "Porto 120" beside "Braga 85" is none."""
    rest = read_dates(read_periods(plain_forms(part))[1])[1]
    members = {number for (_, number), start, end in find_codes(rest) if " " not in rest[start:end]}
    return [each for each in undated_quantities(rest) if each.is_unit or f"{each.face:g}" not in members]


def _in_unit(number: Quantity, heading: Unit | None) -> Quantity:
    if heading is None or number.is_unit:
        return number
    dimension, factor = heading
    values = tuple(value * factor for value in number.values)
    return replace(number, values=values, dimension=dimension, is_unit=bool(dimension), step=number.step * factor)


def _heading(text: str) -> Unit | None:
    """Return the unit that a heading or the name of a row gives: "(k€)", "in million pounds"."""
    first = _KEY.match(text)
    if first and not _NAMED_ROW.match(text) and (unit := _unit(first[1])):
        return unit
    for match in _BRACKETS.finditer(text):
        if unit := _unit(match[1]):
            return unit
    if _has_figure(text):
        return None
    return next((unit for match in _IN.finditer(text) if (unit := _unit(match[1]))), None)


def _has_figure(text: str) -> bool:
    return any(character.isdigit() for character in read_dates(text)[1])


def _unit(written: str) -> Unit | None:
    words = _SYMBOLS.sub(r" \1 ", key_of(written)).split()
    scale, unit = 1.0, None
    money = any(UNITS.get(word, ("", 1.0))[0] in _MONEY for word in words)
    for word in words:
        if word in _THOUSANDS or (money and word.strip(".") in SCALES):
            scale *= 1e3 if word in _THOUSANDS else SCALES[word.strip(".")]
        elif word in UNITS:
            unit = UNITS[word]
        elif word.strip(".") in SCALES or word.removesuffix("s") in SCALES:
            scale *= SCALES.get(word.strip("."), 0.0) or SCALES[word.removesuffix("s")]
        else:
            return None
    if unit is None:
        return ("", scale) if scale > 1.0 else None
    return unit[0], unit[1] * scale
