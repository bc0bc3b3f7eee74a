"""Convert the reports of evaluator plug-ins to rows of the table ``scores``, and the rows back to scores."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import to_json

from schemas.enriched import EnrichedAnswer
from schemas.evaluations import EvaluationReport, EvaluatorScore
from workers.decision.evaluator_scores import evaluator_scores
from workers.stores.tables.answer_tables import ScoreRow

OWN_SCORE = "score"
"""Name of the main score of an evaluator; its other scores have their own names."""

RANKS = {"missing": 1, "failed": 2, "skipped": 3, "ok": 4}
"""Rank of a row by its status; of two rows of one score, the one with the higher rank is kept."""


def score_rows(enriched: EnrichedAnswer) -> list[ScoreRow]:
    """Return the rows of all evaluator plug-ins for an answer, also of those without a report."""
    rows = [row for report in enriched.evaluations.values() for row in report_rows(report)]
    for each in evaluator_scores(enriched):
        if each.status == "missing":
            missing = ScoreRow(
                tenant=enriched.tenant,
                answer_id=enriched.answer_id,
                run=enriched.run,
                evaluator=each.evaluator,
                name=OWN_SCORE,
                pipeline_version=enriched.pipeline_version,
                rank=RANKS[each.status],
                completed_at=enriched.answer.completed_at,
                status=each.status,
                reason=each.reason or "",
                judged_at=enriched.enriched_at,
            )
            rows.append(missing)
    return rows


def report_rows(report: EvaluationReport) -> list[ScoreRow]:
    """Return the rows of one report: one for each score. Only a report with the status ``ok`` has scores."""
    scores = {OWN_SCORE: report.score, **{k: v for k, v in report.scores.items() if k != OWN_SCORE}}
    if report.status != "ok":
        scores = {OWN_SCORE: None}
    return [_row(report, name, value) for name, value in scores.items()]


def stored_scores(rows: Sequence[Mapping[str, Any]]) -> list[EvaluatorScore]:
    """Return the results of evaluator plug-ins from the rows of one answer, in the order of the evaluators' names."""
    own = {row["evaluator"]: row for row in rows if row["name"] == OWN_SCORE}
    found = {
        name: EvaluatorScore(
            evaluator=name,
            status=row["status"],
            score=row["value"],
            reason=row["reason"] or None,
            explanation=row["explanation"] or None,
        )
        for name, row in sorted(own.items())
    }
    for row in rows:
        # Rows of an earlier report remain if a later report has no score of that name.
        name = row["evaluator"]
        if row["name"] != OWN_SCORE and name in own and row["judged_at"] == own[name]["judged_at"]:
            found[name].scores[row["name"]] = row["value"]
    return list(found.values())


def _row(report: EvaluationReport, name: str, value: float | None) -> ScoreRow:
    is_own = name == OWN_SCORE
    return ScoreRow(
        tenant=report.tenant,
        answer_id=report.answer_id,
        run=report.run,
        evaluator=report.agent,
        name=name,
        pipeline_version=report.pipeline_version,
        rank=RANKS[report.status],
        completed_at=report.completed_at,
        status=report.status,
        value=value,
        reason=report.reason or "",
        explanation=(report.explanation or "") if is_own else "",
        details=to_json(report.details).decode() if is_own and report.details else "",
        seconds=report.duration_seconds,
        judged_at=report.judged_at,
    )
