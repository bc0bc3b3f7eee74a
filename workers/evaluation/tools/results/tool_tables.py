"""Read the results of tools as tables: JSON, separated values, tables of databases, Markdown, programs, and XML.

Whatever the form, a result is a list of tables whose rows have named cells. A list of objects is a table, and so is an
object of alike objects, whose keys are a column of their own. All other values of a result are the one row of a table
without a name. A list without objects has one column.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

from workers.evaluation.tools.results.tool_documents import Rows, log_rows, page_rows

MAX_ROWS = 500
"""Maximum number of rows of all tables of a result."""
MAX_CELLS = 4_000
"""Maximum number of cells of all tables of a result."""
MAX_DEPTH = 40
KEY = "key"
"""Column of the keys of an object whose values are alike objects."""

_NUMBER = re.compile(r"[-+−]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-+−]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|[-+−]?\.\d+")
_DECIMAL_COMMA = re.compile(r"[-+−]?(?:\d{1,3}(?:\.\d{3})+|\d+),\d{1,2}", re.ASCII)
_SYMBOL_BEHIND_SIGN = re.compile(r"(?<=^[-+−])\s?[$€£¥]\s?(?=\d)")
_CURRENCY_CODE = re.compile(r"[A-Z]{3}(?:\s(?=[-−])|\s?(?![-−]))(?=[-−\d])|(?<=\d)\s?[A-Z]{3}", re.ASCII)
_PERIOD = re.compile(
    r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?(?<=[YMWDHS])",
    re.ASCII,
)
_LASTED = re.compile(r"(?:(\d+)d)?\s?(?:(\d+)h)?\s?(?:(\d+)m)?\s?(?:(\d+(?:\.\d+)?)s)?(?<=[dhms])", re.ASCII)
_KEY_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_CLOCK = re.compile(r"(\d{1,3}):(\d\d)(?::(\d\d(?:\.\d+)?))?", re.ASCII)
_LASTING = ("duration", "elapsed", "runtime", "length", "took", "uptime", "total_time", "play_time")
_LASTING_WORDS = frozenset(
    ("age", "timeout", "interval", "ttl", "retention", "window", "delay", "period", "wait", "latency", "cooldown", "lifetime", "backoff")
)  # fmt: skip
CLOCK_UNIT = "h:mm or m:ss"
"""Unit of a duration such as "3:45", whose number is that of hours and minutes; of minutes and seconds it is a 60th."""
_SIZED = re.compile(r"([-+]?\d+(?:\.\d+)?)\s?([KMGTP]i?B?|%|ms|s|min|h|kg|g|km|m|cm|mm|l|ml)", re.ASCII)
MINOR_UNIT = "cents"
"""Unit of an amount that its service counts in hundredths of the currency."""
_AMOUNT = re.compile(r"(?:^|_)(?:amount|fee|net|total|subtotal|balance|tax)(?:_|$)")
_RULE = re.compile(r"[\s|+:=─━┼-]+")
_ROW_COUNT = re.compile(
    r"\(\d+ rows?\)|\d+ rows? in set.*|Time: .*|Empty set.*|\[\d+ rows x \d+ columns\]", re.IGNORECASE
)
_PAIR = re.compile(r"\s*([\w][\w .()/%-]{0,59}?)(?:\s*(?::\s|=)\s*|\s{2,}(?=[-+]?[\d.,]+\s*$))(.*\S)\s*")
_TOTALS = frozenset(
    ("total", "totals", "grand total", "sum", "overall", "all", "gesamt", "summe", "insgesamt", "totale", "totaal")
)
_SIZES = {"K": 2.0**10, "M": 2.0**20, "G": 2.0**30, "T": 2.0**40, "P": 2.0**50}


@dataclass(frozen=True, slots=True)
class Cell:
    """Describe one value of a result.

    Attributes:
        path: keys from the outermost to its own; without positions in lists.
        text: the value as written; empty for ``null``.
        number: its number, or ``None``.
        unit: unit beside the number ("61G", "25%"), in lower case.
    """

    path: tuple[str, ...]
    text: str
    number: float | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Describe rows of alike records.

    Attributes:
        name: path of the table.
        rows: its rows; their cells may differ.
    """

    name: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@lru_cache(maxsize=256)
def read_tables(content: str) -> tuple[Table, ...]:
    """Return the tables of a result; empty for prose and for an empty result."""
    text = content.strip()
    if not text:
        return ()
    tables = (
        _json_tables(text)
        or _named_tables(page_rows(text))
        or _xml_tables(text)
        or _named_tables([log_rows(text)])
        or _lined_tables(text)
        or _separated_tables(text)
        or _pair_tables(text)
    )
    return tuple(part for table in _bounded(tables) for part in _totals_apart(table))


def _totals_apart(table: Table) -> Iterator[Table]:
    """Yield a table without its rows of totals, and each of these alone: it is no row that is counted, summed or ranked."""
    totals = [row for row in table.rows if any(cell.text.strip(" :*").casefold() in _TOTALS for cell in row[:2])]
    if not totals or len(table.rows) < 3 or len(totals) > 1:
        yield table
        return
    yield Table(table.name, tuple(row for row in table.rows if row is not totals[0]))
    yield Table(table.name, tuple(totals))


def _named_tables(tables: Sequence[Rows]) -> list[Table]:
    return [
        Table((), tuple(tuple(cell_of((name,), text) for name, text in row) for row in rows)) for rows in tables if rows
    ]


def tables_of(value: Any) -> tuple[Table, ...]:
    """Return the tables of a decoded JSON value, for example of a call's arguments."""
    return tuple(_bounded(list(_walk(value, (), 0))))


def cell_of(path: tuple[str, ...], value: Any) -> Cell:
    """Return the cell of a scalar."""
    if value is None:
        return Cell(path, "")
    if isinstance(value, bool):
        return Cell(path, str(value).lower())
    if isinstance(value, int | float):
        return Cell(path, f"{value:g}" if isinstance(value, float) else str(value)[:400], _finite(value))
    text = str(value).strip()
    if (number := _number(text)) is not None:
        return Cell(path, text, _finite(number))
    if lasting := _lasting(path, text):
        return Cell(path, text, *lasting)
    if sized := _SIZED.fullmatch(text):
        unit, number = sized[2], float(sized[1])
        if unit[0] in _SIZES:
            return Cell(path, text, number * _SIZES[unit[0]], "bytes")
        return Cell(path, text, number, unit.lower())
    return Cell(path, text)


def _number(text: str) -> float | None:
    """Return a number with or without a currency: "-$50.00", "1,299.50", "1.299,00 €", "EUR 12,50"; else ``None``."""
    plain = _SYMBOL_BEHIND_SIGN.sub("", text.strip("$€£¥ "))
    if len(text) > 4 and not _NUMBER.fullmatch(plain):
        plain = _CURRENCY_CODE.sub("", plain, count=1)
    if _DECIMAL_COMMA.fullmatch(plain):
        plain = plain.replace(".", "").replace(",", ".")
    elif _NUMBER.fullmatch(plain):
        plain = plain.replace(",", "")
    else:
        return None
    return float(plain.replace("−", "-"))


def _lasting(path: tuple[str, ...], text: str) -> tuple[float, str] | None:
    """Return a duration with its unit: "PT1H30M", "P1M", "1h30m", and beside a key of durations "3:45" and "5m"."""
    if period := _PERIOD.fullmatch(text):
        years, months, *parts = (float(part or 0) for part in period.groups())
        if years or months:
            return None if any(parts) else (12 * years + months, "months")  # a month has no fixed length
        weeks, *rest = parts
        return 7 * 86400 * weeks + _seconds(*rest), "s"
    is_lasting = bool(path) and (
        any(word in path[-1].lower() for word in _LASTING)
        or not _LASTING_WORDS.isdisjoint(word.lower() for word in _KEY_WORD.findall(path[-1]))
    )
    if (clock := _CLOCK.fullmatch(text)) and is_lasting:
        hours, minutes, seconds = (float(part or 0) for part in clock.groups())
        return _seconds(0, hours, minutes, seconds), "s" if clock[3] else CLOCK_UNIT
    is_lasting = is_lasting and "length" not in path[-1].lower()  # of a pipe, "5m" are metres
    if (lasted := _LASTED.fullmatch(text)) and (is_lasting or sum(part is not None for part in lasted.groups()) > 1):
        return _seconds(*(float(part or 0) for part in lasted.groups())), "s"
    return None


def _seconds(days: float, hours: float, minutes: float, seconds: float) -> float:
    return days * 86400 + hours * 3600 + minutes * 60 + seconds


def _finite(number: float) -> float | None:
    return float(number) if abs(number) < 1e15 else None


def _bounded(tables: Sequence[Table]) -> Iterator[Table]:
    rows, cells = MAX_ROWS, MAX_CELLS
    for table in tables:
        kept = []
        for row in table.rows[:rows]:
            if cells <= 0:
                break
            kept.append(row[:cells])
            cells -= len(row)
        rows -= len(kept)
        if kept:
            yield Table(table.name, tuple(kept))


def _json_tables(text: str) -> list[Table]:
    if text[:1] not in "{[":
        return []
    try:
        return list(_walk(json.loads(text), (), 0))
    except (ValueError, RecursionError):
        pass
    try:
        values = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return []
    return list(_walk(values, (), 0))


def _walk(value: Any, path: tuple[str, ...], depth: int) -> Iterator[Table]:
    """Yield the tables of a JSON value, the table of its own scalars first."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, list):
        yield from _list(value, path, depth)
    elif isinstance(value, dict):
        if header := _columns(value):
            rows = next(value[name] for name in ("data", "rows", "values") if isinstance(value.get(name), list))
            yield Table(path, tuple(tuple(map(cell_of, header, row)) for row in rows if isinstance(row, list)))
            value = {name: each for name, each in value.items() if name not in ("columns", "data", "rows", "values")}
        inner: list[tuple[Any, tuple[str, ...]]] = []
        own = tuple(_scalars(value, path, inner, depth))
        if own:
            yield Table(path, (own,))
        for each, name in inner:
            yield from _walk(each, name, depth + 1)
    else:
        yield Table(path, ((cell_of(path, value),),))


def _columns(value: Mapping[str, Any]) -> list[tuple[str, ...]] | None:
    names = value.get("columns")
    has_rows = any(isinstance(value.get(name), list) and value[name] for name in ("data", "rows", "values"))
    if has_rows and isinstance(names, list) and names and all(isinstance(name, str) for name in names):
        return [(name,) for name in names]
    return None


def _list(values: list[Any], path: tuple[str, ...], depth: int) -> Iterator[Table]:
    rows, inner = [], list[tuple[Any, tuple[str, ...]]]()
    for each in values[:MAX_ROWS]:
        if isinstance(each, dict):
            rows.append(tuple(_scalars(each, path[-1:], inner, depth)))
        elif isinstance(each, list):
            header = [(f"column {place}",) for place in range(1, len(each) + 1)]
            scalars = (pair for pair in zip(header, each, strict=True) if not isinstance(pair[1], dict | list))
            rows.append(tuple(cell_of(name, cell) for name, cell in scalars))
        else:
            rows.append((cell_of(path, each),))
    if any(rows):
        yield Table(path, tuple(rows))
    for each, name in inner:
        yield from _walk(each, name, depth + 1)


def _scalars(
    value: Mapping[str, Any], path: tuple[str, ...], inner: list[tuple[Any, tuple[str, ...]]], depth: int
) -> Iterator[Cell]:
    """Yield the scalars of an object and of the objects within; append its lists and tables to ``inner``."""
    is_minor = _has_minor_units(value)
    for key, each in value.items():
        name = (*path, str(key))
        if is_minor and type(each) is int and _AMOUNT.search(key):
            yield replace(cell_of(name, each), unit=MINOR_UNIT)
        elif isinstance(each, dict) and depth < MAX_DEPTH:
            if _are_alike(each):
                rows = [{KEY: inner_key, **inner_value} for inner_key, inner_value in each.items()]
                inner.append((rows, name))
            else:
                yield from _scalars(each, name, inner, depth + 1)
        elif isinstance(each, list):
            if each and all(not isinstance(item, dict | list) for item in each) and len(each) <= 3:
                yield from (cell_of(name, item) for item in each)
            elif each:
                inner.append((each, name))
            else:
                yield Cell(name, "")
        else:
            yield cell_of(name, each)


def _has_minor_units(value: Mapping[str, Any]) -> bool:
    """Return true for an object of a payment service that counts in hundredths.

    Such an object has a currency in small letters and an identifier such as "ch_1"; yen and won have no hundredths.
    """
    currency, name = value.get("currency"), value.get("id")
    return (
        isinstance(currency, str)
        and isinstance(name, str)
        and re.fullmatch(r"[a-z]{3}", currency) is not None
        and currency not in ("jpy", "krw", "vnd", "clp")
        and re.match(r"[a-z]{2,8}_\w", name) is not None
    )


def _are_alike(value: Mapping[str, Any]) -> bool:
    """Return true if an object has several objects that share most of their keys."""
    objects = [each for each in value.values() if isinstance(each, dict)]
    if len(objects) < 2 or len(objects) != len(value):
        return False
    shared = set(objects[0]).intersection(*objects[1:])
    return 2 * len(shared) > max(len(each) for each in objects)


def _xml_tables(text: str) -> list[Table]:
    if not text.startswith("<") or "<!DOCTYPE" in text or "<!ENTITY" in text:
        return []
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - texts with a document type or entities are refused above
    except (ElementTree.ParseError, RecursionError, ValueError):
        return []
    return list(_walk(_element(root, 0), (), 0))


def _element(element: ElementTree.Element, depth: int) -> Any:
    """Return an element as JSON would have it: attributes and children by name, alike children as a list."""
    children = list(element) if depth < MAX_DEPTH else []
    text = (element.text or "").strip()
    if not children and not element.attrib:
        return text
    found: dict[str, Any] = {_tag(name): value for name, value in element.attrib.items()}
    if not children and set(found) <= {"value"} and not text:
        return found["value"]
    groups: dict[str, list[Any]] = {}
    for child in children:
        groups.setdefault(_tag(child.tag), []).append(_element(child, depth + 1))
    for name, values in groups.items():
        found[name] = values if len(values) > 1 else values[0]
    if text:
        found["text"] = text
    return found


def _tag(name: Any) -> str:
    return str(name).rpartition("}")[2]


def _lined_tables(text: str) -> list[Table]:
    """Read tables whose cells are separated by bars: of psql, MySQL and Markdown."""
    lines = [line.strip() for line in text.splitlines()]
    found: list[Table] = []
    rows: list[list[str]] = []
    for line in [*lines, ""]:
        if "|" in line and not _is_rule(line):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif (rows and not line) or (rows and not (_is_rule(line) or _ROW_COUNT.fullmatch(line))):
            found += _with_header(rows)
            rows = []
    return found if any(map(_is_rule, lines)) else []


def _is_rule(line: str) -> bool:
    # The dash is not part of the pattern: with it, a long line of dashes is tried from each of them.
    return "-" in line and _RULE.fullmatch(line) is not None


def _with_header(rows: list[list[str]]) -> list[Table]:
    header, body = rows[0], rows[1:]
    body = [row for row in body if len(row) == len(header)]
    if not body or len(header) < 1:
        return []
    return [
        Table((), tuple(tuple(cell_of((name,), cell) for name, cell in zip(header, row, strict=True)) for row in body))
    ]


def _separated_tables(text: str) -> list[Table]:
    """Read comma, semicolon, tab or space separated values with a header."""
    lines = [line for line in text.splitlines() if line.strip() and not _ROW_COUNT.fullmatch(line.strip())]
    if len(lines) < 2:
        return []
    for separator in ("\t", ";", ","):
        try:
            rows = list(csv.reader(lines, delimiter=separator))
        except csv.Error:
            continue
        if len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows) and _is_header(rows[0]):
            return _with_header([[cell.strip() for cell in row] for row in rows])
    return _spaced_tables(lines)


def _is_header(cells: Sequence[str]) -> bool:
    return all(cell.strip() and len(cell) <= 60 and not _NUMBER.fullmatch(cell.strip()) for cell in cells) and not any(
        cell.rstrip().endswith((".", "!", "?")) for cell in cells
    )


def _spaced_tables(lines: list[str]) -> list[Table]:
    """Read columns that are aligned by spaces, as programs and data frames print them."""
    for pattern in (r"\s{2,}", r"\s+"):
        header = re.split(pattern, lines[0].strip())
        rows = [re.split(pattern, line.strip()) for line in lines[1:]]
        if len(header) < 2 or not _is_header(header):
            continue
        width = len(header)
        if all(len(row) == width + 1 for row in rows) and all(row[0].isdecimal() for row in rows):
            return _with_header([header, *(row[1:] for row in rows)])
        if all(len(row) == width - 1 for row in rows) and len(rows) > 1:
            header = [*header[:-2], f"{header[-2]} {header[-1]}"]  # "Mounted on"
        if all(len(row) == len(header) for row in rows) and any(_NUMBER.match(cell) for row in rows for cell in row):
            return _with_header([header, *rows])
    return []


def _pair_tables(text: str) -> list[Table]:
    """Read lines of names and values, as programs print them."""
    lines = [line for line in text.splitlines() if line.strip()]
    pairs = [match for line in lines if (match := _PAIR.fullmatch(line))]
    if not pairs or len(pairs) < max(2, 0.6 * len(lines)):
        return [Table((), ((cell_of((), text),),))] if _NUMBER.fullmatch(text.strip()) else []
    return [Table((), (tuple(cell_of((match[1],), match[2]) for match in pairs),))]
