"""Feedback in ClickHouse: every event noted, all of one answer found again."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from clickhouse_connect.driver.exceptions import Error

from schemas.feedback import FeedbackEvent
from workers.delivery.errors import StoreUnavailable
from workers.stores.analytics import AnalyticsStore

KNOWN = "SELECT answer_id, event FROM {database}.feedback WHERE answer_id IN {{answers:Array(String)}}"


class FeedbackStore:
    """Notes feedback events and reads what is noted.

    Args:
        analytics: connected store.
        database: where the table is.
    """

    def __init__(self, analytics: AnalyticsStore, database: str) -> None:
        self._analytics = analytics
        self._known = KNOWN.format(database=database)

    async def note(self, events: Sequence[FeedbackEvent]) -> None:
        """Note events; one that is noted already stays one.

        Raises:
            RejectedByStore: ClickHouse refuses the values.
            StoreUnavailable: it did not confirm.
        """
        rows = [
            {
                "answer_id": event.answer_id,
                "feedback_id": event.feedback_id,
                "occurred_at": event.occurred_at.isoformat(),
                "tenant": event.tenant,
                "kind": event.kind,
                "user_id": event.user_id or "",
                "session_id": event.session_id or "",
                "event": event.to_bytes().decode(),
            }
            for event in events
        ]
        await self._analytics.insert("feedback", rows)

    async def known(self, answer_ids: Sequence[str]) -> dict[str, list[FeedbackEvent]]:
        """All events that are noted of some answers, in no order, by answer.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        if not answer_ids:
            return {}
        try:
            result = await self._analytics.client.query(self._known, parameters={"answers": list(answer_ids)})
        except (Error, OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            raise StoreUnavailable(f"ClickHouse did not answer about feedback ({type(error).__name__})") from error
        events: dict[str, list[FeedbackEvent]] = defaultdict(list)
        for answer_id, event in result.result_rows:
            events[answer_id].append(FeedbackEvent.model_validate_json(event))
        return events
