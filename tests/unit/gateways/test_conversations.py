"""Earlier messages of a request become the conversation of its answer, whatever the format."""

import copy
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.answers import MAX_TURNS
from tests.harness.paths import DATA
from workers.gateways.adapted import Adapted, Draft, Received, finished, fitting
from workers.gateways.apis.chat_messages import conversation
from workers.gateways.formats import format_named
from workers.gateways.mapped import adapt as adapt_mapped
from workers.gateways.mapped import read_mapping

RECEIVED = Received(datetime(2026, 11, 3, tzinfo=UTC))
TURNS = [
    {"role": "user", "content": "What does the Basic plan cost?"},
    {"role": "assistant", "content": "The Basic plan costs 9 euros a month."},
]
FIRST, SECOND = (turn["content"] for turn in TURNS)


def _adapted(name: str, record: Any) -> Adapted:
    return format_named(name).answers(json.dumps(record).encode(), RECEIVED)[0]


def _case(name: str, title: str | None = None) -> Any:
    cases = json.loads((DATA / "gateways" / f"{name}.json").read_text(encoding="utf-8"))["cases"]
    return copy.deepcopy(next(case["record"] for case in cases if title in (None, case["case"])))


def _openai(record: Any) -> None:
    record["request"]["messages"][:0] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": FIRST},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "prices"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "Basic: 9 euros"},
        {"role": "assistant", "content": SECOND},
    ]


def _anthropic(record: Any) -> None:
    record["request"]["messages"][:0] = [
        {"role": "user", "content": FIRST},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": SECOND}]},
    ]


def _google(record: Any) -> None:
    record["request"]["contents"][:0] = [
        {"role": "user", "parts": [{"text": FIRST}]},
        {"role": "model", "parts": [{"text": SECOND}]},
    ]


def _bedrock(record: Any) -> None:
    record["request"]["messages"][:0] = [
        {"role": "user", "content": [{"text": FIRST}]},
        {"role": "assistant", "content": [{"text": SECOND}]},
    ]


def _litellm(record: Any) -> None:
    record["messages"] = [*TURNS, *record["messages"]]


def _langfuse(record: Any) -> None:
    generation = next(each for each in record["observations"] if each["type"] == "GENERATION")
    generation["input"] = [*TURNS, *generation["input"]]


RECORDS: list[tuple[str, Callable[[Any], None]]] = [
    ("openai", _openai),
    ("anthropic", _anthropic),
    ("google", _google),
    ("bedrock", _bedrock),
    ("cohere", _openai),
    ("litellm", _litellm),
    ("langfuse", _langfuse),
]


@pytest.mark.parametrize(("name", "add"), RECORDS)
def test_messages_before_the_query_are_the_conversation(name: str, add: Callable[[Any], None]) -> None:
    record = _case(name)
    before = _adapted(name, record).answer
    add(record)
    answer = _adapted(name, record).answer
    assert before.conversation == []
    assert [turn.model_dump() for turn in answer.conversation] == TURNS
    assert answer.query == before.query


def test_items_of_openais_responses_are_the_conversation() -> None:
    record = {
        "request": {
            "model": "gpt-4.1",
            "input": [
                {"role": "user", "content": FIRST},
                {"type": "reasoning", "summary": [], "id": "rs_1"},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": SECOND}]},
                {"role": "user", "content": [{"type": "input_text", "text": "And the Pro plan?"}]},
            ],
        },
        "response": {
            "id": "resp_1",
            "object": "response",
            "status": "completed",
            "model": "gpt-4.1",
            "output": [
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "19 euros."}]}
            ],
        },
    }
    answer = _adapted("openai", record).answer
    assert answer.query == "And the Pro plan?"
    assert [turn.model_dump() for turn in answer.conversation] == TURNS


def _span(**attributes: Any) -> dict[str, Any]:
    named = [{"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in attributes.items()]
    span = {
        "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
        "spanId": "00f067aa0ba902b7",
        "name": "chat",
        "startTimeUnixNano": "1793606043000000000",
        "endTimeUnixNano": "1793606044000000000",
        "attributes": named,
        "status": {},
    }
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {}, "spans": [span]}]}]}


def _parts(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": content}]}


def test_messages_of_opentelemetry_are_the_conversation() -> None:
    asked = [_parts("user", FIRST), _parts("assistant", SECOND), _parts("user", "And the Pro plan?")]
    export = _span(
        gen_ai__operation__name="chat",
        gen_ai__input__messages=json.dumps(asked),
        gen_ai__output__messages=json.dumps([_parts("assistant", "19 euros.")]),
    )
    assert [turn.model_dump() for turn in _adapted("otlp", export).answer.conversation] == TURNS


def test_flattened_messages_of_openinference_are_the_conversation() -> None:
    asked = [*TURNS, {"role": "user", "content": "And the Pro plan?"}]
    flat = {
        f"llm__input_messages__{place}__message__{name}": message[name]
        for place, message in enumerate(asked)
        for name in ("role", "content")
    }
    said = {"llm__output_messages__0__message__role": "assistant", "llm__output_messages__0__message__content": "19."}
    export = _span(openinference__span__kind="LLM", **flat, **said)
    assert [turn.model_dump() for turn in _adapted("otlp", export).answer.conversation] == TURNS


def test_a_mapping_names_where_the_turns_are() -> None:
    mapping = b"""
version = 1
name = "bot"
[answer]
query = "q"
answer = "a"
[conversation]
each = "log"
role = "who"
content = "said"
"""
    log = [{"who": "human", "said": FIRST}, {"who": "ai", "said": SECOND}, {"who": "human", "said": "And Pro?"}]
    (found,) = adapt_mapped({"q": "And Pro?", "a": "19.", "log": log}, RECEIVED, by=read_mapping(mapping, "bot"))
    assert [turn.model_dump() for turn in found.answer.conversation] == TURNS


def test_what_the_model_says_after_the_query_is_no_earlier_turn() -> None:
    asked = [*TURNS, {"role": "user", "content": "And Pro?"}, {"role": "assistant", "content": "I look it up."}]
    assert conversation(asked).earlier == TURNS


def test_the_oldest_turns_are_left_out_and_noted() -> None:
    many = TURNS * MAX_TURNS
    answer = finished(Draft(query="q", answer="a", conversation=many), "x", {}, RECEIVED).answer
    assert len(answer.conversation) == MAX_TURNS
    assert answer.metadata["gateway"]["cut"] == ["conversation"]
    long = [{"role": "user", "content": "x" * 40_000}, {"role": "assistant", "content": "y" * 40_000}]
    answer = finished(Draft(query="q", answer="a", conversation=long), "x", {}, RECEIVED).answer
    assert [turn.role for turn in answer.conversation] == ["assistant"]


def test_an_answer_that_is_too_large_loses_its_oldest_turns_before_it_is_refused() -> None:
    turns = [{"role": "user", "content": "x" * 5_000}] * 8
    answer = finished(Draft(query="q", answer="a" * 5_000, conversation=turns), "x", {}, RECEIVED).answer
    kept, value = fitting(answer, 20_000)
    assert len(value) <= 20_000
    assert 0 < len(kept.conversation) < 8
    assert kept.metadata["gateway"]["cut"] == ["conversation"]
