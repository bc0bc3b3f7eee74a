"""Looking for insights: rated answers from ClickHouse → patterns and trend → topic and table."""

import asyncio
from dataclasses import dataclass

import numpy as np

from schemas.feedback import AnalyticsRow, FeedbackMessage
from schemas.headers import event_headers
from schemas.topics import FEEDBACK_ANALYTICS, FEEDBACK_INSIGHTS, Topic
from workers.addresses import Addresses
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.inference.opening import open_backend
from workers.settings import Settings
from workers.steps.insight_events import Period, pattern_message, pattern_row, trend_message, trend_row
from workers.steps.insights import RatedAnswer, find_patterns, trend
from workers.stores.analytics import AnalyticsStore, connect
from workers.stores.migrations import migrate
from workers.stores.ratings import RatingStore
from workers.versions import pipeline_version

MAX_RATED = 5_000
"""Rated answers that are looked at, the latest ones; embedding more takes minutes."""


@dataclass(frozen=True, slots=True)
class Insights:
    """What a period shows.

    Attributes:
        rated: answers that somebody rated.
        bad: bad ones among them.
        messages: patterns, the clearest first, then the trend if it can be told.
        rows: their rows.
    """

    rated: int
    bad: int
    messages: list[FeedbackMessage]
    rows: list[AnalyticsRow]


async def find_insights(settings: Settings, addresses: Addresses, period: Period, *, write: bool) -> Insights:
    """Look at a period.

    Args:
        settings: all settings.
        addresses: of ClickHouse, and of the broker for writing.
        period: whose answers, and when.
        write: also write the events and rows.

    Raises:
        TouchstoneError: a store or the broker does not answer.
    """
    client = await connect(settings.clickhouse, addresses.clickhouse)
    try:
        await migrate(client, settings.clickhouse.database)
        database = settings.clickhouse.database
        store = RatingStore(AnalyticsStore(client, database), database)
        answers = await store.rated(period.since, period.until, period.tenant, MAX_RATED)
        length = period.until - period.since
        before = await store.rated(period.since - length, period.since, period.tenant, MAX_RATED)
    finally:
        await client.close()
    found = await asyncio.to_thread(look, answers, before, period, settings)
    if write and found.messages:
        producer = ConfirmedProducer(settings, addresses.kafka)
        await producer.start()
        try:
            await producer.send(_outputs(found, pipeline_version(settings)), agent="insights")
        finally:
            await producer.stop()
    return found


def look(answers: list[RatedAnswer], before: list[RatedAnswer], period: Period, settings: Settings) -> Insights:
    """Patterns of a period and the trend against the one before."""
    bad = sum(answer.is_bad for answer in answers)
    messages: list[FeedbackMessage] = []
    rows: list[AnalyticsRow] = []
    if bad:
        backend = open_backend(settings)
        distinct = list(dict.fromkeys(answer.text for answer in answers))
        known = dict(zip(distinct, backend.encode(distinct), strict=True))
        vectors = np.stack([known[answer.text] for answer in answers])
        for pattern in find_patterns(answers, vectors):
            messages.append(pattern_message(pattern, period, period.until))
            rows.append(pattern_row(messages[-1], pattern, period))
    moved = trend([answer.reward for answer in answers], [answer.reward for answer in before])
    if moved is not None:
        messages.append(trend_message(moved, period, period.until))
        rows.append(trend_row(messages[-1], moved, period))
    return Insights(len(answers), bad, messages, rows)


def _outputs(found: Insights, version: str) -> list[Output]:
    def output(topic: Topic, event: FeedbackMessage | AnalyticsRow, of: FeedbackMessage, suffix: str = "") -> Output:
        headers = event_headers(
            event_id=of.message_id + suffix,
            event_type=type(event).__name__,
            time=of.created_at,
            pipeline_version=version,
            agent="insights",
        )
        return Output(topic, of.message_id.encode(), event.to_bytes(), headers)

    pairs = list(zip(found.messages, found.rows, strict=True))
    return [output(FEEDBACK_INSIGHTS, message, message) for message, _ in pairs] + [
        output(FEEDBACK_ANALYTICS, row, message, "-row") for message, row in pairs
    ]
