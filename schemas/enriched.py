"""The joined result: an answer with its reports, its evaluation and the decision on it."""

from typing import Literal

from pydantic import Field

from schemas.answers import GeneratedAnswer
from schemas.base import (
    ByName,
    Event,
    Identifier,
    Label,
    Many,
    Metadata,
    Offset,
    Part,
    RiskLevel,
    RiskMode,
    Score,
    Seconds,
    ShortText,
    UtcDatetime,
)
from schemas.citations import Citation, CitationReport
from schemas.grounding import GroundingReport
from schemas.quality import QualityReport
from schemas.reports import AgentName

ReleaseState = Literal["released", "warned", "held", "replaced", "fallback", "rejected"]
Characteristic = Literal[
    "faithfulness", "relevance", "correctness", "coverage", "consistency", "freshness", "traceability"
]


class FormattedResponse(Part):
    """What a reader is shown (seed 000)."""

    content: str = Field(max_length=200_000, description="Markdown with disclaimer and references as decided.")
    citations: Many[Citation] = Field(default_factory=list)
    metadata: Metadata = Field(default_factory=dict)
    quality_score: Score | None = None
    hallucination_risk: RiskLevel | None = None
    interactive_elements: Metadata | None = Field(
        default=None, description="For user interfaces: citations with links, and buttons; null where nothing is shown."
    )
    suggestions: Many[ShortText] = Field(default_factory=list)
    interactive: Many[Metadata] = Field(
        default_factory=list, description="The citations for a user interface (000), with displayText and address."
    )
    grounding_score: Score | None = None
    ungrounded_claims: Many[str] = Field(default_factory=list, description="Claims without support, as written (004).")
    response_seconds: Seconds | None = Field(default=None, description="From question to answer.")
    grounding_seconds: Seconds | None = Field(default=None, description="What grounding took.")
    citation_count: int = Field(default=0, ge=0)


class CharacteristicDetail(Part):
    """How a characteristic came about."""

    method: ShortText = Field(description="What was measured, in words.")
    inputs: Metadata = Field(default_factory=dict, description="The figures that it is made of.")
    reason: ShortText | None = Field(default=None, description="Why it is null.")


class EvaluationResult(Part):
    """The gate's view (seed 002): the weighted mean of the characteristics that are known."""

    score: Score | None = Field(default=None, description="Gate score; null where nothing could be judged.")
    passed: bool | None = Field(default=None, description="score is at least the gate's threshold (0.8).")
    reasoning: ShortText = ""
    metrics: ByName[Score | None] = Field(
        default_factory=dict, description="The seven characteristics by name; null where not judged."
    )
    details: ByName[CharacteristicDetail] = Field(default_factory=dict, description="How each came about.")


class Decision(Part):
    """What becomes of the answer, and why; made by rules from the reports alone."""

    state: ReleaseState
    reasons: Many[Label] = Field(default_factory=list, description="Stable words, as grounding_below_minimum.")
    review: bool = Field(default=False, description="A person should look at it.")
    final: bool = Field(default=True, description="False while a review can still change it.")
    remember: bool = Field(default=False, description="Good enough for conversational memory.")


class EnrichedAnswer(Event):
    """One answer with everything that is known about it."""

    answer_id: Identifier
    tenant: Identifier = "default"
    run: Identifier = "live"
    pipeline_version: Label
    answer_partition: Offset
    answer_offset: Offset
    answer: GeneratedAnswer
    risk_mode: RiskMode = Field(
        default="observer", description="That of the answer, or the setting's where it names none."
    )
    citations: CitationReport | None = None
    grounding: GroundingReport | None = None
    quality: QualityReport | None = None
    evaluation: EvaluationResult = Field(default_factory=EvaluationResult)
    formatted: FormattedResponse | None = Field(default=None, description="null only where it would not fit a record.")
    decision: Decision
    degraded: bool = Field(default=False, description="A report is missing or failed.")
    missing: Many[AgentName] = Field(default_factory=list, description="Reports that did not come in time.")
    failed: Many[AgentName] = Field(default_factory=list, description="Reports with status failed.")
    rank: int = Field(default=0, ge=0, description="Completeness; a higher one replaces a lower one.")
    trimmed: Many[Label] = Field(
        default_factory=list, description="Parts left out, or listed in part, to fit a record, of the reports as well."
    )
    enriched_at: UtcDatetime
