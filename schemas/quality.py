"""Define quality: metrics, failure signals and characteristics."""

from typing import Literal

from pydantic import Field

from schemas.base import ByName, Identifier, Label, Many, Part, Score, ShortText, TokenCount, UtcDatetime
from schemas.reports import AgentName, Findings, Report, Span

SignalType = Literal[
    "confusion",
    "refusal",
    "low_confidence",
    "empty_response",
    "tool_failure",
    "incomplete_reasoning",
    "hallucination_risk",
]

RecommendedAction = Literal["retry_with_backoff", "ask_back", "other_model", "human_queue"]
EscalationRule = Literal["score_below_threshold", "too_many_signals", "tool_failure", "refusal"]


class FailureSignal(Part):
    """Describe a sign that the answer failed."""

    type: SignalType
    evidence: ShortText = Field(description="Text that triggered the signal.")
    weight: Score = Field(description="Severity.")
    counted: bool = Field(default=True, description="True if the weight counts in the score: once for each type.")
    action: RecommendedAction | None = Field(default=None, description="Recommended action.")
    span: Span | None = Field(default=None, description="Span in the answer.")
    context: ShortText | None = Field(default=None, description="Surrounding text.")


class Assessment(Part):
    """Assess the failure signals of an answer.

    ``score`` is 1 minus the weights of the counted signals, at least 0.
    """

    score: Score
    should_escalate: bool
    escalation_rules: list[EscalationRule] = Field(default_factory=list, description="Escalation rules that apply.")
    reason: ShortText = ""
    assessment_confidence: Score = Field(description="0.9 without signals, lower with each signal.")
    feedback: ShortText | None = Field(default=None, description="Suggestions to improve the answer.")
    actions: list[RecommendedAction] = Field(
        default_factory=list, description="Recommended actions, the most severe first."
    )


class ResponseQuality(Assessment):
    """Describe the validator's result for one answer by its text alone."""

    signals: Many[FailureSignal] = Field(default_factory=list)


class QualitySummary(Part):
    """Summarise the results of many answers; null values for no answers."""

    responses: TokenCount = 0
    average_score: Score | None = None
    escalation_rate: Score | None = Field(default=None, description="Share escalated, 0..1.")
    common_issues: ByName[TokenCount] = Field(
        default_factory=dict, description="Number of answers with a signal, by type."
    )


class QualityMetrics(Part):
    """Hold the four quality metrics; null where one does not apply."""

    relevance: Score | None = None
    completeness: Score | None = None
    clarity: Score | None = None
    actionability: Score | None = None


class EarlierAnswer(Part):
    """Describe an earlier answer to the same question, as stored at the time of this evaluation."""

    answer_id: Identifier
    timestamp: UtcDatetime
    response: ShortText = Field(description="Beginning of the answer, at most 2,000 code points.")


class Contradiction(Part):
    """Describe two sentences that make different statements on one subject."""

    text: ShortText = Field(description="Sentence in this answer.")
    against: ShortText = Field(description="Sentence in this or an earlier answer.")
    answer_id: Identifier | None = Field(
        default=None, description="The earlier answer; null for a contradiction within this answer."
    )


class Consistency(Part):
    """State the agreement of an answer with itself and with earlier answers to the same question."""

    within: Score | None = Field(
        default=None, description="1 minus the share of sentences that contradict another one."
    )
    temporal: Score | None = Field(
        default=None, description="Share of sentences with an earlier counterpart that agree with it; null without."
    )
    contradictions: Many[Contradiction] = Field(default_factory=list)
    earlier: Many[EarlierAnswer] = Field(default_factory=list, description="Number of comparisons.")


class QualityFindings(Findings):
    """State the degree to which an answer fulfils the query, apart from its truth."""

    metrics: QualityMetrics = Field(default_factory=QualityMetrics)
    notes: ByName[ShortText] = Field(default_factory=dict, description="Basis of each metric.")
    consistency: Consistency | None = Field(default=None, description="Null without a measurement.")
    reference_match: Score | None = Field(
        default=None, description="Share of the reference answer in the answer; null without a reference."
    )
    overall_score: Score | None = Field(default=None, description="Weighted mean of the metrics that are not null.")
    passes_validation: bool | None = Field(
        default=None, description="True if overall_score is at least 0.7 with fewer than three issues."
    )
    issues: Many[ShortText] = Field(default_factory=list)
    signals: Many[FailureSignal] = Field(default_factory=list)
    validation: Assessment | None = Field(default=None, description="Assessment of the signals.")
    refusal: bool = Field(default=False, description="True if the answer declines to answer.")
    tool_failure: bool = Field(default=False, description="True if the answer reports a failed call.")
    language: Label | None = None


class QualityReport(Report, QualityFindings):
    """Describe the report of the quality agent on one answer."""

    agent: AgentName
