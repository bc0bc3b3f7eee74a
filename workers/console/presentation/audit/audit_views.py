"""Define the response models of the audit, and build them from rows."""

from datetime import datetime
from typing import Any, Literal

import orjson
from pydantic import Field

from workers.console.presentation.views import OVERALL_SCORE, View
from workers.stores.clickhouse.row_reading import Row


class LoggedCitations(View):
    """Describe an answer in the citation audit."""

    response_id: str
    tenant: str
    completed_at: datetime
    state: str = Field(description="State after the final decision, else that of the evaluation.")
    evaluated_state: str = Field(description="State set by the evaluation.")
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
    """Hold a page of the audit, the latest first."""

    items: list[LoggedCitations]
    next_cursor: str | None


class Access(View):
    """Describe a recorded access to answers."""

    access_id: str
    at: datetime
    who: str = Field(description="Name of the access token.")
    via: Literal["token", "session"]
    what: str = Field(description="Name of the route.")
    shown_by: str = Field(description="What showed the answer, in words.")
    text_shown: str = Field(description="Which text of the answer it showed, in words.")
    kind: str = Field(description="reading (of one answer), list, or loaded_ahead (not displayed).")
    tenant: str
    answers: list[str] = Field(description="Identifiers; with the filter answer_id, that answer first.")
    questions: list[str] = Field(
        description="Beginnings of the questions of these answers; empty if an answer is no longer stored."
    )
    user_ids: list[str] = Field(description="Users who asked these questions, pseudonyms where they are masked.")


class AccessPage(View):
    """Hold a page of accesses, the latest first."""

    items: list[Access]
    next_cursor: str | None


class LoggedErasure(View):
    """Describe an erasure of a person, without the person."""

    requested_at: datetime
    tenant: str
    answers: int = Field(description="Number of erased answers, with the decisions and feedback on them.")
    by: str = Field(description="Who ran the erasure; empty for erasures by earlier versions.")


class LoggedDecision(View):
    """Describe one entry of the audit log: a decision (also an undone one), a review step, or an automatic release."""

    decision_id: str = Field(
        description="Identifier of the decision; of the event for a step or an undone decision; else of the answer."
    )
    decided_at: datetime | None = Field(
        description="Time of the decision, or of another record; null for an undone decision whose time is not known."
    )
    undone_at: datetime | None = Field(
        description="Time at which a decision was undone, by which its record is listed; null for other records."
    )
    decided_by: str = Field(
        description="Name of the access token; policy for a decision by deadline, pipeline for an automatic release."
    )
    action: str = Field(
        description="What was decided, also if it was undone; withdraw for a withdrawal, empty for steps and automatic releases."
    )
    ruling: str = Field(
        description="final, second (a second opinion), vote, late (without effect), withdrawal, undone, skipped, escalated, resumed "
        "(a skip or escalation undone), given (to a person), unassigned (closed without a decision), or automatic (released, "
        "or answered with the fallback, without a person)."
    )
    state: str = Field(
        description="State to which the record led; `withdrawn` for a withdrawal, empty for one that is not final."
    )
    shown_since: datetime | None = Field(
        description="Time from which readers saw what the record led to: that of a decision ends its undo window; null if the "
        "record changed nothing for readers."
    )
    ended_at: datetime | None = Field(
        description="Time at which a later decision or a withdrawal ended what readers saw by this record; null if none did."
    )
    outcome: str = Field(description="Sentence about what was decided, and what readers saw before and after.")
    reason: str = Field(description="Reason; of an automatic release the rules that failed, separated by commas.")
    why: str = Field(description="The reason in words, as pages show it.")
    comment: str
    corrected_answer: str = Field(description="Text of a correction, also of one that was undone.")
    comparison: str = Field(
        description="Of a correction: sentence about what was found when exactly this text was compared with the sources before "
        "it was saved, or that it was not compared; else empty. Scores and claims of the record are those of the original text."
    )
    target: str = Field(description="Queue of an escalation, or person of an assignment.")
    first_action: str = Field(
        description="Of a second opinion: the final decision that it is about; else empty. It is `approve` where the answer "
        "was released against a second opinion with the action `reject`."
    )
    first_by: str = Field(description="Of a second opinion: who made the final decision; else empty.")
    tenant: str
    answer_id: str
    user_id: str = Field(
        description="User who asked, a pseudonym where it is masked; empty like all that is not stored."
    )
    query: str = Field(description="Beginning of the question; empty if the answer is no longer stored.")
    review_id: str
    model_id: str
    pipeline_version: str = Field(
        description="Version of the evaluation; `GET /api/audit/settings/{version}` describes it."
    )
    prompt_version: str = Field(
        description="Version of the prompt that the gateway sent with the answer; empty without one."
    )
    review_duration: float | None = Field(
        description="Seconds in which the review page was in sight and used before the decision; a pause counts for up to a "
        "minute. Null where it was not measured: for decisions of programs and deadlines, for those on several requests of the "
        "list, and for records that are no decisions."
    )
    hallucination_risk: str | None = Field(description="Risk by the evaluation; null like all that is not stored.")
    grounding_score: float | None
    grounding_minimum: float | None = Field(description="Minimum of the grounding score by which it was decided.")
    gate_score: float | None = Field(description=f"{OVERALL_SCORE} Reasons name it if its rule decided.")
    gate_minimum: float | None = Field(description="Minimum of the gate score by which it was decided.")
    claims_supported_by_evaluation: int | None = Field(
        description="Claims that the evaluation found supported, whatever the reviewer said of them; null like the next two if the "
        "grounding was not evaluated."
    )
    claims_contradicted_by_evaluation: int | None
    claims_unsupported_by_evaluation: int | None
    claims_supported_by_reviewer: int | None = Field(
        description="Claims that the person of this record found supported; null like the next three if they gave no verdict."
    )
    claims_contradicted_by_reviewer: int | None
    claims_unsupported_by_reviewer: int | None
    claims_cannot_tell_by_reviewer: int | None
    claim_verdicts: str = Field(description="Verdicts of the person by claim_id, as JSON; empty without any.")
    contradicted_approved: int | None = Field(
        description="Claims of an approved answer that the evaluation or the person found contradicted, without those that the "
        "person found supported; null for other records, and if the grounding was not evaluated."
    )


class DecisionPage(View):
    """Hold a page of decisions, the latest first."""

    items: list[LoggedDecision]
    next_cursor: str | None
    hidden: int = Field(description="Decisions left out because you may still review their requests independently.")


def logged_citations(row: Row) -> LoggedCitations:
    """Build the audit entry of an answer from its row."""
    parsed = {
        name: orjson.loads(row[name] or "[]") for name in ("citations", "invalid_references", "ungrounded_claims")
    }
    return LoggedCitations.model_validate(row | parsed)
