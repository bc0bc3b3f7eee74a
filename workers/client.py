"""Two functions for programs that write answers: have one judged now, and send answers to the stream.

Nothing but Python's standard library (3.9 and later), and nothing of this package: the file may be copied into a
program that does not install it. Both functions wait for their reply; call them in a thread where an event loop runs.

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
"""Longest wait for a reply beyond the deadline of a check, and for the confirmation of answers."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would take the token to whoever it names."""

    def redirect_request(self, *_: Any) -> None:
        """Follow none; the status of the redirect is then an error like any other."""


_OPENER = urllib.request.build_opener(_NoRedirects)


class Refused(Exception):
    """The console has not done what it was asked.

    Attributes:
        status: of HTTP, or 0 where nobody answers. 429, 503 and 504 may be tried again, the others not.
        retry_after: seconds to wait before that, as the console says; 0 where it says nothing.
    """

    def __init__(self, status: int, detail: str, retry_after: float = 0.0) -> None:
        super().__init__(f"{status or 'no answer'}: {detail}")
        self.status = status
        self.retry_after = retry_after


def check(answer: Mapping[str, Any], *, url: str, token: str, deadline_ms: int = 1_000) -> dict[str, Any]:
    """Have an answer judged now.

    Args:
        answer: at least ``answer``; with ``query`` and ``contexts`` it can be grounded. As ``GeneratedAnswer``.
        url: of the console, as https://touchstone.example.
        token: an access token with the scope ``ingest``.
        deadline_ms: longest wait, milliseconds.

    Returns:
        ``CheckedAnswer``: state, content, reasons, scores, claims with verdicts. ``degraded`` says that a judgement
        could not be made in time.

    Raises:
        Refused: no verdict; 504 none within the deadline, 503 too many at once, 422 the answer is not as described.
    """
    seconds = deadline_ms / 1_000 + REPLY_SECONDS
    return _post(f"{url.rstrip('/')}/v1/check?deadline_ms={deadline_ms}", answer, token, seconds)


def send(answers: Mapping[str, Any] | Sequence[Mapping[str, Any]], *, url: str, token: str) -> list[str]:
    """Send answers to the stream; they are in the broker's log when this returns. Safe to repeat.

    Args:
        answers: one or up to 500, as ``GeneratedAnswer``; ``answer_id`` and ``completed_at`` may be left out.
        url: of the console.
        token: an access token with the scope ``ingest``.

    Returns:
        Their identifiers.

    Raises:
        Refused: none of them was taken; 429 and 503 say when to try again.
    """
    several = [answers] if isinstance(answers, Mapping) else list(answers)
    return list(_post(f"{url.rstrip('/')}/v1/answers", several, token, 6 * REPLY_SECONDS)["accepted"])


def _post(
    url: str, body: Mapping[str, Any] | Sequence[Mapping[str, Any]], token: str, seconds: float
) -> dict[str, Any]:
    if not url.startswith(("https://", "http://")):
        raise ValueError("url must begin with https:// or http://")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310 -- checked above
    try:
        with _OPENER.open(request, timeout=seconds) as reply:
            told: dict[str, Any] = json.load(reply)
            return told
    except urllib.error.HTTPError as error:
        raise _refused(error) from None
    except (OSError, http.client.HTTPException) as error:
        raise Refused(0, type(error).__name__) from None
    except ValueError:
        raise Refused(0, "the reply is no JSON; does something before the console answer?") from None


def _refused(error: urllib.error.HTTPError) -> Refused:
    try:
        problem = json.load(error)
        fields = "; ".join(f"{each['field']}: {each['message']}" for each in problem.get("fields", ()))
        detail = " ".join(part for part in (problem.get("detail", ""), fields) if part)
    except (ValueError, KeyError, TypeError, AttributeError, OSError, http.client.HTTPException):
        detail = error.reason  # something before the console has answered
    retry_after = error.headers.get("Retry-After", "")
    return Refused(error.code, detail, float(retry_after) if retry_after.isdecimal() else 0.0)
