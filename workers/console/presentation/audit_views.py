"""Define the response models of the audit, and build them from rows."""

from datetime import datetime
from typing import Any, Literal

import orjson
from pydantic import Field

from workers.console.presentation.views import View
from workers.stores.clickhouse.row_reading import Row


class LoggedCitations(View):
    """An answer in the citation audit."""

    response_id: str
    tenant: str
    completed_at: datetime
    state: str
    grounding_score: float | None
    recommendation_coverage: float | None
    citation_count: int
    citations: list[dict[str, Any]] = Field(description="Citations of the answer; at most 200.")
    invalid_references: list[dict[str, Any]]
    ungrounded_claims: list[str]
    response_seconds: float | None
    grounding_seconds: float | None
    validated_at: datetime | None
    pipeline_version: str


class AuditPage(View):
    """A page of the audit, the latest first."""

    items: list[LoggedCitations]
    next_cursor: str | None


class Access(View):
    """A recorded access to answers."""

    access_id: str
    at: datetime
    who: str = Field(description="Name of the access token.")
    via: Literal["token", "session"]
    what: str = Field(description="Name of the route.")
    tenant: str
    answers: list[str] = Field(description="Identifiers; with the filter answer_id, that answer first.")
    questions: list[str] = Field(
        description="Beginnings of the questions of the first three answers; empty if an answer is no longer stored."
    )


class AccessPage(View):
    """A page of accesses, the latest first."""

    items: list[Access]
    next_cursor: str | None


class LoggedDecision(View):
    """A recorded decision on an answer, also one that was undone before it took effect."""

    decision_id: str = Field(description="Identifier of the decision; of the event for one that was undone.")
    decided_at: datetime
    decided_by: str = Field(description="Name of the access token; policy for a decision by deadline.")
    action: str = Field(description="What was decided; empty if it was undone.")
    ruling: str = Field(description="final, second (a second opinion), vote, late (without effect), or undone.")
    state: str = Field(description="State to which the decision led; empty for one that is not final.")
    outcome: str = Field(description="Sentence about what was decided, and what readers saw.")
    reason: str
    comment: str
    tenant: str
    answer_id: str
    query: str = Field(description="Beginning of the question; empty if the answer is no longer stored.")
    review_id: str
    model_id: str
    review_duration: float = Field(description="Seconds of active review.")


class DecisionPage(View):
    """A page of decisions, the latest first."""

    items: list[LoggedDecision]
    next_cursor: str | None
    hidden: int = Field(description="Decisions left out because you may still review their requests independently.")


def logged_citations(row: Row) -> LoggedCitations:
    """Build the audit entry of an answer from its row."""
    parsed = {
        name: orjson.loads(row[name] or "[]") for name in ("citations", "invalid_references", "ungrounded_claims")
    }
    return LoggedCitations.model_validate(row | parsed)
