"""No form in which numbers, values and questions are written fails the evaluation of an answer."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.answers import ContextChunk, GeneratedAnswer, ToolCall, Turn
from schemas.grounding import GroundingFindings
from workers.evaluation.conversation.resolution import resolve_query
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.thresholds import GroundingThresholds

DONE = datetime(2026, 11, 2, tzinfo=UTC)
COUNTS = (
    *("one", "One", "ONE", "two", "twenty-one", "twenty one", "ninety", "half", "a", "an", "one hundred", "zero", "dozen"),
    *("1", "30", "0", "1.5", ".5", "½", "1,000", "-5", "−5", "–5", "1.299,00", "1 234,56", "1_000", "1e9", "9999999999999999"),
)  # fmt: skip
UNITS = (
    *("hour", "hours", "HOURS", "minutes", "mınutes", "days", "years", "€", "$", "%", "°C", "B", "T", "k", "million"),
    *("customers", "pm", "of them", "and a half", "dozen", "o'clock"),
)
JOINTS = (" ", " and ", ", ", "-", " to ", ": ", " at ", " (avg) - at ", " of ", "")
DATES = (
    "9999-12-31",
    "0001-01-01",
    "9999-12-31T23:59:59Z",
    "2026-02-30",
    "5 January",
    "31 December 9999",
    "2100-02-29",
)
SIGNS = ("_", "-", "?", "…", "()", "USD,", "$", ",", "%", "__", "—", "[]", " ")
AMOUNTS = st.builds("{} {}".format, st.sampled_from(COUNTS), st.sampled_from(UNITS))
PHRASES = (
    st.builds("{}{}{}".format, AMOUNTS, st.sampled_from(JOINTS), AMOUNTS)
    | st.sampled_from((*DATES, *SIGNS))
    | st.lists(st.sampled_from((*COUNTS, *UNITS, *JOINTS, *DATES, *SIGNS)), min_size=1, max_size=8).map("".join)
)
VALUES = (
    st.sampled_from((*COUNTS, *DATES, *SIGNS, "USD ,", ",.", "P1M", "PT", "P", "3:45", "12:61", "1,,2", "5 XYZ", "", "null"))
    | st.none()
    | st.booleans()
    | st.integers(-(10**18), 10**18)
    | PHRASES
)  # fmt: skip
KEYS = st.sampled_from(("until", "cpu", "amount", "host", "duration", "verified", "_", "", "-", "total_time", "avg"))
RECORDS = st.dictionaries(KEYS, VALUES | st.lists(VALUES, max_size=4), min_size=1, max_size=5)
SENTENCES = st.builds(
    "{} {}{}.".format,
    st.sampled_from(("The rate", "CPU usage (avg)", "It lasts", "The valid date", "-", "_", "One hour")),
    st.sampled_from(("is ", "- at ", "of ", "costs ", "until ", "and ")),
    PHRASES,
)
QUERIES = st.builds(
    "{}{}{}".format,
    st.sampled_from(("", "And ", "What about ", "Same for ", "And the ", "Why ", "How about ", "- ")),
    PHRASES,
    st.sampled_from(("", "?", "?!", ".", "…", " too?")),
)
FUZZ = settings(max_examples=160, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def evaluated(text: str, contexts: list[ContextChunk], **fields: Any) -> GroundingFindings:
    answer = GeneratedAnswer(answer_id="a", answer=text, contexts=contexts, completed_at=DONE, **fields)
    return evaluate_grounding(prepare_grounding(answer), GroundingThresholds())


def result(value: Any) -> ContextChunk:
    return ContextChunk(
        chunk_id="t", content=json.dumps(value), source_type="tool", tool=ToolCall(name="get", arguments={"n": 3})
    )


def document(text: str) -> ContextChunk:
    return ContextChunk(chunk_id="d", content=text, source_type="document")


@FUZZ
@given(SENTENCES, SENTENCES)
def test_no_form_of_a_number_fails_an_answer_from_documents(claim: str, source: str) -> None:
    assert evaluated(claim, [document(source)]).claims_total >= 0


@FUZZ
@given(SENTENCES, RECORDS | st.lists(RECORDS, max_size=3))
def test_no_value_of_a_result_fails_an_answer(claim: str, record: Any) -> None:
    assert evaluated(claim, [result(record)]).claims_total >= 0


@settings(FUZZ, max_examples=70)
@given(QUERIES)
def test_no_question_behind_another_fails_an_answer(query: str) -> None:
    turns = [
        Turn(role="user", content="How much is the Corva 3?"),
        Turn(role="assistant", content="It costs 40 euros."),
    ]
    found = evaluated("It costs 50 euros.", [document("The Corva 5 costs 50 euros.")], query=query, conversation=turns)
    assert found.claims_total == 1


@pytest.mark.parametrize("query", ["_", "And?", "And _?", "What about ?", "?!", "Same for …?", "- …", "And -?"])
def test_a_question_without_a_word_is_left_as_it_is(query: str) -> None:
    turns = [
        Turn(role="user", content="How much is the Corva 3?"),
        Turn(role="assistant", content="It costs 40 euros."),
    ]
    found = resolve_query(query, turns)
    assert found is not None
    assert found.text == query


@pytest.mark.parametrize(
    "claim",
    [
        *("One hour and 30 minutes are allowed.", "ONE HOUR AND THIRTY MINUTES are allowed.", "1 hour and thirty minutes."),
        *("One hour and one minute are allowed.", "Two hours, twenty-five minutes are allowed."),
    ],
)  # fmt: skip
def test_hours_and_minutes_in_words_are_read_whatever_their_capitals(claim: str) -> None:
    lasting = {"One hour and one minute are": 61, "Two hours, twenty-five": 145}
    minutes = next((value for start, value in lasting.items() if claim.startswith(start)), 90)
    right, wrong = (evaluated(claim, [document(f"The exam lasts {each} minutes.")]) for each in (minutes, minutes + 30))
    assert [each.verdict for each in right.claims] == ["supported"]
    assert "supported" not in [each.verdict for each in wrong.claims]


@pytest.mark.parametrize(
    ("claim", "record", "verdict"),
    [
        ("The offer is valid until 31 December 9999.", {"until": "9999-12-31", "grace": "30 days"}, "supported"),
        ("The offer is valid until 5 January.", {"until": "9999-12-31", "grace": "30 days"}, "contradicted"),
        ("The amount is 5 USD.", {"amount": "USD,", "total": "5 USD"}, "supported"),
        ("CPU usage (avg) - at 45%.", {"host": "web", "cpu": 45}, "supported"),
        ("CPU usage (avg) - at 54%.", {"host": "web", "cpu": 45}, "unsupported"),
    ],
)  # fmt: skip
def test_values_without_a_limit_or_a_figure_are_compared(claim: str, record: Any, verdict: str) -> None:
    assert [each.verdict for each in evaluated(claim, [result(record)]).claims] == [verdict]
