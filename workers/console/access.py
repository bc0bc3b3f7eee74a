"""Who looked at which answer, and when: a line in the log and a row in the table ``accesses``.

The row is written behind the request: the reader does not wait for the broker. What waits is
bounded; when nothing can be written for long, answers are refused rather than shown unnoted.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from uuid import uuid4

from schemas.feedback import AnalyticsRow
from schemas.headers import event_headers
from schemas.topics import FEEDBACK_ANALYTICS
from workers.background import start_background
from workers.console.principal import Principal
from workers.delivery.errors import UnavailableError, describe
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.logs import get_logger

AGENT = "console"
MAX_WAITING = 10_000
"""Most accesses that wait to be written."""
BATCH = 200
"""Most accesses that are sent at once."""
RETRY_SECONDS = 2.0
STOP_SECONDS = 5.0
"""Longest time that a stop takes to write what still waits."""

log = get_logger(__name__)


class AccessLogFull(UnavailableError):
    """Too many accesses wait to be written; nothing more is shown until they are."""


class AccessLog:
    """Notes accesses.

    Args:
        producer: confirmed sends.
        pipeline_version: of this process.
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
        """Begin to write; what ends it is told by ``failure``."""
        self._task = start_background(self._write(), "access-log", self.failure)

    async def stop(self) -> None:
        """Write what waits, as far as the broker lets us."""
        if self._task is None:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await self._waiting.join()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if not self._waiting.empty():
            log.warning("accesses_not_stored", count=self._waiting.qsize())

    def note_page(self, principal: Principal, what: str, answers: Sequence[tuple[str, str]]) -> None:
        """Note that somebody is shown a list of answers, given by tenant and identifier; see ``note``."""
        by_tenant: dict[str, list[str]] = {}
        for tenant, answer_id in answers:
            by_tenant.setdefault(tenant, []).append(answer_id)
        for tenant, identifiers in by_tenant.items():
            self.note(principal, what, tenant, identifiers)

    def note(self, principal: Principal, what: str, tenant: str, answers: Sequence[str]) -> None:
        """Note that somebody is shown answers; call it before they are.

        Args:
            principal: who.
            what: by which route.
            tenant: whose answers.
            answers: their identifiers.

        Raises:
            AccessLogFull: nothing could be written for long.
        """
        if not answers:
            return
        who, via = principal.name, principal.via
        now = self._now()
        log.info("answers_accessed", who=who, via=via, what=what, tenant=tenant, answers=list(answers))
        access_id = str(uuid4())
        columns = {
            "access_id": access_id,
            "at": now.isoformat(),
            "who": who,
            "via": via,
            "what": what,
            "tenant": tenant,
            "answers": list(answers),
        }
        row = AnalyticsRow(table="accesses", columns=columns)
        headers = event_headers(
            event_id=access_id,
            event_type="AnalyticsRow",
            time=now,
            pipeline_version=self._version,
            agent=AGENT,
        )
        try:
            self._waiting.put_nowait(Output(FEEDBACK_ANALYTICS, answers[0].encode(), row.to_bytes(), headers))
        except asyncio.QueueFull:
            raise AccessLogFull(
                "the log of accesses cannot be written, so that no answer is shown; see whether the broker answers"
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
                    log.warning("accesses_wait", error=describe(error), waiting=self._waiting.qsize() + len(batch))
                    await asyncio.sleep(RETRY_SECONDS)
            for _ in batch:
                self._waiting.task_done()
