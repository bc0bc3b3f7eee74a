"""Ways to score the risk of an answer: ours, with a verifier or without, the seed's as written, two plain baselines.

All scores are higher where an answer is worse.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.grounding import GroundingFindings
from workers.evaluation.fitting import fit_calibration, folds
from workers.evaluation.measured import MeasuredRow
from workers.steps.calibration import GroundingCalibration
from workers.steps.claim_features import FEATURES
from workers.steps.grounding import judge_grounding, judge_weighed, weigh_grounding
from workers.steps.thresholds import GroundingThresholds
from workers.steps.verification import VerifierPair
from workers.steps.verifier_combination import VerifierCombination

Vectors = Mapping[str, NDArray[np.float32]]
Verify = Callable[[Sequence[VerifierPair]], NDArray[np.float32]]
"""Probabilities of supported, contradicted and unsupported of n pairs, shape (n, 3)."""

SEED_INDICATORS = ("I think", "probably", "maybe", "might be", "I'm not sure", "Based on my knowledge")
SEED_COMMANDS = ("run", "check", "ensure", "verify")
SEED_CITATION = re.compile(r"\[\d+\]")
SEED_SEVERITY = {"medium": 0.5, "high": 0.9}


@dataclass(frozen=True, slots=True)
class Scored:
    """What a method says of one answer.

    Attributes:
        score: higher is worse; ``None`` where the method has nothing to say.
        flagged: whether it calls the answer bad at its shipped threshold; ``None`` for methods without one.
        seconds: of CPU, without embedding.
        findings: of ours, for the claims.
    """

    score: float | None
    flagged: bool | None
    seconds: float
    findings: GroundingFindings | None = None


def touchstone(rows: Sequence[MeasuredRow], calibration: GroundingCalibration) -> list[Scored]:
    """The pipeline's own judgement with a calibration."""
    return [_judged(row, calibration) for row in rows]


def verified(
    rows: Sequence[MeasuredRow],
    calibration: GroundingCalibration,
    combination: VerifierCombination,
    verify: Verify,
    tick: Callable[[], None],
) -> list[Scored]:
    """The same where a verifier is asked about the claims that the rules leave open; its time counts.

    Args:
        rows: to be scored.
        calibration: of the rules.
        combination: how the verifier joins them.
        verify: the verifier.
        tick: called after each row.
    """
    scored = []
    for row in rows:
        started = time.process_time()
        weighed = weigh_grounding(row.prepared, row.vectors, calibration, combination)
        verdicts = dict(zip(weighed.questions, verify(weighed.questions), strict=True))
        findings = judge_weighed(weighed, GroundingThresholds(), verdicts, combination)
        scored.append(_scored(row, findings, combination.threshold, time.process_time() - started))
        tick()
    return scored


def touchstone_cross_validated(
    rows: Sequence[MeasuredRow], fitted: Sequence[MeasuredRow], words: dict[str, object], tick: Callable[[], None]
) -> list[Scored]:
    """The same, with a calibration that was fitted without the source of the row.

    Args:
        rows: to be scored.
        fitted: what the calibration is fitted on.
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


def cosine(rows: Sequence[MeasuredRow]) -> list[Scored]:
    """The claim that is furthest from every sentence of the contexts that it is compared with decides."""
    return [_worst(row, "distance") for row in rows]


def lexical(rows: Sequence[MeasuredRow]) -> list[Scored]:
    """The claim with the smallest share of its content words in the contexts decides."""
    return [_worst(row, "unseen_share") for row in rows]


def seed_texts(row: MeasuredRow) -> list[str]:
    """What the seed's procedure embeds: the answer, its claims and the whole contexts."""
    return [row.row.answer, *seed_claims(row.row.answer), *row.row.contexts]


def seed(rows: Sequence[MeasuredRow], vectors: Vectors) -> list[Scored]:
    """Seed 000's HallucinationDetector as written; ties are broken by its similarity.

    Its risk is the mean severity of the issues and has few values, which would flatter no method:
    one minus the answer's similarity to the nearest context, a hundredth of it, orders equals.
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
    """The seed's claims: pieces between ". " that are neither questions nor begin with four verbs."""
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


def _judged(row: MeasuredRow, calibration: GroundingCalibration) -> Scored:
    started = time.process_time()
    findings = judge_grounding(row.prepared, row.vectors, GroundingThresholds(), calibration)
    return _scored(row, findings, calibration.threshold, time.process_time() - started)


def _scored(row: MeasuredRow, findings: GroundingFindings, threshold: float, seconds: float) -> Scored:
    if findings.risk_score is None or not row.claims:
        return Scored(None, False, seconds, findings)
    return Scored(findings.risk_score, findings.risk_score >= threshold, seconds, findings)


def _worst(row: MeasuredRow, feature: str) -> Scored:
    if not len(row.features):
        return Scored(None, None, row.seconds)
    return Scored(float(row.features[:, FEATURES.index(feature)].max()), None, row.seconds)
