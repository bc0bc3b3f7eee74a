"""Write rows as CSV, JSON lines or Parquet, one batch after the other, so that memory stays bounded.

Cells of CSV that a spreadsheet would run as a formula begin with an apostrophe (OWASP, "CSV Injection").
"""

import asyncio
import csv
import io
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Literal

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

FileFormat = Literal["csv", "jsonl", "parquet"]

MEDIA_TYPES: Mapping[FileFormat, str] = {
    "csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson", "parquet": "application/vnd.apache.parquet",
}  # fmt: skip
FORMULA_SIGNS = frozenset("=+-@＝＋－＠")
"""First characters of a formula, also in full width, as spreadsheets with East Asian settings read them."""

Rows = Sequence[Mapping[str, Any]]


async def encoded(form: FileFormat, schema: pa.Schema, batches: AsyncIterator[Rows]) -> AsyncIterator[bytes]:
    """Yield a file in pieces.

    Args:
        form: format of the file.
        schema: columns and their types.
        batches: the rows.
    """
    if form == "parquet":
        async for piece in _parquet(schema, batches):
            yield piece
        return
    write = _csv_lines if form == "csv" else _json_lines
    if form == "csv":
        yield _csv_lines(schema.names, [dict(zip(schema.names, schema.names, strict=True))])
    async for rows in batches:
        yield await asyncio.to_thread(write, schema.names, rows)


async def _parquet(schema: pa.Schema, batches: AsyncIterator[Rows]) -> AsyncIterator[bytes]:
    sink = io.BytesIO()
    position = 0
    writer = pq.ParquetWriter(_Sequential(sink.write, lambda: position + sink.tell()), schema, compression="zstd")
    try:
        async for rows in batches:
            await asyncio.to_thread(writer.write_table, pa.Table.from_pylist(list(rows), schema=schema))
            position += sink.tell()
            yield _taken(sink)
        await asyncio.to_thread(writer.close)
        yield _taken(sink)
    finally:
        # An interrupted file has no footer: no reader takes it for a complete one.
        with suppress(pa.ArrowException, OSError):
            writer.close()


class _Sequential(io.RawIOBase):
    """A file that is only appended to.

    Args:
        write: appends bytes.
        position: returns the number of bytes written so far.
    """

    def __init__(self, write: Callable[[bytes], int], position: Callable[[], int]) -> None:
        self._append = write
        self._position = position

    def writable(self) -> bool:
        """Return that the file can be written."""
        return True

    def write(self, data: Any) -> int:
        """Append bytes."""
        return self._append(bytes(data))

    def tell(self) -> int:
        """Return the position of the next byte."""
        return self._position()


def _taken(sink: io.BytesIO) -> bytes:
    """Return what was written and empty the buffer."""
    data = sink.getvalue()
    sink.seek(0)
    sink.truncate()
    return data


def _csv_lines(names: Sequence[str], rows: Rows) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerows([_cell(row[name]) for name in names] for row in rows)
    return out.getvalue().encode()


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return without_formula(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return orjson.dumps(value).decode()
    return "" if value is None else str(value)


def without_formula(text: str) -> str:
    """Prefix a text with an apostrophe if a spreadsheet could run it as a formula."""
    first = text.lstrip()[:1]
    return f"'{text}" if first in FORMULA_SIGNS or text[:1] in ("\t", "\r", "\n") else text


def _json_lines(names: Sequence[str], rows: Rows) -> bytes:
    return b"".join(orjson.dumps({name: row[name] for name in names}, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
