"""Read one call of a model from its span or event: what was asked and what was said."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workers.gateways.apis.chat_messages import (
    TOOL_CALLS,
    TOOL_REASONS,
    Conversation,
    content_text,
    conversation,
    tool_results,
    unread_part,
)
from workers.gateways.apis.google import messages as google_messages
from workers.gateways.reading.lenient_reading import first_text, items, mapping, objects, text, unfolded
from workers.gateways.reading.tool_calls import Calls, waits_for_caller
from workers.gateways.traces.otlp_spans import ExportedSpan
from workers.gateways.traces.otlp_values import is_stream, reply_in

_ASKED = ("llm.input_messages", "gen_ai.prompt")
_SAID = ("llm.output_messages", "gen_ai.completion")


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A call of a model.

    Attributes:
        span: its span or event.
        asked: the query and the results of tools.
        said: the text of the response, if any.
        calls_tools: whether the response calls tools of the caller.
        is_sent: whether the response was sent; instrumentations capture no content by default.
        unread: name of the attribute with a response of an unknown shape.
        finish_reason: finish reason beside the message.
        results: results of tools of the service within the response, as fields of ``ContextChunk``.
    """

    span: ExportedSpan
    asked: Conversation
    said: str | None = None
    calls_tools: bool = False
    is_sent: bool = True
    unread: str | None = None
    finish_reason: str | None = None
    results: list[dict[str, Any]] = field(default_factory=list)


def call_of(span: ExportedSpan) -> ModelCall:
    """Return the call of a span."""
    asked = conversation(_asked(span))
    name, answers = _said(span)
    reasons = items(span.attributes.get("gen_ai.response.finish_reasons"))
    reason = text(next(iter(reasons), None)) or span.text("llm.finish_reason")
    if answers is None:
        return ModelCall(span, asked, calls_tools=reason in TOOL_REASONS, is_sent=False)
    if isinstance(answers, dict) and (reply := reply_in(answers)) is not None:
        unread = name if reply.is_unknown else None
        return ModelCall(span, asked, reply.text, reply.calls_tools, True, unread, reply.finish_reason, reply.contexts)
    # A message that holds only thoughts comes before the one with the answer.
    listed = items(answers)
    first = next((each for each in listed if content_text(each) or _calls_tools(each)), next(iter(listed), answers))
    said = content_text(first)
    finish_reason = first_text(mapping(first), "finish_reason")
    calls = _calls_tools(first) or bool(TOOL_REASONS & {finish_reason, reason})
    unread = name if said is None and not calls and _is_unknown(first) else None
    own = Calls()
    own.add(mapping(first))
    results = list(tool_results(mapping(first), "assistant", own))
    return ModelCall(span, asked, said, calls, unread=unread, finish_reason=finish_reason, results=results)


def _asked(span: ExportedSpan) -> Any:
    if span.attributes.get("gen_ai.input.messages") is not None:
        return unfolded(span.attributes["gen_ai.input.messages"])
    for name in _ASKED:
        if span.lists.get(name):
            return [_message(each) for each in span.lists[name]]
    plain = unfolded(span.input)
    if isinstance(plain, dict):
        return google_messages(plain) or plain.get("messages", plain.get("input", plain.get("prompt")))
    return plain if isinstance(plain, str | list) and plain else None


def _said(span: ExportedSpan) -> tuple[str, Any]:
    """Return what a call says and the name of its attribute; ``None`` if the content was not captured."""
    given = unfolded(span.attributes.get("gen_ai.output.messages"))
    if given not in (None, []):
        return "gen_ai.output.messages", given
    for name in _SAID:
        if span.lists.get(name):
            return name, [_message(each) for each in span.lists[name]]
    plain = unfolded(span.output)
    if isinstance(plain, list) and len(plain) == 1 and reply_in(plain[0]) is not None:
        plain = plain[0]  # the response of a stream, as the Agents SDK records it
    if plain in (None, "", [], {}) or is_stream(plain):
        return "output.value", None
    if isinstance(plain, dict) and isinstance(plain.get("messages"), list):
        return "output.value", plain["messages"]
    if isinstance(plain, dict) and isinstance(plain.get("generations"), list):  # LangChain, one list for each prompt
        first = next(iter(plain["generations"]), None)
        return "output.value", next(objects(first if isinstance(first, list) else plain["generations"]), None)
    if isinstance(plain, dict) and isinstance(plain.get("message"), dict):
        return "output.value", plain["message"]
    return "output.value", plain


def _message(item: Any) -> dict[str, Any]:
    """Return a message of OpenInference or OpenLLMetry in the form of other messages."""
    source = mapping(mapping(item).get("message", item))
    contents = [mapping(mapping(each).get("message_content")) for each in items(source.get("contents"))]
    message = dict(source)
    if contents:
        message["content"] = [{"type": "text", "text": each.get("text")} for each in contents if each.get("text")]
    return message


def _calls_tools(message: Any) -> bool:
    source = mapping(message)
    parts = objects(source.get("parts", source.get("content")))
    return (
        waits_for_caller(source.get("tool_calls"))
        or bool(source.get("function_call"))
        or any(text(part.get("type")) in TOOL_CALLS for part in parts)
    )


def _is_unknown(message: Any) -> bool:
    """Return whether a message without text has a part of an unknown shape, or is no message."""
    if isinstance(message, str):
        return False
    source: Mapping[str, Any] = mapping(message)
    if not {"role", "content", "parts", "finish_reason"} & source.keys():
        return True
    return unread_part(source) is not None
