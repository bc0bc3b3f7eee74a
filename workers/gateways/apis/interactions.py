"""Read responses of Google's Interactions API: steps of thinking, tools and output.

Source: ``Interaction`` and ``Step`` of the client ``google-genai`` 3.4, read November 2026. The answer is the text of
the steps ``model_output``; the results of tools of the service and of files are contexts.
"""

from collections.abc import Mapping
from typing import Any

from workers.gateways.apis.chat_messages import tool_results
from workers.gateways.apis.reply import UNFINISHED, Reply
from workers.gateways.reading.contexts import chunk_of
from workers.gateways.reading.lenient_reading import first_text, items, mapping, objects, text, total
from workers.gateways.reading.tool_calls import Calls

WAITS_FOR_CALLER = "requires_action"
_RESULTS = frozenset({"function_result", "mcp_server_tool_result", "code_execution_result"})
_SEARCHES = frozenset({"file_search_result", "retrieval_result"})
_SUFFIXES = ("_call", "_result")
_NO_TEXT = frozenset({"thought", "user_input"})


def wrote(body: Mapping[str, Any]) -> bool:
    """Return whether a response has the shape of the Interactions API."""
    return isinstance(body.get("steps"), list) and "status" in body


def reply(body: Mapping[str, Any], request: Mapping[str, Any], sources: list[dict[str, Any]]) -> Reply:
    """Read a response.

    Args:
        body: body of the response.
        request: body of the request.
        sources: further contexts, placed before those of the response.
    """
    usage = mapping(body.get("usage"))
    error = next(objects(body.get("errors")), {})
    found = Reply(
        identifier=first_text(body, "id"),
        model=first_text(body, "model") or first_text(request, "model"),
        finish_reason=first_text(body, "status"),
        prompt_tokens=total(usage.get("total_input_tokens"), usage.get("total_tool_use_tokens")),
        completion_tokens=total(usage.get("total_output_tokens"), usage.get("total_thought_tokens")),
        contexts=list(sources),
        created=body.get("created"),
        error=first_text(error, "message", "code"),
        calls_tools=body.get("status") == WAITS_FOR_CALLER,
    )
    calls = Calls()
    for place, step in enumerate(map(mapping, items(body["steps"]))):
        calls.add(step)
        kind = step.get("type")
        if kind == "model_output":
            _read_output(step, found, f"steps.{place}.content")
        elif kind in _RESULTS:
            found.contexts += tool_results(step, calls=calls)
        elif kind in _SEARCHES:
            found.contexts += [chunk for each in items(step.get("result")) if (chunk := chunk_of(each)) is not None]
        elif not (isinstance(kind, str) and (kind in _NO_TEXT or kind.endswith(_SUFFIXES))):
            found.mark_unread(f"steps.{place}")
    if found.text is None:
        found.text = text(body.get("output_text"))
    if body.get("status") in UNFINISHED:
        found.text = None
        found.mark_unread("status")
    return found


def _read_output(step: Mapping[str, Any], found: Reply, field: str) -> None:
    found.error = found.error or first_text(mapping(step.get("error")), "message")
    if not isinstance(step.get("content"), list):
        found.mark_unread(field)
    for place, part in enumerate(map(mapping, items(step.get("content")))):
        if part.get("type") == "text" and isinstance(part.get("text"), str):
            found.text = (found.text or "") + part["text"]
        elif part.get("type") not in ("image", "audio", "video", "document"):
            found.mark_unread(f"{field}.{place}")
