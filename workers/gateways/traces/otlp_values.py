"""Read the query and the answer from what frameworks record as input and output of their spans.

Frameworks record values of their own: a text, an object with a field such as ``question`` or ``answer``, messages, or
the body of a model service's response.
"""

import re
from typing import Any

from workers.gateways.apis.chat_messages import content_text, conversation, turns_of
from workers.gateways.apis.replies import reply_of
from workers.gateways.apis.reply import Reply
from workers.gateways.reading.lenient_reading import first_text, mapping, objects, unfolded

QUERIES = (
    "question",
    "query",
    "query_str",
    "input",
    "inputs",
    "prompt",
    "user_input",
    "str_or_query_bundle",
    "query_bundle",
    "text",
)
HISTORIES = ("chat_history", "history", "conversation", "previous_messages")
ANSWERS = ("answer", "response", "output", "outputs", "result", "final_answer", "final_output", "text", "content")
MAX_DEPTH = 4
_STREAM = re.compile(r"<(?:async_)?generator object\b[^<>\n]{0,300}>|<[\w.]{1,300} object at 0x[0-9a-fA-F]{1,16}>")
"""The form in which Python prints an object that yields a text, where the text itself was not recorded."""


def query_in(value: Any, depth: int = 0) -> str | None:
    """Return the query in a span's input; ``None`` if it holds none that is known.

    Args:
        value: the input, possibly JSON in a text.
        depth: nesting depth so far.
    """
    found = unfolded(value)
    if isinstance(found, str):
        return found if found.strip() else None
    if depth > MAX_DEPTH:
        return None
    if isinstance(found, list) or "messages" in mapping(found):
        return conversation(_messages(found)).query
    source = mapping(found)
    if (said := first_text(source, *QUERIES)) is not None and not said.lstrip().startswith("{"):
        return said
    nested = (query_in(source[name], depth + 1) for name in QUERIES if isinstance(source.get(name), dict | list | str))
    return next((query for query in nested if query is not None), None)


def earlier_in(value: Any, depth: int = 0) -> list[dict[str, Any]]:
    """Return the turns before the query in a span's input, as fields of ``Turn``; empty if it holds none.

    Args:
        value: the input, possibly JSON in a text.
        depth: nesting depth so far.
    """
    found = unfolded(value)
    if isinstance(found, list) or "messages" in mapping(found):
        return conversation(_messages(found)).earlier
    source = mapping(found)
    history = next((source[name] for name in HISTORIES if isinstance(source.get(name), list)), None)
    if history is not None:
        return turns_of(_messages(history), query_in(source))
    nested = next((source[name] for name in QUERIES if isinstance(source.get(name), dict | list)), None)
    return earlier_in(nested, depth + 1) if nested is not None and depth < MAX_DEPTH else []


def is_stream(value: Any) -> bool:
    """Return whether a span's output stands for a stream: the text is in the span of the call."""
    found = unfolded(value)
    if isinstance(found, dict):
        return any(isinstance(each, str) and _STREAM.fullmatch(each.strip()) for each in found.values())
    return isinstance(found, str) and _STREAM.fullmatch(found.strip()) is not None


def answer_in(value: Any, depth: int = 0) -> str | None:
    """Return the answer in a span's output; ``None`` if it holds none that is known.

    Args:
        value: the output, possibly JSON in a text.
        depth: nesting depth so far.
    """
    found = unfolded(value)
    if isinstance(found, str):
        return found if found.strip() and not is_stream(found) else None
    if depth > MAX_DEPTH:
        return None
    if isinstance(found, list):
        return answer_in(found[0], depth + 1) if len(found) == 1 else None
    source = mapping(found)
    if isinstance(source.get("messages"), list):
        last = _messages(source)[-1:]
        return content_text(last[0]) if last and _is_answer(last[0]) else None
    if "role" in source:
        return content_text(source)
    if (reply := reply_in(source)) is not None and reply.unread is None:
        return reply.text
    nested = (answer_in(source[name], depth + 1) for name in ANSWERS if name in source)
    return next((said for said in nested if said is not None), None)


def reply_in(value: Any) -> Reply | None:
    """Return the response of a model service in a span's output; ``None`` for any other value."""
    source = mapping(unfolded(value))
    if not ({"choices", "candidates", "stop_reason", "status", "stopReason"} & source.keys()):
        return None
    return reply_of(source, {})


def _messages(value: Any) -> list[Any]:
    """Return messages, those of LangChain (``type`` and ``data``) in the form of other messages."""
    source = mapping(value)
    listed = source.get("messages", []) if source else value
    found = []
    for each in objects(listed):
        data = mapping(each.get("data")) or mapping(each.get("kwargs"))
        if data and "role" not in each:
            role = {"human": "user", "ai": "assistant"}.get(str(each.get("type")), str(each.get("type")))
            found.append({**data, "role": role})
        else:
            found.append(dict(each))
    return found


def _is_answer(message: Any) -> bool:
    return str(mapping(message).get("role", "assistant")) in ("assistant", "ai", "model") and not mapping(message).get(
        "tool_calls"
    )
