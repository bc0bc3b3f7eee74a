"""Decisions without rows in the list of decided requests: whose they are, where they stand, and what stays hidden."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from workers.review.queue.locks import SECOND, DecisionMark
from workers.review.queue.newest_decisions import merged_decisions, newest_decisions
from workers.review.review_models import Reviewer
from workers.settings import ReviewSettings
from workers.stores.queries.reviews.review_queue_rows import DecidedCursor, QueueFilters
from workers.stores.tables.review_tables import QueueRow

AT = datetime(2026, 11, 3, 9, 0, tzinfo=UTC)
FIRST, SECOND_ONE = "00000000-a", "ffffffff-b"


def place(review_id: str, minutes: int | None = None, **values: Any) -> QueueRow:
    decided = None if minutes is None else AT + timedelta(minutes=minutes)
    state = "open" if minutes is None else "released"
    columns = {
        "tenant": "t",
        "answer_id": review_id,
        "rank": 4,
        "state": state,
        "completed_at": AT,
        "decided_at": decided,
    }
    return QueueRow(review_id=review_id, **columns | values)


class Rows:
    """Rows of open requests."""

    def __init__(self, *reviews: str) -> None:
        self.reviews = reviews

    async def page(self, filters: QueueFilters, *, limit: int, only: list[str]) -> list[QueueRow]:
        assert (filters.state, limit) == ("open", len(only))
        return [place(review) for review in self.reviews if review in only]


def newest(marks: dict[str, DecisionMark], **settings: Any) -> list[QueueRow]:
    store: Any = Rows(FIRST, SECOND_ONE)
    wanted, who = QueueFilters(state="decided"), Reviewer("anna", frozenset())
    return asyncio.run(newest_decisions(store, list(marks.items()), wanted, who, ReviewSettings(**settings)))


@pytest.mark.parametrize(
    ("by", "share", "expected"),
    [
        ("anna", 1.0, [FIRST, SECOND_ONE]),  # one's own decision is never hidden
        ("ben", 1.0, []),
        ("ben", 0.5, [SECOND_ONE]),  # the first one is in the sample
        ("ben", 0.0, [FIRST, SECOND_ONE]),
    ],
)
def test_a_decision_that_may_be_reviewed_independently_is_hidden(by: str, share: float, expected: list[str]) -> None:
    marks = {name: DecisionMark("d", by, AT, "t", "approve", True) for name in (FIRST, SECOND_ONE)}
    marks[f"{SECOND}0:{FIRST}"] = DecisionMark("d", "anna", AT, "t", "approve")
    found = newest(marks, second_share=share)
    assert [each.review_id for each in found] == expected
    assert all(
        (each.state, each.action, each.decided_by, each.decided_at) == ("warned", "approve", by, AT) for each in found
    )


def test_pages_hold_every_decision_once_in_order_of_time() -> None:
    stored = [place(f"{number}", number) for number in (9, 7, 5, 3, 1)]
    fresh = [place(f"{number}", number) for number in (8, 7, 2, 10)]
    seen: list[str] = []
    cursor = None
    while True:
        after = [each for each in stored if cursor is None or each.decided_at < cursor.decided_at]  # type: ignore[operator]
        page = merged_decisions(after[:2], fresh, cursor, 2)
        if not page:
            break
        seen += [each.review_id for each in page]
        assert page[-1].decided_at is not None
        cursor = DecidedCursor(page[-1].decided_at, page[-1].review_id)
    assert seen == ["10", "9", "8", "7", "5", "3", "2", "1"]
