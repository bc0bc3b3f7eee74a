"""Validate a response: score, escalation, reason, confidence and feedback.

The score is 1 minus the weight of each type of signal, and at least 0. Of several signals of one type only the heaviest
counts (marked ``counted``). docs/decisions/0011-validator.md lists the decisions on unclear requirements.
"""

from collections import Counter
from collections.abc import Sequence

from schemas.quality import (
    Assessment,
    EscalationRule,
    FailureSignal,
    QualitySummary,
    ResponseQuality,
    SignalType,
)
from workers.evaluation.quality.failure_signals import find_signals, is_refusal, is_tool_failure
from workers.evaluation.thresholds import QualityThresholds

CONFIDENCE = (0.9, 0.85, 0.8, 0.75, 0.65)
"""Confidence in the assessment by the number of signals; the last value is for four or more."""

NAMES: dict[SignalType, str] = {
    "confusion": "confusion",
    "refusal": "refusal",
    "low_confidence": "low confidence indicators",
    "empty_response": "an empty response",
    "tool_failure": "tool failures",
    "incomplete_reasoning": "incomplete reasoning",
    "hallucination_risk": "hallucination risk",
}
FEEDBACK: dict[SignalType, str] = {
    "confusion": "Ask the user back what is meant, or state the question more precisely.",
    "refusal": "Hand the request to a person, or to a model or tool that is allowed to fulfil it.",
    "low_confidence": "Give sources that settle the point, or ask another model.",
    "empty_response": "Generate the answer again; it holds hardly anything.",
    "tool_failure": "Repeat the failed call with growing pauses, then generate the answer again.",
    "incomplete_reasoning": "Ask for all steps and raise the limit on output tokens.",
    "hallucination_risk": "Give access to the source that is missing, or ask for an answer from sources alone.",
}
"""Suggestions by signal."""


def validate_response(text: str, thresholds: QualityThresholds | None = None) -> ResponseQuality:
    """Validate one answer by its text alone.

    Args:
        text: the answer.
        thresholds: minimum length, strict mode, custom patterns; default thresholds if absent.
    """
    thresholds = thresholds or QualityThresholds()
    signals = find_signals(text, thresholds)
    return ResponseQuality(**dict(assess(signals, thresholds)), signals=signals)


def validate_responses(texts: Sequence[str], thresholds: QualityThresholds | None = None) -> list[ResponseQuality]:
    """Validate several answers independently."""
    return [validate_response(text, thresholds) for text in texts]


def assess(signals: Sequence[FailureSignal], thresholds: QualityThresholds) -> Assessment:
    """Score and escalate by signals, one for each place."""
    lost = sum(signal.weight for signal in signals if signal.counted)
    # Rounded, because 1 - 0.28 is not exactly 0.72 in binary floating point.
    score = round(max(0.0, 1.0 - lost), 6)
    threshold = thresholds.strict_escalation if thresholds.strict_mode else thresholds.escalation
    rules = _rules(score, threshold, signals, thresholds.max_signals)
    types = list(dict.fromkeys(signal.type for signal in _heaviest_first(signals)))
    return Assessment(
        score=score,
        should_escalate=bool(rules),
        escalation_rules=rules,
        reason=_reason(score, threshold, types, rules, len(signals), thresholds.max_signals),
        assessment_confidence=CONFIDENCE[min(len(signals), len(CONFIDENCE) - 1)],
        feedback=" ".join(FEEDBACK[name] for name in types) or None,
        actions=list(dict.fromkeys(signal.action for signal in _heaviest_first(signals) if signal.action)),
    )


def summarize(qualities: Sequence[ResponseQuality]) -> QualitySummary:
    """Summarise responses: mean score, escalated share and count of each signal; ``None`` values for no answers."""
    if not qualities:
        return QualitySummary()
    shown = Counter(name for quality in qualities for name in {signal.type for signal in quality.signals})
    return QualitySummary(
        responses=len(qualities),
        average_score=sum(quality.score for quality in qualities) / len(qualities),
        escalation_rate=sum(quality.should_escalate for quality in qualities) / len(qualities),
        common_issues={name: shown[name] for name in sorted(shown)},
    )


def _rules(score: float, threshold: float, signals: Sequence[FailureSignal], max_signals: int) -> list[EscalationRule]:
    """Return the escalation rules that apply, in a fixed order."""
    rules: list[EscalationRule] = []
    if score < threshold:
        rules.append("score_below_threshold")
    if len(signals) > max_signals:
        rules.append("too_many_signals")
    if is_tool_failure(signals):
        rules.append("tool_failure")
    if is_refusal(signals):
        rules.append("refusal")
    return rules


def _reason(
    score: float,
    threshold: float,
    types: Sequence[SignalType],
    rules: Sequence[EscalationRule],
    signals: int,
    max_signals: int,
) -> str:
    if not types:
        return "No failure signals detected."
    told = {
        "score_below_threshold": f"score {score:.2f} is below {threshold:.2f}",
        "too_many_signals": f"{signals} signals are more than {max_signals}",
        "tool_failure": "a failed call always escalates",
        "refusal": "a refusal always escalates",
    }
    because = "; ".join(told[rule] for rule in rules) or f"score {score:.2f} reaches {threshold:.2f}"
    return f"Detected {', '.join(NAMES[name] for name in types)}: {because}."


def _heaviest_first(signals: Sequence[FailureSignal]) -> list[FailureSignal]:
    return sorted(signals, key=lambda signal: -signal.weight)
