"""Read calls of tools from messages: identifier, name, arguments, time and status, as fields of ``ToolCall``.

Services name the parts differently. A call stands beside the text of an assistant's message (``tool_calls`` of OpenAI
and LangChain, ``function_call`` of old versions), among its parts (``tool_use`` of Anthropic, ``functionCall`` of
Google, ``toolUse`` of Bedrock, ``tool_call`` of OpenTelemetry, ``tool-call`` of the AI SDK), or it is an item of its own
(``function_call`` of the Responses API). Its result names it by identifier, or by the tool's name.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import to_json

from schemas.answers import MAX_ARGUMENTS, ToolStatus, tool_status
from workers.gateways.reading.lenient_reading import first_text, mapping, objects, text, time, unfolded

MAX_NAME = 200
MAX_ERROR = 2_000
IDENTIFIERS = ("tool_call_id", "tool_use_id", "call_id", "toolCallId", "toolUseId", "id")
NAMES = ("name", "toolName", "tool_name", "tool")
ARGUMENTS = ("arguments", "args", "input", "parameters", "action", "queries", "code")
TIMES = ("called_at", "timestamp", "created_at", "startTime")
CALLS = frozenset({"tool_call", "tool_use", "tool-call", "function_call", "server_tool_use", "mcp_tool_use",
                   "custom_tool_call", "mcp_call", "function", "server_tool_call",
                   "mcp_server_tool_call", "code_execution_call"})  # fmt: skip
SERVICE_CALL = "srvtoolu_"
"""Prefix of the identifiers that Anthropic gives to calls of its own tools; LiteLLM lists them as ``tool_calls``."""
WRAPPED_CALLS = ("functionCall", "function_call", "toolUse")
"""Fields of parts that hold a call: of Google, of its Python client, of Bedrock."""
_FAILED = ("is_error", "isError")


def call_of(source: Mapping[str, Any]) -> dict[str, Any]:
    """Return the known fields of a call or of a result, within the bounds of ``ToolCall``; empty if none is known."""
    inner = {**source, **mapping(source.get("function"))}
    name = next((name for name in ARGUMENTS if inner.get(name) not in (None, "", [], {})), "")
    given = unfolded(inner.get(name))
    if isinstance(given, list):
        given = {name: given}
    found = {
        "id": _identifier(first_text(inner, *IDENTIFIERS)),
        "name": (first_text(inner, *NAMES) or "")[:MAX_NAME] or None,
        "arguments": _bounded(given),
        "status": status_of(source),
        "error": (error_of(source) or "")[:MAX_ERROR] or None,
        "called_at": next((at for name in TIMES if (at := time(inner.get(name))) is not None), None),
    }
    return {name: value for name, value in found.items() if value is not None}


def status_of(source: Mapping[str, Any]) -> ToolStatus | None:
    """Return the outcome that a call or a result reports; ``None`` if it reports none."""
    if any(source.get(name) is True for name in _FAILED) or error_of(source) is not None:
        return "error"
    if any(source.get(name) is False for name in _FAILED):
        return "success"
    outcome = text(source.get("outcome"))
    if outcome is not None and outcome.startswith("OUTCOME_"):
        return "success" if outcome == "OUTCOME_OK" else "error"
    code = source.get("return_code", source.get("exit_code"))
    if isinstance(code, int) and not isinstance(code, bool):
        return "error" if code else "success"
    return tool_status(source.get("status"))


def error_of(source: Mapping[str, Any]) -> str | None:
    """Return the message of a failed call, beside its result."""
    error = source.get("error", source.get("error_code"))
    return first_text(mapping(error), "message", "code", "type") or text(error)


def waits_for_caller(calls: Any) -> bool:
    """Return whether one of the ``tool_calls`` of a message, or of their pieces in a stream, is for the caller.

    Calls of the service's own tools end within the response.
    """
    if not isinstance(calls, list):
        return bool(calls)
    named = [(text(mapping(call).get("id")), mapping(call).get("index")) for call in calls]
    # Only the first piece of a call has its identifier.
    ended = {index for name, index in named if (name or "").startswith(SERVICE_CALL) and index is not None}
    return any(not name.startswith(SERVICE_CALL) if name else index not in ended for name, index in named)


def calls_in(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the calls of a message, or of an item that is a call."""
    if text(message.get("type")) in CALLS and first_text(message, *NAMES):
        yield call_of(message)
    yield from (call_of(call) for call in objects(message.get("tool_calls")))
    if mapping(message.get("function_call")):
        yield call_of(mapping(message["function_call"]))
    for part in objects(message.get("content", message.get("parts"))):
        if text(part.get("type")) in CALLS:
            yield call_of(part)
        for name in WRAPPED_CALLS:
            if mapping(part.get(name)):
                yield call_of(mapping(part[name]))
        if mapping(code := part.get("executableCode", part.get("executable_code"))):
            yield {"name": "code_execution", "arguments": _bounded(text(mapping(code).get("code")))}


class Calls:
    """Keep the calls of a conversation, so that results find theirs."""

    def __init__(self) -> None:
        self._known: list[dict[str, Any]] = []

    def add(self, message: Mapping[str, Any]) -> None:
        """Note the calls of a message."""
        self._known += calls_in(message)

    def completed(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a result's call: by identifier, else the last one of the tool's name."""
        own = {name: value for name, value in call_of(result).items() if name != "arguments" or "code" in result}
        known = next((call for call in self._known if own.get("id") and call.get("id") == own["id"]), None)
        if known is None and own.get("name"):
            known = next(
                (call for call in self._known if call.get("name") == own["name"] and not call.get("used")), None
            )
            if known is not None:
                known["used"] = True
        return {name: value for name, value in ((known or {}) | own).items() if name != "used"}


def _identifier(value: str | None) -> str | None:
    return value if value and len(value) <= MAX_NAME else None


def _bounded(value: Any) -> Any:
    """Return arguments within their bound; longer ones are cut as text."""
    if value is None or value == {}:
        return None
    written = value if isinstance(value, str) else to_json(value, inf_nan_mode="null").decode()
    return value if len(written) <= MAX_ARGUMENTS else written[:MAX_ARGUMENTS]
