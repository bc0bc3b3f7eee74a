"""Read GenAI events before version 1.37: one for each message of a call, and one for each choice of the model.

Source: OpenTelemetry semantic conventions 1.28 to 1.36, GenAI events (``gen_ai.user.message``, ``gen_ai.choice`` …),
which instrumentations still send by default. Log records hold the message in their body. Span events have no body and
hold the message as JSON in the attribute ``gen_ai.event.content``.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from workers.gateways.reading.lenient_reading import count, first_text, mapping, unfolded

ROLES: Mapping[str, str] = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
"""Roles by event name, for events that do not carry a role."""
CHOICE = "gen_ai.choice"
NAMES = frozenset({*ROLES, CHOICE})
CONTENT = "gen_ai.event.content"
_FIELDS = frozenset({"role", "content", "parts", "tool_calls"})
"""Fields of a message; a JSON object in a text without any of them is plain text."""


def attributes_of(events: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Convert the events of one call to the attributes of later versions of the conventions.

    Args:
        events: name and body of each event, in order.

    Returns:
        Messages and finish reasons; ``None`` for content that was not captured. An empty dictionary if there is no
        choice, because the call has not ended.
    """
    asked: list[dict[str, Any]] = []
    choices: list[Mapping[str, Any]] = []
    for name, body in events:
        said = unfolded(body)
        if name == CHOICE:
            choices.append(mapping(said))
        else:
            asked.append({"role": ROLES[name], **_message(said)})
    if not choices:
        return {}
    # Evaluate the first choice of the last call: the query is also taken from the last call.
    choice = min(reversed(choices), key=lambda each: count(each.get("index")) or 0)
    reason = first_text(choice, "finish_reason")
    answer = _answer(choice)
    return {
        "gen_ai.input.messages": asked or None,
        "gen_ai.output.messages": [answer] if answer else None,
        "gen_ai.response.finish_reasons": [reason] if reason else None,
    }


def _answer(choice: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the message of a choice, or ``None`` if its content was not captured."""
    found = _message(choice.get("message"))
    if choice.get("tool_calls"):
        found["tool_calls"] = choice["tool_calls"]
    return found if found.get("content") is not None or found.get("tool_calls") else None


def _message(said: Any) -> dict[str, Any]:
    """Return a message from an object, parts or a text; each may be JSON within a text."""
    found = unfolded(said)
    if isinstance(found, Mapping) and (not isinstance(said, str) or _FIELDS & found.keys()):
        return {**found, "content": _parts(found["content"])} if "content" in found else dict(found)
    return {} if said is None else {"content": _parts(said)}


def _parts(content: Any) -> Any:
    """Return the parts that a text holds as JSON; return any other content unchanged."""
    found = unfolded(content)
    return found if isinstance(found, list) else content
