"""What every report on an answer has in common."""

from typing import Literal

from pydantic import Field

from schemas.base import ByName, Event, Identifier, Label, Offset, Part, Seconds, ShortText, UtcDatetime

ReportStatus = Literal["ok", "failed", "skipped"]
AgentName = Literal["citations", "grounding", "quality"]


class Span(Part):
    """A stretch of text: ``text[start:end]`` in code points."""

    start: Offset
    end: Offset


class Findings(Part):
    """What a step finds in an answer, before it is put into a report.

    A judgement that could not be made is ``failed`` or ``skipped`` with a reason, and its
    scores are ``null``: never 0 and never NaN.
    """

    status: ReportStatus = "ok"
    reason: ShortText | None = Field(default=None, description="Why it failed or was skipped.")


class Report(Event, Findings):
    """The judgement of one agent on one answer: a step's findings and where they come from."""

    judgement_id: Identifier = Field(description="UUIDv5 of (answer_id, agent, run): a repeat overwrites.")
    answer_id: Identifier
    tenant: Identifier = "default"
    agent: AgentName
    run: Identifier = Field(default="live", description="live, or the identifier of a replay.")
    pipeline_version: Label = Field(description="Fingerprint of all that can change a judgement.")
    answer_partition: Offset = Field(description="Partition of the answer in answers.generated.")
    answer_offset: Offset = Field(description="Offset of the answer in that partition.")
    versions: ByName[str] = Field(default_factory=dict, description="Model and rules by name.")
    trimmed: list[Label] = Field(
        default_factory=list, max_length=20, description="Parts left out, or listed in part, to fit a record."
    )
    duration_seconds: Seconds = Field(default=0.0, description="Wall time of the step for this answer.")
    judged_at: UtcDatetime = Field(description="When the judgement was made.")
