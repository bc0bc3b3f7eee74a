"""Gauges of the review queue: lateness after deadlines, and only from the elected worker."""

import asyncio
from datetime import timedelta

import pytest

from tests.harness.deployment import until
from tests.harness.review_consoles import ANNA, Clock, Console, Published, store_events
from tests.harness.reviews import review_request, store_requests
from workers.agents.tasks.deadline_sweeper import DeadlineSweeper
from workers.delivery.producer import ConfirmedProducer
from workers.errors import BrokerUnavailable
from workers.observability import metrics
from workers.settings import Settings
from workers.stores.clickhouse.analytics_store import AnalyticsStore

GAUGES = (metrics.REVIEWS_OPEN, metrics.REVIEW_OLDEST_SECONDS, metrics.REVIEW_OVERDUE_SECONDS)


def overdue() -> float:
    ((sample,),) = [family.samples for family in metrics.REVIEW_OVERDUE_SECONDS.collect()]
    return float(sample.value)


async def test_an_escalated_request_is_late_after_its_own_deadline(
    console: Console, rows: AnalyticsStore, clock: Clock, published: Published, sweeper: DeadlineSweeper
) -> None:
    request = review_request(1)
    await store_requests(rows, [request])
    assert request.deadline_at is not None
    clock.now = request.deadline_at - timedelta(minutes=1)
    await console().escalate(request.review_id, ANNA)
    await store_events(rows, published)
    clock.now += timedelta(hours=24)
    await sweeper._observe()
    assert overdue() == 0, "escalated: there is a day more"
    clock.now += timedelta(minutes=20)
    await sweeper._observe()
    assert overdue() == 20 * 60
    assert metrics.REVIEW_OLDEST_SECONDS.labels("decisions")._value.get() > 40 * 3600


async def test_a_worker_that_is_no_longer_elected_exports_no_figures_of_the_queue(
    rows: AnalyticsStore, sweeper: DeadlineSweeper, settings: Settings
) -> None:
    settings.review.sweep_seconds = 0.01
    await store_requests(rows, [review_request(1)])
    owned = {0, 1}
    running = asyncio.create_task(sweeper.run(lambda: owned))

    async def exported() -> bool:
        return all(samples.samples for gauge in GAUGES for samples in gauge.collect())

    async def nothing() -> bool:
        return not any(samples.samples for gauge in GAUGES for samples in gauge.collect())

    await until(exported, "the elected worker exports the figures", 30)
    owned.discard(0)
    await until(nothing, "the figures end with the election", 10)
    owned.add(0)
    await until(exported, "the worker is elected again", 30)
    running.cancel()
    await asyncio.wait([running])
    assert await nothing(), "they end with the agent as well"


async def test_deadlines_count_once_their_events_are_acknowledged(
    rows: AnalyticsStore, clock: Clock, sweeper: DeadlineSweeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = review_request(1)
    await store_requests(rows, [request])
    assert request.deadline_at is not None
    clock.now = request.deadline_at + timedelta(hours=1)

    def passed() -> float:
        (family,) = metrics.DEADLINES_PASSED.collect()
        return sum(sample.value for sample in family.samples if sample.name.endswith("_total"))

    async def refuse(*_: object, **__: object) -> None:
        raise BrokerUnavailable("away")

    before = passed()
    with monkeypatch.context() as away:
        away.setattr(ConfirmedProducer, "send", refuse)
        for _ in range(3):
            with pytest.raises(BrokerUnavailable):
                await sweeper.sweep()
    assert passed() == before
    assert await sweeper.sweep() == 1
    assert passed() == before + 1
