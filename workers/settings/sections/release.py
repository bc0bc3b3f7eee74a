"""Define the settings of release and human review."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    Field,
)

from schemas.base import RiskMode
from workers.decision.reader_text.inline_marks import InlinePolicy, UngroundedPolicy
from workers.decision.reader_text.presentation import ReaderPolicy
from workers.decision.reader_text.reader_texts import TextsByLanguage
from workers.decision.reader_text.source_addresses import check_template
from workers.settings.sections.groups import Count, Group, Positive, PositiveDays, PositiveHours


class ReleaseSettings(Group):
    """Configure the release of answers: default risk mode, review deadline, text and links."""

    default_risk_mode: RiskMode = Field(default="observer", description="Risk mode of answers that name none.")
    review_deadline_hours: PositiveHours = Field(default=24.0, description="Deadline of a review.")
    style: Literal["standard", "compact", "verbose"] = Field(default="standard", description="Formatting.")
    inline_citations: InlinePolicy = Field(
        default="propose",
        description="Citation markers of the answer: keep, link to their sources, or also add missing ones.",
    )
    ungrounded_claims: UngroundedPolicy = Field(
        default="keep", description="Claims without support: keep, mark as AI inference, or omit."
    )
    url_rules: dict[str, Annotated[str, AfterValidator(check_template)]] = Field(
        default_factory=dict, description="Addresses of sources by pattern of their path or table/record."
    )

    texts: TextsByLanguage = Field(
        default_factory=dict,
        description="Texts for readers by language and name as JSON, in place of the usual ones; * holds for all languages.",
    )

    @property
    def policy(self) -> ReaderPolicy:
        """Return the policy for the text of released answers."""
        return ReaderPolicy(self.inline_citations, self.ungrounded_claims, self.url_rules, self.texts)


class ReviewTarget(Group):
    """Configure the number of independent reviews."""

    second_share: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.1, description="Share of decisions that other reviewers repeat blindly."
    )
    reviews: Annotated[int, Field(ge=2, le=20)] = Field(
        default=2, description="Independent reviews of each request of that share, the first decision included."
    )


class ReviewSettings(ReviewTarget):
    """Configure the review queue, and the default decision after a deadline."""

    deadline_held: Literal["reject", "warn", "escalate"] = Field(
        default="reject",
        description="Default decision on a held answer after the deadline: reject, release with "
        "a warning, or escalate.",
    )
    deadline_shown: Literal["keep", "escalate"] = Field(
        default="keep",
        description="Default decision on a released answer after the deadline: make it final, or escalate.",
    )
    deadline_last: Literal["reject", "warn"] = Field(
        default="reject", description="Default decision on a held answer after the deadline of its escalation."
    )
    escalation_queue: str = Field(
        default="escalated", min_length=1, max_length=200, description="Queue of escalated requests."
    )
    escalation_hours: PositiveHours = Field(default=24.0, description="Deadline of escalated requests.")
    sweep_seconds: Positive = Field(default=10.0, description="Interval between two checks for passed deadlines.")
    lock_seconds: Positive = Field(
        default=600.0, description="Lifetime of a reviewer's lock on a request; viewing renews it."
    )
    undo_seconds: Annotated[float, Field(ge=0, le=300)] = Field(
        default=10.0, description="Time in which a decision can be undone; it is published afterwards."
    )
    tenants: dict[str, ReviewTarget] = Field(
        default_factory=dict,
        description="second_share and reviews of single tenants as JSON, which replace those for all tenants.",
    )
    guidelines: Path | None = Field(
        default=None,
        description="Folder with guidelines for reviewers in Markdown: TENANT.md, else default.md.",
    )
    finality_days: PositiveDays = Field(
        default=30.0, description="Time span of answers.released to read; equal to the retention of review.decisions."
    )
    finality_memory_mb: Count = Field(
        default=64,
        description="Memory for pages of the files of final states, MB, of all partitions of a worker together.",
    )

    def target_of(self, tenant: str) -> ReviewTarget:
        """Return the target of a tenant."""
        return self.tenants.get(tenant, self)
