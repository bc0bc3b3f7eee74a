"""ClickHouse: what a table should hold beside what it holds, compared and mended inside the server.

Rows of the source go into a staging table of the same structure, engine and sort key. So the one
rule that says which of several rows of a key counts is ClickHouse's own on both sides (FINAL), and
so are its conversions. A staging table empties itself after a day, should nobody drop it.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from clickhouse_connect.driver.asyncclient import AsyncClient
from clickhouse_connect.driver.exceptions import Error

from workers.delivery.errors import StoreUnavailable
from workers.stores.feedback import without_zone

PREFIX = "rebuild_"
KEPT = timedelta(days=1)
"""A staging table that is older was left behind by a run that was killed."""

SOON = timedelta(hours=1)
"""Rows whose retention ends so soon are not looked at: some merge may remove them meanwhile."""

IGNORED: Mapping[str, frozenset[str]] = {
    "dead_letters": frozenset({"revision", "requeued_at", "requeue_count"}),
    "rewards": frozenset({"computed_at", "elsewhere"}),
}
"""Columns that no topic tells: marks of requeueing are made in ClickHouse alone; a reward that is kept
for ever does not say where else it was counted, and one that is computed again, when it was first."""

LATEST = {"sources": "stored_at"}
"""Tables of which another column than the version decides between rows that are all alike."""

SHOWN = 3
"""Keys that are shown of a table that differs."""

MAX_ERROR = 300
"""Characters of an error of ClickHouse that are told."""

INSERTING = "SETTINGS insert_deduplicate = 0, max_partitions_per_insert_block = 0"
"""What was inserted before may have been deleted since, so that a repeat is none."""

_ENGINE = re.compile(r"ReplacingMergeTree(?:\((?:'[^']*', *)*(?P<version>\w*)\))?(?= |$)")


@dataclass(frozen=True, slots=True)
class Differences:
    """What a table holds against what it should hold, by keys.

    Attributes:
        expected: keys in the source.
        found: of those, keys in the table.
        missing: of those, keys that the table lacks.
        different: keys whose row is older than the source's, or has other contents.
        newer: keys whose row is newer than any of the source's, which stays as it is.
        beyond: keys in the table that the source knows nothing of, since it keeps less or is written to.
        checksum: sum of the hashes of the source's rows, newer ones left out; whatever their order.
        checksum_found: the same of the table's rows with these keys.
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
        """Whether all is there, and right."""
        return self.missing == self.different == 0


@dataclass(frozen=True, slots=True)
class _Structure:
    """What a table is made of.

    Attributes:
        columns: those that are stored.
        clocks: those of them that say when a row was inserted, unless it says so itself.
        key: the sort key, an expression.
        version: the column that decides between rows of a key, if there is one.
        alive: condition on rows whose retention is not over.
    """

    columns: tuple[str, ...]
    clocks: frozenset[str]
    key: str
    version: str
    alive: str


@dataclass(frozen=True, slots=True)
class Derived:
    """A table that a view fills from another one, row by row.

    Attributes:
        table: which one.
        source: of which one.
        where: rows that have one there.
        time: what its retention counts from, in columns of the source.
        columns: those that both have, and that are compared.
        counted: rows of it that count.
        detail: types of further columns of the source by name, which the table holds as JSON in its column ``detail``.
    """

    table: str
    source: str
    where: str
    time: str
    columns: tuple[str, ...]
    counted: str = "1"
    detail: Mapping[str, str] = field(default_factory=dict)

    def hashed_source(self) -> str:
        """What is compared, of a row of the source."""
        return _hashed((*self.columns, *self.detail))

    def hashed(self) -> str:
        """The same of a row of the table."""
        held = (f"JSONExtract(detail, {_text(name)}, {_text(kind)})" for name, kind in self.detail.items())
        return _hashed((*self.columns, *held))


def _hashed(columns: Sequence[str]) -> str:
    return f"sipHash128(toString(tuple({', '.join(columns)})))"


def _text(value: str) -> str:
    return "'" + value.replace("'", "\\'") + "'"


TEXT, NUMBER, TIME = "String", "Nullable(Float64)", "Nullable(DateTime64(3, 'UTC'))"


DERIVED = (
    Derived(
        "answer_facts", "answers", "1", "toStartOfHour(completed_at)",
        ("tenant", "run", "answer_id", "rank", "completed_at", "model_id", "prompt_version", "query_type", "state",
         "degraded", "review", "risk_score", "grounding_score", "quality_score", "gate_score", "citation_coverage",
         "claims_total", "claims_supported", "claims_contradicted", "claims_unsupported", "signals", "issues", "reasons"),
    ),
    Derived(
        "reward_facts", "rewards", "1", "toStartOfHour(answered_at)",
        ("tenant", "answer_id", "revision", "model_id", "query_type", "reward", "explicit_reward", "implicit_reward",
         "satisfaction"),
        "counts",
    ),
    Derived(
        "citations_by_id", "citations", "valid", "completed_at",
        ("citation_id", "run", "tenant", "answer_id", "rank", "completed_at"),
        detail={
            "chunk_id": TEXT, "source_type": TEXT, "source_name": TEXT, "source_path": TEXT, "source_table": TEXT,
            "record_id": TEXT, "memory_id": TEXT, "entity": TEXT, "display_text": TEXT, "source_digest": TEXT,
            "last_updated": TIME, "created_at": TIME, "source_event": TEXT, "learned_at": TIME, "excerpt": TEXT,
            "confidence": NUMBER,
        },
    ),
)  # fmt: skip
"""Tables that are no rows of a topic, and are compared with what they are made of."""


class Staging:
    """Staging tables of one run.

    Args:
        client: connected client whose user may create and drop tables.
        database: where the tables are.
        retention: the end of a row's retention by table, an expression; empty for rows kept for ever.
        now: when the run began; rows whose retention is over by then count on neither side.
    """

    def __init__(self, client: AsyncClient, database: str, retention: Mapping[str, str], now: datetime) -> None:
        self._client = client
        self._database = database
        self._retention = retention
        self._now = now
        self._run = f"{PREFIX}{uuid4().hex[:8]}_"
        self._structures: dict[str, _Structure] = {}

    async def open(self, tables: Sequence[str]) -> None:
        """Create empty staging tables, and drop those that a killed run has left behind.

        Raises:
            StoreUnavailable: ClickHouse refuses, or does not answer.
        """
        await self._drop(f"metadata_modification_time < {_time(self._now - KEPT)}")
        rows = await self._rows(
            "SELECT name, sorting_key, engine_full FROM system.tables WHERE database = {database:String}"
        )
        engines = {str(name): (str(key), str(engine)) for name, key, engine in rows}
        for table in tables:
            key, engine = engines[table]
            match = _ENGINE.match(engine.removeprefix("Replicated").removeprefix("Shared"))
            self._structures[table] = await self._structure(table, key, (match and match["version"]) or "")
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
        """The staging table of a table, with its database."""
        return f"{self._database}.{self.bare(table)}"

    def bare(self, table: str) -> str:
        """The same without the database."""
        return f"{self._run}{table}"

    def clocks(self, table: str) -> frozenset[str]:
        """Columns that say when a row was inserted."""
        return self._structures[table].clocks

    async def remove(self, table: str, column: str, values: Sequence[str]) -> None:
        """Take rows out of a staging table again.

        Raises:
            StoreUnavailable: not confirmed.
        """
        await self._command(
            f"ALTER TABLE {self.name(table)} DELETE WHERE {column} IN {{values:Array(String)}} SETTINGS mutations_sync = 2",
            {"values": list(values)},
        )

    async def compare(self, table: str) -> Differences:
        """What differs between the table and what was staged.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
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
        """Write what is missing, older or different; nothing else is touched.

        Raises:
            StoreUnavailable: not confirmed; run it again.
        """
        structure = self._structures[table]
        # Where the time of the insert decides, the row that is put right must be the latest.
        columns = ", ".join(
            name for name in structure.columns if not (name in structure.clocks and name == structure.version)
        )
        await self._command(
            f"INSERT INTO {self._database}.{table} ({columns}) SELECT {columns} FROM {self.name(table)} FINAL "
            f"WHERE {structure.alive} AND sipHash128({structure.key}) IN ({_wrong(self._by_key(table))}) {INSERTING}"
        )

    async def compare_derived(self, derived: Derived) -> Differences:
        """What a table lacks of what its view should have filled it with.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        found = await self._differences(self._derived(derived))
        if found.are_none:
            return found
        keys = await self._rows(
            f"SELECT toString(tuple({', '.join(derived.columns[:3])})) FROM {self._database}.{derived.source} FINAL "
            f"WHERE {self._fills(derived)} AND {derived.hashed_source()} IN ({_wrong(self._derived(derived))}) LIMIT {SHOWN}"
        )
        return _with_examples(found, keys)

    async def restore_derived(self, derived: Derived) -> None:
        """Insert its source's rows once more: they replace themselves, and fill it.

        Raises:
            StoreUnavailable: not confirmed; run it again.
        """
        columns = ", ".join((await self._structure(derived.source, "", "")).columns)
        await self._command(
            f"INSERT INTO {self._database}.{derived.source} ({columns}) SELECT {columns} "
            f"FROM {self._database}.{derived.source} FINAL WHERE {self._fills(derived)} "
            f"AND {derived.hashed_source()} IN ({_wrong(self._derived(derived))}) {INSERTING}"
        )

    async def close(self) -> None:
        """Drop the staging tables of this run.

        Raises:
            StoreUnavailable: not confirmed; they empty themselves after a day, and a later run drops them.
        """
        await self._drop(f"startsWith(name, '{self._run}')")

    async def ask(self, sql: str, parameters: Mapping[str, Any] | None = None) -> Sequence[Sequence[Any]]:
        """Rows of a question.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        return await self._rows(sql, parameters)

    async def _structure(self, table: str, key: str, version: str) -> _Structure:
        rows = await self._rows(
            "SELECT name, default_kind, default_expression FROM system.columns "
            "WHERE database = {database:String} AND table = {table:String} AND default_kind NOT IN ('ALIAS', 'MATERIALIZED') "
            "ORDER BY position",
            {"table": table},
        )
        end = self._retention.get(table, "")
        return _Structure(
            columns=tuple(str(name) for name, *_ in rows),
            clocks=frozenset(str(name) for name, _, expression in rows if str(expression).startswith("now")),
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
            f"SELECT {key} AS the_key, {side} AS the_side, 0 AS the_version, sipHash64(the_key) AS the_content FROM {rows}"
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
        except (Error, OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            raise StoreUnavailable(
                f"ClickHouse did not compare tables ({type(error).__name__}): {_short(error)}"
            ) from error
        rows: Sequence[Sequence[Any]] = found.result_rows
        return rows

    async def _command(self, statement: str, parameters: Mapping[str, Any] | None = None) -> None:
        try:
            await self._client.command(statement, parameters=dict(parameters or {}))
        except (Error, OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            raise StoreUnavailable(
                f"ClickHouse did not confirm a statement of the rebuild ({type(error).__name__}); may this user create "
                f"and drop tables in {self._database}? {_short(error)}"
            ) from error


def _grouped(sides: Sequence[str]) -> str:
    """Both sides of each key in one row; by names that no column has, since an alias would hide the column."""
    return (
        "SELECT the_key, countIf(the_side = 1) > 0 AS in_source, countIf(the_side = 2) > 0 AS in_table, "
        "maxIf(the_version, the_side = 1) AS version, maxIf(the_version, the_side = 2) AS version_found, "
        "sumIf(the_content, the_side = 1) AS content, sumIf(the_content, the_side = 2) AS content_found "
        f"FROM ({' UNION ALL '.join(sides)}) GROUP BY the_key"
    )


def _wrong(grouped: str) -> str:
    """Keys whose rows must be written."""
    return (
        f"SELECT the_key FROM ({grouped}) WHERE in_source AND (NOT in_table "
        "OR (version_found <= version AND content != content_found))"
    )


def _with_examples(found: Differences, keys: Sequence[Sequence[Any]]) -> Differences:
    return replace(found, examples=tuple(str(key) for (key,) in keys))


def _short(error: Exception) -> str:
    """What ClickHouse says, without the whole statement that it may repeat; the statement holds no values of others."""
    return str(error).strip()[:MAX_ERROR]


def _time(time: datetime) -> str:
    return f"toDateTime('{without_zone(time):%Y-%m-%d %H:%M:%S}', 'UTC')"
