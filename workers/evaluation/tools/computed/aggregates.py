"""Compute sums, means, medians and shares over the rows and columns that a claim means."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import fmean, median

from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.tools.computed.columns import Columns, meant, named_rows
from workers.evaluation.tools.computed.selections import has_unit, select_rows
from workers.evaluation.tools.results.tool_results import Mention, ToolResults
from workers.evaluation.tools.tool_figures import Figure, key_words, numeric_columns

AGGREGATES: tuple[tuple[str, re.Pattern[str], re.Pattern[str], Callable[[Sequence[float]], float]], ...] = (
    (
        "sum",
        re.compile(
            r"\b(?:totall?\w*|sums?(?:\s+up)?|altogether|together|combined|in\s+all|overall(?=,|\s*$)|adds?\s+up|comes?\s+to|came\s+to|amount\w*\s+to)\b",
            re.IGNORECASE,
        ),
        re.compile(r"\b(?:in\s+(?:total|all)|altogether|together|combined|overall)\b", re.IGNORECASE),
        sum,
    ),
    (
        "mean",
        re.compile(r"\b(?:averag\w*|mean)\b", re.IGNORECASE),
        re.compile(r"\bon\s+average\b", re.IGNORECASE),
        fmean,
    ),
    ("median", re.compile(r"\bmedian\b", re.IGNORECASE), re.compile(r"(?!)"), median),
)
"""Aggregates, with the words that name them before a figure and behind it."""


SOME_OF = re.compile(
    r"\b(?:top|first|last|best|largest|biggest|bottom|smallest|lowest|highest|remaining|other|rest)\b", re.IGNORECASE
)
"""Words of a part of the rows that no condition names."""


def aggregates(
    text: str,
    operation: str,
    function: Callable[[Sequence[float]], float],
    place: int,
    results: ToolResults,
    mentions: Sequence[Mention],
    quantity: Quantity,
) -> Iterator[Figure]:
    """Yield what an aggregate gives for the columns and rows that are meant.

    A sum may also be that of all rows that are described, although the claim names some of them.
    """
    columns, chosen = numeric_columns(place, results.tables[place]), select_rows(text, results.tables[place], place)
    kept = (named_rows(mentions, place) & chosen.described) or chosen.rows
    if not chosen.is_clear or (operation != "sum" and len(kept) < 2):
        return
    number = [path for path in columns if _QUANTITY & set(key_words(path[-1:]))]
    singles = (row for each in mentions if len(each.rows) == 1 for own, row in each.rows if own == place)
    parts = {kept, *(frozenset((row,)) for row in singles), chosen.described} if operation == "sum" else {kept}
    for rows in parts:
        for path in meant(text, columns, quantity):
            cells = [columns[path][row] for row in sorted(rows) if row in columns[path]]
            is_price = len(number) == 1 and path not in number and EACH & set(key_words(path[-1:]))
            for part in _by_sign([each.number for each in cells]) if cells and not is_price else ():
                yield Figure(function(part), path, frozenset(), operation, cells[0].unit)
        if operation == "sum" and len(number) == 1:
            yield from _bills(columns, number[0], rows, results, quantity)
        if operation == "sum" and len(rows) == 1:
            yield from _row_sums(columns, next(iter(rows)), quantity)


def _bills(
    columns: Columns, number: tuple[str, ...], rows: frozenset[int], results: ToolResults, quantity: Quantity
) -> Iterator[Figure]:
    """Yield the totals of prices, or of the unit of a figure, times the number of pieces, with surcharges; and that number."""
    for path, column in columns.items():
        is_priced = _PRICED & set(key_words(path[-1:])) or has_unit(column, quantity)
        if path != number and is_priced and (shared := rows & column.keys() & columns[number].keys()):
            total = sum(column[row].number * columns[number][row].number for row in shared)
            unit = column[next(iter(shared))].unit
            yield from (Figure(amount, path, frozenset(), "sum", unit) for amount in _with_surcharges(total, results))
            yield Figure(sum(columns[number][row].number for row in shared), number, frozenset(), "sum")


def _row_sums(columns: Columns, row: int, quantity: Quantity) -> Iterator[Figure]:
    """Yield the sums of the figures of a row that have one unit: minutes of preparation and of cooking."""
    cells = [column[row] for column in columns.values() if row in column and has_unit(column, quantity)]
    for one, two in combinations(cells, 2):
        yield replace(one, number=one.number + two.number, operation="sum")
    if len(cells) > 2:
        yield replace(cells[0], number=sum(each.number for each in cells), operation="sum")


def _by_sign(numbers: Sequence[float]) -> Iterator[list[float]]:
    """Yield numbers, and those above and below zero where there are both: what came in and what went out."""
    yield list(numbers)
    if min(numbers) < 0 < max(numbers):
        yield from ([each for each in numbers if each > 0], [each for each in numbers if each < 0])


_PRICED = frozenset(("price", "rate", "amount", "net", "cost", "fee", "each"))
EACH = frozenset(("price", "rate", "unit", "each", "per"))
"""Words of keys of amounts for one piece; other amounts may be those of a whole line."""


_QUANTITY = frozenset(("quantity", "qty", "count", "units", "pieces", "hours", "nights"))


def _with_surcharges(total: float, results: ToolResults) -> Iterator[float]:
    """Yield a total, and the total with the single amounts and rates of the results: shipping, a discount, a tax."""
    singles = [each.number for each in results.stated if len(results.tables[next(iter(each.rows))[0]].rows) == 1][:8]
    rates = [rate for each in singles for rate in (each, each / 100) if 0 < rate < 1]
    for amount in (total, *(total + sign * each for each in singles for sign in (1, -1))):
        yield amount
        yield from (amount * (1 + sign * rate) for rate in rates for sign in (1, -1))


def shares(text: str, columns: Columns, row: int, quantity: Quantity) -> Iterator[Figure]:
    """Yield the share of a row in each column that is meant."""
    for path in meant(text, columns, replace(quantity, dimension="", is_unit=False)):
        total = sum(each.number for each in columns[path].values())
        if row in columns[path] and total:
            own = columns[path][row]
            yield Figure(own.number / total, path, own.rows, "share")
