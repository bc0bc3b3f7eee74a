"""Read requests and responses of Cohere's chat API (v2, and v1 as Bedrock serves it), with documents and citations.

Source: "Chat" of Cohere's API reference (v2) and "Documents and citations", read November 2026. Documents are texts or
objects of any fields; a citation names the documents that it holds against by their identifiers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import to_json

from workers.gateways.apis.reply import MAX_CITATIONS, Reply
from workers.gateways.reading.contexts import chunk_of
from workers.gateways.reading.lenient_reading import count, first_text, items, mapping, objects, text, unknown_field

NAME = "cohere"
_EVENTS = frozenset({"content-delta", "message-end"})
_NO_TEXT = frozenset({"thinking"})
_MESSAGE_FIELDS = frozenset({"role", "content", "tool_plan", "tool_calls", "citations"})
_SNIPPETS = ("text", "snippet", "content", "body")


def wrote(body: Mapping[str, Any]) -> bool:
    """Return whether a response has the shape of Cohere's chat API."""
    if _is_first(body):
        return True
    message, reason = mapping(body.get("message")), body.get("finish_reason")
    # A choice of OpenAI's has the same fields, and its reasons in lower case. A stream that was cut off has no reason.
    cited = isinstance(message.get("citations"), list) and isinstance(message.get("content"), list)
    return bool(message) and (cited if reason is None else isinstance(reason, str) and reason.isupper())


def reply(body: Mapping[str, Any], request: Mapping[str, Any], sources: list[dict[str, Any]]) -> Reply:
    """Read a response.

    Args:
        body: body of the response.
        request: body of the request.
        sources: further contexts, placed after the documents of the request.
    """
    if _is_first(body):
        return _first_reply(body, request, sources)
    message, usage = mapping(body.get("message")), mapping(body.get("usage"))
    tokens = mapping(usage.get("tokens")) or mapping(usage.get("billed_units"))
    found = Reply(
        service=NAME,
        identifier=first_text(body, "id"),
        model=first_text(body, "model"),
        finish_reason=first_text(body, "finish_reason"),
        prompt_tokens=count(tokens.get("input_tokens")),
        completion_tokens=count(tokens.get("output_tokens")),
        error=_failure(body),
        contexts=[*documents(request), *sources],
        calls_tools=bool(message.get("tool_calls")),
    )
    content = message.get("content")
    starts = []
    for place, block in enumerate([{"type": "text", "text": content}] if isinstance(content, str) else items(content)):
        starts.append(len(found.text or ""))
        source = mapping(block)
        if source.get("type") == "text" and isinstance(source.get("text"), str):
            found.text = (found.text or "") + source["text"]
        elif first_text(source, "type") not in _NO_TEXT:
            found.mark_unread(f"message.content.{place}")
    if not isinstance(content, str | list | None):
        found.mark_unread("message.content")
    if "content" not in message and (name := unknown_field(message, _MESSAGE_FIELDS)) is not None:
        found.mark_unread(f"message.{name}")
    for citation in list(objects(message.get("citations")))[:MAX_CITATIONS]:
        _cite(citation, starts, found)
    return found


def _failure(body: Mapping[str, Any]) -> str | None:
    """Return the finish reason of a call that failed."""
    reason = first_text(body, "finish_reason") or ""
    return reason if reason.startswith(("ERROR", "TIMEOUT")) else None


def is_event(value: Mapping[str, Any]) -> bool:
    """Return whether a value is an event of a streamed response."""
    return first_text(value, "type") in _EVENTS or value.get("event_type") == "stream-end"


def merged(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the body of a streamed response; the last event of the first version holds it."""
    last = next((event for event in events if event.get("event_type") == "stream-end"), None)
    if last is not None:
        return dict(mapping(last.get("response")))
    body: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    message: dict[str, list[Any]] = {"citations": [], "tool_calls": []}
    for event in events:
        delta = mapping(event.get("delta"))
        told = mapping(delta.get("message"))
        if event.get("type") == "message-start":
            body["id"] = event.get("id")
        elif event.get("type") == "content-delta":
            _add_piece(blocks, count(event.get("index")) or 0, mapping(told.get("content")))
        elif event.get("type") == "message-end":
            body |= {name: value for name, value in delta.items() if value is not None}
        for name in message.keys() & told.keys():
            message[name] += told[name] if isinstance(told[name], list) else [told[name]]
    return body | {"message": {"role": "assistant", "content": [blocks[place] for place in sorted(blocks)], **message}}


def _add_piece(blocks: dict[int, dict[str, Any]], place: int, piece: Mapping[str, Any]) -> None:
    if isinstance(piece.get("text"), str):
        block = blocks.setdefault(place, {"type": "text", "text": ""})
        block["text"] = str(block.get("text", "")) + piece["text"]
    elif isinstance(piece.get("thinking"), str):
        blocks.setdefault(place, {"type": "thinking"})  # citations count it
    else:
        blocks.setdefault(place, {"unread": dict(piece)})  # refused as a block without a known shape


def _is_first(body: Mapping[str, Any]) -> bool:
    """Return whether a response is one of the first version of the chat API."""
    return isinstance(body.get("text"), str) and ("generation_id" in body or "response_id" in body)


def _first_reply(body: Mapping[str, Any], request: Mapping[str, Any], sources: list[dict[str, Any]]) -> Reply:
    meta = mapping(body.get("meta"))
    tokens = mapping(meta.get("tokens")) or mapping(meta.get("billed_units"))
    found = Reply(
        text=text(body.get("text")),
        service=NAME,
        identifier=first_text(body, "response_id", "generation_id"),
        finish_reason=first_text(body, "finish_reason"),
        prompt_tokens=count(tokens.get("input_tokens")),
        completion_tokens=count(tokens.get("output_tokens")),
        error=_failure(body),
        # The response repeats the documents that it cites; those of the request have the same names.
        contexts=[
            *(_documents(request.get("documents"), "doc_") or _documents(body.get("documents"), "doc_")),
            *sources,
        ],
        calls_tools=bool(body.get("tool_calls")),
    )
    for citation in list(objects(body.get("citations")))[:MAX_CITATIONS]:
        named = [{"id": name} for name in items(citation.get("document_ids"))]
        _cite({**citation, "sources": named}, [], found)
    return found


def messages(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the message and the history of a request of the first version as messages with a role."""
    said = request.get("message")
    if not isinstance(said, str):
        return []
    roles = {"USER": "user", "CHATBOT": "assistant"}
    turns = [
        {"role": roles[role], "content": turn.get("message")}
        for turn in objects(request.get("chat_history"))
        if (role := str(turn.get("role"))) in roles
    ]
    return [*turns, {"role": "user", "content": said}]


def documents(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the documents of a request as fields of ``ContextChunk``."""
    return _documents(request.get("documents"), "doc:")


def _documents(given: Any, prefix: str) -> list[dict[str, Any]]:
    # Cohere names documents without an identifier by their place.
    named = (
        (first_text(mapping(document), "id") or f"{prefix}{place}", mapping(document).get("data", document))
        for place, document in enumerate(items(given))
    )
    return [chunk for name, data in named if (chunk := _chunk(name, data)) is not None]


def _chunk(name: str, data: Any) -> dict[str, Any] | None:
    if isinstance(data, str):
        return chunk_of({"id": name, "content": data})
    source = mapping(data)
    said = first_text(source, *_SNIPPETS)
    content = said if said is not None else to_json(dict(source)).decode() if source else None
    return None if content is None else chunk_of({"id": name, "content": content, "title": source.get("title")})


def _cite(citation: Mapping[str, Any], starts: list[int], found: Reply) -> None:
    index, start, end = (count(citation.get(name)) for name in ("content_index", "start", "end"))
    base = starts[index] if index is not None and index < len(starts) else 0
    numbers = []
    for source in objects(citation.get("sources")):
        name = first_text(source, "id")
        place = found.numbered(name)
        held = mapping(source.get("document")) or mapping(source.get("tool_output"))
        if place is None and name is not None and (chunk := _chunk(name, dict(held))) is not None:
            found.contexts.append(chunk)
            place = len(found.contexts)
        if place is None:
            found.uncited += 1
        else:
            numbers.append(place)
    if start is None or end is None:
        found.cite(numbers, None, None)
    else:
        found.cite(numbers, base + start, base + end)
