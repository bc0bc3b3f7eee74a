"""Score the risk of an answer: by rules, with a verifier, by the baseline detector and by two plain baselines.

All scores are higher where an answer is worse.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.grounding import GroundingFindings
from workers.evaluation.grounding.calibration import GroundingCalibration
from workers.evaluation.grounding.claim_features import FEATURES
from workers.evaluation.grounding.grounding_evaluator import combine_with_verifier, evaluate_grounding, score_with_rules
from workers.evaluation.grounding.sources.verifier_evidence import VerifierPair
from workers.evaluation.grounding.verifier_combination import VerifierCombination
from workers.evaluation.thresholds import GroundingThresholds
from workers.measurement.fits.fitting import fit_calibration, folds
from workers.measurement.measured_answers import MeasuredRow

Vectors = Mapping[str, NDArray[np.float32]]
Verify = Callable[[Sequence[VerifierPair]], NDArray[np.float32]]
"""Probabilities of supported, contradicted and unsupported of n pairs, shape (n, 3)."""

SEED_INDICATORS = ("I think", "probably", "maybe", "might be", "I'm not sure", "Based on my knowledge")
SEED_COMMANDS = ("run", "check", "ensure", "verify")
SEED_CITATION = re.compile(r"\[\d+\]")
SEED_SEVERITY = {"medium": 0.5, "high": 0.9}


@dataclass(frozen=True, slots=True)
class Scored:
    """Hold the result of a method for one answer.

    Attributes:
        score: higher is worse; ``None`` without a score.
        flagged: True if the score reaches the shipped threshold; ``None`` for methods without one.
        seconds: CPU seconds, without embedding.
        findings: findings of Touchstone's evaluator, for the claims.
    """

    score: float | None
    flagged: bool | None
    seconds: float
    findings: GroundingFindings | None = None


DEFAULTS = GroundingThresholds()
"""The thresholds of published figures, whatever the settings say."""


def touchstone(
    rows: Sequence[MeasuredRow], calibration: GroundingCalibration, thresholds: GroundingThresholds = DEFAULTS
) -> list[Scored]:
    """Score answers with the pipeline, a calibration and thresholds."""
    return [_judged(row, calibration, thresholds) for row in rows]


def verified(
    rows: Sequence[MeasuredRow],
    calibration: GroundingCalibration,
    combination: VerifierCombination,
    verify: Verify,
    tick: Callable[[], None],
    thresholds: GroundingThresholds = DEFAULTS,
) -> list[Scored]:
    """Score answers with a verifier for the claims that the rules leave open; its time counts.

    Args:
        rows: rows to score.
        calibration: calibration of the rules.
        combination: combination of verifier and rules.
        verify: the verifier.
        tick: called after each row.
        thresholds: thresholds of the evaluation.
    """
    scored = []
    for row in rows:
        started = time.process_time()
        weighed = score_with_rules(row.prepared, calibration, combination)
        verdicts = dict(zip(weighed.questions, verify(weighed.questions), strict=True))
        findings = combine_with_verifier(weighed, thresholds, verdicts, combination)
        scored.append(_scored(row, findings, combination.threshold, time.process_time() - started))
        tick()
    return scored


def touchstone_cross_validated(
    rows: Sequence[MeasuredRow], fitted: Sequence[MeasuredRow], words: dict[str, object], tick: Callable[[], None]
) -> list[Scored]:
    """Score answers with a calibration that was fitted without the source of the row.

    Args:
        rows: to be scored.
        fitted: rows for the fit of the calibration.
        words: weights of words.
        tick: called after each fold.
    """
    scored: dict[int, Scored] = {}
    sources = [row.row.source for row in (*fitted, *rows)]
    for train, test in folds(sources):
        document = fit_calibration([fitted[index] for index in train if index < len(fitted)], words, "fold")
        calibration = GroundingCalibration(document)
        for index in test:
            if index >= len(fitted):
                scored[index - len(fitted)] = _judged(rows[index - len(fitted)], calibration)
        tick()
    return [scored[index] for index in range(len(rows))]


def cosine_texts(row: MeasuredRow) -> list[str]:
    """Return the texts that the baseline by cosines embeds: the claims and the sentences of the contexts."""
    return [*(claim.plain for claim in row.claims), *(unit.text for unit in row.prepared.units)]


def cosine(rows: Sequence[MeasuredRow], vectors: Vectors) -> list[Scored]:
    """Score by the lowest cosine of a claim with its nearest sentence of the contexts."""
    return [_farthest(row, vectors) for row in rows]


def lexical(rows: Sequence[MeasuredRow]) -> list[Scored]:
    """Score by the smallest share of a claim's content words in the contexts."""
    column = FEATURES.index("unseen_share")
    return [
        Scored(float(row.features[:, column].max()) if len(row.features) else None, None, row.seconds) for row in rows
    ]


def seed_texts(row: MeasuredRow) -> list[str]:
    """Return the texts that the baseline detector embeds: the answer, its claims and the whole contexts."""
    return [row.row.answer, *seed_claims(row.row.answer), *row.row.contexts]


def seed(rows: Sequence[MeasuredRow], vectors: Vectors) -> list[Scored]:
    """Score answers with the unmodified baseline detector; break ties by its similarity.

    Its risk is the mean severity of the issues and has few different values. Equal values are ordered by one minus
    the answer's similarity to the nearest context, divided by 100.
    """
    scored = []
    for row in rows:
        started = time.process_time()
        text = row.row.answer
        contexts = [vectors[context] for context in row.row.contexts]
        similarity = max((float(vectors[text] @ context) for context in contexts), default=0.0)
        issues = []
        if sum(indicator.lower() in text.lower() for indicator in SEED_INDICATORS) > 2:
            issues.append("medium")
        if similarity < 0.7:
            issues.append("high")
        if _seed_verified(row, vectors, contexts) < 0.6:
            issues.append("high")
        sentences = text.split(". ")
        cited = sum(bool(SEED_CITATION.search(sentence)) for sentence in sentences)
        if cited / len(sentences) < 0.5:
            issues.append("medium")
        risk = sum(SEED_SEVERITY[issue] for issue in issues) / len(issues) if issues else 0.0
        scored.append(Scored(risk + 0.01 * (1.0 - similarity), risk >= 0.7, time.process_time() - started))
    return scored


def seed_claims(text: str) -> list[str]:
    """Return the claims of the baseline detector: pieces between ". ", without questions and four leading verbs."""
    pieces = [piece.strip() for piece in text.split(". ")]
    return [
        piece for piece in pieces if piece and not piece.endswith("?") and piece.split()[0].lower() not in SEED_COMMANDS
    ]


def _seed_verified(row: MeasuredRow, vectors: Vectors, contexts: Sequence[NDArray[np.float32]]) -> float:
    claims = seed_claims(row.row.answer)
    if not claims:
        return 1.0
    whole = " ".join(row.row.contexts).lower()
    verified = sum(
        claim.lower() in whole or max((float(vectors[claim] @ context) for context in contexts), default=0.0) > 0.8
        for claim in claims
    )
    return verified / len(claims)


def _judged(row: MeasuredRow, calibration: GroundingCalibration, thresholds: GroundingThresholds = DEFAULTS) -> Scored:
    started = time.process_time()
    findings = evaluate_grounding(row.prepared, thresholds, calibration)
    return _scored(row, findings, calibration.threshold, time.process_time() - started)


def _scored(row: MeasuredRow, findings: GroundingFindings, threshold: float, seconds: float) -> Scored:
    if findings.risk_score is None or not row.claims:
        return Scored(None, False, seconds, findings)
    return Scored(findings.risk_score, findings.risk_score >= threshold, seconds, findings)


def _farthest(row: MeasuredRow, vectors: Vectors) -> Scored:
    if not row.claims or not row.prepared.units:
        return Scored(None, None, row.seconds)
    claims = np.stack([vectors[claim.plain] for claim in row.claims])
    units = np.stack([vectors[unit.text] for unit in row.prepared.units])
    return Scored(1.0 - float((claims @ units.T).max(axis=1).min()), None, row.seconds)
