"""Build the feedback events that Touchstone observes itself: outcomes of calls and repeated queries."""

from datetime import UTC, datetime
from typing import Literal

from schemas.answers import GeneratedAnswer
from schemas.feedback import ExecutionSignals, ExplicitSignals, FeedbackEvent, RetrySignals
from schemas.identifiers import feedback_id, person_digest
from schemas.review import POLICY, ReviewDecision

REVIEWER = "reviewer:"
"""Begin of the author of a reviewer's vote."""


def is_of_reviewer(event: FeedbackEvent) -> bool:
    """Return true if feedback comes from a decision or vote of a reviewer."""
    decides = event.explicit is not None and event.explicit.review_action is not None
    return decides or (event.user_id or "").startswith(REVIEWER)


def person_of(answer: GeneratedAnswer) -> str | None:
    """Return the owner of a query's history: the user, otherwise the session, otherwise ``None``.

    Returns:
        A digest, which is different for a user and a session of the same name.
    """
    if answer.user_id is not None:
        return person_digest(answer.tenant, answer.user_id)
    if answer.session_id is not None:
        return person_digest(answer.tenant, "session", answer.session_id)
    return None


def asked_at(answer: GeneratedAnswer) -> float:
    """Return the best known time of the query, in seconds since the epoch."""
    return (answer.requested_at or answer.completed_at).timestamp()


def execution_event(answer: GeneratedAnswer, signals: ExecutionSignals, *observer: str) -> FeedbackEvent:
    """Build the event about the outcome of the call behind an answer.

    Args:
        answer: result of the call.
        signals: observed signals.
        observer: source of the event if it is not the worker; events of two observers do not replace each other.
    """
    return FeedbackEvent(
        feedback_id=feedback_id(answer.tenant, answer.answer_id, "execution", *observer),
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
    """Build one event for each answer of a pair; the events are equal whichever answer found the pair."""
    first = asked_at(answer) - (pair.delay_seconds if pair.retry_answer_id == answer.answer_id else 0.0)
    again = datetime.fromtimestamp(round(first + pair.delay_seconds, 3), UTC)
    return [
        FeedbackEvent(
            feedback_id=feedback_id(answer.tenant, answer_id, "retry", pair.original_answer_id, pair.retry_answer_id),
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
    """Build feedback from a reviewer's decision or vote, once for each.

    A vote counts as a reader's feedback and not as a decision. The result is ``None`` for decisions by policy and for
    second reviews, because they are not independent feedback.
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
        # Key votes by reviewer: each of several reviewers has a vote.
        user_id=f"{REVIEWER}{decision.decided_by}"[:200] if vote else decision.user_id,
        kind="explicit",
        explicit=ExplicitSignals(
            vote=vote, review_action=None if vote else decision.user_action, comment=decision.user_comment
        ),
        model_id=decision.model_id if decision.model_id != "unknown" else None,
        occurred_at=decision.timestamp,
    )
