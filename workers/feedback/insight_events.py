"""Build events from patterns, trends and reviewers' decisions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from schemas.feedback import FeedbackAggregation, FeedbackMessage
from schemas.identifiers import feedback_id, insight_id
from schemas.review import POLICY, HumanFeedback, ReviewDecision, UserAction
from workers.feedback.patterns import COMPONENTS, SUGGESTIONS, Judges, Pattern, Trend

HIGH_IMPACT, MEDIUM_IMPACT = 0.3, 0.1
"""Share of all bad answers from which a pattern is urgent."""

Priority = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True)
class Period:
    """Describe the period and tenant of an insight.

    Attributes:
        tenant: tenant of the answers; all tenants if empty.
        since: start of the period.
        until: end of the period.
    """

    tenant: str
    since: datetime
    until: datetime


def priority_of(impact: float) -> Priority:
    """Return the priority of a pattern by its share of the bad answers."""
    return "high" if impact >= HIGH_IMPACT else "medium" if impact >= MEDIUM_IMPACT else "low"


SAID: dict[Judges, str] = {
    "readers": "answers that readers rated are bad", "reviewers": "answers that reviewers decided were found bad",
}  # fmt: skip
"""Words for the bad answers of a pattern, by the people who found them bad."""


def pattern_message(pattern: Pattern, period: Period, now: datetime, by: Judges = "readers") -> FeedbackMessage:
    """Build an insight from a pattern in the answers that readers rated, or reviewers decided."""
    shared = " and ".join(f"{name} ({count} of {pattern.bad})" for name, count in pattern.in_common.items())
    common = f", mostly with {shared}" if shared else ""
    text = (
        f"{pattern.kind} {pattern.name}: {pattern.bad} of {pattern.total} {SAID[by]} "
        f"({pattern.rate:.0%} against {pattern.rate_elsewhere:.0%}){common}"
    )
    payload = FeedbackAggregation(
        aggregation_id=_identifier(period, pattern.kind, pattern.name, *([by] if by == "reviewers" else [])),
        feedback_type=pattern.feedback_type,
        pattern=text[:2_000],
        frequency=pattern.bad,
        impact_score=pattern.impact,
        suggested_improvement=SUGGESTIONS[pattern.kind](pattern.name)[:2_000],
        affected_components=[COMPONENTS[pattern.kind]],
    )
    return _message(payload, "aggregated_insights", priority_of(pattern.impact), now)


def trend_message(found: Trend, period: Period, now: datetime) -> FeedbackMessage:
    """Build an insight from a trend."""
    low, high = found.difference
    verb = ("rose" if low > 0 else "fell") if found.moves else "did not move"
    payload = FeedbackAggregation(
        aggregation_id=_identifier(period, "trend"),
        feedback_type="other",
        pattern=f"satisfaction of readers {verb}: {found.mean:.2f} after {found.mean_before:.2f} in the period before "
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
"""Weight of feedback kinds: a rejected or corrected answer shows what is wrong, a vote only that something is."""


def human_feedback_message(decision: ReviewDecision) -> FeedbackMessage | None:
    """Build an insight from a reviewer's decision; return ``None`` for a deadline's decision."""
    if decision.decided_by == POLICY:
        return None
    said = decision.model_dump(include={*HumanFeedback.model_fields, "answer_id", "review_id", "tenant", "reason"})
    return FeedbackMessage(
        message_id=feedback_id(decision.tenant, decision.answer_id, "insight", decision.feedback_id),
        message_type="human_feedback",
        source_component="HumanReviewInterface",
        payload=HumanFeedback.model_validate(said),
        processing_priority=URGENCY[decision.user_action],
        created_at=decision.timestamp,
    )


def _identifier(period: Period, *about: str) -> str:
    # The identifier contains the day, so that a second search on one day finds the same insights.
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
