"""List the scores of evaluator plug-ins, for stores and for people."""

from schemas.enriched import EnrichedAnswer
from schemas.evaluations import EvaluatorScore
from workers.decision.enrichment import JUDGES

NO_REPORT = "no report came in time"


def evaluator_scores(enriched: EnrichedAnswer) -> list[EvaluatorScore]:
    """Return the scores of evaluator plug-ins in the order of the reports, then those whose report is missing.

    Only a report with the status ``ok`` has scores here.
    """
    found = []
    for name, report in enriched.evaluations.items():
        is_ok = report.status == "ok"
        found.append(
            EvaluatorScore(
                evaluator=name,
                status=report.status,
                score=report.score if is_ok else None,
                scores=report.scores if is_ok else {},
                reason=report.reason,
                explanation=report.explanation,
            )
        )
    missing = [name for name in enriched.missing if name not in JUDGES]
    return [*found, *(EvaluatorScore(evaluator=name, status="missing", reason=NO_REPORT) for name in missing)]
