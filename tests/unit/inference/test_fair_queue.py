"""Everything asked for comes out once, and nobody waits for all of somebody else's."""

from hypothesis import given
from hypothesis import strategies as st

from workers.inference.fair_queue import TURN, FairQueue


@given(
    asked=st.lists(st.integers(0, 40), max_size=8),
    takes=st.lists(st.integers(1, 20), min_size=1, max_size=100),
)
def test_everything_comes_out_once_and_in_turn(asked: list[int], takes: list[int]) -> None:
    queue: FairQueue[tuple[int, int]] = FairQueue()
    for asker, count in enumerate(asked):
        queue.put([(asker, number) for number in range(count)])
    taken: list[tuple[int, int]] = []
    for most in takes:
        part = queue.take(most)
        assert len(part) == min(most, sum(asked) - len(taken))
        taken += part
        assert len(queue) == sum(asked) - len(taken)
    taken += queue.take(len(queue))
    assert sorted(taken) == [(asker, number) for asker, count in enumerate(asked) for number in range(count)]
    for asker in range(len(asked)):
        first = next((place for place, (who, _) in enumerate(taken) if who == asker), 0)
        assert first <= TURN * asker, "each of those before it has had one turn at most"
        own = [number for who, number in taken if who == asker]
        assert own == sorted(own), "in its order"
