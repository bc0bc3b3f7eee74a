"""Quality: the metrics of seed 000, the signals of seed 003, the characteristics of seed 002."""

from typing import Literal

from pydantic import Field

from schemas.base import Label, Many, Part, Score, ShortText
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


class FailureSignal(Part):
    """A sign that the answer failed (seed 003)."""

    type: SignalType
    evidence: ShortText = Field(description="The text that triggered it.")
    weight: Score = Field(description="Severity.")
    span: Span | None = Field(default=None, description="Where it stands in the answer.")
    context: ShortText | None = Field(default=None, description="Surrounding text.")


class QualityMetrics(Part):
    """The four metrics of seed 000; null where one does not apply."""

    relevance: Score | None = None
    completeness: Score | None = None
    clarity: Score | None = None
    actionability: Score | None = None


class QualityFindings(Findings):
    """How well an answer does what was asked, apart from whether it is true."""

    metrics: QualityMetrics = Field(default_factory=QualityMetrics)
    overall_score: Score | None = Field(default=None, description="Mean of the metrics that are not null.")
    passes_validation: bool | None = Field(
        default=None, description="overall_score at least 0.7 and fewer than three issues (seed 000)."
    )
    issues: Many[ShortText] = Field(default_factory=list)
    signals: Many[FailureSignal] = Field(default_factory=list)
    refusal: bool = Field(default=False, description="The answer declines to answer.")
    tool_failure: bool = Field(default=False, description="The answer reports a failed call.")
    language: Label | None = None


class QualityReport(Report, QualityFindings):
    """The quality agent's judgement of one answer."""
