"""Support of a claim by its evidence: one score in 0..1 from meaning, words and exact details.

Three measures, each blind where another sees, are averaged to ``agreement``:

- the best cosine of the claim (also together with the sentence it leans on) with a unit;
- the share of its content words in its ``TOP`` nearest units together;
- the share of its content words anywhere in the contexts (a summary draws on many sentences).

Agreement is stretched so that ``MATCH_POINT`` becomes the threshold ``fact_match`` of seed 000.
Numbers, dates, identifiers and names that the evidence does not have cost up to
``MISSING_COST``; a contradicted claim keeps ``CONTRADICTED_SCORE`` at most.

Measured on labelled answers (388 RAGTruth and 200 ClapNQ answers, AUROC of the mean over claims):
agreement 0.75 and 0.93; best cosine alone 0.68 and 0.86.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from schemas.grounding import Mismatch, Verdict
from workers.steps.checks import compare, missing_details
from workers.steps.claims import ExtractedClaim
from workers.steps.evidence import TOP, EvidenceUnit, Matrix, containments, nearest
from workers.steps.thresholds import GroundingThresholds
from workers.steps.words import content_words

MATCH_POINT = 0.65
"""Agreement from which a claim matches: four of five claims of answers that people found
faithful lie above it, four of five of answers that they did not (ClapNQ) below."""
CONTRADICTION_AGREEMENT = 0.6
"""Agreement below which evidence is on another matter and cannot contradict."""
CONTRADICTION_SIMILARITY = 0.6
"""The same for the cosine of claim and evidence."""
CONTRADICTED_SCORE = 0.2
"""Most that a contradicted claim keeps."""
DOUBTED_SCORE = 0.75
"""Most that a claim keeps as a share of ``fact_match`` if it has a mismatch with evidence that
is not close enough to contradict it: never supported."""
MISSING_COST = 0.3
"""Share of the score lost if none of the exact details are in the evidence."""


@dataclass(frozen=True, slots=True)
class Support:
    """The judgement on one claim.

    Attributes:
        score: support, 0..1.
        verdict: what follows from it.
        mismatches: what stands against the evidence.
        unit: index of the best evidence, ``None`` without any.
        similarity: cosine of the claim with it.
        best_similarity: highest cosine of the claim with any unit.
    """

    score: float
    verdict: Verdict
    mismatches: tuple[Mismatch, ...]
    unit: int | None
    similarity: float
    best_similarity: float


def judge_claims(
    claims: Sequence[ExtractedClaim],
    units: Sequence[EvidenceUnit],
    similarity: Matrix,
    leaning: Matrix,
    thresholds: GroundingThresholds,
) -> list[Support]:
    """Judge claims against the evidence.

    Args:
        claims: n claims that need grounding.
        units: m units of evidence; without any, nothing is supported.
        similarity: cosine of claims and units, shape [n, m].
        leaning: the same for claims read after the sentence they lean on, shape [n, m].
        thresholds: ``fact_match`` is used.
    """
    if not units:
        return [Support(0.0, "unsupported", (), None, 0.0, 0.0) for _ in claims]
    words = [content_words(claim.plain) for claim in claims]
    close = np.maximum(similarity, leaning)
    top = nearest(close, containments(words, [unit.words for unit in units]))
    everything = frozenset().union(*(unit.words for unit in units))
    best = close.max(axis=1).tolist()
    return [
        _judge(claim, words[row], units, top[row].tolist(), best[row], similarity[row], everything, thresholds)
        for row, claim in enumerate(claims)
    ]


def agreement(similarity: float, words: frozenset[str], near: frozenset[str], everything: frozenset[str]) -> float:
    """Mean of meaning, words in the nearest units and words anywhere, 0..1."""
    if not words:
        return max(0.0, similarity)
    count = len(words)
    return (max(0.0, similarity) + len(words & near) / count + len(words & everything) / count) / 3


def stretched(value: float, fact_match: float) -> float:
    """Agreement on the scale where ``fact_match`` is a match; piecewise linear, monotone."""
    if value < MATCH_POINT:
        return value / MATCH_POINT * fact_match
    return fact_match + (value - MATCH_POINT) / (1.0 - MATCH_POINT) * (1.0 - fact_match)


def _judge(
    claim: ExtractedClaim,
    words: frozenset[str],
    units: Sequence[EvidenceUnit],
    top: list[int],
    best: float,
    similarity: Matrix,
    everything: frozenset[str],
    thresholds: GroundingThresholds,
) -> Support:
    texts = [units[index].text for index in top]
    near = frozenset().union(*(units[index].words for index in top[:TOP]))
    agreed = agreement(best, words, near, everything)
    score = stretched(agreed, thresholds.fact_match)
    score *= 1.0 - MISSING_COST * missing_details(claim.plain, texts)
    own = similarity[top[0]].item()
    mismatches = compare(claim.plain, texts[0], texts[1:])
    verdict: Verdict = "supported" if score >= thresholds.fact_match else "unsupported"
    if mismatches and agreed >= CONTRADICTION_AGREEMENT and own >= CONTRADICTION_SIMILARITY:
        verdict, score = "contradicted", min(score, CONTRADICTED_SCORE)
    elif mismatches:
        verdict, score = "unsupported", min(score, DOUBTED_SCORE * thresholds.fact_match)
    return Support(min(1.0, max(0.0, score)), verdict, mismatches, top[0], own, best)
