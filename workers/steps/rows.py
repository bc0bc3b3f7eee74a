"""From events to rows of ClickHouse tables; pure, so a repeat makes the same rows."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic_core import to_json

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.base import Part
from schemas.citations import Citation
from schemas.enriched import EnrichedAnswer
from schemas.feedback import AnalyticsRow, Reward
from schemas.grounding import Calculation
from schemas.headers import TRACEPARENT
from schemas.identifiers import fact_id, invalid_citation_id
from schemas.release import Alert
from schemas.review import ReviewDecision, ReviewEvent, ReviewRequest
from workers.steps.citations import content_digest
from workers.steps.finality import DECISION_REVISION, Ruling, decided_state
from workers.steps.implicit import latency_accepted, latency_tolerance, satisfaction
from workers.steps.presentation import response_seconds
from workers.steps.rewards import AnswerFeedback
from workers.steps.thresholds import FeedbackRules

MAX_LOGGED = 200
"""Most citations, invalid references and claims in an audit row; all of them are counted."""
MAX_SOURCE_LABEL = 200
"""Longest name of a source in figures."""
MAX_TITLE = 200
"""Code points of the query that the queue shows."""
CHARACTERISTICS = (
    "faithfulness", "relevance", "correctness", "coverage", "consistency", "freshness", "traceability",
)  # fmt: skip
"""The seven characteristics of seed 002, as columns."""


def enriched_rows(enriched: EnrichedAnswer) -> list[AnalyticsRow]:
    """Rows of an enriched answer: the answer and its audit, its claims, its citations and their sources."""
    return [
        _answer_row(enriched),
        _audit_row(enriched),
        *_claim_rows(enriched),
        *_citation_rows(enriched),
        *_source_rows(enriched),
    ]


def review_rows(request: ReviewRequest) -> list[AnalyticsRow]:
    """The rows of a request: what was asked for, and its place in the queue.

    The place is a row of its own with nothing but what the queue is ordered and filtered by; a
    decision replaces it with a higher rank. The other stays.
    """
    completed = request.releasable.completed_at if request.releasable else request.requested_at
    columns = _dump(
        request,
        "tenant", "review_id", "answer_id", "pipeline_version", "rank", "queue", "held", "risk_mode", "reasons",
        "signals", "hallucination_risk", "grounding_score", "gate_score", "priority", "model_id", "query",
        "answer", "requested_at", "deadline_at",
    )  # fmt: skip
    columns |= {
        "state": "open",
        "completed_at": completed.isoformat(),
        "request": request.model_dump_json(exclude={"query", "answer"}),
    }
    place = _dump(
        request,
        "tenant", "review_id", "answer_id", "rank", "queue", "held", "risk_mode", "reasons", "signals",
        "hallucination_risk", "grounding_score", "gate_score", "priority", "model_id", "requested_at", "deadline_at",
    )  # fmt: skip
    place |= {"state": "open", "completed_at": completed.isoformat(), "title": request.query[:MAX_TITLE]}
    return [AnalyticsRow(table="reviews", columns=columns), AnalyticsRow(table="review_queue", columns=place)]


def closing_row(decision: ReviewDecision) -> AnalyticsRow:
    """The row that takes a review out of the queue; of another rank than any request's."""
    columns = _dump(decision, "tenant", "review_id", "answer_id", "decided_by", "model_id")
    columns |= {
        "rank": DECISION_REVISION,
        "completed_at": _decided_on(decision),
        "state": decided_state(decision),
        "decision_id": decision.feedback_id,
        "action": decision.user_action,
        "decided_at": decision.timestamp.isoformat(),
    }
    return AnalyticsRow(table="review_queue", columns=columns)


def withdrawing_row(decision: ReviewDecision) -> AnalyticsRow:
    """The row that takes out of the queue what the pipeline itself made final meanwhile."""
    columns = _dump(decision, "tenant", "review_id", "answer_id", "model_id")
    columns |= {"rank": DECISION_REVISION, "state": "withdrawn", "completed_at": _decided_on(decision)}
    return AnalyticsRow(table="review_queue", columns=columns)


def _decided_on(decision: ReviewDecision) -> str:
    """When the answer was complete: without it retention would count from 1970, and the review would be open again."""
    answer = decision.releasable
    return (answer.completed_at if answer else decision.timestamp).isoformat()


def decision_row(decision: ReviewDecision, ruling: Ruling) -> AnalyticsRow:
    """The row of any decision, vote or second review; whole, as HumanFeedback in JSON."""
    columns = _dump(decision, "tenant", "review_id", "answer_id", "decided_by", "reason", "review_duration", "model_id")
    columns |= {
        "decision_id": decision.feedback_id,
        "ruling": ruling,
        "action": decision.user_action,
        "reason": decision.reason or "",
        "decided_at": decision.timestamp.isoformat(),
        "decision": decision.model_dump_json(exclude={"releasable", "query", "original_answer"}),
    }
    return AnalyticsRow(table="review_decisions", columns=columns)


def review_event_row(event: ReviewEvent) -> AnalyticsRow:
    """The row of what happened to a request before its decision."""
    columns = _dump(event, "tenant", "review_id", "answer_id", "event_id", "kind", "reviewer", "deadline_at")
    columns |= {"queue": event.queue or "", "occurred_at": event.occurred_at.isoformat()}
    return AnalyticsRow(table="review_events", columns=columns)


def alert_row(alert: Alert, enriched: EnrichedAnswer) -> AnalyticsRow:
    """The row of an alert."""
    columns = _dump(alert, "tenant", "alert_id", "answer_id", "alert_type", "severity", "message", "raised_at")
    return AnalyticsRow(
        table="alerts",
        columns=columns
        | {
            "metadata": to_json(alert.metadata).decode(),
            "rank": enriched.rank,
            "completed_at": _completed(enriched),
        },
    )


def _answer_row(enriched: EnrichedAnswer) -> AnalyticsRow:
    answer = enriched.answer
    usage = answer.usage
    verdicts = Counter(claim.verdict for claim in enriched.grounding.claims) if enriched.grounding else Counter()
    columns = {
        **_identity(enriched),
        "session_id": answer.session_id or "",
        "user_id": answer.user_id or "",
        "query": answer.query,
        "answer": answer.answer,
        "content": enriched.formatted.content if enriched.formatted else "",
        "query_type": answer.query_type or "",
        "model_id": answer.model.id,
        "model_provider": answer.model.provider or "",
        "prompt_version": answer.model.prompt_version or "",
        "risk_mode": enriched.risk_mode,
        "status": answer.status,
        "error": answer.error or "",
        "contexts": len(answer.contexts or []),
        "requested_at": answer.requested_at.isoformat() if answer.requested_at else None,
        "latency_seconds": response_seconds(answer),
        "prompt_tokens": usage.prompt_tokens if usage else None,
        "completion_tokens": usage.completion_tokens if usage else None,
        "trace_id": _trace_id(answer),
        **_judgement_columns(enriched),
        "claims_total": enriched.grounding.claims_total if enriched.grounding else 0,
        "claims_supported": verdicts["supported"],
        "claims_contradicted": verdicts["contradicted"],
        "claims_unsupported": verdicts["unsupported"],
        **_reference_columns(enriched),
        "state": enriched.decision.state,
        "reasons": enriched.decision.reasons,
        "review": enriched.decision.review,
        "degraded": enriched.degraded,
        "missing": [*enriched.missing, *enriched.failed],
        "answer_partition": enriched.answer_partition,
        "answer_offset": enriched.answer_offset,
        "enriched_at": enriched.enriched_at.isoformat(),
    }
    return AnalyticsRow(table="answers", columns=columns)


def _reference_columns(enriched: EnrichedAnswer) -> dict[str, Any]:
    """What the answer's citations and claims rest on, by source: parallel lists, sources by name."""
    citations = enriched.citations.citations if enriched.citations else []
    invalid = enriched.citations.invalid_references if enriched.citations else []
    contexts = enriched.answer.contexts or []
    cited = Counter(source_label(contexts[citation.number - 1]) for citation in citations)
    verdicts: dict[str, Counter[str]] = {name: Counter() for name in cited}
    for claim in enriched.grounding.claims if enriched.grounding else []:
        if claim.evidence is not None:
            name = source_label(contexts[claim.evidence.number - 1])
            verdicts.setdefault(name, Counter())[claim.verdict] += 1
    names = sorted(verdicts)
    return {
        "citations_total": len(citations),
        "invalid_references": [reference.reason for reference in invalid],
        "source_names": names,
        "source_citations": [cited[name] for name in names],
        "source_supported": [verdicts[name]["supported"] for name in names],
        "source_contradicted": [verdicts[name]["contradicted"] for name in names],
        "source_unsupported": [verdicts[name]["unsupported"] for name in names],
    }


def source_label(chunk: ContextChunk) -> str:
    """What figures call a source: its name, else its table, else its path; a chunk's own name says least."""
    return (chunk.source_name or chunk.source_table or chunk.source_path or chunk.chunk_id)[:MAX_SOURCE_LABEL]


def _audit_row(enriched: EnrichedAnswer) -> AnalyticsRow:
    """The row of seed 004's citation_logs: all citations of an answer and what it could not ground."""
    answer, citations, grounding = enriched.answer, enriched.citations, enriched.grounding
    listed = citations.citations if citations else []
    invalid = citations.invalid_references if citations else []
    ungrounded = grounding.ungrounded_claims if grounding else []
    calculations = [each for claim in grounding.claims for each in claim.calculations] if grounding else []
    judged = [report.judged_at for report in (citations, grounding) if report]
    identity = _identity(enriched)
    columns = {
        **{name: value for name, value in identity.items() if name != "answer_id"},
        "response_id": enriched.answer_id,
        "user_id": answer.user_id or "",
        "session_id": answer.session_id or "",
        "query_text": answer.query,
        "response_text": answer.answer,
        "citations": _json([*map(_logged, listed[:MAX_LOGGED]), *map(_logged_calculation, calculations[:MAX_LOGGED])]),
        "citation_count": len(listed),
        "invalid_references": _json([_dump(each, "marker", "reason", "number") for each in invalid[:MAX_LOGGED]]),
        "grounding_score": grounding.grounding_score if grounding else None,
        "recommendation_coverage": citations.recommendation_coverage if citations else None,
        "ungrounded_claims": _json([claim.text for claim in ungrounded[:MAX_LOGGED]]),
        "state": enriched.decision.state,
        "response_seconds": response_seconds(answer),
        "grounding_seconds": grounding.duration_seconds if grounding else None,
        "validated_at": max(judged).isoformat() if judged else None,
        "created_at": _completed(enriched),
    }
    return AnalyticsRow(table="citation_logs", columns=columns)


def _logged(citation: Citation) -> dict[str, Any]:
    """A citation by the names of seed 004."""
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
    """The basis of a calculated figure by the names of seed 004."""
    return {
        "sourceType": "calculation",
        "excerpt": calculation.expression,
        "inputs": [each.model_dump(mode="json", exclude_none=True) for each in calculation.inputs],
        "displayText": f"Calculation: {calculation.expression}",
    }


def _json(value: Any) -> str:
    return to_json(value).decode()


def _trace_id(answer: GeneratedAnswer) -> str:
    """The trace's identifier, also out of a traceparent (version-trace-span-flags)."""
    if answer.trace is None:
        return ""
    parent = answer.trace.traceparent or ""
    return answer.trace.trace_id or (parent.split("-")[1] if TRACEPARENT.fullmatch(parent) else "")


def _judgement_columns(enriched: EnrichedAnswer) -> dict[str, Any]:
    citations, grounding, quality = enriched.citations, enriched.grounding, enriched.quality
    scores = {
        name: getattr(grounding, name, None)
        for name in ("hallucination_risk", "risk_score", "grounding_score", "context_similarity", "facts_verified")
    }
    return {
        **scores,
        "citation_coverage": citations.coverage if citations else None,
        "citations_valid": citations.valid if citations else None,
        "quality_score": quality.overall_score if quality else None,
        "passes_validation": quality.passes_validation if quality else None,
        "validation_score": quality.validation.score if quality and quality.validation else None,
        "gate_score": enriched.evaluation.score,
        **{name: enriched.evaluation.metrics.get(name) for name in CHARACTERISTICS},
        "signals": sorted({signal.type for signal in quality.signals}) if quality else [],
        "issues": sorted({issue.type for issue in grounding.issues}) if grounding else [],
        "citations_seconds": citations.duration_seconds if citations else None,
        "grounding_seconds": grounding.duration_seconds if grounding else None,
        "quality_seconds": quality.duration_seconds if quality else None,
    }


def _claim_rows(enriched: EnrichedAnswer) -> list[AnalyticsRow]:
    rows = []
    conflicting = {conflict.claim_id for conflict in enriched.grounding.conflicts} if enriched.grounding else set()
    digests = _digests(enriched)
    for claim in enriched.grounding.claims if enriched.grounding else []:
        evidence = claim.evidence
        columns = _identity(enriched) | _dump(
            claim, "claim_id", "text", "kind", "hedged", "verdict", "score", "mismatches", "cited_numbers",
            "primary_number", "redundant_numbers", "proposed_numbers", "cited_unsupported", "better_number",
        )  # fmt: skip
        columns |= {
            "start": claim.span.start,
            "end": claim.span.end,
            "chunk_id": evidence.chunk_id if evidence else "",
            "evidence_start": evidence.span.start if evidence else None,
            "evidence_end": evidence.span.end if evidence else None,
            "evidence": evidence.excerpt if evidence else "",
            "similarity": evidence.similarity if evidence else None,
            "source_digest": digests.get(evidence.number, "") if evidence else "",
            "conflicting": claim.claim_id in conflicting,
            "calculations": [each.expression for each in claim.calculations],
            "model_id": enriched.answer.model.id,
        }
        if claim.verifier_score is not None:
            # Left out otherwise: who sends rows may be upgraded before the table is.
            columns["verifier_score"] = claim.verifier_score
        rows.append(AnalyticsRow(table="claims", columns=columns))
    return rows


def _citation_rows(enriched: EnrichedAnswer) -> list[AnalyticsRow]:
    report = enriched.citations
    if report is None:
        return []
    model = {"model_id": enriched.answer.model.id}
    rows = []
    for citation in report.citations:
        columns = _identity(enriched) | _dump(
            citation, "citation_id", "number", "chunk_id", "source_type", "source_name", "source_path",
            "excerpt", "confidence", "forms", "display_text", "source_digest", "last_updated", "created_at",
            "learned_at",
        )  # fmt: skip
        named = ("source_table", "record_id", "memory_id", "entity", "source_event")
        columns |= {name: getattr(citation, name) or "" for name in named}
        columns |= {"spans": [[span.start, span.end] for span in citation.spans], "valid": True}
        rows.append(AnalyticsRow(table="citations", columns=columns | model))
    for reference in report.invalid_references:
        place = f"{reference.span.start}-{reference.span.end}" if reference.span else "provided"
        columns = _identity(enriched) | {
            # Of this answer alone: others have the same marker at the same place.
            "citation_id": invalid_citation_id(enriched.answer_id, place, reference.marker),
            "valid": False,
            "marker": reference.marker,
            "reason": reference.reason,
            "forms": [reference.form],
        }
        rows.append(AnalyticsRow(table="citations", columns=columns | model))
    return rows


def _source_rows(enriched: EnrichedAnswer) -> list[AnalyticsRow]:
    """The contents that citations and evidence rest on, each once."""
    digests = _digests(enriched)
    cited = {citation.number for citation in enriched.citations.citations} if enriched.citations else set()
    claims = enriched.grounding.claims if enriched.grounding else []
    cited |= {claim.evidence.number for claim in claims if claim.evidence}
    contents = {digests[number]: number for number in sorted(cited, reverse=True) if number in digests}
    contexts = enriched.answer.contexts or []
    return [
        AnalyticsRow(
            table="sources",
            columns={"tenant": enriched.tenant, "source_digest": digest, "content": contexts[number - 1].content},
        )
        for digest, number in contents.items()
    ]


def _digests(enriched: EnrichedAnswer) -> dict[int, str]:
    """The digest of each context by its number."""
    return {number: content_digest(chunk) for number, chunk in enumerate(enriched.answer.contexts or [], 1)}


def _identity(enriched: EnrichedAnswer) -> dict[str, Any]:
    return {
        "tenant": enriched.tenant,
        "answer_id": enriched.answer_id,
        "run": enriched.run,
        "pipeline_version": enriched.pipeline_version,
        "rank": enriched.rank,
        "completed_at": _completed(enriched),
    }


def _completed(enriched: EnrichedAnswer) -> str:
    return enriched.answer.completed_at.isoformat()


def _dump(event: Part, *names: str) -> dict[str, Any]:
    columns: dict[str, Any] = event.model_dump(mode="json", include=set(names))
    return columns


def reward_row(reward: Reward, elsewhere: Sequence[tuple[str, datetime]] = ()) -> AnalyticsRow:
    """The row of a reward; a later revision replaces it, and empties where it was counted before."""
    columns = _dump(
        reward,
        "reward_id", "answer_id", "tenant", "model_id", "explicit_reward", "implicit_reward", "satisfaction",
        "reward", "error_occurred", "retry_detected", "latency_seconds", "latency_tolerance", "revision",
        "answered_at", "computed_at",
    )  # fmt: skip
    columns |= {
        "query_type": reward.query_type or "",
        "query_features": reward.query_features or [],
        "elsewhere": [{"tenant": name, "answered_at": hour.isoformat()} for name, hour in elsewhere],
    }
    return AnalyticsRow(table="rewards", columns=columns)


def implicit_feedback_row(feedback: AnswerFeedback, rules: FeedbackRules) -> AnalyticsRow | None:
    """The row of seed 001 for an answer, or ``None`` where nothing was observed of it."""
    seconds = feedback.latency_seconds
    observed = feedback.error_occurred or seconds is not None or feedback.behaviour is not None
    if not (observed or feedback.asked_again or feedback.repeats):
        return None
    repeated = feedback.repeats[0] if feedback.repeats else None
    delays = [pair.delay_seconds for pair in feedback.asked_again]
    columns = {
        "id": fact_id(feedback.answer_id, "implicit_feedback"),
        "query_id": feedback.answer_id,
        "tenant": feedback.tenant,
        "model_id": feedback.model_id,
        "query_type": feedback.query_type or "",
        "timestamp": feedback.answered_at.isoformat(),
        "error_occurred": feedback.error_occurred,
        "error_type": feedback.error_type,
        "latency_seconds": seconds,
        "latency_accepted": seconds is None or latency_accepted(seconds, delays, rules),
        "latency_tolerance": None if seconds is None else latency_tolerance(seconds, rules),
        "retry_detected": repeated is not None,
        "retry_delay_seconds": repeated.delay_seconds if repeated else None,
        "similarity_score": repeated.similarity_score if repeated else None,
        "original_query_id": repeated.original_answer_id if repeated else None,
        "asked_again": bool(feedback.asked_again),
        "satisfaction": None if feedback.behaviour is None else satisfaction(feedback.behaviour),
        "revision": feedback.revision,
    }
    return AnalyticsRow(table="implicit_feedback", columns=columns)
