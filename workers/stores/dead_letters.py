"""Dead letters in ClickHouse: found, read in full, marked as requeued."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson
from clickhouse_connect.driver.asyncclient import AsyncClient
from clickhouse_connect.driver.exceptions import DatabaseError, Error

from schemas.dead_letters import HEADER_FIELDS, DeadLetter, DeadLetterReason
from workers.delivery.errors import StoreUnavailable, TouchstoneError
from workers.stores.analytics import error_code
from workers.stores.migrations import MigrationError

SCHEMA_ERRORS = frozenset({16, 47, 60, 81})
"""ClickHouse's codes for: no such column, unknown identifier, unknown table, unknown database."""

REASON = ", ".join((*HEADER_FIELDS, "requeued_at", "requeue_count"))
RECORD = "key_base64, value_base64, headers"

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

# The first two narrow the search to a part of the sort key.
CHOSEN = """
    topic IN {topics:Array(String)} AND agent IN {agents:Array(String)}
    AND dead_letter_id IN {identifiers:Array(String)}
"""

MARK = f"""
INSERT INTO <database>.dead_letters ({", ".join(HEADER_FIELDS)}, {RECORD}, revision, requeued_at, requeue_count)
SELECT {", ".join(HEADER_FIELDS)}, {RECORD},
       revision + 1, fromUnixTimestamp64Milli({{at:Int64}}, 'UTC'), requeue_count + 1
FROM <database>.dead_letters FINAL
WHERE {CHOSEN}
  AND (requeued_at IS NULL OR requeued_at != fromUnixTimestamp64Milli({{at:Int64}}, 'UTC'))
"""


class UnknownDeadLetter(TouchstoneError):
    """An identifier names no dead letter, or several."""


@dataclass(frozen=True, slots=True)
class LetterFilter:
    """Which dead letters; what is left out filters nothing.

    Attributes:
        since: failed then or later.
        until: failed before.
        agent: who gave them up.
        error_class: why.
        topic: where they come from, without prefix.
        identifiers: identifiers or beginnings of them.
        only_open: not requeued yet.
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
        """Whether it filters by time, agent, error or topic."""
        return bool(self.since or self.until or self.agent or self.error_class or self.topic)


class LetterKey(NamedTuple):
    """What must be known of many letters at once: little."""

    topic: str
    partition: int
    offset: int
    agent: str
    dead_letter_id: str
    requeued: bool
    omitted: bool


class DeadLetterStore:
    """Queries on the table of dead letters.

    Args:
        client: connected client.
        database: where the table is.
    """

    def __init__(self, client: AsyncClient, database: str) -> None:
        self._client = client
        self._database = database

    async def count(self, which: LetterFilter) -> int:
        """How many match."""
        rows = await self._query(f"SELECT count() FROM <database>.dead_letters FINAL WHERE {MATCHES}", _bound(which))
        return int(rows[0][0])

    async def find(self, which: LetterFilter, limit: int) -> list[DeadLetterReason]:
        """The latest that match, without their records."""
        rows = await self._query(
            f"SELECT {REASON} FROM <database>.dead_letters FINAL WHERE {MATCHES} "
            "ORDER BY failed_at DESC, dead_letter_id LIMIT {limit:UInt64}",
            _bound(which) | {"limit": limit},
        )
        return [DeadLetterReason.model_validate(_reason(row)) for row in rows]

    async def keys(self, which: LetterFilter, limit: int | None = None) -> list[LetterKey]:
        """Keys of those that match, in the order of their topics; the latest ones if limited.

        Raises:
            UnknownDeadLetter: an identifier of the filter names none, or several.
        """
        rows = await self._query(
            "SELECT topic, partition, offset, agent, dead_letter_id, requeued_at IS NOT NULL, "
            f"value_omitted IS NOT NULL FROM <database>.dead_letters FINAL WHERE {MATCHES} "
            "ORDER BY failed_at DESC, dead_letter_id LIMIT {limit:UInt64}",
            _bound(which) | {"limit": 2**63 if limit is None else limit},
        )
        keys = sorted(LetterKey(*row) for row in rows)
        return _named(which.identifiers, keys) if which.identifiers else keys

    async def read(self, keys: Sequence[LetterKey]) -> list[DeadLetter]:
        """Letters in full, in the order of their keys; those deleted since are left out."""
        rows = await self._query(
            f"SELECT {REASON}, {RECORD} FROM <database>.dead_letters FINAL WHERE {CHOSEN}", _chosen(keys)
        )
        letters = {str(row[0]): _letter(row) for row in rows}
        return [letters[key.dead_letter_id] for key in keys if key.dead_letter_id in letters]

    async def mark_requeued(self, keys: Sequence[LetterKey], at: datetime) -> None:
        """Note that letters were sent again; the same call again changes nothing.

        Args:
            keys: which.
            at: when.

        Raises:
            StoreUnavailable: not confirmed; it may be noted or not.
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
                f"database {self._database} has no table of dead letters as this version knows it; "
                "run `touchstone migrate`, or set clickhouse.database"
            )
        detail = type(error).__name__ + (f", error code {code}" if code else "")
        return StoreUnavailable(f"ClickHouse did not answer about dead letters ({detail})")


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
            raise UnknownDeadLetter(f"no dead letter {identifier}; `touchstone dlq list` shows those there are")
        if len(found) > 1:
            raise UnknownDeadLetter(f"{len(found)} dead letters begin with {identifier}; give more of the identifier")
        chosen.update(found)
    return sorted(chosen)


def _reason(row: Sequence[Any]) -> dict[str, Any]:
    values = dict(zip((*HEADER_FIELDS, "requeued_at", "requeue_count"), row, strict=False))
    return values | {name: _aware(values[name]) for name in ("failed_at", "requeued_at")}


def _letter(row: Sequence[Any]) -> DeadLetter:
    key, value, headers = row[-3:]
    record = {"key_base64": key, "value_base64": value, "headers_base64": orjson.loads(headers)}
    return DeadLetter.model_validate(_reason(row) | record)


def _aware(time: datetime | None) -> datetime | None:
    """The driver gives times of columns in UTC without a zone."""
    return time.replace(tzinfo=UTC) if time is not None and time.tzinfo is None else time


def _milliseconds(time: datetime) -> int:
    return int(time.timestamp() * 1000)
