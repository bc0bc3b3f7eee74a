"""Sessions of people in a browser: a signed cookie, so that nothing is stored.

A session is signed with a key that is made of its access token: it ends when the token is
withdrawn, and every console that knows the token knows the session.
"""

import base64
import hmac
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import orjson

COOKIE = "touchstone_session"
MAX_COOKIE = 2_000
"""Longest cookie that is looked at."""


@dataclass(frozen=True, slots=True)
class Session:
    """A session as the cookie tells it, not yet believed.

    Attributes:
        name: of the access token.
        expires_at: seconds since the epoch.
        payload: what was signed.
        signature: the signature that came with it.
    """

    name: str
    expires_at: int
    payload: bytes
    signature: bytes

    def is_valid(self, token_digest: bytes, now: datetime) -> bool:
        """Whether it was made with this token and has not ended."""
        return (
            hmac.compare_digest(self.signature, _sign(self.payload, token_digest)) and now.timestamp() < self.expires_at
        )


def make_cookie(name: str, token_digest: bytes, now: datetime, lifetime: timedelta) -> str:
    """The cookie of a new session.

    Args:
        name: of the access token.
        token_digest: SHA-256 of the token.
        now: when it begins.
        lifetime: how long it lasts.
    """
    expires_at = int((now.astimezone(UTC) + lifetime).timestamp())
    payload = orjson.dumps({"name": name, "expires_at": expires_at})
    return f"{_text(payload)}.{_text(_sign(payload, token_digest))}"


def read_cookie(cookie: str) -> Session | None:
    """The session in a cookie; ``None`` if it is none."""
    head, dot, tail = cookie.partition(".")
    if not dot or len(cookie) > MAX_COOKIE:
        return None
    try:
        payload, signature = _bytes(head), _bytes(tail)
        content = orjson.loads(payload)
        return Session(str(content["name"]), int(content["expires_at"]), payload, signature)
    except (ValueError, KeyError, TypeError):
        return None


def csrf_token(cookie: str, token_digest: bytes) -> str:
    """What a page sends along with a request that changes something: other sites cannot know it."""
    return _text(hmac.digest(token_digest, b"csrf\0" + cookie.encode(), "sha256"))


def _sign(payload: bytes, token_digest: bytes) -> bytes:
    return hmac.digest(sha256(b"session\0" + token_digest).digest(), payload, "sha256")


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text.encode() + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
