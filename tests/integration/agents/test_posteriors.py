"""Posteriors are a query over stored rewards: no order, no repeat and no revision can spoil them."""

import math
import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient

from schemas.feedback import ModelPosterior, Reward
from schemas.identifiers import fact_id
from workers.agents.tasks.posterior_publisher import PosteriorPublisher
from workers.delivery.records import Output
from workers.errors import StoreUnavailable
from workers.feedback.beta_posterior import age_reference
from workers.settings import Settings
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.clickhouse.rollups import refresh_rollups
from workers.stores.clickhouse.rows.feedback_rows import reward_row
from workers.stores.queries.feedback_store import FeedbackStore

NOW = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
HOURLY = 2e-3
"""A reward has the age of the middle of its hour: half an hour is a thousandth of 14 days as a weight."""


@pytest.fixture
def refreshed_figures() -> bool:
    return True


@pytest.fixture
def client(migrated_client: AsyncClient) -> AsyncClient:
    return migrated_client


@pytest.fixture
def analytics(client: AsyncClient, settings: Settings) -> AnalyticsStore:
    return AnalyticsStore(client, settings.clickhouse.database)


@pytest.fixture
def store(analytics: AnalyticsStore, settings: Settings) -> FeedbackStore:
    return FeedbackStore(analytics, settings.clickhouse.database)


def row(number: int, reward: float, days: float = 0, revision: int = 1, **changes: Any) -> dict[str, Any]:
    answer_id = f"a-{number}"
    found = Reward(
        reward_id=fact_id("acme", answer_id, "reward"), answer_id=answer_id, reward=reward, revision=revision,
        answered_at=NOW - timedelta(days=days), computed_at=NOW,
        **({"tenant": "acme", "model_id": "m", "query_type": "ops"} | changes),
    )  # fmt: skip
    return reward_row(found).columns


async def sums(store: FeedbackStore, half_life: float = 14.0) -> dict[tuple[str, str, str], tuple[float, float]]:
    found = await store.weighted_rewards(NOW, half_life)
    return {(each.tenant, each.model_id, each.query_type): (each.successes, each.failures) for each in found}


async def test_rewards_are_summed_by_tenant_model_and_query_type(
    store: FeedbackStore, analytics: AnalyticsStore
) -> None:
    rows = [
        row(1, 0.9),
        row(2, 0.5),
        row(3, 1.0, model_id="n"),
        row(4, 0.0, tenant="other"),
        row(5, 1.0, query_type=None),
    ]
    await analytics.insert("rewards", [*rows, row(6, 1.0, model_id="unknown")])
    found = await sums(store)
    assert found == {
        ("acme", "m", "ops"): pytest.approx((1.4, 0.6)), ("acme", "n", "ops"): pytest.approx((1, 0)),
        ("other", "m", "ops"): pytest.approx((0, 1)), ("acme", "m", ""): pytest.approx((1, 0)),
    }  # fmt: skip


async def test_a_reward_counts_half_after_a_half_life_and_nothing_long_after(
    store: FeedbackStore, analytics: AnalyticsStore
) -> None:
    await analytics.insert("rewards", [row(1, 1.0, 14), row(2, 0.0, 28), row(3, 1.0, 1000), row(4, 1.0, -1)])
    assert (await sums(store))["acme", "m", "ops"] == pytest.approx((0.5 + 1, 0.25), rel=HOURLY)


async def test_moments_are_those_of_the_last_revisions_whatever_the_order_and_the_repeats(
    store: FeedbackStore, analytics: AnalyticsStore
) -> None:
    rng = random.Random(8)
    features = {n: None if n % 7 == 0 else [round(rng.uniform(-1, 1), 3) for _ in range(16)] for n in range(40)}
    rows = [
        row(n, (n * revision % 10) / 10, n % 20, revision, query_features=features[n])
        for n in features
        for revision in (1, 2)
        for _ in range(rng.randint(1, 2))
    ]
    rng.shuffle(rows)
    for start in range(0, len(rows), 25):
        await analytics.insert("rewards", rows[start : start + 25])
    (found,) = await store.weighted_moments(NOW, 14)
    embedded = [n for n in features if n % 7]
    weights = np.array([0.5 ** (n % 20 / 14) for n in embedded])
    terms = np.array([[1.0, *(features[n] or [])] for n in embedded])
    differences = np.array([(n * 2 % 10) / 10 - 0.5 for n in embedded])
    products = (terms.T * weights @ terms)[np.triu_indices(17)]
    assert (found.tenant, found.model_id, found.query_type) == ("acme", "m", "ops")
    assert found.products == pytest.approx(products, rel=1e-5, abs=1e-6)
    assert found.rewards == pytest.approx(terms.T * weights @ differences, rel=1e-5, abs=1e-6)
    assert (found.squares, found.weight) == pytest.approx((weights @ differences**2, weights.sum()))


async def test_neither_order_nor_repeats_nor_revisions_add_anything(
    store: FeedbackStore, analytics: AnalyticsStore
) -> None:
    """Each answer has three revisions, each of them comes up to three times, in chance's order."""
    rng = random.Random(5)
    final = {number: rng.random() for number in range(60)}
    rows = [
        row(number, final[number] if revision == 3 else rng.random(), number % 30, revision)
        for number in final
        for revision in (1, 2, 3)
        for _ in range(rng.randint(1, 3))
    ]
    weights = {number: 0.5 ** ((number % 30) / 14) for number in final}
    expected = (sum(weights[n] * final[n] for n in final), sum(weights[n] * (1 - final[n]) for n in final))
    rng.shuffle(rows)
    for start in range(0, len(rows), 50):
        await analytics.insert("rewards", rows[start : start + 50])
    assert (await sums(store))["acme", "m", "ops"] == pytest.approx(expected, rel=HOURLY)
    rng.shuffle(rows)
    await analytics.insert("rewards", rows)
    assert (await sums(store))["acme", "m", "ops"] == pytest.approx(expected, rel=HOURLY)


async def test_sums_of_hours_and_their_rewards_give_the_same_whenever_the_hours_were_summed(
    store: FeedbackStore, analytics: AnalyticsStore, client: AsyncClient, settings: Settings
) -> None:
    """Revisions change the reward, the model, the hour and the tenant of an answer, before and after hours are summed."""
    rng = random.Random(12)
    last: dict[int, dict[str, Any]] = {}
    database = settings.clickhouse.database
    for revision in range(1, 7):
        rows = []
        for number in rng.sample(range(50), 30):
            earlier = last.get(number)
            changes = {"model_id": rng.choice("mn"), "tenant": "acme"}
            last[number] = row(number, rng.random(), rng.randrange(200) / 24, revision, **changes)
            if earlier:
                times = {place["answered_at"] for place in earlier["elsewhere"]} | {earlier["answered_at"]}
                others = times - {last[number]["answered_at"]}
                last[number]["elsewhere"] = [{"tenant": "acme", "answered_at": time} for time in sorted(others)]
            rows.append(last[number])
        await analytics.insert("rewards", rows)
        if revision in (2, 3):
            await refresh_rollups(client, database)
        if revision == 3:
            # As if some minutes had passed: only what comes from now on has changed.
            statement = "UPDATE inserted_at = inserted_at - toIntervalMinute(10) WHERE 1 SETTINGS mutations_sync = 2"
            await client.command(f"ALTER TABLE {database}.reward_facts {statement}")
        expected: dict[tuple[str, str, str], list[float]] = {}
        facts = await client.query(
            f"SELECT tenant, model_id, query_type, hour, reward FROM {database}.reward_facts FINAL WHERE counts"
        )
        for tenant, model, kind, hour, reward in facts.result_rows:
            age = max(0.0, (NOW - hour.replace(tzinfo=UTC)).total_seconds() - 1800) / 86_400
            total = expected.setdefault((tenant, model, kind), [0.0, 0.0])
            total[0] += 0.5 ** (age / 14) * reward
            total[1] += 0.5 ** (age / 14) * (1 - reward)
        found = await sums(store)
        assert found.keys() == expected.keys()
        assert all(found[group] == pytest.approx(tuple(expected[group]), abs=1e-8) for group in found)


async def test_the_rows_that_are_read_do_not_grow_with_earlier_rewards(
    store: FeedbackStore, client: AsyncClient, settings: Settings
) -> None:
    database = settings.clickhouse.database
    facts = f"""
        INSERT INTO {database}.reward_facts (tenant, hour, answer_key, revision, counts, inserted_at, answer_id, model_id,
            query_type, reward)
        SELECT 'acme', toDateTime('2026-10-20 00:00:00', 'UTC') + toIntervalHour(number % 240), number, 1, true,
            now64(3, 'UTC') - toIntervalMinute(10), toString(number), 'm', 'ops', (number % 10) / 10
        FROM numbers({{first}}, {{count}})"""

    async def rows_read() -> int:
        parameters = {"now": NOW.replace(tzinfo=None), "half_life": 14 * 86_400}
        result = await client.query(store._weighted, parameters=parameters)
        return int(result.summary["read_rows"])

    read = []
    for first, count in ((0, 20_000), (20_000, 180_000)):
        await client.command(facts.format(first=first, count=count))
        await refresh_rollups(client, database)
        await client.command(f"OPTIMIZE TABLE {database}.reward_hours FINAL")
        read.append(await rows_read())
    assert read[1] <= read[0] * 1.1 + 1
    # One hour that changes is read from its rewards, the others are not.
    changed = facts.replace("toIntervalHour(number % 240)", "toIntervalHour(7)").replace(
        "toIntervalMinute(10)", "toIntervalMinute(0)"
    )
    await client.command(changed.format(first=200_000, count=50))
    read.append(await rows_read())
    assert 50 <= read[2] < 30_000
    assert (await sums(store))["acme", "m", "ops"][0] > 0


class Producer:
    """Takes what is sent."""

    def __init__(self) -> None:
        self.sent: list[Output] = []

    async def send(self, outputs: list[Output], *, agent: str) -> None:
        self.sent += outputs


class Clock:
    now = NOW


async def test_only_what_has_changed_is_published_and_what_is_gone_gets_a_tombstone(
    store: FeedbackStore, analytics: AnalyticsStore, client: AsyncClient, settings: Settings
) -> None:
    producer, clock = Producer(), Clock()
    context: Any = SimpleNamespace(producer=producer, settings=settings, now=lambda: clock.now, pipeline_version="v")
    publisher = PosteriorPublisher(context, store, lambda: clock.now.timestamp())
    await analytics.insert("rewards", [row(1, 1.0), row(2, 0.5, model_id="n")])
    assert [await publisher.publish(), await publisher.publish()] == [2, 0]
    await analytics.insert("rewards", [row(3, 1.0)])
    assert await publisher.publish() == 1
    latest = ModelPosterior.from_bytes(producer.sent[-1].value)
    weight = (
        0.5 ** (((age_reference(NOW, 14) - NOW).total_seconds()) / (14 * 86_400)) if age_reference(NOW, 14) > NOW else 1
    )
    assert (latest.model_id, latest.alpha, latest.beta) == ("m", pytest.approx(1 + 2 * weight), 1.0)
    clock.now += timedelta(days=14)
    assert await publisher.publish() == 2
    assert math.isclose(ModelPosterior.from_bytes(producer.sent[-2].value).observations, 1.0, rel_tol=0.02)
    for table in ("reward_facts", "reward_hours"):
        await client.command(f"DELETE FROM {settings.clickhouse.database}.{table} WHERE model_id = 'n'")
    assert await publisher.publish() == 1
    assert (producer.sent[-1].key, producer.sent[-1].value) == (b'["acme","n","ops"]', None)


async def test_what_queries_explain_is_published_once_a_minute(
    store: FeedbackStore, analytics: AnalyticsStore, settings: Settings
) -> None:
    producer, clock = Producer(), Clock()
    context: Any = SimpleNamespace(producer=producer, settings=settings, now=lambda: clock.now, pipeline_version="v")
    publisher = PosteriorPublisher(context, store, lambda: clock.now.timestamp())

    async def published() -> list[float | None]:
        producer.sent.clear()
        await publisher.publish()
        found = [ModelPosterior.from_bytes(output.value) for output in producer.sent]
        return [None if each.linear is None else each.linear.precision[0] for each in found]

    await analytics.insert("rewards", [row(1, 1.0), row(2, 0.5, model_id="n", query_features=[0.25] * 16)])
    first = await published()
    assert first[0] is None and first[1] is not None
    await analytics.insert("rewards", [row(3, 1.0, query_features=[0.25] * 16)])
    assert await published() == [None], "sums at once, the rest in a minute"
    clock.now += timedelta(minutes=1)
    assert await published() == [first[1]]
    assert await published() == []


async def test_what_takes_long_to_compute_is_computed_less_often(
    store: FeedbackStore, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    producer, clock, computed = Producer(), Clock(), []

    async def slow(*_: object) -> list[Any]:
        clock.now += timedelta(seconds=30)
        computed.append(clock.now)
        return []

    monkeypatch.setattr(store, "weighted_moments", slow)
    context: Any = SimpleNamespace(producer=producer, settings=settings, now=lambda: clock.now, pipeline_version="v")
    publisher = PosteriorPublisher(context, store, lambda: clock.now.timestamp())
    for _ in range(40):
        await publisher.publish()
        clock.now += timedelta(minutes=1)
    between = [later - earlier for earlier, later in pairwise(computed)]
    assert len(between) > 2
    assert all(timedelta(minutes=10) <= gap < timedelta(minutes=12) for gap in between)


@pytest.mark.parametrize("step", [timedelta(days=1), timedelta(days=-1)], ids=["forward", "back"])
async def test_a_step_of_the_time_of_day_neither_stops_nor_hastens_the_computation(
    store: FeedbackStore, settings: Settings, monkeypatch: pytest.MonkeyPatch, step: timedelta
) -> None:
    clock, seconds, computed = Clock(), [1_000.0], []

    async def stepping(*_: object) -> list[Any]:
        clock.now += step
        computed.append(seconds[0])
        return []

    monkeypatch.setattr(store, "weighted_moments", stepping)
    context: Any = SimpleNamespace(producer=Producer(), settings=settings, now=lambda: clock.now, pipeline_version="v")
    publisher = PosteriorPublisher(context, store, lambda: seconds[0])
    for _ in range(7):
        await publisher.publish()
        seconds[0] += 30.0
    assert computed == [1_000.0, 1_060.0, 1_120.0, 1_180.0]


async def test_a_store_that_is_away_is_told(
    client: AsyncClient, store: FeedbackStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise TimeoutError

    monkeypatch.setattr(client, "query", fail)
    with pytest.raises(StoreUnavailable, match="did not respond to a query"):
        await store.weighted_rewards(NOW, 14)
    with pytest.raises(StoreUnavailable, match="did not respond to a query"):
        await store.known([("acme", "a")])
