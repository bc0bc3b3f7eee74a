"""Evaluate answers now, or send answers to the stream, from programs that produce them.

The module needs only Python's standard library (3.9 and later) and nothing else of this package, so that a program
can copy the file instead of installing the package. Both functions block until the reply; call them in a thread
where an event loop runs.

    from workers.client import check, send

    verdict = check({"query": "...", "answer": "...", "contexts": [...]}, url=URL, token=TOKEN, deadline_ms=500)
    if verdict["state"] in ("released", "warned", "fallback"):
        show(verdict["content"])
    send({"answer_id": verdict["answer_id"], ...}, url=URL, token=TOKEN)
"""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any

REPLY_SECONDS = 5.0
"""Maximum wait for a reply beyond the deadline of a check, seconds; ``send`` waits six times as long."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Redirect handler that follows no redirect, because a redirect would send the token to another host."""

    def redirect_request(self, *_: Any) -> None:
        """Follow no redirect; its status is then reported like any other error."""


_OPENER = urllib.request.build_opener(_NoRedirects)


class Refused(Exception):
    """Refusal or failure of a request to the console.

    Attributes:
        status: HTTP status, or 0 if there is no valid reply. Retry 429, 503 and 504; do not retry the others.
        retry_after: seconds to wait before a retry, from the console's reply; 0 if the reply has none.
    """

    def __init__(self, status: int, detail: str, retry_after: float = 0.0) -> None:
        super().__init__(f"{status or 'no answer'}: {detail}")
        self.status = status
        self.retry_after = retry_after


def check(answer: Mapping[str, Any], *, url: str, token: str, deadline_ms: int = 1_000) -> dict[str, Any]:
    """Evaluate an answer now.

    Args:
        answer: fields of ``GeneratedAnswer``; ``answer`` is required, grounding also needs ``query`` and ``contexts``.
        url: address of the console, for example https://touchstone.example.
        token: an access token with the scope ``ingest``.
        deadline_ms: maximum time for the evaluation, milliseconds.

    Returns:
        The fields of ``CheckedAnswer``: state, content, reasons, scores, claims with verdicts. ``degraded`` is true if
        an evaluation did not finish in time.

    Raises:
        Refused: there is no result. Status 504: not finished within the deadline; 503: too many checks at once; 422:
            the answer is not valid.
        ValueError: ``url`` does not begin with https:// or http://, or ``token`` is not one line of ASCII.
    """
    seconds = deadline_ms / 1_000 + REPLY_SECONDS
    return _post(f"{url.rstrip('/')}/v1/check?deadline_ms={deadline_ms}", answer, token, seconds)


def send(answers: Mapping[str, Any] | Sequence[Mapping[str, Any]], *, url: str, token: str) -> list[str]:
    """Send answers to the stream and return once the broker has stored them. The call is idempotent.

    Args:
        answers: one answer or up to 500, as ``GeneratedAnswer``; ``answer_id`` and ``completed_at`` are optional.
        url: address of the console.
        token: an access token with the scope ``ingest``.

    Returns:
        The identifiers of the accepted answers.

    Raises:
        Refused: no answer was accepted; for status 429 and 503 ``retry_after`` says when to retry.
        ValueError: ``url`` does not begin with https:// or http://, or ``token`` is not one line of ASCII.
    """
    several = [answers] if isinstance(answers, Mapping) else list(answers)
    return list(_post(f"{url.rstrip('/')}/v1/answers", several, token, 6 * REPLY_SECONDS)["accepted"])


def _post(
    url: str, body: Mapping[str, Any] | Sequence[Mapping[str, Any]], token: str, seconds: float
) -> dict[str, Any]:
    if not url.startswith(("https://", "http://")):
        raise ValueError("url must begin with https:// or http://")
    token = token.strip()  # files of secrets end with a line feed
    if not (token.isascii() and token.isprintable()):
        raise ValueError("token must be one line of ASCII characters")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310 -- checked above
    try:
        with _OPENER.open(request, timeout=seconds) as reply:
            content = reply.read()
    except urllib.error.HTTPError as error:
        raise _refused(error) from None
    except (OSError, http.client.HTTPException) as error:
        raise Refused(0, type(error).__name__) from None
    try:
        told: dict[str, Any] = json.loads(content)
    except ValueError:
        raise Refused(0, "the reply is not JSON; check whether a proxy responds instead of the console") from None
    return told


def _refused(error: urllib.error.HTTPError) -> Refused:
    try:
        problem = json.load(error)
        fields = "; ".join(f"{each['field']}: {each['message']}" for each in problem.get("fields", ()))
        detail = " ".join(part for part in (problem.get("detail", ""), fields) if part)
    except (ValueError, KeyError, TypeError, AttributeError, OSError, http.client.HTTPException):
        detail = error.reason  # a proxy in front of the console has replied
    retry_after = error.headers.get("Retry-After", "")
    return Refused(error.code, detail, float(retry_after) if retry_after.isdecimal() else 0.0)
