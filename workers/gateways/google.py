"""Google: ``generateContent`` of the Gemini API and of Vertex AI, with grounding supports.

Source: "Grounding with Google Search", ``GroundingMetadata`` and ``Segment`` of the API (v1), read November
2026. Offsets of a segment count bytes of the UTF-8 of one part; here they become code points of the whole
answer. Field names stand in camel case in the API's JSON and in snake case in what the Python client
writes; both are read. A chunk of the web has a title and an address and no text.
"""

from collections.abc import Mapping
from itertools import islice
from typing import Any

from workers.gateways.anthropic import sources as documents
from workers.gateways.reading import count, first_text, items, mapping, objects, text
from workers.gateways.reply import MAX_CITATIONS, Reply


def wrote(body: Mapping[str, Any]) -> bool:
    """Whether a response looks like Google's."""
    return isinstance(body.get("candidates"), list) or isinstance(body.get("promptFeedback"), dict)


def reply(body: Mapping[str, Any], request: Mapping[str, Any], sources: list[dict[str, Any]]) -> Reply:
    """A response; of several candidates the first one."""
    usage = mapping(_field(body, "usageMetadata"))
    candidate = next(objects(body.get("candidates")), {})
    parts = list(objects(mapping(candidate.get("content")).get("parts")))
    grounding = mapping(_field(candidate, "groundingMetadata"))
    found = Reply(
        identifier=text(_field(body, "responseId")),
        model=text(_field(body, "modelVersion")),
        finish_reason=text(_field(candidate, "finishReason")),
        prompt_tokens=count(_field(usage, "promptTokenCount")),
        completion_tokens=count(_field(usage, "candidatesTokenCount")),
        created=_field(body, "createTime"),
        error=text(_field(mapping(_field(body, "promptFeedback")), "blockReason")),
        calls_tools=any(_field(part, "functionCall") is not None for part in parts),
        contexts=[*documents(request), *sources],
    )
    # Thoughts are parts as well, and no part of the answer; the places of parts count them.
    texts = ["" if part.get("thought") is True else str(part.get("text") or "") for part in parts]
    found.text = text("".join(texts))
    places = _chunks(grounding, found)
    for support in islice(objects(_field(grounding, "groundingSupports")), MAX_CITATIONS):
        indices = [count(index) for index in items(_field(support, "groundingChunkIndices"))]
        numbers = [places[index] for index in indices if index is not None and index in places]
        found.uncited += len(indices) - len(numbers)
        span = span_of(mapping(support.get("segment")), texts)
        found.cite(numbers, *(span or (None, None)))
    return found


def messages(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The contents of a request as messages."""
    return [
        {"role": first_text(content, "role") or "user", "parts": list(items(content.get("parts")))}
        for content in objects(request.get("contents"))
    ]


def span_of(segment: Mapping[str, Any], texts: list[str]) -> tuple[int, int] | None:
    """Where a segment stands in the answer, in code points.

    Args:
        segment: ``partIndex``, ``startIndex`` and ``endIndex`` in bytes, ``text``.
        texts: of the parts, which make the answer one behind the other.

    Returns:
        Start and end; ``None`` where the offsets cut a character in two or lie outside, and the text of the
        segment is not found either.
    """
    part = count(_field(segment, "partIndex")) or 0
    start, end = count(_field(segment, "startIndex")) or 0, count(_field(segment, "endIndex"))
    said = segment.get("text")
    if part < len(texts) and end is not None:
        encoded = texts[part].encode()
        try:
            before, within = encoded[:start].decode(), encoded[start:end].decode()
        except UnicodeDecodeError:
            before, within = "", ""
        if within and end <= len(encoded) and said in (None, "", within):
            base = sum(len(each) for each in texts[:part]) + len(before)
            return base, base + len(within)
    if isinstance(said, str) and said and (place := "".join(texts).find(said)) >= 0:
        return place, place + len(said)
    return None


def _chunks(grounding: Mapping[str, Any], found: Reply) -> dict[int, int]:
    """Add the chunks that carry text to the contexts; their places there, from 1, by their index."""
    places = {}
    for index, chunk in enumerate(objects(_field(grounding, "groundingChunks"))):
        retrieved = mapping(_field(chunk, "retrievedContext"))
        content = text(retrieved.get("text")) or text(mapping(_field(retrieved, "ragChunk")).get("text"))
        if content is None:
            continue
        found.contexts.append(
            {
                "chunk_id": first_text(retrieved, "documentName", "document_name", "uri") or f"grounding-chunk-{index}",
                "content": content,
                "source_name": first_text(retrieved, "title"),
                "source_path": first_text(retrieved, "uri"),
            }
        )
        places[index] = len(found.contexts)
    return places


def _field(source: Mapping[str, Any], name: str) -> Any:
    """A field by its name in camel case or in snake case."""
    if name in source:
        return source[name]
    return source.get("".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name))
