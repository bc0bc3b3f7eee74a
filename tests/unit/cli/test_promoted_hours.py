"""The hours of a promotion are named from the beginning of the first one to the end of the last one."""

from datetime import UTC, datetime

import pytest

from workers.cli.analysis.runs import _hours
from workers.stores.queries.runs.run_queries import Promoted


def at(hour: int) -> datetime:
    return datetime(2026, 11, 29, hour, tzinfo=UTC)


@pytest.mark.parametrize(
    ("hours", "first", "last", "words"),
    [
        (1, 15, 15, "for 1 hour of a tenant each, 2026-11-29 15:00 to 2026-11-29 16:00 UTC"),
        (2, 15, 15, "for 2 hours of a tenant each, 2026-11-29 15:00 to 2026-11-29 16:00 UTC"),
        (3, 14, 16, "for 3 hours of a tenant each, 2026-11-29 14:00 to 2026-11-29 17:00 UTC"),
        (2, 22, 23, "for 2 hours of a tenant each, 2026-11-29 22:00 to 2026-11-30 00:00 UTC"),
    ],
)
def test_the_end_of_the_last_hour_is_named(hours: int, first: int, last: int, words: str) -> None:
    assert _hours(Promoted("again", at(20), hours, at(first), at(last))) == words
