"""Who has which request, and which was decided a moment ago; in Redis, since consoles share it.

Both expire and both may be lost. Without Redis nobody is kept from deciding twice; then the
request's version is all that is compared, and the order of the log decides (``steps.finality``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson

from workers.review.models import Lock
from workers.review.shared import SharedState, SharedStateAway

CLAIM_SECONDS = 900
"""So long a decision is remembered here: until its rows say it, also behind a backlog."""

# One step to Redis: whoever has it keeps the time since when; everybody else is told who has it.
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


@dataclass(frozen=True, slots=True)
class Claim:
    """That a request is decided, before its rows say so."""

    decision_id: str
    by: str
    at: datetime


class ReviewLocks:
    """Locks and claims of requests.

    Args:
        shared: Redis.
        seconds: a lock expires after this unless it is renewed.
    """

    def __init__(self, shared: SharedState, seconds: float) -> None:
        self._shared = shared
        self._seconds = seconds
        # What this process knows by itself, for when Redis is away.
        self._claims: dict[str, Claim] = {}
        self._shared_claims: set[str] = set()

    async def acquire(self, review_id: str, holder: str, now: datetime) -> Lock | None:
        """Take a request, or renew the lock that one has.

        Returns:
            The lock that there is now, maybe another's; ``None`` without Redis.
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
        """Give a request back, if one has it."""
        try:
            await self._shared.ask("eval", RELEASE, 1, self._lock(review_id), holder)
        except SharedStateAway:
            return  # it expires

    async def known(self, review_ids: Sequence[str]) -> dict[str, Lock]:
        """The locks that there are, by request."""
        found = await self._read("lock", review_ids) or {}
        return {name: Lock.model_validate_json(value) for name, value in found.items()}

    async def claim(self, name: str, claim: Claim) -> Claim:
        """Note that a request is decided; of two at once one is first.

        Args:
            name: of the request, or of its second review.
            claim: by whom, when.

        Returns:
            The claim that stands: this one, or an earlier one.
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
        return standing

    async def withdraw(self, name: str) -> None:
        """Forget a claim: its decision was taken back."""
        self._drop(name)
        try:
            await self._shared.ask("delete", self._claim(name))
        except SharedStateAway:
            return  # it expires; until then other consoles do not offer the request

    async def claims(self, names: Sequence[str]) -> dict[str, Claim]:
        """The claims that there are, by name."""
        found = await self._read("claim", names)
        if found is not None:
            # What was shared and is gone was taken back, in this console or another.
            for name in self._shared_claims.intersection(names) - found.keys():
                self._drop(name)
        seen = {name: _claim(value) for name, value in (found or {}).items()}
        ours = {name: self._claims[name] for name in names if name in self._claims}
        # Also what another console has claimed: whoever was refused by it here must not be offered it again here.
        self._claims |= seen
        self._shared_claims |= seen.keys()
        if seen:
            self._forget(max(claim.at for claim in seen.values()))
        return ours | seen

    async def claimed_here(self) -> list[str]:
        """Names that this process has seen claimed and that still are."""
        return list(await self.claims(list(self._claims)))

    async def _read(self, kind: str, names: Sequence[str]) -> dict[str, bytes] | None:
        if not names:
            return {}
        try:
            values = await self._shared.ask("mget", [self._shared.key(kind, name) for name in names])
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


def _claim(value: bytes) -> Claim:
    content = orjson.loads(value)
    return Claim(content["decision_id"], content["by"], datetime.fromisoformat(content["at"]))
