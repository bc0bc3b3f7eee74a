"""Build what reports show of claims, their evidence, sources and calculations, and of conflicts."""

from collections.abc import Iterator, Mapping, Sequence

from schemas.grounding import (
    MAX_CALCULATIONS,
    MAX_CLAIM_TEXT,
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
    GroundingIssue,
    IssueType,
    ResolvedQuery,
)
from schemas.identifiers import claim_id
from schemas.reports import Span
from workers.evaluation.claims.claim_extraction import ExtractedClaim
from workers.evaluation.conversation.resolution import Resolution
from workers.evaluation.facts.calculation.calculations import derived_figures, expression
from workers.evaluation.grounding.attribution import Attribution, SourceSupport
from workers.evaluation.grounding.prepared_grounding import PreparedGrounding
from workers.evaluation.grounding.run_steps import first_step
from workers.evaluation.grounding.sources.earlier_turns import (
    EarlierSentence,
    statement_of,
)
from workers.evaluation.grounding.sources.evidence import (
    EvidenceUnit,
)
from workers.evaluation.grounding.sources.excerpts import excerpt_for
from workers.evaluation.grounding.support import (
    Support,
)

MAX_EXCERPT = 300
"""Longest excerpt of a piece of evidence, code points."""


def listed_claims(
    prepared: PreparedGrounding,
    compared: Mapping[int, tuple[Support, Attribution]],
    before: Mapping[int, EarlierSentence],
) -> list[Claim]:
    """Return the claims of an answer as reports show them, in order.

    Args:
        prepared: the answer.
        compared: support and sources of each claim that was compared, by its place in the text.
        before: the earlier statements of claims that were said before, by the claim's place.
    """
    claims = []
    for claim, numbers in zip(prepared.claims, prepared.cited, strict=True):
        found = _claim(prepared, claim, numbers, *compared.get(claim.start, (None, Attribution())))
        if claim.start in before:
            found = found.model_copy(update={"verdict": "said_before", "earlier": statement_of(before[claim.start])})
        elif prepared.steps and found.verdict in ("unsupported", "contradicted"):
            found = found.model_copy(update={"step": first_step(claim, prepared.units, prepared.steps)})
        claims.append(found)
    return claims


def query_findings(resolution: Resolution | None) -> ResolvedQuery | None:
    """Return the resolved query as reports show it; ``None`` where there was no conversation."""
    if resolution is None:
        return None
    return ResolvedQuery(status=resolution.status, text=resolution.text, reason=resolution.reason or None)


def with_claims(issue: GroundingIssue, claims: Sequence[Claim]) -> GroundingIssue:
    """Return the issue with the claims that have it and that have evidence."""
    about: dict[IssueType, list[str]] = {
        "contradicted_facts": [claim.claim_id for claim in claims if claim.verdict == "contradicted"],
        "unverified_facts": [claim.claim_id for claim in claims if claim.verdict in ("unsupported", "contradicted")],
        "cited_unsupported": [claim.claim_id for claim in claims if claim.cited_unsupported],
        "failed_tool": [claim.claim_id for claim in claims if claim.verdict in ("unsupported", "contradicted")],
        "words_not_compared": [c.claim_id for c in claims if c.verdict == "not_checked" and c.evidence is not None],
    }
    return issue.model_copy(update={"claim_ids": about.get(issue.type, [])[:MAX_ISSUE_CLAIMS]})


def _claim(
    prepared: PreparedGrounding,
    claim: ExtractedClaim,
    cited: Sequence[int],
    support: Support | None,
    attribution: Attribution,
) -> Claim:
    return Claim(
        claim_id=claim_id(prepared.tenant, prepared.answer_id, claim.start, claim.end),
        span=Span(start=claim.start, end=claim.end),
        text=claim.text[:MAX_CLAIM_TEXT],
        kind=claim.kind,
        hedged=claim.hedged,
        verdict=support.verdict if support else "not_checked",
        score=support.score if support and support.verdict != "not_checked" else None,
        verifier_score=support.verified if support else None,
        mismatches=list(support.mismatches) if support else [],
        evidence=_evidence(prepared.units, support, claim.plain) if support else None,
        cited_numbers=list(cited),
        sources=[_source(prepared.units, source, claim.plain) for source in attribution.sources[:MAX_SOURCES]],
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


def _source(units: Sequence[EvidenceUnit], source: SourceSupport, claim: str) -> ClaimSource:
    unit = units[source.unit]
    return ClaimSource(
        number=source.number,
        chunk_id=unit.chunk_id,
        span=Span(start=unit.start, end=unit.end),
        excerpt=excerpt_for(unit.excerpt, claim, MAX_PASSAGE),
        score=source.score,
        verdict=source.verdict,
        cited=source.cited,
    )


def conflict_findings(
    prepared: PreparedGrounding, compared: Mapping[int, tuple[Support, Attribution]]
) -> Iterator[Conflict]:
    """Yield the conflicts of sources, with the claim over which they disagree."""
    for claim in prepared.claims:
        conflict = compared[claim.start][1].conflict if claim.start in compared else None
        if conflict:
            supporting, contradicting = (_source(prepared.units, source, claim.plain) for source in conflict)
            identifier = claim_id(prepared.tenant, prepared.answer_id, claim.start, claim.end)
            yield Conflict(claim_id=identifier, supporting=supporting, contradicting=contradicting)


def _evidence(units: Sequence[EvidenceUnit], support: Support, claim: str) -> Evidence | None:
    if support.unit is None:
        return None
    unit = units[support.unit]
    return Evidence(
        chunk_id=unit.chunk_id,
        number=unit.number,
        span=Span(start=unit.start, end=unit.end),
        excerpt=excerpt_for(unit.excerpt, claim, MAX_EXCERPT),
        similarity=support.similarity,
    )
