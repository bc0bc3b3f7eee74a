"""List decisions that have no rows yet: those that can still be undone, and those of the last seconds."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from workers.decision.finality import state_after
from workers.review.queue.cursors import EARLIEST
from workers.review.queue.locks import DecisionMark, is_second
from workers.review.queue.second_share import is_sampled
from workers.review.review_models import Reviewer
from workers.settings import ReviewSettings
from workers.stores.queries.reviews.review_queries import ReviewStore
from workers.stores.queries.reviews.review_queue_rows import DecidedCursor, QueueFilters
from workers.stores.tables.review_tables import QueueRow


async def newest_decisions(
    store: ReviewStore,
    unstored: Sequence[tuple[str, DecisionMark]],
    wanted: QueueFilters,
    who: Reviewer,
    settings: ReviewSettings,
) -> list[QueueRow]:
    """Return the places of decided requests whose rows still say open, as the decisions will leave them.

    A decision of somebody else is left out where the reviewer may review the request independently.

    Args:
        store: rows of the queue.
        unstored: marks of decisions without rows, by name.
        wanted: filter of state ``decided``.
        who: the reviewer.
        settings: settings of reviews.

    Raises:
        StoreUnavailable: ClickHouse does not respond.
    """
    marks = {
        name: mark
        for name, mark in unstored
        if not is_second(name)
        and (wanted.reviewed_by is None or mark.by.lower() == wanted.reviewed_by.lower())
        and (mark.by == who.name or not is_sampled(name, settings.target_of(mark.tenant).second_share))
    }
    if not marks:
        return []
    places = await store.page(replace(wanted, state="open", reviewed_by=None), limit=len(marks), only=sorted(marks))
    return [_decided(place, marks[place.review_id]) for place in places]


def _decided(place: QueueRow, mark: DecisionMark) -> QueueRow:
    state = state_after(mark.action, with_warning=mark.with_warning)
    return replace(place, state=state, action=mark.action, decided_by=mark.by, decided_at=mark.at)


def merged_decisions(
    stored: Sequence[QueueRow], newest: Sequence[QueueRow], after: DecidedCursor | None, limit: int
) -> list[QueueRow]:
    """Return a page of decided requests, the latest first, with those whose decision has no rows yet.

    Args:
        stored: places after the cursor.
        newest: places of all decisions without rows.
        after: end of the previous page.
        limit: maximum number of results.
    """
    known = {place.key for place in stored}

    def order(decided_at: datetime | None, review_id: str) -> tuple[float, str]:
        return -(decided_at or EARLIEST).timestamp(), review_id

    begin = order(after.decided_at, after.review_id) if after else None
    added = [
        place
        for place in newest
        if place.key not in known and (begin is None or order(place.decided_at, place.review_id) > begin)
    ]
    return sorted([*stored, *added], key=lambda place: order(place.decided_at, place.review_id))[:limit]
