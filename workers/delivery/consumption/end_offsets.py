"""Ask the broker for the ends of partitions that nothing is fetched from.

Every response to a fetch tells the end of its partition. An agent that waits for a store, or that is paused, fetches
nothing, so that its lag would stand still while the backlog grows.
"""

import time
from typing import Any

from aiokafka.errors import KafkaError

LIMIT_SECONDS = 2.0
"""Maximum wait for the broker. Commits are sent by the same two workers of the client's thread."""


async def refresh_ends(consumer: Any, older_seconds: float) -> None:
    """Set the ends of assigned partitions whose last fetch is old. They stay as they are if no broker responds.

    Args:
        consumer: aiokafka's consumer, in whose thread this runs.
        older_seconds: minimum age of the last response to a fetch.
    """
    subscription = consumer._subscription.subscription
    assignment = None if subscription is None else subscription.assignment
    if assignment is None:
        return
    before = 1000 * (time.time() - older_seconds)
    states = {partition: assignment.state_value(partition) for partition in assignment.tps}
    old = [partition for partition, state in states.items() if (state.timestamp or 0) < before]
    if not old:
        return
    try:
        ends = await consumer._fetcher.end_offsets(old, int(1000 * LIMIT_SECONDS))
    except (KafkaError, OSError):
        return  # readiness tells of a broker that does not respond
    for partition, end in ends.items():
        # The light broker tells a fetch the end, and a separate request only the beginning of the last batch.
        states[partition].highwater = max(end, states[partition].highwater or 0)
