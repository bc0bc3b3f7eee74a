"""Cursors of the review queue: where a page ended, and nothing else."""

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from workers.review.queue.cursors import decided_cursor, open_cursor
from workers.review.review_errors import InvalidDecision

AT = datetime(2026, 11, 2, 8, 0, tzinfo=UTC).isoformat()


def as_cursor(*content: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode()


@pytest.mark.parametrize(
    "cursor",
    [
        "nonsense", "é", "", "e30=", as_cursor(), as_cursor("open"), as_cursor("open", "0.5", AT, "r"),
        as_cursor("open", 0.5, "soon", "r"), as_cursor("decided", "2026-11-02T08:00:00", "r"),
        as_cursor("decided", "9999-01-01T00:00:00+00:00", "r"), as_cursor("second", AT, 7), as_cursor(0.5, AT, "r"),
    ],
)  # fmt: skip
def test_a_cursor_that_is_none_of_ours_is_refused(cursor: str) -> None:
    for read in (
        open_cursor,
        lambda text: decided_cursor(text, "decided"),
        lambda text: decided_cursor(text, "second"),
    ):
        with pytest.raises(InvalidDecision, match="next_cursor") as caught:
            read(cursor)
        assert caught.value.field == "cursor"


def test_without_a_cursor_a_list_begins_at_its_start() -> None:
    assert open_cursor(None) is None
    assert decided_cursor(None, "decided") is None
