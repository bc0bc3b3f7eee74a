"""Sign and verify session cookies of browsers; the server stores no sessions but those that were ended early.

The signing key is derived from the access token. A session therefore ends when its token is
removed, and every console that has the token accepts the session until it expires or is ended (``ended_sessions``).
"""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from secrets import token_urlsafe

from itsdangerous import BadData, Signer, URLSafeSerializer

COOKIE = "touchstone_session"
MAX_COOKIE = 2_000
"""Maximum length of an accepted cookie, characters."""


def make_cookie(name: str, token_digest: bytes, now: datetime, lifetime: timedelta) -> str:
    """Create the cookie of a new session.

    Args:
        name: name of the access token.
        token_digest: SHA-256 of the token.
        now: start of the session.
        lifetime: duration of the session.
    """
    expires_at = int((now + lifetime).timestamp())
    content = {"name": name, "expires_at": expires_at, "id": token_urlsafe(9)}
    return str(_serializer(token_digest).dumps(content))


def token_name(cookie: str) -> str | None:
    """Return the name of the access token that a cookie claims, without verification; ``None`` without a name."""
    _, content = _serializer(b"").loads_unsafe(cookie[:MAX_COOKIE])
    name = content.get("name") if isinstance(content, dict) else None
    return name if isinstance(name, str) else None


def end_of(cookie: str, token_digest: bytes) -> datetime | None:
    """Return the time at which a session expires; ``None`` if the signature does not fit the token."""
    try:
        return datetime.fromtimestamp(_serializer(token_digest).loads(cookie)["expires_at"], UTC)
    except BadData:
        return None


def csrf_token(cookie: str, token_digest: bytes) -> str:
    """Return the token that a page must send with every request that changes data.

    Other sites cannot compute the token.
    """
    return Signer(token_digest, salt="csrf", key_derivation="hmac", digest_method=sha256).get_signature(cookie).decode()


def _serializer(token_digest: bytes) -> URLSafeSerializer:
    signing = {"key_derivation": "hmac", "digest_method": sha256}
    return URLSafeSerializer(token_digest, salt="session", signer_kwargs=signing)
