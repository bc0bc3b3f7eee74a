"""Keep the final state of each answer the last record of its key on answers.released.

Every worker does this for the partitions of ``review.decisions`` that it owns.
"""

import asyncio

from workers.agents.base import AgentContext, OwnedPartitions
from workers.delivery.followers.released_answers import ReleasedAnswers
from workers.errors import UnavailableError
from workers.observability.logs import get_logger

AGENT = "decisions"

log = get_logger(__name__)


class FinalStateRepublisher:
    """Read answers.released regularly, and send final states again that an older state has covered.

    Args:
        context: producer, clock and settings.
        released: reader of answers.released.
    """

    def __init__(self, context: AgentContext, released: ReleasedAnswers) -> None:
        self._context = context
        self._released = released

    async def run(self, owned: OwnedPartitions) -> None:
        """Repeat until cancelled."""
        while True:
            try:
                await self.republish(owned())
            except UnavailableError as error:
                log.warning("final_state_check_failed", error=str(error))
            await asyncio.sleep(self._context.settings.review.sweep_seconds)

    async def republish(self, owned: set[int]) -> None:
        """Read new records, and send covered final states again.

        Args:
            owned: partition numbers of review.decisions that this worker owns.

        Raises:
            UnavailableError: the broker does not respond or acknowledge.
        """
        await self._released.refresh(owned, self._context.now())
        outputs = await self._released.covered(owned)
        await self._context.producer.send(outputs, agent=AGENT)
