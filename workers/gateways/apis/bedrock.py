"""Read requests and responses of Amazon Bedrock's Converse API, with citations.

Source: "Converse", "ConverseStream", ``ContentBlock`` and ``CitationsContentBlock`` of the Bedrock Runtime API, read
November 2026. Documents of a request count from 0 over all messages.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workers.gateways.apis.reply import MAX_CITATIONS, Reply
from workers.gateways.lenient_reading import count, first_text, items, mapping, objects, text

NAME = "bedrock"
NO_TEXT = ("reasoningContent", "toolUse", "toolResult", "guardContent", "image", "document", "video", "audio", "cachePoint",
           "searchResult")  # fmt: skip
"""Fields of blocks that are no part of the answer's text."""
NO_TEXT_DELTAS = ("reasoningContent", "toolUse", "toolResult", "citation", "image")
"""Fields of deltas that are no part of the answer's text."""
OTHER_EVENTS = ("messageStart", "contentBlockStart", "contentBlockStop", "messageStop", "metadata")
EVENTS = ("messageStart", "contentBlockDelta", "messageStop")


def wrote(body: Mapping[str, Any]) -> bool:
    """Return whether a response has the shape of the Converse API."""
    return isinstance(body.get("output"), dict) and ("stopReason" in body or "message" in body["output"])


def reply(body: Mapping[str, Any], request: Mapping[str, Any], sources: list[dict[str, Any]]) -> Reply:
    """Read a response.

    Args:
        body: body of the response.
        request: body of the request; citations count its documents.
        sources: further contexts, placed after the documents of the request.
    """
    usage, message = mapping(body.get("usage")), mapping(mapping(body.get("output")).get("message"))
    documents = list(_documents(request))
    content = message.get("content")
    found = Reply(
        service=NAME,
        model=first_text(request, "modelId"),
        finish_reason=first_text(body, "stopReason"),
        prompt_tokens=count(usage.get("inputTokens")),
        completion_tokens=count(usage.get("outputTokens")),
        error=text(body.get("error")),
        contexts=[*(chunk for chunk in documents if chunk["content"]), *sources],
        calls_tools=any("toolUse" in block for block in objects(content)),
    )
    if not isinstance(content, list):
        found.mark_unread("output.message.content")
    for place, block in enumerate(map(mapping, items(content))):
        _read_block(block, documents, found, f"output.message.content.{place}")
    return found


def is_event(value: Any) -> bool:
    """Return whether a value is an event of a streamed response."""
    return any(name in mapping(value) for name in EVENTS) or _failure(mapping(value)) is not None


def merged(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the body of a streamed response."""
    texts: dict[int, str] = {}
    body: dict[str, Any] = {}
    unread: list[dict[str, Any]] = []
    calls = False
    for event in events:
        delta = mapping(event.get("contentBlockDelta"))
        piece = mapping(delta.get("delta"))
        calls = calls or "toolUse" in piece
        if isinstance(piece.get("text"), str):
            index = count(delta.get("contentBlockIndex")) or 0
            texts[index] = texts.get(index, "") + piece["text"]
        elif (failure := _failure(event)) is not None:
            body["error"] = failure
        elif not any(isinstance(piece.get(name), dict) for name in NO_TEXT_DELTAS) and not any(
            name in event for name in OTHER_EVENTS
        ):
            unread.append({"event": dict(event)})  # refused as a block without a known shape
        body |= {name: value for name, value in mapping(event.get("messageStop")).items() if name == "stopReason"}
        body |= {name: value for name, value in mapping(event.get("metadata")).items() if name in ("usage", "metrics")}
    content: list[dict[str, Any]] = [{"text": texts[index]} for index in sorted(texts)]
    content += [{"toolUse": {}}] if calls else []
    return body | {"output": {"message": {"role": "assistant", "content": content + unread}}}


def _failure(event: Mapping[str, Any]) -> str | None:
    """Return the message of an event that ends a stream with an error, or its name."""
    name = next((name for name, value in event.items() if name.endswith("Exception") and isinstance(value, dict)), None)
    return name and (first_text(event[name], "message") or name)


def _read_block(block: Mapping[str, Any], documents: list[dict[str, Any]], found: Reply, field: str) -> None:
    cited = mapping(block.get("citationsContent"))
    start = len(found.text or "")
    if isinstance(block.get("text"), str):
        found.text = (found.text or "") + block["text"]
    elif cited:
        said = "".join(part for each in objects(cited.get("content")) if (part := text(each.get("text"))) is not None)
        found.text = (found.text or "") + said
        for citation in list(objects(cited.get("citations")))[:MAX_CITATIONS]:
            _cite(citation, documents, found, start)
    elif not any(name in block for name in NO_TEXT):
        found.mark_unread(field)


def _cite(citation: Mapping[str, Any], documents: list[dict[str, Any]], found: Reply, start: int) -> None:
    location = next((mapping(each) for each in mapping(citation.get("location")).values()), {})
    index = count(location.get("documentIndex"))
    chunk = documents[index] if index is not None and index < len(documents) else None
    place = next((place for place, each in enumerate(found.contexts, 1) if each is chunk), None)
    if place is None:
        found.uncited += 1
        return
    quoted = "".join(part for each in objects(citation.get("sourceContent")) if (part := text(each.get("text"))))
    found.cite([place], start, len(found.text or ""), quoted or None)


def _documents(request: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for message in objects(request.get("messages")):
        for block in objects(message.get("content")):
            document = mapping(block.get("document"))
            if not document:
                continue
            source = mapping(document.get("source"))
            parts = [part for each in objects(source.get("content")) if (part := text(each.get("text")))]
            name = first_text(document, "name")
            yield {"chunk_id": name, "content": text(source.get("text")) or "\n\n".join(parts), "source_name": name}
