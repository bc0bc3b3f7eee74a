"""Decisions that can still be taken back: published when their time is up.

Nobody else knows of a decision before it is on its topic, so undoing needs no second event
that the first would have to be held against. A copy is kept in Redis: should this process
die, the next console publishes it. Without Redis a killed process loses the decisions of the
last seconds; their requests are open again, and nothing was released.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson

from schemas.review import ReviewDecision
from workers.delivery.errors import UnavailableError, describe
from workers.logs import get_logger
from workers.review.shared import SharedState, SharedStateAway

LOOK_SECONDS = 0.25
"""Time between two looks whether something is due."""

MARGIN_SECONDS = 0.5
"""Published so long after the last moment for an undo, which may still be under way in another console."""

ORPHAN_SECONDS = 5.0
"""A copy so long overdue is one whose console has died."""

UNDONE_SECONDS = 900
"""So long it is remembered that a decision was taken back."""

log = get_logger(__name__)

Publish = Callable[[ReviewDecision], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Pending:
    """A decision and until when it can be taken back."""

    decision: ReviewDecision
    undo_until: datetime


class PendingDecisions:
    """Keeps decisions for their undo window.

    Args:
        shared: Redis, for the copy.
        publish: sends a decision, confirmed; a repeat must do no harm.
        now: the clock.
    """

    def __init__(self, shared: SharedState, publish: Publish, now: Callable[[], datetime]) -> None:
        self._shared = shared
        self._publish = publish
        self._now = now
        self._ours: dict[str, Pending] = {}

    @property
    def waiting(self) -> int:
        """Decisions that this process keeps."""
        return len(self._ours)

    async def add(self, decision: ReviewDecision, undo_until: datetime) -> None:
        """Keep a decision until its time is up."""
        self._ours[decision.feedback_id] = Pending(decision, undo_until)
        copy = orjson.dumps({"undo_until": undo_until.isoformat(), "decision": decision.model_dump_json()})
        try:
            await self._shared.ask("hset", self._shared.key("pending"), decision.feedback_id, copy)
        except SharedStateAway:
            return  # this process has it

    async def take_back(self, decision_id: str) -> bool:
        """Withdraw a decision, also one that another console keeps.

        Returns:
            Whether it was still there, and in time.
        """
        now = self._now()
        ours = self._ours.get(decision_id)
        if ours is not None and ours.undo_until < now:
            return False
        try:
            if ours is None:
                copy = await self._shared.ask("hget", self._shared.key("pending"), decision_id)
                if copy is None or _pending(copy).undo_until < now:
                    return False
            # Told to the console that keeps it; a copy that is merely gone says nothing, since Redis may forget.
            await self._shared.ask("set", self._shared.key("undone", decision_id), b"1", ex=UNDONE_SECONDS)
            await self._remove(decision_id)
        except SharedStateAway:
            if ours is None:
                return False
        self._ours.pop(decision_id, None)
        return True

    async def run(self) -> None:
        """Publish what is due, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self.publish_due()
            except UnavailableError as error:
                log.warning("decisions_wait", error=describe(error), waiting=len(self._ours))

    async def publish_due(self) -> None:
        """Publish what can no longer be taken back, and what a dead console has left.

        Raises:
            UnavailableError: the broker does not confirm; what is left is tried again.
        """
        due = self._now() - timedelta(seconds=MARGIN_SECONDS)
        for decision_id, pending in list(self._ours.items()):
            if pending.undo_until <= due:
                await self._publish_one(decision_id, pending)
        for pending in await self._orphans():
            await self._publish(pending.decision)
            await self._remove(pending.decision.feedback_id)

    async def flush(self) -> None:
        """Publish everything at once: this console ends.

        Raises:
            UnavailableError: the broker does not confirm.
        """
        for decision_id, pending in list(self._ours.items()):
            await self._publish_one(decision_id, pending)

    async def _publish_one(self, decision_id: str, pending: Pending) -> None:
        if await self._taken_back_elsewhere(decision_id):
            self._ours.pop(decision_id, None)
            return
        await self._publish(pending.decision)
        # Removed after it is published: a death in between publishes it twice, which does no harm.
        self._ours.pop(decision_id, None)
        await self._remove(decision_id)

    async def _taken_back_elsewhere(self, decision_id: str) -> bool:
        try:
            return bool(await self._shared.ask("exists", self._shared.key("undone", decision_id)))
        except SharedStateAway:
            return False

    async def _remove(self, decision_id: str) -> None:
        try:
            await self._shared.ask("hdel", self._shared.key("pending"), decision_id)
        except SharedStateAway:
            return  # the next console publishes it once more

    async def _orphans(self) -> list[Pending]:
        try:
            copies = await self._shared.ask("hvals", self._shared.key("pending"))
        except SharedStateAway:
            return []
        before = self._now() - timedelta(seconds=ORPHAN_SECONDS)
        return [pending for copy in copies if (pending := _pending(copy)).undo_until <= before]


def _pending(copy: bytes) -> Pending:
    content = orjson.loads(copy)
    return Pending(
        ReviewDecision.model_validate_json(content["decision"]), datetime.fromisoformat(content["undo_until"])
    )
