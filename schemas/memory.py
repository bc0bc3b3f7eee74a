"""Define conversational memory."""

from pydantic import Field

from schemas.base import AnswerText, Event, Identifier, Label, LongText, Many, RiskLevel, Score, UtcDatetime


class ConversationTurn(Event):
    """A final answer in conversational memory; only grounded answers are stored, so that hallucinations do not recur."""

    turn_id: Identifier = Field(description="'turn_' and the UUIDv5 of (tenant, answer_id, 'turn').")
    answer_id: Identifier
    tenant: Identifier = "default"
    session_id: Identifier | None = None
    user_id: Identifier | None = None
    query: LongText = ""
    response: AnswerText
    context_chunks: Many[Identifier] = Field(default_factory=list, description="Identifiers of the used chunks.")
    query_type: Label | None = None
    quality_score: Score | None = None
    hallucination_risk: RiskLevel | None = None
    grounding_score: Score | None = None
    user_feedback: Score | None = Field(default=None, description="Reward, if known.")
    revision: int = Field(default=1, ge=1, description="Grows with corrections; the highest is kept.")
    timestamp: UtcDatetime = Field(description="Completion time of the answer.")
