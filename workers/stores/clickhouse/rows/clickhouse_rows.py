"""Convert enriched answers, alerts and versions to rows. The functions are pure: a repeat gives the same rows."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict

from pydantic_core import to_json

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.citations import Citation
from schemas.enriched import EnrichedAnswer
from schemas.grounding import Calculation
from schemas.headers import TRACEPARENT
from schemas.identifiers import invalid_citation_id
from schemas.release import Alert
from workers.decision.decision_basis import DecisionBasis, findings_text
from workers.decision.reader_text.presentation import response_seconds
from workers.decision.reader_text.source_addresses import source_version
from workers.evaluation.citations.citation_finder import call_text, content_digest
from workers.stores.clickhouse.rows.score_rows import score_rows
from workers.stores.tables.answer_tables import AlertRow, AnswerRow, CitationLogRow, CitationRow, ClaimRow, SourceRow
from workers.stores.tables.operation_tables import VersionRow
from workers.stores.tables.table_row import TableRow

MAX_LOGGED = 200
"""Maximum number of citations, invalid references and claims in an audit row; all of them are counted."""
DESCRIBED = ("chunk_id", "source_type", "source_path", "source_table", "record_id", "last_updated")
"""Fields of a context that describe a source which the answer does not cite."""
MAX_TURN = 2_000
"""Maximum length of a turn of the conversation in the row of its answer, code points."""
MAX_SOURCE_LABEL = 200
"""Maximum length of a source's name in figures."""


class _Identity(TypedDict):
    tenant: str
    answer_id: str
    run: str
    pipeline_version: str
    rank: int
    completed_at: datetime


def enriched_rows(enriched: EnrichedAnswer, basis: DecisionBasis | None = None) -> list[TableRow]:
    """Return the rows of an enriched answer: the answer, its audit row, its claims, citations, sources and scores.

    Args:
        enriched: the answer.
        basis: minima and findings by which it was decided; null if they are not known.
    """
    return [
        _answer_row(enriched, basis),
        _audit_row(enriched),
        *_claim_rows(enriched),
        *_citation_rows(enriched),
        *_source_rows(enriched),
        *score_rows(enriched),
    ]


def alert_row(alert: Alert, enriched: EnrichedAnswer) -> AlertRow:
    """Return the row of an alert."""
    return AlertRow(
        tenant=alert.tenant, alert_id=alert.alert_id, answer_id=alert.answer_id, rank=enriched.rank,
        alert_type=alert.alert_type, severity=alert.severity, message=alert.message, metadata=_json(alert.metadata),
        completed_at=enriched.answer.completed_at, raised_at=alert.raised_at,
    )  # fmt: skip


def _answer_row(enriched: EnrichedAnswer, basis: DecisionBasis | None) -> AnswerRow:
    answer, usage, model, decision = enriched.answer, enriched.answer.usage, enriched.answer.model, enriched.decision
    citations, grounding, quality = enriched.citations, enriched.grounding, enriched.quality
    verdicts = Counter(claim.verdict for claim in grounding.claims) if grounding else Counter()
    metrics = enriched.evaluation.metrics
    sources = _verdicts_by_source(enriched)
    return AnswerRow(
        **_identity(enriched),
        session_id=answer.session_id or "",
        user_id=answer.user_id or "",
        query=answer.query,
        answer=answer.answer,
        content=enriched.formatted.content if enriched.formatted else "",
        query_type=answer.query_type or "",
        model_id=model.id,
        model_provider=model.provider or "",
        prompt_version=model.prompt_version or "",
        risk_mode=enriched.risk_mode,
        status=answer.status,
        error=answer.error or "",
        contexts=len(answer.contexts or []),
        requested_at=answer.requested_at,
        latency_seconds=response_seconds(answer),
        prompt_tokens=usage.prompt_tokens if usage else None,
        completion_tokens=usage.completion_tokens if usage else None,
        trace_id=_trace_id(answer),
        hallucination_risk=grounding.hallucination_risk if grounding else None,
        risk_score=grounding.risk_score if grounding else None,
        grounding_score=grounding.grounding_score if grounding else None,
        context_similarity=grounding.context_similarity if grounding else None,
        facts_verified=grounding.facts_verified if grounding else None,
        citation_coverage=citations.coverage if citations else None,
        citations_valid=citations.valid if citations else None,
        quality_score=quality.overall_score if quality else None,
        passes_validation=quality.passes_validation if quality else None,
        validation_score=quality.validation.score if quality and quality.validation else None,
        gate_score=enriched.evaluation.score,
        faithfulness=metrics.get("faithfulness"),
        relevance=metrics.get("relevance"),
        correctness=metrics.get("correctness"),
        coverage=metrics.get("coverage"),
        consistency=metrics.get("consistency"),
        freshness=metrics.get("freshness"),
        traceability=metrics.get("traceability"),
        signals=sorted({signal.type for signal in quality.signals}) if quality else [],
        issues=sorted({issue.type for issue in grounding.issues}) if grounding else [],
        claims_total=grounding.claims_total if grounding else 0,
        claims_supported=verdicts["supported"],
        claims_contradicted=verdicts["contradicted"],
        claims_unsupported=verdicts["unsupported"],
        citations_total=len(citations.citations) if citations else 0,
        invalid_references=[reference.reason for reference in citations.invalid_references] if citations else [],
        source_names=list(sources),
        source_citations=[found["cited"] for found in sources.values()],
        source_supported=[found["supported"] for found in sources.values()],
        source_contradicted=[found["contradicted"] for found in sources.values()],
        source_unsupported=[found["unsupported"] for found in sources.values()],
        state=decision.state,
        reasons=decision.reasons,
        review=decision.review,
        degraded=enriched.degraded,
        missing=[*enriched.missing, *enriched.failed],
        citations_seconds=citations.duration_seconds if citations else None,
        grounding_seconds=grounding.duration_seconds if grounding else None,
        quality_seconds=quality.duration_seconds if quality else None,
        answer_partition=enriched.answer_partition,
        answer_offset=enriched.answer_offset,
        enriched_at=enriched.enriched_at,
        sources=_sources(enriched),
        gate_minimum=basis.minima.gate if basis else None,
        grounding_minimum=basis.minima.grounding if basis else None,
        findings=findings_text(basis.findings) if basis else "",
        turns=_turns(answer),
    )


def _verdicts_by_source(enriched: EnrichedAnswer) -> dict[str, Counter[str]]:
    """Count citations and verdicts by the label of their source, ordered by label."""
    contexts = enriched.answer.contexts or []
    named = [(citation.number, "cited") for citation in enriched.citations.citations] if enriched.citations else []
    claims = enriched.grounding.claims if enriched.grounding else []
    named += [(claim.evidence.number, claim.verdict) for claim in claims if claim.evidence is not None]
    found: dict[str, Counter[str]] = {}
    for number, kind in named:
        found.setdefault(source_label(contexts[number - 1]), Counter())[kind] += 1
    return dict(sorted(found.items()))


def source_label(chunk: ContextChunk) -> str:
    """Return the label of a source in figures: its name, else its table, else its path, else the chunk's identifier."""
    return (chunk.source_name or chunk.source_table or chunk.source_path or chunk.chunk_id)[:MAX_SOURCE_LABEL]


def _audit_row(enriched: EnrichedAnswer) -> CitationLogRow:
    """Return the citation_logs row: all citations of an answer and its ungrounded claims."""
    answer, citations, grounding = enriched.answer, enriched.citations, enriched.grounding
    listed = _shown_citations(enriched)
    invalid = citations.invalid_references if citations else []
    ungrounded = grounding.ungrounded_claims if grounding else []
    calculations = [each for claim in grounding.claims for each in claim.calculations] if grounding else []
    judged = [report.judged_at for report in (citations, grounding) if report]
    return CitationLogRow(
        tenant=enriched.tenant,
        response_id=enriched.answer_id,
        run=enriched.run,
        pipeline_version=enriched.pipeline_version,
        rank=enriched.rank,
        user_id=answer.user_id or "",
        session_id=answer.session_id or "",
        query_text=answer.query,
        response_text=answer.answer,
        citations=_json([*map(_logged, listed[:MAX_LOGGED]), *map(_logged_calculation, calculations[:MAX_LOGGED])]),
        citation_count=len(listed),
        invalid_references=_json(
            [each.model_dump(include={"marker", "reason", "number"}) for each in invalid[:MAX_LOGGED]]
        ),
        grounding_score=grounding.grounding_score if grounding else None,
        recommendation_coverage=citations.recommendation_coverage if citations else None,
        ungrounded_claims=_json([claim.text for claim in ungrounded[:MAX_LOGGED]]),
        state=enriched.decision.state,
        response_seconds=response_seconds(answer),
        grounding_seconds=grounding.duration_seconds if grounding else None,
        completed_at=answer.completed_at,
        validated_at=max(judged, default=None),
        created_at=answer.completed_at,
    )


def _logged(citation: Citation) -> dict[str, Any]:
    """Return a citation under the field names of citation_logs."""
    when = citation.created_at or citation.last_updated
    return {
        "id": citation.citation_id,
        "number": citation.number,
        "sourceType": citation.source_type,
        "sourceTable": citation.source_table,
        "recordId": citation.record_id,
        "memoryId": citation.memory_id,
        "timestamp": when.isoformat() if when else None,
        "sourceEvent": citation.source_event,
        "learnedAt": citation.learned_at.isoformat() if citation.learned_at else None,
        "excerpt": citation.excerpt,
        "confidence": citation.confidence,
        "displayText": citation.display_text,
        "sourceDigest": citation.source_digest,
    }


def _logged_calculation(calculation: Calculation) -> dict[str, Any]:
    """Return the basis of a calculated figure under the field names of citation_logs."""
    return {
        "sourceType": "calculation",
        "excerpt": calculation.expression,
        "inputs": [each.model_dump(mode="json", exclude_none=True) for each in calculation.inputs],
        "displayText": f"Calculation: {calculation.expression}",
    }


def _json(value: Any) -> str:
    return to_json(value).decode()


def _trace_id(answer: GeneratedAnswer) -> str:
    """Return the trace identifier, from the traceparent (version-trace-span-flags) if necessary."""
    if answer.trace is None:
        return ""
    parent = answer.trace.traceparent or ""
    return answer.trace.trace_id or (parent.split("-")[1] if TRACEPARENT.fullmatch(parent) else "")


def _claim_rows(enriched: EnrichedAnswer) -> list[ClaimRow]:
    grounding = enriched.grounding
    if grounding is None:
        return []
    conflicting = {conflict.claim_id for conflict in grounding.conflicts}
    opposed = {each.claim_id: each.earlier for each in grounding.earlier_contradictions}
    digests = _digests(enriched)
    rows = []
    for claim in grounding.claims:
        evidence, before = claim.evidence, opposed.get(claim.claim_id)
        rows.append(ClaimRow(
            **_identity(enriched),
            claim_id=claim.claim_id, start=claim.span.start, end=claim.span.end, text=claim.text, kind=claim.kind,
            hedged=claim.hedged, verdict=claim.verdict, score=claim.score, mismatches=claim.mismatches,
            chunk_id=evidence.chunk_id if evidence else "",
            evidence_start=evidence.span.start if evidence else None,
            evidence_end=evidence.span.end if evidence else None,
            evidence=evidence.excerpt if evidence else "",
            source_digest=digests.get(evidence.number, "") if evidence else "",
            cited_numbers=claim.cited_numbers, primary_number=claim.primary_number,
            redundant_numbers=claim.redundant_numbers, proposed_numbers=claim.proposed_numbers,
            cited_unsupported=claim.cited_unsupported, better_number=claim.better_number,
            conflicting=claim.claim_id in conflicting,
            similarity=evidence.similarity if evidence else None,
            model_id=enriched.answer.model.id,
            calculations=[each.expression for each in claim.calculations],
            verifier_score=claim.verifier_score,
            earlier_turn=claim.earlier.turn if claim.earlier else None,
            earlier=claim.earlier.excerpt if claim.earlier else "",
            contradicted_turn=before.turn if before else None,
            contradicted_earlier=before.excerpt if before else "",
            step=claim.step, step_name=_step_name(enriched.answer, claim.step), enriched_at=enriched.enriched_at,
        ))  # fmt: skip
    return rows


def _step_name(answer: GeneratedAnswer, step: int | None) -> str:
    """Return what readers call a step: its kind and its name or model."""
    if step is None or step > len(answer.steps):
        return ""
    called = answer.steps[step - 1]
    return f"{called.kind} {called.name or called.model or ''}".strip()


def _citation_rows(enriched: EnrichedAnswer) -> list[CitationRow]:
    report, model_id = enriched.citations, enriched.answer.model.id
    if report is None:
        return []
    rows = [
        CitationRow(
            **_identity(enriched),
            citation_id=citation.citation_id, valid=True, number=citation.number, chunk_id=citation.chunk_id,
            source_type=citation.source_type, source_name=citation.source_name, source_path=citation.source_path,
            source_table=citation.source_table or "", record_id=citation.record_id or "",
            memory_id=citation.memory_id or "", entity=citation.entity or "", display_text=citation.display_text,
            source_digest=citation.source_digest, last_updated=citation.last_updated, created_at=citation.created_at,
            source_event=citation.source_event or "", learned_at=citation.learned_at,
            spans=[[span.start, span.end] for span in citation.spans], excerpt=citation.excerpt,
            confidence=citation.confidence, forms=citation.forms, model_id=model_id, enriched_at=enriched.enriched_at,
        )
        for citation in _shown_citations(enriched)
    ]  # fmt: skip
    for reference in report.invalid_references:
        place = f"{reference.span.start}-{reference.span.end}" if reference.span else "provided"
        rows.append(CitationRow(
            **_identity(enriched),
            # The identifier includes the answer: another answer may have the same marker at the same place.
            citation_id=invalid_citation_id(enriched.tenant, enriched.answer_id, place, reference.marker), valid=False,
            marker=reference.marker, reason=reference.reason, forms=[reference.form], model_id=model_id,
            enriched_at=enriched.enriched_at,
        ))  # fmt: skip
    return rows


def _shown_citations(enriched: EnrichedAnswer) -> list[Citation]:
    """Return the citations that readers see, those added by Touchstone among them, so that each can be looked up."""
    if enriched.formatted is not None:
        return enriched.formatted.citations
    return enriched.citations.citations if enriched.citations is not None else []


def _sources(enriched: EnrichedAnswer) -> str:
    """Return the sources that the model received as JSON; empty if the citations say all that is known of them."""
    cited = {citation.number for citation in _shown_citations(enriched)}
    used = _numbers_of_claims(enriched)
    digests = _digests(enriched)
    listed = []
    for number, chunk in enumerate(enriched.answer.contexts or [], 1):
        known = {"version": source_version(chunk), **_call(chunk)}
        if number not in cited:
            title = chunk.source_name or chunk.entity
            known |= {"title": title} | chunk.model_dump(mode="json", include=set(DESCRIBED))
            known |= {"digest": digests[number]} if number in used else {}
        listed.append({"number": number} | {name: value for name, value in known.items() if value})
    return _json(listed) if any(len(each) > 1 for each in listed) else ""


def _turns(answer: GeneratedAnswer) -> str:
    """Return the turns that an answer was sent with as JSON, each shortened; empty without any."""
    turns = [{"role": turn.role, "content": turn.content[:MAX_TURN]} for turn in answer.conversation]
    return _json(turns) if turns else ""


def _call(chunk: ContextChunk) -> dict[str, str | None]:
    """Return the call whose result a source is, and its time; both null for other sources."""
    if chunk.tool is None:
        return {}
    at = chunk.tool.called_at
    return {"call": call_text(chunk.tool), "called_at": at.isoformat() if at else None}


def _source_rows(enriched: EnrichedAnswer) -> list[SourceRow]:
    """Return one row for each distinct content that is cited or that a claim names."""
    digests = _digests(enriched)
    kept = {citation.number for citation in _shown_citations(enriched)} | _numbers_of_claims(enriched)
    contents = {digests[number]: number for number in sorted(kept, reverse=True) if number in digests}
    contexts = enriched.answer.contexts or []
    return [
        SourceRow(tenant=enriched.tenant, source_digest=digest, content=contexts[number - 1].content)
        for digest, number in contents.items()
    ]


def _numbers_of_claims(enriched: EnrichedAnswer) -> set[int]:
    """Return the sources that claims name: their evidence, and others that support them as well or better."""
    claims = enriched.grounding.claims if enriched.grounding else []
    named = {number for claim in claims for number in (*claim.redundant_numbers, *claim.proposed_numbers)}
    named |= {claim.evidence.number for claim in claims if claim.evidence}
    return named | {number for claim in claims for number in (claim.primary_number, claim.better_number) if number}


def _digests(enriched: EnrichedAnswer) -> dict[int, str]:
    """Return the digest of each context by its number."""
    return {number: content_digest(chunk) for number, chunk in enumerate(enriched.answer.contexts or [], 1)}


def _identity(enriched: EnrichedAnswer) -> _Identity:
    return {
        "tenant": enriched.tenant,
        "answer_id": enriched.answer_id,
        "run": enriched.run,
        "pipeline_version": enriched.pipeline_version,
        "rank": enriched.rank,
        "completed_at": enriched.answer.completed_at,
    }


def version_row(version: str, parts: Mapping[str, str], started_at: datetime) -> VersionRow:
    """Return the row of a pipeline version and its parts."""
    return VersionRow(version=version, parts=_json(parts), started_at=started_at)
