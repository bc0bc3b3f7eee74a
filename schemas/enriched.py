"""Define the joined result: an answer with its reports, its evaluation and its decision."""

from collections.abc import Mapping
from typing import ClassVar, Literal

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
from schemas.evaluations import EvaluationReport
from schemas.grounding import GroundingReport
from schemas.quality import QualityReport

ReleaseState = Literal["released", "warned", "held", "replaced", "fallback", "rejected"]
Characteristic = Literal[
    "faithfulness", "relevance", "correctness", "coverage", "consistency", "freshness", "traceability"
]


class FormattedResponse(Part):
    """The text and references for a reader."""

    content: str = Field(max_length=200_000, description="Markdown with disclaimer and references as decided.")
    citations: Many[Citation] = Field(default_factory=list)
    metadata: Metadata = Field(default_factory=dict)
    quality_score: Score | None = None
    hallucination_risk: RiskLevel | None = None
    interactive_elements: Metadata | None = Field(
        default=None, description="Citations with links, and buttons for user interfaces; null if nothing is shown."
    )
    suggestions: Many[ShortText] = Field(default_factory=list)
    interactive: Many[Metadata] = Field(
        default_factory=list, description="Citations for a user interface, with displayText and address."
    )
    grounding_score: Score | None = None
    ungrounded_claims: Many[str] = Field(default_factory=list, description="Unsupported claims, verbatim.")
    response_seconds: Seconds | None = Field(default=None, description="Time from question to answer.")
    grounding_seconds: Seconds | None = Field(default=None, description="Duration of the grounding evaluation.")
    citation_count: int = Field(default=0, ge=0)


class CharacteristicDetail(Part):
    """Basis of a characteristic's score."""

    method: ShortText = Field(description="Description of the measurement.")
    inputs: Metadata = Field(default_factory=dict, description="Figures behind the score.")
    reason: ShortText | None = Field(default=None, description="Reason for a null score.")


class EvaluationResult(Part):
    """Result of the gate: the weighted mean of the known characteristics."""

    score: Score | None = Field(default=None, description="Gate score; null without any evaluated characteristic.")
    passed: bool | None = Field(default=None, description="score is at least the gate's threshold (0.8).")
    reasoning: ShortText = ""
    metrics: ByName[Score | None] = Field(
        default_factory=dict, description="The seven characteristics by name; null if not evaluated."
    )
    details: ByName[CharacteristicDetail] = Field(default_factory=dict, description="Basis of each characteristic.")


class Decision(Part):
    """The decision on an answer and its reasons; rules derive it from the reports alone."""

    state: ReleaseState
    reasons: Many[Label] = Field(default_factory=list, description="Stable codes such as grounding_below_minimum.")
    review: bool = Field(default=False, description="True if a person should review the answer.")
    final: bool = Field(default=True, description="False while a review can still change it.")
    remember: bool = Field(default=False, description="True if the answer may enter conversational memory.")
    memorable: bool = Field(
        default=True, description="False if facts keep the answer out of memory, unless a person verifies it in review."
    )


class EnrichedAnswer(Event):
    """One answer with all its results."""

    copies: ClassVar[Mapping[str, set[str]]] = {
        "formatted": {
            "citations",
            "grounding_score",
            "grounding_seconds",
            "hallucination_risk",
            "interactive_elements",
            "metadata",
            "quality_score",
            "response_seconds",
            "suggestions",
        }
    }

    answer_id: Identifier
    tenant: Identifier = "default"
    run: Identifier = "live"
    pipeline_version: Label
    answer_partition: Offset
    answer_offset: Offset
    answer: GeneratedAnswer
    risk_mode: RiskMode = Field(default="observer", description="Mode of the answer, or the setting's default.")
    citations: CitationReport | None = None
    grounding: GroundingReport | None = None
    quality: QualityReport | None = None
    evaluations: ByName[EvaluationReport] = Field(
        default_factory=dict,
        exclude_if=lambda reports: not reports,
        description="Reports of evaluator plug-ins by name; absent without any.",
    )
    evaluation: EvaluationResult = Field(default_factory=EvaluationResult)
    formatted: FormattedResponse | None = Field(default=None, description="Null only if it would not fit a record.")
    decision: Decision
    degraded: bool = Field(
        default=False,
        description="A report is missing or failed, of a built-in evaluator or of one that the policy names.",
    )
    missing: Many[Label] = Field(default_factory=list, description="Evaluators whose report came too late or never.")
    failed: Many[Label] = Field(default_factory=list, description="Evaluators whose report has the status failed.")
    rank: int = Field(default=0, ge=0, description="Completeness; a higher one replaces a lower one.")
    trimmed: Many[Label] = Field(
        default_factory=list, description="Parts omitted or shortened to fit a record, including parts of reports."
    )
    enriched_at: UtcDatetime
