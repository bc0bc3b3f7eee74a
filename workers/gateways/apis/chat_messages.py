"""Read chat messages: a role and a content of texts and other parts.

OpenAI, Anthropic and OpenTelemetry name the parts differently: ``text`` or ``content``, ``input_text``,
``output_text``. Tool results are messages of the role ``tool``, parts ``tool_result`` within the user's message, or
parts ``tool_call_response``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_json

from workers.gateways.lenient_reading import first_text, items, mapping, objects, text

TEXT_PARTS = frozenset({"text", "input_text", "output_text", "refusal", ""})
TOOL_RESULTS = frozenset(
    {
        "tool_result",
        "tool-result",
        "tool_call_response",
        "function_call_output",
        "mcp_call",
        "function_result",
        "mcp_server_tool_result",
    }
)
WRAPPED_RESULTS = ("functionResponse", "function_response", "toolResult")
"""Fields of parts that hold the result of a tool: of Google, of its Python client, of Bedrock."""
TOOL_CALLS = frozenset({"tool_call", "tool_use", "tool-call", "function_call"})
"""Types of parts that call a tool of the caller; tools of the service (``server_tool_use``) end within the response."""
TOOL_REASONS = frozenset({"tool_calls", "tool_call", "tool-calls", "tool_use", "function_call", "TOOL_CALL"})
"""Finish reasons of a response that calls tools of the caller."""
OTHER_PARTS = frozenset(
    {"reasoning", "thinking", "redacted_thinking", "blob", "file", "uri", "image", "image_url", "image_file",
     "audio", "video", "server_tool_use", "server_tool_call", "server_tool_call_response", "compaction"}
)  # fmt: skip
"""Types of parts that are known and hold no text of an answer."""
QUESTION_ROLES = frozenset({"user", "human"})


@dataclass(frozen=True, slots=True)
class Conversation:
    """The query of a conversation and the tool results that follow it.

    Attributes:
        query: text of the last user message that has text.
        evidence: tool results after the query, as fields of ``ContextChunk``.
    """

    query: str | None
    evidence: list[dict[str, Any]]


def conversation(messages: Any) -> Conversation:
    """Return the query of a conversation and the tool results that follow it.

    Args:
        messages: a list of messages, a single message, an object with ``messages``, or a text that is the query.
    """
    if isinstance(messages, str):
        return Conversation(text(messages), [])
    if isinstance(messages, dict):
        messages = messages.get("messages", [messages])
    query: str | None = None
    evidence: list[dict[str, Any]] = []
    for message in items(messages):
        if isinstance(message, str):
            query, evidence = text(message) or query, []
            continue
        source = mapping(message)
        role = str(source.get("role", "assistant" if source.get("type") == "model_output" else "user")).lower()
        said = content_text(message) if role in QUESTION_ROLES else None
        if said:
            query, evidence = said, []
        evidence.extend(tool_results(source, role))
    return Conversation(query, evidence)


def content_text(message: Any) -> str | None:
    """Return the text of a message, with blank lines between its text parts; ``None`` if there is no text."""
    if isinstance(message, str):
        return text(message)
    source = mapping(message)
    content = source.get("content", source.get("parts", source.get("text")))
    if isinstance(content, str):
        return text(content)
    return text("\n\n".join(part_texts(items(content))))


def part_texts(parts: Sequence[Any]) -> list[str]:
    """Return the texts of all text parts."""
    return [found for part in parts if (found := part_text(part)) is not None]


def part_text(part: Any) -> str | None:
    """Return the text of a part, or ``None`` if the part is not text."""
    if isinstance(part, str):
        return text(part)
    source = mapping(part)
    if str(source.get("type", "")) not in TEXT_PARTS:
        return None
    return first_text(source, "text", "content", "refusal")


def unread_part(message: Mapping[str, Any]) -> str | None:
    """Return the name of the first part of a message without a known shape; ``None`` if all are known."""
    content = message.get("content", message.get("parts", message.get("text")))
    if content is None or isinstance(content, str):
        return None
    if not isinstance(content, list):
        return "content"
    known = TOOL_CALLS | TOOL_RESULTS | OTHER_PARTS
    for place, part in enumerate(content):
        kind = mapping(part).get("type", "")
        is_text = isinstance(part, str) or (
            isinstance(kind, str)
            and kind in TEXT_PARTS
            and any(isinstance(mapping(part).get(name), str) for name in ("text", "content", "refusal"))
        )
        if not is_text and not (isinstance(kind, str) and kind in known):
            return f"content.{place}"
    return None


def tool_results(message: Mapping[str, Any], role: str = "tool") -> Iterator[dict[str, Any]]:
    """Yield the results of tools in a message, or in an item that is a result, as fields of ``ContextChunk``.

    Args:
        message: the message or the item.
        role: role of the message.
    """
    given = list(objects(message.get("content", message.get("parts"))))
    parts = [part for part in given if text(part.get("type")) in TOOL_RESULTS]
    parts += [dict(mapping(part[name])) for part in given for name in WRAPPED_RESULTS if mapping(part.get(name))]
    if not parts and (role in ("tool", "function") or text(message.get("type")) in TOOL_RESULTS):
        parts = [dict(message)]
    for part in parts:
        content = _result_text(part)
        if content:
            name = first_text(part, "tool_call_id", "tool_use_id", "call_id", "toolCallId", "toolUseId", "id")
            yield {
                "chunk_id": name,
                "content": content,
                "source_name": first_text(part, "name", "toolName") or "tool result",
            }


def _result_text(part: Mapping[str, Any]) -> str | None:
    """Return a tool result as text; a JSON result stays JSON, so that numbers can be looked up in it."""
    for name in ("content", "response", "result", "output", "parts"):
        value = part.get(name)
        if isinstance(value, str):
            return text(value)
        if isinstance(value, list) and (found := part_texts(value)):
            return "\n\n".join(found)
        if isinstance(value, dict) and {"type", "value"} == value.keys() and isinstance(value["value"], str):
            return text(value["value"])
        if isinstance(value, dict | list) and value:
            # Documents and search results within a tool result are read as contexts elsewhere.
            return None if _holds_sources(value) else to_json(value, inf_nan_mode="null").decode()
    return None


def _holds_sources(value: Any) -> bool:
    return isinstance(value, list) and any(each.get("type") in ("document", "search_result") for each in objects(value))
