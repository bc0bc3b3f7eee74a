"""Remember the steps of reviewers of a moment ago, so that they can be undone: skips, escalations, assignments, opinions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from workers.review.queue.shared_state import SharedState, SharedStateAway
from workers.review.review_models import Escalation

KEPT_SECONDS = 900
"""Time in which a step is remembered: a late undo says which step it was about."""


@dataclass(frozen=True, slots=True)
class Left:
    """A request that a reviewer skipped, escalated or assigned, or on which they asked for a second opinion.

    Attributes:
        kind: ``skipped``, ``escalated``, ``given``, ``opinion_asked``, ``opinion_ended``, or ``resumed`` for a skip or
            escalation that was undone.
        queue: queue of the request before; of an undone skip none.
        deadline: deadline of the request before.
        undo_until: end of the time in which the step can be undone.
        assignee: person of the request before it was assigned; empty without one.
        given: person to whom it was assigned, or who is asked; empty for none, or for anyone.
        at: time of the step, where rows that do not show it yet are compared with it.
        undone: true if the step took the one before back.
        taken_back_at: time of the skip or escalation that the step took back.
    """

    kind: str
    queue: str
    deadline: datetime | None
    undo_until: datetime
    assignee: str = ""
    given: str = ""
    at: datetime | None = None
    undone: bool = False
    taken_back_at: datetime | None = None


class LeftRequests:
    """The last step of each reviewer on a request that they left.

    Args:
        shared: Redis; without it this process remembers the steps that it has seen.
        name: part of the keys; steps of one name replace each other.
    """

    def __init__(self, shared: SharedState, name: str = "left") -> None:
        self._shared = shared
        self._name = name
        self._ours: dict[str, Left] = {}

    async def note(self, review_id: str, by: str, left: Left, now: datetime) -> None:
        """Remember a step; forget those of this process that can no longer be undone."""
        self._ours = {key: each for key, each in self._ours.items() if each.undo_until >= now}
        key = self._shared.key(self._name, f"{review_id}:{by}")
        self._ours[key] = left
        try:
            await self._shared.ask("set", key, orjson.dumps(left), ex=KEPT_SECONDS)
        except SharedStateAway:
            return

    async def find(self, review_id: str, by: str) -> Left | None:
        """Return the last step of a reviewer on a request; ``None`` if there is none."""
        key = self._shared.key(self._name, f"{review_id}:{by}")
        try:
            value = await self._shared.ask("get", key)
        except SharedStateAway:
            return self._ours.get(key)
        return _left(value) if value is not None else None

    async def forget(self, review_id: str, by: str) -> None:
        """Forget a step that was undone."""
        key = self._shared.key(self._name, f"{review_id}:{by}")
        self._ours.pop(key, None)
        try:
            await self._shared.ask("delete", key)
        except SharedStateAway:
            return


def standing_escalations(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], Escalation]:
    """Return the last escalation of each request that was not undone, by tenant and review identifier.

    Args:
        rows: escalations and their undos in order of time, with ``tenant``, ``review_id``, ``kind``, ``by``, ``at``,
            ``reason`` and ``verdicts``. An undo (``resumed``) takes back the last escalation by the same person.
    """
    standing: dict[tuple[str, str], list[Escalation]] = {}
    for row in rows:
        known = standing.setdefault((row["tenant"], row["review_id"]), [])
        if row["kind"] == "escalated":
            verdicts = orjson.loads(row["verdicts"] or "{}")
            known.append(Escalation(by=row["by"], at=row["at"], reason=row["reason"], verdicts=verdicts))
        elif own := next((each for each in reversed(known) if each.by == row["by"]), None):
            known.remove(own)
    return {name: known[-1] for name, known in standing.items() if known}


def _left(value: bytes) -> Left:
    content = orjson.loads(value)

    def time(name: str) -> datetime | None:
        return datetime.fromisoformat(content[name]) if content.get(name) else None

    return Left(
        content["kind"], content["queue"], time("deadline"), datetime.fromisoformat(content["undo_until"]),
        content.get("assignee", ""), content.get("given", ""), time("at"), content.get("undone", False), time("taken_back_at"),
    )  # fmt: skip
