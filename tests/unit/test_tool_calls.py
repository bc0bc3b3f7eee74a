"""Calls of tools: what the contract accepts, and what an adapter makes of the forms of services."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.answers import MAX_ARGUMENTS, ContextChunk, GeneratedAnswer, ToolCall
from workers.evaluation.citations.citation_finder import find_citations
from workers.gateways.apis.chat_messages import conversation
from workers.gateways.reading.tool_calls import call_of

AT = datetime(2026, 11, 2, 8, 30, tzinfo=UTC)
CALL = {"id": "call_7", "name": "list_orders", "arguments": {"month": "2026-03"}, "called_at": AT}
ASKED = {"role": "user", "content": "How many?"}


@pytest.mark.parametrize(
    ("given", "status"),
    [("success", "success"), ("OK", "success"), (200, "success"), ("404", "error"), (503, "error"),
     ("timed out", "error"), (True, "success"), (False, "error"), (None, None)],
)  # fmt: skip
def test_words_and_http_statuses_tell_the_outcome(given: object, status: str | None) -> None:
    assert ToolCall.model_validate({"status": given}).status == status


@pytest.mark.parametrize("given", ["perhaps", 99, 700, [], 1.5])
def test_another_outcome_is_refused(given: object) -> None:
    with pytest.raises(ValidationError):
        ToolCall.model_validate({"status": given})


def test_arguments_are_read_from_json_and_bounded() -> None:
    assert ToolCall(arguments='{"month": 3}').arguments == {"month": 3}
    assert ToolCall(arguments="SELECT 1").arguments == "SELECT 1"
    assert ToolCall(arguments="{not json").arguments == "{not json"
    with pytest.raises(ValidationError):
        ToolCall(arguments={"sql": "x" * MAX_ARGUMENTS})


def test_a_chunk_with_a_call_is_the_result_of_a_tool_unless_it_says_otherwise() -> None:
    chunk = {"chunk_id": "c", "content": "[]", "tool": CALL}
    assert ContextChunk.model_validate(chunk).source_type == "tool"
    assert ContextChunk.model_validate(chunk | {"source_type": "database"}).source_type == "database"


@pytest.mark.parametrize("marker", ["[1]", "[call_7]", "[Tool: list_orders]", "[tool call: call_7]", "[Tool 1]"])
def test_a_citation_of_a_call_resolves(marker: str) -> None:
    chunk = ContextChunk.model_validate({"chunk_id": "r", "content": '{"orders": 7}', "tool": CALL})
    answer = GeneratedAnswer(answer_id="a", answer=f"There were 7 orders {marker}.", contexts=[chunk], completed_at=AT)
    found = find_citations(answer)
    assert found.valid
    [citation] = found.citations
    assert (citation.source_type, citation.record_id, citation.created_at) == ("tool", "call_7", AT)
    assert citation.display_text == "[1] Tool: list_orders (called 2026-11-02 08:30)"
    assert citation.source_event == 'list_orders {"month":"2026-03"}'


def test_a_citation_of_an_unknown_call_is_invalid() -> None:
    chunk = ContextChunk.model_validate({"chunk_id": "r", "content": "7 orders", "tool": CALL})
    text = "There were 7 orders [call_8]."
    found = find_citations(GeneratedAnswer(answer_id="a", answer=text, contexts=[chunk], completed_at=AT))
    assert [wrong.marker for wrong in found.invalid_references] == ["[call_8]"]


CALLS: list[tuple[Any, Any]] = [
    ({"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": '{"a": 1}'}}]},
     {"role": "tool", "tool_call_id": "1", "content": "24"}),
    ({"role": "assistant", "function_call": {"name": "f", "arguments": '{"a": 1}'}},
     {"role": "function", "name": "f", "content": "24"}),
    ({"type": "function_call", "call_id": "1", "name": "f", "arguments": '{"a": 1}'},
     {"type": "function_call_output", "call_id": "1", "output": "24"}),
    ({"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1}}]},
     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "24"}]}),
    ({"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}]},
     {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"n": 24, "name": "x", "id": 9}}}]}),
    ({"role": "assistant", "content": [{"toolUse": {"toolUseId": "1", "name": "f", "input": {"a": 1}}}]},
     {"role": "user", "content": [{"toolResult": {"toolUseId": "1", "content": [{"json": {"n": 24}}]}}]}),
    ({"role": "assistant", "parts": [{"type": "tool_call", "id": "1", "name": "f", "arguments": {"a": 1}}]},
     {"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": {"n": 24}}]}),
    ({"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "1", "toolName": "f", "input": {"a": 1}}]},
     {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "1", "output": {"type": "text", "value": "24"}}]}),
    ({"role": "assistant", "tool_calls": [{"id": "1", "name": "f", "args": {"a": 1}}]},
     {"role": "tool", "tool_call_id": "1", "content": "24"}),
]  # fmt: skip


@pytest.mark.parametrize(("call", "result"), CALLS)
def test_a_result_has_the_name_and_arguments_of_its_call(call: Any, result: Any) -> None:
    [chunk] = conversation([ASKED, call, result]).evidence
    assert (chunk["source_type"], chunk["tool"]["name"], chunk["tool"]["arguments"]) == ("tool", "f", {"a": 1})
    assert "24" in chunk["content"]


@pytest.mark.parametrize(
    "result",
    [
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "is_error": True, "content": "503"}]},
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "1", "status": "error", "content": [{"text": "x"}]}}],
        },
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"error": "gone"}}}]},
        {"role": "tool", "tool_call_id": "1", "content": "gone", "status": "error"},
        {"type": "function_call_output", "call_id": "1", "output": "", "status": "incomplete"},
        {"role": "model", "parts": [{"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "boom"}}]},
        {"type": "mcp_call", "id": "1", "name": "f", "output": None, "error": "gone"},
    ],
)
def test_a_failed_result_says_so(result: Any) -> None:
    [chunk] = conversation([ASKED, result]).evidence
    assert chunk["tool"]["status"] == "error"


@pytest.mark.parametrize("content", ["", "[]", [], {}])
def test_an_empty_result_is_a_context(content: Any) -> None:
    [chunk] = conversation([ASKED, {"role": "tool", "tool_call_id": "1", "content": content}]).evidence
    assert chunk["content"] in ("", "[]", "{}")


def test_two_results_of_one_function_without_identifiers_have_the_arguments_of_their_own_call() -> None:
    calls = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": n}}} for n in (1, 2)]}
    results = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"n": n}}} for n in (1, 2)]}
    found = conversation([ASKED, calls, results]).evidence
    assert [chunk["tool"]["arguments"]["a"] for chunk in found] == [1, 2]


@pytest.mark.parametrize("name", ["type", "tool_calls", "content", "function_call", "arguments", "status", "error"])
@pytest.mark.parametrize("odd", [None, 1, "x", [], {}, [[]], [1], {"a": []}, [{"type": []}]])
def test_odd_values_are_no_calls_and_raise_nothing(name: str, odd: Any) -> None:
    message = {"role": "tool", "tool_call_id": "1", "content": "24", name: odd}
    conversation([ASKED, message])
    call_of(message)
