"""Who asks, and what they may: access tokens, sessions, scopes, tenants, rates.

Programs send ``Authorization: Bearer``. People log in once with their token and get a session
cookie; with it every request that changes something must carry the token of the page as well
(``X-CSRF-Token``), and browsers that say where a request comes from must say: from here.
"""

import hmac
import time
from datetime import timedelta
from hashlib import sha256
from typing import Annotated, Literal
from urllib.parse import urlsplit

from fastapi import Depends, Request, Response
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer
from limits import RateLimitItem, RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter

from workers.console.principal import Principal
from workers.console.problems import Problem, too_many
from workers.console.resources import resources_of
from workers.console.scopes import Scope
from workers.console.sessions import COOKIE, csrf_token, make_cookie, read_cookie
from workers.settings import AccessToken, ConsoleSettings

CSRF_HEADER = "X-CSRF-Token"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

_bearer = HTTPBearer(auto_error=False, description="An access token.")
_cookie = APIKeyCookie(name=COOKIE, auto_error=False, description="The session of a person in a browser.")

Bearer = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
Cookie = Annotated[str | None, Depends(_cookie)]


class TokenBook:
    """The access tokens there are; compared in constant time, all of them at every request.

    Args:
        tokens: from the settings.
    """

    def __init__(self, tokens: tuple[AccessToken, ...]) -> None:
        self._tokens = [(sha256(token.token.get_secret_value().encode()).digest(), token) for token in tokens]

    def by_secret(self, secret: str) -> tuple[bytes, AccessToken] | None:
        """The token with this secret, and its digest."""
        digest = sha256(secret.encode("utf-8", "surrogatepass")).digest()
        found = None
        for known, token in self._tokens:
            if hmac.compare_digest(known, digest):
                found = known, token
        return found

    def by_name(self, name: str) -> tuple[bytes, AccessToken] | None:
        """The token of this name, and its digest."""
        return next(((digest, token) for digest, token in self._tokens if token.name == name), None)


class Guard:
    """Decides who asks, and keeps the rates.

    Args:
        settings: tokens and rates.
    """

    def __init__(self, settings: ConsoleSettings) -> None:
        self.tokens = TokenBook(settings.tokens)
        self._settings = settings
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._requests = RateLimitItemPerMinute(settings.requests_per_minute)
        self._failures = RateLimitItemPerMinute(settings.failures_per_minute)

    async def log_in(self, request: Request, secret: str, response: Response) -> Principal:
        """Begin a session.

        Raises:
            Problem: 401, no such token; 403, the request comes from another site; 429.
        """
        _refuse_other_sites(request)
        digest, token = await self._known(request, self.tokens.by_secret(secret))
        now = resources_of(request).now()
        lifetime = timedelta(hours=self._settings.session_hours)
        cookie = make_cookie(token.name, digest, now, lifetime)
        response.set_cookie(
            COOKIE, cookie, max_age=int(lifetime.total_seconds()), path="/", httponly=True, samesite="lax",
            secure=request.url.scheme == "https",
        )  # fmt: skip
        return _principal(token, "session", csrf_token(cookie, digest))

    async def principal(self, request: Request, bearer: str | None, cookie: str | None) -> Principal:
        """Who asks.

        Raises:
            Problem: 401, nobody that we know; 403, a session without the page's token; 429.
        """
        if bearer is not None:
            _, token = await self._known(request, self.tokens.by_secret(bearer))
            return await self._within_rate(_principal(token, "token"))
        session = read_cookie(cookie or "")
        known = self.tokens.by_name(session.name) if session else None
        if cookie is None or session is None or known is None:
            raise _unauthorized("send an access token as Authorization: Bearer, or log in")
        digest, token = known
        if not session.is_valid(digest, resources_of(request).now()):
            raise _unauthorized("the session has ended; log in again")
        csrf = csrf_token(cookie, digest)
        if request.method not in SAFE_METHODS:
            _refuse_other_sites(request)
            sent = request.headers.get(CSRF_HEADER, "")
            if not hmac.compare_digest(sent.encode("utf-8", "surrogateescape"), csrf.encode()):
                raise Problem(403, f"with a session, send the token of the page as {CSRF_HEADER}")
        return await self._within_rate(_principal(token, "session", csrf))

    async def _known(self, request: Request, found: tuple[bytes, AccessToken] | None) -> tuple[bytes, AccessToken]:
        """The token, if there is one; wrong ones are counted by address."""
        address = request.client.host if request.client else ""
        if not await self._limiter.test(self._failures, "failures", address):
            raise await self._exceeded(self._failures, "failures", address)
        if found is None:
            await self._limiter.hit(self._failures, "failures", address)
            raise _unauthorized("there is no such access token")
        return found

    async def _within_rate(self, principal: Principal) -> Principal:
        if not await self._limiter.hit(self._requests, "requests", principal.name):
            raise await self._exceeded(self._requests, "requests", principal.name)
        return principal

    async def _exceeded(self, item: RateLimitItem, *key: str) -> Problem:
        reset, _ = await self._limiter.get_window_stats(item, *key)
        return too_many(reset - time.time())


class Require:
    """The dependency that lets in who has a scope; see ``require``."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    async def __call__(self, request: Request, bearer: Bearer, cookie: Cookie) -> Principal:
        """Who asks, if they may.

        Raises:
            Problem: 401, 403 or 429.
        """
        principal = await guard_of(request).principal(request, bearer.credentials if bearer else None, cookie)
        if self.scope not in principal.scopes:
            raise Problem(403, f"the token has no scope {self.scope}; use one that has")
        return principal


def require(scope: Scope) -> Require:
    """A dependency that lets in who has a scope, and says who it is.

    Example: ``principal: Annotated[Principal, Depends(require(Scope.READ))]``
    """
    return Require(scope)


Reader = Annotated[Principal, Depends(require(Scope.READ))]
Reviewer = Annotated[Principal, Depends(require(Scope.REVIEW))]
Admin = Annotated[Principal, Depends(require(Scope.ADMIN))]
FeedbackSender = Annotated[Principal, Depends(require(Scope.FEEDBACK))]
Ingester = Annotated[Principal, Depends(require(Scope.INGEST))]


def guard_of(request: Request) -> Guard:
    """The guard of the application that answers this request."""
    guard: Guard = request.app.state.guard
    return guard


def _principal(token: AccessToken, via: Literal["token", "session"], csrf: str = "") -> Principal:
    return Principal(token.name, token.scopes, token.tenants, via, csrf)


def _unauthorized(detail: str) -> Problem:
    return Problem(401, detail, headers={"WWW-Authenticate": "Bearer"})


def _refuse_other_sites(request: Request) -> None:
    """Refuse what a browser says to come from another site."""
    site = request.headers.get("Sec-Fetch-Site", "same-origin")
    origin = request.headers.get("Origin")
    same = origin is None or urlsplit(origin).netloc == request.headers.get("Host")
    if site not in ("same-origin", "none") or not same:
        raise Problem(403, "the request comes from another site")
