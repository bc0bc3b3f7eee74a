"""Patterns, trends and what reviewers say, as events and rows (FeedbackMessage of seed 002)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from schemas.feedback import AnalyticsRow, FeedbackAggregation, FeedbackMessage
from schemas.identifiers import feedback_id, insight_id
from schemas.review import POLICY, HumanFeedback, ReviewDecision, UserAction
from workers.steps.insights import COMPONENTS, SUGGESTIONS, Pattern, Trend

MAX_ANSWERS = 100
"""Identifiers of bad answers that a row lists."""

HIGH_IMPACT, MEDIUM_IMPACT = 0.3, 0.1
"""Shares of all bad answers from which a pattern is urgent."""

Priority = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True)
class Period:
    """What was looked at.

    Attributes:
        tenant: whose answers; all if empty.
        since: from then.
        until: to then.
    """

    tenant: str
    since: datetime
    until: datetime


def priority_of(impact: float) -> Priority:
    """How urgent a pattern is, by its share of what goes wrong."""
    return "high" if impact >= HIGH_IMPACT else "medium" if impact >= MEDIUM_IMPACT else "low"


def pattern_message(pattern: Pattern, period: Period, now: datetime) -> FeedbackMessage:
    """A pattern as an insight."""
    common = f", always with {' and '.join(pattern.in_common)}" if pattern.in_common else ""
    text = (
        f"{pattern.kind} {pattern.name}: {pattern.bad} of {pattern.total} rated answers are bad "
        f"({pattern.rate:.0%} against {pattern.rate_elsewhere:.0%}){common}"
    )
    payload = FeedbackAggregation(
        aggregation_id=_identifier(period, pattern.kind, pattern.name),
        feedback_type=pattern.feedback_type,
        pattern=text[:2_000],
        frequency=pattern.bad,
        impact_score=pattern.impact,
        suggested_improvement=SUGGESTIONS[pattern.kind](pattern.name)[:2_000],
        affected_components=[COMPONENTS[pattern.kind]],
    )
    return _message(payload, "aggregated_insights", priority_of(pattern.impact), now)


def trend_message(found: Trend, period: Period, now: datetime) -> FeedbackMessage:
    """A trend as an insight."""
    low, high = found.difference
    verb = ("rose" if low > 0 else "fell") if found.moves else "did not move"
    payload = FeedbackAggregation(
        aggregation_id=_identifier(period, "trend"),
        feedback_type="other",
        pattern=f"satisfaction {verb}: {found.mean:.2f} after {found.mean_before:.2f} in the period before "
        f"(difference {low:+.2f} to {high:+.2f})",
        frequency=found.total,
        impact_score=min(1.0, abs(found.mean - found.mean_before)) if found.moves else 0.0,
        suggested_improvement="Look at the patterns of the period" if found.moves and high < 0 else "Nothing to do",
        affected_components=["System"],
    )
    return _message(payload, "trend_analysis", "high" if found.moves and high < 0 else "low", now)


URGENCY: dict[UserAction, Priority] = {
    "reject": "high", "correct": "high", "downvote": "medium", "approve": "low", "upvote": "low",
}  # fmt: skip
"""A rejected or corrected answer shows what goes wrong, a vote against it that something does."""


def human_feedback_message(decision: ReviewDecision) -> FeedbackMessage | None:
    """What a person said of an answer; ``None`` for what a deadline decided."""
    if decision.decided_by == POLICY:
        return None
    said = decision.model_dump(include={*HumanFeedback.model_fields, "answer_id", "review_id", "tenant", "reason"})
    return FeedbackMessage(
        message_id=feedback_id(decision.answer_id, "insight", decision.feedback_id),
        message_type="human_feedback",
        source_component="HumanReviewInterface",
        payload=HumanFeedback.model_validate(said),
        processing_priority=URGENCY[decision.user_action],
        created_at=decision.timestamp,
    )


def pattern_row(message: FeedbackMessage, pattern: Pattern, period: Period) -> AnalyticsRow:
    """The row of a pattern."""
    columns: dict[str, Any] = {
        "total": pattern.total,
        "rate": pattern.rate,
        "rate_elsewhere": pattern.rate_elsewhere,
        "difference_low": pattern.difference[0],
        "difference_high": pattern.difference[1],
        "p_value": pattern.p_value,
        "answers": list(pattern.answers[:MAX_ANSWERS]),
    }
    return _row(message, period, columns)


def trend_row(message: FeedbackMessage, found: Trend, period: Period) -> AnalyticsRow:
    """The row of a trend; its rates are mean rewards."""
    columns: dict[str, Any] = {
        "total": found.total,
        "rate": found.mean,
        "rate_elsewhere": found.mean_before,
        "difference_low": found.difference[0],
        "difference_high": found.difference[1],
        "p_value": None,
        "answers": [],
    }
    return _row(message, period, columns)


def _identifier(period: Period, *about: str) -> str:
    # By days: whoever looks twice on one day sees the same insights, not twice as many.
    return insight_id(period.tenant, f"{period.since:%Y-%m-%d}/{period.until:%Y-%m-%d}", *about)


def _message(
    payload: FeedbackAggregation,
    message_type: Literal["aggregated_insights", "trend_analysis"],
    priority: Priority,
    now: datetime,
) -> FeedbackMessage:
    return FeedbackMessage(
        message_id=payload.aggregation_id,
        message_type=message_type,
        source_component="SystemMonitor",
        payload=payload,
        processing_priority=priority,
        created_at=now,
    )


def _row(message: FeedbackMessage, period: Period, columns: dict[str, Any]) -> AnalyticsRow:
    payload = message.payload
    assert isinstance(payload, FeedbackAggregation)
    shared = payload.model_dump(
        mode="json",
        include={
            "feedback_type", "pattern", "frequency", "impact_score", "suggested_improvement", "affected_components",
        },
    )  # fmt: skip
    return AnalyticsRow(
        table="insights",
        columns=shared
        | columns
        | {
            "insight_id": payload.aggregation_id,
            "tenant": period.tenant,
            "message_type": message.message_type,
            "priority": message.processing_priority,
            "since": period.since.isoformat(),
            "until": period.until.isoformat(),
            "created_at": message.created_at.isoformat(),
        },
    )
