"""Conversational memory (seed 000)."""

from pydantic import Field

from schemas.base import AnswerText, Event, Identifier, Label, LongText, Many, RiskLevel, Score, UtcDatetime


class ConversationTurn(Event):
    """A final answer as it is remembered; hallucinations must not feed themselves."""

    turn_id: Identifier = Field(description="'turn_' and the UUIDv5 of (answer_id, 'turn').")
    answer_id: Identifier
    tenant: Identifier = "default"
    session_id: Identifier | None = None
    user_id: Identifier | None = None
    query: LongText = ""
    response: AnswerText
    context_chunks: Many[Identifier] = Field(default_factory=list, description="Chunks that were used.")
    query_type: Label | None = None
    quality_score: Score | None = None
    hallucination_risk: RiskLevel | None = None
    grounding_score: Score | None = None
    user_feedback: Score | None = Field(default=None, description="Reward, when there is one.")
    revision: int = Field(default=1, ge=1, description="Grows with corrections; the highest is kept.")
    timestamp: UtcDatetime = Field(description="When the answer was complete.")
