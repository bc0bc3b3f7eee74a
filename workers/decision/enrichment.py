"""Build the enriched answer from an answer and its reports."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from schemas.answers import GeneratedAnswer
from schemas.base import RiskMode
from schemas.citations import CitationReport
from schemas.enriched import EnrichedAnswer
from schemas.evaluations import EvaluationReport
from schemas.grounding import GroundingReport
from schemas.identifiers import LIVE_RUN
from schemas.quality import QualityReport
from schemas.reports import AgentName, Report
from workers.decision.decision import decide
from workers.decision.policy import DecisionPolicy
from workers.decision.reader_text.presentation import DEFAULT_POLICY, ReaderPolicy, present
from workers.decision.reader_text.reference_list import Style
from workers.evaluation.quality.characteristics import evaluate
from workers.evaluation.thresholds import GateThresholds, GroundingThresholds

R = TypeVar("R", bound=Report)

JUDGES: tuple[AgentName, ...] = ("citations", "grounding", "quality")
"""The agents whose reports are joined, in order."""


def completeness(reports: Sequence[Report]) -> int:
    """Return the rank of a result: 1 for an answer without any report, 4 with all three reports.

    A report that was skipped for a valid reason counts as complete. A failed report does not count, and neither does a
    grounding report without the configured verifier.
    """
    return 1 + sum(_is_complete(report) for report in reports)


def _is_complete(report: Report) -> bool:
    return report.status != "failed" and not (isinstance(report, GroundingReport) and report.without_verifier)


def enrich(
    answer: GeneratedAnswer,
    reports: Mapping[str, Report],
    *,
    partition: int,
    offset: int,
    now: datetime,
    pipeline_version: str,
    default_risk_mode: RiskMode,
    gate: GateThresholds,
    grounding_thresholds: GroundingThresholds,
    style: Style,
    remember_without_context: bool,
    policy: DecisionPolicy | None = None,
    reader: ReaderPolicy = DEFAULT_POLICY,
    run: str = LIVE_RUN,
    evaluators: Sequence[str] = (),
) -> EnrichedAnswer:
    """Join an answer with whatever reports there are.

    Args:
        answer: the answer.
        reports: by agent. The result is degraded if the report of a built-in evaluator, or of one that the policy
            names, is missing or failed.
        partition: partition of the answer.
        offset: offset of the answer.
        now: when it was put together.
        pipeline_version: of this worker.
        default_risk_mode: for answers that name none.
        gate: thresholds of the gate.
        grounding_thresholds: for the order of release states.
        style: formatting.
        remember_without_context: whether unchecked answers may be remembered.
        policy: the table of decisions; the settled one if absent.
        reader: what is done to the answer for its readers.
        run: live, or the name of a replay.
        evaluators: names of the evaluator plug-ins that are expected to report.
    """
    citations = _typed(reports.get("citations"), CitationReport)
    grounding = _typed(reports.get("grounding"), GroundingReport)
    quality = _typed(reports.get("quality"), QualityReport)
    evaluations = {name: report for name in evaluators if (report := _typed(reports.get(name), EvaluationReport))}
    expected = (*JUDGES, *evaluators)
    missing = [name for name in expected if name not in reports]
    failed = [name for name in expected if name in reports and reports[name].status == "failed"]
    policy = policy or DecisionPolicy()
    resolved = policy.resolved(answer.tenant, answer.query_type)
    degraded = not {*JUDGES, *resolved.evaluators}.isdisjoint((*missing, *failed))
    if resolved.gate_score is not None:
        gate = gate.model_copy(update={"gate_score": resolved.gate_score})
    evaluation = evaluate(answer, citations, grounding, quality, gate)
    risk_mode = answer.risk_mode or default_risk_mode
    decision = decide(
        answer,
        risk_mode,
        citations,
        grounding,
        quality,
        evaluation,
        degraded=degraded,
        gate=gate,
        grounding_thresholds=grounding_thresholds,
        policy=policy,
        remember_without_context=remember_without_context,
        evaluations=evaluations,
    )
    return EnrichedAnswer(
        answer_id=answer.answer_id,
        tenant=answer.tenant,
        run=run,
        pipeline_version=pipeline_version,
        answer_partition=partition,
        answer_offset=offset,
        answer=answer,
        risk_mode=risk_mode,
        citations=citations,
        grounding=grounding,
        quality=quality,
        evaluations=evaluations,
        evaluation=evaluation,
        formatted=present(answer, citations, grounding, quality, decision, style, reader),
        decision=decision,
        degraded=degraded,
        missing=missing,
        failed=failed,
        trimmed=sorted({part for report in reports.values() for part in report.trimmed}),
        rank=completeness([report for name, report in reports.items() if name in JUDGES]),
        enriched_at=now,
    )


def _typed(report: Report | None, kind: type[R]) -> R | None:
    if report is not None and not isinstance(report, kind):
        raise TypeError(f"expected a {kind.__name__}, got a {type(report).__name__}")
    return report
