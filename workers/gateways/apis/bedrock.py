"""Read requests and responses of Amazon Bedrock's Converse API, with citations.

Source: "Converse", "ConverseStream", ``ContentBlock`` and ``CitationsContentBlock`` of the Bedrock Runtime API, read
November 2026. Documents of a request count from 0 over all
messages, and so do search results.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workers.gateways.apis.attachments import decoded
from workers.gateways.apis.chat_messages import GROUNDING_SOURCE, part_texts
from workers.gateways.apis.reply import MAX_CITATIONS, Reply
from workers.gateways.reading.lenient_reading import count, first_text, items, mapping, objects, text, total

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
    counted = _counted(request)
    content = message.get("content")
    found = Reply(
        service=NAME,
        model=first_text(request, "modelId"),
        finish_reason=first_text(body, "stopReason"),
        # Tokens that the service reads from its cache, or writes to it, are not among the others.
        prompt_tokens=total(
            *(usage.get(name) for name in ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"))
        ),
        completion_tokens=count(usage.get("outputTokens")),
        error=text(body.get("error")),
        contexts=[*(chunk for chunk in counted.all if chunk["content"]), *sources],
        calls_tools=any("toolUse" in block and not _is_of_service(block) for block in objects(content)),
    )
    if not isinstance(content, list):
        found.mark_unread("output.message.content")
    for place, block in enumerate(map(mapping, items(content))):
        _read_block(block, counted, found, f"output.message.content.{place}")
    return found


def is_event(value: Any) -> bool:
    """Return whether a value is an event of a streamed response."""
    return any(name in mapping(value) for name in EVENTS) or failure(mapping(value)) is not None


def merged(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the body of a streamed response."""
    texts: dict[int, str] = {}
    cited: dict[int, list[Any]] = {}
    body: dict[str, Any] = {}
    unread: list[dict[str, Any]] = []
    calls = False
    services: set[int] = set()
    for event in events:
        delta = mapping(event.get("contentBlockDelta"))
        piece = mapping(delta.get("delta"))
        index = count(delta.get("contentBlockIndex")) or 0
        begun = mapping(event.get("contentBlockStart"))
        if _is_of_service(mapping(begun.get("start"))):
            services.add(count(begun.get("contentBlockIndex")) or 0)
        calls = calls or ("toolUse" in piece and index not in services)
        if isinstance(piece.get("citation"), dict):
            cited.setdefault(index, []).append(piece["citation"])
        if isinstance(piece.get("text"), str):
            texts[index] = texts.get(index, "") + piece["text"]
        elif (error := failure(event)) is not None:
            body["error"] = error
        elif not any(isinstance(piece.get(name), dict) for name in NO_TEXT_DELTAS) and not any(
            name in event for name in OTHER_EVENTS
        ):
            unread.append({"event": dict(event)})  # refused as a block without a known shape
        body |= {name: value for name, value in mapping(event.get("messageStop")).items() if name == "stopReason"}
        body |= {name: value for name, value in mapping(event.get("metadata")).items() if name in ("usage", "metrics")}
    content: list[dict[str, Any]] = [
        {"citationsContent": {"content": [{"text": texts[index]}], "citations": cited[index]}}
        if index in cited
        else {"text": texts[index]}
        for index in sorted(texts)
    ]
    content += [{"toolUse": {}}] if calls else []
    return body | {"output": {"message": {"role": "assistant", "content": content + unread}}}


def failure(event: Mapping[str, Any]) -> str | None:
    """Return the message of an event that ends a stream with an error, or its name; ``None`` for other events."""
    name = next((name for name, value in event.items() if name.endswith("Exception") and isinstance(value, dict)), None)
    return name and (first_text(event[name], "message") or name)


def _is_of_service(block: Mapping[str, Any]) -> bool:
    """Return whether a call is of a tool of the service, as Nova's web search, which ends within the response."""
    return mapping(block.get("toolUse")).get("type") == "server_tool_use"


def _read_block(block: Mapping[str, Any], counted: "_Counted", found: Reply, field: str) -> None:
    cited = mapping(block.get("citationsContent"))
    start = len(found.text or "")
    if isinstance(block.get("text"), str):
        found.text = (found.text or "") + block["text"]
    elif cited:
        said = "".join(part for each in objects(cited.get("content")) if (part := text(each.get("text"))) is not None)
        found.text = (found.text or "") + said
        for citation in list(objects(cited.get("citations")))[:MAX_CITATIONS]:
            _cite(citation, counted, found, start)
    elif not any(name in block for name in NO_TEXT):
        found.mark_unread(field)


def _cite(citation: Mapping[str, Any], counted: "_Counted", found: Reply, start: int) -> None:
    location = next((mapping(each) for each in mapping(citation.get("location")).values()), {})
    chunk = counted.target(location)
    place = next((place for place, each in enumerate(found.contexts, 1) if each is chunk), None)
    if place is None:
        found.leave_uncited(first_text(location, "url"))
        return
    quoted = "".join(part for each in objects(citation.get("sourceContent")) if (part := text(each.get("text"))))
    found.cite([place], start, len(found.text or ""), quoted or None)


@dataclass(slots=True)
class _Counted:
    """Sources of a request in the order in which the service counts them."""

    all: list[dict[str, Any]] = field(default_factory=list)
    documents: list[dict[str, Any]] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)

    def target(self, location: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the source that a citation's location names."""
        for name, chunks in (("documentIndex", self.documents), ("searchResultIndex", self.results)):
            index = count(location.get(name))
            if index is not None:
                return chunks[index] if index < len(chunks) else None
        return None


def _counted(request: Mapping[str, Any]) -> _Counted:
    counted = _Counted()
    for message in objects(request.get("messages")):
        for block in _blocks(message.get("content")):
            document, result = mapping(block.get("document")), mapping(block.get("searchResult"))
            guarded = mapping(mapping(block.get("guardContent")).get("text"))
            if document:
                counted.documents.append(_document(document))
                counted.all.append(counted.documents[-1])
            elif result:
                counted.results.append(_search_result(result, len(counted.results)))
                counted.all.append(counted.results[-1])
            elif GROUNDING_SOURCE in items(guarded.get("qualifiers")) and (content := text(guarded.get("text"))):
                counted.all.append({"chunk_id": f"grounding-source-{len(counted.all)}", "content": content})
    return counted


def _blocks(content: Any) -> Iterator[Mapping[str, Any]]:
    for block in objects(content):
        yield block
        yield from (each for each in objects(mapping(block.get("toolResult")).get("content")) if "searchResult" in each)


def _document(document: Mapping[str, Any]) -> dict[str, Any]:
    source, name = mapping(document.get("source")), first_text(document, "name")
    parts = [part for each in objects(source.get("content")) if (part := text(each.get("text")))]
    inline = decoded(source.get("bytes"), first_text(document, "format"))
    content = text(source.get("text")) or inline or "\n\n".join(parts)
    return {"chunk_id": name, "content": content, "source_name": name}


def _search_result(result: Mapping[str, Any], place: int) -> dict[str, Any]:
    return {
        "chunk_id": f"search-result-{place}",
        "content": "\n\n".join(part_texts(items(result.get("content")))),
        "source_name": first_text(result, "title"),
        "source_path": first_text(result, "source"),
    }
