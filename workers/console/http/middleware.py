"""Limit size and time of request bodies before parsing, and add security headers to responses."""

import asyncio
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from workers.console.http.problems import Problem, problem_response

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""Policy that allows only resources of the console itself, and no inline script or style."""

SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


BODY_SECONDS = 60.0
"""Time within which a request body must be complete, seconds. Most bodies are read before the caller is known."""


class BodyLimit:
    """Middleware that refuses larger bodies by ``Content-Length`` and by the received bytes, and bodies that do not end.

    Args:
        app: the application.
        max_bytes: largest accepted body in bytes.
        seconds: paths whose bodies may take another time than ``BODY_SECONDS``.
    """

    def __init__(self, app: ASGIApp, max_bytes: int, seconds: Mapping[str, float] | None = None) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._seconds = seconds or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        claimed = Headers(scope=scope).get("content-length", "")
        if claimed.isdigit() and int(claimed) > self._max_bytes:
            await problem_response(self._problem())(scope, receive, send)
            return
        seen, is_complete = 0, False
        until = asyncio.get_running_loop().time() + self._seconds.get(scope["path"], BODY_SECONDS)

        async def counted() -> Message:
            nonlocal seen, is_complete
            try:
                async with asyncio.timeout_at(None if is_complete else until):
                    message = await receive()
            except TimeoutError:
                raise Problem(408, "the body did not arrive in time; send it again") from None
            is_complete = not message.get("more_body", False)
            seen += len(message.get("body", b""))
            if seen > self._max_bytes:
                raise self._problem()
            return message

        await self._app(scope, counted, send)

    def _problem(self) -> Problem:
        return Problem(413, f"the body is larger than {self._max_bytes} bytes; send fewer records per request")


class ForwardedHeaders:
    """Middleware that takes the caller's address and scheme from the headers of trusted proxies.

    A caller may send X-Forwarded-For itself; only the entries that the proxies have appended are believed.

    Args:
        app: the application.
        proxies: number of proxies in front of the console.
    """

    def __init__(self, app: ASGIApp, proxies: int) -> None:
        self._app = app
        self._proxies = proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            addresses = _entries(headers, "x-forwarded-for")
            if len(addresses) >= self._proxies:
                scope["client"] = (_without_port(addresses[-self._proxies]), 0)
            schemes = _entries(headers, "x-forwarded-proto")
            scheme = schemes[-min(self._proxies, len(schemes))].lower() if schemes else ""
            if scheme in ("http", "https"):
                scope["scheme"] = scheme
        await self._app(scope, receive, send)


def _entries(headers: Headers, name: str) -> list[str]:
    return [entry for value in headers.getlist(name) for part in value.split(",") if (entry := part.strip())]


def _without_port(address: str) -> str:
    """Return an address without the port that some proxies append."""
    if address.startswith("["):
        return address[1:].partition("]")[0]
    return address.partition(":")[0] if address.count(":") == 1 else address


class SecurityHeaders:
    """Middleware that adds security headers; responses without an entity tag are not cached.

    Args:
        app: the application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-cache" if "etag" in headers else "no-store")
            await send(message)

        await self._app(scope, receive, with_headers)
