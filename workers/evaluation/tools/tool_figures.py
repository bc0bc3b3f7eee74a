"""Derive the figures that an assistant may take from the tables of a tool's result.

A claim seldom repeats a value as it stands: cents become dollars, seconds become minutes, a ratio becomes a percentage,
rows are counted, summed, ranked and compared. Each derived figure keeps the rows that it comes from, so that a claim
can be compared with the row that it names.

The derivations are fixed and their number is bounded: no formula is searched for.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import combinations, islice
from statistics import fmean, median

from workers.evaluation.budget import spend
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.units import CURRENCIES
from workers.evaluation.text.words import stem
from workers.evaluation.tools.results.tool_tables import CLOCK_UNIT, KEY, MINOR_UNIT, Cell, Table

MAX_COLUMNS = 16
"""Maximum number of numeric columns of a table that are derived from."""
MAX_GROUPS = 12
"""Maximum number of groups of rows with one value in a column."""
MAX_PAIRED = 14
"""Maximum number of cells of a column, or of a row, of which pairs are derived from."""
MAX_DERIVED = 4_000
"""Maximum number of derived figures of a result."""
ROUNDED = 0.02
"""Accepted relative difference of an approximate figure."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_MINOR = frozenset(("cents", "cent", "pence", "minor", "ore", "øre", "öre", "centimes", "grosz"))
MONEY = frozenset((*CURRENCIES, "", "pound"))
AMOUNTS = frozenset(
    (
        "amount",
        "price",
        "total",
        "cost",
        "fee",
        "net",
        "gross",
        "subtotal",
        "tax",
        "balance",
        "open",
        "charge",
        "paid",
        "rate",
        "value",
    )
)
KEY_UNITS = {
    "ms": ("time", 0.001), "millis": ("time", 0.001), "us": ("time", 1e-6), "ns": ("time", 1e-9), "s": ("time", 1.0),
    "sec": ("time", 1.0), "secs": ("time", 1.0), "seconds": ("time", 1.0), "min": ("time", 60.0),
    "mins": ("time", 60.0), "minutes": ("time", 60.0), "h": ("time", 3600.0), "hours": ("time", 3600.0),
    "hrs": ("time", 3600.0), "days": ("time", 86400.0), "weeks": ("time", 604800.0), "bytes": ("bytes", 1.0),
    "kb": ("bytes", 1e3), "mb": ("bytes", 1e6), "gb": ("bytes", 1e9), "kib": ("bytes", 2.0**10),
    "mib": ("bytes", 2.0**20), "gib": ("bytes", 2.0**30), "pct": ("percent", 1.0), "percent": ("percent", 1.0),
    "g": ("gram", 1.0), "kg": ("gram", 1000.0), "mg": ("gram", 0.001), "m": ("metre", 1.0), "km": ("metre", 1000.0),
    "cm": ("metre", 0.01), "mm": ("metre", 0.001), "l": ("litre", 1.0), "ml": ("litre", 0.001),
    "kw": ("watt", 1e3), "w": ("watt", 1.0), "mw": ("watt", 1e6), "months": ("month", 1.0), "years": ("month", 12.0),
}  # fmt: skip
"""Units that stand at the end of keys, with dimension and factor."""
_EPOCH = (9e8, 2.2e9)
_TIMED = frozenset(("at", "ts", "time", "date", "dt", "timestamp", "created", "updated", "expires", "until", "since"))
_MEASURED = AMOUNTS | _MINOR | {"id", "number", "count", "size", "population", "views", "revenue", "sales", "phone"}
"""Words of keys whose large numbers are no times."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Describe a figure that a result states or gives.

    Attributes:
        number: its value, in the unit of its column.
        path: names of its column.
        rows: identities of the rows that it comes from.
        operation: ``stated``, or how it was derived.
        unit: unit beside the value.
        column: identity of its column; ``None`` for figures of several columns.
        group: the value that its rows share, for figures of a part of the rows.
    """

    number: float
    path: tuple[str, ...]
    rows: frozenset[tuple[int, int]]
    operation: str = "stated"
    unit: str = ""
    column: tuple[int, tuple[str, ...]] | None = None
    group: Cell | None = None


@lru_cache(maxsize=8192)
def key_words(path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a path in lower case: ``workingSetBytes`` has three."""
    return tuple(word.lower() for name in path for word in _WORDS.findall(name))


def figures_of(tables: Sequence[Table]) -> list[Figure]:
    """Return the figures that tables state and give, the stated ones first."""
    stated: list[Figure] = []
    derived: list[Iterator[Figure]] = []
    for place, table in enumerate(tables):
        columns = numeric_columns(place, table)
        stated += [figure for column in columns.values() for figure in column.values()]
        several = dict(islice(((path, column) for path, column in columns.items()), MAX_COLUMNS))
        derived += [_counts(place, table), _of_columns(table, several), _of_rows(several)]
    scalars = [figure for figure in stated if len(tables[next(iter(figure.rows))[0]].rows) == 1]
    derived.append(_of_record(scalars))
    derived.append(_of_bill(tables, stated))
    lengths = (figure for place, table in enumerate(tables) for figure in _lengths(place, table))
    found = [*stated, *lengths, *islice((figure for each in derived for figure in each), MAX_DERIVED)]
    spend(len(found))
    return found


def numeric_columns(place: int, table: Table) -> dict[tuple[str, ...], dict[int, Figure]]:
    """Return the numbers of each column of a table by row."""
    columns: dict[tuple[str, ...], dict[int, Figure]] = {}
    for row, cells in enumerate(table.rows):
        for cell in cells:
            number = cell.number
            if number is not None:
                figure = Figure(number, cell.path, frozenset({(place, row)}), unit=cell.unit, column=(place, cell.path))
                columns.setdefault(cell.path, {}).setdefault(row, figure)
    return columns


def groups_of(table: Table) -> Iterator[tuple[Cell, frozenset[int]]]:
    """Yield the rows that share a value in a column, by that value; only values that some rows have and others lack."""
    found: dict[tuple[tuple[str, ...], str], list[int]] = {}
    cells: dict[tuple[tuple[str, ...], str], Cell] = {}
    for row, each in enumerate(table.rows):
        for cell in each:
            key = (cell.path, cell.text.lower())
            found.setdefault(key, []).append(row)
            cells.setdefault(key, cell)
    for key, rows in found.items():
        if len(rows) < len(table.rows) and len(cells[key].text) <= 60:
            yield cells[key], frozenset(rows)


def _lengths(place: int, table: Table) -> Iterator[Figure]:
    """Yield how many texts each short list of a row has: its texts are cells of the row, ``"tags": ["new", "sale"]``."""
    for row, cells in enumerate(table.rows):
        listed = Counter(cell.path for cell in cells if cell.number is None and cell.text)
        for path, count in listed.items():
            if count > 1:
                name = (*path, "count")
                yield Figure(float(count), name, frozenset({(place, row)}), column=(place, name))


def _counts(place: int, table: Table) -> Iterator[Figure]:
    total = len(table.rows)
    everything = frozenset((place, row) for row in range(total))
    if total > 1:
        yield Figure(float(total), (*table.name, "count"), everything, "count")
    for cell, rows in groups_of(table):
        if cell.number is None or len(rows) > 1:
            path, members = (*cell.path, cell.text), frozenset((place, row) for row in rows)
            yield Figure(float(len(rows)), path, members, "count", group=cell)
            yield Figure(len(rows) / total, path, everything, "share", group=cell)
    for path, column in numeric_columns(place, table).items():
        above = [row for row, figure in column.items() if figure.number > 0]
        if 0 < len(above) < total:
            yield Figure(float(len(above)), path, frozenset((place, row) for row in above), "count")


def _of_columns(table: Table, columns: dict[tuple[str, ...], dict[int, Figure]]) -> Iterator[Figure]:
    groups = list(islice(((cell, rows) for cell, rows in groups_of(table) if len(rows) > 1), MAX_GROUPS))
    for path, column in columns.items():
        cells = list(column.values())
        if len(cells) < 2:
            continue
        yield from _aggregates(path, cells)
        for cell, rows in groups:
            chosen = [figure for row, figure in column.items() if row in rows]
            if 1 < len(chosen) < len(cells) and cell.path != path:
                yield from (replace(figure, group=cell) for figure in _aggregates(path, chosen))
        total = sum(each.number for each in cells)
        yield from (Figure(each.number / total, path, each.rows, "share") for each in cells if total)
        for one, two in combinations(cells[:MAX_PAIRED], 2):
            yield from pairs_of(path, one, two)


def _aggregates(path: tuple[str, ...], cells: Sequence[Figure]) -> Iterator[Figure]:
    numbers = [each.number for each in cells]
    rows = frozenset[tuple[int, int]]().union(*(each.rows for each in cells))
    results = {
        "sum": sum(numbers),
        "mean": fmean(numbers),
        "median": median(numbers),
        "range": max(numbers) - min(numbers),
    }
    for operation, number in results.items():
        yield Figure(number, path, rows, operation, cells[0].unit)


def pairs_of(path: tuple[str, ...], one: Figure, two: Figure) -> Iterator[Figure]:
    """Yield the difference, the ratios and the changes of two figures of a column."""
    rows = one.rows | two.rows
    yield Figure(abs(one.number - two.number), path, rows, "difference", one.unit)
    for first, second in ((one.number, two.number), (two.number, one.number)):
        if first:
            yield Figure((second - first) / abs(first), (), rows, "change")
            yield Figure(second / first, (), rows, "ratio")


def _of_rows(columns: dict[tuple[str, ...], dict[int, Figure]]) -> Iterator[Figure]:
    """Yield sums, differences, products and ratios of two columns of each row."""
    units: dict[str, list[dict[int, Figure]]] = {}
    for path, column in columns.items():
        units.setdefault(_unit_of(path), []).append(column)
    for alike in units.values():
        for row in set[int]().union(*alike) if len(alike) > 2 else ():
            cells = [column[row] for column in alike if row in column]
            if len(cells) > 2:
                yield from (each for each in _aggregates(cells[0].path, cells) if each.operation in ("sum", "mean"))
                total = sum(each.number for each in cells)
                yield from (Figure(each.number / total, each.path, each.rows, "share") for each in cells if total)
    for (first, one), (second, two) in combinations(columns.items(), 2):
        for row in one.keys() & two.keys():
            a, b = one[row], two[row]
            rows = a.rows | b.rows
            if _unit_of(first) == _unit_of(second):
                for operation, number in (("sum", a.number + b.number), ("difference", abs(a.number - b.number))):
                    yield Figure(
                        number,
                        (*first, *second),
                        rows,
                        operation,
                        a.unit,
                        (next(iter(rows))[0], (*first, *second, operation)),
                    )
            yield Figure(a.number * b.number, (*first, *second), rows, "product")
            for x, y in ((a.number, b.number), (b.number, a.number)):
                if y and _unit_of(first) == _unit_of(second):
                    yield Figure(x / y, (), rows, "ratio")
                    yield Figure((x - y) / abs(y), (), rows, "change")
                elif y:
                    yield Figure(x / y, first if x == a.number else second, rows, "rate")


def _of_record(scalars: Sequence[Figure]) -> Iterator[Figure]:
    """Yield what pairs of single values of different records give."""
    for one, two in combinations(scalars[: 2 * MAX_PAIRED], 2):
        if one.rows != two.rows:
            yield from pairs_of((*one.path, *two.path), one, two)
            yield Figure(one.number * two.number, (*one.path, *two.path), one.rows | two.rows, "product")


def _of_bill(tables: Sequence[Table], stated: Sequence[Figure]) -> Iterator[Figure]:
    """Yield the totals of quantities times prices, with single amounts and rates of other records."""
    scalars = [figure for figure in stated if len(tables[next(iter(figure.rows))[0]].rows) == 1][:MAX_PAIRED]
    rates = [figure.number for figure in scalars if 0 < figure.number < 1]
    for place, table in enumerate(tables):
        columns = numeric_columns(place, table)
        full = [(path, column) for path, column in columns.items() if len(column) == len(table.rows)][:6]
        totals = [(sum(figure.number for figure in column.values()), path) for path, column in full if len(column) > 1]
        for (first, one), (second, two) in combinations(full, 2):
            totals.append((sum(one[row].number * two[row].number for row in one), (*first, *second)))
        rows = frozenset((place, row) for row in range(len(table.rows)))
        for total, path in totals:
            yield Figure(total, path, rows, "sum")
            sums = [total, *(total + figure.number for figure in scalars if figure.number > 1)]
            for amount in sums:
                yield Figure(amount, path, rows, "sum")
                for rate in rates:
                    yield Figure(amount * (1 + rate), path, rows, "sum")
                    yield Figure(amount * (1 - rate), path, rows, "sum")
                    yield Figure(amount * rate, path, rows, "product")


def _unit_of(path: tuple[str, ...]) -> str:
    words = key_words(path[-1:])
    return words[-1] if words and (words[-1] in KEY_UNITS or words[-1] in _MINOR) else ""


GRAMS_OF_A_POUND = 453.59237


def has_value(figure: Figure, quantity: Quantity) -> bool:
    """Return true if a figure of a result, in any unit that its column may have, is a quantity of a claim."""
    about = ROUNDED if quantity.approximate else 1e-9
    for value in numbers_as(figure, quantity):
        if value < 0 and quantity.values[0] > 0 and quantity.dimension not in ("celsius", "fahrenheit", "degree"):
            value = -value  # a credit or a loss is stated by its size
        slack = max(quantity.step * (1.0 + 1e-6), about * abs(value), 1e-9)
        if any(abs(target - value) <= slack for target in quantity.values):
            return True
    return False


def numbers_as(figure: Figure, quantity: Quantity) -> Iterator[float]:
    """Yield a figure in the base unit of a quantity, for each unit that the figure may have."""
    number, dimension = figure.number, quantity.dimension if quantity.is_unit else ""
    words = key_words(figure.path)
    if figure.operation in ("ratio", "share", "change"):
        yield from (100.0 * number,) if dimension == "percent" else () if dimension else (number,)
        return
    if figure.operation == "rate" and dimension == "km/h":
        # Metres a second, kilometres an hour.
        yield from (number * 3.6, number)
        return
    if figure.operation in ("rate", "product") and dimension not in MONEY:
        return
    if figure.operation == "count" and (dimension or "." in quantity.written):
        return
    if dimension == "percent":
        yield number
        if abs(number) <= 1.5:
            yield 100.0 * number
        return
    if dimension in ("celsius", "fahrenheit", "degree"):
        yield number
        yield from (number - 273.15, (number - 273.15) * 1.8 + 32.0) if number > 180 else ()
        yield number * 1.8 + 32.0 if dimension == "fahrenheit" else (number - 32.0) / 1.8
        return
    known = KEY_UNITS.get(figure.unit) or (KEY_UNITS.get(words[-1]) if words else None)
    if dimension == "pound" and known is not None and known[0] == "gram":
        yield number * known[1] / GRAMS_OF_A_POUND
        return
    if dimension in MONEY:
        yield from _amounts(number, (*words, figure.unit))
        if dimension:
            return
    if dimension == "bytes" and (figure.unit == "bytes" or (known is not None and known[0] == "bytes")):
        # Programs write powers of 1024 as "61G", and people as "61 GB".
        number *= known[1] if known else 1.0
        yield from (number, *(number * (1000.0 / 1024.0) ** power for power in (1, 2, 3, 4)))
        return
    if figure.unit == CLOCK_UNIT:
        yield from (number, number / 60.0) if dimension == "time" else ()
        return
    if dimension == "km/h":
        yield from (number, number * 3.6, number * 1.609344, number * 1.852)
    elif known is not None and dimension:
        yield from (number * known[1],) if known[0] == dimension else ()
    elif dimension:
        yield from (number * factor for factor in _factors(quantity))
    elif known is not None and known[0] in ("gram", "metre", "time"):
        yield from (number, number / 1000.0)
    else:
        yield number


def units_of(quantity: Quantity) -> tuple[object, ...]:
    """Return all of a quantity that ``numbers_as`` depends on."""
    dimension = quantity.dimension if quantity.is_unit else ""
    return dimension, "." in quantity.written, _factors(quantity) if dimension else ()


def _factors(quantity: Quantity) -> tuple[float, ...]:
    """Return the units in which a number without a unit may stand: that of the claim, a thousandth and a thousandfold."""
    if quantity.dimension == "time":
        return (0.001, 1.0, 60.0, 3600.0, 86400.0)
    own = abs(quantity.values[0] / quantity.face) if quantity.face else 1.0
    if quantity.dimension == "bytes":
        return (1.0, own)
    return (own, own / 1000.0, own * 1000.0)


def _amounts(number: float, words: Sequence[str]) -> Iterator[float]:
    if "micros" in words:
        yield number / 1e6
    elif _MINOR.intersection(words):
        yield number / 100.0
    else:
        yield number
        if number == int(number) and AMOUNTS.intersection(words):
            yield number / 100.0
        if number == int(number) and "k" in words:
            yield number * 1000.0


def is_minor(figure: Figure) -> bool:
    """Return true for an amount that is counted in hundredths of its currency."""
    return figure.unit == MINOR_UNIT or not _MINOR.isdisjoint(key_words(figure.path))


def moment_of(cell: Cell) -> datetime | None:
    """Return the time that a cell holds as seconds or milliseconds since the epoch; ``None`` for other cells.

    A whole number of that size is a time, unless its key says that it is an amount or a size.
    """
    if cell.number is None or cell.number != int(cell.number) or cell.unit:
        return None
    words = key_words(cell.path)
    if words and (words[-1] in KEY_UNITS or words[-1] in _MEASURED) and not _TIMED & set(words):
        return None
    seconds = cell.number / 1e3 if cell.number > 1e11 else cell.number
    return datetime.fromtimestamp(seconds, UTC) if _EPOCH[0] < seconds < _EPOCH[1] else None


def stems_of(path: tuple[str, ...]) -> frozenset[str]:
    """Return the stems of the words of a path, without those of units and of keys."""
    return frozenset(stem(word) for word in key_words(path) if word not in KEY_UNITS and word != KEY)
