"""Convert an enriched answer to evaluations, the common input of all exporters."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from schemas.enriched import EnrichedAnswer
from workers.decision.evaluator_scores import evaluator_scores


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One evaluation of an answer, without text from the answer.

    Attributes:
        name: name of the evaluation.
        value: score in 0..1; ``None`` where the evaluation has no score.
        label: categorical result; ``None`` where the evaluation has no label.
        explanation: method, verdict counts, issue types or decision reasons.
        error: error code if the evaluation has no result.
    """

    name: str
    value: float | None = None
    label: str | None = None
    explanation: str = ""
    error: str | None = None


def evaluations(enriched: EnrichedAnswer) -> list[Evaluation]:
    """Return the evaluations of an answer; scores that could not be computed are omitted.

    Returns:
        The evaluator's metrics, the gate score with its label, the grounding score, the hallucination risk, the
        quality score, the scores of evaluator plug-ins, the release decision, and an error for each evaluation that failed or is missing.
    """
    return [*_scores(enriched), *_failures(enriched)]


def _scores(enriched: EnrichedAnswer) -> Iterator[Evaluation]:
    result, grounding, quality = enriched.evaluation, enriched.grounding, enriched.quality
    for name, score in result.metrics.items():
        if score is not None:
            detail = result.details.get(name)
            yield Evaluation(name, score, explanation=detail.method if detail else "")
    if result.score is not None:
        yield Evaluation("gate_score", result.score, "pass" if result.passed else "fail", result.reasoning)
    if grounding is not None and grounding.grounding_score is not None:
        verdicts = Counter(claim.verdict for claim in grounding.claims)
        told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
        yield Evaluation("grounding_score", grounding.grounding_score, explanation=f"Claims: {told}." if told else "")
    if grounding is not None and grounding.hallucination_risk is not None:
        issues = ", ".join(sorted({issue.type for issue in grounding.issues}))
        yield Evaluation(
            "hallucination_risk", label=grounding.hallucination_risk, explanation=f"Issues: {issues}." if issues else ""
        )
    if quality is not None and quality.overall_score is not None:
        yield Evaluation("quality_score", quality.overall_score)
    for each in evaluator_scores(enriched):
        if each.score is not None:
            # The explanation is free text, which may quote the answer.
            yield Evaluation(each.evaluator, each.score)
    yield Evaluation("release", label=enriched.decision.state, explanation=", ".join(enriched.decision.reasons))


def _failures(enriched: EnrichedAnswer) -> Iterator[Evaluation]:
    for agent in enriched.failed:
        yield Evaluation(agent, error="evaluation_failed")
    for agent in enriched.missing:
        yield Evaluation(agent, error="evaluation_missing")
