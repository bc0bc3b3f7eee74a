"""Tell from the row of a stored answer what it says of each rule, and what it cannot say."""

from dataclasses import asdict
from typing import Any

import pytest

from tests.unit.decision.test_decision import GATE, Case, replace
from workers.console.presentation.rule_words import rules_in_words
from workers.console.presentation.words import words_of
from workers.decision.decision_basis import UNSTORED, basis_of
from workers.decision.explanation import Explanation, explain, explain_row
from workers.decision.policy import DecisionPolicy, Effect, EvaluatorCondition, Row
from workers.evaluation.thresholds import GateThresholds, GroundingThresholds
from workers.stores.clickhouse.rows.clickhouse_rows import enriched_rows

NO_AUDIT = DecisionPolicy(audit_share=0.0)


def both(case: Case, policy: DecisionPolicy = NO_AUDIT, *, kept: bool = False) -> tuple[Explanation, Explanation]:
    """Explain one answer from its reports and from its stored row, with or without its findings."""
    enriched = case.enriched()
    thresholds = GateThresholds(), GroundingThresholds(), policy
    row = asdict(enriched_rows(enriched, basis_of(enriched, *thresholds) if kept else None)[0])
    return explain(enriched, *thresholds), explain_row(row, *thresholds)


HELD = replace(GATE, gate_score=0.1)
CASES = [
    (replace(HELD, said_before=True), "said_before"),
    (replace(HELD, contradicts=True), "contradicts_earlier"),
    (replace(HELD, conflict=True), "conflicting_sources"),
    (replace(HELD, bare_recommendation=True), "uncited_recommendation"),
    (replace(GATE, grounding_score=0.2, conflict=True), "conflicting_sources"),
    (replace(GATE, grounding_score=0.2, unsupported=True, contradicts=True), "contradicts_earlier"),
]


@pytest.mark.parametrize(("case", "fact"), CASES)
def test_a_milder_fact_of_a_held_answer_is_not_known_instead_of_passed(case: Case, fact: str) -> None:
    whole, stored = both(case)
    assert stored.state in ("held", "fallback")
    assert next(row for row in whole.rows if row.fact == fact).applies
    (row,) = [row for row in stored.rows if row.fact == fact]
    assert (row.applies, row.value) == (None, None)
    (words,) = [each for each in rules_in_words(stored) if each.name == fact.replace("_", " ")]
    assert (words.measured, words.result) == ("not known", "not known")


@pytest.mark.parametrize(("case", "fact"), CASES)
def test_an_answer_that_kept_its_findings_tells_all_that_its_reports_tell(case: Case, fact: str) -> None:
    whole, stored = both(case, kept=True)
    found = {row.fact: row for row in stored.rows}
    assert None not in [row.applies for row in stored.rows]
    for row in whole.rows:
        assert found[row.fact].applies == row.applies
        if row.fact in UNSTORED:
            assert found[row.fact].value == row.value
    words = {each.name: each for each in rules_in_words(stored)}[words_of(fact)]
    assert words.measured == "1"
    assert words.result == "failed; a rule with a worse effect decided"


def test_findings_are_those_of_the_decision_and_not_of_the_present_settings() -> None:
    named = DecisionPolicy(audit_share=0.0, evaluators={"toxicity": EvaluatorCondition(minimum=0.7)})
    enriched = Case().enriched()
    row = asdict(enriched_rows(enriched, basis_of(enriched, GateThresholds(), GroundingThresholds(), named))[0])
    later = DecisionPolicy(audit_share=0.0, evaluators={"toxicity": EvaluatorCondition(minimum=0.2)})
    explained = explain_row(row, GateThresholds(), GroundingThresholds(), later)
    rows = {each.fact: each for each in explained.rows}
    assert rows["evaluations.toxicity.below_minimum"].threshold == 0.7
    words = {each.name: each for each in rules_in_words(explained)}
    assert words["evaluations.toxicity.below minimum"].needed == "at least 0.70"


def test_failure_signals_of_a_held_answer_are_not_known() -> None:
    _, stored = both(HELD)
    assert [row.applies for row in stored.rows if row.fact == "failure_signals"] == [None]


@pytest.mark.parametrize("mode", ["observer", "gatekeeper"])
@pytest.mark.parametrize(
    "changes",
    [
        {}, {"said_before": True}, {"conflict": True}, {"gate_score": 0.1}, {"grounding_score": 0.2}, {"degraded": True},
        {"has_context": False}, {"has_grounding": False}, {"other_source": True}, {"refusal": True}, {"contradicts": True},
        {"grounding_score": 0.2, "unsupported": True, "other_source": True}, {"gate_score": 0.1, "said_before": True},
    ],
)  # fmt: skip
def test_a_stored_answer_never_says_otherwise_than_its_reports(mode: str, changes: dict[str, Any]) -> None:
    whole, stored = both(Case(mode=mode, **changes))  # type: ignore[arg-type]
    said = {row.fact: row.applies for row in stored.rows if row.applies is not None}
    # The signals of the quality report are in another column than its flags.
    said = {fact: applies for fact, applies in said.items() if fact not in ("refusal", "invalid_citation")}
    assert said == {row.fact: row.applies for row in whole.rows if row.fact in said}
    assert set(whole.reasons) <= {row.fact for row in stored.rows if row.applies or row.fact == "refusal"}


def test_a_fact_without_effect_in_the_mode_is_not_known() -> None:
    silent = DecisionPolicy(audit_share=0.0, rows={"conflicting_sources": Row(gatekeeper=Effect(state="held"))})
    _, stored = both(Case(conflict=True), silent)
    # The answer was decided by the usual table, which has the fact among the reasons.
    assert [row.applies for row in stored.rows if row.fact == "conflicting_sources"] == [True]
    _, stored = both(Case(), silent)
    assert [row.applies for row in stored.rows if row.fact == "conflicting_sources"] == [None]


def test_a_rule_that_asks_for_no_citations_says_so() -> None:
    explained = both(replace(GATE, uncited=True), kept=True)
    for each in explained:
        (words,) = [rule for rule in rules_in_words(each) if rule.name == words_of("uncited_claim")]
        assert (words.measured, words.result) == ("1", "passed: citations are not required")
