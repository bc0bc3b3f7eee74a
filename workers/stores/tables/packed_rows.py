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
    contents = [(row, row.columns) for row in rows]
    parts = size_parts(contents, lambda each: len(to_json(each[1])), PACKED_BYTES)
    return [_record(part) for part in parts]


def unpacked(record: AnalyticsRow) -> list[tuple[str, dict[str, Any]]]:
    """Return table and columns of each row of a record.

    Raises:
        UnreadableRecord: a later version has written rows of an unknown table.
    """
    if record.table is not None:
        return [(record.table, record.columns)]
    return [
        (part.table, shared | _present(part.columns, values))
        for part in record.rows
        for shared in (_shared_with(part.table, record.columns),)
        for values in part.values
    ]


def _present(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}


def _shared_with(table: str, shared: dict[str, Any]) -> dict[str, Any]:
    known = BY_NAME.get(table)
    if known is None:
        raise UnreadableRecord(f"rows of the table {table} come from a later version; upgrade this worker")
    return {name: shared[name] for name in column_names(known) if name in shared}


def _record(rows: Sequence[tuple[TableRow, dict[str, Any]]]) -> AnalyticsRow:
    if len(rows) == 1:
        row, columns = rows[0]
        return AnalyticsRow(table=row.table, columns=columns)
    shared = _shared(rows)
    by_table: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row, content in rows:
        by_table[row.table].append({name: value for name, value in content.items() if name not in shared})
    return AnalyticsRow(columns=shared, rows=[_of_table(table, found) for table, found in by_table.items()])


def _of_table(table: str, contents: Sequence[dict[str, Any]]) -> PackedRows:
    names = list(dict.fromkeys(name for content in contents for name in content))
    return PackedRows(
        table=table, columns=names, values=[[content.get(name) for name in names] for content in contents]
    )


def _shared(rows: Sequence[tuple[TableRow, dict[str, Any]]]) -> dict[str, Any]:
    """Return the values of the first row that every row has whose table has the column; they are left out of all."""
    shared = dict(rows[0][1])
    for row, content in rows[1:]:
        for name in shared.keys() & column_names(type(row)):
            if name not in content or content[name] != shared[name]:
                del shared[name]
    return shared
