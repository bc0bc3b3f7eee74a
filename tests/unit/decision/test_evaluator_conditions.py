"""Scores of evaluator plug-ins in a decision: never good where they are unknown, and no harm without a condition."""

from typing import Any

import pytest
from pydantic import ValidationError

from schemas.enriched import EnrichedAnswer
from schemas.evaluations import EvaluationReport
from schemas.export import example
from schemas.reports import Report
from workers.decision.decision import alerts_for
from workers.decision.enrichment import enrich
from workers.decision.explanation import explain
from workers.decision.policy import DecisionPolicy
from workers.delivery.join.assembler import ExpectedEvaluators
from workers.delivery.records import Record
from workers.evaluation.thresholds import GateThresholds, GroundingThresholds
from workers.evaluation.trimming import fit_record
from workers.pipeline.reports import Origin, build_enriched_answer
from workers.settings import Settings
from workers.stores.clickhouse.rows.clickhouse_rows import enriched_rows
from workers.stores.clickhouse.rows.score_rows import stored_scores

ENRICHED = EnrichedAnswer.model_validate(example(EnrichedAnswer))
REPORT = EvaluationReport.model_validate(example(EvaluationReport))
CONDITION = {"audit_share": 0.0, "evaluators": {"tone": {"minimum": 0.5}}}


def enriched_with(
    report: EvaluationReport | None, policy: dict[str, Any] | None = None, mode: str = "gatekeeper"
) -> EnrichedAnswer:
    reports: dict[str, Report] = {
        name: found for name in ("citations", "grounding", "quality") if (found := getattr(ENRICHED, name)) is not None
    }
    if report is not None:
        reports["tone"] = report
    return enrich(
        ENRICHED.answer.model_copy(update={"risk_mode": mode}), reports, partition=0, offset=0,
        now=ENRICHED.enriched_at, pipeline_version="1", default_risk_mode="observer", gate=GateThresholds(),
        grounding_thresholds=GroundingThresholds(), style="numeric", remember_without_context=False,
        policy=DecisionPolicy.model_validate(policy or {"audit_share": 0.0}), evaluators=["tone"],
    )  # fmt: skip


def changed(**fields: Any) -> EvaluationReport:
    return REPORT.model_copy(update=fields)


FAILED = changed(status="failed", reason="it raised", score=0.9)
UNKNOWN = {
    "missing": None,
    "failed": FAILED,
    "skipped": changed(status="skipped", reason="no text", score=None),
    "without a score": changed(score=None),
}


def test_a_good_score_holds_nothing() -> None:
    found = enriched_with(changed(score=0.5), CONDITION)
    assert (found.decision.state, found.decision.reasons, found.decision.remember) == ("released", [], True)


@pytest.mark.parametrize(("mode", "state"), [("gatekeeper", "held"), ("observer", "warned")])
def test_a_score_below_the_minimum_has_its_effect(mode: str, state: str) -> None:
    found = enriched_with(changed(score=0.49), CONDITION, mode)
    assert (found.decision.state, found.decision.reasons) == (state, ["evaluations.tone.below_minimum"])
    assert not found.degraded


@pytest.mark.parametrize("case", UNKNOWN)
def test_an_unknown_score_is_never_a_good_one(case: str) -> None:
    held = enriched_with(UNKNOWN[case], CONDITION)
    assert held.decision.state == "held"
    assert "evaluations.tone.unknown" in held.decision.reasons
    shown = enriched_with(UNKNOWN[case], CONDITION, "observer")
    assert "evaluations.tone.unknown" in shown.decision.reasons
    assert not shown.decision.remember


@pytest.mark.parametrize("case", ["missing", "failed"])
def test_only_an_evaluator_that_the_policy_names_degrades_the_answer(case: str) -> None:
    free, named = enriched_with(UNKNOWN[case]), enriched_with(UNKNOWN[case], CONDITION)
    assert (getattr(free, case), free.degraded, free.decision.state) == (["tone"], False, "released")
    assert (getattr(named, case), named.degraded) == (["tone"], True)
    assert not alerts_for(free, GroundingThresholds())
    assert free.rank == named.rank == ENRICHED.rank


def test_an_override_has_conditions_of_its_own() -> None:
    query_type = ENRICHED.answer.query_type
    policy = {**CONDITION, "overrides": [{"tenant": ENRICHED.tenant, "evaluators": {"tone": {"minimum": 0.1}}}]}
    assert enriched_with(changed(score=0.2), policy).decision.state == "released"
    policy["overrides"] = [{"tenant": "other", "query_type": query_type, "evaluators": {"tone": {"minimum": 0.1}}}]
    assert enriched_with(changed(score=0.2), policy).decision.state == "held"


def test_an_explanation_has_the_condition_and_the_scores() -> None:
    found = enriched_with(changed(score=0.2), CONDITION)
    told = explain(found, GateThresholds(), GroundingThresholds(), DecisionPolicy.model_validate(CONDITION))
    (row,) = (row for row in told.rows if row.decided)
    assert (row.fact, row.value, row.threshold) == ("evaluations.tone.below_minimum", 0.2, 0.5)
    assert [(each.evaluator, each.score, each.scores) for each in told.evaluations] == [("tone", 0.2, REPORT.scores)]


def test_a_condition_on_an_evaluator_that_is_not_enabled_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"names tone, which evaluators\.enabled lacks"):
        Settings(_env_file=None, decision=CONDITION)


def test_answers_wait_for_an_evaluator_of_the_policy_as_for_a_builtin_one() -> None:
    settings = Settings(_env_file=None, decision=CONDITION, evaluators={"enabled": ["other", "tone"]})
    expected = ExpectedEvaluators.of_settings(settings)
    assert (expected.required, expected.optional) == (("tone",), ("other",))


def test_an_answer_without_plugins_says_nothing_of_them() -> None:
    assert b'"evaluations"' not in ENRICHED.to_bytes()
    known = enriched_with(REPORT)
    assert EnrichedAnswer.from_bytes(known.to_bytes()).evaluations == {"tone": REPORT}


def test_reports_of_evaluators_that_are_not_enabled_stay_outside() -> None:
    origin = Origin(Settings(_env_file=None), "1", ENRICHED.enriched_at)
    record = Record("answers.generated", 0, 0, None, None)
    found, _ = build_enriched_answer(ENRICHED.answer, {"tone": REPORT}, record, origin)
    assert found.evaluations == {} and "tone" not in found.missing


def test_details_of_plugins_are_left_out_before_all_else() -> None:
    large = enriched_with(changed(details={"words": "x" * 200_000}))
    small, value = fit_record(large, 150_000)
    assert len(value) <= 150_000 and small.trimmed == ["evaluator_details"]
    assert small.evaluations["tone"].details == {} and small.evaluations["tone"].score == REPORT.score
    assert small.formatted == large.formatted


def score_columns(enriched: EnrichedAnswer) -> list[dict[str, Any]]:
    empty = {"value": None, "reason": "", "explanation": ""}
    return [empty | row.columns for row in enriched_rows(enriched) if row.table == "scores"]


def test_every_score_has_a_row_and_only_its_own_row_has_the_explanation() -> None:
    rows = {row["name"]: row for row in score_columns(enriched_with(REPORT))}
    assert {name: row["value"] for name, row in rows.items()} == {"score": 0.92, **REPORT.scores}
    assert [name for name, row in rows.items() if row["explanation"] or row["details"]] == ["score"]


def test_a_late_report_replaces_the_note_that_it_was_missing() -> None:
    ranks = [score_columns(enriched_with(report))[0]["rank"] for report in (None, FAILED, REPORT)]
    assert ranks == sorted(set(ranks))


def test_a_failed_report_has_no_score_in_rows_and_views() -> None:
    (row,) = score_columns(enriched_with(FAILED))
    assert (row["status"], row["value"], row["reason"]) == ("failed", None, "it raised")
    (shown,) = stored_scores([row])
    assert (shown.status, shown.score, shown.reason) == ("failed", None, "it raised")


def test_scores_of_an_earlier_report_are_not_shown_beside_a_later_one() -> None:
    rows = score_columns(enriched_with(REPORT))
    old = [row | {"judged_at": "2026-11-01T00:00:00+00:00"} for row in rows if row["name"] == "sober"]
    kept = [row for row in rows if row["name"] != "sober"]
    (shown,) = stored_scores([*kept, *old])
    assert shown.scores == {"polite": 1.0}
