"""Support of a claim by its evidence: a calibrated confidence and a verdict.

What is measured is in ``claim_features``, how it is weighed in ``calibration``. The verdict:

- *contradicted*: a field of a record says the opposite, or a number, date, name or negation stands
  against evidence that is plainly on the same matter;
- *supported*: confidence at or above ``grounding_minimum`` and nothing stands against it;
- *unsupported*: the rest.

Where a verifier was asked about claims that the rules leave open, its probability and theirs make the confidence
(``verifier_combination``); what stands against a claim has the last word all the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from schemas.grounding import Mismatch, Verdict
from workers.steps.calibration import UNSAID, Floats, GroundingCalibration
from workers.steps.checks import compare, on_one_matter
from workers.steps.claim_features import FEATURES, EvidenceIndex, content_sequence, measure_claim
from workers.steps.claims import ExtractedClaim
from workers.steps.evidence import TOP, UNCOMPARED, EvidenceUnit, Matrix, containments, nearest
from workers.steps.records import RecordFacts
from workers.steps.verifier_combination import Flags, VerifierCombination
from workers.steps.words import content_words

CONTRADICTION_AGREEMENT = 0.6
"""Agreement below which evidence is on another matter and cannot contradict."""
CONTRADICTION_SIMILARITY = 0.6
"""The same for the cosine of claim and evidence."""
CONTRADICTED_SCORE = 0.2
"""Most that a contradicted claim keeps."""
DOUBTED_SHARE = 0.75
"""Most that a claim keeps as a share of the minimum if it has a mismatch with evidence that is not
close enough to contradict it: never supported."""


@dataclass(frozen=True, slots=True)
class Support:
    """The judgement on one claim.

    Attributes:
        score: support, 0..1.
        verdict: what follows from it.
        mismatches: what stands against the evidence.
        unit: index of the best evidence, ``None`` without any.
        similarity: cosine of the claim with it.
        best_similarity: highest cosine of the claim with any unit that it was compared with.
        log_odds: of being unsupported, before the verdict; see ``calibration``.
        unsaid: share of it that the sources do not say, 0..1; see ``calibration``.
        words: distinct content words of it, at least 1.
        compared: indices of the units that it was compared with, the best first.
        verified: a verifier's probability that it is supported, ``None`` where it was not asked.
    """

    score: float
    verdict: Verdict
    mismatches: tuple[Mismatch, ...]
    unit: int | None
    similarity: float
    best_similarity: float
    log_odds: float
    unsaid: float
    words: int
    compared: tuple[int, ...] = ()
    verified: float | None = None


@dataclass(frozen=True, slots=True)
class MeasuredClaim:
    """What was measured on a claim, before it is weighed.

    Attributes:
        values: features, shape (len(FEATURES),).
        words: distinct content words, at least 1.
        mismatches: what stands against the evidence.
        compared: indices of the units that it was compared with, the best first.
        similarity: cosine of the claim with the best of them.
        best: highest cosine of the claim with any unit that it was compared with.
        contradicts: whether the mismatches stand against evidence that is plainly on the same matter.
        denied: whether a field of a record says the opposite.
    """

    values: Floats
    words: int
    mismatches: tuple[Mismatch, ...]
    compared: tuple[int, ...]
    similarity: float
    best: float
    contradicts: bool
    denied: bool

    @property
    def contradicted(self) -> bool:
        """Whether the rules have the last word on it: what it says stands against the evidence."""
        return self.denied or self.contradicts


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a verifier says on n claims.

    Attributes:
        combination: how it joins the rules.
        supported: probability that each is supported, NaN where it was not asked, shape (n,).
        of_records: whether each rests on a record rather than on a text, shape (n,).
    """

    combination: VerifierCombination
    supported: Floats
    of_records: Flags

    def on(self, claims: Sequence[int]) -> "Opinion":
        """What it says on some of the claims, in their order."""
        return Opinion(self.combination, self.supported[claims], self.of_records[claims])


def judge_claims(
    claims: Sequence[ExtractedClaim],
    units: Sequence[EvidenceUnit],
    similarity: Matrix,
    leaning: Matrix,
    records: Mapping[int, RecordFacts],
    calibration: GroundingCalibration,
    minimum: float,
    opinion: Opinion | None = None,
) -> list[Support]:
    """Judge claims against the evidence.

    Args:
        claims: n claims that need grounding.
        units: m units of evidence; without any, nothing is supported.
        similarity: cosine of claims and units, shape [n, m]; ``UNCOMPARED`` where a unit does not come into question,
            never for all units of a claim.
        leaning: the same for claims read after the sentence they lean on, shape [n, m].
        records: what the records among the contexts say, by number of the context.
        calibration: weighs what is measured.
        minimum: confidence from which a claim is supported.
        opinion: what a verifier says on them.
    """
    measured = measure_claims(claims, units, similarity, leaning, records, calibration)
    return judge_measured(measured, calibration, minimum, opinion, has_evidence=bool(units))


def judge_measured(
    measured: Sequence[MeasuredClaim],
    calibration: GroundingCalibration,
    minimum: float,
    opinion: Opinion | None,
    *,
    has_evidence: bool,
) -> list[Support]:
    """Judge what was measured; for the arguments see :func:`judge_claims`.

    Args:
        measured: n claims.
        calibration: weighs what is measured.
        minimum: confidence from which a claim is supported.
        opinion: what a verifier says on them.
        has_evidence: whether there was any unit of evidence.
    """
    if opinion is None:
        odds = rule_odds(measured, calibration)
        confidences = calibration.confidences(odds)
        said: list[float | None] = [None] * len(measured)
    else:
        margins = rule_margins(measured, calibration)
        odds = opinion.combination.log_odds(margins, opinion.supported, opinion.of_records)
        confidences = opinion.combination.confidences(odds)
        said = [None if np.isnan(each) else float(each) for each in opinion.supported]
    return [
        _verdict(each, float(odd), float(confidence), minimum, verified, has_evidence=has_evidence)
        for each, odd, confidence, verified in zip(measured, odds, confidences, said, strict=True)
    ]


def rule_odds(measured: Sequence[MeasuredClaim], calibration: GroundingCalibration) -> Floats:
    """Log-odds that n claims are unsupported, by the rules alone, shape (n,)."""
    return calibration.log_odds(_features(measured))


def rule_margins(measured: Sequence[MeasuredClaim], calibration: GroundingCalibration) -> Floats:
    """The same above the cut of the verdict, as a verifier's combination takes them, shape (n,)."""
    return calibration.margins(_features(measured))


def _features(measured: Sequence[MeasuredClaim]) -> Floats:
    return np.array([each.values for each in measured], dtype=np.float64).reshape(-1, len(FEATURES))


def measure_claims(
    claims: Sequence[ExtractedClaim],
    units: Sequence[EvidenceUnit],
    similarity: Matrix,
    leaning: Matrix,
    records: Mapping[int, RecordFacts],
    calibration: GroundingCalibration,
) -> list[MeasuredClaim]:
    """Measure claims; the arguments are those of :func:`judge_claims`.

    The words of all of them are looked up in the evidence, so that a claim's agreement with it may rest on a word
    that only another claim of the same answer has by itself (the 5 of "5.5" and of "5 rooms").
    """
    if not claims:
        return []
    sequences = [content_sequence(claim.plain) for claim in claims]
    vocabulary = frozenset(
        word for words in sequences for word in (*words, *(one + two for one, two in pairwise(words)))
    )
    numbers = dict.fromkeys(unit.number for unit in units)
    index = EvidenceIndex(units, vocabulary, [records[number] for number in numbers if number in records])
    if not units:
        no_similarity = np.zeros(0, dtype=np.float32)
        return [
            _measure(claim, (), index, no_similarity, no_similarity, frozenset(), calibration, ()) for claim in claims
        ]
    words = [content_words(claim.plain) for claim in claims]
    close = np.maximum(similarity, leaning)
    ranked = nearest(close, containments(words, [unit.words for unit in units]))
    top = [
        [place for place in row.tolist() if of_claim[place] > UNCOMPARED]
        for row, of_claim in zip(ranked, close, strict=True)
    ]
    return [
        _measure(claim, units, index, close[row], similarity[row], words[row], calibration, top[row])
        for row, claim in enumerate(claims)
    ]


def agreement(similarity: float, words: frozenset[str], near: frozenset[str], everything: frozenset[str]) -> float:
    """Mean of meaning, words in the nearest units and words anywhere, 0..1: on the same matter or not."""
    if not words:
        return max(0.0, similarity)
    count = len(words)
    return (max(0.0, similarity) + len(words & near) / count + len(words & everything) / count) / 3


def _measure(
    claim: ExtractedClaim,
    units: Sequence[EvidenceUnit],
    index: EvidenceIndex,
    close: Matrix,
    alone: Matrix,
    words: frozenset[str],
    calibration: GroundingCalibration,
    top: Sequence[int],
) -> MeasuredClaim:
    texts = [units[place].text for place in top]
    best = float(close.max()) if len(close) else 0.0
    mismatches = compare(claim.plain, texts[0], texts[1:]) if texts else ()
    measures = measure_claim(claim.plain, best, index, texts, mismatches, calibration.words)
    near = frozenset().union(*(units[place].words for place in top[:TOP]))
    everywhere = frozenset(word for word in words if index.has(word)) | near
    return MeasuredClaim(
        measures.values,
        max(1, len(set(content_sequence(claim.plain)))),
        mismatches,
        tuple(top),
        float(alone[top[0]]) if top else 0.0,
        best,
        bool(mismatches)
        and (
            on_one_matter(claim.plain, texts[0])
            or (
                agreement(best, words, near, everywhere) >= CONTRADICTION_AGREEMENT
                and float(alone[top[0]]) >= CONTRADICTION_SIMILARITY
            )
        ),
        bool(measures.record.denied),
    )


def _verdict(
    each: MeasuredClaim,
    odds: float,
    confidence: float,
    minimum: float,
    verified: float | None,
    *,
    has_evidence: bool,
) -> Support:
    verdict: Verdict = "supported" if confidence >= minimum else "unsupported"
    if each.contradicted:
        verdict, confidence = "contradicted", min(confidence, CONTRADICTED_SCORE)
    elif each.mismatches or not has_evidence:
        verdict, confidence = "unsupported", min(confidence, DOUBTED_SHARE * minimum)
    return Support(
        score=confidence if has_evidence else 0.0,
        verdict=verdict,
        mismatches=each.mismatches,
        unit=each.compared[0] if has_evidence else None,
        similarity=each.similarity,
        best_similarity=each.best,
        log_odds=odds,
        unsaid=float(each.values[UNSAID].mean()),
        words=each.words,
        compared=each.compared,
        verified=verified,
    )
