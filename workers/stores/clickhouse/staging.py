"""Compare ClickHouse tables with their source, and repair them, inside the server.

Rows of the source go into a staging table of the same structure, engine and sort key. ClickHouse
therefore converts values and chooses between rows of one key (FINAL) in the same way on both sides.
A staging table that is not dropped is emptied after a day.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from clickhouse_connect.driver.asyncclient import AsyncClient

from workers.errors import StoreUnavailable
from workers.stores.clickhouse.analytics_store import CLIENT_ERRORS
from workers.stores.clickhouse.row_reading import without_zone
from workers.stores.tables.all_tables import BY_NAME
from workers.stores.tables.answer_tables import AnswerFactRow, AnswerRow, AnswerTextRow, CitationByIdRow, CitationRow
from workers.stores.tables.feedback_tables import RewardFactRow, RewardRow
from workers.stores.tables.table_row import TableRow, clock_columns, column_names, described_columns, select_list

PREFIX = "rebuild_"
KEPT = timedelta(days=1)
"""Age from which a staging table counts as left behind by a killed run."""

SOON = timedelta(hours=1)
"""Rows whose retention ends within this time are not compared: a merge may remove them during the run."""

IGNORED: Mapping[str, frozenset[str]] = {
    "dead_letters": frozenset({"revision", "requeued_at", "requeue_count"}),
    "rewards": frozenset({"computed_at", "elsewhere"}),
}
"""Columns that no topic holds. Requeueing marks exist in ClickHouse only. A reward that is kept for ever does not
say where else it was counted. A reward that is computed again does not say when it was computed first."""

LATEST = {"sources": "stored_at"}
"""Tables in which another column than the version decides between rows with equal contents."""

SHOWN = 3
"""Number of example keys of a table that differs."""

MAX_ERROR = 300
"""Maximum length of a reported ClickHouse error, characters."""

INSERTING = "SETTINGS insert_deduplicate = 0, max_partitions_per_insert_block = 0"
"""Deduplication is off: earlier rows may be deleted since, and ClickHouse would drop the insert as a repeat."""

_ENGINE = re.compile(r"ReplacingMergeTree(?:\((?:'[^']*', *)*(?P<version>\w*)\))?(?= |$)")


@dataclass(frozen=True, slots=True)
class Differences:
    """Differences between a table and its source, counted by key.

    Attributes:
        expected: number of keys in the source.
        found: number of source keys in the table.
        missing: number of source keys that the table lacks.
        different: keys whose row is older than the source's, or has other contents.
        newer: keys whose row is newer than any of the source's, which stays as it is.
        beyond: keys in the table that the source lacks, because it keeps less or is being written to.
        checksum: sum of the hashes of the source's rows, without newer ones; the order does not matter.
        checksum_found: sum of the hashes of the table's rows with these keys.
        examples: some keys that are missing or different.
    """

    expected: int
    found: int
    missing: int
    different: int
    newer: int
    beyond: int
    checksum: int
    checksum_found: int
    examples: tuple[str, ...] = ()

    @property
    def are_none(self) -> bool:
        """Return true if no row is missing or different."""
        return self.missing == self.different == 0


@dataclass(frozen=True, slots=True)
class _Structure:
    """Structure of a table.

    Attributes:
        columns: the stored columns.
        clocks: stored columns that default to the time of the insert.
        key: the sort key, an expression.
        version: the column that decides between rows of a key, if there is one.
        alive: condition that is true for rows within their retention.
    """

    columns: tuple[str, ...]
    clocks: frozenset[str]
    key: str
    version: str
    alive: str


@dataclass(frozen=True, slots=True)
class Derived:
    """Table that a view fills from another one, row by row.

    Attributes:
        table: name of the filled table.
        source: name of the table that it is filled from.
        where: condition on source rows that have a row in the table.
        time: start of the retention, in columns of the source.
        columns: columns of both tables that are compared.
        counted: condition on rows of the table that count.
        computed: values of columns of the table by name, in columns of the source.
        detail: types of further columns of the source by name, which the table holds as JSON in its column ``detail``.
    """

    table: str
    source: str
    where: str
    time: str
    columns: tuple[str, ...]
    counted: str = "1"
    computed: Mapping[str, str] = field(default_factory=dict)
    detail: Mapping[str, str] = field(default_factory=dict)

    def hashed_source(self) -> str:
        """Return the SQL hash of the compared columns of a source row."""
        return _hashed((*self.columns, *self.computed.values(), *self.detail))

    def hashed(self) -> str:
        """Return the SQL hash of the compared columns of a row of the table."""
        held = (f"JSONExtract(detail, {_text(name)}, {_text(kind)})" for name, kind in self.detail.items())
        return _hashed((*self.columns, *self.computed, *held))


def _hashed(columns: Sequence[str]) -> str:
    return f"sipHash128(toString(tuple({', '.join(columns)})))"


def _text(value: str) -> str:
    return "'" + value.replace("'", "\\'") + "'"


def _shared(source: type[TableRow], table: type[TableRow]) -> tuple[str, ...]:
    """Return the columns that two tables have under the same name and type, in the order of the source."""
    kinds = {column.name: column.kind for column in described_columns(table)}
    return tuple(each.name for each in described_columns(source) if kinds.get(each.name) == each.kind)


_DETAIL = (
    "chunk_id", "source_type", "source_name", "source_path", "source_table", "record_id", "memory_id", "entity",
    "display_text", "source_digest", "last_updated", "created_at", "source_event", "learned_at", "excerpt", "confidence",
)  # fmt: skip

DERIVED = (
    Derived("answer_facts", "answers", "1", "toStartOfHour(completed_at)", _shared(AnswerRow, AnswerFactRow)),
    Derived(
        "answer_places", "answers", "1", "toStartOfHour(completed_at)", ("tenant", "run"),
        computed={"answer_key": "sipHash64(answer_id)", "hour": "toStartOfHour(completed_at)"},
    ),
    Derived(
        "answer_texts", "answers", "run = 'live'", "completed_at", _shared(AnswerRow, AnswerTextRow),
        computed={"text_key": "sipHash64(answer)"},
    ),
    Derived(
        "reward_facts", "rewards", "1", "toStartOfHour(answered_at)", _shared(RewardRow, RewardFactRow), "counts"
    ),
    Derived(
        "citations_by_id", "citations", "valid", "completed_at", _shared(CitationRow, CitationByIdRow),
        detail={each.name: each.kind for each in described_columns(CitationRow) if each.name in _DETAIL},
    ),
)  # fmt: skip
"""Tables without rows of a topic. They are compared with the tables that fill them."""


class Staging:
    """Staging tables of one run.

    Args:
        client: connected client whose user may create and drop tables.
        database: name of the database with the tables.
        retention: the end of a row's retention by table, an expression; empty for rows kept for ever.
        now: start of the run; rows whose retention has ended by then are not compared.
    """

    def __init__(self, client: AsyncClient, database: str, retention: Mapping[str, str], now: datetime) -> None:
        self._client = client
        self._database = database
        self._retention = retention
        self._now = now
        self._run = f"{PREFIX}{uuid4().hex[:8]}_"
        self._structures: dict[str, _Structure] = {}

    async def open(self, tables: Sequence[str]) -> None:
        """Create empty staging tables, and drop those that a killed run left behind.

        Raises:
            StoreUnavailable: ClickHouse refuses, or does not respond.
        """
        await self._drop(f"metadata_modification_time < {_time(self._now - KEPT)}")
        rows = await self._rows(
            "SELECT name, sorting_key, engine_full FROM system.tables WHERE database = {database:String}"
        )
        engines = {str(name): (str(key), str(engine)) for name, key, engine in rows}
        for table in tables:
            key, engine = engines[table]
            match = _ENGINE.match(engine.removeprefix("Replicated").removeprefix("Shared"))
            self._structures[table] = self._structure(table, key, (match and match["version"]) or "")
            version = LATEST.get(table, self._structures[table].version)
            await self._command(
                f"CREATE TABLE {self.name(table)} AS {self._database}.{table} "
                f"ENGINE = ReplacingMergeTree({version}) ORDER BY ({key})"
            )
            await self._command(
                f"ALTER TABLE {self.name(table)} ADD COLUMN staged_at DateTime('UTC') DEFAULT now(), "
                f"MODIFY TTL staged_at + toIntervalSecond({KEPT.total_seconds():.0f})"
            )

    def name(self, table: str) -> str:
        """Return the name of a table's staging table, with its database."""
        return f"{self._database}.{self.bare(table)}"

    def bare(self, table: str) -> str:
        """Return the name of a table's staging table, without its database."""
        return f"{self._run}{table}"

    def clocks(self, table: str) -> frozenset[str]:
        """Return the columns that say when a row was inserted."""
        return self._structures[table].clocks

    async def remove(self, table: str, answers: Sequence[tuple[str, str]]) -> None:
        """Remove rows of answers, given by tenant and identifier, from a staging table.

        Raises:
            StoreUnavailable: the store did not acknowledge.
        """
        await self._command(
            f"ALTER TABLE {self.name(table)} DELETE WHERE (tenant, answer_id) IN "
            "{answers:Array(Tuple(String, String))} SETTINGS mutations_sync = 2",
            {"answers": list(answers)},
        )

    async def compare(self, table: str) -> Differences:
        """Compare the table with the staged rows.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        found = await self._differences(self._by_key(table))
        if found.are_none:
            return found
        structure = self._structures[table]
        keys = await self._rows(
            f"SELECT toString(tuple({structure.key})) FROM {self.name(table)} FINAL WHERE {structure.alive} "
            f"AND sipHash128({structure.key}) IN ({_wrong(self._by_key(table))}) LIMIT {SHOWN}"
        )
        return _with_examples(found, keys)

    async def restore(self, table: str) -> None:
        """Write missing, older and different rows. Other rows are unchanged."""
        structure = self._structures[table]
        # Where the time of the insert decides between rows, the repaired row must be the latest.
        columns = ", ".join(
            name for name in structure.columns if not (name in structure.clocks and name == structure.version)
        )
        await self._command(
            f"INSERT INTO {self._database}.{table} ({columns}) SELECT {columns} FROM {self.name(table)} FINAL "
            f"WHERE {structure.alive} AND sipHash128({structure.key}) IN ({_wrong(self._by_key(table))}) {INSERTING}"
        )

    async def compare_derived(self, derived: Derived) -> Differences:
        """Compare a derived table with the rows that its view should have written.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        found = await self._differences(self._derived(derived))
        if found.are_none:
            return found
        keys = await self._rows(
            f"SELECT toString(tuple({', '.join((*derived.columns, *derived.computed.values())[:3])})) FROM {self._database}.{derived.source} FINAL "
            f"WHERE {self._fills(derived)} AND {derived.hashed_source()} IN ({_wrong(self._derived(derived))}) "
            f"LIMIT {SHOWN}"
        )
        return _with_examples(found, keys)

    async def restore_derived(self, derived: Derived) -> None:
        """Insert the source rows once more. They replace themselves, and the view fills the derived table.

        Raises:
            StoreUnavailable: the store did not acknowledge; run it again.
        """
        columns = select_list(BY_NAME[derived.source])
        await self._command(
            f"INSERT INTO {self._database}.{derived.source} ({columns}) SELECT {columns} "
            f"FROM {self._database}.{derived.source} FINAL WHERE {self._fills(derived)} "
            f"AND {derived.hashed_source()} IN ({_wrong(self._derived(derived))}) {INSERTING}"
        )

    async def close(self) -> None:
        """Drop the staging tables of this run.

        Raises:
            StoreUnavailable: the store did not acknowledge; staging tables empty themselves after a day, and a later
                run drops them.
        """
        await self._drop(f"startsWith(name, '{self._run}')")

    async def ask(self, sql: str, parameters: Mapping[str, Any] | None = None) -> Sequence[Sequence[Any]]:
        """Return the rows of a query.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        return await self._rows(sql, parameters)

    def _structure(self, table: str, key: str, version: str) -> _Structure:
        end = self._retention.get(table, "")
        return _Structure(
            columns=column_names(BY_NAME[table]),
            clocks=clock_columns(BY_NAME[table]),
            key=key,
            version=version,
            alive=f"{end} > {_time(self._now + SOON)}" if end else "1",
        )

    def _by_key(self, table: str) -> str:
        structure = self._structures[table]
        left_out = structure.clocks | IGNORED.get(table, frozenset())
        contents = ", ".join(name for name in structure.columns if name not in left_out)
        version = "0" if structure.version in left_out else structure.version or "0"
        sides = [
            f"SELECT sipHash128({structure.key}) AS the_key, {side} AS the_side, {version} AS the_version, "
            f"sipHash64(toString(tuple({contents}))) AS the_content FROM {name} FINAL WHERE {structure.alive}"
            for side, name in ((1, self.name(table)), (2, f"{self._database}.{table}"))
        ]
        return _grouped(sides)

    def _derived(self, derived: Derived) -> str:
        source = f"{self._database}.{derived.source} FINAL WHERE {self._fills(derived)}"
        table = f"{self._database}.{derived.table} FINAL WHERE {derived.counted}"
        sides = [
            f"SELECT {key} AS the_key, {side} AS the_side, 0 AS the_version, sipHash64(the_key) AS the_content "
            f"FROM {rows}"
            for key, side, rows in ((derived.hashed_source(), 1, source), (derived.hashed(), 2, table))
        ]
        return _grouped(sides)

    def _fills(self, derived: Derived) -> str:
        end = self._retention.get(derived.table, "")
        for column in ("hour", "completed_at"):
            end = end.replace(f"({column})", f"({derived.time})")
        return f"({derived.where})" + (f" AND {end} > {_time(self._now + SOON)}" if end else "")

    async def _differences(self, grouped: str) -> Differences:
        is_newer = "(in_table AND version_found > version)"
        (row,) = await self._rows(
            "SELECT countIf(in_source), countIf(in_source AND in_table), countIf(in_source AND NOT in_table), "
            f"countIf(in_source AND in_table AND NOT {is_newer} AND content != content_found), "
            f"countIf(in_source AND {is_newer}), countIf(NOT in_source), "
            f"sumIf(content, in_source AND NOT {is_newer}), sumIf(content_found, in_source AND NOT {is_newer}) "
            f"FROM ({grouped})"
        )
        expected, present, missing, different, newer, beyond, checksum, checksum_found = map(int, row)
        return Differences(expected, present, missing, different, newer, beyond, checksum, checksum_found)

    async def _drop(self, condition: str) -> None:
        rows = await self._rows(
            f"SELECT name FROM system.tables WHERE database = {{database:String}} AND startsWith(name, '{PREFIX}') "
            f"AND {condition}"
        )
        for (name,) in rows:
            await self._command(f"DROP TABLE IF EXISTS {self._database}.{name}")

    async def _rows(self, sql: str, parameters: Mapping[str, Any] | None = None) -> Sequence[Sequence[Any]]:
        try:
            found = await self._client.query(sql, parameters={"database": self._database} | dict(parameters or {}))
        except CLIENT_ERRORS as error:
            raise StoreUnavailable(
                f"ClickHouse did not compare tables ({type(error).__name__}): {_short(error)}"
            ) from error
        rows: Sequence[Sequence[Any]] = found.result_rows
        return rows

    async def _command(self, statement: str, parameters: Mapping[str, Any] | None = None) -> None:
        try:
            await self._client.command(statement, parameters=dict(parameters or {}))
        except CLIENT_ERRORS as error:
            raise StoreUnavailable(
                f"ClickHouse did not acknowledge a statement of the rebuild ({type(error).__name__}); check that "
                f"this user may create and drop tables in {self._database}; {_short(error)}"
            ) from error


def _grouped(sides: Sequence[str]) -> str:
    """Return SQL with both sides of each key in one row. An alias hides a column, so no column has these names."""
    return (
        "SELECT the_key, countIf(the_side = 1) > 0 AS in_source, countIf(the_side = 2) > 0 AS in_table, "
        "maxIf(the_version, the_side = 1) AS version, maxIf(the_version, the_side = 2) AS version_found, "
        "sumIf(the_content, the_side = 1) AS content, sumIf(the_content, the_side = 2) AS content_found "
        f"FROM ({' UNION ALL '.join(sides)}) GROUP BY the_key"
    )


def _wrong(grouped: str) -> str:
    """Return SQL that selects the keys whose rows must be written."""
    return (
        f"SELECT the_key FROM ({grouped}) WHERE in_source AND (NOT in_table "
        "OR (version_found <= version AND content != content_found))"
    )


def _with_examples(found: Differences, keys: Sequence[Sequence[Any]]) -> Differences:
    return replace(found, examples=tuple(str(key) for (key,) in keys))


def _short(error: Exception) -> str:
    """Return the start of a ClickHouse error. The error may repeat the statement, which holds no record values."""
    return str(error).strip()[:MAX_ERROR]


def _time(time: datetime) -> str:
    return f"toDateTime('{without_zone(time):%Y-%m-%d %H:%M:%S}', 'UTC')"
