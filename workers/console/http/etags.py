"""Send entity tags, and answer 304 without a body to clients that have the current version."""

from hashlib import sha256

from fastapi import Request, Response
from pydantic import BaseModel


def tagged(request: Request, body: BaseModel, *, changing: frozenset[str] = frozenset()) -> Response:
    """Return a model as JSON with its entity tag, or 304 if the client has this version.

    Args:
        request: may carry ``If-None-Match``.
        body: the response model.
        changing: fields that differ on every read; left out of the tag.
    """
    content = body.model_dump_json().encode()
    stable = body.model_dump_json(exclude=set(changing)).encode() if changing else content
    tag = f'W/"{sha256(stable).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if matches(request.headers.get("If-None-Match", ""), tag):
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type="application/json")


def matches(header: str, tag: str) -> bool:
    """Return ``True`` if ``If-None-Match`` names the tag, by weak comparison (RFC 9110, section 13.1.2)."""
    wanted = tag.removeprefix("W/")
    return any(part.strip().removeprefix("W/") in (wanted, "*") for part in header.split(","))
