"""Keep the memory fast and small, on one elected worker."""

from workers.agents.base import AgentContext, OwnedPartitions
from workers.agents.tasks.elected import repeat_while_elected
from workers.errors import UnavailableError
from workers.observability.logs import get_logger
from workers.stores.lancedb.memory_store import MemoryStore

ROUND_SECONDS = 30.0
"""Interval between two rounds. A round without work reads the state of the tables."""

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

    async def run(self, owned: OwnedPartitions) -> None:
        """Repeat until cancelled, while this worker is elected."""
        await repeat_while_elected(self._round, lambda: None, owned, ROUND_SECONDS)

    async def _round(self) -> None:
        try:
            done = await self._memory.keep_up(self._context.now(), self._context.settings.memory.retention_days)
        except UnavailableError as error:
            log.warning("memory_upkeep_failed", error=str(error))
            return
        if done:
            log.info("memory_maintained", done=done)
