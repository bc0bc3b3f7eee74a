"""Select the records to export and process a batch with one request for each record.

A record counts as exported when its receiver has acknowledged the request. If the receiver is unavailable, the
whole batch is retried. Records of the batch that were already acknowledged are remembered in memory and are not
sent again. After a restart they may be sent again, with the same identifiers.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from schemas.headers import header
from workers.delivery.records import Record, Result, WorkItem
from workers.errors import ReceiverUnavailable, RefusedByReceiver
from workers.observability import metrics

PARALLEL = 8
"""Maximum number of concurrent requests to one receiver."""
REMEMBERED = 10_000
"""Maximum number of exported records to remember; larger than the number of records in progress."""
SECONDS_AN_HOUR = 3_600.0

Place = tuple[str, int, int]
Send = Callable[[Record], Awaitable[str]]
"""Export a record and return the result to count: ``sent``, or the reason why nothing was sent."""


def left_out(record: Record, now: datetime, max_age_hours: float) -> str | None:
    """Return the reason to skip a record, or ``None`` if the record must be exported.

    Args:
        record: a record of an exported topic.
        now: current time.
        max_age_hours: maximum age in hours, by the broker's timestamp; older records are skipped.

    Returns:
        ``replay``, ``too_old`` or ``None``. The value is counted in the export metric.
    """
    if header(record.headers, "replay_id") is not None:
        return "replay"
    if record.timestamp and now.timestamp() - record.timestamp > max_age_hours * SECONDS_AN_HOUR:
        return "too_old"
    return None


class PerRecordExporter:
    """Export records concurrently, one request for each record.

    Args:
        exporter: the agent's name.
        send: exports one record.
        max_age_hours: maximum age in hours; older records are skipped.
        now: returns the current time.
    """

    def __init__(self, exporter: str, send: Send, max_age_hours: float, now: Callable[[], datetime]) -> None:
        self._exporter = exporter
        self._send = send
        self._max_age_hours = max_age_hours
        self._now = now
        self._slots = asyncio.Semaphore(PARALLEL)
        self._done: OrderedDict[Place, None] = OrderedDict()

    async def handle(self, works: Sequence[WorkItem]) -> Sequence[Result]:
        """Export a batch.

        Args:
            works: the records to export.

        Returns:
            For each record an empty list if the record is exported or skipped, or the error.

        Raises:
            ReceiverUnavailable: the receiver is unavailable; retry the whole batch.
        """
        away: list[ReceiverUnavailable] = []

        async def export(record: Record) -> Result:
            async with self._slots:
                if away:
                    return []  # the whole batch is retried
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
