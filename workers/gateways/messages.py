"""Chat messages: whoever wrote them, a role and a content of texts and other parts.

OpenAI, Anthropic and OpenTelemetry call the parts differently: ``text`` or ``content``,
``input_text``, ``output_text``; results of tools are messages of the role ``tool``, parts
``tool_result`` within the user's message, or parts ``tool_call_response``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_json

from workers.gateways.reading import first_text, items, mapping, objects, text

TEXT_PARTS = frozenset({"text", "input_text", "output_text", "refusal", ""})
TOOL_RESULTS = frozenset({"tool_result", "tool_call_response", "function_call_output"})
QUESTION_ROLES = frozenset({"user", "human"})


@dataclass(frozen=True, slots=True)
class Conversation:
    """What was said before the answer.

    Attributes:
        query: the text of the last message of the user that has one.
        evidence: what tools gave the model after it, as fields of ``ContextChunk``.
    """

    query: str | None
    evidence: list[dict[str, Any]]


def conversation(messages: Any) -> Conversation:
    """The query of a list of messages, and the results of tools that came after it.

    Args:
        messages: a list of messages, a single one, or a text, which is the query itself.
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
        role = str(mapping(message).get("role", "user")).lower()
        said = content_text(message) if role in QUESTION_ROLES else None
        if said:
            query, evidence = said, []
        evidence.extend(_tool_results(mapping(message), role))
    return Conversation(query, evidence)


def content_text(message: Any) -> str | None:
    """The text of a message; of several parts those that are text, a blank line between them."""
    if isinstance(message, str):
        return text(message)
    source = mapping(message)
    content = source.get("content", source.get("parts", source.get("text")))
    if isinstance(content, str):
        return text(content)
    return text("\n\n".join(part_texts(items(content))))


def part_texts(parts: Sequence[Any]) -> list[str]:
    """The texts of those parts that are text."""
    return [found for part in parts if (found := part_text(part)) is not None]


def part_text(part: Any) -> str | None:
    """The text of a part, if it is one."""
    if isinstance(part, str):
        return text(part)
    source = mapping(part)
    if str(source.get("type", "")) not in TEXT_PARTS:
        return None
    return first_text(source, "text", "content", "refusal")


def _tool_results(message: Mapping[str, Any], role: str) -> Iterator[dict[str, Any]]:
    parts = [
        part for part in objects(message.get("content", message.get("parts"))) if text(part.get("type")) in TOOL_RESULTS
    ]
    if not parts and (role in ("tool", "function") or text(message.get("type")) in TOOL_RESULTS):
        parts = [dict(message)]
    for part in parts:
        content = _result_text(part)
        if content:
            name = first_text(part, "tool_call_id", "tool_use_id", "call_id", "id")
            yield {"chunk_id": name, "content": content, "source_name": first_text(part, "name") or "tool result"}


def _result_text(part: Mapping[str, Any]) -> str | None:
    """What a tool gave: text, parts, or any JSON, which stays JSON, so that its numbers can be looked up."""
    for name in ("content", "response", "result", "output", "parts"):
        value = part.get(name)
        if isinstance(value, str):
            return text(value)
        if isinstance(value, list) and (found := part_texts(value)):
            return "\n\n".join(found)
        if isinstance(value, dict | list) and value:
            # Documents and search results within it are contexts of their own.
            return None if _holds_sources(value) else to_json(value, inf_nan_mode="null").decode()
    return None


def _holds_sources(value: Any) -> bool:
    return isinstance(value, list) and any(each.get("type") in ("document", "search_result") for each in objects(value))
