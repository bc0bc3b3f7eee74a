"""One receiver over HTTP: a request is confirmed, refused for good, or waits for better times."""

import asyncio
import time
from collections.abc import Mapping

import aiohttp

from workers import metrics
from workers.delivery.errors import ReceiverUnavailable, RefusedByReceiver
from workers.settings import ExportSettings

REFUSALS = frozenset({400, 409, 413, 422})
"""Statuses that say something of what was sent, so that waiting cannot help. All other errors are waited for: the
receiver is away (5xx, 408, 429), or it refuses us and not the record (401, 403, 404, a redirection), which is mended in
the settings and must cost no record."""

MAX_PAUSE_SECONDS = 30.0
"""Longest pause that a receiver can ask for (``Retry-After``); the agent's own pauses come on top."""

MAX_ANSWER_BYTES = 4_000_000
"""What is read of an answer: one line for each event that was sent, at most."""


def open_session(settings: ExportSettings) -> aiohttp.ClientSession:
    """The session that all exporters of a process share; it keeps no cookies and follows no proxy of the environment."""
    timeout = aiohttp.ClientTimeout(total=settings.timeout_seconds)
    return aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar())


class Receiver:
    """Who is exported to.

    Args:
        exporter: the agent's name, for metrics and messages.
        session: shared.
        url: where to; it is never told, since it may be a secret.
        headers: of every request.
    """

    def __init__(
        self, exporter: str, session: aiohttp.ClientSession, url: str, headers: Mapping[str, str] | None = None
    ) -> None:
        self.exporter = exporter
        self._session = session
        self._url = url
        self._headers = dict(headers or {})
        self._not_before = 0.0

    async def post(self, body: bytes, headers: Mapping[str, str]) -> bytes:
        """Send, and wait for the confirmation.

        Args:
            body: of the request.
            headers: beside those of every request.

        Returns:
            The body of the answer.

        Raises:
            ReceiverUnavailable: not confirmed; the same may be sent again.
            RefusedByReceiver: refused for what it holds.
        """
        await asyncio.sleep(max(0.0, self._not_before - time.monotonic()))
        try:
            with metrics.SINK_FLUSH_SECONDS.labels(self.exporter).time():
                async with self._session.post(
                    # A redirection could lead anywhere, and would take the secrets along.
                    self._url, data=body, headers=self._headers | dict(headers), allow_redirects=False
                ) as answer:  # fmt: skip
                    content = await _read(answer)
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise ReceiverUnavailable(
                f"the receiver of {self.exporter} does not answer ({type(error).__name__})"
            ) from None
        if 200 <= answer.status < 300:
            return content
        if answer.status in REFUSALS:
            raise RefusedByReceiver(f"the receiver of {self.exporter} refuses the content with status {answer.status}")
        self._not_before = time.monotonic() + _pause(answer.headers.get("Retry-After", ""))
        raise ReceiverUnavailable(f"the receiver of {self.exporter} answers with status {answer.status}")


async def _read(answer: aiohttp.ClientResponse) -> bytes:
    """The body, which may come in pieces; cut off where no receiver has so much to say."""
    content = b""
    async for piece in answer.content.iter_any():
        content += piece
        if len(content) > MAX_ANSWER_BYTES:
            break
    return content


def _pause(retry_after: str) -> float:
    """Seconds that a receiver asks us to wait; 0 where it says nothing, or a date."""
    return min(float(retry_after), MAX_PAUSE_SECONDS) if retry_after.isdecimal() and len(retry_after) < 10 else 0.0
