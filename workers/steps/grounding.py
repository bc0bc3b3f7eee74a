"""Grounding: how far an answer rests on its contexts (seed 000's detector, seed 004's score).

Two phases, so that the texts of many answers are embedded in one batch: ``prepare_grounding``
says which vectors it needs, ``judge_grounding`` judges with them. Where a verifier is asked, the
second has two halves: ``weigh_grounding`` says what it is asked, ``judge_weighed`` judges with its
verdicts. All are pure; an answer's judgement does not depend on the others in its batch.

Method: the answer's claims that need grounding (``claims``) are compared with sentences, fields
and rows of the contexts (``evidence``) and scored (``support``). Then seed 000's four
strategies, each an issue with a severity, and a fifth for contradictions (``risk``).

Mends of seed 000 and 004:

- Similarity of answer and context: the model reads 256 tokens and drops the rest, so the seed
  judges the beginning of both. Here: mean over claims of the best cosine with a unit of
  evidence, weighted by the claim's length.
- Facts are compared with sentences of the evidence, not with whole chunks, whose vectors blur
  every figure; the substring check, which a single changed word defeats, became the share of
  common words, checked for numbers, dates, names and negation.
- Uncertainty markers count at word boundaries, each occurrence, not in quotations or code; the
  seed counts "maybe" in "maybelline".
- Coverage counts sentences that can carry a citation, and only valid citations.
- No claims: ``null``, neither verified (000) nor fully grounded (004).
- A claim without a citation is not worth 0.0 (004): evidence counts whether or not it is cited.
- The mean of severities is replaced: see ``risk``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from schemas.answers import GeneratedAnswer
from schemas.grounding import (
    MAX_CALCULATIONS,
    MAX_CLAIM_TEXT,
    MAX_CLAIMS,
    MAX_CONFLICTS,
    MAX_EXPRESSION,
    MAX_ISSUE_CLAIMS,
    MAX_NUMBER,
    MAX_PASSAGE,
    MAX_SOURCES,
    Calculation,
    CalculationInput,
    Claim,
    ClaimSource,
    Conflict,
    Evidence,
    GroundingFindings,
    GroundingIssue,
    IssueType,
)
from schemas.identifiers import claim_id
from schemas.reports import Span
from workers.steps.attribution import Attribution, SourceSupport, attribute
from workers.steps.calculations import derived_figures, expression
from workers.steps.calibration import AnswerClaims, GroundingCalibration, shipped_calibration
from workers.steps.citations import coverage, resolve_citations, skip_reason
from workers.steps.claims import ExtractedClaim
from workers.steps.evidence import MAX_TEXT, UNCOMPARED, EvidenceUnit, Matrix, collect_evidence, cosines, stack
from workers.steps.promising import promising
from workers.steps.records import RecordFacts, read_record
from workers.steps.risk import Measures, assess
from workers.steps.segmentation import segment
from workers.steps.support import (
    MeasuredClaim,
    Opinion,
    Support,
    judge_claims,
    judge_measured,
    measure_claims,
    rule_margins,
)
from workers.steps.thresholds import GroundingThresholds
from workers.steps.uncertainty import uncertainty_spans
from workers.steps.verification import VerifierPair, verifier_pairs
from workers.steps.verifier_combination import VerifierCombination
from workers.steps.words import content_words

Verdicts = Mapping[VerifierPair, NDArray[np.float32]]
"""A verifier's probabilities of supported, contradicted and unsupported, shape (3,), by pair."""

MAX_EXCERPT = 300
"""Longest excerpt of a piece of evidence, code points."""
MAX_MARKERS = 1_000
"""Most uncertainty markers that are listed; all of them count."""


@dataclass(frozen=True, slots=True)
class PreparedGrounding:
    """An answer taken apart, waiting for vectors.

    Attributes:
        answer_id: whose answer it is.
        texts: distinct texts that need vectors, in a fixed order; empty if skipped.
        claims: all claims in order, of any kind.
        cited: for each claim the contexts that it validly cites, from 1.
        units: the evidence.
        records: what the fields of JSON contexts say, by number of the context.
        coverage: share of sentences with a valid citation; ``None`` if none could carry one.
        uncertainty: where uncertainty markers stand.
        skipped: why there is nothing to judge; empty otherwise.
    """

    answer_id: str
    texts: tuple[str, ...] = ()
    claims: tuple[ExtractedClaim, ...] = ()
    cited: tuple[tuple[int, ...], ...] = ()
    units: tuple[EvidenceUnit, ...] = ()
    records: Mapping[int, RecordFacts] = field(default_factory=dict)
    coverage: float | None = None
    uncertainty: tuple[Span, ...] = field(default=())
    skipped: str = ""


def prepare_grounding(answer: GeneratedAnswer) -> PreparedGrounding:
    """Take an answer apart: claims, evidence and the texts that need vectors."""
    reason = skip_reason(answer)
    if reason:
        return PreparedGrounding(answer.answer_id, skipped=reason)
    contexts = answer.contexts or []
    sentences = segment(answer.answer)
    resolved = resolve_citations(answer, sentences)
    claims = resolved.claims
    units = collect_evidence(contexts, content_words(answer.answer))
    checked = [claim for claim in _listed(claims) if claim.needs_grounding] if units else []
    needed = dict.fromkeys(text for claim in checked for text in embedded_texts(claim))
    needed.update(dict.fromkeys(compared_texts(checked, units)))
    return PreparedGrounding(
        answer_id=answer.answer_id,
        texts=tuple(needed),
        claims=claims,
        cited=resolved.cited,
        units=units,
        records={
            number: facts
            for number, chunk in enumerate(contexts, 1)
            if (facts := read_record(chunk.content)) is not None
        },
        coverage=coverage(resolved),
        uncertainty=tuple(uncertainty_spans(answer.answer, sentences)),
    )


@dataclass(frozen=True, slots=True)
class WeighedGrounding:
    """A prepared answer whose n checked claims are measured, waiting for a verifier where there is one.

    Attributes:
        prepared: the answer.
        calibration: what its claims are weighed by.
        checked: the claims.
        similarity: cosines of claims and evidence, shape [n, m]; ``UNCOMPARED`` where a unit does not come into
            question.
        leaning: the same for claims read after what they lean on, shape [n, m].
        measured: what was measured on each claim.
        pairs: what the verifier is asked about each claim, ``None`` about one that the rules decide.
        of_records: whether each rests on a record or table rather than on a text, by the unit that tells most
            about it; shape (n,).
    """

    prepared: PreparedGrounding
    calibration: GroundingCalibration
    checked: tuple[ExtractedClaim, ...]
    similarity: Matrix
    leaning: Matrix
    measured: tuple[MeasuredClaim, ...]
    pairs: tuple[VerifierPair | None, ...]
    of_records: NDArray[np.bool_]

    @property
    def questions(self) -> tuple[VerifierPair, ...]:
        """Distinct pairs that a verifier is asked, in order."""
        return tuple(dict.fromkeys(pair for pair in self.pairs if pair is not None))


def weigh_grounding(
    prepared: PreparedGrounding,
    vectors: Mapping[str, NDArray[np.float32]],
    calibration: GroundingCalibration | None = None,
    combination: VerifierCombination | None = None,
) -> WeighedGrounding:
    """Measure the claims of a prepared answer, and find what a verifier is to be asked about them.

    It is asked about the claims that the rules leave open: neither far enough from the verdict's edge
    (the bounds of the combination) nor contradicted, with any evidence, and that of a kind on which it is worth asking.

    Args:
        prepared: what ``prepare_grounding`` returned.
        vectors: an L2-normalised vector for each of its texts; others are not looked at.
        calibration: another one than the shipped one.
        combination: of a verifier; without one nothing is asked.

    Raises:
        KeyError: if a vector is missing.
    """
    calibration = calibration or shipped_calibration()
    checked = tuple(checked_claims(prepared)) if not prepared.skipped else ()
    similarity, leaning = similarities(checked, prepared.units, vectors)
    measured = tuple(measure_claims(checked, prepared.units, similarity, leaning, prepared.records, calibration))
    pairs: list[VerifierPair | None] = [None] * len(checked)
    of_records = np.array([_is_of_record(each, prepared.units) for each in measured], dtype=bool)
    if combination is not None and prepared.units:
        is_open = combination.is_open(rule_margins(measured, calibration), of_records)
        asked = [claim for claim, each in enumerate(measured) if is_open[claim] and not each.contradicted]
        texts = [checked[claim] for claim in asked]
        for claim, pair in zip(
            asked, verifier_pairs(texts, prepared.units, similarity[asked], leaning[asked]), strict=True
        ):
            pairs[claim] = pair
    return WeighedGrounding(prepared, calibration, checked, similarity, leaning, measured, tuple(pairs), of_records)


def judge_grounding(
    prepared: PreparedGrounding,
    vectors: Mapping[str, NDArray[np.float32]],
    thresholds: GroundingThresholds,
    calibration: GroundingCalibration | None = None,
    verdicts: Verdicts | None = None,
    combination: VerifierCombination | None = None,
) -> GroundingFindings:
    """Judge a prepared answer.

    Args:
        prepared: what ``prepare_grounding`` returned.
        vectors: an L2-normalised vector for each of its texts; others are not looked at.
        thresholds: see ``GroundingThresholds``.
        calibration: another one than the shipped one.
        verdicts: what a verifier says on the ``questions`` of ``weigh_grounding``; ``None`` without one.
        combination: how it joins the rules; needed with verdicts.

    Raises:
        KeyError: if a vector or a verdict is missing.
    """
    return judge_weighed(
        weigh_grounding(prepared, vectors, calibration, combination), thresholds, verdicts, combination
    )


def judge_weighed(
    weighed: WeighedGrounding,
    thresholds: GroundingThresholds,
    verdicts: Verdicts | None = None,
    combination: VerifierCombination | None = None,
) -> GroundingFindings:
    """Judge what ``weigh_grounding`` returned; by the rules alone where there are no verdicts.

    Args:
        weighed: the answer.
        thresholds: see ``GroundingThresholds``.
        verdicts: what a verifier says on its ``questions``, by pair: probabilities of supported,
            contradicted, unsupported, shape (3,).
        combination: how that joins the rules; needed with verdicts.

    Raises:
        KeyError: if a verdict is missing.
        ValueError: verdicts without a combination.
    """
    if verdicts is not None and combination is None:
        raise ValueError("a verifier's verdicts need the combination that says how they join the rules")
    prepared, checked, similarity, leaning = weighed.prepared, weighed.checked, weighed.similarity, weighed.leaning
    calibration, minimum = weighed.calibration, thresholds.grounding_minimum
    if prepared.skipped:
        return GroundingFindings(status="skipped", reason=prepared.skipped)
    listed = _listed(prepared.claims)
    opinion = None if verdicts is None or combination is None else _opinion(weighed, verdicts, combination)
    supports = judge_measured(weighed.measured, calibration, minimum, opinion, has_evidence=bool(prepared.units))

    def judge(claims: Sequence[int], indices: Sequence[int]) -> list[Support]:
        units = [prepared.units[index] for index in indices]
        part = np.ix_(claims, indices)
        # The verifier has read a claim with the evidence of all sources: its opinion holds for each of them.
        of_claims = opinion and opinion.on(claims)
        texts = [checked[claim] for claim in claims]
        return judge_claims(
            texts, units, similarity[part], leaning[part], prepared.records, calibration, minimum, of_claims
        )

    cited = [numbers for claim, numbers in zip(listed, prepared.cited, strict=False) if claim.needs_grounding]
    attributions = attribute(cited, supports, prepared.units, np.maximum(similarity, leaning), judge)
    measures = _measures(prepared, checked, supports, attributions)
    risk = assess(measures, answer_risk(supports, opinion.combination if opinion else calibration), thresholds)
    judged = {
        claim.start: (support, attribution)
        for claim, support, attribution in zip(checked, supports, attributions, strict=True)
    }
    claims = [
        _claim(prepared, claim, numbers, *judged.get(claim.start, (None, Attribution())))
        for claim, numbers in zip(listed, prepared.cited, strict=False)
    ]
    return GroundingFindings(
        hallucination_risk=risk.level,
        risk_score=risk.score,
        confidence_score=1.0 - risk.score,
        grounding_score=_mean([support.score for support in supports]),
        context_similarity=measures.context_similarity,
        facts_verified=measures.facts_verified,
        citation_coverage=prepared.coverage,
        uncertainty_markers=list(prepared.uncertainty[:MAX_MARKERS]),
        claims=claims,
        claims_total=len(prepared.claims),
        conflicts=list(_conflicts(prepared, judged))[:MAX_CONFLICTS],
        issues=[_naming(issue, claims) for issue in risk.issues],
        suggestions=risk.suggestions,
    )


def _naming(issue: GroundingIssue, claims: Sequence[Claim]) -> GroundingIssue:
    """The issue with the claims it is about, whose evidence stands with them."""
    about: dict[IssueType, list[str]] = {
        "contradicted_facts": [claim.claim_id for claim in claims if claim.verdict == "contradicted"],
        "unverified_facts": [claim.claim_id for claim in claims if claim.verdict in ("unsupported", "contradicted")],
        "cited_unsupported": [claim.claim_id for claim in claims if claim.cited_unsupported],
    }
    return issue.model_copy(update={"claim_ids": about.get(issue.type, [])[:MAX_ISSUE_CLAIMS]})


def _opinion(weighed: WeighedGrounding, verdicts: Verdicts, combination: VerifierCombination) -> Opinion:
    supported = [np.nan if pair is None else float(verdicts[pair][0]) for pair in weighed.pairs]
    return Opinion(combination, np.array(supported, dtype=np.float64), weighed.of_records)


def _is_of_record(measured: MeasuredClaim, units: Sequence[EvidenceUnit]) -> bool:
    return bool(measured.compared) and units[measured.compared[0]].of_record


def answer_risk(supports: Sequence[Support], calibration: GroundingCalibration | VerifierCombination) -> float | None:
    """Probability that something in the answer is unsupported; ``None`` if nothing was checked."""
    if not supports:
        return None
    return calibration.risk(
        AnswerClaims(
            log_odds=np.array([support.log_odds for support in supports]),
            unsaid=np.array([support.unsaid for support in supports]),
            words=np.array([support.words for support in supports], dtype=np.float64),
            unsupported=np.array([support.verdict != "supported" for support in supports]),
        )
    )


def _listed(claims: Sequence[ExtractedClaim]) -> Sequence[ExtractedClaim]:
    return claims[:MAX_CLAIMS]


def checked_claims(prepared: PreparedGrounding) -> list[ExtractedClaim]:
    """The claims that are held against the evidence, in order."""
    return [claim for claim in _listed(prepared.claims) if claim.needs_grounding]


def embedded_texts(claim: ExtractedClaim) -> tuple[str, str]:
    """The texts of a claim that need vectors: it alone, and after what it leans on."""
    alone = claim.plain[:MAX_TEXT]
    return alone, f"{claim.leans_on} {claim.plain}"[-MAX_TEXT:] if claim.leans_on else alone


def compared_texts(claims: Sequence[ExtractedClaim], units: Sequence[EvidenceUnit]) -> list[str]:
    """The texts of the units that come into question for any of the claims."""
    return [units[index].text for index in np.flatnonzero(_comparable(claims, units).any(axis=0)).tolist()]


def similarities(
    claims: Sequence[ExtractedClaim], units: Sequence[EvidenceUnit], vectors: Mapping[str, NDArray[np.float32]]
) -> tuple[Matrix, Matrix]:
    """Cosines of n claims, alone and with what they lean on, with m units, shape [n, m] each.

    ``UNCOMPARED`` where a unit does not come into question for a claim; a unit that does for none needs no vector.

    Raises:
        KeyError: if a vector is missing.
    """
    if not claims or not units:
        empty = np.zeros((len(claims), len(units)), dtype=np.float32)
        return empty, empty
    comparable = _comparable(claims, units)
    columns = np.flatnonzero(comparable.any(axis=0)).tolist()
    evidence = stack([units[column].text for column in columns], vectors)

    def compared(texts: Sequence[str]) -> Matrix:
        whole = np.full(comparable.shape, UNCOMPARED, dtype=np.float32)
        whole[:, columns] = cosines(stack(texts, vectors), evidence)
        whole[~comparable] = UNCOMPARED
        return whole

    alone, leaning = zip(*map(embedded_texts, claims), strict=True)
    return compared(alone), compared(leaning)


def _comparable(claims: Sequence[ExtractedClaim], units: Sequence[EvidenceUnit]) -> NDArray[np.bool_]:
    """Which units come into question for each claim, shape [n, m]."""
    comparable = promising([content_words(claim.plain) for claim in claims], units)
    leaning = [index for index, claim in enumerate(claims) if claim.leans_on]
    # What a claim leans on has more words than it and would alone choose its own sentences.
    words = [content_words(f"{claims[index].leans_on} {claims[index].plain}") for index in leaning]
    comparable[leaning] |= promising(words, units)
    return comparable


def _measures(
    prepared: PreparedGrounding,
    checked: Sequence[ExtractedClaim],
    supports: Sequence[Support],
    attributions: Sequence[Attribution],
) -> Measures:
    lengths = [len(claim.plain) or 1 for claim in checked]
    weighted = sum(length * support.best_similarity for length, support in zip(lengths, supports, strict=True))
    # Claims beyond the limit were not looked at: what was not checked is not verified, so that
    # a fabrication cannot be hidden behind four hundred truisms.
    groundable = sum(claim.needs_grounding for claim in prepared.claims)
    supported = sum(support.verdict == "supported" for support in supports)
    return Measures(
        uncertainty=len(prepared.uncertainty),
        context_similarity=max(-1.0, min(1.0, weighted / sum(lengths))) if lengths else None,
        facts_verified=supported / groundable if groundable else None,
        citation_coverage=prepared.coverage,
        contradicted=sum(support.verdict == "contradicted" for support in supports),
        groundable=groundable,
        cited_unsupported=sum(bool(attribution.cited_unsupported) for attribution in attributions),
    )


def _claim(
    prepared: PreparedGrounding,
    claim: ExtractedClaim,
    cited: Sequence[int],
    support: Support | None,
    attribution: Attribution,
) -> Claim:
    return Claim(
        claim_id=claim_id(prepared.answer_id, claim.start, claim.end),
        span=Span(start=claim.start, end=claim.end),
        text=claim.text[:MAX_CLAIM_TEXT],
        kind=claim.kind,
        hedged=claim.hedged,
        verdict=support.verdict if support else "not_checked",
        score=support.score if support else None,
        verifier_score=support.verified if support else None,
        mismatches=list(support.mismatches) if support else [],
        evidence=_evidence(prepared.units, support) if support else None,
        cited_numbers=list(cited),
        sources=[_source(prepared.units, source) for source in attribution.sources[:MAX_SOURCES]],
        calculations=list(_calculations(prepared.units, claim.plain, support)) if support else [],
        primary_number=attribution.primary,
        redundant_numbers=list(attribution.redundant),
        proposed_numbers=list(attribution.proposed),
        cited_unsupported=list(attribution.cited_unsupported),
        better_number=attribution.better,
    )


def _calculations(units: Sequence[EvidenceUnit], plain: str, support: Support) -> Iterator[Calculation]:
    if support.verdict != "supported":
        return
    near = [units[place] for place in support.compared]
    for figure in derived_figures(plain, [unit.text for unit in near])[:MAX_CALCULATIONS]:
        yield Calculation(
            operation=figure.operation,
            result=figure.figure.written[:MAX_NUMBER],
            expression=expression(figure)[:MAX_EXPRESSION],
            inputs=[_input(None if place is None else near[place], number.written) for place, number in figure.inputs],
        )


def _input(unit: EvidenceUnit | None, written: str) -> CalculationInput:
    if unit is None:
        return CalculationInput(text=written[:MAX_NUMBER])
    span = Span(start=unit.start, end=unit.end)
    return CalculationInput(text=written[:MAX_NUMBER], number=unit.number, chunk_id=unit.chunk_id, span=span)


def _source(units: Sequence[EvidenceUnit], source: SourceSupport) -> ClaimSource:
    unit = units[source.unit]
    return ClaimSource(
        number=source.number,
        chunk_id=unit.chunk_id,
        span=Span(start=unit.start, end=unit.end),
        excerpt=unit.text[:MAX_PASSAGE],
        score=source.score,
        verdict=source.verdict,
        cited=source.cited,
    )


def _conflicts(prepared: PreparedGrounding, judged: Mapping[int, tuple[Support, Attribution]]) -> Iterator[Conflict]:
    for claim in prepared.claims:
        conflict = judged[claim.start][1].conflict if claim.start in judged else None
        if conflict:
            supporting, contradicting = (_source(prepared.units, source) for source in conflict)
            identifier = claim_id(prepared.answer_id, claim.start, claim.end)
            yield Conflict(claim_id=identifier, supporting=supporting, contradicting=contradicting)


def _evidence(units: Sequence[EvidenceUnit], support: Support) -> Evidence | None:
    if support.unit is None:
        return None
    unit = units[support.unit]
    return Evidence(
        chunk_id=unit.chunk_id,
        number=unit.number,
        span=Span(start=unit.start, end=unit.end),
        excerpt=unit.text[:MAX_EXCERPT],
        similarity=support.similarity,
    )


def _mean(values: Sequence[float]) -> float | None:
    return min(1.0, max(0.0, sum(values) / len(values))) if values else None
