"""A replay judges what was, beside the live stream, and nothing else follows from it."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient
from pydantic import SecretStr

from schemas.enriched import EnrichedAnswer
from schemas.export import example
from schemas.identifiers import person_digest
from schemas.privacy import Erasure
from schemas.topics import (
    ALERTS_RAISED,
    ANSWERS_ENRICHED,
    ANSWERS_GENERATED,
    ANSWERS_RELEASED,
    FEEDBACK_ANALYTICS,
    FEEDBACK_EVENTS,
    FEEDBACK_REWARDS,
    MEMORY_TURNS,
    PRIVACY_ERASURES,
    REVIEW_REQUESTS,
    SHADOWED,
    shadow,
)
from tests.harness.answers import identifier, records
from tests.harness.deployment import Deployment, until
from tests.harness.forked_process import ForkedProcess
from tests.harness.pipeline import EXAMPLES
from tests.integration.runtime.test_seen_versions import touchstone
from workers.agents.analytics import ANALYTICS
from workers.agents.memory import MEMORY
from workers.agents.release import RELEASE
from workers.archive.archive_files import Archive
from workers.cli.operator import operator
from workers.delivery.records import Record
from workers.delivery.topics.topic_administration import TopicAdministration
from workers.inference.backends import EmbeddingBackend
from workers.privacy.record_masking import Privacy
from workers.replay.replay_opening import Listeners, count_replay, open_replay
from workers.replay.replay_options import ReplayOptions, read_offsets
from workers.replay.replay_run import Replay, ReplayRefused
from workers.settings import PrivacySettings, ReplaySettings, Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.clickhouse.rollups import refresh_rollups
from workers.stores.queries.runs.run_queries import RunStore

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

AGES_AGO = datetime(2026, 1, 1, tzinfo=UTC)
SILENT = Listeners(lambda _: None, lambda _, __: None, lambda _: None)
STRICTER = 0.93
"""Gate score; as shipped it is 0.8."""

OTHER = {
    "answer_id": "other", "query": "When is the pump serviced?", "answer": "The pump is serviced each 1 May [1].",
    "contexts": [{"chunk_id": "c-1", "content": "Service of the pump: 1 May."}], "completed_at": "2026-11-02T08:00:00Z",
}  # fmt: skip
"""One answer that stands by itself."""

pytestmark = pytest.mark.timeout(1200)


class Stream:
    """A deployment whose worker has judged some answers."""

    def __init__(self, addresses: Addresses, directory: Path, backend: EmbeddingBackend, int8: Path) -> None:
        self.deployment = Deployment(addresses, directory, int8=int8)
        self.backend = backend
        self.client: AsyncClient

    async def open(self) -> None:
        await self.deployment.prepare()
        self.client = await self.deployment.client()

    async def close(self) -> None:
        await self.client.close()
        await self.deployment.close()

    async def judged(self, least: int, run: str = "live") -> None:
        async def there() -> bool:
            sql = f"SELECT count() FROM {{db}}.answers FINAL WHERE run = '{run}' AND NOT degraded"
            return int((await self.deployment.query(self.client, sql))[0]) >= least

        await until(there, f"{least} answers of {run}", 900)
        await self.deployment.caught_up(ANALYTICS, FEEDBACK_ANALYTICS)

    async def replay(self, run: str, settings: Settings | None = None, **options: Any) -> dict[str, int]:
        """Replay to the end; what was counted."""
        chosen = ReplayOptions(run=run, **({"since": AGES_AGO} | options))
        settings = settings or self.deployment.settings
        async with open_replay(settings, self.deployment.addresses, chosen, SILENT, backend=self.backend) as replay:
            assert isinstance(replay, Replay)
            row = await replay.run()
            assert row.state == "finished"
            return row.counts

    async def counted(self, **options: Any) -> dict[str, int]:
        """What a replay would read."""
        chosen = ReplayOptions(run="counted", **({"since": AGES_AGO} | options))
        return await count_replay(self.deployment.settings, self.deployment.addresses, chosen, SILENT)

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
async def stream(
    addresses: Addresses, tmp_path: Path, int8: EmbeddingBackend, int8_folder: Path
) -> AsyncIterator[Stream]:
    stream = Stream(addresses, tmp_path, int8, int8_folder)
    await stream.open()
    try:
        yield stream
    finally:
        await stream.close()


async def test_the_same_version_judges_the_same_again_also_what_was_compared_with_memory(stream: Stream) -> None:
    deployment = stream.deployment
    await deployment.start_worker()
    chosen = EXAMPLES[::12]
    await deployment.send([(each["answer_id"].encode(), json.dumps(each).encode()) for each in chosen])
    await stream.judged(len(chosen))
    # The same questions again, once the first answers are remembered.
    again = [
        each | {"answer_id": f"again-{each['answer_id']}", "completed_at": "2026-11-20T10:00:00Z"} for each in chosen
    ]

    await deployment.caught_up(RELEASE, ANSWERS_ENRICHED)
    await deployment.caught_up(MEMORY, MEMORY_TURNS)
    await deployment.send([(each["answer_id"].encode(), json.dumps(each).encode()) for each in again])
    await stream.judged(2 * len(chosen))
    compared = [
        json.loads(record.value or b"")["quality"].get("consistency")
        for record in await deployment.read(ANSWERS_ENRICHED)
    ]
    assert any(each and each.get("earlier") for each in compared), "memory must have taken part"
    await deployment.stop()
    before = await stream.sizes()
    counts = await stream.replay("same")
    assert counts == {"read": 2 * len(chosen), "judged": 2 * len(chosen)}
    for table in TABLES:
        live = await stream.judgements(table, "live")
        assert live and await stream.judgements(table, "same") == live, table
    assert await stream.sizes() == before, "nothing follows from a replay"
    written = await deployment.read(shadow(ANSWERS_ENRICHED, "same"))
    assert sorted(json.loads(record.value or b"")["run"] for record in written) == ["same"] * len(written)
    assert {dict(record.headers)["replay_id"] for record in written} == {b"same"}


@pytest.mark.long
async def test_live_answers_and_a_replay_of_them_all_keep_apart(stream: Stream) -> None:
    """As many as TOUCHSTONE_REPLAY_ANSWERS says; a replay of all, by another threshold, while further ones come in."""
    count = int(os.environ.get("TOUCHSTONE_REPLAY_ANSWERS", "80"))
    deployment = stream.deployment
    await deployment.start_worker()
    await deployment.send(records(count))
    await stream.judged(count // 4)
    settings = deployment.settings
    settings.gate = settings.gate.model_copy(update={"gate_score": STRICTER})
    replaying = asyncio.ensure_future(stream.replay("stricter", settings))
    try:
        await deployment.send(records(count // 4, start=count))
        done = await replaying
    finally:
        replaying.cancel()
    # Bounded by what was there at its start: all of the first, and as many of the others as had arrived.
    assert count <= done["judged"] <= count + count // 4
    await stream.judged(count + count // 4)
    await deployment.caught_up(RELEASE, ANSWERS_ENRICHED)
    for run, least in (("live", count + count // 4), ("stricter", done["judged"])):
        rows = f"SELECT count(), uniqExact(answer_id), countIf(degraded) FROM {{db}}.answers FINAL WHERE run = '{run}'"
        assert await deployment.query(stream.client, rows) == (least, least, 0), run
        twice = f"SELECT count() FROM {{db}}.answers WHERE run = '{run}'"
        assert (await deployment.query(stream.client, twice))[0] == least, f"{run}: a row was written twice"
    released = [json.loads(record.value or b"") for record in await deployment.read(ANSWERS_RELEASED)]
    assert len(released) == count + count // 4, "a replay releases nothing"
    assert len({each["pipeline_version"] for each in released}) == 1
    for topic in (REVIEW_REQUESTS, ALERTS_RAISED, MEMORY_TURNS, FEEDBACK_EVENTS):
        identifiers = [dict(record.headers)["ce_id"] for record in await deployment.read(topic)]
        assert len(identifiers) == len(set(identifiers)), f"{topic.name}: a replay added what live answers had already"
    sql = """
        SELECT answer_id, state, reasons, gate_score, risk_mode FROM {db}.answers FINAL WHERE run = '{run}' ORDER BY answer_id
    """
    before = {row[0]: row[1:] for row in await stream.rows(sql, "live")}
    after = {row[0]: row[1:] for row in await stream.rows(sql, "stricter")}
    moved = {name for name, row in after.items() if row != before[name]}
    must = {
        name
        for name, (_, reasons, score, mode) in before.items()
        # An observer does not look at the gate score.
        if name in after
        and mode == "gatekeeper"
        and score is not None
        and score < STRICTER
        and "gate_score_below_minimum" not in reasons
    }
    assert must and moved == must
    code, output, errors = await touchstone(deployment, "compare", "live", "stricter", "--json", "--top", str(count))
    assert code == 0, errors
    compared = json.loads(output)
    assert {each["answer_id"] for each in compared["answers"]} == must


@pytest.mark.long
async def test_a_replay_that_was_killed_goes_on_and_ends_as_one_that_ran_through(stream: Stream) -> None:
    count = 320  # more than a replay writes at once
    deployment = stream.deployment
    await deployment.send(records(count))
    assert (await stream.replay("whole"))["judged"] == count
    process = ForkedProcess.start(
        "workers.cli", ["replay", "--from", "2026-01-01", "--version", "killed"],
        deployment.directory, deployment._environment(), deployment.directory / "killed.log",
    )  # fmt: skip
    try:

        async def some() -> bool:
            sql = "SELECT JSONExtractUInt(counts, 'judged') FROM {db}.replays FINAL WHERE run = 'killed'"
            rows = await stream.rows(sql)
            return bool(rows) and rows[0][0] > 0

        await until(some, "something is stored", 300, 0.02)
    finally:
        process.kill()
        await process.wait()
    ((state, counts),) = await stream.rows("SELECT state, counts FROM {db}.replays FINAL WHERE run = 'killed'")
    assert state == "running" and 0 < json.loads(counts)["judged"] < count

    async def resumed() -> dict[str, Any]:
        code, output, errors = await touchstone(deployment, "replay", "--resume", "killed", "--json")
        assert code == 0, errors
        found: dict[str, Any] = json.loads(output)
        return found

    # What arrives meanwhile was not there at its start.
    await deployment.send(records(5, prefix="late"))
    code, _, errors = await touchstone(deployment, "replay", "--from", "2026-01-02", "--version", "killed")
    assert code == 1 and "since was" in errors
    done = await resumed()
    assert (done["state"], done["counts"]["judged"], done["counts"]["read"]) == ("finished", count, count)
    assert done["judged_here"] == count - json.loads(counts)["judged"]
    for table in TABLES:
        assert await stream.judgements(table, "killed") == await stream.judgements(table, "whole"), table
    again = await resumed()
    assert (again["state"], again["judged_here"]) == ("finished", 0)


async def test_an_archive_and_a_file_replay_to_the_same_as_the_topic(stream: Stream) -> None:
    deployment = stream.deployment
    await deployment.send(records(60))
    await deployment.send([(b"broken", b"{"), (b"other", json.dumps(OTHER).encode())])
    stored = example(EnrichedAnswer) | {"answer_id": identifier(0), "tenant": "chaos"}
    await deployment.send([(b"stored", json.dumps(stored).encode())], ANSWERS_ENRICHED)
    counts = await stream.replay("topic")
    assert counts == {"read": 62, "judged": 61, "unreadable": 1, "without stored result": 60}
    code, _, errors = await touchstone(deployment, "archive", "write", "kept")
    assert code == 0, errors
    kept = str(deployment.directory / "kept")
    assert await stream.replay("archive", source="archive", path=kept, since=None) == counts
    lines = [value for _, value in records(60)] + [json.dumps(OTHER).encode()]
    path = deployment.directory / "answers.jsonl"
    path.write_bytes(b"\n".join(lines))
    assert (await stream.replay("file", source="answers", path=str(path), since=None))["judged"] == 61
    for table in TABLES:
        expected = await stream.judgements(table, "topic")
        assert await stream.judgements(table, "archive") == expected, table
    texts = "SELECT answer_id, grounding_score, quality_score, state FROM {db}.answers FINAL WHERE run = '{run}' ORDER BY answer_id"
    assert await stream.rows(texts, "file") == await stream.rows(texts, "topic")


async def test_a_replay_that_was_removed_can_be_made_again_with_every_row(stream: Stream) -> None:
    deployment = stream.deployment
    await deployment.send([(b"other", json.dumps(OTHER).encode())])
    await stream.replay("again")
    rows = {table: await stream.judgements(table, "again") for table in TABLES}
    assert all(rows.values())
    code, output, errors = await touchstone(deployment, "runs", "delete", "again", "--json")
    assert code == 0, errors
    assert len(json.loads(output)["topics"]) == len(SHADOWED)
    assert not [row for table in TABLES for row in await stream.judgements(table, "again")]
    await stream.replay("again")
    for table in TABLES:
        assert await stream.judgements(table, "again") == rows[table], table


async def test_of_two_at_one_replay_and_of_one_that_is_removed_meanwhile_nothing_is_noted(stream: Stream) -> None:
    deployment, options = stream.deployment, ReplayOptions(run="twice", since=AGES_AGO)
    await deployment.send([(b"other", json.dumps(OTHER).encode())])
    places = deployment.settings, deployment.addresses
    async with (
        open_replay(*places, options, SILENT, backend=stream.backend) as one,
        open_replay(*places, options, SILENT, backend=stream.backend) as other,
    ):
        assert isinstance(one, Replay) and isinstance(other, Replay)
        assert (await one.run()).state == "finished"
        with pytest.raises(ReplayRefused, match="another process continued or removed the replay twice"):
            await other.run()
    store = RunStore(AnalyticsStore(stream.client, deployment.name), deployment.name)
    async with open_replay(
        *places, options.model_copy(update={"run": "gone"}), SILENT, backend=stream.backend
    ) as third:
        assert isinstance(third, Replay)
        await store.remove("gone", datetime.now(UTC))
        with pytest.raises(ReplayRefused, match="continued or removed the replay"):
            await third.run()
    assert await stream.judgements("answers", "gone") == []


async def test_nobody_comes_back_who_was_erased_under_a_mask_or_in_the_archive_alone(stream: Stream) -> None:
    deployment, settings = stream.deployment, stream.deployment.settings
    settings.privacy = PrivacySettings(mask=("mail",), key=SecretStr("k" * 32))
    own = OTHER | {"user_id": "someone@example.org", "tenant": "acme"}
    await deployment.send(
        [(b"own", json.dumps(own).encode()), (b"other", json.dumps(OTHER | {"answer_id": "b"}).encode())]
    )
    masker = Privacy(settings.privacy, settings.kafka.max_input_bytes).masker("acme")
    known_as = masker.event({"user_id": "someone@example.org"})["user_id"]
    assert known_as != "someone@example.org"
    erasure = Erasure(digest=person_digest("acme", known_as), requested_at=datetime.now(UTC))
    await deployment.send([(erasure.digest.encode(), erasure.to_bytes())], PRIVACY_ERASURES)
    counted = await count_replay(settings, deployment.addresses, ReplayOptions(run="masked", since=AGES_AGO), SILENT)
    assert counted == {"read": 2, "wanted": 1, "erased": 1}

    # An archive whose register knows of an erasure that the broker's does not.
    archive = Archive(deployment.directory / "kept")
    for topic in (ANSWERS_GENERATED, PRIVACY_ERASURES):
        for record in await deployment.read(topic):
            archive.write(
                [Record(topic.name, record.partition, record.offset, record.key, record.value, timestamp=1.0)]
            )
    async with TopicAdministration(settings, deployment.addresses.kafka) as topics:
        await topics.delete([PRIVACY_ERASURES])
        await topics.create()
    options = ReplayOptions(run="archived", source="archive", path=str(deployment.directory / "kept"))
    assert (await count_replay(settings, deployment.addresses, options, SILENT))["erased"] == 1


async def test_only_what_is_asked_for_is_replayed_and_nobody_who_is_erased(stream: Stream) -> None:
    deployment = stream.deployment
    own = [
        OTHER | {"answer_id": f"own-{number}", "user_id": "user-18" if number == 3 else "user-19", "tenant": tenant}
        for number, tenant in enumerate(["acme", "acme", "globex", "acme"])
    ]
    await deployment.send([(each["answer_id"].encode(), json.dumps(each).encode()) for each in own])
    code, _, errors = await touchstone(deployment, "forget", "--tenant", "acme", "--user", "user-18", "--yes")
    assert code == 0, errors

    assert await stream.counted() == {"read": 4, "wanted": 3, "erased": 1}
    assert (await stream.counted(tenant="globex"))["wanted"] == 1
    assert (await stream.counted(model="nobody's"))["filtered"] == 3
    assert (await stream.counted(filter="ends_with(answer_id, '1')"))["wanted"] == 1
    assert (await stream.counted(until=datetime(2026, 1, 2, tzinfo=UTC)))["wanted"] == 0
    places = [
        {"partition": record.partition, "offset": record.offset}
        for record in await deployment.read(ANSWERS_GENERATED)
        if record.key in (b"own-0", b"own-2")
    ]
    path = deployment.directory / "offsets.json"
    path.write_text(json.dumps(places))
    assert (await stream.replay("chosen", since=None, offsets=read_offsets(path)))["judged"] == 2
    found = await stream.rows("SELECT answer_id FROM {db}.answers FINAL WHERE run = 'chosen' ORDER BY answer_id")
    assert found == [("own-0",), ("own-2",)]


async def test_it_waits_while_live_traffic_is_behind_and_goes_on_when_that_has_caught_up(stream: Stream) -> None:
    deployment = stream.deployment
    worker = await deployment.start_worker()
    await deployment.send(records(10))
    await stream.judged(10)
    await deployment.caught_up(RELEASE, ANSWERS_ENRICHED)
    await worker.terminate()
    # Nobody judges these: the groups are 12 records behind, and 8 are allowed.
    await deployment.send(records(12, start=10))
    settings = deployment.settings
    settings.replay = ReplaySettings(max_live_lag=8)
    lags: list[int | None] = []
    listeners = Listeners(lambda _: None, lambda _, __: None, lags.append)
    options = ReplayOptions(run="patient", since=AGES_AGO)
    async with open_replay(settings, deployment.addresses, options, listeners, backend=stream.backend) as replay:
        assert isinstance(replay, Replay)
        running = asyncio.ensure_future(replay.run())

        async def waits() -> bool:
            return len(lags) > 1 or running.done()

        await until(waits, "it waits", 60)
        assert lags[:2] == [12, 12] and not running.done()
        assert await stream.rows("SELECT count() FROM {db}.answers WHERE run = 'patient'") == [(0,)]
        await deployment.start_worker()
        row = await asyncio.wait_for(running, 300)
    assert lags[-1] is None
    assert row.counts["judged"] == 22


async def test_the_commands_judge_anew_what_is_asked_for_let_it_count_and_take_it_back(stream: Stream) -> None:
    deployment = stream.deployment
    # Short answers with context, which are remembered.
    await deployment.start_worker()
    await deployment.send(records(12))
    await stream.judged(12)
    await deployment.caught_up(RELEASE, ANSWERS_ENRICHED)
    await deployment.caught_up(MEMORY, MEMORY_TURNS)
    await deployment.stop()
    turns = len(await deployment.read(MEMORY_TURNS))
    assert turns

    arguments = ("replay", "--from", "2026-01-01", "--version", "again", "--agents", "grounding,quality", "--memory")
    code, output, errors = await touchstone(deployment, *arguments, "--json")
    assert code == 0, errors
    assert json.loads(output)["counts"]["judged"] == 12
    assert len(await deployment.read(MEMORY_TURNS)) == 2 * turns, "asked for, turns are sent again"
    # What was not asked for is the stored report, with the time of the judgement then.
    sql = (
        "SELECT answer_id, citations_seconds, grounding_seconds FROM {db}.answers FINAL WHERE run = '{run}' ORDER BY 1"
    )
    live, again = await stream.rows(sql, "live"), await stream.rows(sql, "again")
    assert [row[:2] for row in again] == [row[:2] for row in live]
    assert [row[2] for row in again] != [row[2] for row in live]

    async def counting() -> list[dict[str, Any]]:
        code, output, errors = await touchstone(deployment, "runs", "list", "--json")
        assert code == 0, errors
        return [each for each in json.loads(output) if each["promoted_hours"]]

    async def counted_by() -> set[str]:
        await refresh_rollups(stream.client, deployment.name)
        sql = "SELECT DISTINCT run FROM {db}.promoted_hours"
        return {row[0] for row in await stream.rows(sql)}

    assert await counting() == [] and await counted_by() == set()
    code, output, errors = await touchstone(deployment, "runs", "promote", "again", "--json")
    assert code == 0, errors
    assert json.loads(output)["promoted"] is True
    assert await counted_by() == {"again"}
    assert [each["run"] for each in await counting()] == ["again"]
    code, _, errors = await touchstone(deployment, "runs", "demote", "again")
    assert code == 0, errors
    assert await counted_by() == set() and await counting() == []
    for arguments in (("list",), ("history",)):
        code, output, errors = await touchstone(deployment, "runs", *arguments, "--json")
        assert code == 0, errors
        rows = json.loads(output)
        changes = next(row for row in rows if row["run"] == "again")["promotions"] if arguments == ("list",) else rows
        assert [each["promoted"] for each in changes] == [True, False]
        assert {each["by"] for each in changes} == {operator()}
    code, _, errors = await touchstone(deployment, "runs", "promote", "nobody")
    assert code == 2 and "there is no replay nobody" in errors and "Traceback" not in errors
