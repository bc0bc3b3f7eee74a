"""Merge the chunks of a streamed response to the body that the service returns without streaming.

Sources: OpenAI's ``chat.completion.chunk`` and the events of the Responses API; Anthropic's events of a streamed
message; Google's ``streamGenerateContent``, whose chunks are partial responses. Read November 2026. The events of
Bedrock and Cohere are merged in their modules.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from workers.gateways.apis import bedrock, bedrock_models, cohere, knowledge_bases, ollama
from workers.gateways.reading.lenient_reading import count, first_text, items, mapping, objects

NO_TEXT_DELTAS = frozenset({"input_json_delta", "thinking_delta", "signature_delta", "compaction_delta"})
"""Types of Anthropic's deltas that hold no text of an answer."""
FINAL_EVENTS = frozenset({"response.completed", "response.incomplete", "response.failed"})


def is_stream(response: Any) -> bool:
    """Return whether a value is a list of chunks or events of one streamed response."""
    return isinstance(response, list) and any(_is_chunk(each) for each in response)


def merged(chunks: Sequence[Any]) -> dict[str, Any]:
    """Return the body of a streamed response; an empty object if the stream did not begin or end as it should.

    Args:
        chunks: chunks or events in their order.
    """
    found = [mapping(each) for each in chunks]
    final = next((each for each in found if first_text(each, "type") in FINAL_EVENTS), None)
    if final is not None:
        return dict(mapping(final.get("response")))
    for service in (cohere, knowledge_bases, bedrock_models, bedrock):
        if any(service.is_event(each) for each in found):
            body: dict[str, Any] = service.merged(found)
            return body
    if any("candidates" in each for each in found):
        return _google(found)
    if any(each.get("type") == "message_start" for each in found):
        return _anthropic(found)
    if any("choices" in each for each in found):
        return _openai(found)
    if any(ollama.is_chunk(each) for each in found):
        return ollama.merged(found)
    if any(_of_responses(each) for each in found):
        return _responses(found)
    return next((dict(each) for each in found if "error" in each), {})


def _is_chunk(value: Any) -> bool:
    source = mapping(value)
    return (
        "candidates" in source
        or any(service.is_event(source) for service in (cohere, knowledge_bases, bedrock_models, bedrock))
        or first_text(source, "type") in FINAL_EVENTS
        or source.get("type") == "message_start"
        or ollama.is_chunk(source)
        or any("delta" in choice or _is_of_mistral(choice) for choice in objects(source.get("choices")))
        or _of_responses(source)
        or source.keys() == {"error"}
    )


def _is_of_mistral(choice: Mapping[str, Any]) -> bool:
    """Return whether a choice is a part of a stream of Mistral's at Bedrock, which calls the delta a message."""
    return "message" in choice and "stop_reason" in choice


def _of_responses(value: Mapping[str, Any]) -> bool:
    return (first_text(value, "type") or "").startswith("response.")


def _responses(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what came of a response whose stream was cut off before its last event."""
    body: dict[str, Any] = {"status": "incomplete"}
    output: dict[int, dict[str, Any]] = {}
    for event in events:
        index, kind = count(event.get("output_index")) or 0, first_text(event, "type")
        body |= {name: value for name, value in mapping(event.get("response")).items() if name in ("id", "model")}
        if isinstance(event.get("item"), dict):
            output[index] = dict(event["item"])
        elif kind == "response.output_text.delta" and isinstance(event.get("delta"), str):
            item = output.setdefault(index, {"type": "message"})
            before = next(objects(item.get("content")), {})
            item["content"] = [{"type": "output_text", "text": _joined(before.get("text"), event["delta"])}]
        elif kind == "error":
            body["error"] = mapping(event.get("error")) or {"message": first_text(event, "message", "code")}
    return body | {"output": [output[index] for index in sorted(output)]}


def _openai(chunks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    body: dict[str, Any] = {}
    message: dict[str, Any] = {"role": "assistant"}
    choice: dict[str, Any] = {"index": 0, "message": message}
    for chunk in chunks:
        body |= {name: value for name, value in chunk.items() if name != "choices" and value is not None}
        for part in objects(chunk.get("choices")):
            if count(part.get("index")):
                continue  # the first choice is evaluated
            reason = part.get("finish_reason") or part.get("stop_reason")
            choice["finish_reason"] = reason or choice.get("finish_reason")
            for name, value in mapping(part.get("message") if _is_of_mistral(part) else part.get("delta")).items():
                if name in ("content", "refusal") and isinstance(value, str | list):
                    message[name] = _continued(message.get(name), value)
                elif name in ("tool_calls", "annotations"):
                    message[name] = [*message.get(name, ()), *items(value)]
                elif name == "audio":
                    pieces = (mapping(each).get("transcript") for each in (message.get(name), value))
                    message[name] = {"transcript": _joined(*pieces)}
                elif value is not None or name not in message:
                    message[name] = value  # also what is unknown, so that it is refused and not left out
    return body | {"choices": [choice]}


def _continued(before: Any, piece: str | list[Any]) -> str | list[Any]:
    """Return a content with the next piece: a text, or a list of parts if any piece is one, as Mistral's are."""
    if isinstance(piece, str) and not isinstance(before, list):
        return _joined(before, piece)
    parts = list(before) if isinstance(before, list) else [{"type": "text", "text": before}] if before else []
    return [*parts, *([{"type": "text", "text": piece}] if isinstance(piece, str) else piece)]


def _joined(before: Any, piece: Any) -> str:
    return "".join(each for each in (before, piece) if isinstance(each, str))


def _anthropic(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    body: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    for event in events:
        kind, delta = event.get("type"), mapping(event.get("delta"))
        block = blocks.get(count(event.get("index")) or 0, {})
        if kind == "message_start":
            body = dict(mapping(event.get("message")))
        elif kind == "content_block_start":
            blocks[count(event.get("index")) or 0] = dict(mapping(event.get("content_block")))
        elif delta.get("type") == "text_delta" and isinstance(delta.get("text"), str):
            block["text"] = str(block.get("text") or "") + delta["text"]
        elif delta.get("type") == "citations_delta":
            block["citations"] = [*items(block.get("citations")), delta.get("citation")]
        elif (
            kind == "content_block_delta" and first_text(delta, "type") not in NO_TEXT_DELTAS and not block.get("text")
        ):
            block.pop("text", None)  # a text block without a text is refused
        elif kind == "error":
            body["error"] = event.get("error")
        elif kind == "message_delta":
            body |= {name: value for name, value in delta.items() if value is not None}
            # Clients write the tokens that only the first event tells as null here.
            told = {name: value for name, value in mapping(event.get("usage")).items() if value is not None}
            body["usage"] = {**mapping(body.get("usage")), **told}
    return body | {"content": [blocks[index] for index in sorted(blocks)]}


def _google(chunks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    body: dict[str, Any] = {}
    candidate: dict[str, Any] = {}
    content: dict[str, Any] = {}
    parts: list[Any] = []
    for chunk in chunks:
        body |= chunk
        first = next(objects(chunk.get("candidates")), {})
        candidate |= first
        content |= mapping(first.get("content"))
        parts += items(mapping(first.get("content")).get("parts"))
    content |= {"parts": parts} if parts else {}
    return body | {"candidates": [candidate | ({"content": content} if content else {})]}
