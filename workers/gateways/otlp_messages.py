"""Events of the GenAI conventions before 1.37: one for each message of a call, and one for each choice of the model.

Source: OpenTelemetry semantic conventions 1.28 to 1.36, GenAI events (``gen_ai.user.message``, ``gen_ai.choice`` …),
which instrumentations go on sending by default. As log records they hold the message in their body; as events of a
span, which cannot have one, as JSON in the attribute ``gen_ai.event.content``.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from workers.gateways.reading import count, first_text, mapping, unfolded

ROLES: Mapping[str, str] = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
"""Who speaks, where the event itself does not say it."""
CHOICE = "gen_ai.choice"
NAMES = frozenset({*ROLES, CHOICE})
CONTENT = "gen_ai.event.content"
_FIELDS = frozenset({"role", "content", "parts", "tool_calls"})
"""Of a message: an object in a text without any of them is what was said."""


def attributes_of(events: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """What the events of one call say, as the attributes that later versions have for it.

    Args:
        events: name and body of each, in their order.

    Returns:
        Messages and finish reasons; what was not captured is left out. Nothing without a choice: the call has not ended.
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
    # One answer is judged: that of the first choice, and of several calls in one span the last, whose
    # question is the last one as well.
    choice = min(reversed(choices), key=lambda each: count(each.get("index")) or 0)
    reason = first_text(choice, "finish_reason")
    answer = _answer(choice)
    return {
        "gen_ai.input.messages": asked or None,
        "gen_ai.output.messages": [answer] if answer else None,
        "gen_ai.response.finish_reasons": [reason] if reason else None,
    }


def _answer(choice: Mapping[str, Any]) -> dict[str, Any] | None:
    """The message of a choice; ``None`` where its content was not captured."""
    found = _message(choice.get("message"))
    if choice.get("tool_calls"):
        found["tool_calls"] = choice["tool_calls"]
    return found if found.get("content") is not None or found.get("tool_calls") else None


def _message(said: Any) -> dict[str, Any]:
    """A message from its object, its parts or its text, each of them as it is or as JSON in a text."""
    found = unfolded(said)
    if isinstance(found, Mapping) and (not isinstance(said, str) or _FIELDS & found.keys()):
        return {**found, "content": _parts(found["content"])} if "content" in found else dict(found)
    return {} if said is None else {"content": _parts(said)}


def _parts(content: Any) -> Any:
    """Parts out of the JSON of a text; any other text is what was said, also where it is JSON."""
    found = unfolded(content)
    return found if isinstance(found, list) else content
