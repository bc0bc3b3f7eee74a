"""Authenticate callers and check scopes, tenants and rates.

Programs send ``Authorization: Bearer``. People log in once with their token and get a session
cookie. With a session cookie, every request that changes data must also send the CSRF token of
the page (``X-CSRF-Token``). If the browser reports the origin of such a request, the origin must
be this console.
"""

import hmac
import time
from datetime import datetime, timedelta
from hashlib import sha256
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Annotated, Literal
from urllib.parse import urlsplit

from fastapi import Depends, Request, Response
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer
from limits import RateLimitItem, RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter

from workers.console.http.problems import Problem, too_many
from workers.console.identity.ended_sessions import EndedSessions
from workers.console.identity.principal import Principal
from workers.console.identity.sessions import COOKIE, csrf_token, end_of, make_cookie, token_name
from workers.console.resources import resources_of
from workers.settings import AccessToken, ConsoleSettings
from workers.settings.sections.scopes import Scope

CSRF_HEADER = "X-CSRF-Token"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

_bearer = HTTPBearer(auto_error=False, description="An access token.")
_cookie = APIKeyCookie(name=COOKIE, auto_error=False, description="The session of a person in a browser.")

Bearer = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
Cookie = Annotated[str | None, Depends(_cookie)]


class TokenBook:
    """The configured access tokens; every lookup by secret compares all of them in constant time.

    Args:
        tokens: access tokens of the settings.
    """

    def __init__(self, tokens: tuple[AccessToken, ...]) -> None:
        self._tokens = [(sha256(token.token.get_secret_value().encode()).digest(), token) for token in tokens]

    def by_secret(self, secret: str) -> tuple[bytes, AccessToken] | None:
        """Return the digest and the token with this secret; ``None`` if there is none."""
        digest = sha256(secret.encode("utf-8", "surrogatepass")).digest()
        found = None
        for known, token in self._tokens:
            if hmac.compare_digest(known, digest):
                found = known, token
        return found

    def by_name(self, name: str) -> tuple[bytes, AccessToken] | None:
        """Return the digest and the token of this name; ``None`` if there is none."""
        return next(((digest, token) for digest, token in self._tokens if token.name == name), None)


class Guard:
    """Authentication and rate limits of one application.

    Args:
        settings: access tokens, rates and the session lifetime.
        ended: sessions that were ended by a log-out.
    """

    def __init__(self, settings: ConsoleSettings, ended: EndedSessions) -> None:
        self._ended = ended
        self.tokens = TokenBook(settings.tokens)
        self._settings = settings
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._requests = RateLimitItemPerMinute(settings.requests_per_minute)
        self._failures = RateLimitItemPerMinute(settings.failures_per_minute)

    async def log_in(self, request: Request, secret: str, response: Response, *, switch: bool = True) -> Principal:
        """Start a session and set its cookie on the response.

        Args:
            request: the request.
            secret: the access token.
            response: gets the cookie.
            switch: replace the session of another token.

        Raises:
            Problem: 401, unknown token; 403, the request comes from another site; 409, there is a session of another
                token; 429, too many failures.
        """
        _refuse_other_sites(request)
        digest, token = await self._known(request, self.tokens.by_secret(secret))
        now = resources_of(request).now()
        current = await self._session(request.cookies.get(COOKIE), now)
        if not switch and current is not None and current[1].name != token.name:
            raise Problem(
                409,
                f"you are logged in as {current[1].name}; log in again to go on as {token.name}, or close this page",
            )
        lifetime = timedelta(hours=self._settings.session_hours)
        cookie = make_cookie(token.name, digest, now, lifetime)
        response.set_cookie(
            COOKIE, cookie, max_age=int(lifetime.total_seconds()), path="/", httponly=True, samesite="lax",
            secure=request.url.scheme == "https",
        )  # fmt: skip
        return _principal(token, "session", csrf_token(cookie, digest))

    async def principal(self, request: Request, bearer: str | None, cookie: str | None) -> Principal:
        """Return the authenticated caller.

        Raises:
            Problem: 401, unknown caller or expired session; 403, a session request from another site or
                without the CSRF token; 429, the rate limit is reached.
        """
        if bearer is not None:
            _, token = await self._known(request, self.tokens.by_secret(bearer))
            return await self._within_rate(_principal(token, "token"))
        if cookie is None or self._named(cookie) is None:
            raise _unauthorized("send an access token as Authorization: Bearer, or log in")
        known = await self._session(cookie, resources_of(request).now())
        if known is None:
            raise _unauthorized("the session has ended; log in again")
        digest, token = known
        csrf = csrf_token(cookie, digest)
        if request.method not in SAFE_METHODS:
            _refuse_other_sites(request)
            sent = request.headers.get(CSRF_HEADER, "")
            if not hmac.compare_digest(sent.encode("utf-8", "surrogateescape"), csrf.encode()):
                raise Problem(403, f"with a session, send the CSRF token of the page as {CSRF_HEADER}")
        return await self._within_rate(_principal(token, "session", csrf))

    def _named(self, cookie: str) -> tuple[bytes, AccessToken] | None:
        """Return the token that a cookie claims; ``None`` if there is none."""
        name = token_name(cookie)
        return self.tokens.by_name(name) if name else None

    async def _session(self, cookie: str | None, now: datetime) -> tuple[bytes, AccessToken] | None:
        """Return the token of a valid session; ``None`` if the cookie gives none."""
        known = self._named(cookie or "")
        end = end_of(cookie or "", known[0]) if known else None
        if cookie is None or end is None or now >= end or await self._ended.contains(cookie):
            return None
        return known

    async def log_out(self, cookie: str | None, now: datetime) -> None:
        """End the session of a cookie, so that copies of the cookie are refused."""
        known = self._named(cookie or "")
        end = end_of(cookie or "", known[0]) if known else None
        if cookie is not None and end is not None:
            await self._ended.add(cookie, end, now)

    async def _known(self, request: Request, found: tuple[bytes, AccessToken] | None) -> tuple[bytes, AccessToken]:
        """Return the token if there is one; limit failures by address.

        A valid token passes in any case: others who share its address cannot lock it out.
        """
        if found is not None:
            return found
        address = network_of(request.client.host if request.client else "")
        if not await self._limiter.hit(self._failures, "failures", address):
            raise await self._exceeded(self._failures, "failures", address)
        raise _unauthorized("unknown access token")

    async def _within_rate(self, principal: Principal) -> Principal:
        if not await self._limiter.hit(self._requests, "requests", principal.name):
            raise await self._exceeded(self._requests, "requests", principal.name)
        return principal

    async def _exceeded(self, item: RateLimitItem, *key: str) -> Problem:
        reset, _ = await self._limiter.get_window_stats(item, *key)
        return too_many(reset - time.time())


class Require:
    """Dependency that admits callers with one of the scopes; see ``require``."""

    def __init__(self, *scopes: Scope) -> None:
        self.scopes = scopes

    async def __call__(self, request: Request, bearer: Bearer, cookie: Cookie) -> Principal:
        """Return the authenticated caller if it has one of the scopes.

        Raises:
            Problem: 401, unknown caller; 403, the scope is missing; 429, the rate limit is reached.
        """
        principal = await guard_of(request).principal(request, bearer.credentials if bearer else None, cookie)
        request.state.principal = principal
        if not principal.scopes.intersection(self.scopes):
            names = " or ".join(self.scopes)
            raise Problem(403, f"the access token lacks the scope {names}; use a token with this scope")
        return principal


def require(*scopes: Scope) -> Require:
    """Return a dependency that admits callers with one of the scopes and gives the caller to the route.

    Example: ``principal: Annotated[Principal, Depends(require(Scope.READ))]``
    """
    return Require(*scopes)


Reader = Annotated[Principal, Depends(require(Scope.READ))]
Reviewer = Annotated[Principal, Depends(require(Scope.REVIEW))]
Admin = Annotated[Principal, Depends(require(Scope.ADMIN))]
FeedbackSender = Annotated[Principal, Depends(require(Scope.FEEDBACK))]
Ingester = Annotated[Principal, Depends(require(Scope.INGEST))]


def guard_of(request: Request) -> Guard:
    """Return the guard of the application that answers this request."""
    guard: Guard = request.app.state.guard
    return guard


def _principal(token: AccessToken, via: Literal["token", "session"], csrf: str = "") -> Principal:
    return Principal(token.name, token.scopes, token.tenants, via, csrf)


def _unauthorized(detail: str) -> Problem:
    return Problem(401, detail, headers={"WWW-Authenticate": "Bearer"})


def _refuse_other_sites(request: Request) -> None:
    """Refuse a request that, according to the browser, comes from another site."""
    site = request.headers.get("Sec-Fetch-Site", "same-origin")
    origin = request.headers.get("Origin")
    same = origin is None or _host_of(origin) == request.headers.get("Host")
    if site not in ("same-origin", "none") or not same:
        raise Problem(403, "the request comes from another site; send it from a page of this console")


def network_of(address: str) -> str:
    """Return the network of an IPv6 address, since one caller has all addresses of a /64; others are unchanged."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return address
    return str(found.ipv4_mapped or IPv6Network((found, 64), strict=False))


def _host_of(origin: str) -> str | None:
    """Return the host and port of an origin; ``None`` if it is malformed."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None
