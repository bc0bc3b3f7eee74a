"""Write out shares: "of 30 million euros the county paid 70 % and the town the rest" has 21 million and 30 %, 9 million."""

import re
from decimal import Decimal

from workers.evaluation.facts.units import SCALES, UNITS
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import PEOPLE, key_of, stem

MAX_TEXT = 400
"""Longest sentence that is read, code points."""

_REST = PrefilteredPattern(
    r"(?P<link>(?:[,;]|\band|\bwhile|\bund|\bet|\by)\s(?:[^.;:!?,]{1,60}\s)?)"
    r"(?P<rest>the (?:rest|remainder|remaining (?:part|share)|others)|der Rest|den Rest|le reste|el resto)\b"
    r"(?:\s(?:of|of the|des|der|du|de la|del)\s(?P<whole>[^\W\d_]+))?",
    re.IGNORECASE,
)
_SHARE = re.compile(
    r"(?<![\w.,])(?P<number>\d{1,2}(?:[.,]\d+)?)(?P<sign>\s?%|\s?per ?cent\b|\sProzent\b)", re.IGNORECASE
)
_LIMITED = re.compile(
    r"\b(?:by|from|to|about|around|over|under|than|least|most|nearly|almost|up|down|rund|etwa|über|unter)\s$",
    re.IGNORECASE,
)
"""Words that make a percentage a change or a bound, of which nothing is the rest."""
_AMOUNT = re.compile(
    r"(?<![\w.,])(?P<symbol>[$€£])?(?P<number>\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(?P<unit>(?:\s(?:thousand|million|billion))?\s?[^\W\d_]+)(?!\w)"
    r"(?=[^.:!?%]{0,60}?(?:[,;] of (?:which|whom|these|them|this|that)\b|[;,] [^.;:!?%]{1,60}\b(?:paid|pays?|covers?|covered|funds|funded|financed|contributed|bears?|bore)\b))"
)
"""An amount of which shares follow: "30 million euros, of which", "cost 30 million euros; the county paid"."""


def write_shares(text: str) -> str:
    """Return a sentence in which the rest of percentages is a percentage, and shares of an amount have their amount.

    Args:
        text: plain text of the sentence.
    """
    return _with_amounts(_with_rest(text)) if len(text) <= MAX_TEXT and _SHARE.search(text) else text


def _with_amounts(text: str) -> str:
    """Return "400 employees, of whom 35 % (140 employees) are women"; a sentence with another figure stays as it is."""
    shares = [*_SHARE.finditer(text)]
    amount = _AMOUNT.search(text, 0, shares[0].start() + 1) if shares else None
    if amount is None or "%" in text[: amount.end()] or any(_LIMITED.search(text[: each.start()]) for each in shares):
        return text
    if re.search(r"\d", text[amount.end() : shares[0].start()]) or not _is_measured(amount):
        return text
    whole = Decimal(amount["number"].replace(",", ""))

    def write(share: re.Match[str]) -> str:
        part = whole * Decimal(share["number"].replace(",", ".")) / 100
        return f"{share[0]} ({amount['symbol'] or ''}{part.normalize():f}{amount['unit']})"

    return text[: shares[0].start()] + _SHARE.sub(write, text[shares[0].start() :])


def _is_measured(amount: re.Match[str]) -> bool:
    """Return true for "30 million euros", "$30 million" and "400 employees", and not for "in 2019 the firm"."""
    unit = key_of(amount["unit"].split()[-1])
    return bool(amount["symbol"]) or unit in UNITS or unit in SCALES or unit.endswith("s") or stem(unit) in PEOPLE


def _with_rest(text: str) -> str:
    if not (match := _REST.search(text)):
        return text
    shares = [*_SHARE.finditer(text, 0, match.start("rest"))]
    if (
        not shares
        or any(_LIMITED.search(text[: share.start()]) for share in shares)
        or _SHARE.search(text, match.end())
    ):
        return text
    whole = match["whole"]
    if whole and whole.lower() not in text[: match.start()].lower():
        return text  # "The rest of the year" is none of the members.
    written = [share["number"].replace(",", ".") for share in shares]
    rest = 100 - sum(map(float, written))
    if rest <= 0:
        return text
    digits = max(len(number.partition(".")[2]) for number in written)
    return f"{text[: match.start('rest')]}{rest:.{digits}f}{shares[-1]['sign']}{text[match.end('rest') :]}"
