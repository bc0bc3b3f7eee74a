"""The response validator: every example of seed 003, as settled in docs/decisions/0011-validator.md."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.quality import ResponseQuality
from tests.harness.linear_time import check_linear
from workers.evaluation.quality.validation import summarize, validate_response, validate_responses
from workers.evaluation.text.pattern_packs import LANGUAGES, SHIPPED, InvalidPattern, parse_pack
from workers.evaluation.text.structure.attributed_text import fold, fold_native
from workers.evaluation.thresholds import QualityThresholds

TOOL_FAILURE = "\n  Error: API request timed out\n  Status: 500 Internal Server Error\n  Please try again later\n"
UNCERTAIN = (
    "\n  I'm not entirely sure, but I think the answer might be approximately 42.\n"
    "  However, this could be wrong and I'm unable to verify with certainty.\n"
)
GOOD = (
    "\n  Based on the analysis of historical data from 2020-2023,\n  the trend shows consistent growth of 15% "
    "year-over-year.\n  This is supported by quarterly earnings reports and market research.\n"
)
REFUSAL = "\n  I cannot process your request as it asks me to do something\n  outside my capabilities.\n"


def types(quality: ResponseQuality) -> list[str]:
    return [signal.type for signal in quality.signals]


def test_quick_start_scores_what_the_document_says() -> None:
    quality = validate_response("I think this might be correct, but I'm not entirely sure.")
    assert quality.score == 0.6
    assert quality.should_escalate
    assert quality.reason.startswith("Detected low confidence indicators")


@pytest.mark.parametrize(
    ("text", "signal", "weight", "score", "escalated"),
    [
        ("I'm not sure how this works, but it might be related...", "confusion", 0.6, 0.4, True),
        ("I cannot help with that request.", "refusal", 0.75, 0.25, True),
        ("My best guess is that this probably works.", "low_confidence", 0.4, 0.6, True),
        ("OK", "empty_response", 0.8, 0.2, True),
        ("Tool error: API call failed due to timeout.", "tool_failure", 0.9, 0.1, True),
        ("The factors include: cost, time, resources, etc.", "incomplete_reasoning", 0.25, 0.75, False),
        # 0.85 and, for "probably", 0.28: the floor.
        ("I don't have real-time data, but the stock price is probably around $500.", "hallucination_risk", 0.85, 0.0, True),
        (TOOL_FAILURE, "tool_failure", 0.9, 0.1, True),
        (REFUSAL, "refusal", 0.75, 0.25, True),
    ],
)  # fmt: skip
def test_examples_of_the_document_are_settled(
    text: str, signal: str, weight: float, score: float, escalated: bool
) -> None:
    quality = validate_response(text)
    assert quality.signals[0].type == signal
    assert quality.signals[0].weight == weight
    assert quality.score == pytest.approx(score)
    assert quality.should_escalate is escalated


def test_multiple_hedges_are_multiple_signals_and_count_once() -> None:
    quality = validate_response("My best guess is that this probably works.")
    assert [(signal.type, signal.counted) for signal in quality.signals] == [
        ("low_confidence", True),
        ("low_confidence", False),
    ]
    assert quality.score < 0.75


def test_uncertain_response_shows_three_signals_and_escalates() -> None:
    quality = validate_response(UNCERTAIN)
    assert len(quality.signals) == 3
    assert set(types(quality)) == {"confusion", "low_confidence"}
    assert quality.should_escalate
    # No sum of the table's weights gives the document's 0.35; ours is 1 - 0.6 - 0.4.
    assert quality.score == 0.0
    assert {"ask_back", "other_model"} == set(quality.actions)


def test_high_quality_response_has_no_signal_and_the_full_score() -> None:
    quality = validate_response(GOOD)
    assert (quality.signals, quality.score, quality.should_escalate) == ([], 1.0, False)
    assert quality.assessment_confidence == 0.9
    assert quality.feedback is None


@pytest.mark.parametrize(
    ("text", "action"),
    [(TOOL_FAILURE, "retry_with_backoff"), (REFUSAL, "human_queue"), (UNCERTAIN, "ask_back")],
)
def test_recommended_actions_are_those_of_the_document(text: str, action: str) -> None:
    assert validate_response(text).actions[0] == action


def test_strict_mode_escalates_what_normal_mode_lets_pass() -> None:
    text = "I think this is probably right."
    normal, strict = validate_response(text), validate_response(text, QualityThresholds(strict_mode=True))
    assert (normal.score, normal.should_escalate) == (0.72, False)
    assert (strict.score, strict.should_escalate) == (0.72, True)
    assert strict.escalation_rules == ["score_below_threshold"]


def test_minimum_length_is_an_option() -> None:
    assert types(validate_response("Short", QualityThresholds(min_length=20))) == ["empty_response"]
    assert types(validate_response("A sentence of forty characters, roughly.", QualityThresholds(min_length=100))) == [
        "empty_response"
    ]
    assert types(validate_response("Short", QualityThresholds(min_length=0))) == []


def test_custom_patterns_find_what_the_packs_do_not_know() -> None:
    thresholds = QualityThresholds(
        custom_patterns={
            "confusion": ("CUSTOM_ERROR_TOKEN", "(?i)application error"),
            "refusal": ("(?i)feature not implemented", "(?i)work in progress"),
        }
    )
    quality = validate_response("The export is a Work In Progress: application error 7 was logged.", thresholds)
    assert types(quality) == ["refusal", "confusion"]
    assert "refusal" in quality.escalation_rules
    assert types(validate_response("custom_error_token is written in lower case here.", thresholds)) == []


@pytest.mark.parametrize("pattern", ["(", r"(?<!a)b", r"(a)\1", "x" * 501])
def test_a_custom_pattern_that_does_not_compile_names_itself(pattern: str) -> None:
    with pytest.raises(ValidationError, match=r"custom_patterns\.refusal\[1\]") as caught:
        QualityThresholds(custom_patterns={"refusal": ("fine", pattern)})
    assert pattern in str(caught.value) or "501 characters" in str(caught.value)


def test_too_many_custom_patterns_are_refused() -> None:
    with pytest.raises(ValidationError):
        QualityThresholds(custom_patterns={"refusal": ("a",) * 51})


def test_a_custom_pattern_that_would_hang_a_backtracking_engine_is_linear() -> None:
    thresholds = QualityThresholds(custom_patterns={"confusion": ("(a+)+$",)})
    check_linear(lambda text: partial(validate_response, text, thresholds), lambda n: "a" * n + "!", "(a+)+$")


def test_more_than_three_signals_escalate_and_lower_the_confidence() -> None:
    text = "It is probably the seal. Possibly the hose leaks. The clamp is probably loose. It seems like rust, too."
    quality = validate_response(text)
    assert len(quality.signals) == 4
    assert quality.score == 0.72
    assert quality.escalation_rules == ["too_many_signals"]
    assert quality.assessment_confidence == 0.65


@pytest.mark.parametrize(("count", "confidence"), [(0, 0.9), (1, 0.85), (2, 0.8), (3, 0.75), (4, 0.65), (5, 0.65)])
def test_confidence_in_the_assessment_falls_with_the_signals(count: int, confidence: float) -> None:
    text = "The pump was checked on Monday. " + "It is probably worn. " * count
    assert validate_response(text).assessment_confidence == confidence


def test_batch_and_summary_of_the_document() -> None:
    texts = ["This is a clear and complete response.", "I'm not sure about this one.", "I cannot help with that."]
    qualities = validate_responses(texts)
    assert [quality.should_escalate for quality in qualities] == [False, True, True]
    summary = summarize(qualities)
    assert summary.average_score == pytest.approx((1.0 + 0.4 + 0.25) / 3)
    # The document prints 0.33 beside two of three escalated.
    assert summary.escalation_rate == pytest.approx(2 / 3)
    assert summary.common_issues == {"confusion": 1, "refusal": 1}


def test_a_summary_of_nothing_is_null_and_no_division() -> None:
    summary = summarize([])
    assert (summary.responses, summary.average_score, summary.escalation_rate) == (0, None, None)


WORDS = st.sampled_from(
    [
        "I'm not sure",
        "probably",
        "I cannot help with that.",
        "Error:",
        "the pump",
        "etc.",
        "\n\n",
        "> ",
        "`x`",
        '"',
        "but",
    ]
)


@given(st.lists(WORDS, max_size=30).map(" ".join) | st.text(max_size=200))
def test_a_reader_can_redo_the_sum(text: str) -> None:
    quality = validate_response(text)
    counted = [signal for signal in quality.signals if signal.counted]
    assert len({signal.type for signal in counted}) == len(counted) == len({signal.type for signal in quality.signals})
    assert quality.score == pytest.approx(max(0.0, 1 - sum(signal.weight for signal in counted)), abs=1e-6)
    assert quality.should_escalate == bool(quality.escalation_rules)
    assert validate_response(text).model_dump_json() == quality.model_dump_json()
    for signal in quality.signals:
        assert signal.action is not None
        if signal.span and signal.type != "empty_response":
            assert text[signal.span.start : signal.span.end][:300] == signal.evidence


# ---------------------------------------------------------------- packs

PACK = b"""
name = "shop"
version = "1"
[[rules]]
signal = "refusal"
match = ['out of stock']
unless_after = [' until']
"""


def test_a_domain_pack_adds_its_rules() -> None:
    thresholds = QualityThresholds(packs=(parse_pack(PACK, "shop.toml"),))
    assert types(validate_response("The blue lamp is out of stock at the moment.", thresholds)) == ["refusal"]
    assert types(validate_response("The blue lamp is out of stock until Monday, 3 May.", thresholds)) == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (PACK.replace(b"out of stock", b"out (of stock"), r"rule 1 \(refusal\).match\[1\].*out \(of stock"),
        (PACK.replace(b'"refusal"', b'"refusing"'), "rules.0.signal"),
        (PACK.replace(b"match", b"matches"), "rules.0.match"),
        (b"name = ", "shop.toml"),
        (b"\xff", "shop.toml"),
    ],
)
def test_a_bad_pack_is_refused_at_load_and_says_where(content: bytes, told: str) -> None:
    with pytest.raises(InvalidPattern, match=told):
        parse_pack(content, "shop.toml")


def test_a_bad_pack_that_is_given_as_fields_is_refused_by_the_thresholds() -> None:
    rule = {"signal": "refusal", "match": ["out (of stock"]}
    with pytest.raises(ValidationError, match=r"shop: rule 1 \(refusal\).match\[1\].*out \(of stock"):
        QualityThresholds.model_validate({"packs": [{"name": "shop", "version": "1", "rules": [rule]}]})


def test_every_language_of_the_document_of_packs_is_there() -> None:
    assert set(LANGUAGES) == {"en", "de", "fr", "es", "pt", "it", "nl", "pl", "ru", "ja", "zh", "ko", "ar", "hi"}
    assert "software" in SHIPPED


@pytest.mark.parametrize("pack", SHIPPED.values(), ids=SHIPPED)
def test_the_set_of_a_pack_finds_what_its_patterns_find_alone(pack: object) -> None:
    """RE2 gives up silently where a set needs more memory than it may use; none of ours does."""
    compiled = SHIPPED[pack.name].compiled  # type: ignore[attr-defined]
    said = [
        TOOL_FAILURE,
        UNCERTAIN,
        GOOD,
        REFUSAL,
        "Ich bin mir nicht sicher, usw. etc. ",
        "Я не могу ответить. 我无法回答。 ",
    ]
    text = (fold if compiled.script == "latin" else fold_native)(" ".join(said) * 200)
    alone = {number for number, rule in enumerate(compiled.anywhere) if rule.match.search(text)}
    assert set(compiled.anywhere_set.Match(text) or ()) == alone
