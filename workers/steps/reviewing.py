"""From a request and what a reviewer, or the policy, says of it to a decision that needs no look-up."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from schemas.identifiers import deadline_id, decision_id, fact_id
from schemas.review import POLICY, ClaimVerdict, ReviewDecision, ReviewEvent, ReviewEventKind, ReviewRequest, UserAction

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
    with_warning: bool = False,
    second_review: bool = False,
    claim_verdicts: Sequence[ClaimVerdict] = (),
    identifier: str | None = None,
) -> ReviewDecision:
    """A decision with all that it decides on (seed 002: query, answer and metrics at the time).

    Args:
        request: what was asked.
        by: role or pseudonym of the author.
        profile: anonymous facts about the author.
        at: when.
        action: what is decided.
        duration: active seconds.
        comment: in the author's words.
        reason: one word or two.
        corrected_answer: for ``correct``.
        with_warning: approved, and shown with the disclaimer.
        second_review: a blind second opinion.
        claim_verdicts: on single claims.
        identifier: of the decision; made of its content where none is given, so that the same
            decision sent twice is one.
    """
    said = (action, comment, reason, corrected_answer, with_warning, [each.model_dump() for each in claim_verdicts])
    return ReviewDecision(
        feedback_id=identifier or decision_id(request.review_id, by, repr(said), second=second_review),
        session_id=request.session_id,
        timestamp=at,
        query=request.query,
        original_answer=request.answer,
        answer_metrics=request.answer_metrics,
        user_action=action,
        user_comment=comment,
        corrected_answer=corrected_answer if action == "correct" else None,
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
    """What the policy decides when nobody has; the same whoever finds the deadline passed.

    Args:
        request: what was asked.
        action: reject, release with a warning, or make final what readers see.
        deadline: that has passed; the decision is as of then.
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
        identifier=deadline_id(request.review_id, deadline.isoformat()),
    )


def escalated(
    review_id: str, answer_id: str, tenant: str, *, by: str, queue: str, deadline: datetime, at: datetime
) -> ReviewEvent:
    """A request moves to another queue with a new deadline; ``at`` and ``by`` make a repeat the same event."""
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
) -> ReviewEvent:
    """What happens to a request before its decision."""
    return ReviewEvent(
        event_id=fact_id(answer_id, f"review-{kind}-{by}-{at.isoformat()}"),
        review_id=review_id,
        answer_id=answer_id,
        tenant=tenant,
        kind=kind,
        reviewer=by,
        queue=queue,
        deadline_at=deadline,
        occurred_at=at,
    )
