"""Measure precision and recall of the failure signals on labelled answers."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import get_args

from pydantic import BaseModel, Field

from schemas.quality import SignalType
from workers.evaluation.quality.validation import validate_response
from workers.evaluation.thresholds import QualityThresholds

SIGNALS: tuple[SignalType, ...] = get_args(SignalType)


class LabelledSignals(BaseModel):
    """Hold an answer and the signals that a careful reader finds in it.

    Attributes:
        id: identifier of the row.
        answer: text of the answer.
        signals: types of signals; empty for a good answer.
        language: ISO 639-1 code.
        kind: purpose of the row.
    """

    id: str
    answer: str
    signals: frozenset[SignalType]
    language: str = ""
    kind: str = ""


class SignalScore(BaseModel):
    """Hold precision and recall of one signal.

    Attributes:
        true_positives: found and labelled.
        false_positives: found and not labelled.
        false_negatives: labelled and not found.
        precision: null if nothing was found.
        recall: null if nothing is labelled.
    """

    true_positives: int
    false_positives: int
    false_negatives: int
    precision: float | None
    recall: float | None


class Miss(BaseModel):
    """Describe an answer whose detected signals differ from its label."""

    id: str
    missing: list[SignalType]
    surplus: list[SignalType]


class SignalEvaluation(BaseModel):
    """Hold the scores of all signals and every miss."""

    answers: int
    by_signal: dict[SignalType, SignalScore]
    right_by_language: dict[str, float] = Field(description="Share of answers whose signals are all as labelled.")
    misses: list[Miss]


class FalseAlarms(BaseModel):
    """Describe good answers that the validator escalates by their text alone.

    Attributes:
        answers: number of answers with label 0, which a person found faithful.
        escalated: number of escalated answers among them.
        share: share of escalated answers; null without answers.
        by_signal: number of escalated answers by signal.
        ids: identifiers of the escalated answers.
    """

    answers: int
    escalated: int
    share: float | None
    by_signal: dict[str, int]
    ids: list[str]


def score_signals(rows: Sequence[LabelledSignals], thresholds: QualityThresholds) -> SignalEvaluation:
    """Compare the validator's signals, by type, with labels."""
    counts: dict[str, Counter[SignalType]] = {"tp": Counter(), "fp": Counter(), "fn": Counter()}
    right: dict[str, list[bool]] = {}
    misses = []
    for row in rows:
        found = {signal.type for signal in validate_response(row.answer, thresholds).signals}
        counts["tp"].update(found & row.signals)
        counts["fp"].update(found - row.signals)
        counts["fn"].update(row.signals - found)
        right.setdefault(row.language or "?", []).append(found == row.signals)
        if found != row.signals:
            misses.append(Miss(id=row.id, missing=sorted(row.signals - found), surplus=sorted(found - row.signals)))
    return SignalEvaluation(
        answers=len(rows),
        by_signal={name: _score(counts["tp"][name], counts["fp"][name], counts["fn"][name]) for name in SIGNALS},
        right_by_language={language: sum(each) / len(each) for language, each in sorted(right.items())},
        misses=misses,
    )


def count_false_alarms(rows: Iterable[tuple[str, str]], thresholds: QualityThresholds) -> FalseAlarms:
    """Count escalations of good answers.

    Args:
        rows: identifier and text of each answer.
        thresholds: thresholds of the validator.
    """
    count, signals, ids = 0, Counter[str](), []
    for identifier, text in rows:
        count += 1
        quality = validate_response(text, thresholds)
        if quality.should_escalate:
            ids.append(identifier)
            signals.update({signal.type for signal in quality.signals})
    share = len(ids) / count if count else None
    return FalseAlarms(answers=count, escalated=len(ids), share=share, by_signal=dict(sorted(signals.items())), ids=ids)


def _score(true: int, false: int, missed: int) -> SignalScore:
    return SignalScore(
        true_positives=true,
        false_positives=false,
        false_negatives=missed,
        precision=true / (true + false) if true + false else None,
        recall=true / (true + missed) if true + missed else None,
    )
