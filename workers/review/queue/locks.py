"""Keep reviewer locks and marks of recent decisions in Redis, shared by all consoles.

Locks and marks expire, and Redis may lose them. Without Redis, two reviewers can decide the
same request. Only the version of the request is compared then, and the order of the log
determines the final decision (``workers.decision.finality``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson

from workers.review.queue.shared_state import SharedState, SharedStateAway
from workers.review.review_models import Lock

MARK_SECONDS = 900
"""Lifetime of a mark: longer than the delay of the rows, also during a backlog."""

HELD_SECONDS = 86_400
"""For how long the time of a reviewer on a request that they left counts for the next time."""

SECOND = "second:"
"""Start of the names of marks of second reviews."""

# One atomic step: the holder keeps the times of the lock; other reviewers get the holder's lock.
ACQUIRE = """
local there = redis.call('GET', KEYS[1])
local wanted = cjson.decode(ARGV[1])
if there then
  local known = cjson.decode(there)
  if known['holder'] ~= wanted['holder'] then return there end
  wanted['since'] = known['since']
  if type(known['opened_at']) == 'string' then wanted['opened_at'] = known['opened_at'] end
end
local value = cjson.encode(wanted)
redis.call('SET', KEYS[1], value, 'PX', ARGV[2])
return value
"""

RELEASE = """
local there = redis.call('GET', KEYS[1])
if there and cjson.decode(there)['holder'] == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""

MARK = """
local there = redis.call('GET', KEYS[1])
if there then return there end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return ARGV[1]
"""

WITHDRAW = """
local there = redis.call('GET', KEYS[1])
if there and cjson.decode(there)['decision_id'] == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""


@dataclass(frozen=True, slots=True)
class DecisionMark:
    """Mark a request as decided for 15 minutes, longer than the rows usually lag.

    An undo removes the mark.

    Attributes:
        decision_id: identifier of the decision.
        by: person who decided.
        at: time of the decision.
        tenant: tenant of the request.
        action: decided action.
        with_warning: the answer was approved with the disclaimer.
    """

    decision_id: str
    by: str
    at: datetime
    tenant: str = ""
    action: str = ""
    with_warning: bool = False


class ReviewLocks:
    """Keep the locks of requests and the marks of their decisions.

    Args:
        shared: Redis.
        seconds: lifetime of a lock that is not renewed.
    """

    def __init__(self, shared: SharedState, seconds: float) -> None:
        self._shared = shared
        self._seconds = seconds
        # The marks that this process has seen, for use while Redis is not available.
        self._marks: dict[str, DecisionMark] = {}
        self._shared_marks: set[str] = set()

    async def acquire(
        self, review_id: str, holder: str, now: datetime, *, opened: bool = True, held_before: float = 0.0
    ) -> Lock | None:
        """Lock a request for a reviewer, or renew the reviewer's own lock.

        Args:
            review_id: the request.
            holder: name of the reviewer.
            now: time of the call.
            opened: the reviewer is shown the request now; false if their page only loads it ahead.
            held_before: seconds for which the reviewer has worked on the request under an earlier lock.

        Returns:
            The current lock, which may belong to another reviewer; ``None`` without Redis.
        """
        expires = now + timedelta(seconds=self._seconds)
        since = now - timedelta(seconds=held_before or await self._held_before(review_id, holder))
        wanted = Lock(holder=holder, since=since, expires_at=expires, opened_at=now if opened else None)
        milliseconds = str(int(self._seconds * 1000))
        try:
            value = await self._shared.ask(
                "eval", ACQUIRE, 1, self._lock(review_id), wanted.model_dump_json(), milliseconds
            )
        except SharedStateAway:
            return None
        return Lock.model_validate_json(value)

    async def _held_before(self, review_id: str, holder: str) -> float:
        """Return for how long a reviewer held a request before they left it, seconds."""
        key = f"{review_id}:{holder}"
        return float((await self._read("held", [key]) or {}).get(key, 0.0))

    async def release(self, review_id: str, holder: str, left_at: datetime | None = None) -> None:
        """Release the lock of a request if the holder has it.

        Args:
            review_id: the request.
            holder: name of the reviewer.
            left_at: time at which the reviewer left the request undecided; their next lock counts the time of this one.
        """
        lock = (await self.known([review_id])).get(review_id) if left_at else None
        try:
            if left_at and lock is not None and lock.holder == holder:
                held = (left_at - lock.since).total_seconds()
                await self._shared.ask("set", self._shared.key("held", f"{review_id}:{holder}"), held, ex=HELD_SECONDS)
            await self._shared.ask("eval", RELEASE, 1, self._lock(review_id), holder)
        except SharedStateAway:
            return  # the lock expires

    async def known(self, review_ids: Sequence[str]) -> dict[str, Lock]:
        """Return the current locks by request."""
        found = await self._read("lock", review_ids) or {}
        return {name: Lock.model_validate_json(value) for name, value in found.items()}

    async def mark(self, name: str, mark: DecisionMark) -> DecisionMark:
        """Mark a request as decided; of two concurrent marks the first one counts.

        Args:
            name: name of the request or of its second review.
            mark: identifier, author and time of the decision.

        Returns:
            The valid mark: this one, or an earlier one.
        """
        standing = mark
        try:
            value = orjson.dumps(mark)
            standing = _mark(await self._shared.ask("eval", MARK, 1, self._mark(name), value, str(MARK_SECONDS)))
            self._shared_marks.add(name)
        except SharedStateAway:
            standing = self._marks.get(name, mark)
        self._marks[name] = standing
        self._forget(mark.at)
        await self._list(name, standing)
        return standing

    async def _list(self, name: str, mark: DecisionMark) -> None:
        """Add a mark to the list of all consoles, and remove those that have expired."""
        key, at = self._shared.key("claims"), mark.at.timestamp()
        try:
            await self._shared.ask("zadd", key, {name: at})
            await self._shared.ask("zremrangebyscore", key, "-inf", at - MARK_SECONDS)
        except SharedStateAway:
            return  # other consoles do not count the decision until its rows are stored

    async def withdraw(self, name: str, decision_id: str) -> None:
        """Remove the mark of a decision that was undone or could not be published."""
        self._drop(name)
        # Without Redis the mark stays there until it expires, and other consoles do not offer the request.
        await self._shared.insist("eval", WITHDRAW, 1, self._mark(name), decision_id)

    async def marks(self, names: Sequence[str]) -> dict[str, DecisionMark]:
        """Return the current marks by name."""
        found = await self._read("claim", names)
        if found is not None:
            # A shared mark that is missing in Redis was undone by this console or another one.
            for name in self._shared_marks.intersection(names) - found.keys():
                self._drop(name)
        seen = {name: _mark(value) for name, value in (found or {}).items()}
        ours = {name: self._marks[name] for name in names if name in self._marks}
        # Keep the marks of other consoles too: a refused request must not be offered again to the same reviewer.
        self._marks |= seen
        self._shared_marks |= seen.keys()
        if seen:
            self._forget(max(mark.at for mark in seen.values()))
        return ours | seen

    async def recent(self) -> dict[str, DecisionMark]:
        """Return the current marks of all consoles by name; without Redis those that this process has seen."""
        names = set(self._marks)
        try:
            listed = await self._shared.ask("zrange", self._shared.key("claims"), 0, -1)
            names |= {name.decode() if isinstance(name, bytes) else name for name in listed}
        except SharedStateAway:
            pass
        return await self.marks(sorted(names))

    async def _read(self, kind: str, names: Sequence[str]) -> dict[str, bytes] | None:
        if not names:
            return {}
        try:
            values = await self._shared.read([self._shared.key(kind, name) for name in names])
        except SharedStateAway:
            return None
        return {name: value for name, value in zip(names, values, strict=True) if value is not None}

    def _forget(self, now: datetime) -> None:
        oldest = now - timedelta(seconds=MARK_SECONDS)
        old = [name for name, mark in self._marks.items() if mark.at < oldest]
        for name in old:
            self._drop(name)

    def _drop(self, name: str) -> None:
        self._marks.pop(name, None)
        self._shared_marks.discard(name)

    def _lock(self, review_id: str) -> str:
        return self._shared.key("lock", review_id)

    def _mark(self, name: str) -> str:
        # The key keeps the name that consoles of earlier versions use.
        return self._shared.key("claim", name)


def is_second(name: str) -> bool:
    """Return ``True`` for the name of a mark of a second review."""
    return name.startswith(SECOND)


def _mark(value: bytes) -> DecisionMark:
    content = orjson.loads(value)
    # A console of an earlier version writes neither tenant nor action.
    return DecisionMark(
        content["decision_id"], content["by"], datetime.fromisoformat(content["at"]),
        content.get("tenant", ""), content.get("action", ""), content.get("with_warning", False),
    )  # fmt: skip
