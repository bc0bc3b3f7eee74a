"""What a rebuild makes of records that no worker of now has written: lost, repeated, masked, ended, unreadable."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient
from pydantic import SecretStr

from schemas.export import example
from schemas.feedback import AnalyticsRow, Reward
from schemas.identifiers import fact_id, person_digest
from schemas.privacy import Erasure
from schemas.review import ReviewDecision
from schemas.topics import (
    DEAD_LETTERS,
    FEEDBACK_ANALYTICS,
    FEEDBACK_EVENTS,
    FEEDBACK_REWARDS,
    PRIVACY_ERASURES,
    REVIEW_DECISIONS,
)
from tests.harness.deployment import Deployment
from tests.harness.variants import variants
from tests.integration.runtime.test_seen_versions import touchstone
from workers.rebuild.rebuild_result import RebuildImpossible, Rebuilt
from workers.rebuild.rebuild_sources import RecordSource
from workers.rebuild.rebuild_targets import Store
from workers.rebuild.store_rebuild import rebuild
from workers.settings import PrivacySettings, Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.clickhouse.retention import ttl_expressions
from workers.stores.clickhouse.staging import Staging

AT = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
ROW: dict[str, Any] = AnalyticsRow.model_validate(example(AnalyticsRow)).columns


@pytest.fixture
async def deployment(addresses: Addresses, tmp_path: Path) -> AsyncIterator[Deployment]:
    deployment = Deployment(addresses, tmp_path, partitions=2)
    await deployment.prepare()
    yield deployment
    await deployment.close()


async def run(deployment: Deployment, store: Store, settings: Settings | None = None, **how: Any) -> Rebuilt:
    return await rebuild(store, settings or deployment.settings, deployment.addresses, lambda *_: None, **how)


def reward(name: str, value: float, revision: int) -> bytes:
    return Reward(
        reward_id=fact_id("acme", name, "reward"), answer_id=name, tenant="acme", model_id="m", reward=value, revision=revision,
        answered_at=AT, computed_at=AT,
    ).to_bytes()  # fmt: skip


def rated(name: str, rating: int, number: int = 1, **more: Any) -> tuple[bytes, bytes]:
    event = {
        "feedback_id": f"f-{number}", "answer_id": name, "tenant": "acme", "kind": "explicit", "model_id": "m",
        "explicit": {"rating": rating} | more, "occurred_at": (AT + timedelta(hours=number)).isoformat(),
    }  # fmt: skip
    return name.encode(), json.dumps(event).encode()


async def rewards(client: AsyncClient, deployment: Deployment) -> dict[str, tuple[float, int]]:
    rows = await client.query(f"SELECT answer_id, reward, revision FROM {deployment.name}.rewards FINAL")
    return {name: (value, revision) for name, value, revision in rows.result_rows}


async def test_of_rewards_the_highest_revision_counts_and_not_the_last_record_and_none_after_a_tombstone(
    deployment: Deployment, client: AsyncClient
) -> None:
    records: list[tuple[bytes | None, bytes | None]] = [
        (b"late", reward("late", 0.9, 3)), (b"late", reward("late", 0.1, 2)), (b"ended", reward("ended", 0.5, 1)),
        (b"ended", None), (b"back", None), (b"back", reward("back", 0.7, 1)),
    ]  # fmt: skip
    await deployment.send(records, FEEDBACK_REWARDS)
    await deployment.send([rated("ended", 5)], FEEDBACK_EVENTS)
    assert (await run(deployment, Store.REWARDS)).is_verified
    assert await rewards(client, deployment) == {"late": (0.9, 3), "back": (0.7, 1)}


async def test_rewards_that_no_record_tells_are_computed_of_the_feedback(
    deployment: Deployment, client: AsyncClient
) -> None:
    """The topic of rewards lost one, and another knows of the first rating alone."""
    decision = example(ReviewDecision) | {"answer_id": "reviewed", "tenant": "acme", "user_action": "approve"}
    await deployment.send([(b"behind", reward("behind", 1.0, 1))], FEEDBACK_REWARDS)
    await deployment.send([rated("behind", 5), rated("behind", 4, 2), rated("lost", 2)], FEEDBACK_EVENTS)
    await deployment.send([(b"reviewed", json.dumps(decision).encode())], REVIEW_DECISIONS)
    counted = await run(deployment, Store.REWARDS, dry_run=True)
    assert (counted.is_verified, counted.parts["rewards"].missing) == (False, 3)
    assert await rewards(client, deployment) == {}
    assert (await run(deployment, Store.REWARDS)).is_verified
    assert await rewards(client, deployment) == {"behind": (0.8, 2), "lost": (0.4, 1), "reviewed": (1.0, 1)}
    assert len(await deployment.read(FEEDBACK_REWARDS)) == 1, "a rebuild writes to nothing but the store"


async def test_what_was_masked_at_the_door_is_masked_again(deployment: Deployment, client: AsyncClient) -> None:
    settings = deployment.settings
    settings.privacy = PrivacySettings(mask=("mail",), key=SecretStr("k" * 32))
    await deployment.send([rated("a", 4, comment="write to someone@example.org"), (b"b", b"no json")], FEEDBACK_EVENTS)
    done = await run(deployment, Store.REWARDS, settings)
    assert (done.is_verified, done.unreadable) == (True, 1)
    stored = await client.command(f"SELECT any(event) FROM {deployment.name}.feedback")
    assert "write to" in str(stored)
    assert "someone" not in str(stored)


async def test_what_nobody_can_read_or_no_table_takes_is_counted_and_its_neighbours_are_restored(
    deployment: Deployment, client: AsyncClient
) -> None:
    def row(table: str, **columns: Any) -> bytes:
        return AnalyticsRow(table=table, columns=ROW | columns).to_bytes()

    values = [row("answers", answer_id="a"), row("answers", latency_seconds="soon"), row("nowhere"), b"{"]
    values += [row("answers", answer_id="old", completed_at=(datetime.now(UTC) - timedelta(days=91)).isoformat())]
    values += [row("answers", answer_id="a", rank=1, query="degraded"), row("answers", answer_id="b")]
    await deployment.send([(b"key", value) for value in values], FEEDBACK_ANALYTICS)
    await deployment.send([(b"key", b"no letter")], DEAD_LETTERS)
    done = await run(deployment, Store.CLICKHOUSE)
    assert (done.is_verified, done.unreadable, done.refused) == (True, 2, 2)
    rows = await client.query(f"SELECT answer_id, query = 'degraded' FROM {deployment.name}.answers FINAL ORDER BY 1")
    assert rows.result_rows == [("a", 0), ("b", 0)], "what retention has ended is not brought back"


async def test_a_row_that_the_store_has_in_a_later_revision_stays(deployment: Deployment, client: AsyncClient) -> None:
    value = AnalyticsRow(table="answers", columns=ROW | {"answer_id": "a", "rank": 2, "query": "early"}).to_bytes()
    await deployment.send([(b"a", value)], FEEDBACK_ANALYTICS)
    late = ROW | {"answer_id": "a", "rank": 4, "query": "late"}
    await AnalyticsStore(client, deployment.name).insert("answers", [late, late | {"answer_id": "unknown"}])
    done = await run(deployment, Store.CLICKHOUSE)
    part = done.parts["answers"]
    assert (done.is_verified, part.newer, part.beyond, part.missing) == (True, 1, 1, 0)
    assert (
        await client.command(f"SELECT any(query) FROM {deployment.name}.answers FINAL WHERE answer_id = 'a'") == "late"
    )


DAMAGES = {
    "a row of two": "ALTER TABLE {db}.answers DELETE WHERE completed_at < '{hour:%F %T}' SETTINGS mutations_sync = 2",
    "facts": "TRUNCATE TABLE {db}.answer_facts",
    "places": "TRUNCATE TABLE {db}.answer_places",
    "moves": "TRUNCATE TABLE {db}.answer_moves",
    "table of places": "DROP TABLE {db}.answer_places SYNC",
    "database": "DROP DATABASE {db} SYNC",
}
IN_EVERY_RUN = ("a row of two, database",)


@pytest.mark.parametrize(
    "damages", variants([*IN_EVERY_RUN, "facts, places, moves, table of places"], in_every_run=IN_EVERY_RUN)
)
async def test_an_answer_that_has_moved_to_another_hour_counts_there_after_a_rebuild(
    deployment: Deployment, client: AsyncClient, damages: str
) -> None:
    """In the order of the log, in reverse, with one row of two missing, and from nothing."""
    now = datetime.now(UTC)
    # On two days: two revisions of one rank on one day are one row, and the later one of the log counts (decision 0078).
    times = [now.replace(hour=10, minute=30) - timedelta(days=days) for days in (3, 2)]
    rows = [
        ROW | {"answer_id": name, "rank": 4, "completed_at": times[number].isoformat(),
               "enriched_at": (now + timedelta(seconds=number)).isoformat()}
        for name, numbers in (("in order", (0, 1)), ("late", (1, 0)))
        for number in numbers
    ]  # fmt: skip
    values = [AnalyticsRow(table="answers", columns=row).to_bytes() for row in rows]
    await deployment.send([(b"key", value) for value in values], FEEDBACK_ANALYTICS)
    hour = times[1].replace(minute=0, second=0, microsecond=0, tzinfo=None)
    counted = f"SELECT hour, sum(answers) AS n FROM {deployment.name}.answer_hours FINAL GROUP BY hour HAVING n > 0 ORDER BY hour"
    for damage in ("SELECT 1", *(DAMAGES[name] for name in damages.split(", "))):
        await client.command(damage.format(db=deployment.name, hour=hour))
        assert (await run(deployment, Store.CLICKHOUSE)).is_verified
        assert (await client.query(counted)).result_rows == [(hour, 2)], damage


async def test_who_is_erased_meanwhile_has_to_be_forgotten_again(deployment: Deployment) -> None:
    source = RecordSource(deployment.settings, deployment.addresses, None, lambda *_: None)
    await source.start()
    assert not await source.erased_meanwhile()
    erasure = Erasure(digest=person_digest("acme", "user-18"), requested_at=AT)
    await deployment.send([(erasure.digest.encode(), erasure.to_bytes())], PRIVACY_ERASURES)
    assert await source.erased_meanwhile()
    restored = Rebuilt(Store.MEMORY, {}, 0, 0, 0, {}, {})
    assert restored.is_verified
    assert not replace(restored, erased_meanwhile=True).is_verified


async def test_nothing_to_rebuild_from_is_no_success(deployment: Deployment, client: AsyncClient) -> None:
    await deployment.send([rated("a", 4)], FEEDBACK_EVENTS)  # of which no row of an answer and no turn is made
    for store in (Store.CLICKHOUSE, Store.MEMORY, Store.POSTERIORS):
        with pytest.raises(RebuildImpossible, match="nothing to rebuild from"):
            await run(deployment, store)
    await client.command(f"DROP TABLE {deployment.name}.answers SYNC")
    with pytest.raises(RebuildImpossible, match="lacks the tables answers; run without --dry-run"):
        await run(deployment, Store.QUEUE, dry_run=True)
    left = await client.query(
        f"SELECT name FROM system.tables WHERE database = '{deployment.name}' AND name LIKE 'rebuild%'"
    )
    assert left.result_rows == []


async def test_what_a_killed_run_has_left_is_dropped_by_a_later_one_and_not_by_one_at_the_same_time(
    deployment: Deployment, client: AsyncClient
) -> None:
    now = datetime.now(UTC)
    retention = ttl_expressions(deployment.settings.retention)
    names = f"SELECT count() FROM system.tables WHERE database = '{deployment.name}' AND name LIKE 'rebuild%'"
    for begun, count in ((now, 1), (now, 2), (now + timedelta(days=2), 1)):
        await Staging(client, deployment.name, retention, begun).open(["answers"])
        assert await client.command(names) == count


async def test_wrong_use_is_told_apart_from_a_store_that_differs(deployment: Deployment, client: AsyncClient) -> None:
    code, _, errors = await touchstone(deployment, "rebuild", "posteriors", "--archive", "kept")
    assert (code, "touchstone rebuild rewards" in " ".join(errors.split())) == (2, True), errors
    code, _, errors = await touchstone(deployment, "rebuild", "queue", "--archive", "nowhere")
    assert (code, "nowhere is not a folder" in errors) == (1, True), errors
