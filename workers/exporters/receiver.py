"""Send requests to one HTTP receiver; distinguish permanent refusals from temporary failures."""

import asyncio
import time
from collections.abc import Mapping

import aiohttp

from workers.errors import ReceiverUnavailable, RefusedByReceiver, RouteMissing
from workers.observability import metrics
from workers.settings import ExportSettings

REFUSALS = frozenset({400, 409, 413, 422})
"""Statuses that refuse the content of a request, so that a retry cannot help. All other errors are retried: the
receiver is unavailable (5xx, 408, 429), or it refuses the caller (401, 403, 404, a redirect). The operator corrects the
caller's settings, and no record may be lost meanwhile."""

MISSING = frozenset({404, 405, 410})
"""Statuses of a route that the receiver does not have, or no longer."""

MAX_PAUSE_SECONDS = 30.0
"""Maximum pause that a receiver can request (``Retry-After``), seconds; the agent's own backoff is added."""

MAX_ANSWER_BYTES = 4_000_000
"""Maximum number of bytes to read from a response, which has at most one line for each event sent."""


def open_session(settings: ExportSettings) -> aiohttp.ClientSession:
    """Open the HTTP session that all exporters of a process share; it keeps no cookies and ignores proxy variables."""
    timeout = aiohttp.ClientTimeout(total=settings.timeout_seconds)
    return aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar())


class Receiver:
    """An HTTP endpoint that receives exports.

    Args:
        exporter: the agent's name, for metrics and messages.
        session: the shared HTTP session.
        url: address of the endpoint; never logged, because it may contain a secret.
        headers: headers of every request.
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
        """Send a request and wait for the acknowledgement.

        Args:
            body: body of the request.
            headers: headers of this request, in addition to those of every request.

        Returns:
            The body of the response.

        Raises:
            ReceiverUnavailable: the receiver did not acknowledge; send the same request again.
            RouteMissing: the receiver has no such route; it is unavailable unless the caller knows another one.
            RefusedByReceiver: the receiver refused the content.
        """
        await asyncio.sleep(max(0.0, self._not_before - time.monotonic()))
        try:
            with metrics.SINK_FLUSH_SECONDS.labels(self.exporter).time():
                async with self._session.post(
                    # A redirect would send the secrets to another address.
                    self._url, data=body, headers=self._headers | dict(headers), allow_redirects=False
                ) as answer:  # fmt: skip
                    content = await _read(answer)
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise ReceiverUnavailable(
                f"the export target of {self.exporter} does not respond ({type(error).__name__})"
            ) from None
        if 200 <= answer.status < 300:
            return content
        if answer.status in REFUSALS:
            raise RefusedByReceiver(
                f"the export target of {self.exporter} refused the content with status {answer.status}"
            )
        if answer.status in MISSING:
            raise RouteMissing(f"the export target of {self.exporter} responded with status {answer.status}")
        self._not_before = time.monotonic() + _pause(answer.headers.get("Retry-After", ""))
        raise ReceiverUnavailable(f"the export target of {self.exporter} responded with status {answer.status}")


async def _read(answer: aiohttp.ClientResponse) -> bytes:
    """Return the body; stop reading once it exceeds ``MAX_ANSWER_BYTES``."""
    content = b""
    async for piece in answer.content.iter_any():
        content += piece
        if len(content) > MAX_ANSWER_BYTES:
            break
    return content


def _pause(retry_after: str) -> float:
    """Return the requested pause in seconds; 0 if the header is missing or holds a date."""
    return min(float(retry_after), MAX_PAUSE_SECONDS) if retry_after.isdecimal() and len(retry_after) < 10 else 0.0
