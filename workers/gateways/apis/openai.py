"""Read requests and responses of OpenAI's Chat Completions, Completions and Responses APIs.

Source: OpenAI's OpenAPI document, "Create chat completion", "Create a model response", read November 2026.
Annotations: ``url_citation`` (in Chat Completions within an object of that name), ``file_citation`` (``index``: the
position after the statement), ``container_file_citation``. Their offsets count code points of their own text block.
File search results carry the text of the sources (``include=["file_search_call.results"]``).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from workers.gateways.apis import prompt_templates
from workers.gateways.apis.anthropic import sources as documents
from workers.gateways.apis.chat_messages import MESSAGE_FIELDS, TEXT_PARTS, TOOL_RESULTS, tool_results
from workers.gateways.apis.reply import MAX_CITATIONS, UNFINISHED, Reply, first_choice, spaced
from workers.gateways.reading.contexts import chunk_of, chunks_of
from workers.gateways.reading.lenient_reading import (
    count,
    first_text,
    items,
    mapping,
    number,
    objects,
    text,
    unknown_field,
)
from workers.gateways.reading.tool_calls import call_of, waits_for_caller

CITATIONS = frozenset({"url_citation", "file_citation", "container_file_citation"})


ITEMS = frozenset({"message", "reasoning", "mcp_list_tools", "mcp_approval_request", "compaction"})
ITEM_SUFFIXES = ("_call", "_call_output")
"""Types of items in the output of the Responses API."""
CALLER_CALLS = frozenset(
    {"function_call", "custom_tool_call", "mcp_approval_request", "computer_call", "local_shell_call", "shell_call",
     "apply_patch_call"}
)  # fmt: skip
"""Types of calls that wait for the caller, unless the output holds their result."""
FINAL = "final_answer"
"""Phase of a message that is the answer."""
STATUSES = ("completed", "incomplete", "failed", "cancelled")
"""Final states of a response; in these an empty output is an empty answer."""
NO_TEXT = frozenset(
    {"thinking", "redacted_thinking", "reasoning", "image_url", "output_image", "tool_use", "tool_call"}
)
"""Types of parts that are no part of the answer's text."""


def wrote(body: Mapping[str, Any]) -> bool:
    """Return whether a response has the shape of one of OpenAI's APIs."""
    return (
        isinstance(body.get("choices"), list)
        or isinstance(body.get("output"), list)
        or "message" in body
        or "error" in body
    )


def reply(body: Mapping[str, Any], request: Mapping[str, Any], sources: list[dict[str, Any]]) -> Reply:
    """Read the first choice of a response.

    Args:
        body: body of the response.
        request: body of the request.
        sources: further contexts, placed after the documents of the request.
    """
    usage = mapping(body.get("usage"))
    found = Reply(
        identifier=first_text(body, "id"),
        model=first_text(body, "model"),
        prompt_tokens=count(usage.get("prompt_tokens", usage.get("input_tokens"))),
        completion_tokens=count(usage.get("completion_tokens", usage.get("output_tokens"))),
        contexts=[*documents(request), *sources],
        created=body.get("created", body.get("created_at")),
        error=first_text(mapping(body.get("error")), "message", "code"),
    )
    if isinstance(body.get("output"), list):
        _read_output(body, found)
    else:
        choice = first_choice(body.get("choices")) or body
        found.others = max(0, len(items(body.get("choices"))) - 1)
        message = mapping(choice.get("message")) or choice
        place = "choices.0" if choice is not body else "choices" if "choices" in body else ""
        found.finish_reason = first_text(choice, "finish_reason", "stop_reason")
        found.error = found.error or first_text(mapping(choice.get("error")), "message", "code")
        found.contexts += _searched(body, message)
        found.calls_tools = waits_for_caller(message.get("tool_calls")) or bool(message.get("function_call"))
        if message is choice and not isinstance(choice.get("text"), str):
            found.mark_unread(f"{place}.message".strip("."))
        _read_message(message, found, f"{place}.message.content".strip("."))
    return found


def _read_output(body: Mapping[str, Any], found: Reply) -> None:
    incomplete = mapping(body.get("incomplete_details"))
    found.finish_reason = first_text(incomplete, "reason") or first_text(body, "status")
    done = {first_text(each, "call_id") for each in objects(body["output"]) if _ends_call(each)}
    for place, item in enumerate(map(mapping, body["output"])):
        kind = item.get("type")
        if not _is_known_item(item):
            found.mark_unread(f"output.{place}")
        if kind == "file_search_call":
            found.contexts += _file_results(item)
        elif kind == "web_search_call" and (call := call_of({"name": "web_search", **item})).get("status") == "error":
            found.contexts.append({"content": "", "chunk_id": call.get("id"), "source_type": "tool", "tool": call})
        elif text(kind) in TOOL_RESULTS:
            found.contexts += tool_results(item)
        elif text(kind) in CALLER_CALLS and first_text(item, "call_id", "id") not in done:
            found.calls_tools = True
    final = any(item.get("phase") == FINAL for item in objects(body["output"]))
    for place, item in enumerate(map(mapping, body["output"])):
        if final and item.get("phase") not in (None, FINAL):
            continue  # what the model says between its calls is no part of the answer
        if item.get("type") == "message" or ("content" in item and "type" not in item):
            _read_message(item, found, f"output.{place}.content", apart=True)
    if not body["output"] and body.get("status") not in STATUSES:
        found.mark_unread("output")
    if body.get("status") in UNFINISHED:
        found.text = None
        found.mark_unread("status")


def _searched(body: Mapping[str, Any], message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the sources that a service searched itself: Azure beside the message, Perplexity beside the choices."""
    cited = chunks_of(mapping(message.get("context")).get("citations"))
    results = objects(body.get("search_results"))
    return [*cited, *(chunk for each in results if (chunk := chunk_of({**each, "content": each.get("snippet")})))]


def _ends_call(item: Mapping[str, Any]) -> bool:
    return (text(item.get("type")) or "").endswith("_call_output")


def _is_known_item(item: Mapping[str, Any]) -> bool:
    kind = item.get("type", "message" if "content" in item else None)
    return isinstance(kind, str) and (kind in ITEMS or kind.endswith(ITEM_SUFFIXES))


def _file_results(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    call = call_of({"name": "file_search", **item})
    results = [each for each in objects(item.get("results")) if each.get("text")]
    yield from (_file_result(result) | {"tool": call} for result in results)
    if not results and (call.get("status") == "error" or item.get("results") == []):
        yield {"content": "", "chunk_id": call.get("id"), "source_type": "tool", "tool": call}


def _file_result(result: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "source_type": "tool",
        "chunk_id": first_text(result, "file_id", "filename"),
        "content": text(result.get("text")) or "",
        "source_name": first_text(result, "filename"),
        "retrieval_score": number(result.get("score")),
        "metadata": dict(mapping(result.get("attributes"))),
    }


def _read_message(message: Mapping[str, Any], found: Reply, field: str, *, apart: bool = False) -> None:
    content = message.get("content", message.get("text"))
    if {"content", "text"}.isdisjoint(message) and (name := unknown_field(message, MESSAGE_FIELDS)) is not None:
        found.mark_unread(f"{field.removesuffix('content')}{name}")
    if content is None:
        # Answers in sound have their text beside the content.
        content = mapping(message.get("audio")).get("transcript")
    if not isinstance(content, str | list | None):
        found.mark_unread(field)
    blocks: list[Mapping[str, Any]] = (
        [{"text": each} if isinstance(each, str) else mapping(each) for each in content]
        if isinstance(content, list)
        else [{"text": content, "annotations": message.get("annotations")}]
    )
    noted = []
    for place, block in enumerate(blocks):
        if str(block.get("type", "")) not in TEXT_PARTS:
            if first_text(block, "type") not in NO_TEXT:
                found.mark_unread(f"{field}.{place}.type")
            continue
        written = block.get("text", block.get("refusal"))
        if not isinstance(written, str):
            if isinstance(content, list):
                found.mark_unread(f"{field}.{place}.text")
            continue
        found.text = spaced(found.text, written) if apart else found.text
        apart = False
        noted += [(len(found.text or ""), written, each) for each in objects(block.get("annotations"))]
        found.text = (found.text or "") + written
    if not (found.text or "").strip():
        found.text = text(message.get("refusal"))
    for base, written, annotation in noted[:MAX_CITATIONS]:
        _cite(annotation, base, len(written), found)


def _cite(annotation: Mapping[str, Any], base: int, length: int, found: Reply) -> None:
    kind = str(annotation.get("type"))
    if kind not in CITATIONS:
        return
    fields = {**annotation, **mapping(annotation.get(kind))}
    place = found.numbered(*(first_text(fields, name) for name in ("file_id", "url", "filename", "title")))
    if place is None:
        found.leave_uncited(first_text(fields, "url"))
        return
    start, end, behind = (count(fields.get(name)) for name in ("start_index", "end_index", "index"))
    if start is None and behind is not None and 0 < behind <= length:
        start, end = behind - 1, behind
    if start is None or end is None or end > length:
        found.cite([place], None, None, first_text(fields, "quote"))
    else:
        found.cite([place], base + start, base + end, first_text(fields, "quote"))


def instructions(request: Mapping[str, Any]) -> Any:
    """Return the messages of a request of Chat Completions, Responses or Completions; ``None`` if there are none."""
    for name in ("messages", "input", "prompt"):
        given = request.get(name)
        if given:
            return (isinstance(given, str) and prompt_templates.turns(given)) or items(given) or given
    return None
