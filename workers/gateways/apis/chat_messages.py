"""Read chat messages: a role and a content of texts and other parts.

OpenAI, Anthropic and OpenTelemetry name the parts differently: ``text`` or ``content``, ``input_text``,
``output_text``. Tool results are messages of the role ``tool``, parts ``tool_result`` within the user's message, or
parts ``tool_call_response``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_json

from schemas.answers import tool_status
from workers.gateways.reading.lenient_reading import first_text, items, mapping, objects, text, unknown_field
from workers.gateways.reading.tool_calls import IDENTIFIERS, NAMES, Calls, error_of

TEXT_PARTS = frozenset({"text", "input_text", "output_text", "refusal", ""})
TOOL_RESULTS = frozenset(
    {
        "tool_result",
        "tool-result",
        "tool_call_response",
        "function_call_output",
        "custom_tool_call_output",
        "local_shell_call_output",
        "shell_call_output",
        "mcp_call",
        "mcp_tool_result",
        "function_result",
        "mcp_server_tool_result",
        "code_execution_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "code_interpreter_call",
        "server_tool_call_response",
    }
)
WRAPPED_RESULTS = (
    "functionResponse",
    "function_response",
    "toolResult",
    "codeExecutionResult",
    "code_execution_result",
)
"""Fields of parts that hold the result of a tool: of Google, of its Python client, of Bedrock."""
GROUNDING_SOURCE = "grounding_source"
"""Qualifier of the texts that Bedrock's guardrail holds an answer against."""
FAILED_RESULTS = frozenset({"web_search_tool_result", "web_fetch_tool_result"})
"""Types of parts that are read as a result of a tool only if the call failed."""
SERVICE_TOOLS = {"code_interpreter_call": "code_interpreter", "web_search_call": "web_search",
                 "file_search_call": "file_search", "code_execution_tool_result": "code_execution",
                 "code_execution_result": "code_execution", "codeExecutionResult": "code_execution",
                 "bash_code_execution_tool_result": "bash", "web_search_tool_result": "web_search",
                 "web_fetch_tool_result": "web_fetch", "local_shell_call_output": "shell",
                 "shell_call_output": "shell"}  # fmt: skip
"""Names of tools of services, by the type of their results."""
TOOL_CALLS = frozenset({"tool_call", "tool_use", "tool-call", "function_call"})
"""Types of parts that call a tool of the caller; tools of the service (``server_tool_use``) end within the response."""
TOOL_REASONS = frozenset(
    {"tool_calls", "tool_call", "tool-calls", "tool_use", "function_call", "TOOL_CALL", "pause_turn"}
)
"""Finish reasons of a response that calls tools of the caller, or that the caller lets the model continue."""
OTHER_PARTS = frozenset(
    {"reasoning", "thinking", "redacted_thinking", "blob", "file", "uri", "image", "image_url", "image_file",
     "audio", "video", "server_tool_use", "server_tool_call", "server_tool_call_response", "compaction"}
)  # fmt: skip
"""Types of parts that are known and hold no text of an answer."""
_TEXT_FIELDS = frozenset({"content", "parts", "text"})
MESSAGE_FIELDS = frozenset(
    {"role", "content", "contents", "parts", "text", "refusal", "audio", "tool_calls", "tool_call_id", "function_call",
     "function_call_name", "function_call_arguments_json", "annotations", "finish_reason", "reasoning_content",
     "reasoning", "reasoning_details", "thinking", "thinking_blocks", "provider_specific_fields", "images", "name", "id",
     "type", "status", "phase", "context"}
)  # fmt: skip
"""Fields of a message, also those that compatible services, LiteLLM and instrumentations add."""
QUESTION_ROLES = frozenset({"user", "human"})
ANSWER_ROLES = frozenset({"assistant", "ai", "model"})


@dataclass(frozen=True, slots=True)
class Conversation:
    """The query of a conversation and the tool results that follow it.

    Attributes:
        query: text of the last user message that has text.
        evidence: tool results after the query, as fields of ``ContextChunk``.
        earlier: messages of the user and the model before the query, as fields of ``Turn``.
        steps: calls of the model and results of tools after the query, as fields of ``Step``; none without a tool.
    """

    query: str | None
    evidence: list[dict[str, Any]]
    earlier: list[dict[str, Any]] = field(default_factory=list)
    steps: list[dict[str, Any]] = field(default_factory=list)


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
    calls = Calls()
    turns: list[dict[str, Any]] = []
    steps: list[dict[str, Any]] = []
    before = 0
    for message in items(messages):
        if isinstance(message, str):
            query, evidence, steps = text(message) or query, [], []
            before = len(turns)
            continue
        source = mapping(message)
        role = str(source.get("role", "assistant" if source.get("type") == "model_output" else "user")).lower()
        said = content_text(message) if role in QUESTION_ROLES | ANSWER_ROLES else None
        if said and role in QUESTION_ROLES:
            query, evidence, steps, before = said, [], [], len(turns)
        if said:
            turns.append({"role": "user" if role in QUESTION_ROLES else "assistant", "content": said})
        if role in ANSWER_ROLES:
            steps.append({"kind": "model", "output": said or ""})
        calls.add(source)
        results = list(tool_results(source, role, calls))
        evidence.extend(results)
        steps.extend(map(_tool_step, results))
    # What the model says after the query is a step to its answer.
    is_run = any(step["kind"] == "tool" for step in steps)
    return Conversation(query, evidence, turns[:before], steps if is_run else [])


def _tool_step(result: Mapping[str, Any]) -> dict[str, Any]:
    failed = tool_status(mapping(result["tool"]).get("status")) == "error"
    return {
        "kind": "tool",
        "name": result["source_name"],
        "status": "error" if failed else "success",
        "chunk_ids": [result["chunk_id"]] if result["chunk_id"] else [],
    }


def turns_of(messages: Any, query: str | None = None) -> list[dict[str, Any]]:
    """Return all messages of the user and the model, as fields of ``Turn``; without the query at their end.

    Args:
        messages: a list of messages that comes apart from the query.
        query: the query.
    """
    found = conversation([*items(messages), {"role": "user", "content": "…"}]).earlier
    asked_last = bool(found) and found[-1] == {"role": "user", "content": query}
    return found[:-1] if asked_last else found


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
    guarded = mapping(mapping(source.get("guardContent")).get("text"))
    if guarded and GROUNDING_SOURCE not in items(guarded.get("qualifiers")):
        return first_text(guarded, "text")
    return first_text(source, "text", "content", "refusal")


def unread_part(message: Mapping[str, Any]) -> str | None:
    """Return the name of the first part of a message without a known shape; ``None`` if all are known."""
    content = message.get("content", message.get("parts", message.get("text")))
    if content is None and _TEXT_FIELDS.isdisjoint(message):
        return unknown_field(message, MESSAGE_FIELDS)
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


def tool_results(
    message: Mapping[str, Any], role: str = "tool", calls: Calls | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the results of tools in a message, or in an item that is a result, as fields of ``ContextChunk``.

    Args:
        message: the message or the item.
        role: role of the message.
        calls: the calls of the conversation so far.
    """
    given = list(objects(message.get("content", message.get("parts"))))
    parts = [dict(part) for part in given if text(part.get("type")) in TOOL_RESULTS or _is_failed(part)]
    parts += [
        {"type": name, **mapping(part[name])} for part in given for name in WRAPPED_RESULTS if mapping(part.get(name))
    ]
    if not parts and (role in ("tool", "function") or text(message.get("type")) in TOOL_RESULTS):
        parts = [dict(message)]
    known = calls or Calls()
    for part in parts:
        content = _result_text(part)
        if content is None:
            continue
        kind = str(part.get("type", ""))
        call = known.completed({"name": SERVICE_TOOLS.get(kind), **_outcome(part)})
        yield {
            "chunk_id": first_text(part, *IDENTIFIERS),
            "content": content,
            "source_type": "tool",
            "source_name": first_text(part, *NAMES) or call.get("name") or "tool result",
            "tool": call or None,
        }


def _is_failed(part: Mapping[str, Any]) -> bool:
    """Return whether a part reports a failed call of a tool whose results are read elsewhere."""
    return text(part.get("type")) in FAILED_RESULTS and "error_code" in mapping(part.get("content"))


_FAILURES = ("error", "error_code", "is_error", "isError", "return_code", "exit_code")
_OF_CALL = (*IDENTIFIERS, *NAMES, *_FAILURES, "code", "status", "outcome", "timestamp", "created_at", "called_at")


def _outcome(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a result that tell its call: of its content only those that tell a failure."""
    inner = (mapping(part.get(name)) for name in ("content", "response", "output"))
    told = {name: each[name] for each in inner for name in _FAILURES if each.get(name) is not None}
    return told | {name: part[name] for name in _OF_CALL if part.get(name) is not None}


def _result_text(part: Mapping[str, Any]) -> str | None:
    """Return a tool result as text; a JSON result stays JSON, so that numbers can be looked up in it.

    An empty result is an empty text or list; ``None`` means that the part has no result, or none that is read here.
    """
    for name in ("content", "response", "result", "output", "outputs", "parts"):
        value = part.get(name)
        if isinstance(value, str):
            return value.strip() and value
        if isinstance(value, list) and (found := part_texts(value)):
            return "\n\n".join(found)
        if isinstance(value, dict | list) and (said := _streams(value)) is not None:
            return said
        if isinstance(value, dict) and {"type", "value"} == value.keys() and isinstance(value["value"], str):
            return text(value["value"])
        if isinstance(value, dict | list):
            # Documents and search results within a tool result are read as contexts elsewhere.
            return None if _holds_sources(value) else to_json(value, inf_nan_mode="null").decode()
    return error_of(part)


def _streams(value: Any) -> str | None:
    """Return what a program printed: ``stdout`` and ``stderr`` of a result, or ``logs`` of a list of outputs."""
    outputs = list(objects(value)) if isinstance(value, list) else [mapping(value)]
    said = [found for each in outputs for name in ("stdout", "logs", "stderr") if (found := text(each.get(name)))]
    is_program = any({"stdout", "logs"} & each.keys() for each in outputs)
    return "\n".join(said) if is_program and said else "" if is_program else None


def _holds_sources(value: Any) -> bool:
    return isinstance(value, list) and any(
        each.get("type") in ("document", "search_result", "web_search_result") or "searchResult" in each
        for each in objects(value)
    )
