"""The calls of a run within the messages of one request are steps, and a fault is attributed to the step that stated it."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.answers import GeneratedAnswer
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.thresholds import GroundingThresholds
from workers.gateways.adapted import Received
from workers.gateways.formats import format_named

ASKED = "How many bar has pump 7, and when was it serviced?"
SENSOR, SERVICE = "Pump 7 runs at 4.2 bar.", "Pump 7 was serviced on 3 March by the night shift."
PLAN, DRAFT = "I look up the sensor.", "Pump 7 runs at 4.8 bar. Now I look up its service."
FINAL = "Pump 7 runs at 4.8 bar. It was serviced on 3 March."
EARLIER = [{"role": "user", "content": "Is pump 7 on?"}, {"role": "assistant", "content": "Pump 7 is on."}]


def _called(name: str, identifier: str) -> Any:
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": "{}"}}


def _used(said: str, name: str, identifier: str) -> Any:
    use = {"type": "tool_use", "id": identifier, "name": name, "input": {}}
    return {"role": "assistant", "content": [{"type": "text", "text": said}, use]}


def _result(identifier: str, content: Any) -> Any:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": identifier, "content": content}]}


def _google(said: str, name: str, content: str) -> list[Any]:
    return [
        {"role": "model", "parts": [{"text": said}, {"functionCall": {"name": name, "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": name, "response": {"result": content}}}]},
    ]


def _item(said: str, name: str, identifier: str, content: str) -> list[Any]:
    return [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]},
        {"type": "function_call", "call_id": identifier, "name": name, "arguments": "{}"},
        {"type": "function_call_output", "call_id": identifier, "output": content},
    ]


CHAT = [
    *EARLIER,
    {"role": "user", "content": ASKED},
    {"role": "assistant", "content": PLAN, "tool_calls": [_called("sensor", "t1")]},
    {"role": "tool", "tool_call_id": "t1", "content": SENSOR},
    {"role": "assistant", "content": DRAFT, "tool_calls": [_called("service", "t2")]},
    {"role": "tool", "tool_call_id": "t2", "content": SERVICE},
]
RUNS: dict[str, tuple[str, Any, Any]] = {
    "openai": (
        "openai",
        {"messages": CHAT},
        {"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": FINAL}}]},
    ),
    "openai: responses": (
        "openai",
        {"input": [*EARLIER, {"role": "user", "content": ASKED}, *_item(PLAN, "sensor", "t1", SENSOR),
                   *_item(DRAFT, "service", "t2", SERVICE)]},
        {"id": "r", "status": "completed",
         "output": [{"type": "message", "content": [{"type": "output_text", "text": FINAL}]}]},
    ),
    "anthropic": (
        "anthropic",
        {"messages": [*EARLIER, {"role": "user", "content": ASKED}, _used(PLAN, "sensor", "t1"), _result("t1", SENSOR),
                      _used(DRAFT, "service", "t2"), _result("t2", [{"type": "text", "text": SERVICE}])]},
        {"content": [{"type": "text", "text": FINAL}], "stop_reason": "end_turn"},
    ),
    "google": (
        "google",
        {"contents": [{"role": "user", "parts": [{"text": ASKED}]}, *_google(PLAN, "sensor", SENSOR),
                      *_google(DRAFT, "service", SERVICE)]},
        {"candidates": [{"content": {"parts": [{"text": FINAL}]}, "finishReason": "STOP"}]},
    ),
}  # fmt: skip


def _read(form: str, request: Any, response: Any) -> GeneratedAnswer:
    record = json.dumps({"id": "run", "request": request, "response": response}).encode()
    (found,) = format_named(form).answers(record, Received(datetime(2026, 11, 20, tzinfo=UTC)))
    return found.answer


@pytest.mark.parametrize("name", RUNS)
def test_a_fault_is_attributed_to_the_call_that_stated_it_first(name: str) -> None:
    answer = _read(*RUNS[name])
    assert [(step.kind, step.name, step.output) for step in answer.steps] == [
        ("model", "", PLAN), ("tool", "sensor", ""), ("model", "", DRAFT), ("tool", "service", ""),
    ]  # fmt: skip
    wrong, right = evaluate_grounding(prepare_grounding(answer), GroundingThresholds()).claims
    assert (wrong.verdict in ("contradicted", "unsupported"), wrong.step) == (True, 3)
    assert (right.verdict, right.step) == ("supported", None)


def test_the_results_of_a_step_are_named_by_their_contexts() -> None:
    answer = _read(*RUNS["openai"])
    assert [step.chunk_ids for step in answer.steps if step.kind == "tool"] == [["t1"], ["t2"]]
    assert {chunk.chunk_id for chunk in answer.contexts or ()} == {"t1", "t2"}


@pytest.mark.parametrize(
    "messages", [CHAT[:3], [*CHAT, {"role": "user", "content": "And pump 8?"}], [*CHAT[:3], EARLIER[1]]]
)
def test_without_a_tool_behind_the_query_there_is_no_run(messages: list[Any]) -> None:
    assert _read("openai", {"messages": messages}, RUNS["openai"][2]).steps == []
