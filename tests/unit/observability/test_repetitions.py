"""A library that repeats itself is logged once, then counted every minute; our own events always are."""

import logging
from collections.abc import Callable

import pytest

from workers.observability.repetitions import INTERVAL_SECONDS, MAX_EVENTS, RepetitionFilter

Log = Callable[..., str | None]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log(clock: Clock) -> Log:
    keep = RepetitionFilter(clock)

    def logged(
        message: object,
        *values: object,
        name: str = "aiokafka.conn",
        level: int = logging.ERROR,
        error: Exception | None = None,
    ) -> str | None:
        """Return the text that is logged."""
        info = (type(error), error, None) if error else None
        record = logging.LogRecord(name, level, "", 0, message, values, info)
        return record.getMessage() if keep(record) else None

    return logged


def test_31_000_lines_of_an_outage_become_two(log: Log, clock: Clock) -> None:
    lines = []
    for number in range(31_000):
        clock.now = number / 500
        lines.append(log("Unable to connect to node %s at port %d", number % 3, 9092))
    assert [line for line in lines if line] == [
        "Unable to connect to node 0 at port 9092",
        "Unable to connect to node 0 at port 9092 (29999 more in the last 60 s)",
    ]


@pytest.mark.parametrize(
    "other",
    [
        {"name": "aiokafka.producer"},
        {"level": logging.WARNING},
        {"error": OSError()},
    ],
)
def test_another_event_is_not_withheld(log: Log, other: dict[str, object]) -> None:
    assert log("failed", error=None)
    assert log("failed", **other)
    assert log("another failed")
    assert not log("failed", **other)


def test_an_event_that_comes_once_a_minute_is_logged_as_it_is(log: Log, clock: Clock) -> None:
    for _ in range(5):
        assert log("%s failed", "it") == "it failed"
        clock.now += INTERVAL_SECONDS


def test_own_events_are_never_withheld(log: Log) -> None:
    assert all(log({"event": "processing_paused"}) for _ in range(5))


def test_values_in_messages_do_not_fill_the_memory(log: Log) -> None:
    for number in range(2 * MAX_EVENTS):
        assert log(f"request {number} failed")
    assert not log(f"request {2 * MAX_EVENTS - 1} failed")
    assert log("request 0 failed")
