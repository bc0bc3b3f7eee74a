"""The input: a generated answer with what it was generated from."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from schemas.base import (
    AnswerText,
    Event,
    EventTime,
    Identifier,
    Label,
    LongText,
    Metadata,
    Offset,
    Part,
    RiskMode,
    Score,
    ShortText,
    SourceText,
    TokenCount,
    UtcDatetime,
)

SourceType = Literal["document", "runbook", "database", "memory", "calculation", "dashboard", "web"]

CONFIDENCE_WORDS = {"high": 0.9, "medium": 0.6, "low": 0.3}
"""The words of the citation format of seed 000 as numbers: the middle of each third,
pulled to the edges so that a word never outranks a measured score of 1."""

MAX_CONTEXTS = 200
"""Most chunks that one answer may carry."""


def _confidence(value: object) -> object:
    if isinstance(value, str):
        try:
            return CONFIDENCE_WORDS[value.strip().lower()]
        except KeyError:
            raise ValueError("send a number in 0..1 or one of high, medium, low") from None
    return value


Confidence = Annotated[
    Score, BeforeValidator(_confidence, json_schema_input_type=Score | Literal["high", "medium", "low"])
]


class ContextChunk(Part):
    """One piece of evidence that the model was given."""

    chunk_id: Identifier = Field(description="The retriever's name for the chunk.")
    content: SourceText = Field(description="Text, a JSON record or a table; at most 100,000 code points.")
    source_type: SourceType = Field(default="document", description="Kind of source.")
    source_name: Label = Field(default="", description="Title for readers.")
    source_path: ShortText = Field(default="", description="Path or URL; never fetched.")
    source_table: Label | None = Field(default=None, description="Table, for database records.")
    record_id: Identifier | None = Field(default=None, description="Record in the table or memory.")
    entity: Label | None = Field(default=None, description="What the record is about (asset, account).")
    last_updated: UtcDatetime | None = Field(default=None, description="When the source changed last.")
    created_at: UtcDatetime | None = Field(default=None, description="When a memory was made.")
    source_event: ShortText | None = Field(default=None, description="What a memory was made from.")
    learned_at: UtcDatetime | None = Field(default=None, description="When a remembered preference was learned.")
    retrieval_score: Score | None = Field(default=None, description="The retriever's score, 0..1.")
    confidence: Confidence | None = Field(
        default=None, description="Trust in the source, 0..1; the words high, medium, low are accepted."
    )
    metadata: Metadata = Field(default_factory=dict, description="Anything else.")


class ModelReference(Part):
    """The model that wrote the answer."""

    id: Label = Field(default="unknown", description="Model name as the gateway knows it.")
    provider: Label | None = Field(default=None, description="Who serves it.")
    prompt_version: Label | None = Field(default=None, description="Version of the prompt.")
    temperature: float | None = Field(default=None, ge=0, le=10, allow_inf_nan=False)


class TokenUsage(Part):
    """Tokens spent."""

    prompt_tokens: TokenCount | None = None
    completion_tokens: TokenCount | None = None


class TraceReference(Part):
    """Where the answer stands in the caller's traces (W3C Trace Context)."""

    traceparent: str | None = Field(default=None, max_length=100)
    trace_id: str | None = Field(default=None, max_length=64)


class ProvidedCitation(Part):
    """A structured citation that the gateway sent along."""

    chunk_id: Identifier | None = Field(default=None, description="Chunk cited, by its identifier.")
    number: int | None = Field(default=None, ge=1, description="Chunk cited, by position from 1.")
    cited_text: ShortText | None = Field(default=None, description="The passage quoted from the source.")
    start: Offset | None = Field(default=None, description="Start in the answer, code points.")
    end: Offset | None = Field(default=None, description="End in the answer, exclusive.")


class GeneratedAnswer(Event):
    """An answer as the gateway delivered it, with the evidence that its model was given.

    Only ``answer_id``, ``answer`` and ``completed_at`` must be there: what is missing is
    judged as missing, never guessed.
    """

    nesting_reserve: ClassVar[int] = 8

    answer_id: Identifier = Field(description="Unique for each answer; the key of every topic.")
    tenant: Identifier = Field(default="default", description="Whose answer it is.")
    session_id: Identifier | None = Field(default=None, description="Conversation.")
    user_id: Identifier | None = Field(default=None, description="Pseudonym of the person who asked.")
    query: LongText = Field(default="", description="What was asked.")
    answer: AnswerText = Field(description="The answer, Markdown; at most 60,000 code points.")
    contexts: list[ContextChunk] | None = Field(
        default=None, max_length=MAX_CONTEXTS, description="Evidence in citation order; absent if none was given."
    )
    model: ModelReference = Field(default_factory=ModelReference)
    query_type: Label | None = Field(default=None, description="The router's class of the query.")
    risk_mode: RiskMode | None = Field(
        default=None, description="gatekeeper waits for review, observer never; the setting decides if absent."
    )
    status: Literal["success", "error"] = Field(default="success", description="How the call ended.")
    error: ShortText | None = Field(default=None, description="What went wrong, for status error.")
    finish_reason: Label | None = Field(
        default=None, description="Why the model stopped, as it says: stop, length, content_filter."
    )
    requested_at: EventTime | None = Field(default=None, description="When the query arrived.")
    completed_at: EventTime = Field(description="When the answer was complete; freshness counts from here.")
    usage: TokenUsage | None = None
    trace: TraceReference | None = None
    citations: list[ProvidedCitation] = Field(default_factory=list, max_length=1_000)
    withheld: list[Literal["query", "answer", "contexts"]] = Field(
        default_factory=list,
        max_length=3,
        description="Parts that exist and were not sent (content turned off at the gateway); judged by what is there.",
    )
    reference_answer: AnswerText | None = Field(default=None, description="A known good answer, if any.")
    metadata: Metadata = Field(
        default_factory=dict,
        description="Anything else; structured citations as Anthropic's and OpenAI's services return them are read.",
    )

    @model_validator(mode="before")
    @classmethod
    def _null_collections_are_absent(cls, data: Any) -> Any:
        """Producers in typed languages send null for an empty list or object."""
        if isinstance(data, dict):
            nullable = ("citations", "metadata", "model", "query", "tenant", "status", "withheld")
            return {key: value for key, value in data.items() if value is not None or key not in nullable}
        return data
