"""Keep the memory fast and small, on one elected worker."""

from contextlib import suppress
from time import monotonic

from workers.agents.base import AgentContext, OwnedPartitions
from workers.agents.tasks.elected import repeat_while_elected
from workers.errors import UnavailableError
from workers.observability.logs import get_logger
from workers.stores.lancedb.memory_store import MemoryStore

ROUND_SECONDS = 2.0
"""Interval between two rounds. A round looks at the number of new files and rows, which takes milliseconds."""

ALL_UPKEEP_EVERY = 15
"""Number of rounds of which one does all upkeep."""

REST = 4
"""Pause after a round, in durations of that round: upkeep of a large memory takes at most a fifth of the time. Source:
docs/decisions/0090-compaction-of-memory.md."""

log = get_logger(__name__)


class MemoryKeeper:
    """Remove old turns, compact files and build indices regularly.

    Args:
        context: clock and settings.
        memory: the opened memory.
    """

    def __init__(self, context: AgentContext, memory: MemoryStore) -> None:
        self._context = context
        self._memory = memory
        self._rounds = 0
        self._rested = 0.0

    async def run(self, owned: OwnedPartitions) -> None:
        """Repeat until cancelled, while this worker is elected."""
        await repeat_while_elected(self._round, lambda: None, owned, ROUND_SECONDS)

    async def _round(self) -> None:
        begun = monotonic()
        self._rounds += 1
        if begun < self._rested:
            return
        try:
            await self._keep_up()
        except UnavailableError as error:
            log.warning("memory_upkeep_failed", error=str(error))
        ended = monotonic()
        self._rested = ended + REST * (ended - begun)

    async def _keep_up(self) -> None:
        if self._rounds < ALL_UPKEEP_EVERY:
            with suppress(UnavailableError):  # the next round of all upkeep reports it
                await self._memory.compact()
            return
        self._rounds = 0
        done = await self._memory.keep_up(self._context.now(), self._context.settings.memory.retention_days)
        if done:
            log.info("memory_maintained", done=done)
