"""Define the input: a generated answer with the evidence from which it was generated."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator
from pydantic_core import from_json, to_json

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
from schemas.reasoning import answer_start

SourceType = Literal["document", "runbook", "database", "memory", "calculation", "dashboard", "web", "tool"]

CONFIDENCE_WORDS = {"high": 0.9, "medium": 0.6, "low": 0.3}
"""Confidence words of citations as numbers: the middle of each third, moved to the edges so that a word never exceeds a
measured score of 1.
"""

MAX_CONTEXTS = 200
"""Maximum number of chunks of one answer."""
MAX_TURNS = 40
"""Maximum number of earlier turns of one answer."""
MAX_STEPS = 50
"""Maximum number of steps of one answer."""

REASONING = "reasoning_code_points"
"""Name in ``metadata`` of the number of code points that stood before the answer and were left out."""

MAX_ARGUMENTS = 20_000
"""Maximum length of the arguments of a tool call as JSON, code points."""

ToolStatus = Literal["success", "error"]

TOOL_STATUS_WORDS: dict[str, ToolStatus] = {
    **dict.fromkeys(("success", "ok", "okay", "succeeded", "successful", "complete", "completed", "done"), "success"),
    **dict.fromkeys(("error", "failed", "failure", "exception", "timeout", "timed_out", "incomplete", "cancelled",
                     "canceled", "denied", "rejected", "aborted"), "error"),
}  # fmt: skip
"""Words of services for the outcome of a call."""


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


def tool_status(value: object) -> ToolStatus | None:
    """Return the status that a word of a service, an HTTP status or an exit flag means; ``None`` for any other value."""
    if isinstance(value, bool):
        return "success" if value else "error"
    if isinstance(value, str) and value.strip().isdecimal() and len(value.strip()) == 3:
        value = int(value)
    if isinstance(value, int):
        return "success" if 100 <= value < 400 else "error" if 400 <= value < 600 else None
    return TOOL_STATUS_WORDS.get(value.strip().lower().replace(" ", "_")) if isinstance(value, str) else None


class ToolCall(Part):
    """Describe the call of a tool or function whose result a context holds."""

    id: Identifier | None = Field(default=None, description="Identifier of the call; citations may name it.")
    name: Label = Field(default="", description="Name of the tool.")
    arguments: Any = Field(
        default=None, description="Arguments: an object, or a text such as SQL or code; at most 20,000 code points."
    )
    status: ToolStatus | None = Field(
        default=None, description="Outcome; words of services (ok, failed, timeout) and HTTP statuses are accepted."
    )
    error: ShortText | None = Field(default=None, description="Message of a failed call.")
    called_at: UtcDatetime | None = Field(default=None, description="Time of the call.")

    @field_validator("status", mode="before")
    @classmethod
    def _status(cls, value: object) -> object:
        if value is None or (known := tool_status(value)) is not None:
            return None if value is None else known
        raise ValueError("unknown tool status; send success, error or an HTTP status")

    @field_validator("arguments")
    @classmethod
    def _arguments(cls, value: Any) -> Any:
        """Read arguments that came as JSON in a text, as most services send them."""
        if len(value if isinstance(value, str) else to_json(value, inf_nan_mode="null").decode()) > MAX_ARGUMENTS:
            raise ValueError(f"send at most {MAX_ARGUMENTS} code points")
        if isinstance(value, str) and value.lstrip()[:1] == "{":
            try:
                return from_json(value, allow_inf_nan=False)
            except ValueError:
                return value
        return value


class ContextChunk(Part):
    """Describe one piece of evidence that the model received."""

    chunk_id: Identifier = Field(description="Identifier of the chunk in the retriever.")
    content: SourceText = Field(description="Text, a JSON record or a table; at most 100,000 code points.")
    source_type: SourceType = Field(default="document", description="Kind of source.")
    source_name: Label = Field(default="", description="Title for readers.")
    source_path: ShortText = Field(default="", description="Path or URL; never fetched.")
    source_table: Label | None = Field(default=None, description="Table, for database records.")
    record_id: Identifier | None = Field(default=None, description="Record in the table or memory.")
    entity: Label | None = Field(default=None, description="Subject of the record (asset, account).")
    last_updated: UtcDatetime | None = Field(default=None, description="Time of the source's last change.")
    created_at: UtcDatetime | None = Field(default=None, description="Creation time of a memory.")
    source_event: ShortText | None = Field(default=None, description="Origin of a memory.")
    learned_at: UtcDatetime | None = Field(
        default=None, description="Time at which a remembered preference was learned."
    )
    retrieval_score: Score | None = Field(default=None, description="The retriever's score, 0..1.")
    confidence: Confidence | None = Field(
        default=None, description="Trust in the source, 0..1; the words high, medium, low are accepted."
    )
    tool: ToolCall | None = Field(
        default=None, exclude_if=lambda call: call is None, description="The call whose result this is, for tools."
    )
    metadata: Metadata = Field(default_factory=dict, description="Additional fields.")

    @model_validator(mode="before")
    @classmethod
    def _result_of_a_tool(cls, data: Any) -> Any:
        """Give a chunk with a call and without a type the type ``tool``."""
        if isinstance(data, dict) and data.get("tool") is not None and "source_type" not in data:
            return {**data, "source_type": "tool"}
        return data


class ModelReference(Part):
    """Describe the model that generated the answer."""

    id: Label = Field(default="unknown", description="Name of the model in the gateway.")
    provider: Label | None = Field(default=None, description="Provider of the model.")
    prompt_version: Label | None = Field(default=None, description="Version of the prompt.")
    temperature: float | None = Field(default=None, ge=0, le=10, allow_inf_nan=False)


class TokenUsage(Part):
    """Count the tokens of the call."""

    prompt_tokens: TokenCount | None = None
    completion_tokens: TokenCount | None = None


class TraceReference(Part):
    """Describe the position of the answer in the caller's traces (W3C Trace Context)."""

    traceparent: str | None = Field(default=None, max_length=100)
    trace_id: str | None = Field(default=None, max_length=64)


class ProvidedCitation(Part):
    """Describe a structured citation from the gateway."""

    chunk_id: Identifier | None = Field(default=None, description="Chunk cited, by its identifier.")
    number: int | None = Field(default=None, ge=1, description="Chunk cited, by position from 1.")
    cited_text: ShortText | None = Field(default=None, description="The passage quoted from the source.")
    start: Offset | None = Field(default=None, description="Start in the answer, code points.")
    end: Offset | None = Field(default=None, description="End in the answer, exclusive.")


class Turn(Part):
    """Describe a message of the conversation before the query."""

    role: Literal["user", "assistant"] = Field(description="Author of the message.")
    content: AnswerText = Field(description="Text of the message.")

    @model_validator(mode="before")
    @classmethod
    def _reasoning_is_no_message(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("role") == "assistant" and isinstance(data.get("content"), str):
            start = answer_start(data["content"])
            return {**data, "content": data["content"][start:]} if start else data
        return data


class Step(Part):
    """Describe a call of a model, a tool or a retriever on the way to the answer."""

    kind: Literal["model", "tool", "retrieval"] = Field(description="What was called.")
    name: Label = Field(default="", description="Name of the span, the tool or the retriever.")
    model: Label | None = Field(default=None, description="Name of the model, for calls of models.")
    input: ShortText = Field(default="", description="Arguments or prompt, shortened.")
    output: LongText = Field(default="", description="What the call returned, shortened.")
    status: Literal["success", "error"] = Field(default="success", description="Outcome of the call.")
    span_id: Label | None = Field(default=None, description="Span of the call in the caller's trace.")
    started_at: UtcDatetime | None = None
    ended_at: UtcDatetime | None = None
    chunk_ids: list[Identifier] = Field(
        default_factory=list, max_length=MAX_CONTEXTS, description="Contexts that the call brought."
    )


class GeneratedAnswer(Event):
    """Describe an answer as the gateway delivered it, with the evidence that its model received.

    Only ``answer_id``, ``answer`` and ``completed_at`` are required. Missing values are evaluated as missing and never
    guessed.
    """

    nesting_reserve: ClassVar[int] = 8

    answer_id: Identifier = Field(description="Unique for each answer; the key of every topic.")
    tenant: Identifier = Field(default="default", description="Tenant of the answer.")
    session_id: Identifier | None = Field(default=None, description="Conversation.")
    user_id: Identifier | None = Field(default=None, description="Pseudonym of the person who asked.")
    query: LongText = Field(default="", description="Query of the user.")
    answer: AnswerText = Field(
        description="The answer, Markdown; at most 60,000 code points. Reasoning before it (<think>) is left out."
    )
    contexts: list[ContextChunk] | None = Field(
        default=None, max_length=MAX_CONTEXTS, description="Evidence in citation order; absent if none was given."
    )
    conversation: list[Turn] = Field(
        default_factory=list,
        max_length=MAX_TURNS,
        exclude_if=lambda turns: not turns,
        description="Turns before the query, the oldest first; absent for a first question.",
    )
    steps: list[Step] = Field(
        default_factory=list,
        max_length=MAX_STEPS,
        exclude_if=lambda steps: not steps,
        description="Calls that led to the answer, in their order; absent if it was one call.",
    )
    model: ModelReference = Field(default_factory=ModelReference)
    query_type: Label | None = Field(default=None, description="The router's class of the query.")
    risk_mode: RiskMode | None = Field(
        default=None, description="gatekeeper waits for review, observer never; the setting decides if absent."
    )
    status: Literal["success", "error"] = Field(default="success", description="Outcome of the call.")
    error: ShortText | None = Field(default=None, description="Error message, for status error.")
    finish_reason: Label | None = Field(
        default=None, description="Finish reason of the model: stop, length, content_filter."
    )
    requested_at: EventTime | None = Field(default=None, description="Arrival time of the query.")
    completed_at: EventTime = Field(description="Completion time of the answer; the reference time of freshness.")
    usage: TokenUsage | None = None
    trace: TraceReference | None = None
    citations: list[ProvidedCitation] = Field(default_factory=list, max_length=1_000)
    withheld: list[Literal["query", "answer", "contexts"]] = Field(
        default_factory=list,
        max_length=3,
        description="Parts that the gateway did not send (content capture disabled); the evaluation uses the "
        "remaining parts.",
    )
    reference_answer: AnswerText | None = Field(default=None, description="A known good answer, if any.")
    metadata: Metadata = Field(
        default_factory=dict,
        description="Additional fields; structured citations in the formats of Anthropic and OpenAI are evaluated.",
    )

    @model_validator(mode="before")
    @classmethod
    def _null_collections_are_absent(cls, data: Any) -> Any:
        """Convert null to an empty list or object, which producers in typed languages send as null."""
        if isinstance(data, dict):
            nullable = (
                "citations", "conversation", "metadata", "model", "query", "status", "steps", "tenant", "withheld",
            )  # fmt: skip
            data = {key: value for key, value in data.items() if value is not None or key not in nullable}
            return _without_reasoning(data)
        return data


def _without_reasoning(data: dict[str, Any]) -> dict[str, Any]:
    """Leave the reasoning out that stands before the answer, and move the offsets of citations."""
    text = data.get("answer")
    if not isinstance(text, str) or not (start := answer_start(text)):
        return data
    metadata, citations = data.get("metadata", {}), data.get("citations", [])
    if isinstance(metadata, dict):
        metadata = {**metadata, REASONING: start}
    if isinstance(citations, list):
        citations = [_moved(each, start) for each in citations]
    return {**data, "answer": text[start:], "metadata": metadata, "citations": citations}


def _moved(citation: Any, start: int) -> Any:
    """Return a citation with its offsets in the answer; one of the reasoning loses its place."""
    if not isinstance(citation, dict):
        return citation
    places = {name: place for name in ("start", "end") if isinstance(place := citation.get(name), int)}
    inside = all(place >= start for place in places.values())
    return {**citation, **{name: place - start if inside else None for name, place in places.items()}}
