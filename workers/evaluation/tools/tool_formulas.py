"""Find a figure of a claim by the calculation that its words name: "per guest", "left of the budget", "with 25 % off".

The list of ``tool_figures`` is derived for every result. These formulas are tried for a figure that this list lacks, and
only where the claim has a word for them: with a dozen numbers some formula gives every small figure.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import combinations, islice, permutations
from math import ceil

from workers.evaluation.budget import spend
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.tools.results.tool_results import ToolResults, cells_of, dates_in
from workers.evaluation.tools.results.tool_tables import Table
from workers.evaluation.tools.tool_figures import KEY_UNITS, Figure, groups_of, key_words, numeric_columns

MAX_NUMBERS = 14
"""Maximum number of single figures that are calculated with."""
MAX_ROWS = 40
"""Maximum number of rows of a table that are calculated with."""

_DIVIDED = re.compile(
    r"\b(?:per|each|apiece|average\w*|mean|every|splits?|lasts?|takes?|need \d|speed|enough|a (?:day|week|month|head))\b",
    re.IGNORECASE,
)
_LEFT = re.compile(
    r"\b(?:left|remain\w*|still|missing|short|profit|loss|difference|more|less|fewer|ahead|behind|rose|fell|grew|increased|dropped|apart"
    r"|over|under|net|surplus|deficit|change|cheaper|dearer)\b|\d\s(?:\w{1,8}\s)?(?:above|below|beyond|higher|lower|off)\b",
    re.IGNORECASE,
)
_TOTAL = re.compile(
    r"\b(?:total\w*|together|altogether|add up|adds up|combined|sum|in all|overall|worked|whole)\b", re.IGNORECASE
)
_PERCENT = re.compile(
    r"%|\b(?:percent|discount|off|tip|tax|vat|interest|margin|commission|fee|net|gross|surcharge|reduced|raise)\b",
    re.IGNORECASE,
)
_TAXED = re.compile(r"\b(?:tax|vat|discount|net|gross)\b", re.IGNORECASE)
_AREA = re.compile(r"\b(?:square|cubic|area|volume|times|m²|m³)\b|[m²³×]\b", re.IGNORECASE)
_YEARS_OLD = re.compile(r"\b(?:years?[ -]old|aged?|years? (?:since|ago|of service))\b", re.IGNORECASE)
_WEIGHTED = re.compile(r"\b(?:weighted|average\w*|mean)\b", re.IGNORECASE)
_TOP = re.compile(r"\b(?:top|first|best|largest|biggest|bottom|last|smallest|lowest) (\w+)\b", re.IGNORECASE)
_CODE = re.compile(r"[A-Z]{3}")
_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10}
_SPANS = (
    (re.compile(r"\b(?:(?:an?|per|every|each) year|yearly|annual\w*)\b", re.IGNORECASE), (12.0, 52.0, 365.0)),
    (re.compile(r"\b(?:(?:a|per|every|each) month|monthly)\b", re.IGNORECASE), (12.0, 30.0)),
    (re.compile(r"\b(?:(?:a|per|every|each) week|weekly)\b", re.IGNORECASE), (7.0, 52.0)),
    (re.compile(r"\b(?:(?:a|per|every|each) day|daily)\b", re.IGNORECASE), (24.0, 7.0)),
)
"""Number of parts in a whole: "1,200 a year" for 100 a month."""
_STARTS, _ENDS = (
    frozenset(("in", "start", "begin", "from", "opens")),
    frozenset(("out", "end", "finish", "to", "until", "closes")),
)


def is_calculated(quantity: Quantity, claim: str, question: str, results: ToolResults) -> bool:
    """Return true if a calculation that a claim names gives one of its figures.

    Args:
        quantity: the figure.
        claim: plain text.
        question: the question that it answers, or an empty text.
        results: the results of the answer's tools.
    """
    others = [each for each in read_details(f"{question} {claim}").quantities if each.values != quantity.values]
    found = 0
    asked = [each.face for each in read_details(question).quantities] if question else []
    for value in _values(claim, others, asked, results):
        found += 1
        if _is_same(value, quantity):
            return True
    spend(found)
    return False


def _is_same(value: float, quantity: Quantity) -> bool:
    slack = max(quantity.step * (1 + 1e-6), (0.02 if quantity.approximate else 1e-9) * abs(value))
    scale = abs(quantity.values[0] / quantity.face) if quantity.face else 1.0
    targets = ((quantity.face, slack / scale if scale > 1 else slack), *((each, slack) for each in quantity.values))
    return any(abs(abs(value) - target) <= own for target, own in targets)


def _values(text: str, others: Sequence[Quantity], asked: Sequence[float], results: ToolResults) -> Iterator[float]:
    numbers = _numbers(results)
    sums = [sum(each) for each in _columns(results.tables)]
    if _DIVIDED.search(text):
        yield from _quotients([*numbers, *sums, *map(float, _row_counts(results.tables))], text)
    if _LEFT.search(text):
        counts = map(float, _row_counts(results.tables))
        yield from (one - two for one, two in permutations([*numbers, *sums, *counts], 2))
        yield from (one - each for one in (*numbers, *sums) for each in asked)
        yield from (one - two - three for one, two, three in islice(permutations(numbers, 3), 1_000))
    if _TOTAL.search(text):
        yield from _totals(text, others, results.tables)
    if _PERCENT.search(text):
        products = islice(_of_rows(results.tables), MAX_ROWS if _TAXED.search(text) else 0)
        yield from _of_percentages([*numbers, *sums, *products], [each.face for each in others], results)
    if _AREA.search(text):
        yield from (one * two for one, two in combinations(numbers, 2))
    if _WEIGHTED.search(text):
        yield from _weighted(results.tables)
    if _YEARS_OLD.search(text):
        days = sorted(results.days)
        yield from (
            (two.year - one.year) - ((two.month, two.day) < (one.month, one.day)) for one, two in combinations(days, 2)
        )
    yield from _converted(others, results)
    for pattern, factors in _SPANS:
        if pattern.search(text):
            yield from (value for factor in factors for each in numbers for value in (each * factor, each / factor))
    yield from _joint_counts(results.tables)


def _converted(others: Sequence[Quantity], results: ToolResults) -> Iterator[float]:
    """Yield stated amounts in the other currency of a rate of exchange."""
    codes = {
        each.path[-1]: each.text.casefold()
        for each in cells_of(results.tables)
        if each.path and _CODE.fullmatch(each.text)
    }
    for rate in (each.number for each in results.stated if "rate" in key_words(each.path[-1:]) and each.number):
        for told in others:
            if told.dimension == codes.get("base", codes.get("from")):
                yield told.face * rate
            elif told.dimension == codes.get("quote", codes.get("to")):
                yield told.face / rate
    for each in results.stated:
        own, given = each.path[-1] if each.path else "", codes.get("base", codes.get("from"))
        if given and _CODE.fullmatch(own) and own.casefold() != given:
            yield from (told.face * each.number for told in others if told.dimension in (given, ""))


def _numbers(results: ToolResults) -> list[float]:
    """Return the single figures of results and arguments, as written and in the base unit of their key, and of small tables."""
    single = [each for each in results.stated if len(results.tables[next(iter(each.rows))[0]].rows) <= 4]
    figures = [*single, *(each for each in results.arguments if each.operation == "stated")][:MAX_NUMBERS]
    return list(dict.fromkeys(value for each in figures for value in (each.number, _in_base(each))))


def _in_base(figure: Figure) -> float:
    words = key_words(figure.path[-1:])
    known = KEY_UNITS.get(figure.unit) or (KEY_UNITS.get(words[-1]) if words else None)
    return figure.number * known[1] if known and known[0] in ("time", "metre", "bytes") else figure.number


def _quotients(numbers: Sequence[float], text: str) -> Iterator[float]:
    rounds_up = re.search(r"\bneed\w*|\bat least\b", text, re.IGNORECASE)
    of_hundred, is_speed = re.search(r"\bper 100\b", text), "km/h" in text
    for one, two in permutations(numbers[: 2 * MAX_NUMBERS], 2):
        if two:
            yield one / two
            yield from (100.0 * one / two,) if of_hundred else ()
            yield from (3.6 * one / two,) if is_speed else ()
            if rounds_up and 0 < one / two < 1e6:
                yield float(ceil(one / two))


def _columns(tables: Sequence[Table]) -> Iterator[list[float]]:
    """Yield the numbers of each column of tables with several rows, and of alike cells of a single row."""
    for place, table in enumerate(tables):
        columns = [[each.number for each in column.values()] for column in numeric_columns(place, table).values()]
        yield from (column[:MAX_ROWS] for column in columns if len(column) > 1)
        parents: dict[tuple[str, ...], list[float]] = {}
        for cell in table.rows[0] if len(table.rows) == 1 else ():
            if cell.number is not None and len(cell.path) > 1:
                parents.setdefault(cell.path[:-1], []).append(cell.number)
        yield from (each for each in parents.values() if len(each) > 1)


def _totals(text: str, others: Sequence[Quantity], tables: Sequence[Table]) -> Iterator[float]:
    """Yield sums of the highest and lowest values of columns, of those beyond a figure of the claim, and of times."""
    tops = [
        _COUNTS.get(match[1].lower(), 0) or int(match[1] if match[1].isdecimal() else 0)
        for match in _TOP.finditer(text)
    ]
    for column in _columns(tables):
        yield sum(column)
        ordered = sorted(column)
        yield from (sum(part) for top in tops if top for part in (ordered[-top:], ordered[:top]))
        for limit in others[:6]:
            yield from (
                sum(each for each in column if each > limit.face),
                sum(each for each in column if each < limit.face),
            )
    spans = [span for table in tables if (span := _worked(table))]
    yield from spans
    yield sum(spans)


def _worked(table: Table) -> float:
    """Return the seconds between the start and the end of each row, in sum."""
    total = timedelta()
    for row in table.rows[:MAX_ROWS]:
        ends = [
            next(
                (
                    each
                    for cell in row
                    if keys & set(key_words(cell.path[-1:]))
                    for each in dates_in(cell.text)
                    if each.minute is not None
                ),
                None,
            )
            for keys in (_STARTS, _ENDS)
        ]
        if ends[0] is None or ends[1] is None:
            return 0.0
        one, two = (datetime(2000, 1, 1) + timedelta(minutes=each.minute or 0) for each in ends if each is not None)
        total += two - one if two >= one else two - one + timedelta(days=1)
    return total.total_seconds()


def _of_percentages(numbers: Sequence[float], told: Sequence[float], results: ToolResults) -> Iterator[float]:
    rates = [
        each.number for each in results.stated if {"pct", "percent", "rate", "vat", "tax"} & set(key_words(each.path))
    ]
    for rate in dict.fromkeys([*rates, *told][:8]):
        share = rate / 100.0 if abs(rate) > 1 else rate
        for number in numbers if -1 < share < 5 else ():
            net = number / (1 + share)
            yield from (number * share, number * (1 + share), number * (1 - share), net, number - net)


def _of_rows(tables: Sequence[Table]) -> Iterator[float]:
    """Yield the products of two numbers of a row, such as quantity and price."""
    for table in tables:
        for row in table.rows[:MAX_ROWS]:
            numbers = [cell.number for cell in row if cell.number is not None]
            yield from (one * two for one, two in combinations(numbers[:4], 2))


def _weighted(tables: Sequence[Table]) -> Iterator[float]:
    for place, table in enumerate(tables):
        columns = list(numeric_columns(place, table).values())[:6]
        for one, two in permutations(columns, 2):
            rows = one.keys() & two.keys()
            total = sum(two[row].number for row in rows)
            if len(rows) > 1 and total:
                yield sum(one[row].number * two[row].number for row in rows) / total


def _joint_counts(tables: Sequence[Table]) -> Iterator[float]:
    """Yield how many rows have two values together: "two of the open ones are late"."""
    for table in tables:
        groups = [rows for _, rows in islice(groups_of(table), 24) if len(rows) > 1]
        yield from (float(len(one & two)) for one, two in combinations(groups, 2) if one & two)


def _row_counts(tables: Sequence[Table]) -> Iterator[int]:
    yield from (len(table.rows) for table in tables if len(table.rows) > 1)
    for table in tables:
        names: dict[tuple[str, ...], int] = {}
        for cell in table.rows[0] if len(table.rows) == 1 else ():
            names[cell.path] = names.get(cell.path, 0) + 1
        yield from (count for count in names.values() if count > 1)
