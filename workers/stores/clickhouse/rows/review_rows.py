"""Convert review requests, decisions and events to rows. The functions are pure: a repeat gives the same rows."""

from datetime import datetime

from pydantic_core import to_json

from schemas.review import ReviewDecision, ReviewEvent, ReviewRequest
from workers.decision.finality import (
    DECISION_REVISION,
    Ruling,
    decided_revision,
    decided_state,
    withdraws_release,
)
from workers.stores.tables.review_tables import DecisionRow, QueueRow, ReviewEventRow, ReviewRow

MAX_TITLE = 200
"""Maximum length of the query in the queue, code points."""


def review_rows(request: ReviewRequest) -> tuple[ReviewRow, QueueRow]:
    """Return the rows of a review request: the request and its place in the queue.

    The place is a row of its own. It holds only the columns that order and filter the queue. A
    decision replaces it with a row of higher rank. The row of the request stays.
    """
    completed = request.releasable.completed_at if request.releasable else request.requested_at
    review = ReviewRow(
        tenant=request.tenant, review_id=request.review_id, answer_id=request.answer_id,
        pipeline_version=request.pipeline_version, rank=request.rank, state="open", held=request.held,
        risk_mode=request.risk_mode, reasons=request.reasons, signals=request.signals, queue=request.queue,
        hallucination_risk=request.hallucination_risk, grounding_score=request.grounding_score,
        gate_score=request.gate_score, priority=request.priority, model_id=request.model_id, query=request.query,
        answer=request.answer, completed_at=completed, requested_at=request.requested_at,
        deadline_at=request.deadline_at, request=request.model_dump_json(exclude={"query", "answer"}),
    )  # fmt: skip
    place = QueueRow(
        tenant=request.tenant, review_id=request.review_id, answer_id=request.answer_id, rank=request.rank,
        state="open", queue=request.queue, held=request.held, risk_mode=request.risk_mode, reasons=request.reasons,
        signals=request.signals, hallucination_risk=request.hallucination_risk,
        grounding_score=request.grounding_score, gate_score=request.gate_score, priority=request.priority,
        model_id=request.model_id, title=request.query[:MAX_TITLE], completed_at=completed,
        requested_at=request.requested_at, deadline_at=request.deadline_at,
    )  # fmt: skip
    return review, place


def closing_row(decision: ReviewDecision) -> QueueRow:
    """Return the row that takes a decided review out of the queue. Its rank differs from that of any request."""
    return QueueRow(
        tenant=decision.tenant, review_id=decision.review_id, answer_id=decision.answer_id,
        rank=decided_revision(decision), state=decided_state(decision), model_id=decision.model_id, completed_at=_decided_on(decision),
        decision_id=decision.feedback_id, action=decision.user_action,
        # A release without a request has nothing for a second opinion: no person decided it.
        decided_by="" if withdraws_release(decision) else decision.decided_by, decided_at=decision.timestamp,
    )  # fmt: skip


def withdrawing_row(decision: ReviewDecision) -> QueueRow:
    """Return the row that withdraws a review because the pipeline itself made the answer final."""
    return QueueRow(
        tenant=decision.tenant, review_id=decision.review_id, answer_id=decision.answer_id, rank=DECISION_REVISION,
        state="withdrawn", model_id=decision.model_id, completed_at=_decided_on(decision),
    )  # fmt: skip


def _decided_on(decision: ReviewDecision) -> datetime:
    """Return the completion time of the answer.

    Without it, retention counts from 1970: the row expires and the review is open again.
    """
    answer = decision.releasable
    return answer.completed_at if answer else decision.timestamp


def decision_row(decision: ReviewDecision, ruling: Ruling) -> DecisionRow:
    """Return the row of a decision, vote or second review, with its HumanFeedback as JSON.

    What a final decision was made on stands in a column of its own: another text of the answer replaces the request.
    """
    request = {"original_answer", "releasable"}
    return DecisionRow(
        tenant=decision.tenant, review_id=decision.review_id, answer_id=decision.answer_id,
        decision_id=decision.feedback_id, ruling=ruling, action=decision.user_action, decided_by=decision.decided_by,
        reason=decision.reason or "", review_duration=decision.review_duration, model_id=decision.model_id,
        decided_at=decision.timestamp,
        decision=decision.model_dump_json(exclude={"query", *request}),
        request=decision.model_dump_json(include=request) if ruling in ("final", "withdrawal") else "",
    )  # fmt: skip


def review_event_row(event: ReviewEvent) -> ReviewEventRow:
    """Return the row of an event that happened to a request before its decision."""
    verdicts = {each.claim_id: each.verdict for each in event.claim_verdicts}
    return ReviewEventRow(
        tenant=event.tenant, review_id=event.review_id, answer_id=event.answer_id, event_id=event.event_id,
        kind=event.kind, reviewer=event.reviewer, queue=event.queue or "", deadline_at=event.deadline_at,
        assignee=event.assignee or "", reason=event.reason or "", occurred_at=event.occurred_at,
        undone=event.undone.model_dump_json(exclude_none=True) if event.undone else "",
        verdicts=to_json(verdicts).decode() if verdicts else "",
    )  # fmt: skip
