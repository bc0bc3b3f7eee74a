"""OpenAI: Chat Completions, Completions and Responses, request and response.

Source: OpenAI's OpenAPI document, "Create chat completion", "Create a model response", read November
2026. Annotations: ``url_citation`` (in Chat Completions within an object of that name), ``file_citation``
(``index``: the place behind the statement), ``container_file_citation``; their offsets count code points
of their own block of text. Results of file search carry the text of the sources
(``include=["file_search_call.results"]``).
"""

from collections.abc import Mapping
from typing import Any

from workers.gateways.anthropic import sources as documents
from workers.gateways.messages import TEXT_PARTS
from workers.gateways.reading import count, first_text, items, mapping, number, objects, text
from workers.gateways.reply import MAX_CITATIONS, Reply

CITATIONS = frozenset({"url_citation", "file_citation", "container_file_citation"})


def wrote(body: Mapping[str, Any]) -> bool:
    """Whether a response looks like OpenAI's."""
    return (
        isinstance(body.get("choices"), list)
        or isinstance(body.get("output"), list)
        or "message" in body
        or "error" in body
    )


def reply(body: Mapping[str, Any], request: Mapping[str, Any], sources: list[dict[str, Any]]) -> Reply:
    """A response; of several choices the first one."""
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
        choice = next(objects(body.get("choices")), body)
        message = mapping(choice.get("message")) or choice
        found.finish_reason = first_text(choice, "finish_reason")
        found.calls_tools = bool(message.get("tool_calls") or message.get("function_call"))
        _read_message(message, found)
    return found


def _read_output(body: Mapping[str, Any], found: Reply) -> None:
    incomplete = mapping(body.get("incomplete_details"))
    found.finish_reason = first_text(incomplete, "reason") or first_text(body, "status")
    for item in objects(body["output"]):
        kind = item.get("type")
        if kind == "file_search_call":
            found.contexts += [_file_result(result) for result in objects(item.get("results")) if result.get("text")]
        elif kind in ("function_call", "custom_tool_call", "mcp_approval_request"):
            found.calls_tools = True
    for item in objects(body["output"]):
        if item.get("type") == "message" or ("content" in item and "type" not in item):
            _read_message(item, found)


def _file_result(result: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "chunk_id": first_text(result, "file_id", "filename"),
        "content": text(result.get("text")) or "",
        "source_name": first_text(result, "filename"),
        "retrieval_score": number(result.get("score")),
        "metadata": dict(mapping(result.get("attributes"))),
    }


def _read_message(message: Mapping[str, Any], found: Reply) -> None:
    content = message.get("content", message.get("text"))
    blocks = (
        list(objects(content))
        if isinstance(content, list)
        else [{"text": content, "annotations": message.get("annotations")}]
    )
    noted = []
    for block in blocks:
        if str(block.get("type", "")) not in TEXT_PARTS:
            continue
        written = block.get("text", block.get("refusal"))
        if not isinstance(written, str):
            continue
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
        found.uncited += 1
        return
    start, end, behind = (count(fields.get(name)) for name in ("start_index", "end_index", "index"))
    if start is None and behind is not None and 0 < behind <= length:
        start, end = behind - 1, behind
    if start is None or end is None or end > length:
        found.cite([place], None, None, first_text(fields, "quote"))
    else:
        found.cite([place], base + start, base + end, first_text(fields, "quote"))


def instructions(request: Mapping[str, Any]) -> Any:
    """Where a request has its messages: Chat Completions, Responses, Completions."""
    for name in ("messages", "input", "prompt"):
        if request.get(name):
            return items(request[name]) or request[name]
    return None
