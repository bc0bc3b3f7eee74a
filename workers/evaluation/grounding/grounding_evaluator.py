"""Evaluate the grounding of an answer: the degree to which its contexts support its claims.

``prepare_grounding`` segments the answer, ``evaluate_grounding`` evaluates it. With a verifier, the second
phase has two halves: ``score_with_rules`` returns the verifier's input, ``combine_with_verifier`` evaluates
with its verdicts. All functions are pure; the result for an answer does not depend on the other answers of
its batch. Words, figures and structure are compared, and no vectors: these bring nothing to the risk
(docs/decisions/0045-words-instead-of-vectors.md).

Method: claims that need grounding (``claims``) are compared with sentences, fields and rows of the
contexts (``evidence``) and scored (``support``). Then follow four checks, each an issue with a
severity, and a fifth check for contradictions (``risk``).

Rules:

- Similarity of answer and context is the mean over claims of the best cosine of their words with those of
  a unit of evidence, weighted by the claim's length.
- Facts are compared with sentences of the evidence, not with whole chunks, in which every word and
  figure occurs somewhere.
- Uncertainty markers count at word boundaries, each occurrence, outside quotations and code.
- Coverage counts sentences that can carry a citation, and only valid citations.
- An answer without claims has ``null``: it is neither verified nor fully grounded.
- A claim without a citation can be supported: evidence counts whether or not it is cited.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schemas.grounding import (
    MAX_CONFLICTS,
    EarlierContradiction,
    GroundingFindings,
)
from schemas.identifiers import claim_id
from workers.evaluation.claims.claim_extraction import ExtractedClaim
from workers.evaluation.claims.courtesies import may_state
from workers.evaluation.grounding.attribution import Attribution, attribute
from workers.evaluation.grounding.calibration import AnswerClaims, GroundingCalibration, shipped_calibration
from workers.evaluation.grounding.claim_findings import conflict_findings, listed_claims, query_findings, with_claims
from workers.evaluation.grounding.prepared_grounding import MAX_MARKERS, PreparedGrounding
from workers.evaluation.grounding.risk import Measures, assess
from workers.evaluation.grounding.sources.earlier_turns import (
    EarlierSentence,
    contradicted_earlier,
    recalls_figures,
    said_before,
    statement_of,
)
from workers.evaluation.grounding.sources.evidence import (
    EvidenceUnit,
    Matrix,
    word_cosines,
)
from workers.evaluation.grounding.sources.other_things import sources_on_others
from workers.evaluation.grounding.sources.tool_evidence import (
    as_computed,
    computed_claims,
    with_tools,
)
from workers.evaluation.grounding.sources.verifier_evidence import VerifierPair, verifier_pairs
from workers.evaluation.grounding.support import (
    DOUBTED_SHARE,
    MeasuredClaim,
    Support,
    VerifierScores,
    evaluate_measured_claims,
    measure_claims,
    rule_margins,
)
from workers.evaluation.grounding.verifier_combination import VerifierCombination
from workers.evaluation.text.languages.local_words import content_words
from workers.evaluation.thresholds import GroundingThresholds

Verdicts = Mapping[VerifierPair, NDArray[np.float32]]
"""A verifier's probabilities of supported, contradicted and unsupported, shape (3,), by pair."""


@dataclass(frozen=True, slots=True)
class RuleScores:
    """Hold a prepared answer with n measured claims; wait for the verifier's scores if a verifier is configured.

    Attributes:
        prepared: the answer.
        calibration: calibration for its claims.
        checked: the claims.
        similarity: cosines of the words of claims and evidence, shape [n, m].
        leaning: the same for claims after their antecedents, shape [n, m].
        measured: features of each claim.
        pairs: input of the verifier for each claim; ``None`` if the rules decide the claim.
        of_records: whether the best unit of each claim is part of a record or table; shape (n,).
        computed: places of the claims whose figure is computed of records.
    """

    prepared: PreparedGrounding
    calibration: GroundingCalibration
    checked: tuple[ExtractedClaim, ...]
    similarity: Matrix
    leaning: Matrix
    measured: tuple[MeasuredClaim, ...]
    pairs: tuple[VerifierPair | None, ...]
    of_records: NDArray[np.bool_]
    computed: frozenset[int]

    @property
    def questions(self) -> tuple[VerifierPair, ...]:
        """Return the distinct pairs for the verifier, in order."""
        return tuple(dict.fromkeys(pair for pair in self.pairs if pair is not None))


def score_with_rules(
    prepared: PreparedGrounding,
    calibration: GroundingCalibration | None = None,
    combination: VerifierCombination | None = None,
) -> RuleScores:
    """Measure the claims of a prepared answer, and select the verifier's input.

    The verifier reads claims that the rules do not decide: claims with evidence, without a contradiction, with a score
    near the verdict's cutoff (within the bounds of the combination), and with a kind of evidence that the combination
    uses.

    Args:
        prepared: the result of ``prepare_grounding``.
        calibration: a calibration instead of the shipped one.
        combination: combination of a verifier; without it there is no input for a verifier.
    """
    calibration = calibration or shipped_calibration()
    checked = tuple(checked_claims(prepared)) if not prepared.skipped else ()
    similarity, leaning = similarities(checked, prepared.units)
    by_words = measure_claims(checked, prepared.units, similarity, leaning, prepared.records, calibration)
    by_results = with_tools(checked, by_words, prepared.tools)
    computed = computed_claims(checked, by_results, prepared.rows, prepared.question)
    measured = tuple(as_computed(each) if place in computed else each for place, each in enumerate(by_results))
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
    return RuleScores(prepared, calibration, checked, similarity, leaning, measured, tuple(pairs), of_records, computed)


def evaluate_grounding(
    prepared: PreparedGrounding,
    thresholds: GroundingThresholds,
    calibration: GroundingCalibration | None = None,
    verdicts: Verdicts | None = None,
    combination: VerifierCombination | None = None,
) -> GroundingFindings:
    """Evaluate the grounding of a prepared answer.

    Args:
        prepared: the result of ``prepare_grounding``.
        thresholds: see ``GroundingThresholds``.
        calibration: a calibration instead of the shipped one.
        verdicts: the verifier's verdicts on the ``questions`` of ``score_with_rules``; ``None`` without a verifier.
        combination: combination of rules and verifier; required with verdicts.

    Raises:
        KeyError: a verdict is missing.
    """
    return combine_with_verifier(
        score_with_rules(prepared, calibration, combination), thresholds, verdicts, combination
    )


def combine_with_verifier(
    weighed: RuleScores,
    thresholds: GroundingThresholds,
    verdicts: Verdicts | None = None,
    combination: VerifierCombination | None = None,
) -> GroundingFindings:
    """Combine rule scores with the verifier's verdicts; use the rules alone where there are no verdicts.

    Args:
        weighed: the answer with its rule scores.
        thresholds: see ``GroundingThresholds``.
        verdicts: the verifier's verdicts on ``questions`` by pair: probabilities of supported, contradicted and
            unsupported, shape (3,).
        combination: combination of rules and verifier; required with verdicts.

    Raises:
        KeyError: a verdict is missing.
        ValueError: verdicts without a combination.
    """
    if verdicts is not None and combination is None:
        raise ValueError("a verifier's verdicts need a combination")
    prepared, checked, similarity, leaning = weighed.prepared, weighed.checked, weighed.similarity, weighed.leaning
    calibration, minimum = weighed.calibration, thresholds.grounding_minimum
    if prepared.skipped:
        return _without_sources(prepared)
    opinion = None if verdicts is None or combination is None else _opinion(weighed, verdicts, combination)
    supports = evaluate_measured_claims(
        weighed.measured, calibration, minimum, opinion, has_evidence=bool(prepared.units)
    )

    def judge(claims: Sequence[int], indices: Sequence[int]) -> list[Support]:
        units = [prepared.units[index] for index in indices]
        part = np.ix_(claims, indices)
        # The verifier has read the claim with the evidence of all sources: its verdict holds for each of them.
        of_claims = opinion and opinion.on(claims)
        texts = [checked[claim] for claim in claims]
        by_words = measure_claims(texts, units, similarity[part], leaning[part], prepared.records, calibration)
        by_results = with_tools(texts, by_words, prepared.tools, frozenset(unit.number for unit in units))
        if weighed.computed and any(unit.of_record for unit in units):
            by_results = [
                as_computed(each) if claim in weighed.computed else each
                for claim, each in zip(claims, by_results, strict=True)
            ]
        return evaluate_measured_claims(by_results, calibration, minimum, of_claims, has_evidence=bool(units))

    cited = [numbers for claim, numbers in zip(prepared.claims, prepared.cited, strict=True) if claim.needs_grounding]
    texts = [claim.plain for claim in checked]
    others = sources_on_others(checked, prepared.units)
    attributions = attribute(texts, cited, supports, prepared.units, np.maximum(similarity, leaning), judge, others)
    if prepared.answer:
        supports = _without_recalled(prepared, checked, supports, minimum)
    before = _said_before(prepared, [claim for claim, each in zip(checked, supports, strict=True) if _is_open(each)])
    # What was said before is neither verified by the sources nor made up: it has a verdict of its own.
    rest = [place for place, claim in enumerate(checked) if claim.start not in before]
    weighed_claims, weighed_supports = [checked[place] for place in rest], [supports[place] for place in rest]
    measures = _measures(prepared, weighed_claims, weighed_supports, [attributions[place] for place in rest])
    risk = assess(measures, answer_risk(weighed_supports, opinion.combination if opinion else calibration), thresholds)
    # If nothing could be compared, a low risk would be an unfounded assurance.
    is_read = measures.groundable > 0 or _says_nothing_to_compare(prepared.claims)
    compared = {
        claim.start: (support, attribution)
        for claim, support, attribution in zip(checked, supports, attributions, strict=True)
    }
    claims = listed_claims(prepared, compared, before)
    return GroundingFindings(
        hallucination_risk=risk.level if is_read else None,
        risk_score=risk.score if is_read else None,
        confidence_score=1.0 - risk.score if is_read else None,
        grounding_score=_mean([support.score for support in weighed_supports if support.verdict != "not_checked"]),
        context_similarity=measures.context_similarity,
        facts_verified=measures.facts_verified,
        citation_coverage=prepared.coverage,
        uncertainty_markers=list(prepared.uncertainty[:MAX_MARKERS]),
        claims=claims,
        claims_total=prepared.total,
        conflicts=list(conflict_findings(prepared, compared))[:MAX_CONFLICTS],
        issues=[with_claims(issue, claims) for issue in risk.issues],
        suggestions=risk.suggestions,
        query=query_findings(prepared.query),
        earlier_contradictions=list(_earlier_contradictions(prepared))[:MAX_CONFLICTS],
    )


def _says_nothing_to_compare(claims: Sequence[ExtractedClaim]) -> bool:
    """Return true if an answer only asks, greets, thanks, offers or refuses; false if it has no claims at all."""
    return bool(claims) and all(
        claim.kind == "question" or (claim.kind == "meta" and not may_state(claim.plain)) for claim in claims
    )


def _without_sources(prepared: PreparedGrounding) -> GroundingFindings:
    """Return the findings on an answer without sources: what its earlier turns say, if it has any."""
    found = GroundingFindings(status="skipped", reason=prepared.skipped)
    if not prepared.earlier:
        return found.model_copy(update={"query": query_findings(prepared.query)})
    before = _said_before(prepared, checked_claims(prepared))
    return found.model_copy(
        update={
            "claims": listed_claims(prepared, {}, before),
            "claims_total": prepared.total,
            "query": query_findings(prepared.query),
            "earlier_contradictions": list(_earlier_contradictions(prepared))[:MAX_CONFLICTS],
        }
    )


def _without_recalled(
    prepared: PreparedGrounding, claims: Sequence[ExtractedClaim], supports: Sequence[Support], minimum: float
) -> list[Support]:
    """Return the supports; what a claim ascribes to the user is not supported by any source."""
    doubted = DOUBTED_SHARE * minimum
    return [
        replace(support, verdict="unsupported", score=min(support.score, doubted))
        if support.verdict == "supported" and recalls_figures(claim, prepared.units)
        else support
        for claim, support in zip(claims, supports, strict=True)
    ]


def _is_open(support: Support) -> bool:
    return support.verdict in ("unsupported", "not_checked")


def _said_before(prepared: PreparedGrounding, claims: Sequence[ExtractedClaim]) -> dict[int, EarlierSentence]:
    """Return the earlier sentences that state these claims, by the start of the claim."""
    if not prepared.earlier:
        return {}
    found = {claim.start: said_before(claim, prepared.units, prepared.earlier) for claim in claims}
    return {start: sentence for start, sentence in found.items() if sentence is not None}


def _earlier_contradictions(prepared: PreparedGrounding) -> Iterator[EarlierContradiction]:
    follow_up = prepared.query.adds if prepared.query else ""
    for claim in checked_claims(prepared) if prepared.earlier else ():
        found = contradicted_earlier(claim, prepared.earlier, prepared.answer, follow_up)
        if found is not None:
            yield EarlierContradiction(
                claim_id=claim_id(prepared.tenant, prepared.answer_id, claim.start, claim.end),
                earlier=statement_of(found.sentence),
                mismatches=list(found.mismatches),
            )


def _opinion(weighed: RuleScores, verdicts: Verdicts, combination: VerifierCombination) -> VerifierScores:
    supported = [np.nan if pair is None else float(verdicts[pair][0]) for pair in weighed.pairs]
    return VerifierScores(combination, np.array(supported, dtype=np.float64), weighed.of_records)


def _is_of_record(measured: MeasuredClaim, units: Sequence[EvidenceUnit]) -> bool:
    return bool(measured.compared) and units[measured.compared[0]].of_record


def answer_risk(supports: Sequence[Support], calibration: GroundingCalibration | VerifierCombination) -> float | None:
    """Return the probability that something in the answer is unsupported; ``None`` if no claim was checked."""
    supports = [support for support in supports if support.verdict != "not_checked"]
    if not supports:
        return None
    return calibration.risk(
        AnswerClaims(
            log_odds=np.array([support.log_odds for support in supports]),
            unsupported_share=np.array([support.unsupported_share for support in supports]),
            words=np.array([support.words for support in supports], dtype=np.float64),
            unsupported=np.array([support.verdict != "supported" for support in supports]),
        )
    )


def risk_by_rules(
    prepared: PreparedGrounding,
    measured: Sequence[MeasuredClaim],
    thresholds: GroundingThresholds,
    calibration: GroundingCalibration,
) -> float | None:
    """Return the risk score of an answer without earlier turns and tools from its measured claims; ``None`` without one.

    The score equals that of ``evaluate_grounding``. Claims are not attributed to sources, which takes most of the time
    and changes no risk.
    """
    if prepared.skipped:
        return None
    checked = checked_claims(prepared)
    supports = evaluate_measured_claims(
        measured, calibration, thresholds.grounding_minimum, None, has_evidence=bool(prepared.units)
    )
    measures = _measures(prepared, checked, supports, ())
    if not measures.groundable and not _says_nothing_to_compare(prepared.claims):
        return None
    return assess(measures, answer_risk(supports, calibration), thresholds).score


def checked_claims(prepared: PreparedGrounding) -> list[ExtractedClaim]:
    """Return the claims that are checked against the evidence, in order."""
    return [claim for claim in prepared.claims if claim.needs_grounding]


def similarities(claims: Sequence[ExtractedClaim], units: Sequence[EvidenceUnit]) -> tuple[Matrix, Matrix]:
    """Compute cosines of the words of n claims, alone and with their antecedents, and m units; shape [n, m] each."""
    of_units = [unit.words for unit in units]
    alone = [content_words(claim.plain, claim.language) for claim in claims]
    leaning = [
        content_words(f"{claim.antecedent} {claim.plain}", claim.language) if claim.antecedent else words
        for claim, words in zip(claims, alone, strict=True)
    ]
    return word_cosines(alone, of_units), word_cosines(leaning, of_units)


def _measures(
    prepared: PreparedGrounding,
    checked: Sequence[ExtractedClaim],
    supports: Sequence[Support],
    attributions: Sequence[Attribution],
) -> Measures:
    compared = [
        (len(claim.plain) or 1, support.best_similarity)
        for claim, support in zip(checked, supports, strict=True)
        if support.verdict != "not_checked"
    ]
    length = sum(own for own, _ in compared)
    # Claims beyond the limit were not checked and count as not verified, so that a fabrication cannot be hidden behind
    # four hundred truisms.
    unread = sum(support.verdict == "not_checked" for support in supports)
    groundable = len(checked) + prepared.unchecked - unread
    supported = sum(support.verdict == "supported" for support in supports)
    hidden = prepared.tools.hidden_failures if prepared.tools is not None and supported < groundable else ()
    return Measures(
        uncertainty=len(prepared.uncertainty),
        context_similarity=min(1.0, sum(own * close for own, close in compared) / length) if length else None,
        facts_verified=supported / groundable if groundable > 0 else None,
        citation_coverage=prepared.coverage,
        contradicted=sum(support.verdict == "contradicted" for support in supports),
        groundable=groundable,
        cited_unsupported=sum(bool(attribution.cited_unsupported) for attribution in attributions),
        unchecked=prepared.unchecked,
        unknown_figures=sum(bool(support.unknown_figures) for support in supports),
        failed_tools=tuple(each.name for each in hidden),
        unread=unread,
    )


def _mean(values: Sequence[float]) -> float | None:
    # A mean of exactly the minimum must not fail by the rounding error of a sum.
    return min(1.0, max(0.0, round(sum(values) / len(values), 6))) if values else None
