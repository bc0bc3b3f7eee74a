"""Tell an answer that was erased at the request of a person from one that never was."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from workers.delivery.followers.erasure_follower import ErasureRegister, ErasureRequest, ErasuresUnreadable
from workers.observability.logs import get_logger

READ_AGAIN_SECONDS = 60.0
"""Time after which the register is read again. Programs ask for a new answer again and again until it is evaluated."""
MOST_SECONDS = 5.0
"""Maximum time of reading the register, since a person waits."""

log = get_logger(__name__)


class ErasedAnswers:
    """Look up erased answers in the register of erasures, which holds digests and no names.

    Args:
        read: reads the register from its beginning to its end.
    """

    def __init__(self, read: Callable[[], Awaitable[ErasureRegister]]) -> None:
        self._read = read
        self._register: ErasureRegister | None = None
        self._read_at: float | None = None
        self._reading = asyncio.Lock()

    async def erased_at(self, tenants: Sequence[str], answer_id: str) -> datetime | None:
        """Return the time of the request by which an answer was erased, UTC; ``None`` if that is not known.

        Args:
            tenants: possible tenants of the answer; all if empty.
            answer_id: identifier.
        """
        register = await self._known()
        return register.erased_at(tenants or None, answer_id) if register else None

    async def requests(self, tenants: Sequence[str]) -> list[ErasureRequest] | None:
        """Return the requests by which persons were erased, the latest first; ``None`` if they are not known.

        Args:
            tenants: tenants of the persons; all if empty.
        """
        register = await self._known()
        return register.requests(tenants or None) if register else None

    async def _known(self) -> ErasureRegister | None:
        """Return the register as it was at most a minute ago; an older one, or none, if it cannot be read."""
        async with self._reading:
            now = time.monotonic()
            if self._read_at is None or now - self._read_at > READ_AGAIN_SECONDS:
                self._read_at = now
                try:
                    async with asyncio.timeout(MOST_SECONDS):
                        self._register = await self._read()
                except (ErasuresUnreadable, TimeoutError) as error:
                    log.warning("erasure_reading_failed", error=str(error) or "timeout")
            return self._register
