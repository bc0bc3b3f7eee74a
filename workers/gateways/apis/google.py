"""Read requests and responses of Google's ``generateContent`` (Gemini API and Vertex AI), with grounding supports.

Source: "Grounding with Google Search", ``GroundingMetadata`` and ``Segment`` of the API (v1), read November 2026. A
segment's offsets count the UTF-8 bytes of one part; this module converts them to code points of the whole answer. The
API's JSON has field names in camel case, the Python client writes snake case; both are accepted. A web chunk has a
title and an address, but no text.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from workers.gateways.apis.anthropic import sources as documents
from workers.gateways.apis.attachments import message_list
from workers.gateways.apis.chat_messages import tool_results
from workers.gateways.apis.reply import MAX_CITATIONS, Reply, first_choice
from workers.gateways.reading.lenient_reading import (
    count,
    first_text,
    items,
    mapping,
    objects,
    text,
    total,
    unknown_field,
)
from workers.gateways.reading.tool_calls import Calls

PARTS: Mapping[str, type] = {
    "text": str, "functionCall": dict, "functionResponse": dict, "inlineData": dict, "fileData": dict,
    "executableCode": dict, "codeExecutionResult": dict, "toolCall": dict, "toolResponse": dict,
    "thoughtSignature": str,
}  # fmt: skip
"""Fields of a part, with the type of their values."""
CONTENT_FIELDS = frozenset({"role", "parts"})
CANDIDATE_FIELDS = frozenset(
    {"content", "finishReason", "finish_reason", "finishMessage", "finish_message", "safetyRatings", "safety_ratings",
     "citationMetadata", "citation_metadata", "groundingMetadata", "grounding_metadata", "groundingAttributions",
     "logprobsResult", "logprobs_result", "urlContextMetadata", "url_context_metadata"}
)  # fmt: skip


def wrote(body: Mapping[str, Any]) -> bool:
    """Return whether a response has the shape of Google's ``generateContent``."""
    return isinstance(body.get("candidates"), list) or isinstance(_field(body, "promptFeedback"), dict)


def reply(body: Mapping[str, Any], request: Mapping[str, Any], sources: list[dict[str, Any]]) -> Reply:
    """Read the first candidate of a response.

    Args:
        body: body of the response.
        request: body of the request.
        sources: further contexts, placed after the documents of the request.
    """
    usage = mapping(_field(body, "usageMetadata"))
    candidate = first_choice(body.get("candidates"))
    parts = [mapping(part) for part in items(mapping(candidate.get("content")).get("parts"))]
    grounding = mapping(_field(candidate, "groundingMetadata"))
    found = Reply(
        identifier=text(_field(body, "responseId")),
        model=text(_field(body, "modelVersion")),
        finish_reason=text(_field(candidate, "finishReason")),
        prompt_tokens=total(_field(usage, "promptTokenCount"), _field(usage, "toolUsePromptTokenCount")),
        # Thinking is charged as output, and is not among the tokens of the candidates.
        completion_tokens=total(_field(usage, "candidatesTokenCount"), _field(usage, "thoughtsTokenCount")),
        created=_field(body, "createTime"),
        error=text(_field(mapping(_field(body, "promptFeedback")), "blockReason")),
        calls_tools=any(_field(part, "functionCall") is not None for part in parts),
        contexts=[*documents(request), *sources, *_executed(parts)],
    )
    found.others = max(0, len(items(body.get("candidates"))) - 1)
    # Thoughts are not part of the answer, but part indices count them.
    texts = ["" if part.get("thought") is True else str(part.get("text") or "") for part in parts]
    _space(texts)
    found.text = text("".join(texts))
    _check_shape(candidate, parts, found)
    places = _chunks(grounding, found)
    pages = enumerate(objects(_field(grounding, "groundingChunks")))
    addresses = {index: first_text(mapping(each.get("web")), "uri") for index, each in pages}
    for support in islice(objects(_field(grounding, "groundingSupports")), MAX_CITATIONS):
        indices = [count(index) for index in items(_field(support, "groundingChunkIndices"))]
        numbers = [places[index] for index in indices if index is not None and index in places]
        for index in indices:
            if index not in places:
                found.leave_uncited(addresses.get(index) if index is not None else None)
        span = span_of(mapping(support.get("segment")), texts)
        found.cite(numbers, *(span or (None, None)))
    return found


def _executed(parts: list[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the results of code that the service executed."""
    calls = Calls()
    calls.add({"parts": parts})
    return tool_results({"parts": [part for part in parts if "functionResponse" not in part]}, "model", calls)


def _space(texts: list[str]) -> None:
    """Put a space into a part without text where the texts around it would run into each other."""
    for place in range(1, len(texts) - 1):
        before, behind = "".join(texts[:place])[-1:], "".join(texts[place + 1 :])[:1]
        if not texts[place] and before.strip() and behind.strip():
            texts[place] = " "


def _check_shape(candidate: Mapping[str, Any], parts: list[Mapping[str, Any]], found: Reply) -> None:
    for place, part in enumerate(parts):
        if not any(isinstance(_field(part, name), kind) for name, kind in PARTS.items()):
            found.mark_unread(f"candidates.0.content.parts.{place}")
    content = mapping(candidate.get("content"))
    odd = "content" not in candidate and unknown_field(candidate, CANDIDATE_FIELDS) is not None
    odd = odd or not isinstance(content.get("parts", []), list) or unknown_field(content, CONTENT_FIELDS) is not None
    # A candidate that was stopped has a reason and no content.
    if not parts and (odd or found.finish_reason is None):
        found.mark_unread("candidates.0.content.parts" if candidate else "candidates")


def messages(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the contents of a request as messages with a role and parts."""
    # The Python client also takes a text, a content, or a list of texts and parts.
    found = []
    for content in message_list(request.get("contents")):
        source = {"parts": [{"text": content}]} if isinstance(content, str) else mapping(content)
        parts = message_list(source.get("parts")) if "parts" in source else [source]
        found.append({"role": first_text(source, "role") or "user", "parts": parts})
    return found


def span_of(segment: Mapping[str, Any], texts: list[str]) -> tuple[int, int] | None:
    """Return the position of a segment in the answer, in code points.

    Args:
        segment: ``partIndex``, ``startIndex`` and ``endIndex`` in bytes, ``text``.
        texts: texts of the parts; joined they are the answer.

    Returns:
        Start and end. If the offsets are invalid, the first occurrence of the segment's text; ``None`` if there is
            none.
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
    """Append the chunks that carry text to the contexts; return their 1-based positions by chunk index."""
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
    """Return a field by its camel case or snake case name."""
    if name in source:
        return source[name]
    return source.get("".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name))
