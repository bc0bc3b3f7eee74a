"""Remember sessions that were ended by a log-out, until their cookies expire.

A session is a signed cookie and is stored nowhere, so a copy of the cookie would be valid after the log-out. Redis shares
the list between consoles. Without Redis, only the console that received the log-out knows it.
"""

from datetime import datetime
from hashlib import sha256

from workers.review.queue.shared_state import SharedState, SharedStateAway


class EndedSessions:
    """Keep the sessions that were ended before their time.

    Args:
        shared: Redis.
    """

    def __init__(self, shared: SharedState) -> None:
        self._shared = shared
        self._ended: dict[str, datetime] = {}

    async def add(self, cookie: str, expires_at: datetime, now: datetime) -> None:
        """Add a session until its cookie expires."""
        self._ended = {name: end for name, end in self._ended.items() if end > now}
        self._ended[_name(cookie)] = expires_at
        seconds = max(1, int((expires_at - now).total_seconds()))
        try:
            await self._shared.ask("set", self._shared.key("ended-session", _name(cookie)), b"1", ex=seconds)
        except SharedStateAway:
            return  # this process knows it

    async def contains(self, cookie: str) -> bool:
        """Return true if a session was ended. Without Redis, only log-outs at this console are known."""
        if _name(cookie) in self._ended:
            return True
        try:
            return bool(await self._shared.ask("exists", self._shared.key("ended-session", _name(cookie))))
        except SharedStateAway:
            return False


def _name(cookie: str) -> str:
    return sha256(cookie.encode("utf-8", "surrogatepass")).hexdigest()
