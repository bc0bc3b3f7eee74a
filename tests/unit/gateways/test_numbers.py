"""Numbers of foreign records: identifiers keep their digits, times of 0 are unknown, tokens are those that are charged."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.unit.gateways.test_otlp_roots import NOW, call
from workers.gateways.adapted import Adapted, Received
from workers.gateways.formats import format_named
from workers.gateways.reading.lenient_reading import time


def read(form: str, record: Any) -> Adapted:
    (found,) = format_named(form).answers(json.dumps(record).encode(), Received(NOW))
    return found


def of_span(name: str, value: Any) -> Adapted:
    span = call(1)
    span["attributes"].append({"key": name, "value": value})
    return read("otlp", {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})


@pytest.mark.parametrize("number", [0, 7, 2**31 - 1, 2**31, 5_000_000_000, 1_234_567_890_123_456_789, -(2**63)])
@pytest.mark.parametrize("form", [int, str])
def test_the_number_of_a_person_keeps_its_digits_in_a_span(number: int, form: type) -> None:
    assert of_span("user.id", {"intValue": form(number)}).answer.user_id == str(number)
    assert of_span("session.id", {"intValue": form(number)}).answer.session_id == str(number)


@pytest.mark.parametrize("value", ["x", None, True, [], {}, "12.5", float("inf")])
def test_a_number_of_a_span_that_is_none_is_read_as_before(value: Any) -> None:
    assert of_span("user.id", {"intValue": value}).answer.user_id == ("12.5" if value == "12.5" else None)


@pytest.mark.parametrize("number", [5_000_000_000, 1_234_567_890_123_456_789])
def test_the_number_of_a_person_keeps_its_digits_in_other_formats(number: int) -> None:
    response = {"choices": [{"message": {"role": "assistant", "content": "24 months."}}]}
    request = {"messages": [{"role": "user", "content": "How long?"}], "user": number}
    assert read("openai", {"request": request, "response": response}).answer.user_id == str(number)
    assert read("openai", {"user_id": number, "response": response}).answer.user_id == str(number)


@pytest.mark.parametrize("value", [0, "0", 0.0, -1, 1, "1970-01-01T00:00:00Z", "1999-12-31T23:59:59Z", 946_684_799])
def test_a_time_before_2000_is_unknown(value: Any) -> None:
    assert time(value) is None


@pytest.mark.parametrize("value", [946_684_800, "946684800000", "2000-01-01T00:00:00Z"])
def test_a_time_from_2000_on_is_known(value: Any) -> None:
    assert time(value) == datetime(2000, 1, 1, tzinfo=UTC)


def test_an_answer_created_at_0_has_the_time_of_its_receipt() -> None:
    response = {"created": 0, "choices": [{"message": {"role": "assistant", "content": "24 months."}}]}
    assert read("openai", {"response": response}).answer.completed_at == NOW


@pytest.mark.parametrize("value", [0, 0.0, "0", None])
def test_an_answer_of_the_own_format_without_a_set_time_has_the_time_of_its_receipt(value: Any) -> None:
    answer = {"answer_id": "a", "query": "How long?", "answer": "24 months.", "completed_at": value}
    assert read("touchstone", answer).answer.completed_at == NOW


def test_a_log_record_with_a_time_of_0_has_the_time_of_its_observation() -> None:
    text = {"stringValue": json.dumps({"message": {"role": "assistant", "content": "24 months."}})}
    record = {
        "eventName": "gen_ai.choice",
        "timeUnixNano": "0",
        "observedTimeUnixNano": "1793606043000000000",
        "body": text,
    }
    found = read("otlp", {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]})
    assert found.answer.completed_at == datetime.fromtimestamp(1_793_606_043, UTC)


ANTHROPIC = {"type": "message", "stop_reason": "end_turn", "content": [{"type": "text", "text": "24."}]}
BEDROCK = {"output": {"message": {"content": [{"text": "24."}]}}, "stopReason": "end_turn"}
GOOGLE = {"candidates": [{"content": {"parts": [{"text": "24."}]}, "finishReason": "STOP"}]}
OPENAI = {"choices": [{"message": {"role": "assistant", "content": "24."}}]}
CHARGED: list[tuple[str, Any, tuple[int, int]]] = [
    ("anthropic", ANTHROPIC | {"usage": {"input_tokens": 4, "cache_read_input_tokens": 900,
                                         "cache_creation_input_tokens": 96, "output_tokens": 12}}, (1_000, 12)),
    ("anthropic", ANTHROPIC | {"usage": {"input_tokens": 4, "cache_read_input_tokens": None,
                                         "output_tokens": 12}}, (4, 12)),
    ("bedrock", BEDROCK | {"usage": {"inputTokens": 4, "cacheReadInputTokens": 900, "cacheWriteInputTokens": 96,
                                     "outputTokens": 12}}, (1_000, 12)),
    ("google", GOOGLE | {"usageMetadata": {"promptTokenCount": 900, "cachedContentTokenCount": 800,
                                           "toolUsePromptTokenCount": 100, "candidatesTokenCount": 12,
                                           "thoughtsTokenCount": 488}}, (1_000, 500)),
    ("openai", OPENAI | {"usage": {"prompt_tokens": 1_000, "prompt_tokens_details": {"cached_tokens": 900},
                                   "cache_read_input_tokens": 900, "completion_tokens": 12}}, (1_000, 12)),
]  # fmt: skip


@pytest.mark.parametrize(("form", "response", "tokens"), CHARGED)
def test_tokens_are_those_that_the_service_charges_for(form: str, response: Any, tokens: tuple[int, int]) -> None:
    answer = read(form, {"response": response}).answer
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == tokens


def test_without_numbers_of_tokens_none_are_known() -> None:
    for form, response in (("anthropic", ANTHROPIC), ("bedrock", BEDROCK), ("google", GOOGLE)):
        assert read(form, {"response": response}).answer.usage is None


def test_the_tokens_of_langfuse_are_added_by_their_names() -> None:
    details = {"input": 4, "cache_read_input_tokens": 900, "input_cache_creation": 96, "output": 12,
               "output_reasoning_tokens": 488, "total": 1_500}  # fmt: skip
    generation = {"id": "g", "type": "GENERATION", "usageDetails": details, "input": "Q?", "output": "24."}
    trace = {
        "id": "t",
        "timestamp": "2026-11-02T08:14:03Z",
        "input": "Q?",
        "output": "24.",
        "observations": [generation],
    }
    answer = read("langfuse", trace).answer
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (1_000, 500)
