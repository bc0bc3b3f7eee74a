"""Read dates, times of day, days of the week and periods from text."""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate

from workers.evaluation.facts.numbers.number_forms import is_counted
from workers.evaluation.facts.units import DATED, MONTHS, ORDINALS, UNITS, WEEKDAYS
from workers.evaluation.text.languages.calendar_names import DAYS
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import key_of


@dataclass(frozen=True, slots=True)
class Date:
    """Describe a date by its named parts; ``None`` for each part that is not named.

    In a time of day only ``minute`` (0..1439) is set. ``is_open`` is true for one that may be in either half of the
    day ("quarter to six"); its minute is that of the first half.
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    minute: int | None = None
    is_open: bool = False

    @property
    def parts(self) -> tuple[int | None, int | None, int | None, int | None]:
        """Return year, month, day and minute of the day."""
        return (self.year, self.month, self.day, self.minute)


DAY = 1440
"""Minutes of a day."""
Period = tuple[int, int]
"""First and last month, counted from the year 0."""


class DatePool:
    """Compare dates with many others by their named parts, in a time that does not depend on their number.

    Args:
        dates: the others.
    """

    def __init__(self, dates: Iterable[Date]) -> None:
        self._by_parts: dict[int, list[Date]] = {}
        for each in dict.fromkeys(each for date in dates for each in _alternatives(date)):
            self._by_parts.setdefault(_named(each), []).append(each)
        self._shared: dict[tuple[int, int], set[Date]] = {}

    def has_comparable(self, date: Date) -> bool:
        """Return true if one of the dates names a part of this date and can therefore differ."""
        return any(_named(date) & parts for parts in self._by_parts)

    def agrees(self, date: Date) -> bool:
        """Return true if one of the dates has a named part in common with this date and no part that differs."""
        own = _named(date)
        return any(
            parts & own and _only(each, parts & own) in self._only_parts(parts, parts & own)
            for parts in self._by_parts
            for each in _alternatives(date)
        )

    def _only_parts(self, parts: int, shared: int) -> set[Date]:
        """Return the dates with these named parts, each reduced to the shared ones."""
        if (parts, shared) not in self._shared:
            self._shared[parts, shared] = {_only(date, shared) for date in self._by_parts[parts]}
        return self._shared[parts, shared]


class PeriodPool:
    """Find out whether periods overlap with one of many others, in logarithmic time.

    Args:
        periods: the others.
    """

    def __init__(self, periods: Iterable[Period]) -> None:
        known = sorted(periods)
        self._starts = [start for start, _ in known]
        self._ends = list(accumulate((end for _, end in known), max))

    def overlaps(self, period: Period) -> bool:
        """Return true if one of the periods has a month in common with this one."""
        first, last = period
        begun = bisect_right(self._starts, last)
        return begun > 0 and first <= self._ends[begun - 1]


def agrees(one: Date, two: Date) -> bool:
    """Return true if two dates have a named part in common and no part that differs."""
    return DatePool([two]).agrees(one)


def _named(date: Date) -> int:
    """Return the named parts of a date as bits."""
    return sum(1 << place for place, part in enumerate(date.parts) if part is not None)


def _only(date: Date, parts: int) -> Date:
    year, month, day, minute = (part if parts >> place & 1 else None for place, part in enumerate(date.parts))
    return Date(year, month, day, minute)


def _alternatives(date: Date) -> tuple[Date, ...]:
    """Return a date with the times that it may mean: one that is open, and 24:00, which is 0:00 too."""
    if date.minute == DAY:
        return date, replace(date, minute=0)
    if date.is_open and date.minute is not None:
        return date, replace(date, minute=(date.minute + DAY // 2) % DAY)
    return (date,)


_MONTH = "(?P<n>" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
_YEAR = r"(?:,?\s+(?:de\s+)?(?P<y>\d{4})(?!\d))?"
_CLOCK = r"(?P<h>\d{1,2}):(?P<i>\d{2})(?::\d{2}(?:\.\d{1,9})?)?"
_UNIT_NAMES = "[gmlVW]|" + "|".join(
    f"(?i:{re.escape(name)})"
    for name in sorted(UNITS, key=len, reverse=True)
    if len(name) > 1 and name[-1].isalpha() and name not in DATED
)
"""Units that make a number an amount and no year: "2000 euros", "2000 kWh"; "in 2020 dollars" names a year."""
_BARE_YEAR = re.compile(
    rf"(?<![\w.,:/$€£₹#-])(?:(?<=\bin )|(?!\d{{4}}\s(?:{_UNIT_NAMES})\b))"
    r"(?P<y>(?:19|20)\d{2})(?![\w%/]|:\d|-\d{1,2}(?!\d)|[.,]\d|\s?(?:%|€|USD|EUR|[kKMG]i?B|ms\b|rpm))"
)
"""A year alone, unless the context makes it an amount: 2024."""
_DATE_PATTERNS = (
    # 2026-01-04, 2026-01, 2026-01-04T10:00:00Z
    re.compile(
        r"(?<![\w.-])(?P<y>\d{4})-(?P<m>\d{2})(?:-(?P<d>\d{2}))?"
        rf"(?:[T ]{_CLOCK}(?:Z|[+-]\d{{2}}:?\d{{2}})?)?(?![\w-])"
    ),
    # 3 March 2026, 3rd of March, 3. März
    PrefilteredPattern(rf"(?<!\w)(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?{_MONTH}{_YEAR}", re.IGNORECASE),
    # March 3, 2026
    PrefilteredPattern(rf"(?<!\w){_MONTH}\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:]|\.\d){_YEAR}", re.IGNORECASE),
    # March 2026
    PrefilteredPattern(rf"(?<!\w){_MONTH},?\s+(?:of\s+)?(?P<y>\d{{4}})(?!\d)", re.IGNORECASE),
    # 4.10.2020; with slashes the order of day and month is ambiguous
    PrefilteredPattern(r"(?<![\w.])(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})(?!\w)"),
    # 9:0-17:0, the format of opening hours in records
    re.compile(r"(?<![\w:.])(?P<h>\d{1,2}):(?P<i>\d{1,2})(?=-\d{1,2}:\d{1,2}(?![\w:]))"),
    re.compile(r"(?<=-)(?P<h>\d{1,2}):(?P<i>\d{1,2})(?![\w:])"),
    # 14:03, 2:03 pm, 5pm
    re.compile(rf"(?<![\w:.]){_CLOCK}(?![\w:])\s?(?:(?P<p>[ap]\.?m\b)|(?P<o>o['’]clock\b))?", re.IGNORECASE),
    re.compile(r"(?<![\w:.])(?P<h>\d{1,2})(?:\.(?P<i>[0-5]\d))?\s?(?P<p>[ap]\.?m\b)", re.IGNORECASE),
    # in 1648: an earlier year only after a preposition and without a following noun
    re.compile(
        r"\b(?:in|since|until|circa|year|born|died|dat(?:es|ed|ing) (?:back )?(?:from|to)) (?P<y>1[0-8]\d{2})(?=[.,;:)]|$|\s(?:and|to|by|when|as|at|for|after|with|until|or|in|on|near|before|but|he|she|it|they|who|which)\b)",
        re.IGNORECASE,
    ),
    _BARE_YEAR,
)
_CENTURY = PrefilteredPattern(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)|({'|'.join(sorted(ORDINALS, key=len, reverse=True))}))[ -]century\b",
    re.IGNORECASE,
)
_DECADE_OF = re.compile(r"\b((?:1[5-9]|20)\d0)\s?['’]?s\b")
_HALF_YEAR = PrefilteredPattern(r"\b(?:H([12])|(first|second) half)(?: of)?,? (\d{4})\b", re.IGNORECASE)
_QUARTER = PrefilteredPattern(r"\b(?:Q([1-4])|(first|second|third|fourth) quarter)(?: of)?,? (\d{4})\b", re.IGNORECASE)
_WEEKDAY = PrefilteredPattern(r"\b(?:" + "|".join(sorted(WEEKDAYS, key=len, reverse=True)) + r")\b", re.IGNORECASE)
_SHORT_DAY = PrefilteredPattern(
    r"\b(?:Sat|Sun)\b(?=\.?,?\s?(?:\d|[-–&/,;:]|and\b|to\b|from\b|until\b|closed\b|$))|(?<=[-–&/])(?:Sat|Sun)\b"
)
"""The short names of these days in a list of times; elsewhere they are words."""
_WEEKEND = PrefilteredPattern(r"\bweekends?\b|\bWochenende\b", re.IGNORECASE)
_WORKDAYS = PrefilteredPattern(r"\b(?:week|work(?:ing )?|business )days?\b|\bWerktags?\b", re.IGNORECASE)
_DAY_RANGE = re.compile(
    rf"{_WEEKDAY.pattern}\s?(?:–|-|to|through|thru|till|until|bis|au|à)\s?{_WEEKDAY.pattern}", re.IGNORECASE
)
_DIGIT = re.compile(r"\d")
_CENTURY_OR_DIGIT = re.compile(r"\d|[ -]century\b", re.IGNORECASE)


_MAY = re.compile(r"(?<=\d) may (?=(?!(?:at|and|to|until|from|in|for|or|on)\b)[a-z])")
"""The verb after a figure: "children under 10 may not swim alone" has no date."""


def read_dates(text: str) -> tuple[list[Date], str]:
    """Read the dates and times of day of a text; return them and the text with them blanked out."""
    dates: list[Date] = []
    if not _DIGIT.search(text):
        return dates, text  # A quick check: most sentences contain no date.
    text = _MAY.sub(" can ", text)
    for pattern in _DATE_PATTERNS:
        for match in pattern.finditer(text):
            date = _date(match.groupdict())
            if pattern is _BARE_YEAR and is_counted(
                text[max(0, match.start() - 30) : match.start()], text[match.end() : match.end() + 30]
            ):
                continue
            if date:
                dates.append(date)
                text = text[: match.start()] + " " * len(match[0]) + text[match.end() :]
    return dates, text


def read_periods(text: str) -> tuple[list[Period], str]:
    """Read the centuries, decades, halves and quarters of years of a text; return them and the text without them."""
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
    for match in _HALF_YEAR.finditer(text):
        half = int(match[1]) if match[1] else ORDINALS[key_of(match[2])]
        start = 12 * int(match[3]) + 6 * (half - 1)
        found.append((start, start + 5))
    for pattern in (_CENTURY, _DECADE_OF, _QUARTER, _HALF_YEAR):
        text = pattern.sub(_blank, text)
    return found, text


def months_of(date: Date) -> Period | None:
    """Return the months that contain a date; ``None`` if its year is not named."""
    if date.year is None:
        return None
    if date.month is None:
        return 12 * date.year, 12 * date.year + 11
    return 12 * date.year + date.month - 1, 12 * date.year + date.month - 1


def read_weekdays(text: str) -> frozenset[int]:
    """Read the days of the week that a text names, 0..6, with those of "Tuesday to Sunday", "weekends" and "weekdays"."""
    text = _SHORT_DAY.sub(lambda match: DAYS[5 + (match[0] == "Sun")], text)
    days = {WEEKDAYS[key_of(match[0])] for match in _WEEKDAY.finditer(text)}
    for span in _DAY_RANGE.finditer(text):
        first, last = (WEEKDAYS[key_of(match[0])] for match in _WEEKDAY.finditer(span[0]))
        days.update((first + step) % 7 for step in range((last - first) % 7 + 1))
    if _WEEKEND.search(text):
        days |= {5, 6}
    return frozenset(days | set(range(5)) if _WORKDAYS.search(text) else days)


def unnamed_days(text: str) -> frozenset[str]:
    """Return the English names of days that a text means and does not name: "wednesday" of "Monday to Thursday"."""
    named = {WEEKDAYS[key_of(match[0])] for match in _WEEKDAY.finditer(text)}
    return frozenset(DAYS[day] for day in read_weekdays(text) - named)


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
    is_open = bool(groups.get("o")) and hour <= 12
    hour = hour % 12 if is_open else hour
    return Date(year, month, day, hour * 60 + minute, is_open) if hour < 25 and minute < 60 else None


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
