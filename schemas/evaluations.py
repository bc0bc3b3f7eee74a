"""Reports of evaluators that are installed as plug-ins."""

from typing import ClassVar, Literal

from pydantic import Field, JsonValue

from schemas.base import ByName, Label, LongText, Part, Score, ShortText, UtcDatetime
from schemas.reports import Findings, Report, ReportStatus


class EvaluationFindings(Findings):
    """Hold the findings of a plug-in evaluator on one answer."""

    score: Score | None = Field(default=None, description="Score from 0 (worst) to 1 (best); null if there is none.")
    scores: ByName[Score | None] = Field(default_factory=dict, description="Further scores by name.")
    explanation: LongText | None = Field(default=None, description="Reason for people.")
    details: ByName[JsonValue] = Field(default_factory=dict, description="Further findings as JSON.")


class EvaluatorScore(Part):
    """The result of one plug-in evaluator for one answer, as people read it."""

    evaluator: Label
    status: ReportStatus | Literal["missing"] = Field(description="missing: no report came in time.")
    score: Score | None = Field(default=None, description="null unless the status is ok.")
    scores: ByName[Score | None] = Field(default_factory=dict, description="Further scores by name.")
    reason: ShortText | None = Field(default=None, description="Reason for a status other than ok.")
    explanation: LongText | None = None


class EvaluationReport(Report, EvaluationFindings):
    """Report the evaluation of one answer by one plug-in; ``agent`` is the name of the evaluator."""

    nesting_reserve: ClassVar[int] = 8

    completed_at: UtcDatetime = Field(description="Time of the answer, from which its retention counts.")
