"""Convert feedback, rewards and insights to rows. The functions are pure: a repeat gives the same rows."""

from collections.abc import Sequence
from datetime import datetime

from schemas.feedback import FeedbackAggregation, FeedbackEvent, FeedbackMessage, Reward
from schemas.identifiers import fact_id
from workers.evaluation.thresholds import FeedbackRules
from workers.feedback.implicit_signals import latency_accepted, latency_tolerance, satisfaction
from workers.feedback.insight_events import Period
from workers.feedback.patterns import Pattern, Trend
from workers.feedback.rewards import AnswerFeedback
from workers.stores.tables.feedback_tables import FeedbackRow, ImplicitFeedbackRow, InsightRow, RewardRow

MAX_ANSWERS = 100
"""Maximum number of identifiers of bad answers in a row."""


def feedback_row(event: FeedbackEvent) -> FeedbackRow:
    """Return the row of an event of feedback."""
    return FeedbackRow(
        answer_id=event.answer_id, feedback_id=event.feedback_id, occurred_at=event.occurred_at, tenant=event.tenant,
        kind=event.kind, user_id=event.user_id or "", session_id=event.session_id or "",
        event=event.to_bytes().decode(),
    )  # fmt: skip


def reward_row(reward: Reward, elsewhere: Sequence[tuple[str, datetime]] = ()) -> RewardRow:
    """Return the row of a reward. A later revision replaces it and clears the hours where it was counted before."""
    return RewardRow(
        reward_id=reward.reward_id, answer_id=reward.answer_id, tenant=reward.tenant, model_id=reward.model_id,
        query_type=reward.query_type or "", explicit_reward=reward.explicit_reward,
        implicit_reward=reward.implicit_reward, satisfaction=reward.satisfaction, reward=reward.reward,
        error_occurred=reward.error_occurred, retry_detected=reward.retry_detected,
        latency_seconds=reward.latency_seconds, latency_tolerance=reward.latency_tolerance, revision=reward.revision,
        answered_at=reward.answered_at, computed_at=reward.computed_at, query_features=reward.query_features or [],
        elsewhere=[{"tenant": name, "answered_at": hour.isoformat()} for name, hour in elsewhere],
    )  # fmt: skip


def implicit_feedback_row(feedback: AnswerFeedback, rules: FeedbackRules) -> ImplicitFeedbackRow | None:
    """Return the implicit_feedback row of an answer, or ``None`` if nothing was observed."""
    seconds = feedback.latency_seconds
    observed = feedback.error_occurred or seconds is not None or feedback.behaviour is not None
    if not (observed or feedback.asked_again or feedback.repeats):
        return None
    repeated = feedback.repeats[0] if feedback.repeats else None
    delays = [pair.delay_seconds for pair in feedback.asked_again]
    return ImplicitFeedbackRow(
        id=fact_id(feedback.tenant, feedback.answer_id, "implicit_feedback"),
        query_id=feedback.answer_id,
        tenant=feedback.tenant,
        model_id=feedback.model_id,
        query_type=feedback.query_type or "",
        timestamp=feedback.answered_at,
        error_occurred=feedback.error_occurred,
        error_type=feedback.error_type,
        latency_seconds=seconds,
        latency_accepted=seconds is None or latency_accepted(seconds, delays, rules),
        latency_tolerance=None if seconds is None else latency_tolerance(seconds, rules),
        retry_detected=repeated is not None,
        retry_delay_seconds=repeated.delay_seconds if repeated else None,
        similarity_score=repeated.similarity_score if repeated else None,
        original_query_id=repeated.original_answer_id if repeated else None,
        asked_again=bool(feedback.asked_again),
        satisfaction=None if feedback.behaviour is None else satisfaction(feedback.behaviour),
        revision=feedback.revision,
    )


def insight_row(message: FeedbackMessage, found: Pattern | Trend, period: Period) -> InsightRow:
    """Return the row of a pattern or trend. The rates of a trend are mean rewards."""
    payload = message.payload
    assert isinstance(payload, FeedbackAggregation)
    return InsightRow(
        insight_id=payload.aggregation_id,
        tenant=period.tenant,
        message_type=message.message_type,
        feedback_type=payload.feedback_type,
        pattern=payload.pattern,
        frequency=payload.frequency,
        total=found.total,
        impact_score=payload.impact_score,
        rate=found.rate if isinstance(found, Pattern) else found.mean,
        rate_elsewhere=found.rate_elsewhere if isinstance(found, Pattern) else found.mean_before,
        difference_low=found.difference[0],
        difference_high=found.difference[1],
        p_value=found.p_value if isinstance(found, Pattern) else None,
        suggested_improvement=payload.suggested_improvement,
        affected_components=payload.affected_components,
        priority=message.processing_priority,
        answers=list(found.answers[:MAX_ANSWERS]) if isinstance(found, Pattern) else [],
        since=period.since,
        until=period.until,
        created_at=message.created_at,
    )
