"""Rank several models' answers to one query, with reasons."""

from collections.abc import Sequence

from pydantic import BaseModel

from schemas.enriched import EnrichedAnswer


class Ranked(BaseModel):
    """Describe an answer and its rank by quality.

    Attributes:
        rank: 1 for the best; equal answers share a rank.
        answer_id: the answer.
        model: model of the answer.
        score: gate score x validator score; null if nothing could be evaluated.
        gate_score: mean of the seven characteristics.
        validator_score: 1 minus the weights of the failure signals.
        escalated: whether the validator escalates it.
        reasons: differences from the best answer; for the best answer, differences from the second.
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
"""Minimum difference of a characteristic that is listed as a reason."""


def rank_answers(answers: Sequence[EnrichedAnswer]) -> list[Ranked]:
    """Rank answers to one query by their scores.

    Escalated answers sort last. Otherwise the order is by the product of gate score and validator score, then by
    identifier. The order of the arguments does not matter.

    Args:
        answers: evaluated answers to the same query.
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
    """Return the product of gate score and validator score; ``None`` if either is missing."""
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
