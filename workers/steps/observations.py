"""The feedback events that Touchstone observes by itself: how a call went, and that a query came again."""

from datetime import UTC, datetime
from typing import Literal

from schemas.answers import GeneratedAnswer
from schemas.feedback import ExecutionSignals, ExplicitSignals, FeedbackEvent, RetrySignals
from schemas.identifiers import feedback_id, person_digest
from schemas.review import POLICY, ReviewDecision


def person_of(answer: GeneratedAnswer) -> str | None:
    """Whose history a query belongs to: the user's, else the session's, else nobody's.

    Returns:
        A digest; a session can never be taken for a user of that name.
    """
    if answer.user_id is not None:
        return person_digest(answer.tenant, answer.user_id)
    if answer.session_id is not None:
        return person_digest(answer.tenant, f"session\x1f{answer.session_id}")
    return None


def asked_at(answer: GeneratedAnswer) -> float:
    """When the query was asked, as far as is known: seconds since the epoch."""
    return (answer.requested_at or answer.completed_at).timestamp()


def execution_event(answer: GeneratedAnswer, signals: ExecutionSignals, *observer: str) -> FeedbackEvent:
    """The event that says how the call behind an answer went.

    Args:
        answer: what came of the call.
        signals: what was observed of it.
        observer: who tells, where it is not the worker; events of two observers do not replace each other.
    """
    return FeedbackEvent(
        feedback_id=feedback_id(answer.answer_id, "execution", *observer),
        answer_id=answer.answer_id,
        tenant=answer.tenant,
        session_id=answer.session_id,
        user_id=answer.user_id,
        kind="execution",
        execution=signals,
        model_id=answer.model.id,
        query_type=answer.query_type,
        occurred_at=answer.completed_at,
    )


def retry_events(answer: GeneratedAnswer, pair: RetrySignals) -> list[FeedbackEvent]:
    """A pair as one event for each of its answers; whichever of them found it, the same ones."""
    first = asked_at(answer) - (pair.delay_seconds if pair.retry_answer_id == answer.answer_id else 0.0)
    again = datetime.fromtimestamp(round(first + pair.delay_seconds, 3), UTC)
    return [
        FeedbackEvent(
            feedback_id=feedback_id(answer_id, "retry", pair.original_answer_id, pair.retry_answer_id),
            answer_id=answer_id,
            tenant=answer.tenant,
            user_id=answer.user_id,
            kind="retry",
            retry=pair,
            occurred_at=again,
        )
        for answer_id in (pair.original_answer_id, pair.retry_answer_id)
    ]


def review_event(decision: ReviewDecision) -> FeedbackEvent | None:
    """A reviewer's decision or vote as feedback, once.

    A vote is the opinion of a person like any other, and no decision. ``None`` for what says
    nothing of its own: the policy's decisions, and second reviews, which measure the first.
    """
    if decision.decided_by == POLICY or decision.second_review:
        return None
    votes: dict[str, Literal["up", "down"]] = {"upvote": "up", "downvote": "down"}
    vote = votes.get(decision.user_action)
    return FeedbackEvent(
        feedback_id=decision.feedback_id,
        answer_id=decision.answer_id,
        tenant=decision.tenant,
        session_id=decision.session_id,
        # Who asked is not who says so: of several reviewers each has a vote.
        user_id=f"reviewer:{decision.decided_by}"[:200] if vote else decision.user_id,
        kind="explicit",
        explicit=ExplicitSignals(
            vote=vote, review_action=None if vote else decision.user_action, comment=decision.user_comment
        ),
        model_id=decision.model_id if decision.model_id != "unknown" else None,
        occurred_at=decision.timestamp,
    )
