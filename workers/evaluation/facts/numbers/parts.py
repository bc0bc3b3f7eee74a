"""Read parts of a whole, units without a figure, ages, and durations of two units."""

import re

from workers.evaluation.facts.numbers.bounds import bound_of, is_approximate
from workers.evaluation.facts.numbers.number_words import NUMBER_NAME, cardinal
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.units import FRACTIONS, UNITS
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import key_of

RATIO = "∶"
"""Sign between the numbers of a ratio or of a result of a game; a colon would be a time of day."""
SIDE = 1000.0
"""Factor of the first number in the value of a ratio."""
_ORDERED = re.compile(r"\b(?:ratio|odds|proportions?|scale|Verhältnis)\b", re.IGNORECASE)
_RATIO = re.compile(rf"(\d{{1,3}}){RATIO}(\d{{1,7}})")
_LEAST_SCALE = 100
"""Least second number of a scale ("1:500"), which is one figure and no result of two sides."""
_PARTS = "(?:" + "|".join(FRACTIONS) + ")"
_FRACTION = PrefilteredPattern(
    rf"\b(?P<top>an?|one|two|three|four|nine|ein|eine|zwei|drei|deux|trois|[1-9])[\s-](?P<part>{_PARTS})(?= (?:of|der|des|aller)\b)|\b(?P<half>half)(?= of\b| the\b)"
    rf"|(?<![\w.,/-])(?P<over>\d{{1,3}})/(?P<under>[1-9]\d{{0,2}})(?= of (?:the|all|its|our|their|users|customers|employees|people)\b)|(?<!-)\b(?P<one>{NUMBER_NAME}|one|\d{{1,6}}) (?:in|out of) (?:every )?(?P<all>{NUMBER_NAME}|\d{{1,6}})\b(?! [ap]\.?m\b)",
    re.IGNORECASE,
)
_LONE_FRACTION = PrefilteredPattern(
    rf"(?:^\W{{0,3}}|\bby (?:about |around |roughly |nearly |almost )?)(?:(?P<top>an?|one|two|three|four)[\s-](?P<part>{_PARTS})|(?P<half>half))(?=\W*$|[,;.]|\s(?:in|since|from|between|over)\b)",
    re.IGNORECASE,
)
"""A part of a whole that the question names, or of what has changed: "Three quarters.", "fell by a third"."""
_ODD_SHARE = PrefilteredPattern(
    r"\b(?:share|fraction|proportion|probability|ratio|rate)\b[^.;]{0,40}?(?<![\w.,])(0[.,]\d{1,6})(?![\w%]|[.,]\d|\s?(?:%|percent))",
    re.IGNORECASE,
)
_AND_A_HALF = PrefilteredPattern(
    rf"\b(?:(an?|{NUMBER_NAME}|one|\d{{1,4}}) )([^\W\d_]{{1,12}}) and (?:a (half|quarter)|three[ -]quarters)\b",
    re.IGNORECASE,
)
_HALF_A = PrefilteredPattern(r"\bhalf an? ([^\W\d_]{1,12})\b", re.IGNORECASE)
_ONE_UNIT = PrefilteredPattern(
    r"\b(?:lasts?|lasted|takes?|took|after|within|for|in|is|of|at|every|expires? after) (?:an?|one) ([^\W\d_]{1,12})\b|^(?:an?|one) ([^\W\d_]{1,12}) of\b",
    re.IGNORECASE,
)
_COMPOUND = re.compile(
    r"(?<![\w.,:])(\d{1,4}) ?(h|hrs?|hours?)(?:,| and)? ?(\d{1,2}) ?(m|min|mins|minutes?)\b"
    r"|(?<![\w.,:])(\d{1,4}) ?(m|min|mins|minutes?)(?:,| and)? ?(\d{1,2}) ?(s|secs?|seconds?)\b",
    re.IGNORECASE,
)
_AGE = PrefilteredPattern(
    r"\b(?:lived to(?: be)?|aged|(?:at )?age of|at age|died at) (\d{1,3})\b(?! ?[:%.]\d)|(?<![\w.,])(\d{1,4}|\d{1,3}(?:,\d{3}){1,2})[- ]years?[- ]old\b",
    re.IGNORECASE,
)
_AGES = PrefilteredPattern(
    r"\b(?:aged|ages|ages of) (?:(?:from|between) )?(\d{1,3})(?:\s?[–-]\s?|\s(?:to|and)\s)(\d{1,3})\b(?! ?[:%.]\d)"
    r"|\b(?:from|between) (\d{1,3})\s(?:to|and)\s(\d{1,3})[- ]years?(?: of age\b|[- ]old\b)",
    re.IGNORECASE,
)
"""A range of ages: "aged 12 to 27", "between 12 and 27 years of age"."""
_DIGIT = re.compile(r"\d")
HALF_STEP = 0.24
"""Precision of "half a cup", which is not three quarters of one."""


def read_ages(text: str) -> tuple[list[Quantity], str]:
    """Read ages in years, convert them to months, and return them with the text without them."""
    found = [
        Quantity((12 * float(age),), "month", True, False, 6.0, 0, float(age), written=match[0])
        for match in _AGES.finditer(text)
        for age in filter(None, match.groups())
    ]
    text = _AGES.sub(blank, text)
    for match in _AGE.finditer(text):
        age, bound = float(match[1] or match[2].replace(",", "")), bound_of(text, match.start())
        found.append(Quantity((12 * age,), "month", True, bool(bound), 6.0, bound, age, written=match[0]))
    return found, _AGE.sub(blank, text)


def read_ratios(text: str) -> tuple[list[Quantity], str]:
    """Read ratios and results of games ("3:1"); return them with the text without them.

    The value has both numbers, so that two ratios are equal only if both of their numbers are.
    """
    found = []
    for match in _RATIO.finditer(text):
        one, two = int(match[1]), int(match[2])
        if one == 1 and two >= _LEAST_SCALE:
            found.append(
                Quantity((float(two),), "scale", True, False, 0.0, 0, two, written=match[0].replace(RATIO, ":"))
            )
            continue
        value = SIDE * one + two
        # A result may be given from either side: "won 3–2" of a game that ended 2:3.
        is_ordered = _ORDERED.search(text[max(0, match.start() - 60) : match.start()])
        values = (value,) if is_ordered else (value, SIDE * two + one)
        found.append(Quantity(values, "ratio", True, False, 0.0, 0, value, written=match[0].replace(RATIO, ":")))
        # The goals of one side are a figure of their own: "Four." of "won 4–0".
        found += [
            Quantity((float(each),), "", False, False, 0.5, 0, float(each), written=each) for each in match.groups()
        ]
    return found, _RATIO.sub(blank, text) if found else text


def read_compounds(text: str) -> tuple[list[Quantity], str]:
    """Read durations of two units ("1h 30m") and return them with the text without them."""
    found = []
    for match in _COMPOUND.finditer(text):
        if match[1]:
            seconds, step = 3600.0 * int(match[1]) + 60.0 * int(match[3]), 30.0
        else:
            seconds, step = 60.0 * int(match[5]) + int(match[7]), 0.5
        bound = bound_of(text, match.start())
        found.append(Quantity((seconds,), "time", True, False, step, bound, seconds, written=match[0]))
    return found, _COMPOUND.sub(blank, text)


def read_shares(text: str) -> tuple[list[Quantity], str]:
    """Read parts of a whole as percentages ("two thirds of", "one in five"); return them with the text without them."""
    found: list[Quantity] = []
    fractions = [*_FRACTION.finditer(text), *_LONE_FRACTION.finditer(text)]
    for match in fractions:
        if match["part"]:
            value = cardinal(match["top"]) * FRACTIONS[key_of(match["part"])]
        elif match["half"]:
            value = 0.5
        elif match["over"]:
            value = int(match["over"]) / int(match["under"])
        else:
            value = cardinal(match["one"]) / max(cardinal(match["all"]), 1.0)
        if 0.0 < value <= 1.0:
            about = is_approximate(text[max(0, match.start() - 20) : match.start()].rstrip())
            bound = bound_of(text, match.start())
            found.append(
                Quantity((100.0 * value,), "percent", True, about, 0.5, bound, 100.0 * value, written=match[0])
            )
    text = _LONE_FRACTION.sub(blank, _FRACTION.sub(blank, text)) if fractions else text
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
    return found, _ODD_SHARE.sub(blank, text)


def read_halves(text: str) -> tuple[list[Quantity], str]:
    """Read units without a figure ("half a kilogram", "an hour and a half", "lasted an hour")."""
    found = []
    for pattern in (_AND_A_HALF, _HALF_A, _ONE_UNIT):
        matches = list(pattern.finditer(text))
        for match in matches:
            name = key_of(match[2] if pattern is _AND_A_HALF else match[1] or match[2])
            if name not in UNITS or len(name) < 3:
                continue
            count = (
                cardinal(match[1]) + _part(match[3]) if pattern is _AND_A_HALF else 0.5 if pattern is _HALF_A else 1.0
            )
            dimension, factor = UNITS[name]
            found.append(
                Quantity(
                    (count * factor,),
                    dimension,
                    True,
                    pattern is _ONE_UNIT,
                    HALF_STEP * factor * (1.0 if 2.0 * count == int(2.0 * count) else 0.5),
                    0,
                    count,
                    written=match[0],
                )
            )
        text = pattern.sub(blank, text) if matches and pattern is not _ONE_UNIT else text
    return found, text


def _part(name: str | None) -> float:
    return 0.75 if name is None else FRACTIONS[key_of(name)]


def blank(match: re.Match[str]) -> str:
    """Return as many spaces as a match is long, so that places in the text stay."""
    return " " * len(match[0])
