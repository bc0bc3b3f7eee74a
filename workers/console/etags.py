"""Entity tags: who has the current version is told so, and sent nothing."""

from hashlib import sha256

from fastapi import Request, Response
from pydantic import BaseModel


def tagged(request: Request, body: BaseModel, *, changing: frozenset[str] = frozenset()) -> Response:
    """A model as JSON with its entity tag, or 304 if the caller has it.

    Args:
        request: may carry ``If-None-Match``.
        body: the response.
        changing: fields that differ at every look-up and are no part of the tag.
    """
    content = body.model_dump_json().encode()
    stable = body.model_dump_json(exclude=set(changing)).encode() if changing else content
    tag = f'W/"{sha256(stable).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if matches(request.headers.get("If-None-Match", ""), tag):
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type="application/json")


def matches(header: str, tag: str) -> bool:
    """Whether ``If-None-Match`` names a tag, compared weakly (RFC 9110, 13.1.2)."""
    wanted = tag.removeprefix("W/")
    return any(part.strip().removeprefix("W/") in (wanted, "*") for part in header.split(","))
