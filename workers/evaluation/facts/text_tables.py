"""Find tables and labelled records in plain text.

A table has lines with as many separators each ("|", tab, ";" or ","), of which the first gives the titles. Labelled
records repeat their keys: sections with a title ("Flat 3A", "worker:"), items of a list ("- name: web") or lines with
several fields ("name: Ann, role: clerk"). What stands around them is prose.
"""

import csv
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

ENTRY = "entry"
"""Key under which the title of a record stands among its fields."""
MAX_TITLE = 8
"""Most words of the title of a section."""
MAX_VALUE = 120
"""Longest value of a labelled field, code points; longer ones are prose."""

_DASHES = re.compile(r"[\s|:+-]+")
_FIGURE_CELL = re.compile(r"\W*\d[\d.,:%]*\W*")
_LABELLED = re.compile(
    rf"(?P<indent>\s*)(?P<item>- )?(?P<key>[^\W\d_][\w .-]{{0,40}}): +(?P<value>\S.{{0,{MAX_VALUE}}})"
)
_PAIRS = re.compile(r"(?P<key>[^\W\d_][\w -]{0,30}): (?P<value>[^:]{1,120}?)(?:[,;] (?=[^\W\d_][\w -]{0,30}: )|$)")


@dataclass(frozen=True, slots=True)
class Line:
    """Hold a line with its place.

    Attributes:
        start: offset of its first character that is no space.
        end: offset after its last one.
        text: the text between them.
        indent: number of spaces before it.
    """

    start: int
    end: int
    text: str
    indent: int


@dataclass(frozen=True, slots=True)
class Field:
    """Hold a field: its key, its value and the span of both."""

    key: str
    value: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TextRecord:
    """Hold a row or labelled record.

    Attributes:
        start: offset of its first character.
        end: offset after its last one.
        fields: its fields in order; the title of a section is one with the key ``ENTRY``; none for the titles of a table.
        has_lines: whether its fields stand on lines of their own.
    """

    start: int
    end: int
    fields: tuple[Field, ...]
    has_lines: bool = False


def read_text_records(text: str) -> list[TextRecord]:
    """Return the records of a text, in order and without overlap; empty if it is prose or Markdown."""
    lines = list(_lines(text))
    if len(lines) < 2:
        return []
    records = list(_sections(lines))
    taken = {line.start for record in records for line in _within(lines, record)}
    records += _rows(text, [line for line in lines if line.start not in taken])
    return sorted(records, key=lambda record: record.start)


def _lines(text: str) -> Iterator[Line]:
    position = 0
    for line in text.splitlines(keepends=True):
        stripped = line.strip()
        if stripped:
            indent = len(line) - len(line.lstrip())
            yield Line(position + indent, position + indent + len(stripped), stripped, indent)
        position += len(line)


def _within(lines: Sequence[Line], record: TextRecord) -> Sequence[Line]:
    first, last = (bisect_left(lines, place, key=lambda line: line.start) for place in (record.start, record.end))
    return lines[first:last]


def _sections(lines: Sequence[Line]) -> Iterator[TextRecord]:
    """Yield sections, items and lines of labelled fields whose keys come again in another of them."""
    found = [*_titled(lines), *_items(lines), *_paired(lines)]
    keys = Counter(key for record in found for key in {field.key for field in record.fields if field.key != ENTRY})
    last = -1
    for record in sorted(found, key=lambda each: (each.start, -each.end)):
        if record.start >= last and any(keys[field.key] > 1 for field in record.fields):
            yield record
            last = record.end


def _titled(lines: Sequence[Line]) -> Iterator[TextRecord]:
    """Yield titles with the labelled lines below them, as in forms ("Flat 3A") and in YAML ("worker:")."""
    place = 0
    while place < len(lines) - 1:
        title = lines[place]
        is_key = title.text.endswith(":")
        below: list[Field] = []
        if _is_title(title):
            below = list(_fields_from(lines, place + 1, title.indent if is_key else -1))
        if len(below) > (not is_key):
            name = Field(ENTRY, title.text.rstrip(":"), title.start, title.end)
            yield TextRecord(title.start, below[-1].end, (name, *below), has_lines=True)
        place += 1 + len(below)


def _is_title(line: Line) -> bool:
    text = line.text.rstrip(":")
    return ":" not in text and text[-1:].isalnum() and len(text.split()) <= MAX_TITLE and text[:1] not in "-#|*"


def _items(lines: Sequence[Line]) -> Iterator[TextRecord]:
    """Yield the items of a list whose lines are labelled fields: "- name: web"."""
    place = 0
    while place < len(lines):
        first = lines[place]
        match = _LABELLED.fullmatch(first.text)
        fields = []
        if match is not None and match["item"]:
            fields.append(_field(match, first))
            fields += _fields_from(lines, place + 1, first.indent)
        if len(fields) > 1:
            yield TextRecord(first.start, fields[-1].end, tuple(fields), has_lines=True)
        place += max(1, len(fields))


def _fields_from(lines: Sequence[Line], place: int, indent: int) -> Iterator[Field]:
    """Yield the fields of the labelled lines from a place on that are indented deeper."""
    while place < len(lines) and lines[place].indent > indent:
        match = _LABELLED.fullmatch(lines[place].text)
        if match is None or match["item"]:
            return
        yield _field(match, lines[place])
        place += 1


def _paired(lines: Sequence[Line]) -> Iterator[TextRecord]:
    """Yield lines of several labelled fields: "name: Ann, role: clerk"."""
    for line in lines:
        matches = list(_PAIRS.finditer(line.text))
        if len(matches) > 1 and not matches[0].start() and matches[-1].end() == len(line.text):
            fields = (
                Field(match["key"], match["value"], line.start + match.start(), line.start + match.end("value"))
                for match in matches
            )
            yield TextRecord(line.start, line.end, tuple(fields))


def _field(match: re.Match[str], line: Line) -> Field:
    return Field(match["key"], match["value"], line.start + match.start("key"), line.end)


def _rows(text: str, lines: Sequence[Line]) -> Iterator[TextRecord]:
    """Yield the rows of tables: neighbouring lines with as many cells each."""
    for separator in ("|", "\t", ";", ","):
        # A list within a sentence has commas as well: a table within prose needs more lines.
        least_cells, least_lines = (2, 2) if separator in "|\t" else (3, 2)
        cells = [(line, _cells(text, line, separator)) for line in lines]
        found = False
        for width, group in groupby(cells, key=lambda each: len(each[1])):
            block = list(group)
            is_whole = len(block) == len(lines)
            if width < least_cells or len(block) < (least_lines if is_whole or separator in "|\t" else 3):
                continue
            if separator in ";," and (_is_wrapped(block) or (not is_whole and not all(map(_is_row, block)))):
                continue
            if separator == "|" and any(_DASHES.fullmatch(line.text) for line, _ in block):
                continue  # a table in Markdown
            found = True
            yield from _table(block, separator)
        if found:
            return


def _cells(text: str, line: Line, separator: str) -> list[str]:
    written = text[line.start : line.end]
    if separator == "|":
        return [cell.strip() for cell in re.split(r"(?<!\\)\|", written.strip("|"))]
    if separator == "\t":
        # A tab before the line or after it is an empty cell.
        start = text.rfind("\n", 0, line.start) + 1
        end = text.find("\n", line.end)
        written = text[start : end if end >= 0 else len(text)].rstrip("\r")
    try:
        return [cell.strip() for cell in next(csv.reader([written], delimiter=separator), [])]
    except csv.Error:
        return []


def _is_row(row: tuple[Line, list[str]]) -> bool:
    """Return true if a line of prose could not have these cells."""
    line, cells = row
    return not line.text.endswith((".", "!", "?")) and all(len(cell.split()) <= MAX_TITLE for cell in cells)


def _is_wrapped(block: Sequence[tuple[Line, list[str]]]) -> bool:
    """Return true for a sentence over several lines: "..., spans the river" and "and carries trams, buses, and ..."."""
    return any(
        line.text[0].islower() and re.search(r"[,;] ", line.text) and not any(map(_FIGURE_CELL.fullmatch, cells))
        for line, cells in block[1:]
    )


def _table(block: Sequence[tuple[Line, list[str]]], separator: str) -> Iterator[TextRecord]:
    rows = [cells for _, cells in block]
    titles = rows[0] if _has_titles(rows, separator) else [""] * len(rows[0])
    if titles is rows[0]:
        yield TextRecord(block[0][0].start, block[0][0].end, ())  # titles are no evidence by themselves
    for line, cells in block[titles is rows[0] :]:
        fields = (Field(title, cell, line.start, line.end) for title, cell in zip(titles, cells, strict=True))
        yield TextRecord(line.start, line.end, tuple(field for field in fields if re.search(r"\w", field.value)))


def _has_titles(rows: Sequence[Sequence[str]], separator: str) -> bool:
    """Return true if the first row gives titles; "Anna Lee, manager, Berlin" is the first of a list."""
    if any(map(_FIGURE_CELL.fullmatch, rows[0][1:])):
        return False
    has_figures = any(_FIGURE_CELL.fullmatch(cell) for cells in rows[1:] for cell in cells)
    return separator in "|\t" or has_figures or all(cell.islower() or len(cell.split()) < 2 for cell in rows[0])
