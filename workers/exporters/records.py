"""What the exporting agents share: which records are left out, and what becomes of each of the others.

A record counts as exported when its receiver has confirmed; then it is acknowledged as any other. A receiver that is away
is waited for with the whole batch, so what it confirmed before it went is remembered here: it is not told twice but
after a restart, with the same identifiers then.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from schemas.headers import header
from workers import metrics
from workers.delivery.errors import ReceiverUnavailable, RefusedByReceiver
from workers.delivery.records import Record, Result, Work

PARALLEL = 8
"""Most requests to one receiver at once."""
REMEMBERED = 10_000
"""Records of which is known that they are done; more than can be in work."""
SECONDS_AN_HOUR = 3_600.0

Place = tuple[str, int, int]
Send = Callable[[Record], Awaitable[str]]
"""Exports a record and returns the result to count: ``sent``, or why there was nothing to send."""


def left_out(record: Record, now: datetime, max_age_hours: float) -> str | None:
    """Why a record is not to be exported, as a result to count; ``None`` where it is.

    Args:
        record: of a topic that is exported.
        now: the time.
        max_age_hours: older records are left out, by the broker's time.
    """
    if header(record.headers, "replay_id") is not None:
        return "replay"
    if record.timestamp and now.timestamp() - record.timestamp > max_age_hours * SECONDS_AN_HOUR:
        return "too_old"
    return None


class OneByOne:
    """Exports records by a request each, several at once.

    Args:
        exporter: the agent's name.
        send: exports one.
        max_age_hours: older records are left out.
        now: the clock.
    """

    def __init__(self, exporter: str, send: Send, max_age_hours: float, now: Callable[[], datetime]) -> None:
        self._exporter = exporter
        self._send = send
        self._max_age_hours = max_age_hours
        self._now = now
        self._slots = asyncio.Semaphore(PARALLEL)
        self._done: OrderedDict[Place, None] = OrderedDict()

    async def handle(self, works: Sequence[Work]) -> Sequence[Result]:
        """Export a batch.

        Returns:
            Nothing to send on for each record that is done, else why it failed.

        Raises:
            ReceiverUnavailable: the receiver is to be waited for.
        """
        away: list[ReceiverUnavailable] = []

        async def export(record: Record) -> Result:
            async with self._slots:
                if away:
                    return []  # the batch comes again
                try:
                    await self._export(record)
                except ReceiverUnavailable as error:
                    away.append(error)
                except Exception as error:
                    return error
                return []

        results = await asyncio.gather(*(export(work.record) for work in works))
        if away:
            raise away[0]
        return results

    async def _export(self, record: Record) -> None:
        place = (record.topic, record.partition, record.offset)
        if place in self._done:
            return
        try:
            result = left_out(record, self._now(), self._max_age_hours) or await self._send(record)
        except RefusedByReceiver:
            metrics.EXPORTS.labels(self._exporter, "refused").inc()
            raise
        metrics.EXPORTS.labels(self._exporter, result).inc()
        self._done[place] = None
        if len(self._done) > REMEMBERED:
            self._done.popitem(last=False)
