"""The guardrail reads the text of each kind of stream wherever its bytes are cut, and leaves none of it in the rest."""

import json
from typing import Any

import pytest

pytest.importorskip("litellm")

from workers.gateways.guardrail import TouchstoneGuardrail, _Messages, _Responses

TEXTS = ["The rotor turns at ", "47 rpm – sehr schön. ", "It is new."]
MESSAGE: list[dict[str, Any]] = [
    {"type": "message_start", "message": {"id": "msg_1", "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    *({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}} for text in TEXTS),
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}},
    {"type": "message_stop"},
]


def body(end: str = "\n\n") -> bytes:
    return "".join(
        f"event: {event['type']}{end[: len(end) // 2]}data: {json.dumps(event, ensure_ascii=False)}{end}"
        for event in MESSAGE
    ).encode()


@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n"])
def test_the_text_of_messages_is_read_wherever_their_bytes_are_cut(end: str) -> None:
    content = body(end)
    for size in (1, 2, 3, 7, 64, 1_000, len(content)):
        messages = _Messages()
        cuts = [content[start : start + size] for start in range(0, len(content), size)]
        events = [event for cut in cuts for event in messages.events(cut)] + messages.last_events()
        assert "".join(messages.text(event) or "" for event in events) == "".join(TEXTS)
        assert len(events) == len(MESSAGE)


def test_the_last_message_without_an_end_is_read_as_well() -> None:
    messages = _Messages()
    events = messages.events(body().rstrip(b"\n")) + messages.last_events()
    assert len(events) == len(MESSAGE)


def test_a_message_that_is_blocked_ends_as_a_message() -> None:
    messages = _Messages()
    events = messages.events(body())
    told = [messages._data(event) for event in messages.blocked(events[3:], events[2], "Held.")]
    assert [event["type"] for event in told] == [
        "content_block_delta", "content_block_stop", "message_delta", "message_stop",
    ]  # fmt: skip
    assert (told[0]["delta"]["text"], told[2]["delta"]["stop_reason"]) == ("Held.", "refusal")
    assert told[2]["usage"] == {"output_tokens": 7}


def response(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text}
    return {"type": "response.completed", "response": {"output": [{"type": "message", "content": [part]}]}}


def test_a_response_whose_text_comes_in_its_last_event_alone_is_read_and_blocked() -> None:
    responses, last = _Responses(), response("36 months.")
    assert responses.text(last) == "36 months."
    assert responses.blocked([last], last, "Held.") == [response("Held.")]
    assert responses.ended([last], last, " Note.") == [response("36 months. Note.")]


def test_the_last_events_of_a_response_repeat_what_was_shown() -> None:
    responses = _Responses()
    deltas: list[dict[str, Any]] = [{"type": responses.DELTA, "delta": text} for text in TEXTS]
    assert [responses.text(event) for event in deltas] == TEXTS
    tail = [{"type": "response.output_text.done", "text": "".join(TEXTS)}, response("".join(TEXTS))]
    assert responses.text(tail[1]) is None, "the text is known from the deltas"
    found = responses.blocked([*deltas[1:], *tail], deltas[0], "\n\nHeld.")
    shown = f"{TEXTS[0]}\n\nHeld."
    assert found == [deltas[0] | {"delta": "\n\nHeld."}, tail[0] | {"text": shown}, response(shown)]


def test_a_call_of_a_tool_is_told_from_text() -> None:
    messages = _Messages()
    call = {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "name": "find"}}
    (event,) = messages.events(f"data: {json.dumps(call)}\n\n")
    assert messages.calls_tool(event)
    assert not messages.calls_tool(b"data: [DONE]\n\n")
    assert _Responses().calls_tool({"type": "response.output_item.added", "item": {"type": "function_call"}})


@pytest.mark.parametrize("name", ["contexts", "sources", "documents"])
@pytest.mark.parametrize("place", ["metadata", "litellm_metadata", "requester_metadata"])
def test_sources_of_a_request_are_checked_under_each_name_that_the_log_reads(name: str, place: str) -> None:
    guardrail = TouchstoneGuardrail(api_base="https://touchstone.example", api_key="secret")
    given: Any = {name: TEXTS, "session_id": "s-1"}
    data = {"metadata": {place: given}} if place == "requester_metadata" else {place: given}
    pair = guardrail.pair({"model": "m", "messages": [], **data}, None)
    assert (pair["request"]["contexts"], pair["session_id"]) == (TEXTS, "s-1")
