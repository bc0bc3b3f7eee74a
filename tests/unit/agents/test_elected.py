"""A task of the elected worker: it acts while this worker owns the first partition, and starts afresh after that."""

import pytest

from workers.agents.tasks.elected import repeat_while_elected


class Ended(Exception):
    """Ends the repetition."""


async def test_only_the_owner_of_the_first_partition_acts_and_others_forget() -> None:
    rounds = iter([{0, 1}, {1}, set(), {0}])
    done: list[str] = []

    def owned() -> set[int]:
        for partitions in rounds:
            return partitions
        raise Ended

    async def act() -> None:
        done.append("act")

    with pytest.raises(Ended):
        await repeat_while_elected(act, lambda: done.append("forget"), owned, 0.0)
    assert done == ["act", "forget", "forget", "act"]
