"""Spans as clients write them that no recording holds: sources and answers arrive, markers and steps do not."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from workers.gateways.adapted import Adapted, Received
from workers.gateways.errors import NothingToJudge
from workers.gateways.formats import format_named

NOW = datetime(2026, 11, 20, tzinfo=UTC)
ASKED, SAID = "How long is the warranty?", "The warranty lasts 24 months."
SOURCE = "The warranty period is 24 months from delivery."
MESSAGES = json.dumps([{"role": "user", "content": ASKED}])


def span(place: int, attributes: dict[str, Any], parent: int = 0, **fields: Any) -> dict[str, Any]:
    def value(given: Any) -> Any:
        if isinstance(given, list) and isinstance(given[0], str):
            return {"arrayValue": {"values": [{"stringValue": each} for each in given]}}
        return {"stringValue": given if isinstance(given, str) else json.dumps(given)}

    return {
        "traceId": "a" * 32, "spanId": f"{place:016x}", "name": f"span {place}",
        "startTimeUnixNano": f"{1_794_000_000 + place}000000000", "endTimeUnixNano": f"{1_794_000_000 + place}500000000",
        "attributes": [{"key": name, "value": value(given)} for name, given in attributes.items()],
    } | ({"parentSpanId": f"{parent:016x}"} if parent else {}) | fields  # fmt: skip


def read(*spans: dict[str, Any]) -> list[Adapted]:
    export = {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}
    return format_named("otlp").answers(json.dumps(export).encode(), Received(NOW))


def langfuse(kind: str, given: Any, made: Any) -> dict[str, Any]:
    name = "langfuse.observation."
    return {f"{name}type": kind, f"{name}input": given, f"{name}output": made}


def entity(kind: str, name: str, made: Any) -> dict[str, Any]:
    return {"traceloop.span.kind": kind, "traceloop.entity.name": name, "traceloop.entity.output": made}


def events(name: str, **fields: str) -> list[Any]:
    told = [{"key": f"{name}.{key}", "value": {"stringValue": value}} for key, value in fields.items()]
    return [{"name": name, "attributes": told}]


CALL = span(8, langfuse("generation", MESSAGES, SAID))
SOURCES: dict[str, dict[str, Any]] = {
    "langfuse: a text": span(1, langfuse("retriever", ASKED, SOURCE)),
    "langfuse: texts": span(1, langfuse("retriever", ASKED, [SOURCE])),
    "langfuse: documents in an object": span(1, langfuse("retriever", ASKED, {"documents": [{"page_content": SOURCE}]})),
    "openllmetry: outputs of a retriever": span(1, entity("task", "VectorStoreRetriever", {"outputs": [{"page_content": SOURCE}]})),
    "openllmetry: documents in outputs": span(1, entity("task", "Retriever", {"outputs": {"documents": [{"text": SOURCE}]}})),
    "openllmetry: a task of the application": span(1, entity("task", "look_up", [{"text": SOURCE, "score": 0.9}])),
    "openllmetry: a vector store": span(1, {"db.system": "chroma"}, events=events("db.query.result", document=SOURCE, id="d")),
    "openllmetry: a search of a vector store": span(1, {"db.system": "milvus"}, events=events("db.search.result", document=SOURCE)),
    "vercel: ranking": span(1, {
        "ai.operationId": "ai.rerank.doRerank", "ai.documents": [json.dumps("Other."), json.dumps(SOURCE)],
        "ai.ranking": [json.dumps({"originalIndex": 1, "relevanceScore": 0.9}), json.dumps({"originalIndex": 7})],
    }),
    "openinference: output of a retriever": span(1, {
        "openinference.span.kind": "RETRIEVER", "output.value": json.dumps([{"page_content": SOURCE}])}),
    "conventions": span(1, {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": [json.dumps({"content": SOURCE})]}),
}  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_arrives_however_its_client_writes_it(name: str) -> None:
    (found,) = read(SOURCES[name], CALL)
    assert [chunk.content for chunk in found.answer.contexts or ()] == [SOURCE]


@pytest.mark.parametrize("made", [[{"role": "user", "content": ASKED}], [{"text": "Step one."}], ["Step one."], SAID])
def test_the_output_of_a_task_that_holds_no_documents_is_no_source(made: Any) -> None:
    (found,) = read(span(1, entity("task", "plan", made)), CALL)
    assert found.answer.contexts is None


@pytest.mark.parametrize(
    "attributes",
    [entity("tool", "search", SOURCE), langfuse("tool", "{}", SOURCE),
     {"openinference.span.kind": "TOOL", "output.value": SOURCE},
     {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result": SOURCE}],
)  # fmt: skip
def test_the_result_of_a_tool_is_a_source(attributes: dict[str, Any]) -> None:
    (found,) = read(span(1, attributes), CALL)
    assert [(chunk.source_type, chunk.content) for chunk in found.answer.contexts or ()] == [("tool", SOURCE)]


@pytest.mark.parametrize("of_span", [{}, langfuse("span", "{}", "done")])
def test_the_trace_of_langfuse_tells_the_answer(of_span: dict[str, Any]) -> None:
    root = span(1, {"langfuse.trace.input": ASKED, "langfuse.trace.output": SAID, **of_span})
    root["endTimeUnixNano"] = "1794000090000000000"
    steps = [span(place, langfuse("generation", MESSAGES, f"Draft {place}."), parent=1) for place in (2, 3)]
    (found,) = read(root, *steps)
    assert (found.answer.query, found.answer.answer) == (ASKED, SAID)
    assert len(found.answer.steps) == 1


def test_the_message_of_a_failed_generation_is_the_error() -> None:
    failed = langfuse("generation", MESSAGES, "") | {
        "langfuse.observation.level": "ERROR", "langfuse.observation.status_message": "overloaded",
    }  # fmt: skip
    (found,) = read(span(1, failed))
    assert (found.answer.status, found.answer.error) == ("error", "overloaded")


def test_messages_without_an_operation_are_a_call() -> None:
    spoken = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": SAID}]}])
    (found,) = read(span(1, {"gen_ai.input.messages": MESSAGES, "gen_ai.output.messages": spoken}))
    assert (found.answer.query, found.answer.answer) == (ASKED, SAID)


def test_thoughts_in_a_message_of_their_own_do_not_hide_the_answer() -> None:
    spoken = [
        {"role": "assistant", "parts": [{"type": "reasoning", "content": "24?"}]},
        {"role": "assistant", "parts": [{"type": "text", "content": SAID}]},
    ]
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": json.dumps(spoken)}
    (found,) = read(span(1, attributes))
    assert found.answer.answer == SAID


PROMPT = f"[[ ## context ## ]]\n{SOURCE}\n\n[[ ## question ## ]]\n{ASKED}\n\nRespond with the corresponding output fields, starting with the field `[[ ## reasoning ## ]]`, then `[[ ## answer ## ]]`, and then ending with the marker for `[[ ## completed ## ]]`."  # fmt: skip
MARKED = f"[[ ## reasoning ## ]]\nThe source says so.\n\n[[ ## answer ## ]]\n{SAID}\n\n[[ ## completed ## ]]"


@pytest.mark.parametrize(
    ("prompt", "said", "expected"),
    [
        (PROMPT, MARKED, (ASKED, SAID)),
        (ASKED, MARKED, (ASKED, SAID)),
        (PROMPT, f"[[ ## answer ## ]]\n{SAID}\n\n[[ ## completed ## ]]\n", (ASKED, SAID)),
        # Texts that DSPy did not ask for stay as they are.
        (ASKED, "[[ ## completed ## ]]", (ASKED, "[[ ## completed ## ]]")),
        (ASKED, f"[[ ## answer ## ]]\n{SAID}", (ASKED, f"[[ ## answer ## ]]\n{SAID}")),
        (ASKED, f"Write `[[ ## completed ## ]]` at the end. {SAID}", (ASKED, f"Write `[[ ## completed ## ]]` at the end. {SAID}")),
    ],
)  # fmt: skip
def test_marked_fields_of_dspy_are_no_part_of_question_and_answer(
    prompt: str, said: str, expected: tuple[str, str]
) -> None:
    pair = {
        "request": {"messages": [{"role": "user", "content": prompt}]},
        "response": {"choices": [{"message": {"content": said}}]},
    }
    (found,) = format_named("openai").answers(json.dumps(pair).encode(), Received(NOW))
    assert (found.answer.query, found.answer.answer) == expected
    (found,) = read(span(1, langfuse("generation", json.dumps([{"role": "user", "content": prompt}]), said)))
    assert (found.answer.query, found.answer.answer) == expected


SPOKEN = {"role": "assistant", "content": SAID}
CALLS: dict[str, dict[str, Any]] = {
    "logfire": {"request_data": {"model": "m", "messages": json.loads(MESSAGES)}, "response_data": {"message": SPOKEN}},
    "logfire, streamed": {"request_data": {"messages": json.loads(MESSAGES)}, "response_data": {"combined_chunk_content": SAID}},
    "pydantic ai, first format": {"gen_ai.operation.name": "chat", "events": json.dumps([
        {"event.name": "gen_ai.user.message", "role": "user", "content": ASKED},
        {"event.name": "gen_ai.choice", "index": 0, "message": SPOKEN}])},
    "google adk": {
        "gcp.vertex.agent.llm_request": {"contents": [{"role": "user", "parts": [{"text": ASKED}]}]},
        "gcp.vertex.agent.llm_response": {"content": {"role": "model", "parts": [{"text": SAID}]}}},
    "langsmith": {
        "gen_ai.operation.name": "chat", "gen_ai.prompt": {"messages": json.loads(MESSAGES)},
        "gen_ai.completion": {"generations": [[{"text": SAID, "message": {"kwargs": {"content": SAID}}}]]}},
    "langsmith, a body": {
        "gen_ai.operation.name": "chat", "gen_ai.prompt": {"messages": json.loads(MESSAGES)},
        "gen_ai.completion": {"choices": [{"message": SPOKEN}]}},
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_call_arrives_however_its_client_writes_it(name: str) -> None:
    (found,) = read(span(1, CALLS[name]))
    assert (found.answer.query, found.answer.answer, found.unread) == (ASKED, SAID, {})


def test_a_call_of_a_tool_in_the_form_of_google_adk_is_no_answer() -> None:
    parts = [{"text": "Let me look."}, {"functionCall": {"name": "find", "args": {}}}]
    asked = {"contents": [{"role": "user", "parts": [{"text": ASKED}]}]}
    with pytest.raises(NothingToJudge):
        read(
            span(
                1,
                {"gcp.vertex.agent.llm_request": asked, "gcp.vertex.agent.llm_response": {"content": {"parts": parts}}},
            )
        )


def test_a_part_of_a_call_that_is_read_is_not_reported_as_unread() -> None:
    part = span(9, {"llm.openai.messages": MESSAGES}, parent=8)
    assert read(CALL, part)[0].unread == {}
    assert read(CALL, {**part, "parentSpanId": ""})[0].unread == {"unknown_operation": 1}


@pytest.mark.parametrize("framework", ["strands-agents", "langchain", "gcp.vertex.agent", "pydantic-ai"])
def test_a_framework_is_no_provider(framework: str) -> None:
    model = "us.anthropic.claude-sonnet-4-20250514-v1:0"
    (found,) = read(
        span(1, {**CALLS["pydantic ai, first format"], "gen_ai.system": framework, "gen_ai.request.model": model})
    )
    assert (found.answer.model.id, found.answer.model.provider) == ("claude-sonnet-4-20250514", "bedrock")


FAILED_CALL = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.agent.name": "desk"}
STATUS = {"status": {"code": 2, "message": "RateLimited"}}


def test_the_question_of_an_agent_whose_call_failed_arrives() -> None:
    said = [
        {"role": "user", "parts": [{"type": "text", "content": "Which shop?"}]},
        {"role": "assistant", "parts": [{"type": "text", "content": "The one in York."}]},
        {"role": "user", "parts": [{"type": "text", "content": ASKED}]},
    ]
    agent = {"gen_ai.operation.name": "invoke_agent", "pydantic_ai.all_messages": json.dumps(said)}
    (found,) = read(span(1, agent, **STATUS), span(2, FAILED_CALL, parent=1, **STATUS))
    assert (found.answer.status, found.answer.query) == ("error", ASKED)
    assert [turn.content for turn in found.answer.conversation] == ["Which shop?", "The one in York."]


@pytest.mark.parametrize(
    ("attributes", "user"),
    [
        ({"metadata": json.dumps({"user_id": "u-1", "notes": "ü" * 50_000})}, "u-1"),
        ({"metadata": json.dumps({"user_id": "u-1"}), "user.id": "u-2"}, "u-2"),
        ({"metadata": "no JSON"}, None),
        ({"metadata": json.dumps(["user_id"])}, None),
    ],
)
def test_the_user_in_the_metadata_of_a_chain_arrives(attributes: dict[str, Any], user: str | None) -> None:
    chain = {"openinference.span.kind": "CHAIN", "input.value": ASKED, "output.value": SAID, **attributes}
    call = {"openinference.span.kind": "LLM", "llm.output_messages.0.message.content": SAID}
    (found,) = read(span(1, chain), span(2, call, parent=1))
    assert found.answer.user_id == user


STREAMED = ["<generator object>", "<async_generator object ask at 0x7f6fa9e83490>", "<openai.Stream object at 0x7f6f>"]


@pytest.mark.parametrize("kind", ["CHAIN", "AGENT"])
@pytest.mark.parametrize("shape", ["a text", "in an object"])
@pytest.mark.parametrize("streamed", STREAMED)
def test_the_answer_of_a_stream_is_the_text_of_its_call(streamed: str, shape: str, kind: str) -> None:
    made = streamed if shape == "a text" else json.dumps({"response_gen": streamed, "source_nodes": []})
    outer = {"openinference.span.kind": kind, "input.value": ASKED, "output.value": made}
    inner = {"openinference.span.kind": "CHAIN", "input.value": ASKED, "output.value": streamed}
    call = {"openinference.span.kind": "LLM", "llm.prompts": ["Context information is below."], "output.value": SAID}
    (found,) = read(span(1, outer), span(2, inner, parent=1), span(3, call, parent=2))
    assert (found.answer.query, found.answer.answer) == (ASKED, SAID)
    assert found.answer.answer_id.endswith(f"{1:016x}")


@pytest.mark.parametrize("streamed", STREAMED)
def test_a_call_that_tells_no_more_than_its_stream_has_not_sent_its_text(streamed: str) -> None:
    call = {"openinference.span.kind": "LLM", "input.value": ASKED, "output.value": streamed}
    (found,) = read(span(1, call))
    assert (found.answer.answer, found.answer.withheld) == ("", ["answer"])


def test_a_chain_whose_call_failed_is_one_failed_question() -> None:
    chain = {"openinference.span.kind": "CHAIN", "input.value": ASKED}
    call = {"openinference.span.kind": "LLM", "llm.prompts": ["Context information is below."]}
    draft = {
        "openinference.span.kind": "LLM",
        "llm.prompts": ["Rewrite it."],
        "output.value": "How long is a warranty?",
    }
    (found,) = read(
        span(1, chain, **STATUS), span(2, draft, parent=1), span(3, chain, parent=1, **STATUS), span(4, call, parent=3, **STATUS)
    )  # fmt: skip
    assert (found.answer.status, found.answer.query, found.answer.answer) == ("error", ASKED, "")


def test_a_failed_chain_without_a_question_leaves_its_calls_apart() -> None:
    calls = [
        {"openinference.span.kind": "LLM", "llm.input_messages.0.message.content": ASKED, "output.value": said}
        for said in (SAID, "36 months.")
    ]
    found = read(
        span(1, {"openinference.span.kind": "CHAIN"}, **STATUS), span(2, calls[0], parent=1), span(3, calls[1], parent=1)
    )  # fmt: skip
    assert [each.answer.answer for each in found] == [SAID, "36 months."]


def haystack(data: Any, **fields: Any) -> dict[str, Any]:
    made = {"llm": {"replies": [f"ChatMessage(_content=[TextContent(text='{SAID}')])"]}}
    chain = {
        "openinference.span.kind": "CHAIN",
        "input.value": json.dumps({"data": data}),
        "output.value": json.dumps(made),
    }
    return span(1, chain, **fields)


def rendered(place: int, said: str, **fields: Any) -> dict[str, Any]:
    call = {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.content": f"Documents: {SOURCE} Question: {ASKED}",
        "llm.output_messages.0.message.content": said,
    }
    return span(place, call, parent=1, **fields)


@pytest.mark.parametrize(
    "data",
    [
        {"retriever": {"query": ASKED}, "prompt": {"question": ASKED}},
        {"embedder": {"text": ASKED}},
        {"query": ASKED, "top_k": 3},
        {"top": {"top_k": 3}, "prompt": {"question": ASKED}},
    ],
)
def test_the_question_of_a_pipeline_of_haystack_is_that_of_its_data(data: Any) -> None:
    (found,) = read(haystack(data), rendered(2, "Garantie Dauer"), rendered(3, SAID))
    assert (found.answer.query, found.answer.answer) == (ASKED, SAID)
    (failed,) = read(haystack(data, **STATUS), rendered(2, "", **STATUS))
    assert (failed.answer.query, failed.answer.status) == (ASKED, "error")


def test_a_pipeline_of_haystack_whose_data_hold_no_question_leaves_its_calls_apart() -> None:
    (found,) = read(haystack({"top": {"top_k": 3}}), rendered(2, SAID))
    assert SOURCE in found.answer.query


def test_a_list_with_the_response_of_a_stream_is_read() -> None:
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": SAID}]}
    response = {"id": "__fake_id__", "status": None, "output": [message]}
    step = {"id": "__fake_id__", "status": None, "output": [{"type": "function_call", "call_id": "c", "name": "look"}]}
    agent = span(1, {"openinference.span.kind": "AGENT"})
    calls = [
        {"openinference.span.kind": "LLM", "input.value": ASKED, "output.value": json.dumps([made])}
        for made in (step, response)
    ]
    (found,) = read(agent, span(2, calls[0], parent=1), span(3, calls[1], parent=1))
    assert (found.answer.query, found.answer.answer) == (ASKED, SAID)
