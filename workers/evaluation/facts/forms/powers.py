"""Write powers of ten as decimal numbers: "1e6", "10⁶", "3×10^5", "10^-3"."""

import re
from decimal import Decimal

LARGEST = 15
"""Largest exponent that is read; numbers have at most as many digits."""
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_POWER = re.compile(
    r"(?<![\w.,^-])(?P<sign>[-−])?(?:(?P<factor>\d{1,6}(?:[.,]\d{1,6})?)\s?[×x·*]\s?)?10"
    r"(?:(?:\^|\*\*)\{?(?P<flat>[-−+]?\d{1,2})\}?|(?P<raised>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2}))(?!\w)"
)
_SHORT = re.compile(
    r"(?<![\w.,-])(?P<factor>\d{1,6}(?:\.\d{1,6})?)(?:e(?P<small>[-+]?\d{1,2})|E(?P<large>[-+]\d{1,2}|0\d))(?![\w.])"
)
_ANY = re.compile(r"10(?:\^|\*\*|[⁰¹²³⁴-⁹⁻⁺])|\d[eE][-+\d]")


def plain_powers(text: str) -> str:
    """Return a text with its powers of ten as decimal numbers, those with exponents up to ``LARGEST``."""
    if not _ANY.search(text):
        return text
    text = _POWER.sub(lambda match: _decimal(match, match["flat"] or match["raised"]), text)
    return _SHORT.sub(lambda match: _decimal(match, match["small"] or match["large"]), text)


def _decimal(match: re.Match[str], exponent: str) -> str:
    power = int(exponent.translate(_RAISED).replace("−", "-"))
    if abs(power) > LARGEST:
        return match[0]
    sign = match.groupdict().get("sign") or ""
    return sign + format(Decimal((match["factor"] or "1").replace(",", ".")).scaleb(power), "f")
