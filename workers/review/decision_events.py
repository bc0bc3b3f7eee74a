"""Build self-contained decision events and review events from requests."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from schemas.identifiers import deadline_id, decision_id, fact_id
from schemas.review import (
    POLICY,
    WITHDRAWN,
    ClaimVerdict,
    ReviewDecision,
    ReviewEvent,
    ReviewEventKind,
    ReviewRequest,
    UndoneDecision,
    UserAction,
)

DeadlineAction = Literal["reject", "warn", "keep"]

DEADLINE_REASON = "deadline_passed"


def decided(
    request: ReviewRequest,
    *,
    by: str,
    profile: Mapping[str, Any],
    at: datetime,
    action: UserAction,
    duration: float = 0.0,
    comment: str | None = None,
    reason: str | None = None,
    corrected_answer: str | None = None,
    corrected_references: str = "",
    with_warning: bool = False,
    second_review: bool = False,
    claim_verdicts: Sequence[ClaimVerdict] = (),
    identifier: str | None = None,
) -> ReviewDecision:
    """Build a decision that carries the query, the answer and its metrics at the time of the review.

    Args:
        request: the review request.
        by: role or pseudonym of the author.
        profile: anonymous facts about the author.
        at: time of the decision.
        action: the decided action.
        duration: active review time in seconds.
        comment: free text of the author.
        reason: short reason, one or two words.
        corrected_answer: replacement text; kept for ``correct`` only.
        corrected_references: list of references below the replacement text; kept for ``correct`` only.
        with_warning: approve, and show the answer with the disclaimer.
        second_review: mark the decision as a blind second review.
        claim_verdicts: verdicts on single claims.
        identifier: identifier of the decision. By default it is derived from the content, so
            that a decision sent twice has one identifier.
    """
    said = (action, comment, reason, corrected_answer, with_warning, [each.model_dump() for each in claim_verdicts])
    return ReviewDecision(
        feedback_id=identifier or decision_id(request.tenant, request.review_id, by, repr(said), second=second_review),
        session_id=request.session_id,
        timestamp=at,
        query=request.query,
        original_answer=request.answer,
        answer_metrics=request.answer_metrics,
        user_action=action,
        user_comment=comment,
        corrected_answer=corrected_answer if action == "correct" else None,
        corrected_references=corrected_references if action == "correct" else "",
        review_duration=duration,
        user_profile=dict(profile),
        review_id=request.review_id,
        answer_id=request.answer_id,
        tenant=request.tenant,
        user_id=request.user_id,
        decided_by=by,
        reason=reason,
        with_warning=with_warning,
        second_review=second_review,
        contexts=[context.chunk_id for context in request.contexts],
        releasable=request.releasable,
        reasons=request.reasons,
        hallucination_risk=request.hallucination_risk,
        grounding_score=request.grounding_score,
        gate_score=request.gate_score,
        model_id=request.model_id,
        claim_verdicts=list(claim_verdicts),
        evaluator_versions=request.evaluator_versions,
        pipeline_version=request.pipeline_version,
    )


def decided_by_deadline(request: ReviewRequest, action: DeadlineAction, deadline: datetime) -> ReviewDecision:
    """Build the policy's decision for a request whose deadline has passed.

    The result depends only on the arguments: every process builds the same decision.

    Args:
        request: the review request.
        action: reject, release with a warning, or make the shown state final.
        deadline: the passed deadline; used as the time of the decision.
    """
    shown = request.releasable
    warned = action == "warn" or (shown is not None and shown.state == "warned")
    return decided(
        request,
        by=POLICY,
        profile={},
        at=deadline,
        action="reject" if action == "reject" else "approve",
        with_warning=action != "reject" and warned,
        reason=DEADLINE_REASON,
        identifier=deadline_id(request.tenant, request.review_id, deadline.isoformat()),
    )


def withdrawal(
    request: ReviewRequest, decision_id: str, *, by: str, at: datetime, reason: str, comment: str | None
) -> ReviewDecision:
    """Build the decision that takes a decided or released answer back from readers.

    Args:
        request: the review request.
        decision_id: the final decision that is withdrawn, or the release of an answer without a decision.
        by: name of the author.
        at: time of the withdrawal.
        reason: short reason, one or two words.
        comment: free text of the author.
    """
    name = fact_id(request.tenant, request.answer_id, f"withdrawal-{by}-{at.isoformat()}")
    decision = decided(
        request, by=by, profile={}, at=at, action="reject", reason=reason, comment=comment,
        identifier=f"{decision_id}{WITHDRAWN}{name[:8]}",
    )  # fmt: skip
    return decision.model_copy(update={"withdraws": decision_id})


def escalated(
    review_id: str, answer_id: str, tenant: str, *, by: str, queue: str, deadline: datetime, at: datetime
) -> ReviewEvent:
    """Build the event that moves a request to another queue with a new deadline.

    Calls with equal ``review_id``, ``by`` and ``at`` give the same event identifier.
    """
    return review_event("escalated", review_id, answer_id, tenant, by=by, at=at, queue=queue, deadline=deadline)


def review_event(
    kind: ReviewEventKind,
    review_id: str,
    answer_id: str,
    tenant: str,
    *,
    by: str,
    at: datetime,
    queue: str | None = None,
    deadline: datetime | None = None,
    assignee: str | None = None,
    undone: ReviewDecision | None = None,
    reason: str | None = None,
    claim_verdicts: Sequence[ClaimVerdict] = (),
) -> ReviewEvent:
    """Build an event that precedes the decision on a request; an event ``undone`` keeps the decision that it took back."""
    return ReviewEvent(
        event_id=fact_id(tenant, answer_id, f"review-{kind}-{by}-{at.isoformat()}"),
        review_id=review_id,
        answer_id=answer_id,
        tenant=tenant,
        kind=kind,
        reviewer=by,
        queue=queue,
        assignee=assignee,
        undone=_kept(undone) if undone else None,
        deadline_at=deadline,
        reason=reason,
        claim_verdicts=list(claim_verdicts),
        occurred_at=at,
    )


def _kept(decision: ReviewDecision) -> UndoneDecision:
    return UndoneDecision(
        action=decision.user_action, with_warning=decision.with_warning, reason=decision.reason,
        comment=decision.user_comment, corrected_answer=decision.corrected_answer, decided_at=decision.timestamp,
        review_duration=decision.review_duration, comparison=decision.comparison,
    )  # fmt: skip
