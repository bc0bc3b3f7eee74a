"""Payloads as services and routers send them: nothing of a pair is lost, and a step is no answer."""

import json
from base64 import b64encode
from datetime import UTC, datetime
from typing import Any

import pytest

from workers.gateways.adapted import Received
from workers.gateways.errors import NothingToJudge, UnadaptableRecord
from workers.gateways.formats import format_named

NOW = datetime(2026, 11, 20, tzinfo=UTC)
SOURCE = "The warranty period is 24 months from the date of delivery."
ASKED = "How long is the warranty?"
SAID = "24 months."
DATA = b64encode(SOURCE.encode()).decode()


def read(form: str, request: Any, response: Any) -> Any:
    record = json.dumps({"request": request, "response": response}).encode()
    (found,) = format_named(form).answers(record, Received(NOW))
    return found.answer


def converse(*content: Any, stop: str = "end_turn") -> Any:
    return {"output": {"message": {"role": "assistant", "content": list(content)}}, "stopReason": stop}


def chat(message: Any, **beside: Any) -> Any:
    return {"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": SAID} | message}]} | beside


def output(*items: Any, status: str = "completed") -> Any:
    return {"id": "r", "status": status, "output": list(items)}


def spoken(text: str, **fields: Any) -> Any:
    return {"type": "message", "content": [{"type": "output_text", "text": text}]} | fields


def user(*parts: Any, name: str = "content") -> Any:
    return [{"role": "user", name: list(parts)}]


ANSWERED = converse({"text": SAID})
GOOGLE = {"candidates": [{"content": {"parts": [{"text": SAID}]}, "finishReason": "STOP"}]}
RESULT = {"searchResult": {"source": "https://shop.example/terms", "title": "Terms", "content": [{"text": SOURCE}]}}
WITH_SOURCE: dict[str, tuple[str, Any, Any]] = {
    "bedrock: grounding source of a guardrail": ("bedrock", {"messages": user(
        {"guardContent": {"text": {"text": SOURCE, "qualifiers": ["grounding_source"]}}},
        {"guardContent": {"text": {"text": ASKED, "qualifiers": ["query"]}}},
    )}, ANSWERED),
    "bedrock: guarded query without qualifiers": ("bedrock", {"messages": user(
        {"document": {"name": "terms", "source": {"text": SOURCE}}}, {"guardContent": {"text": {"text": ASKED}}}
    )}, ANSWERED),
    "bedrock: search result": ("bedrock", {"messages": user(RESULT, {"text": ASKED})}, ANSWERED),
    "bedrock: search result of a tool": ("bedrock", {"messages": [
        *user({"text": ASKED}),
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "search", "input": {}}}]},
        *user({"toolResult": {"toolUseId": "t", "content": [RESULT]}}),
    ]}, ANSWERED),
    "bedrock: text document in base64": ("bedrock", {"messages": user(
        {"document": {"name": "terms", "format": "txt", "source": {"bytes": DATA}}}, {"text": ASKED}
    )}, ANSWERED),
    "google: inline text": ("google", {"contents": user(
        {"inlineData": {"mimeType": "text/plain", "data": DATA}}, {"text": ASKED}, name="parts"
    )}, GOOGLE),
    "google: inline text of the Python client": ("google", {"contents": [
        {"inline_data": {"mime_type": "text/markdown", "data": DATA}}, ASKED
    ]}, GOOGLE),
    "openai: file of the Responses API": ("openai", {"input": user(
        {"type": "input_file", "filename": "terms.txt", "file_data": f"data:text/plain;base64,{DATA}"},
        {"type": "input_text", "text": ASKED},
    )}, output(spoken(SAID))),
    "openai: file of a chat": ("openai", {"messages": user(
        {"type": "file", "file": {"filename": "terms.csv", "file_data": f"data:text/csv;base64,{DATA}"}},
        {"type": "text", "text": ASKED},
    )}, chat({})),
    "azure: own data": ("openai", {"messages": user({"type": "text", "text": ASKED})}, chat(
        {"context": {"citations": [{"content": SOURCE, "title": "Terms", "chunk_id": "0"}]}}
    )),
    "perplexity: search results": ("openai", {"messages": user({"type": "text", "text": ASKED})}, chat(
        {}, search_results=[{"title": "Terms", "url": "https://shop.example", "snippet": SOURCE}]
    )),
}  # fmt: skip


@pytest.mark.parametrize("name", WITH_SOURCE)
def test_the_source_and_the_question_of_a_request_arrive(name: str) -> None:
    answer = read(*WITH_SOURCE[name])
    assert [chunk.content for chunk in answer.contexts or ()] == [SOURCE]
    assert (answer.query, answer.answer) == (ASKED, SAID)


@pytest.mark.parametrize(("kind", "data"), [("application/pdf", DATA), ("text/plain", "%"), ("text/plain", "/w==")])
def test_data_that_is_no_text_is_no_source(kind: str, data: str) -> None:
    parts = user({"inlineData": {"mimeType": kind, "data": data}}, {"text": ASKED}, name="parts")
    assert read("google", {"contents": parts}, GOOGLE).contexts is None


@pytest.mark.parametrize("contents", [ASKED, [ASKED], {"parts": [{"text": ASKED}]}, {"text": ASKED}, [{"text": ASKED}],
                                      {"role": "user", "parts": {"text": ASKED}}])  # fmt: skip
def test_contents_of_the_python_client_of_google_are_read(contents: Any) -> None:
    assert read("google", {"contents": contents}, GOOGLE).query == ASKED


@pytest.mark.parametrize(
    ("location", "numbers"),
    [({"searchResultLocation": {"searchResultIndex": 0, "start": 0, "end": 1}}, [1]),
     ({"documentChar": {"documentIndex": 0, "start": 0, "end": 9}}, [2]),
     ({"searchResultLocation": {"searchResultIndex": 7}}, [])],
)  # fmt: skip
@pytest.mark.parametrize("streamed", [False, True])
def test_citations_of_bedrock_name_documents_and_search_results(
    location: Any, numbers: list[int], streamed: bool
) -> None:
    document = {"document": {"name": "terms", "source": {"text": SOURCE}}}
    citation = {"title": "Terms", "sourceContent": [{"text": SOURCE}], "location": location}
    response: Any = converse({"citationsContent": {"content": [{"text": SAID}], "citations": [citation]}})
    if streamed:
        deltas = ({"text": SAID[:4]}, {"text": SAID[4:]}, {"citation": citation})
        events = [{"contentBlockDelta": {"contentBlockIndex": 0, "delta": delta}} for delta in deltas]
        response = [*events, {"messageStop": {"stopReason": "end_turn"}}]
    answer = read("bedrock", {"messages": user(RESULT, document, {"text": ASKED})}, response)
    assert answer.answer == SAID
    assert [each.number for each in answer.citations] == numbers


REQUEST = {"messages": [{"role": "user", "content": ASKED}]}
LOOK = "Let me look that up."
STEPS: dict[str, tuple[str, Any]] = {
    "anthropic: a turn that pauses": ("anthropic", {"type": "message", "stop_reason": "pause_turn", "content": [
        {"type": "text", "text": LOOK}, {"type": "server_tool_use", "id": "t", "name": "web_search", "input": {}}]}),
    "anthropic: a reason alone": ("anthropic", {"type": "message", "stop_reason": "tool_use", "content": [
        {"type": "text", "text": LOOK}]}),
    "bedrock: a stream with a call without arguments": ("bedrock", [
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": LOOK}}},
        {"contentBlockStart": {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "t", "name": "n"}}}},
        {"messageStop": {"stopReason": "tool_use"}}]),
    "openai: a function": ("openai", output(spoken(LOOK), {"type": "function_call", "call_id": "c", "name": "n"})),
    "openai: a computer": ("openai", output({"type": "computer_call", "call_id": "c", "action": {"type": "click"}})),
    "openai: a shell": ("openai", output(spoken(LOOK), {"type": "local_shell_call", "call_id": "c"})),
    "openai: a patch": ("openai", output(spoken(LOOK), {"type": "apply_patch_call", "call_id": "c"})),
    "openai: an approval": ("openai", output(spoken(LOOK), {"type": "mcp_approval_request", "id": "a"})),
    "google: a function": ("google", {"candidates": [{"content": {"parts": [
        {"text": LOOK}, {"functionCall": {"name": "n"}}]}}]}),
    "google: an interaction": ("google", {"id": "i", "status": "requires_action", "steps": [
        {"type": "model_output", "content": [{"type": "text", "text": LOOK}]}]}),
    "cohere: a plan": ("cohere", {"finish_reason": "TOOL_CALL", "message": {"tool_plan": LOOK, "tool_calls": [{"id": "t"}]}}),
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_a_response_that_waits_for_its_caller_is_no_answer(name: str) -> None:
    form, response = STEPS[name]
    with pytest.raises(NothingToJudge):
        read(form, REQUEST, response)


def test_a_shell_of_the_service_ends_within_the_response() -> None:
    call, done = {"type": "shell_call", "call_id": "c"}, {"type": "shell_call_output", "call_id": "c", "output": "24"}
    assert read("openai", REQUEST, output(call, done, spoken(SAID))).answer == SAID


def test_what_a_model_says_between_its_calls_is_no_part_of_the_answer() -> None:
    said = output(spoken(LOOK, phase="commentary"), spoken(SAID, phase="final_answer"))
    assert read("openai", REQUEST, said).answer == SAID
    assert read("openai", REQUEST, output(spoken(SAID, phase="commentary"))).answer == SAID


@pytest.mark.parametrize("status", ["queued", "in_progress"])
@pytest.mark.parametrize(
    ("form", "made"),
    [("openai", output(spoken(SAID))), ("google", {"steps": [{"type": "thought"}]}), ("google", {"steps": []})],
)
def test_a_response_that_is_still_being_made_is_refused_by_its_status(form: str, made: Any, status: str) -> None:
    with pytest.raises(UnadaptableRecord) as refused:
        read(form, REQUEST, made | {"status": status})
    assert refused.value.field == "response.status"


@pytest.mark.parametrize(
    ("form", "name", "wrap"),
    [("openai", "choices", lambda text: {"message": {"content": text}}),
     ("google", "candidates", lambda text: {"content": {"parts": [{"text": text}]}, "finishReason": "STOP"})],
)  # fmt: skip
def test_of_several_choices_the_first_by_index_is_evaluated_and_the_others_are_counted(
    form: str, name: str, wrap: Any
) -> None:
    choices = [wrap("25 months.") | {"index": 1}, wrap(SAID) | {"index": 0}]
    answer = read(form, REQUEST, {name: choices})
    assert answer.answer == SAID
    assert answer.metadata["record"]["choices_not_evaluated"] == 1


FAILED: dict[str, tuple[str, Any, str]] = {
    "cohere": ("cohere", {"finish_reason": "ERROR", "message": {"content": []}}, "ERROR"),
    "cohere v1": ("cohere", {"response_id": "r", "text": "24", "finish_reason": "ERROR_LIMIT"}, "ERROR_LIMIT"),
    "a choice of a router": ("openai", {"choices": [{"finish_reason": "error", "error": {"code": 502, "message": "down"},
                                                     "message": {"content": ""}}]}, "down"),
    "a stream of Google": ("google", [{"error": {"code": 429, "message": "quota"}}], "quota"),
    "a stream of the Responses API": ("openai", [
        {"type": "response.created", "response": {"id": "r"}}, {"type": "error", "message": "boom"}], "boom"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILED)
def test_an_error_of_a_service_is_a_failed_call(name: str) -> None:
    form, response, error = FAILED[name]
    answer = read(form, REQUEST, response)
    assert (answer.status, answer.error) == ("error", error)


def test_a_stream_of_the_responses_api_that_was_cut_off_keeps_its_text() -> None:
    events = [
        {"type": "response.created", "response": {"id": "r", "model": "gpt-4o-mini"}},
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning"}},
        {"type": "response.output_item.added", "output_index": 1, "item": {"type": "message", "content": []}},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "24 "},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "months."},
    ]
    answer = read("openai", REQUEST, events)
    assert (answer.answer_id, answer.answer, answer.finish_reason) == ("r", SAID, "incomplete")


def test_a_response_of_another_type_is_named() -> None:
    with pytest.raises(UnadaptableRecord, match="neither an object nor a list of chunks"):
        read("openai", REQUEST, "data: {}")


GIVEN = [SOURCE, [SOURCE], {"text": SOURCE}, [{"page_content": SOURCE}], [[SOURCE]], json.dumps([{"text": SOURCE}]),
         json.dumps({"content": SOURCE}), json.dumps(SOURCE)]  # fmt: skip


def logged(metadata: Any) -> Any:
    payload = {
        "id": "1", "call_type": "acompletion", "status": "success", "model": "gpt-4o-mini", "startTime": 1_794_000_000,
        "messages": REQUEST["messages"], "response": chat({}), "metadata": metadata,
    }  # fmt: skip
    (found,) = format_named("litellm").answers(json.dumps(payload).encode(), Received(NOW))
    return found.answer


@pytest.mark.parametrize("given", GIVEN, ids=repr)
def test_sources_in_metadata_are_read_in_every_form(given: Any) -> None:
    answers = [
        *(logged({name: given}) for name in ("contexts", "sources", "documents")),
        logged({"requester_metadata": {"contexts": given}}),
        read("openai", REQUEST | {"metadata": {"contexts": given}}, chat({})),
        read("openai", REQUEST | {"contexts": given}, chat({})),
    ]
    for answer in answers:
        assert [chunk.content for chunk in answer.contexts or ()] == [SOURCE]


@pytest.mark.parametrize("given", [[{"foo": SOURCE}], 7, {"foo": SOURCE}])
def test_sources_in_metadata_that_cannot_be_read_are_refused_by_their_field(given: Any) -> None:
    with pytest.raises(UnadaptableRecord, match=r"metadata\.contexts"):
        logged({"contexts": given})
    with pytest.raises(UnadaptableRecord, match=r"request\.contexts"):
        read("openai", REQUEST | {"contexts": given}, chat({}))


@pytest.mark.parametrize("given", [SOURCE, [SOURCE], {"documents": [{"content": SOURCE}]}])
def test_a_retriever_of_a_langfuse_trace_brings_its_source(given: Any) -> None:
    retriever = {"id": "o", "type": "RETRIEVER", "output": given}
    generation = {"id": "g", "type": "GENERATION", "input": ASKED, "output": SAID}
    trace = {"id": "t", "input": ASKED, "output": SAID, "observations": [retriever, generation]}
    (found,) = format_named("langfuse").answers(json.dumps(trace).encode(), Received(NOW))
    assert [chunk.content for chunk in found.answer.contexts or ()] == [SOURCE]
