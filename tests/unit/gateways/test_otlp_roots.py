"""One answer for one question: roots, steps, tools, second instrumentations, evaluations, and several questions."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.thresholds import GroundingThresholds
from workers.gateways.adapted import Adapted, Received
from workers.gateways.errors import NothingToJudge, UnadaptableRecord
from workers.gateways.formats import format_named

NOW = datetime(2026, 11, 3, tzinfo=UTC)
BEGIN = 1_793_606_043
KIND = "openinference.span.kind"


def span(number: int, parent: int = 0, at: float = 0, seconds: float = 1, trace: str = "a", **more: Any) -> Any:
    """A span with a number as its identifier; ``__`` in the names of attributes stands for a dot."""
    status = {"code": 2} if more.pop("failed", False) else {}
    values = {name.replace("__", "."): value for name, value in more.items()}
    attributes = [
        {"key": key, "value": {"stringValue": value if isinstance(value, str) else json.dumps(value)}}
        for key, value in values.items()
    ]
    return {
        "traceId": trace * 32,
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
        "name": f"span {number}",
        "startTimeUnixNano": str(int((BEGIN + at) * 1e9)),
        "endTimeUnixNano": str(int((BEGIN + at + seconds) * 1e9)),
        "status": status,
        "attributes": attributes,
    }


def frame(number: int, parent: int = 0, kind: str = "CHAIN", **more: Any) -> Any:
    return span(number, parent, openinference__span__kind=kind, **more)


def call(number: int, parent: int = 0, asked: str = "Q?", said: Any = "An answer.", **more: Any) -> Any:
    message = {"role": "assistant", "content": said} if isinstance(said, str | None) else said
    return span(
        number,
        parent,
        gen_ai__operation__name="chat",
        gen_ai__input__messages=[{"role": "user", "content": asked}],
        gen_ai__output__messages=[message],
        **more,
    )


def retrieval(number: int, parent: int, text: str, **more: Any) -> Any:
    return span(number, parent, gen_ai__retrieval__documents=[{"id": text, "content": text}], **more)


def answers(*spans: Any) -> list[Adapted]:
    export = {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}
    return format_named("otlp").answers(json.dumps(export).encode(), Received(NOW))


def said(*spans: Any) -> list[str]:
    return [each.answer.answer for each in answers(*spans)]


CALLS_TOOL = {"role": "assistant", "content": "Let me look that up.", "tool_calls": [{"id": "1"}]}


def test_what_a_program_makes_of_its_models_text_is_the_answer() -> None:
    raw = "[[ ## reasoning ## ]]\nTerms.\n\n[[ ## answer ## ]]\n24 months.\n\n[[ ## completed ## ]]"
    root = frame(1, input__value={"question": "How long?"}, output__value={"reasoning": "Terms.", "answer": "24 months."},
                 seconds=9)  # fmt: skip
    outer, inner = call(2, 1, said=raw, seconds=5), call(3, 2, said=raw, at=1, seconds=2)
    (found,) = answers(inner, outer, root)
    assert (found.answer.answer, found.answer.query) == ("24 months.", "How long?")
    assert found.answer.answer_id == f"{'a' * 32}-{1:016x}"
    assert [step.name for step in found.answer.steps] == ["span 2"]


def test_the_same_call_in_a_call_is_one_answer() -> None:
    assert said(call(1, seconds=5), call(2, 1, at=1)) == ["An answer."]


def test_the_same_call_in_a_trace_of_another_instrumentation_is_one_answer() -> None:
    text = "The warranty lasts 24 months."
    root = frame(1, output__value=text, seconds=9)
    other = call(4, trace="b", said=text, at=2, seconds=1)
    assert said(root, call(2, 1, said=text, at=1, seconds=4), other) == [text]
    later = call(4, trace="b", said=text, at=20)
    assert said(root, call(2, 1, said=text, at=1, seconds=4), later) == [text, text], "another call with the same text"


@pytest.mark.parametrize("reasons", [None, ["tool_use"], ["tool_calls"], ["tool-calls"]])
def test_a_call_that_asks_for_a_tool_is_no_answer_whatever_it_says(reasons: Any) -> None:
    message = CALLS_TOOL if reasons is None else {"role": "assistant", "content": "Let me look that up."}
    more = {} if reasons is None else {"said": message | {"finish_reason": reasons[0]}}
    with pytest.raises(NothingToJudge, match="tool_call"):
        answers(call(1, **({"said": message} | more)))
    assert said(call(1, **({"said": message} | more)), call(2, at=2)) == ["An answer."]


@pytest.mark.parametrize(
    ("name", "response"),
    [
        ("anthropic", {"type": "message", "stop_reason": "tool_use", "content": [
            {"type": "text", "text": "Let me look that up."}, {"type": "tool_use", "id": "1", "name": "f", "input": {}}]}),
        ("anthropic", {"type": "message", "stop_reason": "tool_use", "content": [{"type": "text", "text": "Let me see."}]}),
        ("openai", {"choices": [{"finish_reason": "tool_calls", "message": CALLS_TOOL}]}),
        ("openai", {"output": [{"type": "message", "content": [{"type": "output_text", "text": "Let me see."}]},
                               {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}]}),
        ("google", {"candidates": [{"finishReason": "STOP", "content": {"parts": [
            {"text": "Let me see."}, {"functionCall": {"name": "f", "args": {}}}]}}]}),
    ],
)  # fmt: skip
def test_a_response_that_calls_a_tool_is_no_answer_whatever_it_says(name: str, response: Any) -> None:
    with pytest.raises(NothingToJudge, match="tool_call"):
        format_named(name).answers(json.dumps({"response": response}).encode(), Received(NOW))


def test_a_tool_of_the_service_ends_within_the_response_and_its_text_is_the_answer() -> None:
    content = [{"type": "server_tool_use", "id": "1", "name": "web_search", "input": {}},
               {"type": "web_search_tool_result", "tool_use_id": "1", "content": []}, {"type": "text", "text": "Found."}]  # fmt: skip
    response = {"type": "message", "stop_reason": "end_turn", "content": content}
    (found,) = format_named("anthropic").answers(json.dumps({"response": response}).encode(), Received(NOW))
    assert found.answer.answer == "Found."


def test_an_agent_without_an_output_of_its_own_has_that_of_its_last_call() -> None:
    agent = frame(1, kind="AGENT", seconds=9)
    assert said(agent, call(2, 1, said=CALLS_TOOL), call(3, 1, said="Second.", at=2), call(4, 1, said="Third.", at=4)) == [
        "Third."
    ]  # fmt: skip


def test_a_batch_without_an_output_of_its_own_has_an_answer_for_each_question() -> None:
    batch = frame(1, seconds=9)
    first, second = frame(2, 1, output__value="First."), frame(3, 1, output__value="Second.", at=2)
    assert said(batch, first, call(4, 2, said="x"), second, call(5, 3, said="y", at=2)) == ["First.", "Second."]


def test_calls_around_which_no_framework_is_are_answers_each() -> None:
    root = span(1, seconds=9)
    assert said(root, call(2, 1, said="One answer."), call(3, 1, said="Other answer.", at=2)) == [
        "One answer.",
        "Other answer.",
    ]


def test_a_question_that_a_model_rewrote_is_a_step() -> None:
    rewritten = "How long is the warranty of the pump?"
    first = call(1, asked="Rewrite: how long?", said=rewritten)
    (found,) = answers(first, call(2, asked=f"Answer: {rewritten}", said="24 months.", at=2))
    assert found.answer.answer == "24 months."
    assert [step.output for step in found.answer.steps] == [rewritten]
    earlier = call(2, asked=f"Answer: {rewritten}", said="24 months.", at=-5)
    assert len(answers(first, earlier)) == 2, "a step comes before what it is a step to"


def test_a_short_text_that_a_question_holds_by_chance_is_no_step() -> None:
    assert len(answers(call(1, said="Yes."), call(2, asked="Yes. And more?", at=2))) == 2


@pytest.mark.parametrize("kind", ["EVALUATOR", "GUARDRAIL"])
def test_a_call_of_another_evaluation_is_no_answer(kind: str) -> None:
    assert said(call(1), frame(2, kind=kind, at=2), call(3, 2, said="faithful: yes", at=2)) == ["An answer."]


def test_sources_of_one_question_are_none_of_the_next_in_its_trace() -> None:
    first = [frame(2, 1, output__value="First."), retrieval(3, 2, "one", seconds=0.1), call(4, 2, at=0.2, seconds=0.5)]
    second = [frame(5, 1, output__value="Second.", at=5), retrieval(6, 5, "two", at=5, seconds=0.1), call(7, 5, at=6)]
    found = answers(span(1, seconds=20), *first, *second)
    assert [[chunk.content for chunk in each.answer.contexts or ()] for each in found] == [["one"], ["two"]]


def test_sources_beside_the_root_are_those_of_the_question() -> None:
    beside = retrieval(2, 1, "one", seconds=0.1)
    (found,) = answers(span(1, seconds=20), beside, frame(3, 1, output__value="First.", at=1), call(4, 3, at=1))
    assert [chunk.content for chunk in found.answer.contexts or ()] == ["one"]


def test_a_question_failed_if_its_root_did_and_not_if_a_step_was_tried_again() -> None:
    root = frame(1, output__value="Done.", seconds=9)
    (found,) = answers(root, call(2, 1, said=None, failed=True), call(3, 1, at=2))
    assert (found.answer.status, found.answer.answer) == ("success", "Done.")
    (found,) = answers(frame(1, kind="AGENT", seconds=9, failed=True), call(2, 1))
    assert (found.answer.status, found.answer.answer) == ("error", "")
    (found,) = answers(call(2, said=None, failed=True))
    assert found.answer.status == "error"


def test_two_spans_that_name_each_other_as_parents_end_the_search() -> None:
    assert len(answers(frame(1, 2), frame(2, 1), call(3, 1))) == 1


@pytest.mark.parametrize(
    "message",
    [{"role": "assistant", "parts": [{"type": "hologram", "light": "Yes."}]}, {"role": "assistant", "content": {"a": 1}},
     {"completion": "Yes."}, 7],
)  # fmt: skip
def test_a_message_of_an_unknown_shape_is_refused_and_costs_no_other_answer(message: Any) -> None:
    odd = span(1, gen_ai__operation__name="chat", gen_ai__output__messages=[message])
    with pytest.raises(UnadaptableRecord, match=r"gen_ai\.output\.messages has an unknown shape"):
        answers(odd)
    (found,) = answers(odd, call(2, trace="b"))
    assert found.refused == 1


def test_a_message_that_is_empty_in_a_known_shape_is_an_empty_answer() -> None:
    (found,) = answers(call(1, said={"role": "assistant", "parts": [], "finish_reason": "length"}))
    assert (found.answer.answer, found.answer.withheld, found.answer.finish_reason) == ("", [], "length")


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ({"choices": [{"message": {"role": "assistant", "content": "Yes."}}]}, "Yes."),
        ({"type": "message", "content": [{"type": "text", "text": "Yes."}], "stop_reason": "end_turn"}, "Yes."),
        ({"candidates": [{"content": {"parts": [{"text": "Yes."}]}, "finishReason": "STOP"}]}, "Yes."),
        ([{"role": "assistant", "content": "Yes."}], "Yes."),
        ({"role": "assistant", "content": "Yes."}, "Yes."),
        ("Yes.", "Yes."),
    ],
)
def test_the_output_value_of_a_call_is_read_in_every_form_of_a_response(output: Any, expected: str) -> None:
    assert said(frame(1, kind="LLM", output__value=output)) == [expected]


def test_spans_of_mlflow_are_read() -> None:
    """MLflow writes every attribute as JSON, and a traced function has the type UNKNOWN."""
    (found,) = answers(
        span(1, mlflow__spanType='"UNKNOWN"', mlflow__spanInputs={"question": "Q?"}, mlflow__spanOutputs='"Yes."', seconds=9),
        span(2, 1, mlflow__spanType='"RETRIEVER"', mlflow__spanInputs={"query": "Q?"},
             mlflow__spanOutputs=[{"page_content": "It is.", "metadata": {"doc_uri": "a.md"}, "id": "d1"}]),
        span(3, 1, at=2, mlflow__spanType='"CHAT_MODEL"',
             mlflow__spanInputs={"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Q?"}]},
             mlflow__spanOutputs={"model": "gpt-4o-mini-2024-07-18", "choices": [{"message": {"content": "Yes."}}]},
             mlflow__chat__tokenUsage={"input_tokens": 12, "output_tokens": 2, "total_tokens": 14},
             mlflow__llm__model='"gpt-4o-mini"', mlflow__llm__provider='"openai"'),
    )  # fmt: skip
    answer = found.answer
    assert (answer.query, answer.answer, [each.content for each in answer.contexts or ()]) == ("Q?", "Yes.", ["It is."])
    assert (answer.model.id, answer.model.provider) == ("gpt-4o-mini", "openai")
    assert answer.usage is not None and (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (12, 2)


# ---------------------------------------------------------------- what is not evaluated


def test_calls_without_content_are_counted_and_steps_are_not() -> None:
    silent = span(1, gen_ai__operation__name="chat", gen_ai__request__model="m")
    (found,) = answers(silent)
    assert (found.answer.withheld, dict(found.unread)) == (["answer", "query"], {"no_content": 1})
    step = span(2, 3, gen_ai__operation__name="chat", gen_ai__request__model="m")
    (found,) = answers(step, frame(3, output__value="Yes."))
    assert dict(found.unread) == {}


def test_a_call_for_a_tool_without_content_is_a_step() -> None:
    with pytest.raises(NothingToJudge, match="tool_call") as nothing:
        answers(span(1, gen_ai__operation__name="chat", llm__finish_reason="tool_calls"))
    assert dict(nothing.value.unread) == {}


@pytest.mark.parametrize(
    "attributes",
    [{"gen_ai__operation__name": "divine"}, {"openinference__span__kind": "ORACLE"}, {"gen_ai__request__model": "m"},
     {"llm__model_name": "m"}, {"mlflow__spanType": '"ORACLE"'}, {"traceloop__span__kind": "unknown"}],
)  # fmt: skip
def test_spans_of_an_unknown_operation_are_counted_and_those_of_other_libraries_are_not(attributes: Any) -> None:
    with pytest.raises(NothingToJudge) as nothing:
        answers(span(1, **attributes), span(2, http__request__method="GET"))
    expected = "no_call" if "ai__operationId" in attributes else "unknown_operation"
    assert dict(nothing.value.unread) == {expected: 1}


@pytest.mark.parametrize("operation", ["embeddings", "execute_tool", "retrieval"])
def test_spans_of_known_operations_without_an_answer_are_not_counted(operation: str) -> None:
    with pytest.raises(NothingToJudge) as nothing:
        answers(span(1, gen_ai__operation__name=operation, gen_ai__request__model="m"))
    assert dict(nothing.value.unread) == {}


@pytest.mark.parametrize(
    "spans",
    [
        [frame(1, output__value="Yes.")],
        [frame(1, output__value={"answer": "Yes."}), frame(2, 1, output__value="Yes."), retrieval(3, 2, "It is.")],
        [frame(1, kind="AGENT", input__value="Q?", output__value="Yes.")],
        [span(1, gen_ai__operation__name="invoke_agent", gen_ai__output__messages=[{"role": "assistant", "content": "Yes."}])],
        [span(1, langfuse__observation__type="span", langfuse__observation__output="Yes.")],
        [span(1, traceloop__span__kind="workflow", traceloop__entity__name="ask"),
         span(2, 1, traceloop__span__kind="task", traceloop__entity__name="find")],
        [span(1, ai__operationId="ai.generateText", ai__response__text="Yes.")],
    ],
    ids=["chain", "nested chains", "agent", "agent of the conventions", "langfuse", "workflow without content", "vercel"],
)  # fmt: skip
def test_an_answer_without_a_call_of_a_model_is_counted_once(spans: list[Any]) -> None:
    with pytest.raises(NothingToJudge) as nothing:
        answers(*spans, span(9, 1, traceloop__workflow__name="ask", http__request__method="POST"))
    assert dict(nothing.value.unread) == {"no_call": 1}


@pytest.mark.parametrize(
    "spans",
    [
        [frame(1, output__value="Yes."), call(2, 1)],
        [frame(1, output__value="Yes."), call(2, 7)],
        [frame(1, kind="EVALUATOR", output__value="0.9"), frame(2, 1, output__value="Yes."), call(8, trace="c")],
        [frame(1, kind="RETRIEVER", output__value="Yes."), call(8, trace="c")],
        [frame(1, input__value="Q?", output__value={"documents": ["a", "b"]}), call(8, trace="c")],
        [span(1, traceloop__span__kind="tool", traceloop__entity__name="search"), call(8, trace="c")],
        [frame(1, input__value="text", output__value='["First part."]'), call(8, trace="c")],
        [frame(2, 7, output__value="Yes."), frame(3, 2, output__value="Yes."), call(8, trace="c")],
    ],
    ids=[
        "call within",
        "call of the trace",
        "evaluator",
        "retriever",
        "no answer",
        "tool",
        "splitter",
        "parent in another export",
    ],
)
def test_answers_with_a_call_and_spans_without_an_answer_are_not_counted(spans: list[Any]) -> None:
    assert dict(answers(*spans)[0].unread) == {}


def test_a_trace_without_a_call_is_counted_beside_one_with_a_call() -> None:
    (found,) = answers(frame(1, output__value="Yes.", trace="b"), frame(1, output__value="No."), call(2, 1))
    assert (found.answer.answer, dict(found.unread)) == ("No.", {"no_call": 1})


def test_the_calls_of_a_run_are_its_steps_in_the_order_of_their_start() -> None:
    asked = {"role": "assistant", "content": None, "tool_calls": [{"id": "t1", "function": {"name": "sensors"}}]}
    (found,) = answers(
        frame(1, kind="AGENT", seconds=9, input__value="How many bar?", output__value="It runs at 4.8 bar."),
        call(4, parent=1, at=4, said="The pump runs at 4.8 bar, I think.", gen_ai__request__model="small"),
        retrieval(3, 1, "The pump runs at 4.2 bar.", at=2),
        span(
            5, 1, at=3, gen_ai__operation__name="execute_tool", gen_ai__tool__name="sensors",
            gen_ai__tool__call__result="4.2 bar", failed=True,
        ),
        call(2, parent=1, at=1, said=asked),
        call(6, parent=1, at=6, said="It runs at 4.8 bar."),
    )  # fmt: skip
    steps = found.answer.steps
    assert [(step.kind, step.name, step.status) for step in steps] == [
        ("model", "span 2", "success"),
        ("retrieval", "span 3", "success"),
        ("tool", "sensors", "error"),
        ("model", "span 4", "success"),
    ]
    assert steps[1].chunk_ids == ["The pump runs at 4.2 bar."]
    assert (steps[3].model, steps[3].output) == ("small", "The pump runs at 4.8 bar, I think.")
    (claim,) = evaluate_grounding(prepare_grounding(found.answer), GroundingThresholds()).claims
    assert (claim.verdict, claim.step) == ("contradicted", 4)


def test_a_retrieval_and_one_call_are_no_run() -> None:
    (found,) = answers(frame(1, seconds=9), retrieval(2, 1, "Text."), call(3, parent=1, at=3))
    assert found.answer.steps == []
