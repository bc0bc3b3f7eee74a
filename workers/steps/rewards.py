"""From all feedback on an answer to what it earned (seed 001, with 000's satisfaction).

A fold over a set: the order of events does not matter, an event that comes twice counts
once, and one that comes again with a later time replaces its earlier form. Where the
seeds' text differs from this, docs/decisions says why.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
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
from schemas.review import UserAction
from workers.steps.implicit import LATENCY_REWARDS, latency_tolerance, merged_behaviour, satisfaction
from workers.steps.thresholds import FeedbackRules

RATING_STEPS = 5
ERROR_REWARD, RETRY_REWARD = 0.0, 0.3
"""Seed 001."""

REVIEW_REWARDS: dict[UserAction, float] = {
    "approve": 1.0, "upvote": 1.0, "correct": 0.5, "reject": 0.0, "downvote": 0.0,
}  # fmt: skip
"""What a reviewer's decision is worth."""

EVENTS_OF_A_KIND = 200
"""Most events of each kind that are looked at for one answer: a flood costs no more than this, and
of more opinions than this the mean hardly moves. Calls and review decisions count from the first
one on, since the first is the one that counts; everything else from the last one back."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AnswerFeedback:
    """All that is known of one answer from feedback.

    Attributes:
        answer_id: which answer.
        tenant: whose answer.
        model_id: who wrote it; ``unknown`` for an answer that nobody has seen.
        query_type: the router's class.
        answered_at: when it was complete, or the first feedback on it.
        error_occurred: the call failed, or its answer is empty or a refusal.
        error_type: what kind of error.
        latency_seconds: from query to answer.
        query_features: of the query, for routers; ``None`` where it was not embedded.
        behaviour: what the person did, ``None`` if nothing was observed.
        explicit: each component of the explicit reward that is there, by name.
        asked_again: pairs in which this answer's query was asked again.
        repeats: pairs in which this answer's query repeats an earlier one, the most similar first.
        revision: distinct events and revisions of events; grows with every further one.
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


def combine(events: Iterable[FeedbackEvent], noted: int = 0) -> AnswerFeedback:
    """Fold the events of one answer.

    Args:
        events: of one answer, in any order; at least one, and all that are within the bound.
        noted: distinct events and revisions that are known to be there, where not all are given.
    """
    # The content decides between two forms of one time, so that no order of arrival can.
    ordered = sorted(events, key=lambda event: (event.occurred_at, event.feedback_id, event.model_dump_json()))
    versions = {(event.feedback_id, event.occurred_at) for event in ordered}
    ordered = _bounded(ordered)
    latest = sorted(
        {event.feedback_id: event for event in ordered}.values(),
        key=lambda event: (event.occurred_at, event.feedback_id),
    )
    calls = [event for event in latest if event.execution is not None]
    tenant = calls[0].tenant if calls else latest[-1].tenant
    # Feedback in the name of another tenant is kept, but it is not theirs to judge this answer.
    counted = [event for event in latest if event.tenant in (tenant, "default")]
    answer_id = ordered[0].answer_id
    retries = [event.retry for event in counted if event.retry is not None]
    executions = [event.execution for event in counted if event.execution is not None]
    errors = [signals for signals in executions if _is_error(signals)]
    return AnswerFeedback(
        answer_id=answer_id,
        tenant=tenant,
        model_id=_first(event.model_id for event in (*calls, *counted)) or "unknown",
        query_type=_first(event.query_type for event in (*calls, *counted)),
        answered_at=(calls or latest)[0].occurred_at,
        error_occurred=bool(errors),
        error_type=_first(signals.error_type for signals in errors) or ("hard_error" if errors else None),
        latency_seconds=_first(signals.latency_seconds for signals in executions),
        query_features=_first(signals.query_features for signals in executions),
        behaviour=merged_behaviour([event.behaviour for event in counted if event.behaviour is not None]),
        explicit=_explicit(counted),
        asked_again=tuple(_ranked(pair for pair in retries if pair.original_answer_id == answer_id)),
        repeats=tuple(_ranked(pair for pair in retries if pair.retry_answer_id == answer_id)),
        revision=max(len(versions), noted),
    )


def _bounded(ordered: Sequence[FeedbackEvent]) -> list[FeedbackEvent]:
    """Those that are looked at; an event that came twice takes the place of one."""
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
    """Each component: of a person what was said last, of several people the mean."""
    said: dict[str, dict[str, float]] = {}
    for event in events:
        person = event.user_id or event.session_id or ""
        for name, value in _components(event.explicit or ExplicitSignals()).items():
            # The first valid decision of a review is final; of all else the last word counts.
            if name != "review" or not said.get(name):
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
    """Error over retry over the mean of latency and satisfaction; ``None`` if nothing was observed."""
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
    """Mean of the components that are there; ``None`` if nobody said anything."""
    return fmean(feedback.explicit.values()) if feedback.explicit else None


def combined_reward(explicit: float | None, implicit: float | None, rules: FeedbackRules) -> float | None:
    """The weighted mean of both sides, or the one that is there."""
    sides = ((explicit, rules.explicit_weight), (implicit, rules.implicit_weight))
    known = [(value, weight) for value, weight in sides if value is not None]
    if len(known) < 2:
        return known[0][0] if known else None
    total = sum(weight for _, weight in known)
    # Rounding must not carry a mean of 1 and 1 above 1.
    return min(1.0, sum(value * weight for value, weight in known) / total)


def reward_of(feedback: AnswerFeedback, rules: FeedbackRules, now: datetime) -> Reward | None:
    """What an answer earned, or ``None`` if nothing is known that could earn or cost it anything."""
    explicit, implicit = explicit_reward(feedback), implicit_reward(feedback, rules)
    reward = combined_reward(explicit, implicit, rules)
    if reward is None:
        return None
    seconds = feedback.latency_seconds
    return Reward(
        reward_id=fact_id(feedback.answer_id, "reward"),
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
