"""Close connections on which no request arrives: a caller needs no token to open thousands of them."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

HEADER_SECONDS = 10.0
"""Time within which the head of a request must be complete, seconds; waiting connections are looked at as often."""


class TimedProtocol(H11Protocol):
    """HTTP/1.1 in which the head of the first and of each further request has a time limit."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to watch a connection."""
        super().connection_made(transport)
        self._idle_after: RequestResponseCycle | None = None
        self._watch = self.loop.call_later(HEADER_SECONDS, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the watch."""
        self._watch.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        """Close the connection if it has waited for a request since the last look."""
        is_waiting = self.cycle is None or self.cycle.response_complete
        if is_waiting and self.cycle is self._idle_after:
            self.transport.close()
            return
        if is_waiting:
            self._idle_after = self.cycle
        self._watch = self.loop.call_later(HEADER_SECONDS, self._look)
