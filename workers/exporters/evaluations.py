"""An enriched answer as a list of evaluations: what every receiver of scores is told, whatever its format."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from schemas.enriched import EnrichedAnswer


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One evaluation of an answer; names, figures and words of ours, never text of the answer.

    Attributes:
        name: what was evaluated.
        value: the score in 0..1, if it is one.
        label: the result in a word of few, if it is one.
        explanation: how it came about.
        error: why there is no result, as a word of few.
    """

    name: str
    value: float | None = None
    label: str | None = None
    explanation: str = ""
    error: str | None = None


def evaluations(enriched: EnrichedAnswer) -> list[Evaluation]:
    """What is known of an answer; what could not be judged is left out, what failed says so.

    Returns:
        The characteristics of seed 002, the gate score with its label, the grounding score, the
        hallucination risk, the quality score, the decision, and each judgement that failed or is missing.
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
    yield Evaluation("release", label=enriched.decision.state, explanation=", ".join(enriched.decision.reasons))


def _failures(enriched: EnrichedAnswer) -> Iterator[Evaluation]:
    for agent in enriched.failed:
        yield Evaluation(agent, error="judgement_failed")
    for agent in enriched.missing:
        yield Evaluation(agent, error="judgement_missing")
