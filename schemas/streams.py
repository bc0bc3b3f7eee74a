"""Define the chunks of answers that still arrive, and the findings on their sentences."""

from pydantic import Field

from schemas.base import Event, Identifier, Label, Many, Metadata, RiskLevel, ShortText, UtcDatetime
from schemas.grounding import Claim

MAX_CHUNKS = 100_000
"""Maximum number of chunks of an answer."""


class AnswerChunk(Event):
    """A piece of the text of an answer, in any order; a repeated chunk has no effect."""

    answer_id: Identifier = Field(description="The answer; with the tenant the key of the topic.")
    tenant: Identifier = Field(default="default", description="Tenant of the answer.")
    index: int = Field(ge=0, lt=MAX_CHUNKS, description="Position of the chunk in the answer, from 0 without gaps.")
    text: str = Field(default="", max_length=60_000, description="The piece of text; may be empty.")
    last: bool = Field(default=False, description="True for the chunk with the highest index.")
    answer: Metadata | None = Field(
        default=None,
        description="The other fields of GeneratedAnswer (query, contexts, model …), on one chunk, best on the first.",
    )


class CheckedSentences(Event):
    """Findings on a finished sentence of an answer that still arrives; the identifier is answer and start."""

    answer_id: Identifier = Field(description="The answer; with the tenant the key of the topic.")
    tenant: Identifier = Field(default="default", description="Tenant of the answer.")
    start: int = Field(ge=0, description="Offset of the sentence in the answer, code points.")
    end: int = Field(ge=0, description="Offset after its last code point.")
    claims: Many[Claim] = Field(default_factory=list, description="Its claims with their verdicts by the rules.")
    hallucination_risk: RiskLevel | None = Field(default=None, description="Risk of the answer so far.")
    stop: Label | None = Field(
        default=None, description="The finding that stops the stream by TOUCHSTONE_CHECK__STOP_ON, if there is one."
    )
    problem: ShortText | None = Field(default=None, description="Why there are no findings.")
    checked_at: UtcDatetime = Field(description="Time of the chunk that finished the sentence.")
    pipeline_version: Label = Field(description="Version of the pipeline.")
