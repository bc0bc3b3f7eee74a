"""Check calculations that a text writes out: "3 × 250 = 750, plus 10 % is 825".

A result is borne out if its arithmetic is right and each of its numbers is known: from the evidence, from the question, or
as the result before it. The numbers beside the calculation follow from its results by one more step ("you pay 340 euros").
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.units import UNITS
from workers.evaluation.text.words import key_of

MAX_TEXT = 400
"""Longest statement that is read, code points."""
MAX_RESULTS = 12
"""Most results of an answer from which further figures may follow."""
MAX_NUMBERS = 10
"""Most numbers of one calculation."""
EXACT = 1e-6
"""Relative difference of results that are equal."""
CONSTANTS = frozenset((7.0, 12.0, 24.0, 52.0, 60.0, 100.0, 365.0, 1000.0, 3600.0))
"""Numbers of a calculation that need no source: days of a week, months of a year, hours, minutes, per cent."""
CENTS = 100.0
"""Number of cents or per cent that make one."""

_CUE = re.compile(r"=|\d\s?%?\s?(?:[^\W\d_]{1,12}\.?\s)?[+×*÷/·−–-]\s?[(€$£]?\d")
"""A calculation with signs."""
_NUMBER = r"(?:[€$£]\s?)?(?P<number>\d{1,3}(?:[,\u00a0\u202f'’]\d{3})+(?:\.\d+)?|\d{1,12}(?:\.\d{1,6})?)(?![\d,.]*\d)(?P<percent>\s?(?:%|per ?cent\b))?"
_TOKEN = re.compile(
    rf"{_NUMBER}|(?P<equal>=|≈)"
    r"|(?P<tells>\b(?:is|are|makes?|gives?|equals|comes to|pays?|costs?|leaves?)\b|:)"
    r"|(?P<plus>\+|\bplus\b)|(?P<minus>[−–-](?=\s?[(€$£]?\d)|\b(?:minus|less)\b)|(?P<times>[×*·]|\bx\b|\btimes\b)|(?P<over>[÷/](?=\s?[(€$£]?\d)|\bdivided by\b)"
    r"|(?P<of>\bof\b)|(?P<open>\()|(?P<close>\))|(?P<stop>[.;!?])|(?P<comma>,)|(?P<word>[^\W\d_]+²?)",
    re.IGNORECASE,
)
_BRACKETED = re.compile(
    r"(?P<amount>(?:[€$£]\s?)?\d[\d,.]*(?<=\d))(?P<words>[^\d().;:!?=]{0,30})\((?P<calculation>(?=[^()=]*[+×*÷−–])[^()=a-zA-Z]{3,80})\)"
)
"""An amount with its calculation behind it: "£34 in total (2 × £14 + £6)"."""
_WORD = re.compile(r"[^\W\d_]+")
_SIGNS = {"plus": "+", "minus": "-", "times": "*", "over": "/"}


@dataclass(frozen=True, slots=True)
class _Token:
    sign: str
    value: float = 0.0
    is_percent: bool = False
    step: float = 0.0


@dataclass(frozen=True, slots=True)
class Equation:
    """Hold a calculation as it is written.

    Attributes:
        operands: its numbers, without the result before it.
        result: the result as it is written.
        is_right: whether the numbers give it.
        is_signed: whether it has the sign "=".
        base: the result before it with which it goes on; ``None`` if it stands alone.
    """

    operands: tuple[float, ...]
    result: float
    is_right: bool
    is_signed: bool
    base: float | None


def has_calculation(text: str) -> bool:
    """Return true if a text may write out a calculation."""
    return bool(_CUE.search(text))


def is_miscalculated(text: str) -> bool:
    """Return true if numbers and signs of a text do not give the result behind its "="; units are not converted."""
    if "=" not in text or not has_calculation(text):
        return False
    factors: dict[str, set[float]] = {}
    for word in _WORD.findall(text[:MAX_TEXT]):
        if (unit := UNITS.get(key_of(word))) is not None:
            factors.setdefault(unit[0], set()).add(unit[1])
    if any(len(each) > 1 for each in factors.values()):
        return False  # "2 h + 30 min = 150 min"
    return any(each.is_signed and not each.is_right for each in read_equations(text))


def read_equations(text: str, before: float | None = None) -> list[Equation]:
    """Return the calculations of a statement in order.

    Args:
        text: plain text of the statement.
        before: the result of the calculation before it.
    """
    found: list[Equation] = []
    running = before
    text = _BRACKETED.sub(r"\g<calculation> = \g<amount>; ", text[:MAX_TEXT])
    for terms, tell, result in _parts(_tokens(text)):
        goes_on = terms[0].sign in ("+", "-", "*", "/")
        if goes_on and running is None:
            continue
        read = [_Token("#", running or 0.0), *terms] if goes_on else terms
        numbers = [
            term
            for place, term in enumerate(terms)
            if term.sign == "#" and not (_closes(terms[place - 1 :]) and terms[max(0, place - 2)].is_percent)
        ]
        value = _value(read)
        if value is None or len(numbers) > MAX_NUMBERS or (len(numbers) < 2 and not goes_on):
            continue
        value = value * CENTS if result.is_percent else value
        is_right = abs(value - result.value) <= max(EXACT * abs(value), result.step * 1.0001)
        found.append(
            Equation(
                tuple(each.value for each in numbers), result.value, is_right, tell == "=", running if goes_on else None
            )
        )
        running = result.value
    return found


def borne_out(statements: Sequence[str], known: Collection[float]) -> list[frozenset[float]]:
    """Return for each statement of an answer the figures that its calculations bear out.

    Args:
        statements: plain texts of the statements, in order.
        known: figures of the evidence and of the question.
    """
    results: list[float] = []
    found = []
    for statement in statements:
        told: set[float] = set()
        for equation in read_equations(statement, results[-1] if results else None):
            if (
                equation.is_right
                and (equation.base is None or equation.base in results)
                and all(_is_known(each, known, results) for each in equation.operands)
            ):
                results.append(equation.result)
                # "minus 25 %" is also read as a negative figure.
                told.update((equation.result, *equation.operands, *(-each for each in equation.operands)))
        if results:
            told |= _following(statement, results, known)
            told |= set(results)
        found.append(frozenset(told))
    return found


def _is_known(number: float, known: Collection[float], results: Sequence[float]) -> bool:
    return (
        number in known
        or number in results
        or number in CONSTANTS
        or (number < 1 and round(number * CENTS, 6) in known)
        or (number >= CENTS and number / CENTS in results)
    )


def _following(statement: str, results: list[float], known: Collection[float]) -> set[float]:
    """Return the figures of a statement that follow from the results by one step, and add them to the results."""
    found: set[float] = set()
    quantities = read_details(statement).quantities
    shares = [each.face for each in quantities if each.dimension == "percent"]
    for number in quantities:
        if number.face in results:
            found |= {other.face for other in quantities if _is_same_amount(number, other)}
        elif number.face not in known and len(results) < MAX_RESULTS:
            near = list(islice(reversed(results), MAX_RESULTS))
            given = [each.face for each in quantities if each.face in known and each.dimension == number.dimension]
            if any(abs(value - number.face) <= EXACT * abs(value) for value in _steps(near, shares, given)):
                found.add(number.face)
                results.append(number.face)
    return found


def _is_same_amount(one: Quantity, two: Quantity) -> bool:
    return one.is_unit and one.dimension == two.dimension and one.values[0] == two.values[0]


def _steps(results: Sequence[float], shares: Sequence[float], given: Sequence[float]) -> Iterator[float]:
    """Yield what one step makes of results: their sum, a share more or less, a given amount more or less."""
    yield sum(results)
    for one, two in (*combinations(results, 2), *((result, other) for result in results for other in given)):
        yield from (one + two, abs(one - two))
    for result in results:
        for share in shares:
            part = result * share / CENTS
            yield from (part, result + part, result - part)


def _tokens(text: str) -> list[_Token]:
    found = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if match["number"]:
            written = re.sub(r"[,\u00a0\u202f'’]", "", match["number"])
            places = len(written.partition(".")[2])
            found.append(_Token("#", float(written), bool(match["percent"]), 0.5 * 10.0**-places if places else 0.5))
        else:
            found.append(_Token(_SIGNS.get(kind, kind)))
    return found


def _parts(tokens: Sequence[_Token]) -> Iterator[tuple[list[_Token], str, _Token]]:
    """Yield the terms before each sign or verb of a result, that sign, and the result."""
    terms: list[_Token] = []
    tell = ""
    for place, token in enumerate(tokens):
        if token.sign in ("equal", "tells"):
            tell = "=" if token.sign == "equal" else tell or "tells"
        elif token.sign == "#" and tell:
            is_whole = place + 1 >= len(tokens) or tokens[place + 1].sign not in ("+", "-", "*", "/", "equal")
            if _is_complete(terms) and (is_whole or tell == "="):
                yield terms, tell, token
            terms, tell = ([token] if not is_whole else []), ""
        elif token.sign in ("#", "+", "-", "*", "/", "of", "open", "close"):
            if tell and token.sign != "open":
                terms, tell = [], ""
            terms.append(token)
        elif token.sign == "stop" or (token.sign == "comma" and not _is_open(terms)):
            terms, tell = [], ""


def _is_open(terms: Sequence[_Token]) -> bool:
    return bool(terms) and terms[-1].sign in ("+", "-", "*", "/")


def _is_complete(terms: Sequence[_Token]) -> bool:
    signs = [term.sign for term in terms]
    return "#" in signs and any(sign in ("+", "-", "*", "/", "of") for sign in signs) and not _is_open(terms)


def _value(terms: Sequence[_Token]) -> float | None:
    """Return the value of terms with their signs; ``None`` if they are no calculation."""
    try:
        value, rest = _sum_of(list(terms))
    except (IndexError, ValueError, ZeroDivisionError):
        return None
    return None if rest else value


def _sum_of(terms: list[_Token]) -> tuple[float, list[_Token]]:
    value, is_percent, terms = _product_of(terms)
    value = value / CENTS if is_percent else value
    while terms and terms[0].sign in ("+", "-"):
        sign, (other, of_value, terms) = terms[0].sign, _product_of(terms[1:])
        part = value * other / CENTS if of_value else other
        value = value + part if sign == "+" else value - part
        if terms and terms[0].sign == "open" and _closes(terms):
            terms = terms[3:]  # "less 15 % (60 euros)"
    return value, terms


def _closes(terms: Sequence[_Token]) -> bool:
    return [term.sign for term in terms[:3]] == ["open", "#", "close"]


def _product_of(terms: list[_Token]) -> tuple[float, bool, list[_Token]]:
    value, is_percent, terms = _factor_of(terms)
    while terms and terms[0].sign in ("*", "/", "of"):
        sign, (other, is_share, terms) = terms[0].sign, _factor_of(terms[1:])
        if is_percent:
            value, is_percent = value / CENTS, False
        other = other / CENTS if is_share else other
        value = value / other if sign == "/" else value * other
    return value, is_percent, terms


def _factor_of(terms: list[_Token]) -> tuple[float, bool, list[_Token]]:
    first, rest = terms[0], terms[1:]
    if first.sign == "open":
        value, rest = _sum_of(rest)
        if not rest or rest[0].sign != "close":
            raise ValueError("a parenthesis is not closed")
        return value, False, rest[1:]
    if first.sign != "#":
        raise ValueError("a number is missing")
    return first.value, first.is_percent, rest
