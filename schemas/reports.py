"""Define the common part of all reports on an answer."""

from typing import Annotated, Literal

from pydantic import Field

from schemas.base import ByName, Event, Identifier, Label, Offset, Part, Seconds, ShortText, UtcDatetime

ReportStatus = Literal["ok", "failed", "skipped"]
AgentName = Literal["citations", "grounding", "quality"]
EvaluatorName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,63}$")]
"""Name of an evaluator plug-in."""


class Span(Part):
    """A span of text: ``text[start:end]`` in code points."""

    start: Offset
    end: Offset


class Findings(Part):
    """Findings of a step about an answer, before they become a report.

    If an evaluation is impossible, its status is ``failed`` or ``skipped`` with a reason, and its scores are ``null``,
    never 0 or NaN.
    """

    status: ReportStatus = "ok"
    reason: ShortText | None = Field(default=None, description="Reason for a failure or skip.")


class Report(Event, Findings):
    """The evaluation of one answer by one agent: findings and their provenance."""

    judgement_id: Identifier = Field(description="UUIDv5 of (tenant, answer_id, agent, run): a repeat overwrites.")
    answer_id: Identifier
    tenant: Identifier = "default"
    agent: str = Field(max_length=64, description="Name of the evaluator.")
    run: Identifier = Field(default="live", description="live, or the identifier of a replay.")
    pipeline_version: Label = Field(description="Fingerprint of every input that can change an evaluation.")
    answer_partition: Offset = Field(description="Partition of the answer in answers.generated.")
    answer_offset: Offset = Field(description="Offset of the answer in that partition.")
    versions: ByName[str] = Field(default_factory=dict, description="Model and rules by name.")
    trimmed: list[Label] = Field(
        default_factory=list, max_length=20, description="Parts omitted or shortened to fit a record."
    )
    duration_seconds: Seconds = Field(default=0.0, description="Wall time of the step for this answer.")
    judged_at: UtcDatetime = Field(description="Time of the evaluation.")
