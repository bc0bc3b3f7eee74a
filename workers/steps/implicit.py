"""What a call and a person's behaviour say about an answer (seeds 001 and 000).

Pure: times and texts in, signals out.
"""

from collections.abc import Sequence

from schemas.answers import GeneratedAnswer
from schemas.feedback import BehaviourSignals, ExecutionSignals, LatencyTolerance
from workers.steps.signals import is_refused
from workers.steps.thresholds import FeedbackRules, QualityThresholds

OPENING = 400
"""Code points of an answer that are searched for a refusal: the detector looks at its first three
sentences, and whoever has said so much has not refused."""

LATENCY_REWARDS: dict[LatencyTolerance, float] = {"high": 0.9, "medium": 0.7, "low": 0.5}
"""Seed 001."""

NEUTRAL = 0.5
READ_LONG_SECONDS, READ_SHORT_SECONDS = 30.0, 5.0
READ_LONG, READ_SHORT, CLICKED, COPIED, ASKED_AGAIN = 0.2, -0.2, 0.1, 0.2, -0.3
"""Steps of the implicit satisfaction of seed 000."""


def execution_signals(answer: GeneratedAnswer, rules: FeedbackRules, quality: QualityThresholds) -> ExecutionSignals:
    """How the call behind an answer went: its error, if any, and its latency.

    Args:
        answer: as the gateway delivered it.
        rules: below which length an answer is empty.
        quality: thresholds of the validator, whose detector finds refusals.
    """
    return ExecutionSignals(
        status=answer.status, error_type=_error_type(answer, rules, quality), latency_seconds=_latency(answer)
    )


def _error_type(answer: GeneratedAnswer, rules: FeedbackRules, quality: QualityThresholds) -> str | None:
    if answer.status == "error":
        return "hard_error"
    if "answer" in answer.withheld:
        return None
    text = answer.answer.strip()
    if len(text) < rules.min_answer_length:
        return "empty_response"
    return "refusal" if is_refused(text[:OPENING], quality) else None


def _latency(answer: GeneratedAnswer) -> float | None:
    if answer.requested_at is None:
        return None
    seconds = (answer.completed_at - answer.requested_at).total_seconds()
    # A clock that runs backwards is the caller's; a negative latency would be rewarded.
    return seconds if seconds >= 0 else None


def latency_tolerance(seconds: float, rules: FeedbackRules) -> LatencyTolerance:
    """How much patience an answer asked for; a limit itself still belongs to the better class."""
    if seconds <= rules.latency_high_seconds:
        return "high"
    return "medium" if seconds <= rules.latency_medium_seconds else "low"


def latency_accepted(seconds: float, retry_delays: Sequence[float], rules: FeedbackRules) -> bool:
    """Whether the person put up with the wait.

    Seed 001 has the column and does not define it. Here: tolerance was not low, and nobody
    asked again before the answer was there.

    Args:
        seconds: latency.
        retry_delays: seconds from the query to each time that it was asked again.
        rules: limits of the tolerance.
    """
    return seconds <= rules.latency_medium_seconds and all(delay >= seconds for delay in retry_delays)


def merged_behaviour(parts: Sequence[BehaviourSignals]) -> BehaviourSignals | None:
    """All that was observed on one answer; ``None`` if nothing was, whatever came."""
    spent = [part.time_spent_seconds for part in parts if part.time_spent_seconds is not None]
    merged = BehaviourSignals(
        followup_query=next((part.followup_query for part in parts if part.followup_query), None),
        query_rephrased=_any([part.query_rephrased for part in parts]),
        time_spent_seconds=max(spent, default=None),
        citations_clicked=sorted({clicked for part in parts for clicked in part.citations_clicked}),
        response_copied=_any([part.response_copied for part in parts]),
    )
    return None if merged == BehaviourSignals() else merged


def _any(values: Sequence[bool | None]) -> bool | None:
    known = [value for value in values if value is not None]
    return any(known) if known else None


def satisfaction(behaviour: BehaviourSignals) -> float:
    """Implicit satisfaction of seed 000: what was not observed counts nothing.

    A follow-up costs as a rephrase does, and both together cost once: a rephrased query is
    a follow-up, too.
    """
    score = NEUTRAL
    spent = behaviour.time_spent_seconds
    if spent is not None:
        score += READ_LONG if spent > READ_LONG_SECONDS else READ_SHORT if spent < READ_SHORT_SECONDS else 0.0
    score += CLICKED if behaviour.citations_clicked else 0.0
    score += COPIED if behaviour.response_copied else 0.0
    score += ASKED_AGAIN if behaviour.query_rephrased or behaviour.followup_query else 0.0
    return max(0.0, min(1.0, score))
