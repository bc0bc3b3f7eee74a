"""Define request and response of ``POST /v1/check``."""

from datetime import UTC, datetime
from uuid import uuid4

from pydantic import BaseModel, Field

from schemas.answers import GeneratedAnswer
from schemas.base import AnswerText, EventTime, Identifier, Label, Many, Metadata, RiskLevel, Score, Seconds
from schemas.enriched import EnrichedAnswer, EvaluationResult, ReleaseState
from schemas.evaluations import EvaluatorScore
from schemas.grounding import Claim, GroundingIssue
from schemas.quality import FailureSignal
from schemas.release import ReleasedAnswer
from workers.decision.evaluator_scores import evaluator_scores
from workers.decision.reader_text.presentation import disclaimed_risk
from workers.decision.reader_text.reader_texts import ReaderTexts
from workers.decision.stream_stop import StopOn


class AnswerToCheck(GeneratedAnswer):
    """Describe an answer in the format of the stream; fields that only the stream needs are optional."""

    answer_id: Identifier = Field(
        default_factory=lambda: f"check-{uuid4()}",
        description="Identifier of the answer; generated if absent. Send the same identifier to the stream.",
    )
    completed_at: EventTime = Field(
        default_factory=lambda: datetime.now(UTC), description="Completion time of the answer; now by default."
    )


class CheckedAnswer(BaseModel):
    """Hold the findings on an answer, the decision, and the text that may be shown."""

    answer_id: Identifier
    state: ReleaseState = Field(
        description="released and warned: show content. fallback: show content instead of the answer. held: show "
        "nothing."
    )
    content: str | None = Field(
        description="Markdown for the reader, equal to the release of the stream; null while held."
    )
    notice: str = Field(
        description="Disclaimer within content, Markdown; empty without one. For a reader who was shown the raw answer."
    )
    message: str = Field(
        description="Text to show in place of a held answer, in the language of the answer; empty for others."
    )
    reasons: Many[Label] = Field(description="Stable codes of the reasons.")
    review: bool = Field(description="True if the stream would request a review.")
    hallucination_risk: RiskLevel | None
    grounding_score: Score | None
    gate_score: Score | None
    quality_score: Score | None
    evaluation: EvaluationResult = Field(description="The seven characteristics with their explanations.")
    claims: Many[Claim] = Field(description="Claims with verdicts and offsets in answer and sources.")
    issues: Many[GroundingIssue]
    signals: Many[FailureSignal] = Field(description="Failure signals of the answer.")
    ungrounded_claims: Many[str]
    citations: Many[Metadata] = Field(description="What the content cites, for a user interface.")
    degraded: bool = Field(
        description="True if an evaluation is missing, because it did not finish within the deadline or failed."
    )
    failed: Many[Label] = Field(description="Which ones.")
    evaluations: Many[EvaluatorScore] = Field(description="Scores of evaluator plug-ins.")
    late: bool = Field(
        description="True if the model did not respond within the deadline; evaluations that need it have failed."
    )
    without_verifier: bool = Field(
        description="True if a configured verifier was too late or failed; claims are then evaluated by the rules only."
    )
    pipeline_version: Label
    seconds: Seconds = Field(description="Seconds from the request to the result.")


class AnswerBegun(AnswerToCheck):
    """Describe an answer whose text still arrives."""

    answer: AnswerText = Field(default="", description="The beginning of the text, usually empty.")


class CheckedPart(BaseModel):
    """Hold the findings on the sentences of an unfinished answer that were not checked before."""

    start: int = Field(description="Offset of the first new code point in the raw answer.")
    end: int = Field(description="Offset after the last new code point; everything before it is checked.")
    state: ReleaseState | None = Field(
        description="Decision on the answer up to end; null if it could not be checked in time."
    )
    reasons: Many[Label] = Field(description="Stable codes of the reasons.")
    hallucination_risk: RiskLevel | None = Field(description="Risk of the answer up to end.")
    claims: Many[Claim] = Field(description="Claims of the new sentences with verdicts and offsets.")
    degraded: bool = Field(description="True if an evaluation is missing.")
    problem: str = Field(default="", description="Why there is no state; empty otherwise.")
    stop: StopOn | None = Field(
        default=None, description="The finding that stops the stream; no verdict on the whole answer follows then."
    )


def checked_part(start: int, end: int, claims_from: int, checked: CheckedAnswer) -> CheckedPart:
    """Build the findings on new sentences from those on the answer up to their end.

    Args:
        start: offset of the first new code point.
        end: offset after the last new code point.
        claims_from: end of the last claim of earlier parts.
        checked: findings on the answer up to ``end``.
    """
    return CheckedPart(
        start=start,
        end=end,
        state=checked.state,
        reasons=checked.reasons,
        hallucination_risk=checked.hallucination_risk,
        claims=[claim for claim in checked.claims if claim.span.end > claims_from],
        degraded=checked.degraded,
    )


def unchecked_part(start: int, end: int, problem: str) -> CheckedPart:
    """Build the report on sentences that could not be checked in time."""
    return CheckedPart(
        start=start, end=end, state=None, reasons=[], hallucination_risk=None, claims=[], degraded=True, problem=problem
    )


def checked_answer(
    enriched: EnrichedAnswer, released: ReleasedAnswer, texts: ReaderTexts, *, late: bool, seconds: float
) -> CheckedAnswer:
    """Build the response to a check from the results of the pipeline.

    Args:
        enriched: the enriched answer.
        released: the release of the stream.
        texts: texts in the language of the answer.
        late: True if the model was too late.
        seconds: duration of the check.
    """
    grounding, quality = enriched.grounding, enriched.quality
    return CheckedAnswer(
        answer_id=enriched.answer_id,
        state=enriched.decision.state,
        content=released.content,
        notice=texts.disclaimer(disclaimed_risk(enriched.decision, grounding)),
        message=texts.held if enriched.decision.state == "held" else "",
        reasons=enriched.decision.reasons,
        review=enriched.decision.review,
        hallucination_risk=grounding.hallucination_risk if grounding else None,
        grounding_score=grounding.grounding_score if grounding else None,
        gate_score=enriched.evaluation.score,
        quality_score=quality.overall_score if quality else None,
        evaluation=enriched.evaluation,
        claims=grounding.claims if grounding else [],
        issues=grounding.issues if grounding else [],
        signals=quality.signals if quality else [],
        ungrounded_claims=released.ungrounded_claims,
        citations=released.citations,
        degraded=enriched.degraded,
        failed=enriched.failed,
        evaluations=evaluator_scores(enriched),
        late=late,
        without_verifier=bool(grounding and grounding.without_verifier),
        pipeline_version=enriched.pipeline_version,
        seconds=seconds,
    )
