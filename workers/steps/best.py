"""The best of several models' answers to one query (seed 003, A/B testing), with reasons."""

from collections.abc import Sequence

from pydantic import BaseModel

from schemas.enriched import EnrichedAnswer


class Ranked(BaseModel):
    """An answer in the order of quality.

    Attributes:
        rank: 1 for the best; equal answers share a rank.
        answer_id: the answer.
        model: who wrote it.
        score: gate score x validator score; null where nothing could be judged.
        gate_score: mean of the seven characteristics.
        validator_score: 1 less the weights of the failure signals.
        escalated: whether the validator escalates it.
        reasons: what speaks for or against it, compared with the best, or with the second.
    """

    rank: int
    answer_id: str
    model: str
    score: float | None
    gate_score: float | None
    validator_score: float | None
    escalated: bool
    reasons: list[str]


TELLING = 0.05
"""Difference of a characteristic that is worth telling."""


def rank_answers(answers: Sequence[EnrichedAnswer]) -> list[Ranked]:
    """Order answers to one query by their scores.

    What the validator escalates stands behind all that it does not; then the gate score times
    the validator's score decides; equal ones keep the order of their identifiers, so that the
    order given does not matter.

    Args:
        answers: judged answers to the same query.
    """
    ordered = sorted(answers, key=lambda enriched: (*_order(enriched), enriched.answer_id))
    ranked: list[Ranked] = []
    for position, enriched in enumerate(ordered):
        other = ordered[1 if position == 0 else 0] if len(ordered) > 1 else None
        equal = position > 0 and _order(enriched) == _order(ordered[position - 1])
        ranked.append(
            Ranked(
                rank=ranked[-1].rank if equal else position + 1,
                answer_id=enriched.answer_id,
                model=enriched.answer.model.id,
                score=combined_score(enriched),
                gate_score=enriched.evaluation.score,
                validator_score=_validator_score(enriched),
                escalated=_escalated(enriched),
                reasons=_reasons(enriched, other, is_best=position == 0),
            )
        )
    return ranked


def combined_score(enriched: EnrichedAnswer) -> float | None:
    """Gate score times validator score; null where either is missing."""
    gate, validator = enriched.evaluation.score, _validator_score(enriched)
    return None if gate is None or validator is None else round(gate * validator, 6)


def _order(enriched: EnrichedAnswer) -> tuple[bool, bool, float]:
    score = combined_score(enriched)
    return _escalated(enriched), score is None, -(score or 0.0)


def _validator_score(enriched: EnrichedAnswer) -> float | None:
    validation = enriched.quality.validation if enriched.quality else None
    return validation.score if validation else None


def _escalated(enriched: EnrichedAnswer) -> bool:
    validation = enriched.quality.validation if enriched.quality else None
    return validation is not None and validation.should_escalate


def _reasons(enriched: EnrichedAnswer, other: EnrichedAnswer | None, *, is_best: bool) -> list[str]:
    reasons = []
    validation = enriched.quality.validation if enriched.quality else None
    if validation is not None and enriched.quality and enriched.quality.signals:
        reasons.append(validation.reason)
    if other is not None:
        theirs = other.evaluation.metrics
        differences = [
            (name, score - their)
            for name, score in enriched.evaluation.metrics.items()
            if score is not None and (their := theirs.get(name)) is not None and abs(score - their) >= TELLING
        ]
        against = "the second" if is_best else "the best"
        for name, difference in sorted(differences, key=lambda pair: (-abs(pair[1]), pair[0])):
            reasons.append(f"{name} {difference:+.2f} against {against}")
    return reasons or ["no difference worth telling"]
