"""The breaker against a simple model: what any sliding window would say, give or take a slice."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.delivery.failures.breaker import SLICES, DeadLetterBreaker
from workers.observability import metrics
from workers.settings import BreakerSettings

WINDOW = 60
SLICE = WINDOW // SLICES


@dataclass
class Clock:
    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Bench:
    """A breaker with a clock that tests turn."""

    share: float = 0.5
    least: int = 10
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        settings = BreakerSettings(share=self.share, least=self.least, window_seconds=WINDOW)
        self.breaker = DeadLetterBreaker("probe", settings, self.clock)

    def give_up(self, count: int = 1) -> None:
        for _ in range(count):
            self.breaker.settled(1)
            self.breaker.dead_lettered()


def test_the_least_number_of_dead_letters_opens_it_and_one_fewer_does_not() -> None:
    bench = Bench(least=10)
    bench.give_up(9)
    assert not bench.breaker.is_open
    bench.give_up()
    assert bench.breaker.is_open
    assert bench.breaker.reason is not None
    assert "probe dead-lettered 10 of 10 records within 60 s" in bench.breaker.reason
    assert "touchstone dlq list" in bench.breaker.reason
    assert metrics.BREAKER_OPEN.labels("probe")._value.get() == 1


def test_a_share_just_below_the_limit_keeps_it_closed_and_the_limit_itself_opens_it() -> None:
    bench = Bench(share=0.5, least=10)
    bench.breaker.settled(20)
    bench.give_up(19)
    assert not bench.breaker.is_open, "19 of 39"
    bench.give_up()
    assert bench.breaker.is_open, "20 of 40"


def test_what_is_older_than_the_window_counts_no_more() -> None:
    bench = Bench(least=10)
    bench.give_up(9)
    bench.clock.now += WINDOW + SLICE
    bench.give_up(9)
    assert not bench.breaker.is_open
    bench.give_up()
    assert bench.breaker.is_open


def test_good_records_that_are_older_than_the_window_excuse_nothing() -> None:
    bench = Bench(least=10)
    bench.breaker.settled(1_000_000)
    bench.clock.now += WINDOW + SLICE
    bench.give_up(10)
    assert bench.breaker.is_open


def test_letters_spread_over_the_whole_window_are_added_up() -> None:
    bench = Bench(least=SLICES)
    for _ in range(SLICES):
        bench.give_up()
        bench.clock.now += SLICE * 0.999
    assert bench.breaker.is_open


def test_once_open_it_stays_open_and_keeps_its_first_reason() -> None:
    bench = Bench(least=10)
    bench.give_up(10)
    reason = bench.breaker.reason
    bench.clock.now += 10 * WINDOW
    bench.breaker.settled(1_000_000)
    bench.give_up(5)
    assert bench.breaker.reason == reason
    assert bench.breaker.is_open


def test_it_keeps_a_bounded_number_of_slices_however_long_it_runs() -> None:
    bench = Bench()
    for _ in range(10_000):
        bench.clock.now += SLICE
        bench.breaker.settled(1)
    assert len(bench.breaker._slices) <= SLICES + 1


EVENTS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.001, 1.0, SLICE - 0.001, SLICE, SLICE + 0.001, 17.0, WINDOW, WINDOW + SLICE]),
        st.one_of(st.just("letter"), st.integers(min_value=1, max_value=30)),
    ),
    max_size=80,
)


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
@given(events=EVENTS, least=st.integers(min_value=1, max_value=12))
def test_it_agrees_with_an_exact_window_up_to_one_slice(
    share: float, events: list[tuple[float, str | int]], least: int
) -> None:
    bench = Bench(share=share, least=least)
    letters: list[float] = []
    records: list[tuple[float, int]] = []

    def counts(seconds: float) -> tuple[int, int]:
        """Letters and records of the last seconds."""
        oldest = bench.clock.now - seconds
        return sum(time >= oldest for time in letters), sum(count for time, count in records if time >= oldest)

    for pause, event in events:
        bench.clock.now += pause
        records.append((bench.clock.now, 1 if isinstance(event, str) else event))
        if not isinstance(event, str):
            bench.breaker.settled(event)
            continue
        letters.append(bench.clock.now)
        bench.give_up()
        most_letters, most_records = counts(WINDOW)
        least_letters, least_records = counts(WINDOW - SLICE - 0.01)
        if bench.breaker.is_open:
            assert most_letters >= least
            assert most_letters >= least_records * share
            return
        assert not (least_letters >= least and least_letters >= most_records * share)
