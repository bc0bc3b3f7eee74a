"""Read the unit of a number from the words behind it or from the key before it."""

import re

from workers.evaluation.facts.numbers.quantity import PLACE
from workers.evaluation.facts.units import UNITS
from workers.evaluation.text.words import STOP_WORDS, key_of, stem, word_set

_PER = re.compile(r"\s?(per|an?|each|every|/|pro|par|im)\s?([^\W\d_]{1,12})\b", re.IGNORECASE)
_DEGREES = re.compile(r"\s?(celsius|fahrenheit|c|f)\b", re.IGNORECASE)
_POINTS = re.compile(r"\s?points?\b", re.IGNORECASE)
_LENGTH = re.compile(r"\s?(kilomet|met|centimet|f(?:ee|oo)t|mile|inche?|yard)\w*\b", re.IGNORECASE)
_POWERS = {**dict.fromkeys(("square", "sq"), "²"), "cubic": "³"}
_KEY_BEFORE = re.compile(r"([^\W\d]+(?: [^\W\d]+){0,4}):\s*[$€£]?$")
_PLACE_BEFORE = re.compile(
    r"(?<![\w-])(page|pp?\.|section|sec\.|chapter|ch\.|step|figure|fig\.|table|appendix|annex|part|slide|footnote|verse"
    r"|question|exercise|example|item|rule|topic|lesson|no\.|nos\.|seite|s\.|kapitel|abschnitt|abbildung|abb\.|tabelle|schritt|folie|nr\."
    r"|chapitre|étape|tableau|annexe|p[áa]gina|cap[íi]tulo|secci[óo]n|paso|tabla|hoofdstuk|§§?)[ \u00a0]?$",
    re.IGNORECASE,
)
_NOT_COUNTED = word_set(
    "since ago whereas although though against alone apiece respectively altogether overall compared versus thanks due"
)
"""Words behind a number that are not what it counts."""


def as_written(text: str, start: int, end: int, per: tuple[str, float] | None) -> str:
    """Return a number as written with its unit, the key that names it and its rate unit."""
    key = _key_before(text[max(0, start - 60) : start])
    rate = _PER.match(text, end) if per else None
    before = key[0].rstrip("$€£").lstrip() if key else ""
    return before + text[start : rate.end() if rate else end].strip()


def whole_unit(following: str, text: str, end: int) -> str:
    """Return the name of a unit of two words: degrees Celsius, percentage points, basis points, per cent."""
    if following in ("degrees", "degree", "°", "grad"):
        scale = _DEGREES.match(text, end)
        return f"°{scale[1][0].lower()}" if scale else "°"
    power = _POWERS.get(following)
    if power and (length := _LENGTH.match(text, end)):
        return f"{length[1].lower()}{power}"
    if following in ("basis", "percentage") and _POINTS.match(text, end):
        return f"{following}-points"
    return following


def rate_of(text: str, end: int) -> tuple[str, float] | None:
    """Return the dimension and factor behind "per" or the like at a place in a text; ``None`` without one."""
    match = _PER.match(text, end)
    if not match:
        return None
    unit = UNITS.get(key_of(match[2]))
    if unit:
        return unit
    return (noun(key_of(match[2])), 1.0) if match[1].lower() in ("per", "each", "every", "/") else None


def key_rate(text: str, match: re.Match[str]) -> tuple[str, float] | None:
    """Return the unit of time in a field's key: "rate usd per hour: 3000"."""
    key = _key_before(text[max(0, match.start() - 60) : match.start()])
    unit = UNITS.get(key[1].lower().partition(" per ")[2]) if key else None
    return unit if unit and unit[0] in ("time", "month") else None


def unit_of(following: str, before: str) -> tuple[str, float, bool]:
    """Return dimension and factor of a number, and true if they are those of a unit and not of a noun.

    Args:
        following: the word behind the number, in lower case.
        before: the text before the number, with the key that may name its unit.
    """
    if following in UNITS:
        return (*UNITS[following], True)
    key = _key_before(before)
    names = key[1].lower().split(" per ")[0].split() if key else []
    for name in reversed(names):
        # "downtime minutes: 47": a record gives the unit in its key.
        if name in UNITS and len(name) > 1:
            return (*UNITS[name], True)
    if (
        following not in STOP_WORDS
        and following not in _NOT_COUNTED
        and (len(following) > 2 or (following and not following.isascii()))
    ):
        return noun(following), 1.0, False
    return noun(names[-1]) if names else "", 1.0, False


def place_of(before: str) -> str:
    """Return the dimension of a number that the words before it make a place in a text; else an empty text."""
    match = _PLACE_BEFORE.search(before)
    return PLACE + match[1].lower() if match else ""


def _key_before(text: str) -> re.Match[str] | None:
    """Return the key at the end of a text: "downtime minutes: "."""
    return _KEY_BEFORE.search(text) if ":" in text else None


def noun(word: str) -> str:
    """Return the dimension of a number that counts a noun."""
    # Marked, so that "two time outs" is not two seconds.
    return f"noun:{stem('person' if word == 'people' else word)}"
