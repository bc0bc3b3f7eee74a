"""Every store is deleted and rebuilt from the log, and compared by the tests themselves with what it held."""

import asyncio
import json
import re
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence, Set
from pathlib import Path
from typing import Any

import pytest

from schemas.export import example
from schemas.feedback import ModelPosterior
from schemas.identifiers import answer_digest, person_digest
from schemas.privacy import Erasure
from schemas.review import ReviewEvent
from schemas.topics import (
    FEEDBACK_ANALYTICS,
    MEMORY_TURNS,
    PRIVACY_ERASURES,
    REVIEW_EVENTS,
    ROUTING_POSTERIORS,
    TOPICS,
    Topic,
)
from tests.harness.deployment import Deployment, until
from tests.harness.forked_process import ForkedProcess, run_forked
from tests.harness.pipeline import EXAMPLES, UNHURRIED, Pipeline, records
from tests.integration.runtime.test_seen_versions import touchstone
from workers.archive import archive_copy as archiving
from workers.delivery.records import Record
from workers.delivery.topics.topic_administration import TopicAdministration
from workers.rebuild import store_rebuild as rebuilding_stores
from workers.rebuild.rebuild_result import Rebuilt
from workers.rebuild.rebuild_sources import RecordSource
from workers.rebuild.rebuild_targets import Store
from workers.rebuild.store_rebuild import rebuild
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.retention import FIGURES, TIMES
from workers.stores.clickhouse.rows.recorded_rows import stored_rows
from workers.stores.lancedb.memory_store import MemoryStore

pytestmark = pytest.mark.timeout(900)

ANSWERS = EXAMPLES[::10]
TABLES = ("versions", *TIMES, *FIGURES)
CLOCKS = {"received_at", "stored_at", "inserted_at"}
"""Columns that say when a row was inserted."""

PROCESSED = {
    "validated_at", "enriched_at", "raised_at", "requested_at", "deadline_at", "request", "computed_at", "failed_at", "started_at",
    "citations_seconds", "grounding_seconds", "quality_seconds", "seconds_sum", "seconds_max", "revision",
}  # fmt: skip
"""Columns that say when an answer was processed, and how fast."""

WRITTEN_NOW = {"implicit_feedback": {"created_at"}, "answer_moves": {"computed_at"}} | {
    table: {"computed_at"} for table in FIGURES if table.endswith("_hours")
}
RECOMPUTED = {"rewards": {"computed_at", "elsewhere"}}
"""Rewards that are kept for ever do not say where else an answer was counted."""

LATE = 8
"""Records that come while a store is rebuilt; more than it reads meanwhile."""

Contents = dict[str, list[str]]


class Site:
    """Answers judged by a real worker that has ended since, and what its stores hold."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline, self.deployment, self.run = pipeline, pipeline.deployment, pipeline.runner.run
        self.tables: Contents = {}
        self.judged: Contents = {}
        self.turns: dict[str, dict[str, Any]] = {}
        self.posteriors: dict[bytes, ModelPosterior] = {}

    async def fill(self) -> None:
        """Judge answers, wait for every store, end the worker and note what is there."""
        await self.pipeline.fill()
        await self.deployment.send([(b"unreadable", b"{")])
        event = example(ReviewEvent) | {"answer_id": ANSWERS[0]["answer_id"]}
        await self.deployment.send([(event["answer_id"].encode(), json.dumps(event).encode())], REVIEW_EVENTS)
        client = await self.pipeline.client()
        try:
            await self.pipeline.rows(client, "dead_letters", 1)
            await self.pipeline.rows(client, "review_events", 1)
            await self.pipeline.settled(client)
        finally:
            await client.close()

        async def published() -> bool:
            return bool(await last_posteriors(self.deployment))

        await until(published, "posteriors", 60)
        await self.deployment.workers[0].terminate()
        self.tables = await tables_of(self.pipeline)
        self.judged = await tables_of(self.pipeline, PROCESSED)
        self.turns = await turns_of(self.deployment)
        self.posteriors = await last_posteriors(self.deployment)

    def command(self, *statements: str) -> None:
        """Do something to ClickHouse that nobody should."""

        async def act() -> None:
            client = await self.pipeline.client()
            try:
                for statement in statements:
                    await client.command(statement)
            finally:
                client.database = None
                await client.close()

        self.run(act())

    def rebuild(self, store: Store, *, verified: bool = True, dry_run: bool = False) -> Rebuilt:
        """Rebuild a store from the topics."""
        done = self.run(rebuilt(self.deployment, store, dry_run=dry_run))
        assert done.is_verified is verified, done
        return done


async def rebuilt(deployment: Deployment, store: Store, **how: Any) -> Rebuilt:
    return await rebuild(store, deployment.settings, deployment.addresses, lambda *_: None, **how)


def differing(done: Rebuilt) -> dict[str, tuple[int, int]]:
    """What was missing and what was different, by part."""
    return {name: (part.missing, part.different) for name, part in done.parts.items() if not part.are_none}


def untimed(row: str) -> str:
    """Return a row without the time of its evaluation."""
    return re.sub(r"'enriched_at': datetime\.datetime\([\d, ]+\)", "", row)


async def tables_of(pipeline: Pipeline, further: Set[str] = frozenset()) -> Contents:
    """Every row of every table, but for when it was written and further columns."""
    client = await pipeline.client()
    found = {}
    try:
        for table in TABLES:
            left_out = CLOCKS | further | WRITTEN_NOW.get(table, set())
            columns = [
                name
                for name, kind in (
                    await client.query(f"SELECT name, type FROM system.columns WHERE database = '{pipeline.deployment.name}' "
                    f"AND table = '{table}' AND default_kind != 'ALIAS'")
                ).result_rows
                if name not in left_out and not kind.startswith("AggregateFunction")
            ]  # fmt: skip
            # A refresh of answer_moves writes a row without a tenant, which says that it has looked.
            where = "WHERE tenant != ''" if table == "answer_moves" else ""
            rows = await client.query(f"SELECT {', '.join(columns)} FROM {table} FINAL {where}")
            found[table] = sorted(str(dict(row)) for row in rows.named_results())
    finally:
        await client.close()
    return found


async def turns_of(deployment: Deployment) -> dict[str, dict[str, Any]]:
    """Every turn with its vector, by its answer."""
    store = MemoryStore(deployment.settings.memory_uri, 384)
    await store.open()
    try:
        rows = (await store._table.query().to_arrow()).to_pylist()
    finally:
        await store.close()
    return {row["answer_id"]: row for row in rows}


async def last_posteriors(deployment: Deployment) -> dict[bytes, ModelPosterior]:
    """What compaction would keep, without the time of the computation."""
    found: dict[bytes, ModelPosterior] = {}
    for record in await deployment.read(ROUTING_POSTERIORS):
        found.pop(record.key, None)
        if record.value is not None:
            found[record.key] = ModelPosterior.from_bytes(record.value)
    return found


@pytest.fixture(scope="module")
def site(addresses: Addresses, tmp_path_factory: pytest.TempPathFactory, int8_folder: Path) -> Iterator[Site]:
    directory = tmp_path_factory.mktemp("rebuild")
    deployment = Deployment(addresses, directory, environment=dict(UNHURRIED), int8=int8_folder)
    with asyncio.Runner() as runner:
        filled = Site(Pipeline(deployment, runner, ANSWERS))
        try:
            runner.run(filled.fill())
            yield filled
        finally:
            runner.run(deployment.close())


def test_the_site_holds_what_the_tests_are_about(site: Site) -> None:
    empty = {table for table, rows in site.tables.items() if not rows}
    assert empty <= {"insights", "accesses", "scores", "answer_moves"}, (
        "nothing of these would show that they come back"
    )
    assert len(site.turns) > 3
    assert any(turn["user_feedback"] is not None for turn in site.turns.values())
    assert len(site.posteriors) > 1


def test_tables_that_were_deleted_hold_again_what_they_held_and_a_second_time_changes_nothing(site: Site) -> None:
    site.command(
        "DROP TABLE review_queue SYNC", "DROP TABLE answers SYNC", "DROP TABLE citations_by_id SYNC",
        "DROP VIEW answer_hours_refresh", "TRUNCATE TABLE claims", "TRUNCATE TABLE reward_facts", "TRUNCATE TABLE stage_hours",
    )  # fmt: skip
    done = site.rebuild(Store.CLICKHOUSE)
    assert site.run(tables_of(site.pipeline)) == site.tables
    assert done.restored["answers"] == done.parts["answers"].expected == len(ANSWERS)
    assert all(part.checksum == part.checksum_found for part in done.parts.values())
    assert site.rebuild(Store.CLICKHOUSE).restored == {}
    assert site.run(tables_of(site.pipeline)) == site.tables


def test_a_row_that_is_missing_or_wrong_is_named_and_put_right(site: Site) -> None:
    ((citation, claim),) = site.pipeline.ask(
        "SELECT (SELECT min(citation_id) FROM citations), min(claim_id) FROM claims"
    )
    site.command(
        f"ALTER TABLE claims UPDATE verdict = 'certain' WHERE claim_id = '{claim}' SETTINGS mutations_sync = 2",
        f"ALTER TABLE citations DELETE WHERE citation_id = '{citation}' SETTINGS mutations_sync = 2",
        f"ALTER TABLE citations_by_id DELETE WHERE citation_id = '{citation}' SETTINGS mutations_sync = 2",
    )
    before = site.run(tables_of(site.pipeline))
    code, output, errors = site.run(touchstone(site.deployment, "rebuild", "clickhouse", "--dry-run"))
    assert (code, "nothing was changed" in output) == (1, True), errors
    told = [line for line in errors.splitlines() if "differs:" in line]
    assert [line.partition(", such as")[0] for line in told] == [
        "claims differs: 0 missing, 1 different", "citations differs: 1 missing, 0 different",
    ]  # fmt: skip
    assert claim in told[0]
    assert citation in told[1]
    assert site.run(tables_of(site.pipeline)) == before, "a dry run changes nothing"
    code, output, errors = site.run(touchstone(site.deployment, "rebuild", "clickhouse", "--json"))
    told_json = json.loads(output)
    assert (code, told_json["verified"], told_json["dry_run"]) == (0, True, False), errors
    restored = {part["name"]: part["restored"] for part in told_json["parts"] if part["restored"]}
    assert restored == {"claims": 1, "citations": 1}
    assert all(part["checksum"] == part["checksum_found"] for part in told_json["parts"])
    assert site.run(tables_of(site.pipeline)) == site.tables


def test_what_is_shown_of_a_citation_is_compared_too(site: Site) -> None:
    """It stands as JSON in one column of the table that look-ups read."""
    site.command(
        'ALTER TABLE citations_by_id UPDATE detail = replaceOne(detail, \'"chunk_id":"\', \'"chunk_id":"wrong\') '
        "WHERE citation_id = (SELECT min(citation_id) FROM citations_by_id) SETTINGS mutations_sync = 2"
    )
    assert site.run(tables_of(site.pipeline)) != site.tables
    assert site.rebuild(Store.CLICKHOUSE).restored == {"citations_by_id": 1}
    assert site.run(tables_of(site.pipeline)) == site.tables


def test_what_is_wrong_and_newer_than_any_record_is_left_alone_and_told(site: Site) -> None:
    """As a letter's mark of requeueing, which no topic tells; its text does not become right by it."""
    mark = "INSERT INTO dead_letters SELECT * REPLACE (1 AS revision, 'wrong' AS error) FROM dead_letters FINAL"
    site.command(mark)
    try:
        done = site.rebuild(Store.CLICKHOUSE, verified=False)
        assert differing(done) == {"dead_letters": (0, 1)}
    finally:
        site.command("ALTER TABLE dead_letters DELETE WHERE revision = 1 SETTINGS mutations_sync = 2")
    assert site.run(tables_of(site.pipeline)) == site.tables


def test_the_queue_that_was_deleted_comes_back_with_its_decisions(site: Site) -> None:
    tables = ("reviews", "review_queue", "review_decisions", "review_events")
    site.command(*(f"TRUNCATE TABLE {table}" for table in tables))
    assert tuple(site.rebuild(Store.QUEUE).parts) == tables
    assert site.run(tables_of(site.pipeline)) == site.tables


def test_rewards_that_were_deleted_come_back_with_the_feedback_that_they_are_made_of(site: Site) -> None:
    site.command(*(f"TRUNCATE TABLE {table}" for table in ("feedback", "implicit_feedback", "rewards", "reward_facts")))
    site.rebuild(Store.REWARDS)
    assert site.run(tables_of(site.pipeline)) == site.tables


def test_memory_that_was_removed_comes_back_with_vectors_and_what_people_thought(site: Site) -> None:
    shutil.rmtree(site.deployment.settings.memory_uri)
    counted = site.rebuild(Store.MEMORY, verified=False, dry_run=True)
    assert counted.parts["episodic_memory"].missing == len(site.turns)
    assert not Path(site.deployment.settings.memory_uri).exists()
    assert site.rebuild(Store.MEMORY).restored["episodic_memory"] == len(site.turns)
    found = site.run(turns_of(site.deployment))
    assert {name: turn | {"vector": None} for name, turn in found.items()} == {
        name: turn | {"vector": None} for name, turn in site.turns.items()
    }
    for name, turn in found.items():
        assert turn["vector"] == pytest.approx(site.turns[name]["vector"], abs=1e-5)
    assert site.rebuild(Store.MEMORY).restored == {}


def test_a_turn_that_is_missing_or_wrong_is_named_and_put_right(site: Site) -> None:
    missing, wrong, unrated = sorted(site.turns, key=lambda name: site.turns[name]["user_feedback"] is not None)[-3:]

    async def spoil() -> None:
        store = MemoryStore(site.deployment.settings.memory_uri, 384)
        await store.open()
        await store._table.delete(f"answer_id = '{missing}'")
        await store._table.update({"response": "Something else."}, where=f"answer_id = '{wrong}'")
        await store._table.update({"user_feedback": 0.123}, where=f"answer_id = '{unrated}'")
        await store.close()

    site.run(spoil())
    assert differing(site.rebuild(Store.MEMORY, verified=False, dry_run=True)) == {"episodic_memory": (1, 2)}
    site.rebuild(Store.MEMORY)
    found = site.run(turns_of(site.deployment))
    assert {name: turn | {"vector": None} for name, turn in found.items()} == {
        name: turn | {"vector": None} for name, turn in site.turns.items()
    }


def test_posteriors_are_published_where_readers_know_others_none_or_too_many(site: Site) -> None:
    site.rebuild(Store.POSTERIORS)  # what the worker had not told yet when it ended
    told_before = site.run(last_posteriors(site.deployment))
    assert told_before.keys() == site.posteriors.keys()
    first, second = sorted(told_before)[:2]
    gone = b'["acme-ops","withdrawn",""]'
    wrong = told_before[second].model_copy(update={"alpha": 99.0})
    site.run(
        site.deployment.send(
            [(first, None), (second, wrong.to_bytes()), (gone, told_before[first].to_bytes())], ROUTING_POSTERIORS
        )
    )
    assert differing(site.rebuild(Store.POSTERIORS, verified=False, dry_run=True)) == {"routing.posteriors": (1, 2)}
    site.rebuild(Store.POSTERIORS)
    found = site.run(last_posteriors(site.deployment))
    assert {key: (each.alpha, each.beta) for key, each in found.items()} == {
        key: pytest.approx((each.alpha, each.beta), rel=0.01) for key, each in told_before.items()
    }, "but for the hours that may have passed"
    assert site.rebuild(Store.POSTERIORS).restored == {}


def test_a_database_that_was_dropped_comes_back_also_where_the_first_rebuild_was_killed(site: Site) -> None:
    site.command(f"DROP DATABASE {site.deployment.name}")

    async def kill_in_mid_work() -> None:
        folder = site.deployment.directory
        process = ForkedProcess.start(
            "workers.cli", ["rebuild", "clickhouse"], folder, site.deployment._environment(), folder / "rebuild.log"
        )
        client = await site.deployment.client()

        async def staged() -> bool:
            sql = "SELECT sum(total_rows) FROM system.tables WHERE database = '{db}' AND startsWith(name, 'rebuild_')"
            return bool((await site.deployment.query(client, sql))[0])

        try:
            await until(staged, "rows are staged", 60, 0.02)
            process.kill()
        finally:
            await process.wait()
            await client.close()

    site.run(kill_in_mid_work())
    site.rebuild(Store.CLICKHOUSE)
    assert site.run(tables_of(site.pipeline)) == site.tables


def test_a_drill_restores_everything_apart_and_leaves_nothing_behind(site: Site) -> None:
    """The command proves that the topics suffice, and neither the database of the workers nor the server is changed."""
    done = site.run(
        run_apart(site.deployment, "rebuild", "clickhouse", "--drill", "--json"),
    )
    assert done["verified"], done
    restored = {part["name"]: part["restored"] for part in done["parts"]}
    assert restored["answers"] == len(site.tables["answers"])
    assert restored["claims"] == len(site.tables["claims"])
    assert site.run(tables_of(site.pipeline)) == site.tables
    assert site.run(databases_of(site)) == 1


async def run_apart(deployment: Deployment, *command: str) -> dict[str, Any]:
    _, output, _ = await run_forked(*command, folder=deployment.directory, environment=deployment._environment())
    found: dict[str, Any] = json.loads(output)
    return found


async def databases_of(site: Site) -> int:
    client = await site.deployment.client()
    try:
        sql = "SELECT count() FROM system.databases WHERE startsWith(name, '{db}')"
        return int((await site.deployment.query(client, sql))[0])
    finally:
        await client.close()


@pytest.fixture(scope="module")
def archive(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every topic of the site."""
    folder = tmp_path_factory.mktemp("kept")
    write = archiving.write_archive(
        site.deployment.settings, site.deployment.addresses, folder, TOPICS, lambda *_: None
    )
    site.run(write)
    return folder


async def elsewhere(site: Site, path: Path) -> Pipeline:
    """A broker that knows nothing, and no tables."""
    deployment = Deployment(site.deployment.addresses, path, environment=dict(UNHURRIED), int8=site.deployment.int8)
    async with TopicAdministration(deployment.settings, deployment.addresses.kafka) as administration:
        await administration.create()
    return Pipeline(deployment, site.pipeline.runner, ANSWERS)


def test_an_archive_gives_what_topics_give(site: Site, archive: Path, tmp_path: Path) -> None:
    target = site.run(elsewhere(site, tmp_path))
    for store in (Store.CLICKHOUSE, Store.MEMORY):
        done = site.run(rebuilt(target.deployment, store, archive=archive))
        assert done.is_verified
        assert {name.split()[0] for name in done.records} == {"archive"}
    assert site.run(tables_of(target)) == site.tables
    assert site.run(turns_of(target.deployment)).keys() == site.turns.keys()


def test_who_was_erased_since_does_not_come_back_from_an_archive(site: Site, archive: Path, tmp_path: Path) -> None:
    one = next(
        each for each in ANSWERS if each.get("user_id", "user-17") != "user-17" and each["answer_id"] in site.turns
    )
    tenant, user = one["tenant"], one["user_id"]  # as user-17 the tests' reviewers decide
    theirs = {each["answer_id"] for each in ANSWERS if (each["tenant"], each.get("user_id")) == (tenant, user)}
    target = site.run(elsewhere(site, tmp_path))
    erasure = Erasure(
        digest=person_digest(tenant, user), tenant=tenant, requested_at="2026-12-01T00:00:00Z",
        answers=[answer_digest(tenant, name) for name in theirs],
    )  # fmt: skip
    site.run(target.deployment.send([(erasure.digest.encode(), erasure.to_bytes())], PRIVACY_ERASURES))
    for store in (Store.CLICKHOUSE, Store.MEMORY):
        done = site.run(rebuilt(target.deployment, store, archive=archive))
        assert done.is_verified
        assert done.erased > 0
    everything = str(site.run(tables_of(target)))
    assert not any(name in everything for name in theirs)
    (count,) = target.ask("SELECT count() FROM answers FINAL")
    assert count == (len(ANSWERS) - len(theirs),)
    assert site.run(turns_of(target.deployment)).keys() == site.turns.keys() - theirs


@pytest.mark.parametrize(
    ("store", "topic", "emptied"), [(Store.CLICKHOUSE, FEEDBACK_ANALYTICS, "claims"), (Store.MEMORY, MEMORY_TURNS, "")]
)
def test_what_came_after_the_last_writing_is_not_missing(
    site: Site, store: Store, topic: Topic, emptied: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However slow agents are behind a topic that grows with each look: a rebuild beside them verifies."""

    late: list[int] = []

    class Growing(RecordSource):
        """Keeps the last records back, and gives one of them whenever it is read further."""

        held: list[Record]

        async def read(self, topics: Sequence[Topic]) -> AsyncIterator[list[Record]]:
            batches = [batch async for batch in super().read(topics)]
            if topic in topics:
                held = [each for batch in batches for each in batch if self._is_of_interest(each)][-LATE:]
                if not hasattr(self, "held"):
                    self.held = held
                    late.extend(self._rows_of_interest(each) for each in held)
            for batch in batches:
                yield [each for each in batch if each not in getattr(self, "held", [])]

        async def read_on(self, topics: Sequence[Topic]) -> AsyncIterator[list[Record]]:
            if topic in topics:
                yield [self.held.pop(0)]

        def _is_of_interest(self, record: Record) -> bool:
            return record.topic == topic.name and self._rows_of_interest(record) > 0

        def _rows_of_interest(self, record: Record) -> int:
            return sum(table == emptied for table, _ in stored_rows(record)) if emptied else 1

    monkeypatch.setattr(rebuilding_stores, "RecordSource", Growing)
    if emptied:
        site.command(f"TRUNCATE TABLE {emptied}")
    else:
        shutil.rmtree(site.deployment.settings.memory_uri)
    done = site.rebuild(store)
    monkeypatch.undo()
    before = len(site.tables[emptied]) if emptied else len(site.turns)
    table = emptied or "episodic_memory"
    assert before - sum(late) < done.restored[table] == done.parts[table].expected < before
    # Looked at again, it is all there to be compared.
    assert site.rebuild(store).restored[table] == before - done.restored[table]


@pytest.mark.long
def test_beside_agents_at_work_nothing_is_lost_doubled_or_made_older(site: Site) -> None:
    """Answers come again and new ones come while tables are emptied and rebuilt; agents would not bring these back."""
    more = [each for each in EXAMPLES[5::20] if each not in ANSWERS]

    async def work() -> Rebuilt:
        await site.deployment.start_worker()
        client = await site.pipeline.client()
        try:
            await client.command("TRUNCATE TABLE claims")
            await client.command("TRUNCATE TABLE review_queue")
            rebuilding = asyncio.create_task(rebuilt(site.deployment, Store.CLICKHOUSE))
            await site.deployment.send(records([*more, *ANSWERS]))
            done = await rebuilding
            await site.pipeline.rows(client, "answers", len(ANSWERS) + len(more))
            await site.pipeline.settled(client)
        finally:
            await client.close()
            await site.deployment.workers[-1].terminate()
        return done

    done = site.run(work())
    assert done.is_verified, differing(done)
    assert site.rebuild(Store.CLICKHOUSE).restored == {}
    tables = site.run(tables_of(site.pipeline))
    assert len(tables["answers"]) == len(ANSWERS) + len(more)
    known = {each["answer_id"] for each in ANSWERS}
    # Judged again, an answer has another time of judgement and nothing else.
    for table in ("claims", "citations", "review_queue", "review_decisions", "feedback"):
        found = [row for row in tables[table] if any(name in row for name in known)]
        assert sorted(map(untimed, found)) == sorted(map(untimed, site.tables[table]))


@pytest.mark.long
def test_another_region_that_has_only_what_others_send_comes_to_the_same(
    site: Site, archive: Path, tmp_path: Path
) -> None:
    """Answers, feedback and decisions on reviews, restored from an archive; workers evaluate them there."""
    target = site.run(elsewhere(site, tmp_path))
    deployment = target.deployment

    async def take_over() -> None:
        await deployment.prepare()
        await archiving.restore_archive(
            deployment.settings, deployment.addresses, archive, archiving.RESTORED, lambda *_: None
        )
        await deployment.start_worker()
        client = await target.client()
        try:
            await target.rows(client, "answers", len(site.tables["answers"]))
            await target.settled(client)
        finally:
            await client.close()
        await deployment.workers[0].terminate()

    try:
        site.run(take_over())
        now = site.run(tables_of(target, PROCESSED))
        assert site.run(turns_of(deployment)).keys() == site.turns.keys()
    finally:
        site.run(deployment.close())
    assert {table: rows for table, rows in now.items() if rows != site.judged[table]} == {}
    assert now["review_decisions"], "decisions that came before their review are kept"
