"""Segment a source (text, JSON records, tables) into units of evidence.

A unit has a span in the raw content, which the console highlights, and a readable text for the models: the JSON field
``"downtime_minutes": 47`` reads ``downtime minutes: 47``, a table row reads ``Asset: Grinder 5; Downtime: 47 min``.
Each field of a record is a unit, for claims on one value. The flattened record is a unit as well, for claims on several
fields. ``null`` is not evidence and is left out.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from workers.evaluation.facts.forms.refuted_statements import LABEL, begins_line, calls_items_untrue
from workers.evaluation.facts.text_tables import ENTRY, TextRecord, read_text_records
from workers.evaluation.text.structure.segmentation import segment
from workers.evaluation.text.wording import plain_text

RECORD_LENGTH = 600
"""Maximum length of the readable text of a flattened record, code points: all-MiniLM-L6-v2 reads 256 tokens and ignores
the rest. Longer records are split into several units.
"""
LONG_VALUE = 200
"""Length above which a JSON string is prose and is split into sentences."""

_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
_TITLE_UNIT = re.compile(r"(?P<name>[^,()]+?)(?:,\s(?P<one>[^\W\d_A-ZА-Я]{1,7}\.?)|\s?\((?P<two>[^\W\d_]{1,12}|%)\))")
_MARKS = dict.fromkeys("✓✔☑✅", "yes") | dict.fromkeys("✗✘❌☒", "no")
"""The word for a mark that is all of a cell."""
_BARE_FIGURE = re.compile(r"\d[\d.,' ]*")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_DAYS = dict(
    zip(
        ("mon", "tue", "wed", "thu", "fri", "sat", "sun"),
        ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
        strict=True,
    )
)
_SPACE = re.compile(r"\s+")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class SourceUnit:
    """Describe a unit of evidence of one source.

    Attributes:
        start: offset in the raw content, code points.
        end: offset after its last character.
        text: readable form, given to the models; equals the raw text for prose.
        of_record: whether it is part of a record or table: a field, a row, or a sentence of a long field.
        written: the readable form with titles and values as the source has them, if it differs.
    """

    start: int
    end: int
    text: str
    of_record: bool = False
    written: str = ""


@dataclass(frozen=True, slots=True)
class _RecordPlace:
    """Identify a record in a JSON value: the innermost object that is an element of a list or a row under a name.

    Attributes:
        start: offset of it, code points.
        name: the key under which it stands among others with the same keys.
        group: the key of the list that it is an element of.
    """

    start: int
    name: str = ""
    group: str = ""


@dataclass(slots=True)
class _Field:
    path: tuple[str, ...]
    start: int
    end: int
    value: str
    is_text: bool
    record: _RecordPlace
    in_list: bool


def segment_source(text: str) -> list[SourceUnit]:
    """Split the content of a context chunk into units of evidence.

    Args:
        text: prose, Markdown, one JSON value, JSON lines, or a table with separators.

    Returns:
        Units with ``0 <= start < end <= len(text)`` in order of their start. A flattened record spans its
        fields; other units do not overlap.
    """
    if text.lstrip()[:1] in ("{", "["):
        ranges = _json_ranges(text)
        if ranges:
            units = [unit for start, end in ranges for unit in _json_units(text, start, end)]
            return sorted(units, key=lambda unit: (unit.start, -unit.end))
    return list(_text_units_of(text))


@dataclass(frozen=True, slots=True)
class RecordValue:
    """Describe a scalar of a JSON record and its span in the text.

    Attributes:
        path: keys from the outermost object to its own; positions in lists are omitted.
        text: the value, ``None`` for ``null``.
        is_word: ``true``, ``false``, ``null`` or a text of at most two words.
    """

    path: tuple[str, ...]
    text: str | None
    is_word: bool


def record_values(text: str) -> list[RecordValue]:
    """Return all scalars of a JSON context including ``null``; empty if the context is not JSON."""
    if text.lstrip()[:1] not in ("{", "["):
        return []
    values: list[RecordValue] = []
    for start, end in _json_ranges(text):
        values.extend(_value(scalar) for scalar in _scalars(text, start, end))
    return values


def _value(scalar: "_Scalar") -> RecordValue:
    is_text = scalar.symbol.startswith('"')
    text = None if scalar.symbol == "null" else _unquoted(scalar.symbol) if is_text else scalar.symbol
    is_word = text in (None, "true", "false") or (is_text and 0 < len((text or "").split()) <= 2)
    return RecordValue(tuple(name for name in (*scalar.above, scalar.key) if name), text, is_word)


def readable_key(key: str) -> str:
    """Convert ``downtime_minutes`` and ``downtimeMinutes`` to words."""
    words = _words_of_key(key).split(" ")
    # "sat" and "sun" are words; alone or beside other days they are days.
    return " ".join(_DAYS[word] for word in words) if all(word in _DAYS for word in words) else " ".join(words)


def _words_of_key(key: str) -> str:
    return _CAMEL.sub(" ", key.replace("_", " ").replace("-", " ")).strip().lower()


def render_row(header: tuple[str, ...], row: str) -> str:
    """Render a Markdown table row with its column titles."""
    return labelled(header, _cells(row))


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]


def labelled(header: tuple[str, ...], cells: list[str]) -> str:
    """Join cells with their column titles; omit cells without a word ("-").

    A unit in a title goes to its figure: "Height (m)" over "324" reads "Height: 324 m".
    """
    titles = header + ("",) * (len(cells) - len(header))
    cells = [_MARKS.get(_mark(cell), cell) for cell in cells]
    pairs = [(title, cell) for title, cell in zip(titles, cells, strict=False) if re.search(r"\w", cell)]
    return "; ".join(_labelled_cell(title, cell) if title else cell for title, cell in pairs)


def _written_row(header: tuple[str, ...], cells: list[str]) -> str:
    """Join cells with their column titles as both are written."""
    titles = header + ("",) * (len(cells) - len(header))
    pairs = [(t, c) for t, c in zip(titles, cells, strict=False) if re.search(r"\w", c) or _mark(c) in _MARKS]
    return "; ".join(f"{title}: {cell}" if title else cell for title, cell in pairs)


def _mark(cell: str) -> str:
    return cell.strip().rstrip("\ufe0f")


def _labelled_cell(title: str, cell: str) -> str:
    unit = _TITLE_UNIT.fullmatch(title) if _BARE_FIGURE.fullmatch(cell) else None
    return f"{unit['name']}: {cell} {unit['one'] or unit['two']}" if unit else f"{title}: {cell}"


def _text_units_of(text: str) -> Iterator[SourceUnit]:
    """Yield the units of a text: the rows and records in it, and the sentences between them."""
    position = 0
    for record in read_text_records(text):
        yield from _prose_units(text, position, record.start)
        yield from _record_units(record)
        position = record.end
    yield from _prose_units(text, position, len(text))


def _prose_units(text: str, start: int, end: int) -> Iterator[SourceUnit]:
    is_untrue = False
    for sentence in segment(text[start:end]) if text[start:end].strip() else ():
        readable = written = sentence.text
        if sentence.block == "list_item":
            if is_untrue and begins_line(text, start + sentence.start):
                readable = f"{LABEL}{readable}"
        else:
            is_untrue = calls_items_untrue(plain_text(sentence.text), is_heading=sentence.block == "heading")
        is_row = sentence.block == "table_row"
        if is_row and not sentence.is_header:
            readable = render_row(sentence.header, sentence.text) or readable
            written = _written_row(sentence.header, _cells(sentence.text)) or written
        yield SourceUnit(start + sentence.start, start + sentence.end, readable, is_row, written)


def _record_units(record: TextRecord) -> Iterator[SourceUnit]:
    keys = [field.key for field in record.fields]
    titles, values = tuple(map(readable_key, keys)), [field.value for field in record.fields]
    whole = labelled(titles, values)
    if whole:
        written = _written_row(tuple(map(_words_of_key, keys)), values)
        yield SourceUnit(record.start, record.end, whole, True, written)
    for title, field in zip(titles, record.fields, strict=True) if record.has_lines else ():
        if title != ENTRY:
            written = f"{_words_of_key(field.key)}: {field.value}"
            yield SourceUnit(field.start, field.end, f"{title}: {field.value}", True, written)


def _json_ranges(text: str) -> list[tuple[int, int]]:
    """Return the spans of the JSON values of a text, one in all or one a line; empty if the text is not JSON."""
    try:
        json.loads(text)
        return [(0, len(text))]
    except (ValueError, RecursionError):
        pass
    ranges, position = [], 0
    for line in text.split("\n"):
        if line.strip():
            try:
                json.loads(line)
            except (ValueError, RecursionError):
                return []
            ranges.append((position, position + len(line)))
        position += len(line) + 1
    return ranges


def _json_units(text: str, start: int, end: int) -> Iterator[SourceUnit]:
    """Yield the field units and the flattened records of one JSON value."""
    pending: list[_Field] = []
    length = 0
    for field in _joined(_fields(text, start, end, _named_objects(json.loads(text[start:end])))):
        if field.is_text and len(field.value) > LONG_VALUE:
            yield from _text_units(field)
            continue
        readable = _render(field)
        yield SourceUnit(field.start, field.end, readable, True, _render(field, _words_of_key))
        if pending and (field.record != pending[-1].record or length + len(readable) > RECORD_LENGTH):
            yield from _flattened(pending)
            pending, length = [], 0
        pending.append(field)
        length += len(readable) + 2
    yield from _flattened(pending)


def _joined(fields: Iterator[_Field]) -> Iterator[_Field]:
    """Yield fields; join the short values of a list into one field: ``tags: a, b``."""
    last: _Field | None = None
    for field in fields:
        if last and last.in_list and field.in_list and (last.path, last.record) == (field.path, field.record):
            joined = f"{last.value}, {field.value}"
            if len(joined) <= LONG_VALUE:
                last = _Field(last.path, last.start, field.end, joined, True, last.record, True)
                continue
        if last:
            yield last
        last = field
    if last:
        yield last


def _flattened(record: list[_Field]) -> Iterator[SourceUnit]:
    if len(record) > 1:
        text, written = _joined_fields(record, readable_key), _joined_fields(record, _words_of_key)
        yield SourceUnit(record[0].start, record[-1].end, text, True, written)


def _joined_fields(record: list[_Field], read_key: Callable[[str], str]) -> str:
    place = record[0].record
    fields = [_render(field, read_key) for field in record]
    if place.name:
        fields = [f"{ENTRY}: {place.name}"]
        fields += [_render(replace(field, path=field.path[-1:]), read_key) for field in record]
    if place.group:
        fields.append(f"in: {read_key(place.group)}")
    return "; ".join(fields)


def _render(field: _Field, read_key: Callable[[str], str] = readable_key) -> str:
    # Use two levels of keys; with more, the keys would dominate the value.
    names = [read_key(name) for name in field.path if name]
    return f"{' '.join(names)}: {field.value}" if names else field.value


def _text_units(field: _Field) -> Iterator[SourceUnit]:
    """Yield the sentences of a long string; the span is the whole field where escapes shift offsets."""
    exact = field.end - field.start
    for sentence in segment(field.value):
        if exact == len(field.value):
            start, end = field.start + sentence.start, field.start + sentence.end
            yield SourceUnit(start, end, sentence.text, of_record=True)
        else:
            yield SourceUnit(field.start, field.end, sentence.text, of_record=True)


def _named_objects(value: object) -> frozenset[tuple[str, ...]]:
    """Return the paths of objects that are rows under a name: ``{"web": {"port": 80}, "api": {"port": 81}}``."""
    named: set[tuple[str, ...]] = set()
    left: list[tuple[object, tuple[str, ...]]] = [(value, ("",))]
    while left:
        container, path = left.pop()
        if isinstance(container, list):
            left += [(each, (*path, "")) for each in container]
        elif isinstance(container, dict):
            left += [(each, (*path, key)) for key, each in container.items()]
            objects = {key: each for key, each in container.items() if isinstance(each, dict)}
            keys = Counter(
                key for each in objects.values() for key, held in each.items() if not isinstance(held, dict | list)
            )
            named |= {(*path, key) for key, each in objects.items() if any(keys[name] > 1 for name in each)}
    return frozenset(named)


def _fields(text: str, start: int, end: int, named: frozenset[tuple[str, ...]]) -> Iterator[_Field]:
    """Yield the scalar fields of a valid JSON value with their spans; omit ``null``."""
    for scalar in _scalars(text, start, end, named):
        if scalar.symbol == "null":
            continue
        is_text = scalar.symbol.startswith('"')
        value = _SPACE.sub(" ", _unquoted(scalar.symbol)) if is_text else scalar.symbol
        if not value.strip():
            continue
        above, key = scalar.above[1:], scalar.key
        names = tuple(above[-2:]) if key is None else (*above[-1:], key)
        if is_text and len(value) > LONG_VALUE:
            # A long text becomes units of its own; a short value is joined with its key.
            yield _Field(names, scalar.start + 1, scalar.end - 1, value, True, scalar.record, key is None)
        else:
            yield _Field(names, scalar.key_start, scalar.end, value, is_text, scalar.record, key is None)


@dataclass(frozen=True, slots=True)
class _Scalar:
    """Describe a scalar of a JSON value in its written form.

    Attributes:
        symbol: its characters.
        above: keys of its containers from the outermost; empty for containers without a key.
        key: its own key; ``None`` in a list.
        key_start: offset of the key or, without a key, of the value.
        start: offset of the value, code points.
        end: offset after its last character.
        record: the record that it belongs to.
    """

    symbol: str
    above: tuple[str, ...]
    key: str | None
    key_start: int
    start: int
    end: int
    record: _RecordPlace


def _scalars(text: str, start: int, end: int, named: frozenset[tuple[str, ...]] = frozenset()) -> Iterator[_Scalar]:
    """Yield all scalars of a valid JSON value; use an explicit stack instead of recursion."""
    path: list[str] = []
    containers: list[str] = []
    records = [_RecordPlace(start)]
    key: tuple[str, int] | None = None
    tokens = list(_JSON_TOKEN.finditer(text, start, end))
    for index, match in enumerate(tokens):
        symbol = match[0]
        if symbol in "{[":
            path.append(key[0] if key else "")
            records.append(records[-1])
            if symbol == "{" and containers[-1:] == ["["]:
                records[-1] = _RecordPlace(match.start(), group=path[-2])
            elif symbol == "{" and tuple(path) in named:
                records[-1] = _RecordPlace(match.start(), name=path[-1])
            containers.append(symbol)
            key = None
        elif symbol in "}]":
            path.pop()
            records.pop()
            containers.pop()
            key = None
        elif symbol in ",:":
            key = None if symbol == "," else key
            if symbol == "," and containers == ["["]:
                records[-1] = _RecordPlace(match.end())
        elif index + 1 < len(tokens) and tokens[index + 1][0] == ":" and containers and containers[-1] == "{":
            key = (_unquoted(symbol), match.start())
        else:
            name, key_start = key or (None, match.start())
            yield _Scalar(symbol, tuple(path), name, key_start, match.start(), match.end(), records[-1])


def _unquoted(symbol: str) -> str:
    """Decode a JSON string; replace half a surrogate pair, which no encoder accepts, with U+FFFD."""
    return _SURROGATE.sub("\ufffd", str(json.loads(symbol, strict=False)))
