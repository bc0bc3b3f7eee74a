"""Error, latency and behaviour: the signals of seed 001 and the satisfaction of seed 000."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.answers import GeneratedAnswer
from schemas.feedback import BehaviourSignals
from workers.evaluation.quality.failure_signals import find_signals, is_refusal
from workers.evaluation.quality.query_kinds import query_form
from workers.evaluation.thresholds import FeedbackRules, QualityThresholds
from workers.feedback.implicit_signals import (
    execution_signals,
    latency_accepted,
    latency_tolerance,
    merged_behaviour,
    satisfaction,
)

RULES, QUALITY = FeedbackRules(), QualityThresholds()
AT = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
GOOD = "Loki restarts because the ingester exceeds its memory limit."


def answer(text: str = GOOD, seconds: float | None = 2.0, **fields: object) -> GeneratedAnswer:
    asked = None if seconds is None else AT - timedelta(seconds=seconds)
    return GeneratedAnswer.model_validate(
        {"answer_id": "a", "answer": text, "completed_at": AT, "requested_at": asked, **fields}
    )


def error_type(text: str = GOOD, **fields: object) -> str | None:
    return execution_signals(answer(text, **fields), RULES, QUALITY).error_type


# --- errors ---------------------------------------------------------------------------------


def test_a_good_answer_is_no_error() -> None:
    signals = execution_signals(answer(), RULES, QUALITY)
    assert (signals.status, signals.error_type, signals.latency_seconds) == ("success", None, 2.0)


def test_a_failed_call_is_a_hard_error_whatever_text_it_left() -> None:
    assert error_type(GOOD, status="error") == "hard_error"
    assert error_type("", status="error", error="timeout") == "hard_error"


@pytest.mark.parametrize("text", ["", " \n\t", "N/A", "123456789", "  123456789  "])
def test_under_ten_characters_is_an_empty_response(text: str) -> None:
    assert error_type(text) == "empty_response"


def test_ten_characters_are_an_answer() -> None:
    assert error_type("1234567890") is None


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I cannot help with that request.",
        "I apologize, but I am unable to answer that.",
        "Das kann ich leider nicht beantworten.",
    ],
)
def test_a_refusal_of_the_validators_detector_is_an_error(text: str) -> None:
    assert error_type(text) == "refusal"


@pytest.mark.parametrize(
    "text",
    [
        'The script prints "Error: disk full" when the volume is full; free some space.',
        "Exception: the limit does not apply to premium accounts, which may send more.",
        "Users see the message `I cannot connect` when the proxy is down. Restart it.",
        "I apologize, but I had misread the table: the limit is 4 GiB, as in row 3.",
    ],
)
def test_a_bare_phrase_of_seed_001_is_no_refusal(text: str) -> None:
    assert error_type(text) != "refusal"


@pytest.mark.parametrize(
    "text",
    [
        "Unable to comply with this request.",
        "We are unable to process your request.",
        "That is outside my capabilities.",
        "This goes against my guidelines.",
        "Ich bin nicht in der Lage, das zu beantworten.",
        "Je ne peux pas vous aider avec cette demande.",
        "Je ne suis pas en mesure de répondre.",
        "No puedo ayudarte con esa solicitud.",
        "I don’t have enough information to answer that.",
    ],
)
def test_a_refusal_in_other_words_is_one(text: str) -> None:
    assert is_refusal(find_signals(text, QUALITY))
    assert error_type(text) == "refusal"


@pytest.mark.parametrize(
    "text",
    [
        "Error: connection to upstream refused by host",
        "Exception: KeyError: 'customer_id'",
        'Traceback (most recent call last):\n  File "app.py", line 3, in <module>\nKeyError: 1',
        "requests.exceptions.ConnectionError: HTTPSConnectionPool: Max retries exceeded",
        '{"error": "rate limit exceeded"}',
        "Ошибка: не удалось подключиться к серверу",
        "错误：连接超时，请稍后再试",
    ],
)
def test_an_error_delivered_as_an_answer_with_status_success_is_an_error(text: str) -> None:
    assert error_type(text) == "tool_failure"


@pytest.mark.parametrize(
    "text",
    [
        "Exception: the limit does not apply to premium accounts, which may send more.",
        "Error 404 means that the page does not exist; check the address.",
        "The upstream refused the connection because the port was closed [1].",
        "A KeyError is raised when the key is missing; use dict.get instead.",
    ],
)
def test_an_answer_about_an_error_is_no_error(text: str) -> None:
    assert error_type(text) is None


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("What is the capital of France?", "Paris."),
        ("Is smoking allowed in the lab?", "No."),
        ("How long is the warranty?", "36 months."),
        ("Wie heißt der Fluss?", "Rhein."),
        ("中国的首都是哪里？", "北京是中国的首都。"),
        ("", "北京是中国的首都。"),
    ],
)
def test_a_short_answer_to_a_question_for_a_fact_is_not_empty(query: str, text: str) -> None:
    assert error_type(text, query=query) is None
    assert "empty_response" not in {
        s.type for s in find_signals(text, QUALITY, is_fact=query_form(query, None) == "factual")
    }


def test_a_refusal_far_behind_the_opening_is_none() -> None:
    assert error_type(GOOD * 20 + " I cannot help with that request.") is None


# --- latency --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "tolerance"),
    [(0, "high"), (9.99, "high"), (10, "high"), (10.01, "medium"), (30, "medium"), (30.01, "low"), (86_400, "low")],
)
def test_tolerance_falls_with_latency_and_a_limit_belongs_to_the_better_class(seconds: float, tolerance: str) -> None:
    assert latency_tolerance(seconds, RULES) == tolerance


@pytest.mark.parametrize(
    ("seconds", "delays", "accepted"),
    [(2, [], True), (30, [], True), (30.01, [], False), (20, [5], False), (20, [20], True), (20, [60, 5], False)],
)
def test_a_wait_is_accepted_if_it_was_bearable_and_nobody_asked_again_during_it(
    seconds: float, delays: list[float], accepted: bool
) -> None:
    assert latency_accepted(seconds, delays, RULES) is accepted


def test_latency_is_null_without_a_start_or_with_a_clock_that_runs_backwards() -> None:
    assert execution_signals(answer(seconds=None), RULES, QUALITY).latency_seconds is None
    assert execution_signals(answer(seconds=-3), RULES, QUALITY).latency_seconds is None
    assert execution_signals(answer(seconds=0), RULES, QUALITY).latency_seconds == 0


# --- behaviour ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("observed", "expected"),
    [
        ({"time_spent_seconds": 31}, 0.7),
        ({"time_spent_seconds": 30}, 0.5),
        ({"time_spent_seconds": 5}, 0.5),
        ({"time_spent_seconds": 4.9}, 0.3),
        ({"time_spent_seconds": 0}, 0.3),
        ({"citations_clicked": ["c"]}, 0.6),
        ({"response_copied": True}, 0.7),
        ({"response_copied": False}, 0.5),
        ({"query_rephrased": True}, 0.2),
        ({"followup_query": "And on Windows?"}, 0.2),
        ({"followup_query": "And on Windows?", "query_rephrased": True}, 0.2),
        ({"time_spent_seconds": 60, "citations_clicked": ["c"], "response_copied": True}, 1.0),
        ({"time_spent_seconds": 1, "query_rephrased": True}, 0.0),
    ],
)
def test_satisfaction_is_that_of_seed_000(observed: dict[str, object], expected: float) -> None:
    assert satisfaction(BehaviourSignals.model_validate(observed)) == pytest.approx(expected)


def test_time_that_nobody_measured_is_no_short_reading() -> None:
    """000 takes a missing time for zero seconds, which would punish whoever does not measure."""
    assert satisfaction(BehaviourSignals(response_copied=True)) == pytest.approx(0.7)


def test_nothing_observed_is_nothing() -> None:
    assert merged_behaviour([]) is None
    assert merged_behaviour([BehaviourSignals(), BehaviourSignals()]) is None
    assert merged_behaviour([BehaviourSignals(response_copied=False)]) is not None


parts = st.builds(
    BehaviourSignals,
    followup_query=st.sampled_from([None, "", "Why?"]),
    query_rephrased=st.sampled_from([None, False, True]),
    time_spent_seconds=st.none() | st.floats(0, 100),
    citations_clicked=st.lists(st.sampled_from("abc"), max_size=3),
    response_copied=st.sampled_from([None, False, True]),
)


@given(st.lists(parts, max_size=5), st.randoms())
def test_satisfaction_is_a_share_that_no_order_and_no_repeat_changes(
    observed: list[BehaviourSignals], rng: object
) -> None:
    merged = merged_behaviour(observed)
    again = [*observed, *observed]
    rng.shuffle(again)  # type: ignore[attr-defined]
    assert merged_behaviour(again) == merged
    assert merged is None or 0 <= satisfaction(merged) <= 1
