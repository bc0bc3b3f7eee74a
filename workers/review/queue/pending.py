"""Hold decisions during their undo window and publish them afterwards.

A decision is not on its topic during its undo window. Undo therefore needs no second event.
Redis keeps a copy of each decision: if this process dies, the next console publishes the copy.
Without Redis, a killed process loses the decisions of the last seconds. Their requests are
open again, and no answer was released.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson

from schemas.review import ReviewDecision
from workers.errors import PoisonError, StoreUnavailable, UnavailableError, describe
from workers.observability.logs import get_logger
from workers.review.queue.shared_state import SharedState, SharedStateAway

LOOK_SECONDS = 0.25
"""Interval between two checks for due decisions."""

MARGIN_SECONDS = 0.5
"""Delay of the publication after the undo window, for an undo in progress in another console."""

ORPHAN_SECONDS = 5.0
"""Delay after which the console of an overdue copy counts as dead."""

LOOKS_FOR_ORPHANS = 20
"""Looks of which one asks Redis for copies of dead consoles."""

UNDONE_SECONDS = 900
"""Lifetime of the note that a decision was undone."""

NOTE_WITHOUT_TIME = b"1"
"""Note of a console of an earlier version: it names no time."""

log = get_logger(__name__)

Publish = Callable[[ReviewDecision], Awaitable[None]]
Withdraw = Callable[[str, str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Pending:
    """A decision and the end of its undo window.

    Attributes:
        decision: the decision.
        undo_until: end of the window.
        mark: name of the mark of the request; empty if a console of an earlier version did not write it.
    """

    decision: ReviewDecision
    undo_until: datetime
    mark: str = ""


class PendingDecisions:
    """Decisions in their undo window.

    Args:
        shared: Redis, for the copies.
        publish: sends a decision and waits for the acknowledgement; must be idempotent.
        withdraw: removes the mark (by name) of a decision (by identifier) that cannot be published.
        now: the clock.
    """

    def __init__(self, shared: SharedState, publish: Publish, withdraw: Withdraw, now: Callable[[], datetime]) -> None:
        self._shared = shared
        self._publish = publish
        self._withdraw = withdraw
        self._now = now
        self._ours: dict[str, Pending] = {}
        self._later: list[Callable[[], Awaitable[None]]] = []
        self._unreadable: set[str] = set()

    @property
    def waiting(self) -> int:
        """Return the number of decisions that this process holds."""
        return len(self._ours)

    async def add(self, decision: ReviewDecision, undo_until: datetime, mark: str) -> None:
        """Hold a decision until its undo window ends.

        Args:
            decision: the decision.
            undo_until: end of the window.
            mark: name of the mark of its request.
        """
        self._ours[decision.feedback_id] = Pending(decision, undo_until, mark)
        copy = orjson.dumps(
            {"undo_until": undo_until.isoformat(), "decision": decision.model_dump_json(), "mark": mark}
        )
        try:
            await self._shared.ask("hset", self._copies, decision.feedback_id, copy)
        except SharedStateAway:
            return  # this process holds the decision in memory

    async def take_back(self, decision_id: str) -> ReviewDecision | None:
        """Undo a decision, also one that another console holds.

        Returns:
            The decision; ``None`` if it was no longer pending or its undo window was over.

        Raises:
            StoreUnavailable: Redis does not respond, and another console may hold the decision.
        """
        now = self._now()
        known = ours = self._ours.get(decision_id)
        try:
            if known is None:
                known = self._read(decision_id, await self._shared.ask("hget", self._copies, decision_id))
            if known is None or known.undo_until < now:
                return None
            # The note informs the console that holds the decision. A missing copy proves nothing: Redis may lose data.
            note = self._shared.key("undone", decision_id), known.decision.timestamp.isoformat()
            if ours is None:
                await self._shared.ask("set", *note, ex=UNDONE_SECONDS)
            else:
                await self._shared.insist("set", *note, ex=UNDONE_SECONDS)
        except SharedStateAway:
            if not self._shared.is_configured:
                return None
            raise StoreUnavailable(
                "Redis does not respond, so the console that holds the decision cannot be asked; undo it again"
            ) from None
        await self._remove(decision_id)
        self._ours.pop(decision_id, None)
        return known.decision

    def send_later(self, send: Callable[[], Awaitable[None]]) -> None:
        """Repeat a send that the broker did not acknowledge; it must be idempotent."""
        self._later.append(send)

    async def run(self) -> None:
        """Publish due decisions until cancelled."""
        for look in itertools.count(1):
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await (self.publish_due() if look % LOOKS_FOR_ORPHANS == 0 else self._publish_ours())
            except UnavailableError as error:
                log.warning("decisions_delayed", error=describe(error), waiting=len(self._ours))

    async def publish_due(self) -> None:
        """Publish decisions whose undo window has ended, and copies of dead consoles.

        Raises:
            UnavailableError: the broker does not acknowledge; the next call tries the rest again.
        """
        await self._publish_ours()
        for pending in await self._orphans():
            await self._publish_one(pending)

    async def _publish_ours(self) -> None:
        await self._send_late()
        due = self._now() - timedelta(seconds=MARGIN_SECONDS)
        for pending in [each for each in self._ours.values() if each.undo_until <= due]:
            await self._publish_one(pending)

    async def flush(self) -> None:
        """Publish all decisions at once, before this console stops.

        Raises:
            UnavailableError: the broker does not acknowledge.
        """
        await self._send_late()
        for pending in list(self._ours.values()):
            await self._publish_one(pending)

    async def _send_late(self) -> None:
        while self._later:
            await self._later[0]()
            self._later.pop(0)

    async def _publish_one(self, pending: Pending) -> None:
        decision, ours = pending.decision, self._ours.get(pending.decision.feedback_id) is pending
        taken_back = await self._taken_back_elsewhere(decision)
        if not taken_back:
            await self._publish_or_drop(pending)
        # Remove after publishing: a crash in between publishes the decision twice, and publishing is idempotent.
        if ours:
            self._ours.pop(decision.feedback_id, None)
        if not (ours and taken_back):  # the same decision, made again, may have written that copy
            await self._remove(decision.feedback_id)

    async def _publish_or_drop(self, pending: Pending) -> None:
        # Readers have its result from now on, not from the time at which it was made.
        decision = pending.decision.model_copy(update={"published_at": self._now()})
        try:
            await self._publish(decision)
        except PoisonError as error:
            # The next try would fail as well, here and in every other console.
            log.error("decision_dropped", review_id=decision.review_id, error=describe(error))
            if mark := pending.mark or ("" if decision.second_review else decision.review_id):
                await self._withdraw(mark, decision.feedback_id)

    async def _taken_back_elsewhere(self, decision: ReviewDecision) -> bool:
        try:
            note = await self._shared.ask("get", self._shared.key("undone", decision.feedback_id))
        except SharedStateAway:
            return False
        # The same decision, made again after its undo, has the same identifier and a later time.
        return note is not None and (note == NOTE_WITHOUT_TIME or decision.timestamp <= _time(note))

    async def _remove(self, decision_id: str) -> None:
        await self._shared.insist("hdel", self._copies, decision_id)

    async def _orphans(self) -> list[Pending]:
        try:
            copies = await self._shared.ask("hgetall", self._copies)
        except SharedStateAway:
            return []
        before = self._now() - timedelta(seconds=ORPHAN_SECONDS)
        found = [self._read(name.decode(), copy) for name, copy in copies.items()]
        return [each for each in found if each is not None and each.undo_until <= before]

    def _read(self, decision_id: str, copy: bytes | None) -> Pending | None:
        """Return a copy; ``None`` if there is none, or if a later version wrote one that this version cannot read."""
        if copy is None:
            return None
        try:
            content = orjson.loads(copy)
            decision = ReviewDecision.model_validate_json(content["decision"])
            return Pending(decision, datetime.fromisoformat(content["undo_until"]), content.get("mark", ""))
        except (ValueError, KeyError, TypeError) as error:
            if decision_id not in self._unreadable:
                self._unreadable.add(decision_id)
                log.error("decision_copy_ignored", decision_id=decision_id, error_class=type(error).__name__)
            return None

    @property
    def _copies(self) -> str:
        return self._shared.key("pending")


def _time(note: bytes) -> datetime:
    return datetime.fromisoformat(note.decode())
