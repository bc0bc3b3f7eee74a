"""Write years, quarters, halves, weeks and decades in one form: "Q3 2024", "H1 2024", "week 7 of 2024", "the 1990s"."""

import re

from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import key_of

_QUARTER = PrefilteredPattern(
    r"\b(?:Q(?P<a>[1-4])(?: of)?,? ?(?:FY ?|fiscal (?:year )?|['’])(?P<y>\d{4}|\d\d)|(?P<b>[1-4])Q ?['’]?(?P<z>\d{4}|\d\d)"
    r"|(?:FY ?)?(?P<w>20\d\d)[ -]Q(?P<c>[1-4])|Q(?P<d>[1-4])/(?P<x>20\d\d|\d\d))\b",
)
_FISCAL_QUARTER = PrefilteredPattern(
    r"\b(quarter),? of (?:the )?(?:fiscal|financial) (?:year )?(?=\d{4}\b)", re.IGNORECASE
)
_FISCAL = PrefilteredPattern(r"\bFY ?['’]?(\d{4}|\d\d)\b|\b(?:fiscal|financial) year (\d{4})\b", re.IGNORECASE)
_HALF = PrefilteredPattern(r"\bH([12])[ /](?:FY ?)?['’]?(20\d\d|\d\d)\b|\b(?:1|2)H ?['’]?\d\d\b")
_WEEK = PrefilteredPattern(
    r"(?<![\w-])(?P<y>\d{4})-?W(?P<w>[0-5]\d)(?:-[1-7])?(?![\w-])|\b(?:KW|Kalenderwoche|calendar week|week) (?P<k>[1-5]?\d)(?:[ /](?:of )?(?P<j>20\d\d))?\b",
    re.IGNORECASE,
)
_SHORT_DECADE = PrefilteredPattern(
    r"(?<![\w.,:$€£])(?:(?<=the )|(?<=The )|['’]|(?P<words>(?:early|late|mid)[ -]))['’]?(?P<d>[2-9])0['’]?s\b(?! (?:°|degrees))"
)
_LONG_DECADE = re.compile(r"\b((?:1[5-9]|20)?\d0)er(?:n|[- ]Jahren?)?\b")
_DECADES = {
    **{name: 10 * place for place, name in enumerate(("twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties"), 2)},
    **{name: 10 * place for place, name in enumerate(("zwanziger", "dreißiger", "vierziger", "fünfziger", "sechziger", "siebziger", "achtziger", "neunziger"), 2)},
}  # fmt: skip
_DECADE_WORD = PrefilteredPattern(
    r"\b(?P<before>(?:in|during|since|from|of|until|by) the (?:early |late |mid-?)?|(?:den|der|die|seit|Anfang der|Ende der|Mitte der) )(?P<d>"
    + "|".join(_DECADES)
    + r")n?(?:(?<=r)[- ]Jahren?|(?<=rn)[- ]Jahren?)?\b(?! (?:percent|degrees))",
    re.IGNORECASE,
)
_FRENCH_DECADE = PrefilteredPattern(r"\bannées (\d0|1[5-9]\d0|20\d0)\b", re.IGNORECASE)
_MID = PrefilteredPattern(r"\b(mid|early|late)-(?=(?:19|20)\d{2}\b)", re.IGNORECASE)
_ROMAN_YEAR = PrefilteredPattern(r"\b(?=[MCDLXVI]{4,})M(?:CM|M)(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})\b")
_ROMAN = PrefilteredPattern(
    r"\b(?P<head>(?i:chapter|part|article|section|volume|act|phase|type|schedule|appendix|title|stage|tier|class|annex|grade|level"
    r"|world war|kapitel|teil|artikel|band|phase|typ|anhang|chapitre|tome))(?P<space> )(?P<n>I{1,3}|IV|VI{0,3}|IX|XI{0,3}|XIV|XVI{0,3}|XIX|XX)\b(?! (?:am|was|have|will|would|had|think|do|can)\b)",
)
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def plain_periods(text: str) -> str:
    """Return a text with its periods in the form that ``read_periods`` and ``read_dates`` read."""
    text = _ROMAN_YEAR.sub(lambda match: str(_roman(match[0])), text)
    text = _ROMAN.sub(lambda match: f"{match['head']} {_roman(match['n'])}", text)
    text = _FISCAL_QUARTER.sub(r"\1 of ", text)
    text = _QUARTER.sub(_quarter, text)
    text = _FISCAL.sub(lambda match: _year(match[1] or match[2]), text)
    text = _HALF.sub(lambda match: f"H{match[1]} {_year(match[2])}" if match[1] else match[0], text)
    text = _WEEK.sub(_week, text)
    text = _SHORT_DECADE.sub(lambda match: f"{match['words'] or ''}{_decade(10 * int(match['d']))}", text)
    text = _LONG_DECADE.sub(lambda match: _decade(int(match[1])), text)
    text = _FRENCH_DECADE.sub(lambda match: f"années {_decade(int(match[1]))}", text)
    text = _DECADE_WORD.sub(lambda match: f"{match['before']}{_decade(_DECADES[key_of(match['d'])])}", text)
    return _MID.sub(r"\1 ", text)


def _quarter(match: re.Match[str]) -> str:
    number = match["a"] or match["b"] or match["c"] or match["d"]
    return f"Q{number} {_year(match['y'] or match['z'] or match['w'] or match['x'])}"


def _week(match: re.Match[str]) -> str:
    year = match["y"] or match["j"]
    return f"week {int(match['w'] or match['k'])}" + (f" of {year}" if year else "")


def _decade(number: int) -> str:
    return f"{number if number >= 100 else 1900 + number}s"


def _year(written: str) -> str:
    return written if len(written) == 4 else f"20{written}"


def _roman(written: str) -> int:
    values = [_VALUES[letter] for letter in written]
    return sum(-value if value < behind else value for value, behind in zip(values, [*values[1:], 0], strict=True))
