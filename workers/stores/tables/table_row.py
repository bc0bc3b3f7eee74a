"""Define the base of all table classes and the ClickHouse types of their columns.

A class is a frozen dataclass. Its fields are the columns of one table in their order. The annotation of a
field holds the ClickHouse type, and the default of a field is the DEFAULT of the column. A test compares
every class with the migrated schema.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from datetime import UTC, date, datetime
from typing import Annotated, Any, ClassVar, NamedTuple, Self, get_args, get_origin, get_type_hints

from schemas.base import RiskLevel
from schemas.feedback import AnalyticsRow

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""ClickHouse's default of a time."""


class InsertClock(NamedTuple):
    """Type and default of a column that ClickHouse fills with the time of the insert."""

    kind: str
    default: str


Text = Annotated[str, "String"]
Uuid = Annotated[str, "UUID"]
Label = Annotated[str, "LowCardinality(String)"]
Risk = Annotated[RiskLevel, "LowCardinality(String)"]
Flag = Annotated[bool, "Bool"]
UInt16 = Annotated[int, "UInt16"]
UInt32 = Annotated[int, "UInt32"]
UInt64 = Annotated[int, "UInt64"]
Float64 = Annotated[float, "Float64"]
Millis = Annotated[datetime, "DateTime64(3, 'UTC')"]
Micros = Annotated[datetime, "DateTime64(6, 'UTC')"]
Earliest = Annotated[datetime, "SimpleAggregateFunction(min, DateTime64(3, 'UTC'))"]
Latest = Annotated[datetime, "SimpleAggregateFunction(max, DateTime64(3, 'UTC'))"]
Hour = Annotated[datetime, "DateTime('UTC')"]
Day = Annotated[date, "Date"]
Texts = Annotated[Sequence[str], "Array(String)"]
Labels = Annotated[Sequence[str], "Array(LowCardinality(String))"]
Numbers = Annotated[Sequence[int], "Array(UInt16)"]
Floats = Annotated[Sequence[float], "Array(Float32)"]
Spans = Annotated[Sequence[Sequence[int]], "Array(Tuple(UInt32, UInt32))"]
Places = Annotated[Sequence[Mapping[str, str]], "Array(Tuple(tenant String, answered_at DateTime64(3, 'UTC')))"]
InsertMillis = Annotated[datetime | None, InsertClock("DateTime64(3, 'UTC')", "now64(3)")]
InsertSeconds = Annotated[datetime | None, InsertClock("DateTime('UTC')", "now()")]


class Column(NamedTuple):
    """Column as ClickHouse describes it.

    Attributes:
        name: name of the column.
        kind: ClickHouse type.
        default: DEFAULT expression; empty if there is none.
    """

    name: str
    kind: str
    default: str


@dataclass(frozen=True, slots=True)
class TableRow:
    """Base of the table classes.

    Attributes:
        table: name of the table.
        kept_from: column from which the retention of a row counts; empty for rows without retention.
    """

    table: ClassVar[str]
    kept_from: ClassVar[str] = ""

    @property
    def columns(self) -> dict[str, Any]:
        """Return the values by column, as JSON has them. Null columns are left out.

        A worker may be upgraded before the table has a new column. A row without a value for it is still stored.
        """
        values = ((name, getattr(self, name)) for name in column_names(type(self)))
        return {name: _as_json(value) for name, value in values if value is not None}

    def record(self) -> AnalyticsRow:
        """Return the event that carries the row on ``feedback.analytics``."""
        return AnalyticsRow(table=self.table, columns=self.columns)

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> Self:
        """Return the row for the columns of a query result.

        Args:
            found: values by column, times without a zone in UTC; other names are left out.
        """
        return cls(**{name: _in_utc(found[name]) for name in column_names(cls) if name in found})


_NAMES: dict[type[TableRow], tuple[str, ...]] = {}


def column_names(table: type[TableRow]) -> tuple[str, ...]:
    """Return the names of the stored columns in their order; they are listed once for each class."""
    names = _NAMES.get(table)
    if names is None:
        names = _NAMES[table] = tuple(field.name for field in fields(table))
    return names


def select_list(table: type[TableRow], without: Iterable[str] = ()) -> str:
    """Return the column names for a statement, in their order."""
    return ", ".join(name for name in column_names(table) if name not in without)


def select_rows(table: type[TableRow]) -> str:
    """Return a statement that selects whole rows, with ``{database}`` still to be filled in."""
    return f"SELECT {select_list(table)} FROM {{database}}.{table.table} FINAL"


def described_columns(table: type[TableRow]) -> tuple[Column, ...]:
    """Return the columns as ClickHouse should describe them."""
    hints = get_type_hints(table, include_extras=True)
    return tuple(_described(field, hints[field.name]) for field in fields(table))


def clock_columns(table: type[TableRow]) -> frozenset[str]:
    """Return the columns that ClickHouse fills with the time of the insert."""
    hints = get_type_hints(table, include_extras=True)
    return frozenset(name for name in column_names(table) if isinstance(_metadata(hints[name]), InsertClock))


def _metadata(hint: Any) -> Any:
    return hint.__metadata__[0] if get_origin(hint) is Annotated else None


def _described(field: Field[Any], hint: Any) -> Column:
    found = _metadata(hint)
    if isinstance(found, InsertClock):
        return Column(field.name, found.kind, found.default)
    if found is not None:
        return Column(field.name, found, _literal(field.default))
    (kind,) = (_metadata(each) for each in get_args(hint) if each is not type(None))
    low = kind.removeprefix("LowCardinality(") != kind
    nullable = f"LowCardinality(Nullable({kind[len('LowCardinality(') : -1]}))" if low else f"Nullable({kind})"
    return Column(field.name, nullable, _literal(field.default))


def _literal(value: object) -> str:
    """Return a field's default as ClickHouse writes it. No value and no list are ClickHouse's own defaults."""
    if value is MISSING or value is None or value == ():
        return ""
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, float):
        return f"{value:g}"
    return "0" if value == EPOCH else str(value).lower()


def _as_json(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else value


def _in_utc(value: Any) -> Any:
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value
