"""Pack the rows of one answer into few records, and unpack them.

One record carries the headers of all rows. Values that all rows share, and the names of the columns of a table, are
written once.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from pydantic_core import to_json

from schemas.feedback import AnalyticsRow, PackedRows
from workers.errors import UnreadableRecord
from workers.stores.size_parts import size_parts
from workers.stores.tables.all_tables import BY_NAME
from workers.stores.tables.table_row import TableRow, column_names

PACKED_BYTES = 128_000
"""Maximum size of the rows of one record before those that share values are packed; a single row may be larger."""


def packed(rows: Sequence[TableRow]) -> list[AnalyticsRow]:
    """Return the records of rows that concern one answer. Rows of one table keep their order."""
    parts = size_parts(rows, lambda row: len(to_json(row.columns)), PACKED_BYTES)
    return [_record(part) for part in parts]


def unpacked(record: AnalyticsRow) -> list[tuple[str, dict[str, Any]]]:
    """Return table and columns of each row of a record.

    Raises:
        UnreadableRecord: a later version has written rows of an unknown table.
    """
    if record.table is not None:
        return [(record.table, record.columns)]
    return [
        (part.table, _shared_with(part.table, record.columns) | _present(part.columns, values))
        for part in record.rows
        for values in part.values
    ]


def _present(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}


def _shared_with(table: str, shared: dict[str, Any]) -> dict[str, Any]:
    known = BY_NAME.get(table)
    if known is None:
        raise UnreadableRecord(f"rows of the table {table} come from a later version; upgrade this worker")
    return {name: shared[name] for name in column_names(known) if name in shared}


def _record(rows: Sequence[TableRow]) -> AnalyticsRow:
    if len(rows) == 1:
        return rows[0].record()
    contents = [row.columns for row in rows]
    shared = {name: value for name, value in contents[0].items() if _is_shared(name, value, rows, contents)}
    by_table: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row, content in zip(rows, contents, strict=True):
        by_table[row.table].append({name: value for name, value in content.items() if name not in shared})
    return AnalyticsRow(columns=shared, rows=[_of_table(table, found) for table, found in by_table.items()])


def _of_table(table: str, contents: Sequence[dict[str, Any]]) -> PackedRows:
    names = list(dict.fromkeys(name for content in contents for name in content))
    return PackedRows(
        table=table, columns=names, values=[[content.get(name) for name in names] for content in contents]
    )


def _is_shared(name: str, value: Any, rows: Sequence[TableRow], contents: Sequence[dict[str, Any]]) -> bool:
    """Return whether every row whose table has the column has this value, so that it can be left out of all."""
    return all(
        name not in column_names(type(row)) or (name in content and content[name] == value)
        for row, content in zip(rows, contents, strict=True)
    )
