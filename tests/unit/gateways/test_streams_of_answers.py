"""Streamed responses: those that an error ends, and Cohere's events."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.answers import GeneratedAnswer
from workers.gateways.adapted import Received
from workers.gateways.errors import NothingToJudge
from workers.gateways.formats import format_named

ASKED = {"model": "m", "messages": [{"role": "user", "content": "How long does dough keep?"}]}
BEGUN: dict[str, list[Any]] = {
    "openai": [{"id": "1", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "36 hours"}}]}],
    "anthropic": [
        {"type": "message_start", "message": {"id": "1", "type": "message", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "36 hours"}},
    ],
    "bedrock": [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "36 hours"}}},
    ],
}
BROKEN: list[tuple[str, Any, str]] = [
    ("openai", {"error": {"message": "upstream closed", "type": "server_error"}}, "upstream closed"),
    ("anthropic", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "Overloaded"),
    ("bedrock", {"internalServerException": {"message": "boom"}}, "boom"),
    ("bedrock", {"modelStreamErrorException": {"originalStatusCode": 424}}, "modelStreamErrorException"),
]


def read(form: str, events: list[Any], request: Any = ASKED) -> GeneratedAnswer:
    record = json.dumps({"request": request, "response": events}).encode()
    (found,) = format_named(form).answers(record, Received(datetime(2026, 11, 20, tzinfo=UTC)))
    return found.answer


@pytest.mark.parametrize(("form", "event", "message"), BROKEN)
def test_a_stream_that_an_error_ends_is_a_failed_call_with_what_readers_saw(
    form: str, event: Any, message: str
) -> None:
    answer = read(form, [*BEGUN[form], event])
    assert (answer.status, answer.error, answer.answer) == ("error", message, "36 hours")
    assert read(form, BEGUN[form]).status == "success"


@pytest.mark.parametrize(("form", "event", "message"), BROKEN)
def test_a_stream_that_fails_before_its_first_word_is_a_failed_call(form: str, event: Any, message: str) -> None:
    answer = read(form, [BEGUN[form][0] if form != "openai" else {"id": "1", "choices": [{"delta": {}}]}, event])
    assert (answer.status, answer.error, answer.answer) == ("error", message, "")


def test_a_stream_of_cohere_has_its_text_citations_and_tokens() -> None:
    request = ASKED | {"documents": [{"id": "d1", "data": {"snippet": "36 hours at 4 °C."}}]}
    cited = {
        "start": 7,
        "end": 15,
        "text": "36 hours",
        "content_index": 1,
        "sources": [{"type": "document", "id": "d1"}],
    }
    events = [
        {"type": "message-start", "id": "c-1", "delta": {"message": {"role": "assistant"}}},
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"thinking": "A fridge."}}}},
        {"type": "content-delta", "index": 1, "delta": {"message": {"content": {"text": "Within "}}}},
        {"type": "content-delta", "index": 1, "delta": {"message": {"content": {"text": "36 hours."}}}},
        {"type": "citation-start", "index": 0, "delta": {"message": {"citations": cited}}},
        {"type": "message-end", "delta": {"finish_reason": "MAX_TOKENS", "usage": {"tokens": {"output_tokens": 4}}}},
    ]  # fmt: skip
    answer = read("cohere", events, request)
    assert (answer.answer, answer.answer_id, answer.finish_reason) == ("Within 36 hours.", "c-1", "MAX_TOKENS")
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 4
    cut_off = read("cohere", events[:-1], request)
    assert (cut_off.answer, cut_off.finish_reason) == ("Within 36 hours.", None)
    (citation,) = answer.citations
    assert (citation.number, answer.answer[citation.start : citation.end]) == (1, "36 hours")


def test_a_stream_of_cohere_that_calls_a_tool_is_a_step() -> None:
    called = {"id": "t1", "type": "function", "function": {"name": "search", "arguments": ""}}
    events = [
        {"type": "message-start", "id": "c-1", "delta": {"message": {"role": "assistant"}}},
        {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": called}}},
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
    ]
    with pytest.raises(NothingToJudge):
        read("cohere", events)
