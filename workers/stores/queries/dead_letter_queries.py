"""Find dead letters in ClickHouse, read them in full and mark them as requeued."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson
from clickhouse_connect.driver.asyncclient import AsyncClient
from clickhouse_connect.driver.exceptions import DatabaseError, Error

from schemas.dead_letters import DeadLetter, DeadLetterReason
from workers.errors import StoreUnavailable, TouchstoneError
from workers.stores.clickhouse.analytics_store import error_code
from workers.stores.clickhouse.migrations import MigrationError
from workers.stores.clickhouse.row_reading import in_parameters
from workers.stores.tables.operation_tables import DeadLetterRow
from workers.stores.tables.table_row import column_names, select_list

SCHEMA_ERRORS = frozenset({16, 47, 60, 81})
"""ClickHouse's codes for: no such column, unknown identifier, unknown table, unknown database."""

RECORD = ("key_base64", "value_base64", "headers")
REASON = select_list(DeadLetterRow, without=(*RECORD, "revision"))
MARKED = {
    "revision": "revision + 1", "requeued_at": "fromUnixTimestamp64Milli({at:Int64}, 'UTC')",
    "requeue_count": "requeue_count + 1",
}  # fmt: skip
"""Columns that a requeueing changes."""

MATCHES = """
    ({since:Int64} = 0 OR failed_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC'))
    AND ({until:Int64} = 0 OR failed_at < fromUnixTimestamp64Milli({until:Int64}, 'UTC'))
    AND ({agent:String} = '' OR agent = {agent:String})
    AND ({error_class:String} = '' OR error_class = {error_class:String})
    AND ({topic:String} = '' OR topic = {topic:String})
    AND (NOT {only_open:Bool} OR requeued_at IS NULL)
    AND (empty({identifiers:Array(String)})
         OR arrayExists(start -> startsWith(dead_letter_id, start), {identifiers:Array(String)}))
"""

# The first two conditions narrow the search to a part of the sort key.
CHOSEN = """
    topic IN {topics:Array(String)} AND agent IN {agents:Array(String)}
    AND dead_letter_id IN {identifiers:Array(String)}
"""

MARK = f"""
INSERT INTO <database>.dead_letters ({select_list(DeadLetterRow)})
SELECT {", ".join(MARKED.get(name, name) for name in column_names(DeadLetterRow))}
FROM <database>.dead_letters FINAL
WHERE {CHOSEN}
  AND (requeued_at IS NULL OR requeued_at != fromUnixTimestamp64Milli({{at:Int64}}, 'UTC'))
"""


class UnknownDeadLetter(TouchstoneError):
    """Report an identifier that matches no dead letter, or several."""


@dataclass(frozen=True, slots=True)
class LetterFilter:
    """Filter on dead letters. Attributes left out filter nothing.

    Attributes:
        since: earliest time of the failure.
        until: end of the times of failure, exclusive.
        agent: agent that failed.
        error_class: class of the error.
        topic: topic of the record, without prefix.
        identifiers: identifiers or beginnings of them.
        only_open: leave out requeued letters.
    """

    since: datetime | None = None
    until: datetime | None = None
    agent: str = ""
    error_class: str = ""
    topic: str = ""
    identifiers: tuple[str, ...] = ()
    only_open: bool = False

    @property
    def by_reason(self) -> bool:
        """Return true if the filter names a time, agent, error or topic."""
        return bool(self.since or self.until or self.agent or self.error_class or self.topic)


class LetterKey(NamedTuple):
    """Key fields of a dead letter, small enough to hold many in memory."""

    topic: str
    partition: int
    offset: int
    agent: str
    dead_letter_id: str
    requeued: bool
    omitted: bool


class DeadLetterStore:
    """Store of dead letters.

    Args:
        client: connected client.
        database: name of the database with the table.
    """

    def __init__(self, client: AsyncClient, database: str) -> None:
        self._client = client
        self._database = database

    async def count(self, which: LetterFilter) -> int:
        """Count the dead letters that match."""
        rows = await self._query(f"SELECT count() FROM <database>.dead_letters FINAL WHERE {MATCHES}", _bound(which))
        return int(rows[0][0])

    async def find(self, which: LetterFilter, limit: int) -> list[DeadLetterReason]:
        """Return the latest dead letters that match, without their records."""
        rows = await self._query(
            f"SELECT {REASON} FROM <database>.dead_letters FINAL WHERE {MATCHES} "
            "ORDER BY failed_at DESC, dead_letter_id LIMIT {limit:UInt64}",
            _bound(which) | {"limit": limit},
        )
        return [DeadLetterReason.model_validate(_reason(row)) for row in rows]

    async def keys(self, which: LetterFilter, limit: int | None = None) -> list[LetterKey]:
        """Return the keys of the dead letters that match, ordered by topic. A limit keeps the latest ones.

        Raises:
            UnknownDeadLetter: an identifier of the filter matches none, or several.
        """
        found: set[LetterKey] = set()
        for identifiers in list(in_parameters(which.identifiers, lambda name: [name])) or [[]]:
            rows = await self._query(
                "SELECT topic, partition, offset, agent, dead_letter_id, requeued_at IS NOT NULL, "
                f"value_omitted IS NOT NULL FROM <database>.dead_letters FINAL WHERE {MATCHES} "
                "ORDER BY failed_at DESC, dead_letter_id LIMIT {limit:UInt64}",
                _bound(which) | {"identifiers": identifiers, "limit": 2**63 if limit is None else limit},
            )
            found.update(LetterKey(*row) for row in rows)
        keys = sorted(found)
        return _named(which.identifiers, keys) if which.identifiers else keys

    async def read(self, keys: Sequence[LetterKey]) -> list[DeadLetter]:
        """Return dead letters in full, in the order of the keys. Letters deleted since are left out."""
        rows = await self._query(
            f"SELECT {REASON}, {', '.join(RECORD)} FROM <database>.dead_letters FINAL WHERE {CHOSEN}", _chosen(keys)
        )
        letters = {str(row[0]): _letter(row) for row in rows}
        return [letters[key.dead_letter_id] for key in keys if key.dead_letter_id in letters]

    async def mark_requeued(self, keys: Sequence[LetterKey], at: datetime) -> None:
        """Mark letters as sent again. A repeated call changes nothing.

        Args:
            keys: keys of the letters.
            at: time of the requeueing.

        Raises:
            StoreUnavailable: the store did not acknowledge; the letters may be marked or not.
        """
        try:
            await self._client.command(
                MARK.replace("<database>", self._database), parameters=_chosen(keys) | {"at": _milliseconds(at)}
            )
        except (Error, OSError, TimeoutError) as error:
            raise self._translated(error) from error

    async def _query(self, sql: str, parameters: dict[str, Any]) -> Sequence[Sequence[Any]]:
        try:
            result = await self._client.query(sql.replace("<database>", self._database), parameters=parameters)
        except (Error, OSError, TimeoutError) as error:
            raise self._translated(error) from error
        rows: Sequence[Sequence[Any]] = result.result_rows
        return rows

    def _translated(self, error: Exception) -> TouchstoneError:
        code = error_code(error) if isinstance(error, DatabaseError) else None
        if code in SCHEMA_ERRORS:
            return MigrationError(
                f"database {self._database} lacks the current table of dead letters; run `touchstone migrate`, or "
                "correct clickhouse.database"
            )
        detail = type(error).__name__ + (f", error code {code}" if code else "")
        return StoreUnavailable(f"ClickHouse did not respond to a dead-letter query ({detail})")


def _bound(which: LetterFilter) -> dict[str, Any]:
    return {
        "since": _milliseconds(which.since) if which.since else 0,
        "until": _milliseconds(which.until) if which.until else 0,
        "agent": which.agent,
        "error_class": which.error_class,
        "topic": which.topic,
        "identifiers": list(which.identifiers),
        "only_open": which.only_open,
    }


def _chosen(keys: Iterable[LetterKey]) -> dict[str, Any]:
    keys = list(keys)
    return {
        "topics": sorted({key.topic for key in keys}),
        "agents": sorted({key.agent for key in keys}),
        "identifiers": [key.dead_letter_id for key in keys],
    }


def _named(identifiers: Iterable[str], keys: Sequence[LetterKey]) -> list[LetterKey]:
    chosen = set()
    for identifier in identifiers:
        found = [key for key in keys if key.dead_letter_id.startswith(identifier)]
        found = [key for key in found if key.dead_letter_id == identifier] or found
        if not found:
            raise UnknownDeadLetter(f"unknown dead letter {identifier}; list dead letters with: touchstone dlq list")
        if len(found) > 1:
            raise UnknownDeadLetter(
                f"{len(found)} dead letters begin with {identifier}; give more characters of the identifier"
            )
        chosen.update(found)
    return sorted(chosen)


def _reason(row: Sequence[Any]) -> dict[str, Any]:
    values = dict(zip(REASON.split(", "), row, strict=False))
    return values | {name: _aware(values[name]) for name in ("failed_at", "requeued_at")}


def _letter(row: Sequence[Any]) -> DeadLetter:
    key, value, headers = row[-3:]
    record = {"key_base64": key, "value_base64": value, "headers_base64": orjson.loads(headers)}
    return DeadLetter.model_validate(_reason(row) | record)


def _aware(time: datetime | None) -> datetime | None:
    """Return a time with the zone UTC: the driver returns column times in UTC without a zone."""
    return time.replace(tzinfo=UTC) if time is not None and time.tzinfo is None else time


def _milliseconds(time: datetime) -> int:
    return int(time.timestamp() * 1000)
