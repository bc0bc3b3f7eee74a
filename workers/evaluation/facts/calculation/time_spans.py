"""Derive durations from dates and times of day, and times of day from durations."""

import re
from collections.abc import Sequence
from datetime import date as date_of
from itertools import combinations

from workers.evaluation.facts.dates import Date
from workers.evaluation.facts.numbers.number_words import NUMBER_NAME, cardinal
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import key_of

MAX_SPANNED = 4
"""Most years, and most times of day, between which durations are derived."""
_BEGINS = re.compile(
    r"\b(?:began|begins?|beginning|start(?:s|ed)?|open(?:s|ed)?|from|between|leaves?|left|departs?|departed|sets? off|takes? off|took off|boards?"
    r"|beginnt|begann|von|zwischen|fährt|öffnet|de|entre|commence|part|desde|empieza|sale|dalle|inizia|parte|van|tussen|begint|vertrekt|od|с)\b",
    re.IGNORECASE,
)
_RACE_TIME = PrefilteredPattern(r"(?<![\d:])(\d{1,2}):([0-5]\d):([0-5]\d)(?![\d:])")
_YEARS_APART = PrefilteredPattern(
    rf"\b(?:(?P<number>an?|one|{NUMBER_NAME}|\d{{1,2}}) years? (?P<side>later|afterwards|earlier|before that|after that)"
    r"|the (?P<side_>following|next|previous|preceding) year)\b(?! than\b)",
    re.IGNORECASE,
)
_BEFORE = frozenset(("earlier", "before that", "previous", "preceding"))
YEAR = re.compile(r"(?<![\w.,])(?:1\d{3}|20\d\d)(?![\w%]|[.,]\d)")
"""A number of four digits that is a year."""
_BORN = re.compile(r"\bborn\b", re.IGNORECASE)
_DIED = re.compile(r"\b(?:died|death|passed away)\b", re.IGNORECASE)


def implied_quantities(text: str, dates: Sequence[Date]) -> list[Quantity]:
    """Derive durations from two times of day or from the years of birth and death."""
    found = []
    races = [3600.0 * int(hours) + 60.0 * int(minutes) + int(rest) for hours, minutes, rest in _RACE_TIME.findall(text)]
    if len(races) == 2 and races[0] != races[1]:
        seconds = abs(races[0] - races[1])
        found.append(Quantity((seconds,), "time", True, False, 0.5, 0, seconds, written=f"{seconds:g} s"))
    clock = [date.minute for date in dates if date.minute is not None]
    if not races and len(clock) == 2 and clock[0] != clock[1] and _BEGINS.search(text):
        seconds = 60.0 * ((clock[1] - clock[0]) % 1440)
        times = "–".join(f"{each // 60}:{each % 60:02}" for each in clock)
        found.append(Quantity((seconds,), "time", True, False, 30.0, 0, seconds, written=times))
    days = [date for date in dates if date.month is not None and date.day is not None]
    if len(days) == 2 and len(dates) == 2 and _BEGINS.search(text) and (count := _days_between(*days)):
        # The last day may count or not.
        spans = tuple(86400.0 * each for each in (count, count + 1))
        found.append(
            Quantity(spans, "time", True, False, 43200.0, 0, float(count), written=f"{count}–{count + 1} days")
        )
    lived = [date for date in dates if date.year is not None]
    if len(lived) == 2 and _BORN.search(text) and _DIED.search(text):
        born, died = sorted(lived, key=lambda date: date.year or 0)
        age = (died.year or 0) - (born.year or 0)
        known = None not in (born.month, born.day, died.month, died.day)
        early = known and (died.month or 0, died.day or 0) < (born.month or 0, born.day or 0)
        ages = (age - early,) if known else (age, age - 1)
        years = f"{born.year}–{died.year}"
        found.append(
            Quantity(tuple(12.0 * each for each in ages), "month", True, False, 6.0, 0, float(ages[0]), written=years)
        )
    return found


def spans_between(dates: Sequence[Date]) -> list[Quantity]:
    """Derive the years between any two of a few years, and the time between any two of a few times of day."""
    years = sorted({date.year for date in dates if date.year is not None})
    clock = list(dict.fromkeys(date.minute for date in dates if date.minute is not None and date.year is None))
    found = []
    if len(years) <= MAX_SPANNED:
        for one, two in combinations(years, 2):
            found.append(
                Quantity((12.0 * (two - one),), "month", True, False, 0.0, 0, float(two - one), written=f"{one}–{two}")
            )
    months = sorted({12 * date.year + date.month for date in dates if date.year is not None and date.month is not None})
    if len(months) <= MAX_SPANNED:
        for one, two in combinations(months, 2):
            span = float(two - one)
            found.append(Quantity((span,), "month", True, False, 0.0, 0, span, written=f"{span:g} months"))
    days = list(dict.fromkeys(date for date in dates if date.month is not None and date.day is not None))
    if len(days) <= MAX_SPANNED:
        for first, last in combinations(days, 2):
            if count := _days_between(first, last):
                # The last day may count or not.
                both = tuple(86400.0 * each for each in (count, count + 1))
                found.append(Quantity(both, "time", True, False, 0.0, 0, both[0], written=f"{count}–{count + 1} days"))
    if len(clock) <= MAX_SPANNED:
        for one, two in combinations(clock, 2):
            # "It stopped at 22:40, and moved again at 03:15" passes midnight; "it arrived at 11:12, having left at 8:47" does not.
            spans = tuple(60.0 * each for each in ((two - one,) if two > one else (two - one + 1440, one - two)))
            found.append(Quantity(spans, "time", True, False, 30.0, 0, spans[0], written=""))
    return found


def implied_years(text: str) -> list[Date]:
    """Derive the years that a text counts from the last year before: "took over in 2014 and moved two years later"."""
    found = []
    for match in _YEARS_APART.finditer(text):
        known = YEAR.findall(text[: match.start()])
        if known:
            count = 1.0 if match["number"] is None else cardinal(match["number"])
            is_before = key_of(match["side"] or match["side_"]) in _BEFORE
            found.append(Date(year=int(known[-1]) + int(-count if is_before else count)))
    return found


def implied_dates(quantities: Sequence[Quantity], dates: Sequence[Date]) -> list[Date]:
    """Derive the times of day that lie a duration after or before the only time of day of a text."""
    clock = [date.minute for date in dates if date.minute is not None]
    if len(clock) != 1:
        return []
    spans = [int(each.values[0] // 60) for each in quantities if each.dimension == "time" and each.values[0] < 86400]
    return [Date(minute=(clock[0] + sign * span) % 1440) for span in spans[:8] for sign in (1, -1) if span]


def _days_between(one: Date, two: Date) -> int:
    """Return the days from one date to a later one, in the same year if only one of them names it; else 0."""
    year = one.year or two.year or 2001
    try:
        first = date_of(one.year or year, one.month or 1, one.day or 1)
        last = date_of(two.year or year, two.month or 1, two.day or 1)
    except ValueError:
        return 0
    return max(0, (last - first).days)
