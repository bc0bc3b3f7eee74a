"""Search for insights: rated answers from ClickHouse to patterns and trend, then to topic and table."""

import asyncio
from dataclasses import dataclass
from typing import get_args

import numpy as np

from schemas.feedback import AnalyticsRow, FeedbackMessage
from schemas.headers import event_headers
from schemas.topics import FEEDBACK_ANALYTICS, FEEDBACK_INSIGHTS, Topic
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.feedback.insight_events import Period, pattern_message, trend_message
from workers.feedback.patterns import Judges, RatedAnswer, find_patterns, trend
from workers.inference.opening import open_backend
from workers.pipeline.versions import pipeline_version
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.migrations import migrate
from workers.stores.clickhouse.rows.feedback_rows import insight_row
from workers.stores.queries.rating_queries import RatingStore
from workers.stores.tables.feedback_tables import InsightRow

MAX_RATED = 5_000
"""Maximum number of rated answers, the latest ones; embedding more takes minutes."""


@dataclass(frozen=True, slots=True)
class Insights:
    """Hold the insights of a period.

    Attributes:
        rated: number of answers that readers rated.
        bad: number of bad ones.
        reviewed: number of answers that reviewers decided or voted on.
        reviewed_bad: number of those that they found bad.
        messages: patterns of readers, then of reviewers, each the most significant first, then the trend of readers if there
            is one.
        rows: rows of the messages.
    """

    rated: int
    bad: int
    reviewed: int
    reviewed_bad: int
    messages: list[FeedbackMessage]
    rows: list[InsightRow]


async def find_insights(settings: Settings, addresses: Addresses, period: Period, *, write: bool) -> Insights:
    """Find the insights of a period.

    Args:
        settings: all settings.
        addresses: addresses of ClickHouse, and of the broker for writing.
        period: tenant and time range of the answers.
        write: also write the events and rows.

    Raises:
        TouchstoneError: a store or the broker does not respond.
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
    """Return the patterns of a period, and the trend of readers' ratings against the previous period."""
    messages: list[FeedbackMessage] = []
    rows: list[InsightRow] = []
    judged: dict[Judges, list[RatedAnswer]] = {
        by: [answer for answer in answers if answer.by == by] for by in get_args(Judges)
    }
    bad = {by: sum(answer.is_bad for answer in given) for by, given in judged.items()}
    if any(bad.values()):
        backend = open_backend(settings)
        distinct = list(dict.fromkeys(answer.text for answer in answers))
        known = dict(zip(distinct, backend.encode(distinct), strict=True))
        for by, given in judged.items():
            vectors = np.stack([known[answer.text] for answer in given]) if bad[by] else None
            for pattern in find_patterns(given, vectors) if vectors is not None else []:
                messages.append(pattern_message(pattern, period, period.until, by))
                rows.append(insight_row(messages[-1], pattern, period))
    moved = trend(*([answer.reward for answer in given if answer.by == "readers"] for given in (answers, before)))
    if moved is not None:
        messages.append(trend_message(moved, period, period.until))
        rows.append(insight_row(messages[-1], moved, period))
    return Insights(len(judged["readers"]), bad["readers"], len(judged["reviewers"]), bad["reviewers"], messages, rows)


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
        output(FEEDBACK_ANALYTICS, row.record(), message, "-row") for message, row in pairs
    ]
