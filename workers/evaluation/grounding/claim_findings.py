"""Build what reports show of claims, their evidence, sources and calculations, and of conflicts."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import nsmallest

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
from workers.evaluation.budget import spend
from workers.evaluation.claims.claim_extraction import ExtractedClaim
from workers.evaluation.conversation.resolution import Resolution
from workers.evaluation.facts.calculation.calculations import derived_figures, expression
from workers.evaluation.facts.numbers.quantity import Quantity
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
from workers.evaluation.grounding.sources.excerpts import CUT, excerpt_for, figures_of, taken
from workers.evaluation.grounding.support import (
    Support,
)
from workers.evaluation.text.normalization import written_sums

MAX_EXCERPT = 300
"""Longest excerpt of a piece of evidence, code points."""
BETWEEN = f" {CUT} "
"""Mark between two passages of one source."""
MAX_CANDIDATES = 20
"""Number of passages for each missing figure, the nearest ones, of which the best is quoted."""

FigurePlaces = Mapping[tuple[int, str], Sequence[int]]
"""The units of a source, by its number, that have a figure."""


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
    places = _figure_places(prepared.units) if compared else {}
    for claim, numbers in zip(prepared.claims, prepared.cited, strict=True):
        found = _claim(prepared, claim, numbers, places, *compared.get(claim.start, (None, Attribution())))
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
    places: FigurePlaces,
    support: Support | None,
    attribution: Attribution,
) -> Claim:
    chosen = attribution.sources[:MAX_SOURCES]
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
        evidence=_evidence(prepared.units, support, attribution, claim.plain) if support else None,
        cited_numbers=list(cited),
        sources=[_quoted_source(prepared.units, source, claim.plain, places) for source in chosen],
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
        inputs = tuple(
            (place, number if place is None else _as_written(number, near[place])) for place, number in figure.inputs
        )
        figure = replace(figure, inputs=inputs)
        yield Calculation(
            operation=figure.operation,
            result=figure.figure.written[:MAX_NUMBER],
            expression=expression(figure)[:MAX_EXPRESSION],
            inputs=[_input(None if place is None else near[place], number.written) for place, number in inputs],
        )


def _as_written(number: Quantity, unit: EvidenceUnit) -> Quantity:
    """Return a number of a source with the sum in it as the source has it: "60 * 3000 USD" for "180000 USD"."""
    written = number.written
    for value, calculated in written_sums(unit.excerpt).items():
        written = re.sub(rf"(?<![\d.,]){value}(?![\d.,]*\d)", f"({calculated})", written)
    return replace(number, written=written)


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
        excerpt=excerpt_for(unit.excerpt, claim, MAX_PASSAGE, of_record=unit.of_record),
        score=source.score,
        verdict=source.verdict,
        cited=source.cited,
    )


def _figure_places(units: Sequence[EvidenceUnit]) -> FigurePlaces:
    """Index the units by source and figure."""
    spend(sum(len(unit.excerpt) for unit in units))
    found = defaultdict[tuple[int, str], list[int]](list)
    for place, unit in enumerate(units):
        for figure in figures_of(unit.excerpt):
            found[unit.number, figure].append(place)
    return found


def _quoted_source(
    units: Sequence[EvidenceUnit], source: SourceSupport, claim: str, places: FigurePlaces
) -> ClaimSource:
    """Return a source of a claim; the passage of one that supports it has the figures that the claim took from it."""
    found = _source(units, source, claim)
    unit = units[source.unit]
    if source.verdict != "supported" or unit.start >= unit.end:
        return found
    missing = figures_of(claim) - figures_of(found.excerpt)
    nearest: set[int] = set()
    for figure in missing:
        having = places.get((unit.number, figure), ())
        spend(len(having))
        nearest.update(nsmallest(MAX_CANDIDATES, having, key=lambda place: _distance(unit, units[place])))
    if not nearest:
        return found
    others = [units[place] for place in sorted(nearest)]
    spend(sum(len(each.excerpt) for each in others))
    # Of equals the nearest is taken, and of records the smallest.
    best = max(
        others, key=lambda each: (len(taken(claim, each.excerpt)), -_distance(unit, each), each.start - each.end)
    )
    first, last = sorted((unit, best), key=lambda each: (each.start, -each.end))
    if last.end <= first.end:
        span, written, of_record = (first.start, first.end), first.excerpt, first.of_record
    else:
        span, of_record = (first.start, last.end), False
        room = (MAX_PASSAGE - len(BETWEEN)) // 2
        between = " " if last.start - first.end <= 1 else BETWEEN
        written = between.join(
            excerpt_for(each.excerpt, claim, room, of_record=each.of_record) for each in (first, last)
        )
    excerpt = excerpt_for(written, claim, MAX_PASSAGE, of_record=of_record)
    return found.model_copy(update={"span": Span(start=span[0], end=span[1]), "excerpt": excerpt})


def _distance(one: EvidenceUnit, other: EvidenceUnit) -> int:
    return max(0, other.start - one.end, one.start - other.end)


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


def _evidence(units: Sequence[EvidenceUnit], support: Support, attribution: Attribution, claim: str) -> Evidence | None:
    """Return the best passage, of a supported claim that of its primary source.

    The nearest passage of all sources may be one of a source that supports the claim less than another by itself.
    """
    if support.unit is None:
        return None
    place, similarity = support.unit, support.similarity
    first = next((each for each in attribution.sources if each.number == attribution.primary), None)
    if support.verdict == "supported" and first is not None and first.number != units[place].number:
        place, similarity = first.unit, first.similarity
    unit = units[place]
    return Evidence(
        chunk_id=unit.chunk_id,
        number=unit.number,
        span=Span(start=unit.start, end=unit.end),
        excerpt=excerpt_for(unit.excerpt, claim, MAX_EXCERPT, of_record=unit.of_record),
        similarity=similarity,
    )
