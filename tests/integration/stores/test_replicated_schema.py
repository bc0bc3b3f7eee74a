"""The schema in a replicated database: every statement is parsed by ClickHouse, and each table has the written engine.

No server with replicas can be started here, because the engine of these tests has no Keeper. What remains to be seen on
a cluster is that rows and refreshes are replicated.
"""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient
from clickhouse_connect.driver.exceptions import DatabaseError

from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import connect
from workers.stores.clickhouse.migrations import migrate, read_migrations
from workers.stores.clickhouse.rekeying import REKEY
from workers.stores.clickhouse.replication import as_written, renderer, replicated

ENGINES = {
    "schema_migrations": "ReplicatedReplacingMergeTree(applied_at)",
    "answers": "ReplicatedReplacingMergeTree(rank)",
    "claims": "ReplicatedReplacingMergeTree(rank)",
    "citations": "ReplicatedReplacingMergeTree(rank)",
    "answer_texts": "ReplicatedReplacingMergeTree(rank)",
    "citations_by_id": "ReplicatedReplacingMergeTree(rank)",
    "sources": "ReplicatedReplacingMergeTree(rank)",
    "citation_logs": "ReplicatedReplacingMergeTree(rank)",
    "reviews": "ReplicatedReplacingMergeTree(rank)",
    "review_queue": "ReplicatedReplacingMergeTree(rank)",
    "review_decisions": "ReplicatedReplacingMergeTree(received_at)",
    "review_events": "ReplicatedReplacingMergeTree(received_at)",
    "alerts": "ReplicatedReplacingMergeTree(rank)",
    "dead_letters": "ReplicatedReplacingMergeTree(revision)",
    "feedback": "ReplicatedReplacingMergeTree(received_at)",
    "implicit_feedback": "ReplicatedReplacingMergeTree(revision)",
    "rewards": "ReplicatedReplacingMergeTree(revision)",
    "insights": "ReplicatedReplacingMergeTree(created_at)",
    "accesses": "ReplicatedReplacingMergeTree",
    "versions": "ReplicatedReplacingMergeTree(started_at)",
    "version_days": "ReplicatedAggregatingMergeTree",
    "scores": "ReplicatedReplacingMergeTree(rank)",
    "replays": "ReplicatedReplacingMergeTree(revision)",
    "promotions": "ReplicatedReplacingMergeTree(changed_at)",
    "promoted_hours": "ReplicatedMergeTree",
    "answer_facts": "ReplicatedReplacingMergeTree(rank)",
    "answer_hours": "ReplicatedReplacingMergeTree(computed_at)",
    "source_hours": "ReplicatedReplacingMergeTree(computed_at)",
    "stage_hours": "ReplicatedReplacingMergeTree(computed_at)",
    "worst_hours": "ReplicatedReplacingMergeTree(computed_at)",
    "answer_places": "ReplicatedReplacingMergeTree(revision)",
    "answer_moves": "ReplicatedReplacingMergeTree(computed_at)",
    "reward_facts": "ReplicatedReplacingMergeTree(revision)",
    "reward_hours": "ReplicatedReplacingMergeTree(computed_at)",
}

_CREATED = re.compile(r"CREATE TABLE IF NOT EXISTS \w+\.(\w+).* ENGINE = (\w+(?:\(\w+\))?)")


class Recorder:
    """Client of an empty database of an engine; it keeps the statements that a migration runs."""

    def __init__(self, engine: str) -> None:
        self.engine = engine
        self.statements: list[str] = []

    async def command(self, statement: str, **_: Any) -> int:
        if statement.startswith("EXISTS"):
            return int("DATABASE" in statement)
        self.statements.append(statement)
        return 0

    async def query(self, statement: str, **_: Any) -> SimpleNamespace:
        return SimpleNamespace(result_rows=[(self.engine,)] if "system.databases" in statement else [])

    async def insert(self, *_: Any, **__: Any) -> None:
        """Register a migration."""


async def statements_in(engine: str) -> list[str]:
    recorder = Recorder(engine)
    await migrate(recorder, "touchstone")  # type: ignore[arg-type]
    return recorder.statements


async def parsed(client: AsyncClient, statement: str) -> str:
    """Return the statement as ClickHouse writes it.

    Raises:
        DatabaseError: it does not follow the grammar.
    """
    rows = await client.query("SELECT formatQuerySingleLine({statement:String})", parameters={"statement": statement})
    return str(rows.result_rows[0][0])


async def test_every_statement_is_parsed_and_every_table_has_its_engine(empty_database: AsyncClient) -> None:
    written = [await parsed(empty_database, statement) for statement in await statements_in("Replicated")]
    tables = {match[1]: match[2] for text in written if (match := _CREATED.match(text))}
    assert tables == ENGINES
    expected = [each for migration in read_migrations() for each in migration.statements if not REKEY.fullmatch(each)]
    assert len(written) == len(expected) + 2  # the register, and its column


async def test_a_statement_beyond_the_grammar_is_noticed(empty_database: AsyncClient) -> None:
    with pytest.raises(DatabaseError, match="Syntax error"):
        await parsed(empty_database, "CREATE TABLE t (a Int8) ENGINE = ReplicatedMergeTree ORDER a")


async def test_replicas_remember_as_many_inserts_as_a_single_server() -> None:
    def windows(texts: list[str], name: str) -> list[str]:
        return [window for text in texts for window in re.findall(rf"\b{name} = (\d+)", text)]

    alone, together = await statements_in("Atomic"), await statements_in("Replicated")
    assert windows(together, "replicated_deduplication_window") == windows(alone, "non_replicated_deduplication_window")
    assert not windows(together, "non_replicated_deduplication_window")


async def test_only_engines_and_windows_differ() -> None:
    def plain(text: str) -> str:
        return text.replace("ENGINE = Replicated", "ENGINE = ").replace(
            " replicated_deduplication", " non_replicated_deduplication"
        )

    alone, together = await statements_in("Atomic"), await statements_in("Replicated")
    assert [plain(text) for text in together] == alone


async def test_the_engine_of_the_database_decides(empty_database: AsyncClient, database: str) -> None:
    await empty_database.command(f"CREATE DATABASE {database}")
    assert await renderer(empty_database, database) is as_written
    assert await renderer(Recorder("Replicated"), database) is replicated  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("shown", "rendered"),
    [
        (
            "ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', rank) ORDER BY a",
            "ENGINE = ReplicatedReplacingMergeTree(rank) ORDER BY a",
        ),
        (
            "ENGINE = ReplicatedMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}') ORDER BY a",
            "ENGINE = ReplicatedMergeTree ORDER BY a",
        ),
        ("ENGINE = SharedReplacingMergeTree(rank) ORDER BY a", "ENGINE = SharedReplacingMergeTree(rank) ORDER BY a"),
        ("ENGINE = ReplacingMergeTree ORDER BY a", "ENGINE = ReplicatedReplacingMergeTree ORDER BY a"),
    ],
)
def test_engines_that_a_server_shows_are_rendered_too(shown: str, rendered: str) -> None:
    assert replicated(shown) == rendered


async def test_a_quorum_goes_with_every_statement(settings: Settings, addresses: Addresses) -> None:
    for quorum in (0, 2):
        settings.clickhouse.insert_quorum = quorum
        client = await connect(settings.clickhouse, addresses.clickhouse)
        assert str(await client.command("SELECT toString(getSetting('insert_quorum'))")) == str(quorum)
        await client.close()
