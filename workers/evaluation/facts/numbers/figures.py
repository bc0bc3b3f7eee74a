"""Read numbers written in digits, with their sign, currency, scale and unit."""

import re
from collections.abc import Iterator

from workers.evaluation.facts.numbers.bounds import bound_of, is_approximate
from workers.evaluation.facts.numbers.number_forms import is_scale, is_sign
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.numbers.units_of import as_written, key_rate, place_of, rate_of, unit_of, whole_unit
from workers.evaluation.facts.units import CAPITAL_SCALES, SCALES, UNITS
from workers.evaluation.text.words import key_of

_NUMBER = re.compile(
    r"(?:(?<![\w.)])(?P<sign>[-−]|(?i:minus ))|(?:^|(?<=[\s|(\[{:]))(?P<dash>–)|(?<=\d[-–])|(?<![\w.,:/#_-]))(?P<cur>(?:[$€£¥₹]|(?:US\$|USD|EUR|GBP|JPY|INR|CHF)(?=\s?\d))\s?)?"
    r"(?P<num>\d{1,2}(?:,\d{2}){1,4},\d{3}(?:\.\d{1,2})?|(?<![\d.])\.\d{1,15}|\d{1,3}(?:[,.'’\u00a0\u202f]\d{3}){1,6}+(?:[.,]\d{1,15})?|\d{1,15}(?:[.,]\d{1,15})?)(?!\d|[.,]\d)"
    rf"(?:[\s-]?(?P<scale>(?i:{'|'.join(sorted(SCALES, key=len, reverse=True))}))(?![\w]|/[hs]\b)\.?)?"
    r"(?P<letter>(?<=\d)[BTbt](?!\w))?"
    r"(?P<next>[\s-]{0,2}(?:(?:km|m)/[hs]\b|[^\W\d_]+\$?|[%‰€$£₹¢°][CF]?))?(?![:\d]\d)"
)
_BEHIND_PLACES = (" ", "\u00a0", "§")
"""Characters between the word of a place and its number."""
_IDENTIFIER = re.compile(r"(?<![\w-])(?=[\d-]*[^\W\d_])(?:\w+-){2,6}$")
"""The beginning of an identifier of several parts with a letter, before its last number: "CVE-2026-" of "CVE-2026-1234"."""
_LIST_NUMBER = re.compile(r"^\s*\d{1,3}[.)]\s")


def written_numbers(text: str) -> Iterator[Quantity]:
    """Read the numbers of a text that are written in digits, without those of identifiers."""
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
        if following in ("st", "nd", "rd", "th") and match["next"] == following and not scale and not match["cur"]:
            dimension, is_unit = "ordinal", True
        elif match["cur"]:
            dimension, is_unit = UNITS[match["cur"].strip().lower()][0], True
        elif scale == "m" and match["scale"] == "m":
            scale, following = "", "m"
        if not dimension:
            following = whole_unit(following, text, match.end())
            dimension, factor, is_unit = unit_of(following, text[max(0, match.start() - 60) : match.start()])
        shown *= SCALES.get(scale, 1.0)
        before = text[max(0, match.start() - 20) : match.start()]
        if not is_unit and before[-1:] in _BEHIND_PLACES and (place := place_of(before)):
            dimension, factor = place, 1.0
        # Behind a date that was read before, of which blanks are left, a dash is that of a range: "May 3–5".
        is_negative = match["sign"] or (match["dash"] and not before.endswith("  "))
        sign = -1.0 if is_negative and is_sign(before) else 1.0
        step = 0.5 * shown * factor * 10.0 ** -_decimals(match["num"], values[0])
        scaled = tuple(sign * value * shown * factor for value in values)
        about = is_approximate(before)
        face = sign * values[0] * shown
        per = rate_of(text, match.start("next") if match["cur"] and match["next"] else match.end()) or key_rate(
            text, match
        )
        end = match.end("next") if following and not match["cur"] and dimension else match.end("scale")
        written = as_written(text, match.start(), max(end, match.end("num"), match.end("letter")), per)
        yield Quantity(scaled, dimension, is_unit, about, step, bound_of(text, match.start()), face, per, written)


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
