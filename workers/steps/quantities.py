"""Numbers with units, dates and times of day, read from text.

Numbers are compared by value: ``47 minutes``, ``0.8 h``, ``$3,000``, ``3k``, ``12 %``,
``3.000,50 €``. A unit is reduced to a dimension and a factor (seconds, bytes, …); a number
without a unit is compared by the noun behind it ("3 restarts").
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from workers.steps.units import AMBIGUOUS_NUMBER_WORDS, MONTHS, NUMBER_WORDS, SCALES, UNITS
from workers.steps.words import stem


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it stands in a text.

    Attributes:
        values: what it can mean, in base units; "3.000" is 3 or 3,000.
        dimension: ``time`` (seconds), ``bytes``, ``percent``, a currency, …; the stem of the
            noun behind it where there is no unit; empty if nothing follows.
        is_unit: whether the dimension is a known unit (False: a noun or nothing).
        approximate: preceded by "about" or the like.
        step: half of the last digit as written, in base units; how exact it can be.
    """

    values: tuple[float, ...]
    dimension: str
    is_unit: bool
    approximate: bool
    step: float


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
    # 14:03, 2:03 pm, 5pm
    re.compile(rf"(?<![\w:.]){_CLOCK}(?![\w:])\s?(?P<p>[ap]\.?m\b)?", re.IGNORECASE),
    re.compile(r"(?<![\w:.])(?P<h>\d{1,2})\s?(?P<p>[ap]\.?m\b)", re.IGNORECASE),
    # 2024, if nothing makes it an amount
    re.compile(
        r"(?<![\w.,:/$€£#-])(?P<y>(?:19|20)\d{2})(?![\w%:/]|-\d{1,2}(?!\d)|[.,]\d|\s?(?:%|€|USD|EUR|[kKMG]i?B|ms\b|rpm))"
    ),
)
_NUMBER = re.compile(
    r"(?:(?<![\w.)])(?P<sign>[-−])|(?<=\d[-–])|(?<![\w.,:/#_-]))(?P<cur>[$€£¥]\s?)?"
    r"(?P<num>\d{1,3}(?:[,.'’\u00a0\u202f]\d{3}){1,6}+(?:[.,]\d{1,15})?|\d{1,15}(?:[.,]\d{1,15})?)(?!\d|[.,]\d)"
    rf"(?:[\s-]?(?P<scale>{'|'.join(sorted(SCALES, key=len, reverse=True))}|M)(?![\w])\.?)?"
    r"(?P<next>[\s-]{0,2}(?:[^\W\d_]+\$?|[%€$£°][CF]?))?(?![:\d]\d)"
)
_WORD_NUMBER = re.compile(
    r"\b(" + "|".join(sorted(NUMBER_WORDS, key=len, reverse=True)) + r")\b(?:[\s-]+([^\W\d_]+))?", re.IGNORECASE
)
_APPROXIMATE = re.compile(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|over|under|ca\.?|circa|etwa|rund|fast|environ"
    r"|~|≈|more than|less than|at least|up to)\s*[$€£]?$",
    re.IGNORECASE,
)
_KEY_BEFORE = re.compile(r"([^\W\d]+(?: [^\W\d]+){0,4}):\s*[$€£]?$")
_DECADE = re.compile(r"(?<!\w)(?:1[5-9]|20)?\d0['’]?s\b")
_LIST_NUMBER = re.compile(r"^\s*\d{1,3}[.)]\s")


def read_dates(text: str) -> tuple[list[Date], str]:
    """Dates and times of day of a text, and the text with them blanked out."""
    dates: list[Date] = []
    for pattern in _DATE_PATTERNS:
        for match in pattern.finditer(text):
            date = _date(match.groupdict())
            if date:
                dates.append(date)
                text = text[: match.start()] + " " * len(match[0]) + text[match.end() :]
    return dates, text


def read_quantities(text: str) -> list[Quantity]:
    """Numbers of a text that are no date and no part of an identifier."""
    _, rest = read_dates(text)
    rest = _DECADE.sub(lambda match: " " * len(match[0]), rest)
    return [*_written(rest), *_spelled(rest)]


def _date(groups: dict[str, str | None]) -> Date | None:
    month = int(groups["m"] or 0) if groups.get("m") else MONTHS.get((groups.get("n") or "").lower().rstrip("."))
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


def _written(text: str) -> Iterator[Quantity]:
    for match in _NUMBER.finditer(text, _list_number_end(text)):
        values = _values(match["num"])
        scale = (match["scale"] or "").lower()
        following = (match["next"] or "").strip(" -\u00a0").lower()
        factor, dimension, is_unit = 1.0, "", False
        if match["cur"]:
            dimension, is_unit = UNITS[match["cur"].strip()][0], True
        elif scale == "m" and not match["cur"] and match["scale"] == "m":
            scale, following = "", "m"
        if not dimension:
            dimension, factor, is_unit = _unit(following, text[max(0, match.start() - 60) : match.start()])
        factor *= SCALES.get(scale, 1.0)
        sign = -1.0 if match["sign"] else 1.0
        before = text[max(0, match.start() - 20) : match.start()]
        step = 0.5 * factor * 10.0 ** -_decimals(match["num"], values[0])
        scaled = tuple(sign * value * factor for value in values)
        yield Quantity(scaled, dimension, is_unit, bool(_APPROXIMATE.search(before)), step)


def _decimals(written: str, value: float) -> int:
    """Digits behind the decimal separator; none where the separators group thousands."""
    return 0 if value == int(value) else len(re.split(r"[.,]", written)[-1])


def _spelled(text: str) -> Iterator[Quantity]:
    for match in _WORD_NUMBER.finditer(text):
        value = float(NUMBER_WORDS[match[1].lower()])
        following = (match[2] or "").lower()
        if match[1].lower() in AMBIGUOUS_NUMBER_WORDS and following not in UNITS:
            continue
        dimension, factor, is_unit = _unit(following, "")
        yield Quantity((value * factor,), dimension, is_unit, False, 0.5 * factor)


def _list_number_end(text: str) -> int:
    match = _LIST_NUMBER.match(text)
    return match.end() if match else 0


def _values(written: str) -> tuple[float, ...]:
    """What a number can mean; the last of two different separators is the decimal one."""
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
            if len(groups[1]) == 3 and groups[0] != "0":
                # "3,000" is a thousand in English; "3.000" is one in German and a decimal in English.
                return (grouped,) if separator == "," else (decimal_value, grouped)
            return (decimal_value,)
    return (float(plain),)


def _unit(following: str, before: str) -> tuple[str, float, bool]:
    if following in UNITS:
        return (*UNITS[following], True)
    key = _KEY_BEFORE.search(before)
    if key:
        # "downtime minutes: 47": a record names the unit in its key.
        names = key[1].lower().split(" per ")[0].split()
        for name in reversed(names):
            if name in UNITS and len(name) > 1:
                return (*UNITS[name], True)
        return _noun(names[-1]), 1.0, False
    return _noun(following) if len(following) > 2 else "", 1.0, False


def _noun(word: str) -> str:
    # Marked, so that "two time outs" is not two seconds.
    return f"noun:{stem(word)}"
