"""Derive implicit signals from a call and from a person's behaviour.

All functions are pure.
"""

from collections.abc import Sequence

from schemas.answers import GeneratedAnswer
from schemas.feedback import BehaviourSignals, ExecutionSignals, LatencyTolerance
from workers.evaluation.quality.failure_signals import stated_failure
from workers.evaluation.quality.query_kinds import accepts_short_answer
from workers.evaluation.text.empty_texts import says_nothing
from workers.evaluation.text.words import reading_length
from workers.evaluation.thresholds import FeedbackRules, QualityThresholds
from workers.evaluation.tools.results.tool_failures import failures_of

OPENING = 400
"""Code points of an answer that are searched for a failure: the detector reads its first three sentences, and an
answer that has said so much has not failed."""

LATENCY_REWARDS: dict[LatencyTolerance, float] = {"high": 0.9, "medium": 0.7, "low": 0.5}
"""Latency reward by tolerance class, 0..1."""

NEUTRAL = 0.5
READ_LONG_SECONDS, READ_SHORT_SECONDS = 30.0, 5.0
READ_LONG, READ_SHORT, CLICKED, COPIED, ASKED_AGAIN = 0.2, -0.2, 0.1, 0.2, -0.3
"""Increments of the implicit satisfaction."""


def execution_signals(answer: GeneratedAnswer, rules: FeedbackRules, quality: QualityThresholds) -> ExecutionSignals:
    """Return the outcome of the call behind an answer: its error, if any, and its latency.

    Args:
        answer: as the gateway delivered it.
        rules: length below which an answer is empty; a fact that the query asks for may be shorter.
        quality: thresholds of the validator, whose detector finds refusals and failed calls in the text.
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
    is_fact = accepts_short_answer(answer.query, answer.query_type, answer.answer)
    length = 0 if says_nothing(text) else reading_length(text)
    if length < (min(1, rules.min_answer_length) if is_fact else rules.min_answer_length):
        return "empty_response"
    failure = stated_failure(text, quality, first=OPENING)
    is_told = failure == "tool_failure" and (_is_quoted(text, answer) or _is_of_tool(answer))
    return None if is_told else failure


def _is_of_tool(answer: GeneratedAnswer) -> bool:
    """Return true if a tool of the answer failed: the answer tells the failure, and the model has not failed."""
    return any(each.kind == "error" for each in failures_of(answer.contexts or ()))


def _is_quoted(text: str, answer: GeneratedAnswer) -> bool:
    """Return true if a passage holds the whole answer: the message was asked for, and did not take its place."""
    words = " ".join(text.split()).casefold()
    return any(words in " ".join(chunk.content.split()).casefold() for chunk in answer.contexts or ())


def _latency(answer: GeneratedAnswer) -> float | None:
    if answer.requested_at is None:
        return None
    seconds = (answer.completed_at - answer.requested_at).total_seconds()
    # A negative latency comes from the caller's clock; it must not be rewarded.
    return seconds if seconds >= 0 else None


def latency_tolerance(seconds: float, rules: FeedbackRules) -> LatencyTolerance:
    """Classify the latency of an answer; a limit itself belongs to the better class."""
    if seconds <= rules.latency_high_seconds:
        return "high"
    return "medium" if seconds <= rules.latency_medium_seconds else "low"


def latency_accepted(seconds: float, retry_delays: Sequence[float], rules: FeedbackRules) -> bool:
    """Return true if the person accepted the latency.

    The latency is accepted if the tolerance was not low and the query was not repeated before the answer
    arrived.

    Args:
        seconds: latency.
        retry_delays: seconds from the query to each of its repetitions.
        rules: limits of the tolerance.
    """
    return seconds <= rules.latency_medium_seconds and all(delay >= seconds for delay in retry_delays)


def merged_behaviour(parts: Sequence[BehaviourSignals]) -> BehaviourSignals | None:
    """Merge all behaviour observed on one answer; return ``None`` if no behaviour was observed."""
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
    """Compute the implicit satisfaction; behaviour that was not observed has no effect.

    A follow-up and a rephrase have the same cost. Together they count once, because a rephrased query is also a
    follow-up.
    """
    score = NEUTRAL
    spent = behaviour.time_spent_seconds
    if spent is not None:
        score += READ_LONG if spent > READ_LONG_SECONDS else READ_SHORT if spent < READ_SHORT_SECONDS else 0.0
    score += CLICKED if behaviour.citations_clicked else 0.0
    score += COPIED if behaviour.response_copied else 0.0
    score += ASKED_AGAIN if behaviour.query_rephrased or behaviour.followup_query else 0.0
    return max(0.0, min(1.0, score))
