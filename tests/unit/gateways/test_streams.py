"""Streamed responses: their chunks are merged to the answer, for each service, with usage, citations and refusals."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from workers.gateways.adapted import Adapted, Received
from workers.gateways.errors import NothingToJudge, UnadaptableRecord
from workers.gateways.formats import format_named

NOW = datetime(2026, 11, 3, tzinfo=UTC)


def read(name: str, response: Any, **beside: Any) -> Adapted:
    (found,) = format_named(name).answers(json.dumps({"response": response} | beside).encode(), Received(NOW))
    return found


def chunk(delta: dict[str, Any], **choice: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1793606043,
        "model": "gpt-4o-mini",
        "choices": [{"index": 0, "delta": delta, "finish_reason": None} | choice],
    }


def test_chunks_of_chat_completions_are_one_answer_with_usage_from_the_last() -> None:
    last = chunk({}) | {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
    other = chunk({"content": "No."}, index=1)
    stream = [
        chunk({"role": "assistant", "content": ""}), chunk({"content": "It is "}), other, chunk({"content": "24."}),
        chunk({}, finish_reason="stop"), last,
    ]  # fmt: skip
    answer = read("openai", stream).answer
    assert (answer.answer, answer.finish_reason, answer.answer_id) == ("It is 24.", "stop", "chatcmpl-1")
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (7, 3)


def test_a_streamed_refusal_is_the_answer() -> None:
    assert read("openai", [chunk({"refusal": "I "}), chunk({"refusal": "cannot."})]).answer.answer == "I cannot."


def test_a_streamed_tool_call_is_no_answer() -> None:
    call = {"index": 0, "id": "1", "function": {"name": "f", "arguments": "{"}}
    with pytest.raises(NothingToJudge, match="tool_call"):
        read("openai", [chunk({"content": None, "tool_calls": [call]}), chunk({}, finish_reason="tool_calls")])


def test_the_last_event_of_a_streamed_response_holds_the_answer() -> None:
    output = [{"type": "message", "content": [{"type": "output_text", "text": "Yes.", "annotations": []}]}]
    stream = [
        {"type": "response.created", "response": {"id": "resp-1", "output": []}},
        {"type": "response.output_text.delta", "delta": "Yes."},
        {"type": "response.completed", "response": {"id": "resp-1", "status": "completed", "output": output}},
    ]
    assert read("openai", stream).answer.answer == "Yes."


def test_events_of_an_anthropic_message_are_one_answer_with_its_citations() -> None:
    cited = {
        "type": "char_location",
        "cited_text": "24 months",
        "document_index": 0,
        "start_char_index": 0,
        "end_char_index": 9,
    }
    stream = [
        {"type": "message_start", "message": {"id": "msg-1", "type": "message", "role": "assistant", "content": [],
                                              "usage": {"input_tokens": 9, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "It is "}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "24 months."}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": cited}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": None, "output_tokens": 6}},
        {"type": "message_stop"},
    ]  # fmt: skip
    document = {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": "24 months warranty."},
    }
    answer = read("anthropic", stream, request={"messages": [{"role": "user", "content": [document]}]}).answer
    assert (answer.answer, answer.finish_reason) == ("It is 24 months.", "end_turn")
    assert [citation.cited_text for citation in answer.citations] == ["24 months"]
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (9, 6)


def test_chunks_of_generate_content_are_one_answer() -> None:
    stream = [
        {"candidates": [{"content": {"parts": [{"text": "It is "}]}}], "responseId": "g-1"},
        {"candidates": [{"content": {"parts": [{"text": "24."}]}, "finishReason": "STOP"}],
         "usageMetadata": {"promptTokenCount": 4, "candidatesTokenCount": 2}},
    ]  # fmt: skip
    answer = read("google", stream).answer
    assert (answer.answer, answer.finish_reason, answer.answer_id) == ("It is 24.", "STOP", "g-1")


@pytest.mark.parametrize("stream", [[chunk({})["choices"][0]], [{"type": "ping"}], ["Yes."], [{"delta": "Yes."}]])
def test_a_list_that_is_no_stream_of_a_known_service_is_refused(stream: Any) -> None:
    with pytest.raises(UnadaptableRecord, match="response"):
        read("openai", stream)
