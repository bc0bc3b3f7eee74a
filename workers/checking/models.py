"""What is asked and answered by ``POST /v1/check``."""

from datetime import UTC, datetime
from uuid import uuid4

from pydantic import BaseModel, Field

from schemas.answers import GeneratedAnswer
from schemas.base import EventTime, Identifier, Label, Many, Metadata, RiskLevel, Score, Seconds
from schemas.enriched import EnrichedAnswer, EvaluationResult, ReleaseState
from schemas.grounding import Claim, GroundingIssue
from schemas.quality import FailureSignal
from schemas.release import ReleasedAnswer
from schemas.reports import AgentName


class AnswerToCheck(GeneratedAnswer):
    """An answer as it is sent to the stream; what only the stream needs may be left out."""

    answer_id: Identifier = Field(
        default_factory=lambda: f"check-{uuid4()}", description="Made where none is given; send the same to the stream."
    )
    completed_at: EventTime = Field(
        default_factory=lambda: datetime.now(UTC), description="When the answer was complete; now by default."
    )


class CheckedAnswer(BaseModel):
    """What was found, what is decided, and what may be shown."""

    answer_id: Identifier
    state: ReleaseState = Field(
        description="released and warned: show content. fallback: show content in its place. held: show nothing."
    )
    content: str | None = Field(description="Markdown for the reader, as the stream would release it; null while held.")
    reasons: Many[Label] = Field(description="Why, in stable words.")
    review: bool = Field(description="The stream would ask a person.")
    hallucination_risk: RiskLevel | None
    grounding_score: Score | None
    gate_score: Score | None
    quality_score: Score | None
    evaluation: EvaluationResult = Field(description="The seven characteristics with how they came about.")
    claims: Many[Claim] = Field(description="Verdicts, with offsets in answer and sources.")
    issues: Many[GroundingIssue]
    signals: Many[FailureSignal] = Field(description="Signs that the answer failed.")
    ungrounded_claims: Many[str]
    citations: Many[Metadata] = Field(description="What the content cites, for a user interface.")
    degraded: bool = Field(description="A judgement is missing: not all of it could be made within the deadline.")
    failed: Many[AgentName] = Field(description="Which ones.")
    late: bool = Field(description="The model did not answer within the deadline; what needs it is among the failed.")
    without_verifier: bool = Field(
        description="A verifier is set and was too late, or failed: claims are judged by the rules alone."
    )
    pipeline_version: Label
    seconds: Seconds = Field(description="From the request to the result.")


def checked_answer(enriched: EnrichedAnswer, released: ReleasedAnswer, *, late: bool, seconds: float) -> CheckedAnswer:
    """The answer to a check, of what the pipeline makes of it.

    Args:
        enriched: everything that was found.
        released: what the stream would release.
        late: whether the model was too late.
        seconds: that it took.
    """
    grounding, quality = enriched.grounding, enriched.quality
    return CheckedAnswer(
        answer_id=enriched.answer_id,
        state=enriched.decision.state,
        content=released.content,
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
        late=late,
        without_verifier=bool(grounding and grounding.without_verifier),
        pipeline_version=enriched.pipeline_version,
        seconds=seconds,
    )
