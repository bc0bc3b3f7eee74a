"""Rules of a decision in words: every rule has a condition, and the one that set the state is named as the winner."""

from typing import Any

import pytest

from workers.console.presentation.rule_words import CONDITIONS, rules_in_words, winning_words
from workers.decision.decision import Fact, evaluator_facts
from workers.decision.explanation import Explanation, explained_rows
from workers.decision.policy import AUDIT, REASONS, DecisionPolicy, EvaluatorCondition

POLICY = DecisionPolicy(evaluators={"toxicity": EvaluatorCondition(minimum=0.7)})


def explained(state: str, reasons: list[str], mode: str = "gatekeeper", **found: Fact) -> Explanation:
    known = {reason: Fact(False, False) for reason in REASONS} | evaluator_facts(POLICY.evaluators, {"toxicity": 0.6})
    rows = explained_rows(known | found, reasons, POLICY, "acme", None, mode)  # type: ignore[arg-type]
    values: dict[str, Any] = {
        "answer_id": "a", "tenant": "acme", "query_type": None, "risk_mode": mode, "state": state, "reasons": reasons,
        "review": any(row.decided and row.effect is not None and row.effect.review for row in rows) or AUDIT in reasons,
        "final": False, "pipeline_version": "v", "rows": rows, "minima_kept": False,
    }  # fmt: skip
    return Explanation.model_validate(values)


def test_every_rule_of_the_table_has_a_condition() -> None:
    assert set(CONDITIONS) == set(REASONS)


@pytest.mark.parametrize(
    ("state", "reasons", "mode", "words"),
    [
        ("released", [], "gatekeeper", "Every rule passed: released."),
        ("released", [AUDIT], "observer", "Every rule passed: released, with a review. It is part of the random sample that people review."),
        ("held", ["refusal"], "gatekeeper", "The rule “refusal” decided: held, with a review."),
        ("held", ["refusal", "no_contexts"], "gatekeeper", "The rules “refusal” and “no contexts” decided: held, with a review."),
        ("fallback", ["no_evidence", "invalid_citation"], "gatekeeper", "The rule “no claim that the sources support” decided: fallback"),
        ("released", ["degraded"], "observer", "No failed rule keeps the answer from readers: released. Noted: “degraded”."),
        ("released", ["refusal", "degraded"], "observer", "No failed rule keeps the answer from readers: released, with a review. The rule “refusal” asked for the review. Noted: “degraded”."),
        ("warned", ["refusal", "medium_hallucination_risk"], "observer", "The rule “medium risk of hallucination” decided: warned, with a review. The rule “refusal” asked for the review."),
        ("held", ["evaluations.removed.below_minimum"], "gatekeeper", "The rule “evaluations.removed.below minimum” decided: held."),
    ],
)  # fmt: skip
def test_the_rule_that_set_the_state_won(state: str, reasons: list[str], mode: str, words: str) -> None:
    assert winning_words(explained(state, reasons, mode)).startswith(words)


def test_a_rule_says_field_measured_and_needed_value() -> None:
    found = {"grounding_below_minimum": Fact(True, 0.42, 0.5), "failed_tool": Fact(True, True)}
    rules = {rule.name: rule for rule in rules_in_words(explained("held", ["failed_tool"], **found))}
    below = rules["too little support in the sources"]
    assert below[1:] == (
        "grounding_score", "0.42", "at least 0.50 (present setting)", "failed; a rule with a worse effect decided", False
    )  # fmt: skip
    assert rules["failed call of a tool that the answer does not admit"][2:] == (
        "some", "none", "failed: held, with a review", True
    )  # fmt: skip
    assert rules["evaluations.toxicity.below minimum"][1:4] == (
        "score of toxicity",
        "0.60",
        "at least 0.70 (present setting)",
    )
    assert rules["evaluations.toxicity.unknown"][1:] == ("score of toxicity", "0.60", "a known score", "passed", False)


def test_a_rule_without_effect_in_a_mode_says_so() -> None:
    rules = rules_in_words(explained("released", [], "observer", gate_score_unknown=Fact(True, None)))
    (unknown,) = [rule for rule in rules if rule.name == "overall score unknown"]
    assert unknown[2:] == ("not known", "a known score", "failed, without effect in observer mode", False)


def test_a_rule_whose_value_was_never_measured_has_not_passed() -> None:
    found = {"grounding_below_minimum": Fact(False, None, 0.6), "words_not_compared": Fact(True, True)}
    rules = {rule.name: rule for rule in rules_in_words(explained("held", ["words_not_compared"], **found))}
    assert rules["too little support in the sources"][2:4] == ("not known", "at least 0.60 (present setting)")
    assert [name for name, rule in rules.items() if rule.result == "not measured"] == [
        "too little support in the sources"
    ]
    assert rules["too little support in the sources"].result == "not measured"
    assert rules["refusal"].result == "passed"


def test_a_fallback_has_no_review_that_a_rule_asked_for() -> None:
    failed = {name: Fact(True, True) for name in ("no_evidence", "refusal")}
    explanation = explained("fallback", [*failed], **failed).model_copy(update={"review": False})
    assert winning_words(explanation) == "The rule “no claim that the sources support” decided: fallback."
    rules = {rule.name: rule.result for rule in rules_in_words(explanation)}
    assert rules["no claim that the sources support"] == "failed: fallback"
    assert "review" not in rules["refusal"]


def test_a_rule_that_stops_no_release_is_not_its_reason() -> None:
    failed = {name: Fact(True, True) for name in ("refusal", "degraded")}
    rules = {rule.name: rule for rule in rules_in_words(explained("released", [*failed], "observer", **failed))}
    assert (rules["degraded"].result, rules["degraded"].won) == ("failed; only noted", False)
    assert (rules["refusal"].result, rules["refusal"].won) == ("failed: asked for a review", False)


def test_a_minimum_that_was_changed_since_does_not_rewrite_the_decision() -> None:
    found = {"grounding_below_minimum": Fact(False, 0.55, 0.5)}
    rules = rules_in_words(explained("fallback", ["grounding_below_minimum"], **found))
    (below,) = [rule for rule in rules if rule.name == "too little support in the sources"]
    assert (below.result, below.won) == ("failed then; it would pass with the present setting", True)
    found = {"gate_score_below_minimum": Fact(True, 0.75, 0.8)}
    rules = rules_in_words(explained("released", [], **found))
    (gate,) = [rule for rule in rules if rule.name == "overall score below the minimum"]
    assert (gate.result, gate.won) == ("passed then; it would fail with the present setting", False)


def test_a_minimum_that_was_stored_with_the_answer_is_no_present_setting() -> None:
    found = {"grounding_below_minimum": Fact(True, 0.42, 0.5)}
    kept = explained("fallback", ["grounding_below_minimum"], **found).model_copy(update={"minima_kept": True})
    needed = {rule.name: rule.needed for rule in rules_in_words(kept)}
    assert needed["too little support in the sources"] == "at least 0.50"
    assert needed["evaluations.toxicity.below minimum"] == "at least 0.70 (present setting)"
