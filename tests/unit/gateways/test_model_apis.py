"""Responses and requests of further model services, and results of tools in each of their forms."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from workers.evaluation.citations.citation_finder import find_citations
from workers.gateways.adapted import Adapted, Received
from workers.gateways.callback import _with_caller_fields
from workers.gateways.errors import NothingToJudge, UnadaptableRecord
from workers.gateways.formats import format_named

NOW = datetime(2026, 11, 3, tzinfo=UTC)
CONVERSE = {"output": {"message": {"role": "assistant", "content": [{"text": "24 months."}]}}, "stopReason": "end_turn"}
COHERE = {"id": "1", "finish_reason": "COMPLETE", "message": {"role": "assistant", "content": [{"type": "text", "text": "24."}]}}  # fmt: skip
CHAT = {"choices": [{"message": {"role": "assistant", "content": "24 months."}}]}


def read(name: str, response: Any, **beside: Any) -> Adapted:
    (found,) = format_named(name).answers(json.dumps({"response": response} | beside).encode(), Received(NOW))
    return found


def contexts(found: Adapted) -> list[str]:
    return [chunk.content for chunk in found.answer.contexts or ()]


@pytest.mark.parametrize("name", ["openai", "anthropic", "google"])
@pytest.mark.parametrize(("response", "service"), [(CONVERSE, "bedrock"), (COHERE, "cohere")])
def test_a_response_of_a_service_with_a_format_of_its_own_is_refused_in_another(
    name: str, response: Any, service: str
) -> None:
    with pytest.raises(UnadaptableRecord, match=f"response has the shape of {service}; send it in the format") as error:
        read(name, response)
    assert error.value.field == "response"
    assert read(service, response).answer.model.provider == service


@pytest.mark.parametrize(
    ("name", "response", "field"),
    [
        ("bedrock", {"output": {"message": {"content": "24."}}, "stopReason": "end_turn"}, "output.message.content"),
        ("bedrock", {"output": {"message": {"content": [{"hologram": 1}]}}}, "output.message.content.0"),
        ("bedrock", {"outputText": "24."}, ""),
        ("cohere", COHERE | {"message": {"content": [{"type": "hologram"}]}}, "message.content.0"),
        ("cohere", COHERE | {"message": {"content": {"text": "24."}}}, "message.content"),
        ("google", {"status": "completed", "steps": [{"type": "hologram"}]}, "steps.0"),
        ("google", {"status": "completed", "steps": [{"type": "model_output", "content": [{"type": "x"}]}]}, "steps.0.content.0"),
    ],
)  # fmt: skip
def test_an_unknown_part_is_refused(name: str, response: Any, field: str) -> None:
    with pytest.raises(UnadaptableRecord, match="unknown shape") as error:
        read(name, response)
    assert error.value.field == f"response.{field}".rstrip(".")


@pytest.mark.parametrize(
    ("name", "response"),
    [
        ("bedrock", {"output": {"message": {"content": [{"text": "Let me see."}, {"toolUse": {"toolUseId": "1"}}]}},
                     "stopReason": "tool_use"}),
        ("cohere", COHERE | {"finish_reason": "TOOL_CALL", "message": {"tool_plan": "I search.", "tool_calls": [{"id": "1"}]}}),
        ("google", {"status": "requires_action", "steps": [{"type": "model_output", "content": [{"type": "text", "text": "Let me see."}]},
                                                          {"type": "function_call", "name": "f", "id": "1"}]}),
    ],
)  # fmt: skip
def test_a_response_that_calls_a_tool_is_no_answer(name: str, response: Any) -> None:
    with pytest.raises(NothingToJudge, match="tool_call"):
        read(name, response)


def test_a_streamed_response_of_bedrock_is_one_answer() -> None:
    stream = [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "24 "}}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "months."}}},
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"messageStop": {"stopReason": "end_turn"}},
        {"metadata": {"usage": {"inputTokens": 4, "outputTokens": 2}}},
    ]
    answer = read("bedrock", stream).answer
    assert (answer.answer, answer.finish_reason) == ("24 months.", "end_turn")
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (4, 2)


def test_an_interaction_of_google_has_an_answer_with_results_of_its_tools() -> None:
    steps = [
        {"type": "user_input", "content": [{"type": "text", "text": "How long?"}]},
        {"type": "thought", "signature": "x"},
        {"type": "file_search_call", "id": "1"},
        {"type": "file_search_result", "call_id": "1", "result": [{"title": "Terms", "text": "24 months."}]},
        {"type": "mcp_server_tool_result", "call_id": "2", "name": "terms", "result": "Batteries are excluded."},
        {"type": "model_output", "content": [{"type": "text", "text": "24 months, "}, {"type": "text", "text": "no batteries."}]},
    ]  # fmt: skip
    response = {"id": "v1_1", "model": "gemini-3-flash", "status": "completed", "steps": steps,
                "usage": {"total_input_tokens": 9, "total_output_tokens": 5}}  # fmt: skip
    found = read("google", response, request={"model": "gemini-3-flash", "input": "How long?"})
    answer = found.answer
    assert (answer.query, answer.answer) == ("How long?", "24 months, no batteries.")
    assert contexts(found) == ["24 months.", "Batteries are excluded."]
    assert (answer.answer_id, answer.model.id, answer.usage and answer.usage.prompt_tokens) == ("v1_1", "gemini-3-flash", 9)  # fmt: skip


def test_a_call_of_coheres_first_chat_is_read_with_its_documents_and_citations() -> None:
    request: dict[str, Any] = {
        "model": "command-r", "message": "And after that?", "documents": [{"title": "Bread", "snippet": "36 hours at 4 °C."}],
        "chat_history": [{"role": "USER", "message": "How long?"}, {"role": "CHATBOT", "message": "36 hours."}],
    }  # fmt: skip
    response: dict[str, Any] = {
        "response_id": "r-1", "generation_id": "g-1", "text": "Bake it within 36 hours.", "finish_reason": "COMPLETE",
        "citations": [{"start": 8, "end": 23, "text": "within 36 hours", "document_ids": ["doc_0"]}],
        "documents": [{"id": "doc_0", "title": "Bread", "snippet": "36 hours at 4 °C."}],
        "meta": {"tokens": {"input_tokens": 30, "output_tokens": 6}},
    }  # fmt: skip
    found = read("cohere", response, request=request)
    answer = found.answer
    assert (answer.query, answer.answer, answer.answer_id) == ("And after that?", "Bake it within 36 hours.", "r-1")
    assert [(turn.role, turn.content) for turn in answer.conversation] == [
        ("user", "How long?"),
        ("assistant", "36 hours."),
    ]
    assert contexts(found) == ["36 hours at 4 °C."]
    (cited,) = answer.citations
    assert (cited.number, answer.answer[cited.start : cited.end]) == (1, "within 36 hours")
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (30, 6)
    assert contexts(read("cohere", response | {"documents": []}, request=request)) == ["36 hours at 4 °C."]
    with pytest.raises(NothingToJudge, match="tool_call"):
        read("cohere", response | {"text": "I search.", "tool_calls": [{"name": "search", "parameters": {}}]})
    with pytest.raises(UnadaptableRecord, match="response has the shape of cohere"):
        read("openai", response)


def test_the_output_of_an_mcp_call_is_a_context() -> None:
    output = [
        {"type": "mcp_call", "id": "mcp_1", "name": "terms", "server_label": "docs", "arguments": "{}", "output": "24 months."},
        {"type": "message", "content": [{"type": "output_text", "text": "24 months.", "annotations": []}]},
    ]  # fmt: skip
    found = read("openai", {"id": "resp-1", "status": "completed", "output": output})
    assert contexts(found) == ["24 months."]
    failed = [{**output[0], "output": None, "error": {"type": "mcp_tool_execution_error"}}, output[1]]
    chunk = (read("openai", {"id": "resp-1", "status": "completed", "output": failed}).answer.contexts or [])[0]
    assert chunk.tool is not None
    assert (chunk.source_type, chunk.tool.status, chunk.tool.error) == ("tool", "error", "mcp_tool_execution_error")


@pytest.mark.parametrize(
    "message",
    [
        {"role": "tool", "tool_call_id": "1", "content": "24 months."},
        {"role": "tool", "content": [{"type": "text", "text": "24 months."}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "24 months."}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "1", "content": [{"text": "24 months."}]}}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "1", "output": {"type": "text", "value": "24 months."}}]},
        {"type": "function_call_output", "call_id": "1", "output": "24 months."},
        {"type": "function_result", "call_id": "1", "result": "24 months."},
        {"type": "mcp_call", "id": "1", "output": "24 months."},
    ],
)  # fmt: skip
def test_the_result_of_a_tool_is_a_context_in_every_form(message: Any) -> None:
    messages = [{"role": "user", "content": "How long?"}, message]
    found = read("openai", CHAT, request={"messages": messages})
    assert contexts(found) == ["24 months."]
    assert found.answer.query == "How long?"


@pytest.mark.parametrize("name", ["functionResponse", "function_response"])
def test_a_function_response_of_google_is_a_context(name: str) -> None:
    part = {name: {"name": "search", "response": {"result": "24 months."}}}
    request = {"contents": [{"role": "user", "parts": [{"text": "How long?"}]}, {"role": "user", "parts": [part]}]}
    response = {"candidates": [{"content": {"parts": [{"text": "24 months."}]}, "finishReason": "STOP"}]}
    found = read("google", response, request=request)
    assert contexts(found) == ['{"result":"24 months."}'], "JSON stays JSON"
    assert found.answer.query == "How long?"


# ---------------------------------------------------------------- LiteLLM without the proxy


def test_plain_metadata_of_a_call_reaches_the_payload_and_the_proxys_own_wins() -> None:
    kwargs = {"litellm_params": {"metadata": {"contexts": ["24 months."], "session_id": "s", "secret": "x"}}}
    payload = {"id": "1", "metadata": {"requester_metadata": {"session_id": "of the proxy"}}}
    made = _with_caller_fields(payload, kwargs)
    assert made["metadata"]["requester_metadata"] == {"contexts": ["24 months."], "session_id": "of the proxy"}
    assert payload["metadata"]["requester_metadata"] == {"session_id": "of the proxy"}, "litellm's payload is untouched"
    for nothing in ({}, {"litellm_params": None}, {"litellm_params": {"metadata": None}}):
        assert _with_caller_fields(payload, nothing) is payload
    assert _with_caller_fields(None, kwargs) is None


def test_contexts_in_the_plain_metadata_of_a_payload_are_read() -> None:
    payload = {"id": "1", "status": "success", "startTime": 1793606043, "call_type": "completion", "messages": [],
               "response": CHAT, "metadata": {"contexts": ["24 months."]}}  # fmt: skip
    (found,) = format_named("litellm").answers(json.dumps(payload).encode(), Received(NOW))
    assert contexts(found) == ["24 months."]


# ---------------------------------------------------------------- texts around calls of tools


def test_texts_around_a_call_of_a_tool_are_separated_and_citations_stay_in_place() -> None:
    citation = {"type": "web_search_result_location", "url": "https://e.org", "cited_text": "24 months"}
    content = [
        {"type": "text", "text": "I search."}, {"type": "server_tool_use", "id": "1", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "1", "content": []},
        {"type": "text", "text": "It is "}, {"type": "text", "text": "24 months", "citations": [citation]},
        {"type": "text", "text": "."},
    ]  # fmt: skip
    answer = read("anthropic", {"type": "message", "stop_reason": "end_turn", "content": content}).answer
    assert answer.answer == "I search. It is 24 months."
    (cited,) = answer.citations
    assert answer.answer[cited.start : cited.end] == "24 months"


def test_messages_around_a_search_are_separated() -> None:
    def message(said: str, *annotations: Any) -> Any:
        return {"type": "message", "content": [{"type": "output_text", "text": said, "annotations": list(annotations)}]}

    search = {"type": "file_search_call", "results": [{"file_id": "f", "text": "24 months."}]}
    cite = {"type": "file_citation", "file_id": "f", "index": 10}
    answer = read("openai", {"status": "completed", "output": [message("I search."), search, message("24 months.", cite)]}).answer  # fmt: skip
    assert answer.answer == "I search. 24 months."
    (cited,) = answer.citations
    assert answer.answer[cited.start : cited.end] == "."


def test_parts_around_code_are_separated_and_segments_stay_in_place() -> None:
    parts = [{"text": "I count."}, {"executableCode": {"code": "1"}}, {"codeExecutionResult": {"output": "1"}}, {"text": "It is 24."}]  # fmt: skip
    grounding = {
        "groundingChunks": [{"retrievedContext": {"text": "24.", "title": "Terms"}}],
        "groundingSupports": [
            {
                "segment": {"partIndex": 3, "startIndex": 0, "endIndex": 9, "text": "It is 24."},
                "groundingChunkIndices": [0],
            }
        ],
    }
    candidate = {"content": {"parts": parts}, "finishReason": "STOP", "groundingMetadata": grounding}
    answer = read("google", {"candidates": [candidate]}).answer
    assert answer.answer == "I count. It is 24."
    (cited,) = answer.citations
    assert answer.answer[cited.start : cited.end] == "It is 24."


# ---------------------------------------------------------------- calls that end within the response

SEARCHED = {"id": "srvtoolu_1", "index": 0, "type": "function", "function": {"name": "web_search", "arguments": ""}}
REST = {"index": 0, "function": {"arguments": "{}"}}
OWN = {"id": "toolu_2", "index": 1, "type": "function", "function": {"name": "find", "arguments": "{}"}}


def test_an_answer_beside_a_search_of_the_service_is_an_answer() -> None:
    said = {"role": "assistant", "content": "24 months.", "tool_calls": [SEARCHED]}
    whole = {"id": "r", "choices": [{"finish_reason": "stop", "message": said}]}
    assert read("openai", whole).answer.answer == "24 months."
    said["tool_calls"] = [SEARCHED, OWN]
    with pytest.raises(NothingToJudge):
        read("openai", whole)


def test_a_stream_beside_a_search_of_the_service_is_an_answer() -> None:
    deltas: list[Any] = [{"tool_calls": [SEARCHED]}, {"tool_calls": [REST]}, {"content": "24 months."}]
    chunks = [{"id": "r", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    assert read("openai", chunks).answer.answer == "24 months."
    chunks.append({"id": "r", "choices": [{"index": 0, "delta": {"tool_calls": [OWN]}}]})
    with pytest.raises(NothingToJudge):
        read("openai", chunks)


def test_a_search_of_nova_is_no_call_of_the_caller() -> None:
    call = {"toolUseId": "t", "name": "nova_grounding", "input": {}, "type": "server_tool_use"}
    content = [{"toolUse": call}, {"text": "24 months."}]
    whole = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "end_turn"}
    assert read("bedrock", whole).answer.answer == "24 months."
    events = [
        {"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": call}}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": "{}"}}}},
        {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"text": "24 months."}}},
        {"messageStop": {"stopReason": "end_turn"}},
    ]
    assert read("bedrock", events).answer.answer == "24 months."
    del call["type"]
    for response in (whole, events):
        with pytest.raises(NothingToJudge):
            read("bedrock", response)


PAGE = "https://museum.example/hours"
LINKED = f"It opens at 9 ([hours]({PAGE}?utm_source=x)), see {PAGE} and https://made.up/page."
WEB_PAGES = [
    (
        "openai",
        {
            "output": [
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [
                        {
                            "type": "output_text",
                            "text": LINKED,
                            "annotations": [{"type": "url_citation", "url": f"{PAGE}?utm_source=x", "title": "Hours"}],
                        }
                    ],
                }
            ],
            "status": "completed",
        },
    ),
    (
        "google",
        {
            "candidates": [
                {
                    "content": {"role": "model", "parts": [{"text": LINKED}]},
                    "groundingMetadata": {
                        "groundingChunks": [{"web": {"uri": f"{PAGE}?utm_source=x"}}],
                        "groundingSupports": [{"groundingChunkIndices": [0], "segment": {"endIndex": 13}}],
                    },
                }
            ]
        },
    ),
    (
        "bedrock",
        {
            "output": {
                "message": {
                    "role": "assistant",
                    "content": [
                        {
                            "citationsContent": {
                                "content": [{"text": LINKED}],
                                "citations": [{"location": {"web": {"url": f"{PAGE}?utm_source=x"}}}],
                            }
                        }
                    ],
                }
            },
            "stopReason": "end_turn",
        },
    ),
]


@pytest.mark.parametrize(("name", "response"), WEB_PAGES, ids=[name for name, _ in WEB_PAGES])
def test_a_link_to_a_page_that_the_service_cites_and_does_not_send_is_not_made_up(name: str, response: Any) -> None:
    found = read(name, response).answer
    assert found.metadata["record"]["citations_without_content"] == 1
    assert [each.marker for each in find_citations(found).invalid_references] == ["https://made.up/page"]
