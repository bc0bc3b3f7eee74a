"""A replay judges what was, beside the live stream, and nothing else follows from it."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient

from schemas.topics import (
    ALERTS_RAISED,
    ANSWERS_ENRICHED,
    ANSWERS_RELEASED,
    FEEDBACK_ANALYTICS,
    FEEDBACK_EVENTS,
    FEEDBACK_REWARDS,
    MEMORY_TURNS,
    REVIEW_REQUESTS,
    Topic,
)
from tests.harness.answers import records
from tests.harness.deployment import Deployment, until
from tests.harness.pipeline import EXAMPLES
from tests.integration.test_seen_versions import touchstone
from workers.addresses import Addresses
from workers.replay.outputs import shadow
from workers.replay.throttling import GroupLag

FOLLOWING = (
    ANSWERS_RELEASED, ALERTS_RAISED, REVIEW_REQUESTS, MEMORY_TURNS, FEEDBACK_EVENTS, FEEDBACK_REWARDS,
)  # fmt: skip
"""Topics of what follows from an answer."""

TABLES = ("answers", "claims", "citations", "citation_logs")
NOT_JUDGED = {
    "run", "pipeline_version", "enriched_at", "created_at", "validated_at",
    "citations_seconds", "grounding_seconds", "quality_seconds",
}  # fmt: skip
"""Columns that say when, by whom and how fast; all others are the judgement."""

STRICTER = 0.93
"""Gate score; as shipped it is 0.8."""

pytestmark = pytest.mark.timeout(1200)


class Stream:
    """A deployment whose worker has judged some answers."""

    def __init__(self, addresses: Addresses, directory: Path) -> None:
        self.deployment = Deployment(addresses, directory)
        self.client: AsyncClient

    async def open(self) -> None:
        await self.deployment.prepare()
        self.client = await self.deployment.client()

    async def close(self) -> None:
        await self.deployment.stop()
        await self.client.command(f"DROP DATABASE IF EXISTS {self.deployment.name}")
        await self.client.close()

    async def judged(self, least: int, run: str = "live") -> None:
        async def there() -> bool:
            sql = f"SELECT count() FROM {{db}}.answers FINAL WHERE run = '{run}' AND NOT degraded"
            return int((await self.deployment.query(self.client, sql))[0]) >= least

        await until(there, f"{least} answers of {run}", 900)
        await self.caught_up("analytics", FEEDBACK_ANALYTICS)

    async def caught_up(self, agent: str, topic: Topic) -> None:
        """All that the topic holds by now is acknowledged by the agent."""
        settings = self.deployment.settings
        lag = GroupLag(settings, self.deployment.addresses.kafka, topic, [settings.group_name(agent)])
        await lag.start()
        try:

            async def none() -> bool:
                return await lag.records() == 0

            await until(none, f"{agent} has caught up", 900)
        finally:
            await lag.stop()

    async def replay(self, *arguments: str) -> dict[str, Any]:
        code, output, errors = await touchstone(self.deployment, "replay", *arguments, "--json")
        assert code == 0, errors
        found: dict[str, Any] = json.loads(output)
        return found

    async def judgements(self, table: str, run: str) -> list[tuple[Any, ...]]:
        """Rows of a run, without what differs between any two runs."""
        name = self.deployment.name
        result = await self.client.query(f"SELECT * FROM {name}.{table} FINAL WHERE run = '{run}'")
        kept = [column for column in result.column_names if column not in NOT_JUDGED]
        return sorted(tuple(str(row[column]) for column in kept) for row in result.named_results())

    async def rows(self, sql: str, run: str = "live") -> list[tuple[Any, ...]]:
        """Rows of a query; ``{db}`` is the database, ``{run}`` the run."""
        result = await self.client.query(sql.format(db=self.deployment.name, run=run))
        return [tuple(row) for row in result.result_rows]

    async def sizes(self) -> dict[str, int]:
        """Records in the topics of what follows from an answer."""
        return {topic.name: len(await self.deployment.read(topic)) for topic in FOLLOWING}


@pytest.fixture
async def stream(addresses: Addresses, tmp_path: Path) -> AsyncIterator[Stream]:
    stream = Stream(addresses, tmp_path)
    await stream.open()
    try:
        yield stream
    finally:
        await stream.close()


async def test_the_same_version_judges_the_same_again_also_what_was_compared_with_memory(stream: Stream) -> None:
    deployment = stream.deployment
    await deployment.start_worker()
    chosen = EXAMPLES[::6]
    await deployment.send([(each["answer_id"].encode(), json.dumps(each).encode()) for each in chosen])
    await stream.judged(len(chosen))
    # The same questions again, once the first answers are remembered.
    again = [
        each | {"answer_id": f"again-{each['answer_id']}", "completed_at": "2026-11-20T10:00:00Z"} for each in chosen
    ]

    await stream.caught_up("release", ANSWERS_ENRICHED)
    await stream.caught_up("memory", MEMORY_TURNS)
    await deployment.send([(each["answer_id"].encode(), json.dumps(each).encode()) for each in again])
    await stream.judged(2 * len(chosen))
    compared = [
        json.loads(record.value or b"")["quality"]["consistency"] for record in await deployment.read(ANSWERS_ENRICHED)
    ]
    assert any(each and each["earlier"] for each in compared), "memory must have taken part"
    await deployment.stop()
    before = await stream.sizes()
    done = await stream.replay("--from", "1d", "--version", "same")
    assert (done["state"], done["counts"]["judged"]) == ("finished", 2 * len(chosen))
    for table in TABLES:
        live = await stream.judgements(table, "live")
        assert live and await stream.judgements(table, "same") == live, table
    assert await stream.sizes() == before, "nothing follows from a replay"
    written = await deployment.read(shadow(ANSWERS_ENRICHED, "same"))
    assert sorted(json.loads(record.value or b"")["run"] for record in written) == ["same"] * len(written)
    assert {dict(record.headers)["replay_id"] for record in written} == {b"same"}


async def test_live_answers_and_a_replay_of_them_all_keep_apart(stream: Stream) -> None:
    """As many as TOUCHSTONE_REPLAY_ANSWERS says; a replay of all, by another threshold, while further ones come in."""
    count = int(os.environ.get("TOUCHSTONE_REPLAY_ANSWERS", "400"))
    deployment = stream.deployment
    await deployment.start_worker()
    await deployment.send(records(count))
    await stream.judged(count // 4)
    deployment.environment["TOUCHSTONE_GATE__GATE_SCORE"] = str(STRICTER)
    replaying = asyncio.ensure_future(stream.replay("--from", "1d", "--version", "stricter", "--rate", "100000"))
    try:
        await deployment.send(records(count // 4, start=count))
        done = await replaying
    finally:
        replaying.cancel()
    # Bounded by what was there at its start: all of the first, and as many of the others as had arrived.
    assert done["state"] == "finished"
    assert count <= done["counts"]["judged"] <= count + count // 4
    await stream.judged(count + count // 4)
    await stream.caught_up("release", ANSWERS_ENRICHED)
    for run, least in (("live", count + count // 4), ("stricter", done["counts"]["judged"])):
        rows = f"SELECT count(), uniqExact(answer_id), countIf(degraded) FROM {{db}}.answers FINAL WHERE run = '{run}'"
        assert await deployment.query(stream.client, rows) == (least, least, 0), run
        twice = f"SELECT count() FROM {{db}}.answers WHERE run = '{run}'"
        assert (await deployment.query(stream.client, twice))[0] == least, f"{run}: a row was written twice"
    released = [json.loads(record.value or b"") for record in await deployment.read(ANSWERS_RELEASED)]
    assert len(released) == count + count // 4, "a replay releases nothing"
    assert len({each["pipeline_version"] for each in released}) == 1
    sql = """
        SELECT answer_id, state, reasons, gate_score FROM {db}.answers FINAL WHERE run = '{run}' ORDER BY answer_id
    """
    before = {row[0]: row[1:] for row in await stream.rows(sql, "live")}
    after = {row[0]: row[1:] for row in await stream.rows(sql, "stricter")}
    moved = {name for name, row in after.items() if row != before[name]}
    must = {
        name
        for name, (_, reasons, score) in before.items()
        if name in after and score is not None and score < STRICTER and "gate_score_below_minimum" not in reasons
    }
    assert must and moved == must
