"""Records of an unknown shape: whatever a text is renamed to or wrapped in, no empty answer comes of it."""

import copy
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from workers.gateways.adapted import Received
from workers.gateways.errors import NothingToJudge, UnadaptableRecord
from workers.gateways.formats import format_named

NOW = datetime(2026, 11, 20, tzinfo=UTC)
SAID = "Dough keeps for 36 hours at 4 °C."
ASKED = "How long does dough keep in the fridge?"
MESSAGES = [{"role": "user", "content": ASKED}]


def pair(response: Any, **request: Any) -> Any:
    return {"request": {"model": "m", "messages": MESSAGES} | request, "response": response}


def span(**attributes: str) -> Any:
    told = [{"key": name.replace("__", "."), "value": {"stringValue": value}} for name, value in attributes.items()]
    return {"traceId": "a" * 32, "spanId": "b" * 16, "name": "x", "endTimeUnixNano": "1794000001", "attributes": told}


CHAT = {
    "id": "1",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": SAID}}],
}
DETAILS = "gen_ai.client.inference.operation.details"
OUTPUT = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": SAID}]}])
CALL = span(gen_ai__operation__name="chat", gen_ai__output__messages=OUTPUT)
FLAT = {"llm__output_messages__0__message__content": SAID, "llm__output_messages__0__message__role": "assistant"}
BODIES: dict[str, tuple[str, Any]] = {
    "touchstone": ("touchstone", {"query": ASKED, "answer": SAID}),
    "chat completion": ("openai", pair(CHAT)),
    "message alone": ("openai", pair({"model": "m", "message": {"role": "assistant", "content": SAID}})),
    "completion": ("openai", pair({"choices": [{"index": 0, "text": SAID}]})),
    "chunks of a chat completion": (
        "openai",
        pair([{"id": "1", "choices": [{"index": 0, "delta": {"role": "assistant", "content": SAID}}]}]),
    ),
    "response": (
        "openai",
        pair({"status": "completed", "output": [{"type": "reasoning", "summary": []}, {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": SAID}]}]}),
    ),
    "anthropic": ("anthropic", pair({"type": "message", "stop_reason": "end_turn", "content": [{"type": "text", "text": SAID}]})),
    "events of anthropic": (
        "anthropic",
        pair([
            {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": []}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": SAID}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
            {"type": "message_stop"},
        ]),
    ),
    "google": (
        "google",
        pair({"candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [{"text": SAID}]}}]}),
    ),
    "chunks of google": ("google", pair([{"candidates": [{"content": {"role": "model", "parts": [{"text": SAID}]}}]}])),
    "interaction": (
        "google",
        pair({"status": "completed", "steps": [{"type": "thought"}, {"type": "model_output", "content": [{"type": "text", "text": SAID}]}]}),
    ),
    "bedrock": ("bedrock", pair({"stopReason": "end_turn", "output": {"message": {"role": "assistant", "content": [{"text": SAID}]}}})),
    "events of bedrock": (
        "bedrock",
        pair([
            {"messageStart": {"role": "assistant"}},
            {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": SAID}}},
            {"messageStop": {"stopReason": "end_turn"}},
        ]),
    ),
    "titan": ("bedrock", pair({"inputTextTokenCount": 9, "results": [{"tokenCount": 12, "outputText": SAID, "completionReason": "FINISHED"}]})),
    "chunks of titan": ("bedrock", pair([{"index": 0, "totalOutputTextTokenCount": 12, "outputText": SAID, "completionReason": "FINISHED"}])),
    "llama": ("bedrock", pair({"generation": SAID, "prompt_token_count": 9, "generation_token_count": 12, "stop_reason": "stop"})),
    "mistral": ("bedrock", pair({"outputs": [{"text": SAID, "stop_reason": "stop"}]})),
    "generations": ("bedrock", pair({"id": "1", "generations": [{"id": "2", "text": SAID, "finish_reason": "COMPLETE"}]})),
    "jurassic": ("bedrock", pair({"completions": [{"data": {"text": SAID}, "finishReason": {"reason": "stop"}}]})),
    "anthropic's text completion": ("bedrock", pair({"type": "completion", "completion": SAID, "stop_reason": "stop"})),
    "knowledge base": ("bedrock", pair({"sessionId": "s", "output": {"text": SAID}, "citations": []})),
    "events of a knowledge base": ("bedrock", pair([{"output": {"text": SAID}}, {"guardrail": {"action": "NONE"}}])),
    "cohere": (
        "cohere",
        pair({"id": "1", "finish_reason": "COMPLETE", "message": {"role": "assistant", "content": [{"type": "text", "text": SAID}]}}),
    ),
    "events of cohere": (
        "cohere",
        pair([
            {"type": "message-start", "id": "1", "delta": {"message": {"role": "assistant"}}},
            {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": ""}}}},
            {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": SAID}}}},
            {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}},
        ]),
    ),
    "events of cohere's first chat": (
        "cohere",
        {
            "request": {"model": "m", "message": ASKED},
            "response": [{"event_type": "stream-end", "response": {"response_id": "1", "text": SAID}}],
        },
    ),
    "litellm": (
        "litellm",
        {"id": "1", "status": "success", "startTime": 1794000000, "call_type": "acompletion", "messages": MESSAGES, "response": CHAT},
    ),
    "langfuse": ("langfuse", {"id": "1", "input": ASKED, "output": SAID, "observations": []}),
    "span": ("otlp", {"resourceSpans": [{"scopeSpans": [{"spans": [CALL]}]}]}),
    "flat span": ("otlp", {"resourceSpans": [{"scopeSpans": [{"spans": [span(openinference__span__kind="LLM", **FLAT)]}]}]}),
    "log record": (
        "otlp-logs",
        {"resourceLogs": [{"scopeLogs": [{"logRecords": [CALL | {"timeUnixNano": "1794000001", "eventName": DETAILS}]}]}]},
    ),
}  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where the text of the answer is."""
    if isinstance(value, dict | list):
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, name))
    elif isinstance(value, str) and (SAID in value or value == OUTPUT):
        yield path


def inside(value: Any, path: tuple[Any, ...]) -> Any:
    for name in path:
        value = value[name]
    return value


def changed(body: Any, path: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """Yield a body with its text in another shape, or with a field around it renamed or wrapped."""
    said = inside(body, path)
    for odd in ({"value": said}, [{"text": {"value": said}}], [{"type": "hologram", "hologram": said}], 7, True):
        made = copy.deepcopy(body)
        inside(made, path[:-1])[path[-1]] = odd
        yield f"{path} is {odd}", made
    for depth, name in enumerate(path):
        if isinstance(name, str) and name != "value":  # an attribute without a value is empty
            for how in ("renamed", "wrapped"):
                made = copy.deepcopy(body)
                around = inside(made, path[:depth])
                value = around.pop(name)
                around |= {f"{name}_of_2027": value} if how == "renamed" else {name: {"inner": value}}
                yield f"{path[: depth + 1]} is {how}", made


def read(form: str, body: Any) -> list[Any]:
    """Return what comes of a body: refused and skipped records give nothing."""
    try:
        return [each.answer for each in format_named(form).answers(json.dumps(body).encode(), Received(NOW))]
    except (UnadaptableRecord, NothingToJudge):
        return []


@pytest.mark.parametrize("name", BODIES)
def test_no_empty_answer_comes_of_a_text_in_another_shape(name: str) -> None:
    form, body = BODIES[name]
    (answer,) = read(form, body)
    assert answer.answer == SAID
    found = list(places(body))
    assert found
    for path in found:
        for label, made in changed(body, path):
            empty = [each for each in read(form, made) if not each.answer and not each.withheld]
            assert not empty, f"an empty answer, where {label}"


@pytest.mark.parametrize("form", sorted({form for form, _ in BODIES.values()}))
@pytest.mark.parametrize("name", BODIES)
def test_the_body_of_a_format_is_read_as_it_is_by_another_or_refused_by_a_field(name: str, form: str) -> None:
    own, body = BODIES[name]
    try:
        (found,) = format_named(form).answers(json.dumps(body).encode(), Received(NOW))
    except UnadaptableRecord as refusal:
        assert form != own
        assert refusal.field, str(refusal)
        assert refusal.field.split(".")[0] in str(refusal)
    else:
        assert found.answer.answer == SAID
        assert found.answer.query == (ASKED if ASKED in json.dumps(body) else "")


@pytest.mark.parametrize(
    "message", [{"role": "assistant", "said": SAID}, {"role": "assistant", "content_of_2027": [SAID]}]
)
def test_a_message_of_a_span_without_a_known_field_is_refused(message: Any) -> None:
    call = span(gen_ai__operation__name="chat", gen_ai__output__messages=json.dumps([message]))
    with pytest.raises(UnadaptableRecord, match=r"gen_ai\.output\.messages has an unknown shape"):
        format_named("otlp").answers(
            json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [call]}]}]}).encode(), Received(NOW)
        )
