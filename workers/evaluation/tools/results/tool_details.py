"""Find the figures of a claim in results of tools, arguments and other texts."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from workers.evaluation.budget import spend
from workers.evaluation.facts.numbers.parts import SIDE
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.text.words import stem
from workers.evaluation.tools.results.tool_results import PREFIX, TOKEN, Located, Mention, ToolResults
from workers.evaluation.tools.tool_figures import MONEY, Figure, has_value, is_minor, key_words

MAX_FIGURES = 20
"""Maximum number of figures of a claim that are looked for."""

NEGATION = re.compile(
    r"\b(?:no|not|none|nobody|nothing|neither|nor|never|without|cannot|zero|un\w+|non\w+|\w+n['’]t|lacks?|missing|yet to)\b",
    re.IGNORECASE,
)

_NO_FIGURES = re.compile(r"\b\d-D\b|\d+(?:\.\d+)?\s?[×x]\s?\d+(?:\.\d+)?(?:\s?[×x]\s?\d+)?(?:\s?[cm]?m)?\b")
"""Names such as "3-D", and sizes, whose parts are no figures of their own."""

_IN_RANGE = re.compile(r"\b(\d{1,2})\s?[–-]\s?\d{1,2}\s+[A-Z][a-z]{2,8}\b")

_FIRST_DIGIT = re.compile(r"(?<![^\W\d_])\d")

THEIRS = re.compile(r"\b(?:hers|his|her|him|theirs)\b", re.IGNORECASE)
"""Somebody whom the sentence before names."""
_PERSON = re.compile(r"[A-Z][\w.’'-]*(?: [A-Z][\w.’'-]*)+")
_WORD_BEFORE = re.compile(r"\b([^\W\d_]{3,20})\s#?$")

_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)\b", re.IGNORECASE)
_JOINT = re.compile(r"(?:,|\s|and)*")


def located(claim: str, mentions: Sequence[Mention], results: ToolResults) -> Iterator[Located]:
    """Yield the figures of a claim with their places and the figures of results that they may be."""
    rest = _without_names(claim, mentions, results)
    for quantity, start in _figures(rest):
        equal = results.figure_index.equal_to(quantity)
        sources = tuple(figure for figure in equal if _is_of_group(figure, claim, mentions))
        yield Located(quantity, start, sources)


def is_day(figure: Located, claim: str, results: ToolResults) -> bool:
    """Return true for "the 10th" where a result has a date on the tenth."""
    match = _DAY.match(claim, figure.start)
    return match is not None and any(day.day == int(match[1]) for day in results.days)


def _figures(text: str) -> list[tuple[Quantity, int]]:
    """Return the figures of a text with their places, in order; parts of one duration are one figure."""
    placed: list[tuple[Quantity, int]] = []
    position: dict[str, int] = {}
    for quantity in read_details(text).quantities[:MAX_FIGURES]:
        # What was read together may be written apart: "1 hour and 30 minutes".
        digit = _FIRST_DIGIT.search(quantity.written)
        token = quantity.written[digit.start() :].split(" ")[0] if digit else quantity.written.split(" ")[0]
        after = position.get(token, 0)
        start = _place_of(token, text, after)
        position[token] = start + len(token)
        placed.append((quantity, start))
    placed.sort(key=lambda each: each[1])
    found: list[tuple[Quantity, int]] = []
    for quantity, start in placed:
        last, before = found[-1] if found else (None, 0)
        between = text[before + len(last.written) : start] if last is not None else ""
        if (
            last is not None
            and last.dimension == quantity.dimension == "time"
            and last.values[0] > quantity.values[0]
            and _JOINT.fullmatch(between)
        ):
            joined = replace(
                quantity,
                values=(last.values[0] + quantity.values[0],),
                written=text[before : start + len(quantity.written)],
            )
            found[-1] = joined, before
        else:
            found.append((quantity, start))
    return found


def _place_of(token: str, text: str, after: int) -> int:
    """Return the offset of a word at or behind an offset, where no further digit goes on: "99.9" does not stand in "99.98"."""
    match = re.compile(rf"{re.escape(token)}(?!\d)").search(text, after)
    return match.start() if match else max(text.find(token, after), 0)


def _is_of_group(figure: Figure, claim: str, mentions: Sequence[Mention]) -> bool:
    """Return true unless a figure of a part of the rows is of another part than the one that the claim names."""
    group = figure.group
    if group is None:
        return True
    lowered, value = claim.casefold(), group.text.lower()
    is_key_told = any(word[:PREFIX] in lowered for word in key_words(group.path) if len(word) > 3)
    if value in ("true", "false", "yes", "no"):
        return is_key_told and (value in ("true", "yes")) != bool(NEGATION.search(claim))
    if group.number is not None:
        return is_key_told
    if THEIRS.search(claim) and not mentions and _PERSON.fullmatch(group.text):
        return True
    named = [each for each in mentions if each.path == group.path]
    if named:
        return any(claim[each.start : each.end].casefold()[:PREFIX] in value for each in named)
    told = {part for token in TOKEN.findall(claim.casefold()) for part in (token[:PREFIX], stem(token))}
    return any(token[:PREFIX] in told for token in TOKEN.findall(value) if len(token) > 2)


def _without_names(claim: str, mentions: Sequence[Mention], results: ToolResults) -> str:
    """Return a claim without the figures in identifiers and names of rows ("6a", "pay_9Qd2", "20 mg" as a name)."""
    rest = list(claim)
    for match in re.finditer(r"`[^`]{1,200}`|[\w./:-]*\d[\w./:-]*", claim):
        word = match[0].strip("`.,:;")
        has_letter = any(letter.isalpha() for letter in word)
        if has_letter and len(word) > 1 and re.search(rf"(?<![\w]){re.escape(word.casefold())}(?![\w])", results.text):
            rest[match.start() : match.end()] = " " * (match.end() - match.start())
    for match in _NO_FIGURES.finditer(claim):
        rest[match.start() : match.end()] = " " * (match.end() - match.start())
    for match in _IN_RANGE.finditer(claim):
        rest[match.start(1) : match.end(1)] = " " * (match.end(1) - match.start(1))
    for mention in mentions:
        if claim[mention.end : mention.end + 1] == " " and claim[mention.end + 1 : mention.end + 2].isdigit():
            rest[mention.end] = "("  # "Corvo 412" is a name and a figure, no member of a series
        if any(letter.isdigit() for letter in claim[mention.start : mention.end]):
            rest[mention.start : mention.end] = " " * (mention.end - mention.start)
    return "".join(rest)


def is_quoted(figure: Located, claim: str, results: ToolResults) -> bool:
    """Return true if a result has a figure without a unit behind the same word: "line 40211", "job=8841"."""
    digits = re.match(r"\d+(?![\d.,:]*\d)", claim[figure.start :])
    word = _WORD_BEFORE.search(claim[: figure.start])
    if digits is None or word is None or figure.quantity.is_unit:
        return False
    return (
        re.search(rf"\b{re.escape(word[1].casefold())}[\s=:#\"']{{1,4}}{digits[0]}(?![\d.]*\d)", results.text)
        is not None
    )


def is_given(quantity: Quantity, results: ToolResults) -> bool:
    """Return true if a text or an argument states a quantity."""
    spend(len(results.arguments) + len(results.quantities))
    if any(has_value(figure, quantity) for figure in results.arguments):
        return True
    about = 0.02 if quantity.approximate else 1e-9
    if quantity.dimension in ("time", "month") and _is_span(quantity, results):
        return True
    if quantity.face >= 10 and quantity.dimension != "time":
        slack = max(quantity.step, about * quantity.values[0])
        if any(abs(value - quantity.values[0]) <= slack * (1 + 1e-6) for value in results.multiples):
            return True
    return any(
        (other.dimension == quantity.dimension or not other.is_unit or not quantity.is_unit)
        and any(
            abs(one - two) <= max(quantity.step, about * abs(two), 1e-9)
            for one in quantity.values
            for two in (*other.values, other.face)
        )
        for other in results.quantities
    )


def is_minor_as_major(figure: Located, results: ToolResults) -> bool:
    """Return true if a sum of money has the digits of an amount in hundredths: "€2,500" over ``amount_cents: 2500``."""
    quantity = figure.quantity
    if figure.sources or not quantity.is_unit or quantity.dimension not in MONEY:
        return False
    spend(len(results.stated) + len(results.quantities))
    value = quantity.values[0]
    return any(each.number == value and is_minor(each) for each in results.stated) and not any(
        each.is_unit and each.dimension == quantity.dimension and value in each.values for each in results.quantities
    )


def _is_span(quantity: Quantity, results: ToolResults) -> bool:
    """Return true if a duration lies between two days or two moments of the results."""
    unit = 86400.0 if quantity.dimension == "time" else 1 / 30.44
    slack = max(quantity.step, 0.02 * quantity.values[0] if quantity.approximate else 0.0) * (1 + 1e-6)
    days = (abs((one - two).days) * unit for one, two in combinations(results.days, 2))
    if any(abs(span - quantity.values[0]) <= slack for span in days):
        return True
    spans = (abs((one - two).total_seconds()) for one, two in combinations(results.moments, 2))
    return quantity.dimension == "time" and any(abs(span - quantity.values[0]) <= slack for span in spans)


def is_count_of(figure: Located, figures: Sequence[Located], question: str, results: ToolResults) -> bool:
    """Return true if a figure counts the rows on one side of a limit that the claim or its question tells."""
    count = figure.quantity.face
    if figure.quantity.is_unit or not 0 < count <= 100 or count != int(count):
        return False
    limits = [each.quantity.face for each in figures if each is not figure]
    limits += [number.face for number in read_details(question).quantities]
    columns: dict[Any, list[float]] = {}
    for each in results.stated:
        columns.setdefault(each.column, []).append(each.number)
    for numbers in columns.values():
        for limit in limits[:MAX_FIGURES]:
            above, below = sum(each > limit for each in numbers), sum(each < limit for each in numbers)
            if count in (above, below, len(numbers) - above, len(numbers) - below):
                return True
    return False


def is_result(figure: Located, figures: Sequence[Located]) -> bool:
    """Return true for a result such as "3–2" whose two sides one row has under keys of one name, "home.score" and "away.score"."""
    if figure.quantity.dimension != "ratio":
        return False
    sides = divmod(figure.quantity.face, SIDE)
    one, two = (
        [source for each in figures if each.quantity.face == side and each is not figure for source in each.sources]
        for side in sides
    )
    return any(
        first.operation == second.operation == "stated"
        and first.path != second.path
        and bool(first.rows & second.rows)
        and bool(set(key_words(first.path[-1:])) & set(key_words(second.path[-1:])))
        for first in one
        for second in two
    )


def is_small_count(quantity: Quantity) -> bool:
    """Return true for "one" and "a": words rather than figures."""
    return not quantity.is_unit and quantity.face in (0.0, 1.0)
