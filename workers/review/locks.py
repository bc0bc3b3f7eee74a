"""Keep reviewer locks and recent decision claims in Redis, shared by all consoles.

Locks and claims expire, and Redis may lose them. Without Redis, two reviewers can decide the
same request. Only the version of the request is compared then, and the order of the log
determines the final decision (``workers.decision.finality``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson

from workers.review.review_models import Lock
from workers.review.shared_state import SharedState, SharedStateAway

CLAIM_SECONDS = 900
"""Lifetime of a claim: longer than the delay of the rows, also during a backlog."""

SECOND = "second:"
"""Start of the names of claims of second reviews."""

# One atomic step: the holder keeps the start time of the lock; other reviewers get the holder's lock.
ACQUIRE = """
local there = redis.call('GET', KEYS[1])
local wanted = cjson.decode(ARGV[1])
if there then
  local known = cjson.decode(there)
  if known['holder'] ~= wanted['holder'] then return there end
  wanted['since'] = known['since']
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

CLAIM = """
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
class Claim:
    """Note that a request is decided, kept until the rows of the request show the decision.

    Attributes:
        decision_id: identifier of the decision.
        by: person who decided.
        at: time of the decision.
        tenant: tenant of the request.
        action: decided action.
    """

    decision_id: str
    by: str
    at: datetime
    tenant: str = ""
    action: str = ""


class ReviewLocks:
    """Locks of requests and claims of their decisions.

    Args:
        shared: Redis.
        seconds: lifetime of a lock that is not renewed.
    """

    def __init__(self, shared: SharedState, seconds: float) -> None:
        self._shared = shared
        self._seconds = seconds
        # The claims that this process has seen, for use while Redis is not available.
        self._claims: dict[str, Claim] = {}
        self._shared_claims: set[str] = set()

    async def acquire(self, review_id: str, holder: str, now: datetime) -> Lock | None:
        """Lock a request for a reviewer, or renew the reviewer's own lock.

        Returns:
            The current lock, which may belong to another reviewer; ``None`` without Redis.
        """
        wanted = Lock(holder=holder, since=now, expires_at=now + timedelta(seconds=self._seconds))
        milliseconds = str(int(self._seconds * 1000))
        try:
            value = await self._shared.ask(
                "eval", ACQUIRE, 1, self._lock(review_id), wanted.model_dump_json(), milliseconds
            )
        except SharedStateAway:
            return None
        return Lock.model_validate_json(value)

    async def release(self, review_id: str, holder: str) -> None:
        """Release the lock of a request if the holder has it."""
        try:
            await self._shared.ask("eval", RELEASE, 1, self._lock(review_id), holder)
        except SharedStateAway:
            return  # the lock expires

    async def known(self, review_ids: Sequence[str]) -> dict[str, Lock]:
        """Return the current locks by request."""
        found = await self._read("lock", review_ids) or {}
        return {name: Lock.model_validate_json(value) for name, value in found.items()}

    async def claim(self, name: str, claim: Claim) -> Claim:
        """Claim the decision on a request; of two concurrent claims the first wins.

        Args:
            name: name of the request or of its second review.
            claim: identifier, author and time of the decision.

        Returns:
            The valid claim: this one, or an earlier one.
        """
        standing = claim
        try:
            value = orjson.dumps(claim)
            standing = _claim(await self._shared.ask("eval", CLAIM, 1, self._claim(name), value, str(CLAIM_SECONDS)))
            self._shared_claims.add(name)
        except SharedStateAway:
            standing = self._claims.get(name, claim)
        self._claims[name] = standing
        self._forget(claim.at)
        await self._list(name, standing)
        return standing

    async def _list(self, name: str, claim: Claim) -> None:
        """Add a claim to the list of all consoles, and remove those that have expired."""
        key, at = self._shared.key("claims"), claim.at.timestamp()
        try:
            await self._shared.ask("zadd", key, {name: at})
            await self._shared.ask("zremrangebyscore", key, "-inf", at - CLAIM_SECONDS)
        except SharedStateAway:
            return  # other consoles do not count the decision until its rows are stored

    async def withdraw(self, name: str, decision_id: str) -> None:
        """Remove the claim of a decision that was undone or could not be published."""
        self._drop(name)
        # Without Redis the claim stays there for so long, and other consoles do not offer the request.
        await self._shared.insist("eval", WITHDRAW, 1, self._claim(name), decision_id)

    async def claims(self, names: Sequence[str]) -> dict[str, Claim]:
        """Return the current claims by name."""
        found = await self._read("claim", names)
        if found is not None:
            # A shared claim that is missing in Redis was undone by this console or another one.
            for name in self._shared_claims.intersection(names) - found.keys():
                self._drop(name)
        seen = {name: _claim(value) for name, value in (found or {}).items()}
        ours = {name: self._claims[name] for name in names if name in self._claims}
        # Keep the claims of other consoles too: a refused request must not be offered again to the same reviewer.
        self._claims |= seen
        self._shared_claims |= seen.keys()
        if seen:
            self._forget(max(claim.at for claim in seen.values()))
        return ours | seen

    async def recent(self) -> dict[str, Claim]:
        """Return the current claims of all consoles by name; without Redis those that this process has seen."""
        names = set(self._claims)
        try:
            listed = await self._shared.ask("zrange", self._shared.key("claims"), 0, -1)
            names |= {name.decode() if isinstance(name, bytes) else name for name in listed}
        except SharedStateAway:
            pass
        return await self.claims(sorted(names))

    async def _read(self, kind: str, names: Sequence[str]) -> dict[str, bytes] | None:
        if not names:
            return {}
        try:
            values = await self._shared.read([self._shared.key(kind, name) for name in names])
        except SharedStateAway:
            return None
        return {name: value for name, value in zip(names, values, strict=True) if value is not None}

    def _forget(self, now: datetime) -> None:
        old = [name for name, claim in self._claims.items() if claim.at < now - timedelta(seconds=CLAIM_SECONDS)]
        for name in old:
            self._drop(name)

    def _drop(self, name: str) -> None:
        self._claims.pop(name, None)
        self._shared_claims.discard(name)

    def _lock(self, review_id: str) -> str:
        return self._shared.key("lock", review_id)

    def _claim(self, name: str) -> str:
        return self._shared.key("claim", name)


def is_second(name: str) -> bool:
    """Return ``True`` for the name of a claim of a second review."""
    return name.startswith(SECOND)


def _claim(value: bytes) -> Claim:
    content = orjson.loads(value)
    # A console of an earlier version writes neither tenant nor action.
    return Claim(
        content["decision_id"], content["by"], datetime.fromisoformat(content["at"]),
        content.get("tenant", ""), content.get("action", ""),
    )  # fmt: skip
