"""Dates, times of day, days of the week and periods, read from text."""

import re
from dataclasses import dataclass

from workers.steps.units import MONTHS, ORDINALS, WEEKDAYS
from workers.steps.words import key_of


@dataclass(frozen=True, slots=True)
class Date:
    """A date as far as it is named; ``None`` for what is not.

    A time of day is a date of which only ``minute`` (0..1439) is known.
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    minute: int | None = None

    @property
    def parts(self) -> tuple[int | None, int | None, int | None, int | None]:
        """Year, month, day, minute of the day."""
        return (self.year, self.month, self.day, self.minute)


Period = tuple[int, int]
"""First and last month, counted from the year 0."""

_MONTH = "(?P<n>" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
_YEAR = r"(?:,?\s+(?:de\s+)?(?P<y>\d{4})(?!\d))?"
_CLOCK = r"(?P<h>\d{1,2}):(?P<i>\d{2})(?::\d{2}(?:\.\d{1,9})?)?"
_DATE_PATTERNS = (
    # 2026-01-04, 2026-01, 2026-01-04T10:00:00Z
    re.compile(
        r"(?<![\w.-])(?P<y>\d{4})-(?P<m>\d{2})(?:-(?P<d>\d{2}))?"
        rf"(?:[T ]{_CLOCK}(?:Z|[+-]\d{{2}}:?\d{{2}})?)?(?![\w-])"
    ),
    # 3 March 2026, 3rd of March, 3. März
    re.compile(rf"(?<!\w)(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?{_MONTH}{_YEAR}", re.IGNORECASE),
    # March 3, 2026
    re.compile(rf"(?<!\w){_MONTH}\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?![\d.:]){_YEAR}", re.IGNORECASE),
    # March 2026
    re.compile(rf"(?<!\w){_MONTH},?\s+(?:of\s+)?(?P<y>\d{{4}})(?!\d)", re.IGNORECASE),
    # 4.10.2020: only with dots, since the order of slashes is anybody's guess
    re.compile(r"(?<![\w.])(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})(?!\w)"),
    # 9:0-17:0, as records write opening hours
    re.compile(r"(?<![\w:.])(?P<h>\d{1,2}):(?P<i>\d{1,2})(?=-\d{1,2}:\d{1,2}(?![\w:]))"),
    re.compile(r"(?<=-)(?P<h>\d{1,2}):(?P<i>\d{1,2})(?![\w:])"),
    # 14:03, 2:03 pm, 5pm
    re.compile(rf"(?<![\w:.]){_CLOCK}(?![\w:])\s?(?P<p>[ap]\.?m\b)?", re.IGNORECASE),
    re.compile(r"(?<![\w:.])(?P<h>\d{1,2})\s?(?P<p>[ap]\.?m\b)", re.IGNORECASE),
    # in 1648: an earlier year only where a preposition and no noun behind it make it one
    re.compile(
        r"\b(?:in|since|until|circa|year|born|died) (?P<y>1[0-8]\d{2})(?=[.,;:)]|$|\s(?:and|to|by|when|as|at|for|after|with|until|or)\b)",
        re.IGNORECASE,
    ),
    # 2024, if nothing makes it an amount
    re.compile(
        r"(?<![\w.,:/$€£#-])(?P<y>(?:19|20)\d{2})(?![\w%:/]|-\d{1,2}(?!\d)|[.,]\d|\s?(?:%|€|USD|EUR|[kKMG]i?B|ms\b|rpm))"
    ),
)
_CENTURY = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)|({'|'.join(sorted(ORDINALS, key=len, reverse=True))}))[ -]century\b",
    re.IGNORECASE,
)
_DECADE_OF = re.compile(r"\b((?:1[5-9]|20)\d0)\s?['’]?s\b")
_QUARTER = re.compile(r"\b(?:Q([1-4])|(first|second|third|fourth) quarter)(?: of)?,? (\d{4})\b", re.IGNORECASE)
_WEEKDAY = re.compile(r"\b(?:" + "|".join(sorted(WEEKDAYS, key=len, reverse=True)) + r")\b", re.IGNORECASE)
_WEEKEND = re.compile(r"\bweekends?\b|\bWochenende\b", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_CENTURY_OR_DIGIT = re.compile(r"\d|[ -]century\b", re.IGNORECASE)


def read_dates(text: str) -> tuple[list[Date], str]:
    """Dates and times of day of a text, and the text with them blanked out."""
    dates: list[Date] = []
    if not _DIGIT.search(text):
        return dates, text  # as most sentences: none of the patterns needs to look
    for pattern in _DATE_PATTERNS:
        for match in pattern.finditer(text):
            date = _date(match.groupdict())
            if date:
                dates.append(date)
                text = text[: match.start()] + " " * len(match[0]) + text[match.end() :]
    return dates, text


def read_periods(text: str) -> tuple[list[Period], str]:
    """Centuries, decades and quarters of a text, and the text without them."""
    found: list[Period] = []
    if not _CENTURY_OR_DIGIT.search(text):
        return found, text
    for match in _CENTURY.finditer(text):
        last = 12 * 100 * (int(match[1]) if match[1] else ORDINALS[key_of(match[2])])
        found.append((last - 1200 + 12, last + 11))
    decades = (12 * int(match[1]) for match in _DECADE_OF.finditer(text))
    found += [(start, start + 119) for start in decades]
    for match in _QUARTER.finditer(text):
        quarter = int(match[1]) if match[1] else ORDINALS[key_of(match[2])]
        start = 12 * int(match[3]) + 3 * (quarter - 1)
        found.append((start, start + 2))
    for pattern in (_CENTURY, _DECADE_OF, _QUARTER):
        text = pattern.sub(_blank, text)
    return found, text


def months_of(date: Date) -> Period | None:
    """The months that a date lies in; ``None`` if its year is not named."""
    if date.year is None:
        return None
    if date.month is None:
        return 12 * date.year, 12 * date.year + 11
    return 12 * date.year + date.month - 1, 12 * date.year + date.month - 1


def read_weekdays(text: str) -> frozenset[int]:
    """Days of the week that a text names, 0..6; the weekend is two of them."""
    days = {WEEKDAYS[key_of(match[0])] for match in _WEEKDAY.finditer(text)}
    return frozenset(days | ({5, 6} if _WEEKEND.search(text) else set()))


def _date(groups: dict[str, str | None]) -> Date | None:
    month = int(groups["m"] or 0) if groups.get("m") else MONTHS.get(key_of(groups.get("n") or "").rstrip("."))
    day = int(groups["d"] or 0) if groups.get("d") else None
    year = int(groups["y"] or 0) if groups.get("y") else None
    if (month is not None and not 1 <= month <= 12) or (day is not None and not 1 <= day <= 31):
        return None
    if not groups.get("h"):
        return Date(year, month, day)
    hour, minute = int(groups["h"] or 0), int(groups.get("i") or 0)
    half = (groups.get("p") or "")[:1].lower()
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return Date(year, month, day, hour * 60 + minute) if hour < 25 and minute < 60 else None


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
