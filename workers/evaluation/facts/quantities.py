"""Read numbers with units from text.

Numbers are compared by value: ``47 minutes``, ``0.8 h``, ``$3,000``, ``3k``, ``12 %``,
``3.000,50 €``. A unit is reduced to a dimension and a factor (seconds, bytes, …); a number
without a unit is compared by the noun behind it ("3 restarts").
"""

import re

from workers.evaluation.facts.calculation.time_spans import spans_between as spans_between
from workers.evaluation.facts.dates import read_dates, read_periods
from workers.evaluation.facts.numbers.figures import written_numbers
from workers.evaluation.facts.numbers.number_words import NUMBER_NAME, cardinal, composed, spelled_numbers
from workers.evaluation.facts.numbers.parts import (
    blank,
    read_ages,
    read_compounds,
    read_halves,
    read_ratios,
    read_shares,
)
from workers.evaluation.facts.numbers.quantity import Quantity as Quantity
from workers.evaluation.facts.units import FRACTIONS, SCALES, UNITS
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import key_of

_DOZEN = re.compile(r"(?<![\w.,])(\d{1,4}) dozen\b", re.IGNORECASE)
_NUMBER_AND_HALF = PrefilteredPattern(
    rf"\b(one|{NUMBER_NAME}) and (?:(?:a )?(?P<part>half|quarter)|three[ -]quarters?) (?=[^\W\d_])", re.IGNORECASE
)
_DECADE = re.compile(r"(?<!\w)(?:1[5-9]|20)?\d0['’]?s\b")
_SHARED_SCALE = re.compile(
    r"(?<![\w.,])(?P<cur>(?:US\$|USD|EUR|GBP|[$€£]) ?)?(?P<one>\d{1,6}(?:[.,]\d{1,3})?) (?P<to>to|and|bis|à|a) (?P=cur)?"
    r"(?P<two>\d{1,6}(?:[.,]\d{1,3})?) (?P<scale>thousand|million|billion|Millionen|Milliarden|millions|milliards|millones)\b"
    r"(?P<unit> [^\W\d_]{1,12}\b)?",
    re.IGNORECASE,
)
"""A scale, and a currency or unit, that two numbers share: "from 10 to 15 million", "EUR 10 to 15 million"."""
_SHARED_UNIT = PrefilteredPattern(
    r"(?P<change>\b(?:cut|reduced?|fell|falls?|fallen|dropp?(?:ed|s)?|declined?|decreased?|shorten(?:ed|s)?|rose|rises?|risen|grew|grows?|grown|increased?"
    r"|climbed|went|improved?|lowered|raised)\b[^.;\d]{0,60}? from) (?P<one>\d{1,6}(?:[.,]\d{1,3})?) to (?P<two>\d{1,6}(?:[.,]\d{1,3})?)"
    r"(?P<unit>\s?%|[ -][^\W\d_]{1,12}\b)",
    re.IGNORECASE,
)
"""A unit that stands behind the end of a change and belongs to its beginning, too: "cut it from 95 to 62 minutes"."""
_SCALE_OF = re.compile(
    rf"(?<=\d )({'|'.join(sorted(SCALES, key=len, reverse=True))}) (?:of |de |di |d['’])(?=[^\W\d_])", re.IGNORECASE
)
_SIDES = PrefilteredPattern(
    r"(?<![\w.,])(?P<first>\d{1,4}(?:[.,]\d{1,2})?)(?P<rest>(?:\s?(?:[x×]|by)\s?\d{1,4}(?:[.,]\d{1,2})?){1,2})"
    r"(?P<unit>\s?(?:mm|cm|inch(?:es)?|millimet(?:er|re)s?|centimet(?:er|re)s?|Zoll|Zentimeter|Millimeter|centimètres|centímetros)\b)",
    re.IGNORECASE,
)
"""A unit of length that all sides of a thing share: "55 x 40 x 23 cm"."""
_SIDE = re.compile(r"\s?(?:[x×]|by)\s?(\d[\d.,]*)", re.IGNORECASE)
_HOUR_WORD = re.compile(r"\bhours?\b", re.IGNORECASE)
_HOURS_AND_MINUTES = re.compile(
    rf"\b({NUMBER_NAME}|one|\d{{1,3}}) (hours?)(?:,| and)? ({NUMBER_NAME}(?:[ -](?:{NUMBER_NAME}|one))?|one|\d{{1,2}}) (minutes?)\b",
    re.IGNORECASE,
)
_TIME_UNIT = "(?:second|minute|hour|day|night|week|month|quarter|year)"
_ONE_SPAN = PrefilteredPattern(
    rf"\bone (?={_TIME_UNIT}(?:['’]s)?\s(?:before|in advance|notice|earlier|beforehand|ahead|prior)\b)", re.IGNORECASE
)
"""The word "one" as a figure: "one month before the end", not "one day she left"."""
_DIGIT = re.compile(r"\d")
_SPACED = re.compile(r"(?<!\d )(?<![\w.,])\d{1,3}(?: \d{3}){1,4}(?:,\d{1,2})?(?![\d.,]| \d)(?=\s?(?:[€$£]|[^\W\d_]))")
"""A number whose thousands are separated by spaces: "3 250 000 euros"."""


def read_quantities(text: str) -> list[Quantity]:
    """Read the numbers of a text that are neither dates nor parts of an identifier."""
    return undated_quantities(read_dates(read_periods(text)[1])[1])


def undated_quantities(text: str) -> list[Quantity]:
    """Read the numbers of a text from which ``read_periods`` and ``read_dates`` have removed periods and dates."""
    text = _ONE_SPAN.sub("1 ", text)
    text = _NUMBER_AND_HALF.sub(
        lambda match: f"{cardinal(match[1]) + (FRACTIONS[key_of(match['part'])] if match['part'] else 0.75):g} ", text
    )
    if _HOUR_WORD.search(text):
        text = _HOURS_AND_MINUTES.sub(_in_digits, text)
    if not _DIGIT.search(text):
        # A quick check: most sentences contain no figure.
        shares, rest = read_shares(text)
        halves, rest = read_halves(rest)
        return [*shares, *halves, *spelled_numbers(rest)]
    text = _SPACED.sub(lambda match: match[0].replace(" ", "\u00a0"), text)
    text = _SCALE_OF.sub(r"\1 ", text)
    text = _SIDES.sub(_with_sides, text)
    rest = _SHARED_SCALE.sub(_shared, _DECADE.sub(blank, text))
    rest = _SHARED_UNIT.sub(_with_unit, rest)
    rest = _DOZEN.sub(lambda match: str(12 * int(match[1])), rest)
    found: list[Quantity] = []
    for reader in (read_ratios, read_ages, read_compounds, read_shares, read_halves):
        more, rest = reader(rest)
        found += more
    return [*found, *written_numbers(rest), *spelled_numbers(rest)]


def _in_digits(match: re.Match[str]) -> str:
    hours, minutes = (
        cardinal(each) if each.isdecimal() or key_of(each) == "one" else composed(re.split(r"[\s-]", key_of(each)))
        for each in (match[1], match[3])
    )
    return f"{hours:g} {match[2]} {minutes:g} {match[4]}"


def _with_sides(match: re.Match[str]) -> str:
    return " x ".join(f"{side} {match['unit'].strip()}" for side in (match["first"], *_SIDE.findall(match["rest"])))


def _with_unit(match: re.Match[str]) -> str:
    unit = match["unit"]
    known = key_of(unit.strip(" -\u00a0"))
    if known != "%" and known not in UNITS:
        return match[0]
    return f"{match['change']} {match['one']}{unit} to {match['two']}{unit}"


def _shared(match: re.Match[str]) -> str:
    unit = match["unit"] or ""
    unit = unit if key_of(unit.strip()) in UNITS else ""
    cur, scale = match["cur"] or "", match["scale"]
    rest = "" if unit else match["unit"] or ""
    return f"{cur}{match['one']} {scale}{unit} {match['to']} {cur}{match['two']} {scale}{unit}{rest}"
