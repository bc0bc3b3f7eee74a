"""Record which caller was shown which answer: a log line and a row in the table ``accesses``.

The row is written in the background, so that the reader does not wait for the broker. The queue
of unwritten rows is bounded. While the queue is full, answers are refused, because every access
must be recorded.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from uuid import uuid4

from schemas.headers import event_headers
from schemas.identifiers import record_key
from schemas.topics import FEEDBACK_ANALYTICS
from workers.console.identity.principal import Principal
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.errors import UnavailableError, describe
from workers.observability.logs import get_logger
from workers.process.background import start_background
from workers.stores.tables.operation_tables import AccessRow

AGENT = "console"
MAX_WAITING = 10_000
"""Maximum number of records that wait to be written."""
MOST_NAMED = 1_000
"""Maximum number of answers of one record: identifiers of 200 characters each fit a record of the broker."""
BATCH = 200
"""Maximum number of records to send at once."""
RETRY_SECONDS = 2.0
STOP_SECONDS = 5.0
"""Maximum time that a stop waits for unwritten accesses."""

log = get_logger(__name__)


class AccessLogFull(UnavailableError):
    """Too many accesses wait to be written; answers are refused until the broker acknowledges them."""


class AccessLog:
    """The record of accesses to answers.

    Args:
        producer: sends records and waits for the acknowledgement.
        pipeline_version: version of this process, for headers.
        now: the clock.
    """

    def __init__(self, producer: ConfirmedProducer, pipeline_version: str, now: Callable[[], datetime]) -> None:
        self._producer = producer
        self._version = pipeline_version
        self._now = now
        self._waiting: asyncio.Queue[Output] = asyncio.Queue(MAX_WAITING)
        self._task: asyncio.Task[None] | None = None
        self.failure: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()

    def start(self) -> None:
        """Start the background writer; ``failure`` reports its error."""
        self._task = start_background(self._write(), "access-log", self.failure)

    async def stop(self) -> None:
        """Write the waiting accesses for at most ``STOP_SECONDS``, then stop."""
        if self._task is None:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await self._waiting.join()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if not self._waiting.empty():
            log.warning("accesses_lost", count=self._waiting.qsize())

    def note_page(self, principal: Principal, what: str, answers: Sequence[tuple[str, str]]) -> None:
        """Record that a list of answers is shown, given by tenant and identifier; see ``note``."""
        by_tenant: dict[str, list[str]] = {}
        for tenant, answer_id in answers:
            by_tenant.setdefault(tenant, []).append(answer_id)
        for tenant, identifiers in by_tenant.items():
            for first in range(0, len(identifiers), MOST_NAMED):
                self.note(principal, what, tenant, identifiers[first : first + MOST_NAMED])

    def note(self, principal: Principal, what: str, tenant: str, answers: Sequence[str]) -> None:
        """Record that answers are shown to a caller; call this before they are shown.

        Args:
            principal: the caller.
            what: name of the route.
            tenant: tenant of the answers.
            answers: identifiers of the answers.

        Raises:
            AccessLogFull: the queue of unwritten accesses is full.
        """
        if not answers:
            return
        who, via = principal.name, principal.via
        now = self._now()
        log.info("answers_accessed", who=who, via=via, what=what, tenant=tenant, answers=list(answers))
        access_id = str(uuid4())
        row = AccessRow(
            access_id=access_id, at=now, who=who, via=via, what=what, tenant=tenant, answers=list(answers)
        ).record()
        headers = event_headers(
            event_id=access_id,
            event_type=type(row).__name__,
            time=now,
            pipeline_version=self._version,
            agent=AGENT,
        )
        try:
            self._waiting.put_nowait(
                Output(FEEDBACK_ANALYTICS, record_key(tenant, answers[0]).encode(), row.to_bytes(), headers)
            )
        except asyncio.QueueFull:
            raise AccessLogFull(
                "the access log cannot be written, so no answer is shown; check whether the broker responds"
            ) from None

    async def _write(self) -> None:
        while True:
            batch = [await self._waiting.get()]
            while len(batch) < BATCH and not self._waiting.empty():
                batch.append(self._waiting.get_nowait())
            while True:
                try:
                    await self._producer.send(batch, agent=AGENT)
                    break
                except UnavailableError as error:
                    log.warning("accesses_delayed", error=describe(error), waiting=self._waiting.qsize() + len(batch))
                    await asyncio.sleep(RETRY_SECONDS)
            for _ in batch:
                self._waiting.task_done()
