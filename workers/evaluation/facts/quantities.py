"""Read numbers with units from text.

Numbers are compared by value: ``47 minutes``, ``0.8 h``, ``$3,000``, ``3k``, ``12 %``,
``3.000,50 €``. A unit is reduced to a dimension and a factor (seconds, bytes, …); a number
without a unit is compared by the noun behind it ("3 restarts").
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date as date_of
from itertools import combinations

from workers.evaluation.facts.dates import Date as Date
from workers.evaluation.facts.dates import read_dates, read_periods
from workers.evaluation.facts.number_forms import is_scale, is_sign
from workers.evaluation.facts.units import (
    AMBIGUOUS_NUMBER_WORDS,
    CAPITAL_SCALES,
    FRACTIONS,
    NUMBER_WORDS,
    SCALES,
    UNITS,
)
from workers.evaluation.text.words import STOP_WORDS, key_of, stem, word_set


@dataclass(frozen=True, slots=True)
class Quantity:
    """Describe a number as written in a text.

    Attributes:
        values: possible values in base units; "3.000" is 3 or 3,000.
        dimension: ``time`` (seconds), ``bytes``, ``percent``, a currency, …; the stem of the
            noun behind it where there is no unit; empty if nothing follows.
        is_unit: whether the dimension is a known unit (False: a noun or nothing).
        approximate: preceded by "about" or the like.
        step: half of the last written digit's place value, in base units: the precision.
        bound: 1 for "at least" and "over", -1 for "at most" and "under", else 0.
        face: the figure as written before its unit.
        per: unit of time of a rate ("$50 a month") as (dimension, factor), else ``None``.
        written: the text of the number, for display only.
    """

    values: tuple[float, ...]
    dimension: str
    is_unit: bool
    approximate: bool
    step: float
    bound: int = 0
    face: float = 0.0
    per: tuple[str, float] | None = None
    written: str = field(default="", compare=False)


_NUMBER = re.compile(
    r"(?:(?<![\w.)])(?P<sign>[-−]|(?i:minus ))|(?:^|(?<=[\s|(\[{:]))(?P<dash>–)|(?<=\d[-–])|(?<![\w.,:/#_-]))(?P<cur>(?:[$€£¥₹]|(?:US\$|USD|EUR|GBP|JPY|INR)(?=\s?\d))\s?)?"
    r"(?P<num>\d{1,2}(?:,\d{2}){1,4},\d{3}(?:\.\d{1,2})?|(?<![\d.])\.\d{1,15}|\d{1,3}(?:[,.'’\u00a0\u202f]\d{3}){1,6}+(?:[.,]\d{1,15})?|\d{1,15}(?:[.,]\d{1,15})?)(?!\d|[.,]\d)"
    rf"(?:[\s-]?(?P<scale>(?i:{'|'.join(sorted(SCALES, key=len, reverse=True))}))(?![\w]|/[hs]\b)\.?)?"
    r"(?P<letter>(?<=\d)[BTbt](?!\w))?"
    r"(?P<next>[\s-]{0,2}(?:(?:km|m)/[hs]\b|[^\W\d_]+\$?|[%€$£₹°][CF]?))?(?![:\d]\d)"
)
_IDENTIFIER = re.compile(r"(?<![\w-])(?=[\d-]*[^\W\d_])(?:\w+-){2,6}$")
"""The beginning of an identifier of several parts with a letter, before its last number: "CVE-2026-" of "CVE-2026-1234"."""
_NUMBER_NAME = "(?:" + "|".join(sorted(NUMBER_WORDS, key=len, reverse=True)) + ")"
_POWER = "(?:hundred|thousand|million|billion)"
_AND_ONE = r"(?:(?<=ty)[\s-]one\b(?!-)|(?<=hundred) (?:and )?one\b(?!-)|(?<=thousand|.million|.billion) and one\b(?!-))"
"""The last part of "twenty-one" and "a thousand and one"; "twenty one-bedroom flats" are twenty."""
_WORD_NUMBER = re.compile(
    rf"(?<!\d[\s-])\b((?:(?:an?|one)[ -](?={_POWER}))?{_NUMBER_NAME}(?:(?:[\s-]| and ){_NUMBER_NAME}|{_AND_ONE}){{0,5}})\b(?:[\s-]+([^\W\d_]+))?",
    re.IGNORECASE,
)
_APPROXIMATE = re.compile(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|over|under|ca\.?|circa|etwa|rund|fast|environ"
    r"|~|≈|more than|less than|at least|up to|at most|above|below|fewer than|no more than|no less than|(?:minimum|maximum) of)"
    r"\s*[$€£]?$",
    re.IGNORECASE,
)
MAX_SPANNED = 4
"""Most years, and most times of day, between which durations are derived."""
_AT_LEAST = re.compile(
    r"(?:over(?: the)?|(?<!no )more than|(?:deep|tall|long|heavi|high|larg|great|old|bigg|hott|fast|wid|thick|warm)er than|above|at least|exceed(?:s|ed|ing)?|no (?:less|fewer) than|(?:a )?minimum of|mindestens|über|plus de|au moins)"
    r"\s*[$€£]?$",
    re.IGNORECASE,
)
_AT_MOST = re.compile(
    r"(?:under(?: the)?|(?<!no )less than|(?<!no )fewer than|(?:short|small|low|light|young|cheap|slow|cold|shallow|thinn|narrow)er than|below|at most|up to|no more than|(?:a )?maximum of|höchstens|unter|moins de|au plus)"
    r"\s*[$€£]?$",
    re.IGNORECASE,
)
_MINUS = re.compile(r"^(.*)\bminus\s$", re.IGNORECASE | re.DOTALL)
_PER = re.compile(r"\s?(per|an?|each|every|/|pro|par|im)\s?([^\W\d_]{1,12})\b", re.IGNORECASE)
_DEGREES = re.compile(r"\s?(celsius|fahrenheit|c|f)\b", re.IGNORECASE)
_POINTS = re.compile(r"\s?points?\b", re.IGNORECASE)
_LENGTH = re.compile(r"\s?(kilomet|met|centimet|f(?:ee|oo)t|mile|inche?|yard)\w*\b", re.IGNORECASE)
_POWERS = {**dict.fromkeys(("square", "sq"), "²"), "cubic": "³"}
_PARTS = "(?:" + "|".join(FRACTIONS) + ")"
_FRACTION = re.compile(
    rf"\b(?P<top>an?|one|two|three|four|nine)[\s-](?P<part>{_PARTS})(?= of\b)|\b(?P<half>half)(?= of\b| the\b)"
    rf"|(?<!-)\b(?P<one>{_NUMBER_NAME}|one|\d{{1,6}}) (?:in|out of) (?:every )?(?P<all>{_NUMBER_NAME}|\d{{1,6}})\b(?! [ap]\.?m\b)",
    re.IGNORECASE,
)
_ODD_SHARE = re.compile(
    r"\b(?:share|fraction|proportion|probability|ratio|rate)\b[^.;]{0,40}?(?<![\w.,])(0[.,]\d{1,6})(?![\w%]|[.,]\d|\s?(?:%|percent))",
    re.IGNORECASE,
)
_AND_A_HALF = re.compile(r"\b(?:(an?|one|\d{1,4}) )([^\W\d_]{1,12}) and a half\b", re.IGNORECASE)
_DOZEN = re.compile(r"(?<![\w.,])(\d{1,4}) dozen\b", re.IGNORECASE)
_NUMBER_AND_HALF = re.compile(rf"\b({_NUMBER_NAME}) and a half (?=[^\W\d_])", re.IGNORECASE)
_HALF_A = re.compile(r"\bhalf an? ([^\W\d_]{1,12})\b", re.IGNORECASE)
_ONE_UNIT = re.compile(
    r"\b(?:lasts?|lasted|takes?|took|after|within|for|in|is|of|every|expires? after) (?:an?|one) ([^\W\d_]{1,12})\b|^(?:an?|one) ([^\W\d_]{1,12}) of\b",
    re.IGNORECASE,
)
_COMPOUND = re.compile(
    r"(?<![\w.,:])(\d{1,4}) ?(h|hrs?|hours?)(?:,| and)? ?(\d{1,2}) ?(m|min|mins|minutes?)\b"
    r"|(?<![\w.,:])(\d{1,4}) ?(m|min|mins|minutes?)(?:,| and)? ?(\d{1,2}) ?(s|secs?|seconds?)\b",
    re.IGNORECASE,
)
_AGE = re.compile(
    r"\b(?:lived to(?: be)?|aged|(?:at )?age of|at age|died at) (\d{1,3})\b(?! ?[:%.]\d)|(?<![\w.,])(\d{1,4}|\d{1,3}(?:,\d{3}){1,2})[- ]years?[- ]old\b",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    r"\b(?:began|begins?|beginning|start(?:s|ed)?|open(?:s|ed)?|from|between|leaves?|left|departs?|departed|sets? off|takes? off|took off|boards?"
    r"|beginnt|begann|von|zwischen|fährt|öffnet|de|entre|commence|part|desde|empieza|sale|dalle|inizia|parte|van|tussen|begint|vertrekt|od|с)\b",
    re.IGNORECASE,
)
_RACE_TIME = re.compile(r"(?<![\d:])(\d{1,2}):([0-5]\d):([0-5]\d)(?![\d:])")
_BORN = re.compile(r"\bborn\b", re.IGNORECASE)
_DIED = re.compile(r"\b(?:died|death|passed away)\b", re.IGNORECASE)
_TIMES = re.compile(r"\b(once|twice|thrice)\b(?! (?:as|the|an?|per|more)\b)", re.IGNORECASE)
_KEY_BEFORE = re.compile(r"([^\W\d]+(?: [^\W\d]+){0,4}):\s*[$€£]?$")
_DIGIT = re.compile(r"\d")
_DECADE = re.compile(r"(?<!\w)(?:1[5-9]|20)?\d0['’]?s\b")
_SHARED_SCALE = re.compile(
    r"(?<![\w.,])(?P<cur>(?:US\$|USD|EUR|GBP|[$€£]) ?)?(?P<one>\d{1,6}(?:[.,]\d{1,3})?) (?P<to>to|and|bis|à|a) (?P=cur)?"
    r"(?P<two>\d{1,6}(?:[.,]\d{1,3})?) (?P<scale>thousand|million|billion|Millionen|Milliarden|millions|milliards|millones)\b"
    r"(?P<unit> [^\W\d_]{1,12}\b)?",
    re.IGNORECASE,
)
"""A scale, and a currency or unit, that two numbers share: "from 10 to 15 million", "EUR 10 to 15 million"."""
_SCALE_OF = re.compile(
    rf"(?<=\d )({'|'.join(sorted(SCALES, key=len, reverse=True))}) (?:of |de |di |d['’])(?=[^\W\d_])", re.IGNORECASE
)
_HOUR_WORD = re.compile(r"\bhours?\b", re.IGNORECASE)
_HOURS_AND_MINUTES = re.compile(
    rf"\b({_NUMBER_NAME}|one|\d{{1,3}}) (hours?)(?:,| and)? ({_NUMBER_NAME}(?:[ -](?:{_NUMBER_NAME}|one))?|one|\d{{1,2}}) (minutes?)\b",
    re.IGNORECASE,
)
_SPACED = re.compile(r"(?<!\d )(?<![\w.,])\d{1,3}(?: \d{3}){1,4}(?:,\d{1,2})?(?![\d.,]| \d)(?=\s?(?:[€$£]|[^\W\d_]))")
"""A number whose thousands are separated by spaces: "3 250 000 euros"."""
_LIST_NUMBER = re.compile(r"^\s*\d{1,3}[.)]\s")


def read_quantities(text: str) -> list[Quantity]:
    """Read the numbers of a text that are neither dates nor parts of an identifier."""
    return undated_quantities(read_dates(read_periods(text)[1])[1])


def undated_quantities(text: str) -> list[Quantity]:
    """Read the numbers of a text from which ``read_periods`` and ``read_dates`` have removed periods and dates."""
    text = _NUMBER_AND_HALF.sub(lambda match: f"{NUMBER_WORDS[key_of(match[1])] + 0.5:g} ", text)
    if _HOUR_WORD.search(text):
        text = _HOURS_AND_MINUTES.sub(_in_digits, text)
    if not _DIGIT.search(text):
        # A quick check: most sentences contain no figure.
        shares, rest = _shares(text)
        halves, rest = _halves(rest)
        return [*shares, *halves, *_spelled(rest)]
    text = _SPACED.sub(lambda match: match[0].replace(" ", "\u00a0"), text)
    text = _SCALE_OF.sub(r"\1 ", text)
    rest = _SHARED_SCALE.sub(_shared, _DECADE.sub(_blank, text))
    rest = _DOZEN.sub(lambda match: str(12 * int(match[1])), rest)
    found: list[Quantity] = []
    for reader in (_ages, _compounds, _shares, _halves):
        more, rest = reader(rest)
        found += more
    return [*found, *_written(rest), *_spelled(rest)]


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _in_digits(match: re.Match[str]) -> str:
    hours, minutes = (
        _cardinal(each) if each.isdecimal() or key_of(each) == "one" else _composed(re.split(r"[\s-]", key_of(each)))
        for each in (match[1], match[3])
    )
    return f"{hours:g} {match[2]} {minutes:g} {match[4]}"


def _shared(match: re.Match[str]) -> str:
    unit = match["unit"] or ""
    unit = unit if key_of(unit.strip()) in UNITS else ""
    cur, scale = match["cur"] or "", match["scale"]
    rest = "" if unit else match["unit"] or ""
    return f"{cur}{match['one']} {scale}{unit} {match['to']} {cur}{match['two']} {scale}{unit}{rest}"


def _ages(text: str) -> tuple[list[Quantity], str]:
    """Read ages in years, convert them to months, and return them with the text without them."""
    found = []
    for match in _AGE.finditer(text):
        age, bound = float(match[1] or match[2].replace(",", "")), _bound(text, match.start())
        found.append(Quantity((12 * age,), "month", True, bool(bound), 6.0, bound, age, written=match[0]))
    return found, _AGE.sub(_blank, text)


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
    clock = sorted({date.minute for date in dates if date.minute is not None and date.year is None})
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
    if len(clock) <= MAX_SPANNED:
        for one, two in combinations(clock, 2):
            seconds = 60.0 * (two - one)
            found.append(Quantity((seconds,), "time", True, False, 30.0, 0, seconds, written=""))
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


def _compounds(text: str) -> tuple[list[Quantity], str]:
    """Read durations of two units ("1h 30m") and return them with the text without them."""
    found = []
    for match in _COMPOUND.finditer(text):
        if match[1]:
            seconds, step = 3600.0 * int(match[1]) + 60.0 * int(match[3]), 30.0
        else:
            seconds, step = 60.0 * int(match[5]) + int(match[7]), 0.5
        bound = _bound(text, match.start())
        found.append(Quantity((seconds,), "time", True, False, step, bound, seconds, written=match[0]))
    return found, _COMPOUND.sub(_blank, text)


def _shares(text: str) -> tuple[list[Quantity], str]:
    """Read parts of a whole as percentages ("two thirds of", "one in five"); return them with the text without them."""
    found: list[Quantity] = []
    fractions = list(_FRACTION.finditer(text))
    for match in fractions:
        if match["part"]:
            value = _cardinal(match["top"]) * FRACTIONS[key_of(match["part"])]
        elif match["half"]:
            value = 0.5
        else:
            value = _cardinal(match["one"]) / max(_cardinal(match["all"]), 1.0)
        if 0.0 < value <= 1.0:
            about = bool(_APPROXIMATE.search(text[max(0, match.start() - 20) : match.start()].rstrip()))
            bound = _bound(text, match.start())
            found.append(
                Quantity((100.0 * value,), "percent", True, about, 0.5, bound, 100.0 * value, written=match[0])
            )
    text = _FRACTION.sub(_blank, text) if fractions else text
    if not _DIGIT.search(text):
        return found, text
    for match in _ODD_SHARE.finditer(text):
        value = 100.0 * float(match[1].replace(",", "."))
        found.append(
            Quantity(
                (value, value / 100.0),
                "percent",
                True,
                False,
                0.5 * 10.0 ** (4 - len(match[1])),
                0,
                value,
                written=match[1],
            )
        )
    return found, _ODD_SHARE.sub(_blank, text)


def _halves(text: str) -> tuple[list[Quantity], str]:
    """Read units without a figure ("half a kilogram", "an hour and a half", "lasted an hour")."""
    found = []
    for pattern in (_AND_A_HALF, _HALF_A, _ONE_UNIT):
        matches = list(pattern.finditer(text))
        for match in matches:
            name = key_of(match[2] if pattern is _AND_A_HALF else match[1] or match[2])
            if name not in UNITS or len(name) < 3:
                continue
            count = _cardinal(match[1]) + 0.5 if pattern is _AND_A_HALF else 0.5 if pattern is _HALF_A else 1.0
            dimension, factor = UNITS[name]
            found.append(
                Quantity(
                    (count * factor,), dimension, True, pattern is _ONE_UNIT, 0.25 * factor, 0, count, written=match[0]
                )
            )
        text = pattern.sub(_blank, text) if matches and pattern is not _ONE_UNIT else text
    return found, text


def _cardinal(word: str) -> float:
    lowered = key_of(word)
    return float(lowered) if lowered.isdecimal() else NUMBER_WORDS.get(lowered, 1.0)


def _bound(text: str, start: int) -> int:
    before = text[max(0, start - 20) : start].rstrip() + " "
    return 1 if _AT_LEAST.search(before) else -1 if _AT_MOST.search(before) else 0


def _written(text: str) -> Iterator[Quantity]:
    for match in _NUMBER.finditer(text, _list_number_end(text)):
        if _IDENTIFIER.search(text[max(0, match.start() - 60) : match.start()]):
            continue
        values = _values(match["num"])
        scale = key_of(match["scale"] or "")
        following = key_of((match["next"] or "").strip(" -\u00a0"))
        factor, dimension, is_unit = 1.0, "", False
        letter = key_of(match["letter"] or "")
        if letter and is_scale(match["letter"], match["num"], bool(match["cur"]), following):
            shown = CAPITAL_SCALES[letter]
        else:
            shown, following = 1.0, letter or following
        if match["cur"]:
            dimension, is_unit = UNITS[match["cur"].strip().lower()][0], True
        elif scale == "m" and match["scale"] == "m":
            scale, following = "", "m"
        if not dimension:
            following = _whole_unit(following, text, match.end())
            dimension, factor, is_unit = _unit(following, text[max(0, match.start() - 60) : match.start()])
        shown *= SCALES.get(scale, 1.0)
        before = text[max(0, match.start() - 20) : match.start()]
        # Behind a date that was read before, of which blanks are left, a dash is that of a range: "May 3–5".
        is_negative = match["sign"] or (match["dash"] and not before.endswith("  "))
        sign = -1.0 if is_negative and is_sign(before) else 1.0
        step = 0.5 * shown * factor * 10.0 ** -_decimals(match["num"], values[0])
        scaled = tuple(sign * value * shown * factor for value in values)
        about = bool(_APPROXIMATE.search(before))
        face = sign * values[0] * shown
        per = _per(text, match.start("next") if match["cur"] and match["next"] else match.end()) or _key_rate(
            text, match
        )
        end = match.end("next") if following and not match["cur"] and dimension else match.end("scale")
        written = _as_written(text, match.start(), max(end, match.end("num"), match.end("letter")), per)
        yield Quantity(scaled, dimension, is_unit, about, step, _bound(text, match.start()), face, per, written)


def _as_written(text: str, start: int, end: int, per: tuple[str, float] | None) -> str:
    """Return a number as written with its unit, the key that names it and its rate unit."""
    key = _KEY_BEFORE.search(text[max(0, start - 60) : start])
    rate = _PER.match(text, end) if per else None
    before = key[0].rstrip("$€£").lstrip() if key else ""
    return before + text[start : rate.end() if rate else end].strip()


def _whole_unit(following: str, text: str, end: int) -> str:
    """Return the name of a unit of two words: degrees Celsius, percentage points."""
    if following in ("degrees", "degree", "°", "grad"):
        scale = _DEGREES.match(text, end)
        return f"°{scale[1][0].lower()}" if scale else "°"
    power = _POWERS.get(following)
    if power and (length := _LENGTH.match(text, end)):
        return f"{length[1].lower()}{power}"
    if following == "percentage" and _POINTS.match(text, end):
        return "percentage-points"
    return following


def _per(text: str, end: int) -> tuple[str, float] | None:
    match = _PER.match(text, end)
    if not match:
        return None
    unit = UNITS.get(key_of(match[2]))
    if unit:
        return unit
    return (_noun(key_of(match[2])), 1.0) if match[1].lower() in ("per", "each", "every", "/") else None


def _key_rate(text: str, match: re.Match[str]) -> tuple[str, float] | None:
    """Return the unit of time in a field's key: "rate usd per hour: 3000"."""
    key = _KEY_BEFORE.search(text[max(0, match.start() - 60) : match.start()])
    unit = UNITS.get(key[1].lower().partition(" per ")[2]) if key else None
    return unit if unit and unit[0] in ("time", "month") else None


def _spelled(text: str) -> Iterator[Quantity]:
    for match in _WORD_NUMBER.finditer(text):
        words = [word for word in re.split(r"[\s-]+", key_of(match[1])) if word not in ("a", "an", "and")]
        following = key_of(match[2] or "")
        if (
            len(words) == 1
            and words[0] in AMBIGUOUS_NUMBER_WORDS
            and following not in UNITS
            and match[1] == match[1].split()[-1]
        ):
            continue
        value = _composed(words)
        if (minus := _MINUS.search(text[max(0, match.start() - 30) : match.start()])) and is_sign(minus[1]):
            value = -value
        dimension, factor, is_unit = _unit(following, "")
        bound = _bound(text, match.start())
        per = _per(text, match.end())
        yield Quantity((value * factor,), dimension, is_unit, bool(bound), 0.5 * factor, bound, value, per, match[0])
    for match in _TIMES.finditer(text):
        value = 1.0 + ("once", "twice", "thrice").index(key_of(match[1]))
        if value > 1:
            yield Quantity((value,), _noun("times"), False, False, 0.5, 0, value, written=match[0])


def _composed(words: list[str]) -> float:
    """Compute the value of consecutive number words: "two hundred fifty", "twenty four"."""
    total, current = 0.0, 0.0
    for word in words:
        value = 1.0 if word == "one" else NUMBER_WORDS[word]
        if word == "dozen" and current:
            current *= value
        elif value >= 1000:
            total, current = total + (current or 1.0) * value, 0.0
        elif value == 100:
            current = (current or 1.0) * value
        else:
            current += value
    return total + current


def _decimals(written: str, value: float) -> int:
    """Count the digits after the decimal separator; 0 where the separators group thousands."""
    return 0 if value == int(value) else len(re.split(r"[.,]", written)[-1])


def _list_number_end(text: str) -> int:
    match = _LIST_NUMBER.match(text)
    return match.end() if match else 0


def _values(written: str) -> tuple[float, ...]:
    """Return the possible values of a number; of two different separators the last one is decimal."""
    plain = re.sub(r"['’\u00a0\u202f]", "", written)
    if "," in plain and "." in plain:
        decimal = max(plain.rfind(","), plain.rfind("."))
        whole = re.sub(r"\D", "", plain[:decimal])
        return (float(f"{whole}.{plain[decimal + 1 :]}"),)
    for separator in ",.":
        if separator in plain:
            groups = plain.split(separator)
            grouped = float("".join(groups))
            if len(groups) > 2:
                return (grouped,)
            decimal_value = float(".".join(groups))
            if len(groups[1]) == 3 and groups[0] not in ("0", ""):
                # "3,000" is a thousand in English; "3.000" is one in German and a decimal in English.
                return (grouped,) if separator == "," else (decimal_value, grouped)
            return (decimal_value,)
    return (float(plain),)


def _unit(following: str, before: str) -> tuple[str, float, bool]:
    if following in UNITS:
        return (*UNITS[following], True)
    key = _KEY_BEFORE.search(before)
    names = key[1].lower().split(" per ")[0].split() if key else []
    for name in reversed(names):
        # "downtime minutes: 47": a record gives the unit in its key.
        if name in UNITS and len(name) > 1:
            return (*UNITS[name], True)
    if following not in STOP_WORDS | _NOT_COUNTED and (len(following) > 2 or (following and not following.isascii())):
        return _noun(following), 1.0, False
    return _noun(names[-1]) if names else "", 1.0, False


_NOT_COUNTED = word_set(
    "since ago whereas although though against alone apiece respectively altogether overall compared versus thanks due"
)
"""Words behind a number that are not what it counts."""


def _noun(word: str) -> str:
    # Marked, so that "two time outs" is not two seconds.
    return f"noun:{stem('person' if word == 'people' else word)}"
