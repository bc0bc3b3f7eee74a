"""Quality: the metrics of seed 000, the signals of seed 003, the characteristics of seed 002."""

from typing import Literal

from pydantic import Field

from schemas.base import ByName, Identifier, Label, Many, Part, Score, ShortText, TokenCount, UtcDatetime
from schemas.reports import Findings, Report, Span

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
    """A sign that the answer failed (seed 003)."""

    type: SignalType
    evidence: ShortText = Field(description="The text that triggered it.")
    weight: Score = Field(description="Severity.")
    counted: bool = Field(default=True, description="Whether the weight is in the score: once for each type.")
    action: RecommendedAction | None = Field(default=None, description="What to do about it.")
    span: Span | None = Field(default=None, description="Where it stands in the answer.")
    context: ShortText | None = Field(default=None, description="Surrounding text.")


class Assessment(Part):
    """What the signals of an answer come to (seed 003).

    ``score`` is 1 less the weights of the counted signals, at least 0.
    """

    score: Score
    should_escalate: bool
    escalation_rules: list[EscalationRule] = Field(default_factory=list, description="Which rules say so.")
    reason: ShortText = ""
    assessment_confidence: Score = Field(description="0.9 without signals, less with each.")
    feedback: ShortText | None = Field(default=None, description="How to improve the answer.")
    actions: list[RecommendedAction] = Field(default_factory=list, description="What to do, the most severe first.")


class ResponseQuality(Assessment):
    """The validator's result for one answer by its text alone (seed 003)."""

    signals: Many[FailureSignal] = Field(default_factory=list)


class QualitySummary(Part):
    """Results of many answers (seed 003); null where there are none."""

    responses: TokenCount = 0
    average_score: Score | None = None
    escalation_rate: Score | None = Field(default=None, description="Share escalated, 0..1.")
    common_issues: ByName[TokenCount] = Field(default_factory=dict, description="Answers that show a signal, by type.")


class QualityMetrics(Part):
    """The four metrics of seed 000; null where one does not apply."""

    relevance: Score | None = None
    completeness: Score | None = None
    clarity: Score | None = None
    actionability: Score | None = None


class EarlierAnswer(Part):
    """An answer given before to the same question, as it was remembered when this one was judged."""

    answer_id: Identifier
    timestamp: UtcDatetime
    response: ShortText = Field(description="Its beginning, at most 2,000 code points.")


class Contradiction(Part):
    """Two sentences that say different things of one matter."""

    text: ShortText = Field(description="In this answer.")
    against: ShortText = Field(description="In this or an earlier answer.")
    answer_id: Identifier | None = Field(default=None, description="The earlier answer; null within this one.")


class Consistency(Part):
    """How far an answer agrees with itself and with earlier answers to the same question."""

    within: Score | None = Field(default=None, description="1 less the share of sentences at odds with another one.")
    temporal: Score | None = Field(
        default=None, description="Share of sentences with an earlier counterpart that agree with it; null without."
    )
    contradictions: Many[Contradiction] = Field(default_factory=list)
    earlier: Many[EarlierAnswer] = Field(default_factory=list, description="What it was compared with.")


class QualityFindings(Findings):
    """How well an answer does what was asked, apart from whether it is true."""

    metrics: QualityMetrics = Field(default_factory=QualityMetrics)
    notes: ByName[ShortText] = Field(default_factory=dict, description="How each metric came about.")
    consistency: Consistency | None = Field(default=None, description="null where nothing was measured.")
    reference_match: Score | None = Field(
        default=None, description="How far the reference answer is found in the answer; null without one."
    )
    overall_score: Score | None = Field(default=None, description="Weighted mean of the metrics that are not null.")
    passes_validation: bool | None = Field(
        default=None, description="overall_score at least 0.7 and fewer than three issues (seed 000)."
    )
    issues: Many[ShortText] = Field(default_factory=list)
    signals: Many[FailureSignal] = Field(default_factory=list)
    validation: Assessment | None = Field(default=None, description="What the signals come to.")
    refusal: bool = Field(default=False, description="The answer declines to answer.")
    tool_failure: bool = Field(default=False, description="The answer reports a failed call.")
    language: Label | None = None


class QualityReport(Report, QualityFindings):
    """The quality agent's judgement of one answer."""
