"""Compute the reward of an answer from all its feedback.

The order of events does not matter. An event that is delivered twice counts once. A later revision of an event replaces
the earlier one. docs/decisions explains differences from the requirements.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from statistics import fmean
from typing import TypeVar

from schemas.feedback import (
    BehaviourSignals,
    ExecutionSignals,
    ExplicitSignals,
    FeedbackEvent,
    RetrySignals,
    Reward,
)
from schemas.identifiers import fact_id
from schemas.review import WITHDRAWN, UserAction
from workers.evaluation.thresholds import FeedbackRules
from workers.feedback.implicit_signals import LATENCY_REWARDS, latency_tolerance, merged_behaviour, satisfaction

RATING_STEPS = 5
ERROR_REWARD, RETRY_REWARD = 0.0, 0.3
"""Rewards of a failed call and of a repeated query, 0..1."""

REVIEW_REWARDS: dict[UserAction, float] = {
    "approve": 1.0, "upvote": 1.0, "correct": 0.5, "reject": 0.0, "downvote": 0.0,
}  # fmt: skip
"""Reward of a reviewer's decision."""

MAX_ELSEWHERE = 1_000
"""Maximum number of other hours to correct; feedback on one answer does not span more hours."""

EVENTS_OF_A_KIND = 200
"""Maximum number of events of each kind to read for one answer. It bounds the cost of a flood; further opinions hardly
change the mean. Calls and review decisions are read from the first one, because the first counts; other events from
the last one.
"""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AnswerFeedback:
    """Hold all feedback on one answer.

    Attributes:
        answer_id: identifier of the answer.
        tenant: tenant of the answer.
        model_id: model of the answer; ``unknown`` if the answer is unknown.
        query_type: the router's class.
        answered_at: completion time, or the time of the first feedback.
        error_occurred: the call failed, or its answer is empty or a refusal.
        error_type: type of the error.
        latency_seconds: time from query to answer.
        query_features: features of the query for routers; ``None`` if it was not embedded.
        behaviour: behaviour of the person; ``None`` if none was observed.
        explicit: known components of the explicit reward by name.
        asked_again: pairs in which this answer's query was asked again.
        repeats: pairs in which this answer's query repeats an earlier one, the most similar first.
        revision: number of distinct events and revisions.
        elsewhere: tenant and other hours in which a subset of these events could have counted the answer.
    """

    answer_id: str
    tenant: str
    model_id: str
    query_type: str | None
    answered_at: datetime
    error_occurred: bool
    error_type: str | None
    latency_seconds: float | None
    query_features: list[float] | None
    behaviour: BehaviourSignals | None
    explicit: dict[str, float]
    asked_again: tuple[RetrySignals, ...]
    repeats: tuple[RetrySignals, ...]
    revision: int
    elsewhere: tuple[tuple[str, datetime], ...] = ()


def combine(events: Iterable[FeedbackEvent], noted: int = 0) -> AnswerFeedback:
    """Combine the events of one answer.

    Args:
        events: events of one answer of one tenant, in any order; at least one, and all within the limit.
        noted: known number of distinct events and revisions, if not all are given.
    """
    # The content decides between two revisions of the same time, so that the order of arrival has no effect.
    ordered = sorted(events, key=lambda event: (event.occurred_at, event.feedback_id, event.model_dump_json()))
    versions = {(event.feedback_id, event.occurred_at) for event in ordered}
    ordered = _bounded(ordered)
    latest = sorted(
        {event.feedback_id: event for event in ordered}.values(),
        key=lambda event: (event.occurred_at, event.feedback_id),
    )
    calls = [event for event in latest if event.execution is not None]
    tenant, answer_id = latest[-1].tenant, latest[-1].answer_id
    answered_at = (calls or latest)[0].occurred_at
    retries = [event.retry for event in latest if event.retry is not None]
    executions = [event.execution for event in latest if event.execution is not None]
    errors = [signals for signals in executions if _is_error(signals)]
    return AnswerFeedback(
        answer_id=answer_id,
        tenant=tenant,
        model_id=_first(event.model_id for event in (*calls, *latest)) or "unknown",
        query_type=_first(event.query_type for event in (*calls, *latest)),
        answered_at=answered_at,
        error_occurred=bool(errors),
        error_type=_first(signals.error_type for signals in errors) or ("hard_error" if errors else None),
        latency_seconds=_first(signals.latency_seconds for signals in executions),
        query_features=_first(signals.query_features for signals in executions),
        behaviour=merged_behaviour([event.behaviour for event in latest if event.behaviour is not None]),
        explicit=_explicit(latest),
        asked_again=tuple(_ranked(pair for pair in retries if pair.original_answer_id == answer_id)),
        repeats=tuple(_ranked(pair for pair in retries if pair.retry_answer_id == answer_id)),
        revision=max(len(versions), noted),
        elsewhere=_elsewhere(events=ordered, tenant=tenant, answered_at=answered_at),
    )


def _elsewhere(events: Sequence[FeedbackEvent], tenant: str, answered_at: datetime) -> tuple[tuple[str, datetime], ...]:
    """Return other hours in which the answer may have been counted before all events arrived."""
    hours = sorted({_hour(event.occurred_at) for event in events})
    return tuple(islice(((tenant, hour) for hour in hours if hour != _hour(answered_at)), MAX_ELSEWHERE))


def _hour(time: datetime) -> datetime:
    return time.replace(minute=0, second=0, microsecond=0)


def _bounded(ordered: Sequence[FeedbackEvent]) -> list[FeedbackEvent]:
    """Return the events within the limit; a repeated event counts once."""
    distinct = list({(event.feedback_id, event.occurred_at): event for event in ordered}.values())
    kinds: dict[str, list[FeedbackEvent]] = {}
    for event in distinct:
        is_review = event.explicit is not None and event.explicit.review_action is not None
        kinds.setdefault("review" if is_review else event.kind, []).append(event)
    kept = [
        of_kind[:EVENTS_OF_A_KIND] if kind in ("execution", "review") else of_kind[-EVENTS_OF_A_KIND:]
        for kind, of_kind in kinds.items()
    ]
    return sorted((event for of_kind in kept for event in of_kind), key=lambda e: (e.occurred_at, e.feedback_id))


def _first(values: Iterable[T | None]) -> T | None:
    return next((value for value in values if value is not None), None)


def _is_error(signals: ExecutionSignals) -> bool:
    return signals.status == "error" or signals.error_type is not None


def _ranked(pairs: Iterable[RetrySignals]) -> list[RetrySignals]:
    return sorted(pairs, key=lambda pair: (-pair.similarity_score, pair.delay_seconds, pair.original_answer_id))


def _explicit(events: Sequence[FeedbackEvent]) -> dict[str, float]:
    """Return each component: the last value of a person, the mean over several people."""
    said: dict[str, dict[str, float]] = {}
    for event in events:
        person = event.user_id or event.session_id or ""
        for name, value in _components(event.explicit or ExplicitSignals()).items():
            # The first valid decision of a review is final until it is withdrawn, and nothing comes after that; for
            # other feedback the last value counts.
            if name == "review" and WITHDRAWN in event.feedback_id:
                said[name] = {person: value}
            elif name != "review" or not said.get(name):
                said.setdefault(name, {})[person] = value
    return {name: fmean(by_person.values()) for name, by_person in sorted(said.items())}


def _components(signals: ExplicitSignals) -> dict[str, float]:
    known: dict[str, float | None] = {
        "rating": signals.rating / RATING_STEPS if signals.rating is not None else None,
        "quality_score": signals.quality_score,
        "met_expectations": float(signals.met_expectations) if signals.met_expectations is not None else None,
        "vote": float(signals.vote == "up") if signals.vote is not None else None,
        "review": REVIEW_REWARDS[signals.review_action] if signals.review_action is not None else None,
    }
    return {name: value for name, value in known.items() if value is not None}


def implicit_reward(feedback: AnswerFeedback, rules: FeedbackRules) -> float | None:
    """Compute the implicit reward: error, else retry, else the mean of latency and
    satisfaction; ``None`` without any.
    """
    if feedback.error_occurred:
        return ERROR_REWARD
    if feedback.asked_again:
        return RETRY_REWARD
    parts = []
    if feedback.latency_seconds is not None:
        parts.append(LATENCY_REWARDS[latency_tolerance(feedback.latency_seconds, rules)])
    if feedback.behaviour is not None:
        parts.append(satisfaction(feedback.behaviour))
    return fmean(parts) if parts else None


def explicit_reward(feedback: AnswerFeedback) -> float | None:
    """Compute the mean of the explicit components; return ``None`` without any."""
    return fmean(feedback.explicit.values()) if feedback.explicit else None


def combined_reward(explicit: float | None, implicit: float | None, rules: FeedbackRules) -> float | None:
    """Compute the weighted mean of both rewards; return the known one if the other is missing."""
    sides = ((explicit, rules.explicit_weight), (implicit, rules.implicit_weight))
    known = [(value, weight) for value, weight in sides if value is not None]
    if len(known) < 2:
        return known[0][0] if known else None
    total = sum(weight for _, weight in known)
    # Rounding must not raise a mean of 1 and 1 above 1.
    return min(1.0, sum(value * weight for value, weight in known) / total)


def reward_of(feedback: AnswerFeedback, rules: FeedbackRules, now: datetime) -> Reward | None:
    """Compute the reward of an answer; return ``None`` without a relevant signal."""
    explicit, implicit = explicit_reward(feedback), implicit_reward(feedback, rules)
    reward = combined_reward(explicit, implicit, rules)
    if reward is None:
        return None
    seconds = feedback.latency_seconds
    return Reward(
        reward_id=fact_id(feedback.tenant, feedback.answer_id, "reward"),
        answer_id=feedback.answer_id,
        tenant=feedback.tenant,
        model_id=feedback.model_id,
        query_type=feedback.query_type,
        explicit_reward=explicit,
        implicit_reward=implicit,
        satisfaction=satisfaction(feedback.behaviour) if feedback.behaviour is not None else None,
        reward=reward,
        error_occurred=feedback.error_occurred,
        retry_detected=bool(feedback.asked_again),
        latency_seconds=seconds,
        latency_tolerance=latency_tolerance(seconds, rules) if seconds is not None else None,
        query_features=feedback.query_features,
        revision=feedback.revision,
        answered_at=feedback.answered_at,
        computed_at=now,
    )
