"""Hold decisions during their undo window and publish them afterwards.

A decision is not on its topic during its undo window. Undo therefore needs no second event.
Redis keeps a copy of each decision: if this process dies, the next console publishes the copy.
Without Redis, a killed process loses the decisions of the last seconds. Their requests are
open again, and no answer was released.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson

from schemas.review import ReviewDecision
from workers.errors import UnavailableError, describe
from workers.observability.logs import get_logger
from workers.review.shared_state import SharedState, SharedStateAway

LOOK_SECONDS = 0.25
"""Interval between two checks for due decisions."""

MARGIN_SECONDS = 0.5
"""Delay of the publication after the undo window, for an undo in progress in another console."""

ORPHAN_SECONDS = 5.0
"""Delay after which the console of an overdue copy counts as dead."""

UNDONE_SECONDS = 900
"""Lifetime of the note that a decision was undone."""

log = get_logger(__name__)

Publish = Callable[[ReviewDecision], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Pending:
    """A decision and the end of its undo window."""

    decision: ReviewDecision
    undo_until: datetime


class PendingDecisions:
    """Decisions in their undo window.

    Args:
        shared: Redis, for the copies.
        publish: sends a decision and waits for the acknowledgement; must be idempotent.
        now: the clock.
    """

    def __init__(self, shared: SharedState, publish: Publish, now: Callable[[], datetime]) -> None:
        self._shared = shared
        self._publish = publish
        self._now = now
        self._ours: dict[str, Pending] = {}

    @property
    def waiting(self) -> int:
        """Return the number of decisions that this process holds."""
        return len(self._ours)

    async def add(self, decision: ReviewDecision, undo_until: datetime) -> None:
        """Hold a decision until its undo window ends."""
        self._ours[decision.feedback_id] = Pending(decision, undo_until)
        copy = orjson.dumps({"undo_until": undo_until.isoformat(), "decision": decision.model_dump_json()})
        try:
            await self._shared.ask("hset", self._shared.key("pending"), decision.feedback_id, copy)
        except SharedStateAway:
            return  # this process holds the decision in memory

    async def take_back(self, decision_id: str) -> ReviewDecision | None:
        """Undo a decision, also one that another console holds.

        Returns:
            The decision; ``None`` if it was no longer pending or its undo window was over.
        """
        now = self._now()
        ours = self._ours.get(decision_id)
        known = ours
        try:
            if known is None:
                copy = await self._shared.ask("hget", self._shared.key("pending"), decision_id)
                known = _pending(copy) if copy is not None else None
            if known is None or known.undo_until < now:
                return None
            # The note informs the console that holds the decision. A missing copy proves nothing: Redis may lose data.
            await self._shared.ask("set", self._shared.key("undone", decision_id), b"1", ex=UNDONE_SECONDS)
            await self._remove(decision_id)
        except SharedStateAway:
            if ours is None:
                return None
        self._ours.pop(decision_id, None)
        return known.decision if known else None

    async def run(self) -> None:
        """Publish due decisions until cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self.publish_due()
            except UnavailableError as error:
                log.warning("decisions_delayed", error=describe(error), waiting=len(self._ours))

    async def publish_due(self) -> None:
        """Publish decisions whose undo window has ended, and copies of dead consoles.

        Raises:
            UnavailableError: the broker does not acknowledge; the next call tries the rest again.
        """
        due = self._now() - timedelta(seconds=MARGIN_SECONDS)
        for decision_id, pending in list(self._ours.items()):
            if pending.undo_until <= due:
                await self._publish_one(decision_id, pending)
        for pending in await self._orphans():
            await self._publish(pending.decision)
            await self._remove(pending.decision.feedback_id)

    async def flush(self) -> None:
        """Publish all decisions at once, before this console stops.

        Raises:
            UnavailableError: the broker does not acknowledge.
        """
        for decision_id, pending in list(self._ours.items()):
            await self._publish_one(decision_id, pending)

    async def _publish_one(self, decision_id: str, pending: Pending) -> None:
        if await self._taken_back_elsewhere(decision_id):
            self._ours.pop(decision_id, None)
            return
        await self._publish(pending.decision)
        # Remove after publishing: a crash in between publishes the decision twice, and publishing is idempotent.
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
            return  # the next console publishes the copy once more; publishing is idempotent

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
