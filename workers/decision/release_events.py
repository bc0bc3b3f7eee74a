"""Build the events that follow a decision: released answer, review request, alerts and memory turn."""

from datetime import datetime, timedelta

from schemas.base import MAX_NAMES
from schemas.enriched import EnrichedAnswer
from schemas.grounding import Claim
from schemas.identifiers import fact_id, turn_id
from schemas.memory import ConversationTurn
from schemas.release import Alert, ReleasedAnswer
from schemas.review import ReleasableAnswer, ReviewContext, ReviewRequest
from workers.decision.decision import alerts_for, review_priority
from workers.decision.policy import DecisionPolicy
from workers.decision.reader_text.presentation import (
    DEFAULT_POLICY,
    ReaderPolicy,
    body_and_references,
    text_for_readers,
)
from workers.decision.reader_text.proposals import was_cut_off
from workers.decision.reader_text.reference_list import Style
from workers.decision.reader_text.source_addresses import source_version
from workers.evaluation.thresholds import GroundingThresholds

MAX_REVIEW_CLAIMS = 20
"""Maximum number of claims shown to a reviewer at first; the others are loaded on request."""
MAX_REVIEW_STEPS = 100
"""Maximum number of steps shown to a reviewer, the first ones."""
SHOWN_OF_CONTEXT = ("chunk_id", "source_type", "source_name", "source_path", "last_updated", "tool", "content")


def released_answer(
    enriched: EnrichedAnswer, now: datetime, *, style: Style = "standard", reader: ReaderPolicy = DEFAULT_POLICY
) -> ReleasedAnswer:
    """Return the state of an answer for the gateway.

    The revision is the completeness of the result, so that a degraded result never replaces a complete one. Decisions
    of people have revisions of 100 and more.
    """
    decision = enriched.decision
    # A fallback contains no text of the answer, and a held release contains no text at all.
    shown = enriched.formatted if decision.state not in ("held", "fallback") else None
    return ReleasedAnswer(
        release_id=fact_id(enriched.tenant, enriched.answer_id, "release"),
        answer_id=enriched.answer_id,
        tenant=enriched.tenant,
        session_id=enriched.answer.session_id,
        state=decision.state,
        final=decision.final,
        revision=max(1, enriched.rank),
        content=None if decision.state == "held" else _content(enriched, style, reader),
        citations=shown.interactive if shown else [],
        ungrounded_claims=shown.ungrounded_claims if shown else [],
        reasons=decision.reasons,
        hallucination_risk=enriched.grounding.hallucination_risk if enriched.grounding else None,
        grounding_score=enriched.grounding.grounding_score if enriched.grounding else None,
        gate_score=enriched.evaluation.score,
        review_id=fact_id(enriched.tenant, enriched.answer_id, "review") if decision.review else None,
        pipeline_version=enriched.pipeline_version,
        released_at=now,
    )


def _content(enriched: EnrichedAnswer, style: Style, reader: ReaderPolicy) -> str:
    """Return the releasable content; format it again where the formatted text had no room in the record."""
    if enriched.formatted is not None:
        return enriched.formatted.content
    return text_for_readers(enriched.answer, enriched.citations, enriched.grounding, enriched.decision, style, reader)


def review_request(
    enriched: EnrichedAnswer,
    now: datetime,
    *,
    deadline_hours: float,
    style: Style = "standard",
    reader: ReaderPolicy = DEFAULT_POLICY,
) -> ReviewRequest | None:
    """Return the request for review if the decision asks for one, otherwise ``None``.

    It contains everything that the reviewer sees and that a decision releases. The body is formatted without a
    disclaimer, because an approval verifies the answer.
    """
    if not enriched.decision.review:
        return None
    answer, grounding, quality = enriched.answer, enriched.grounding, enriched.quality
    body, references = body_and_references(answer, enriched.citations, grounding, style, reader)
    contexts = answer.contexts or []
    return ReviewRequest(
        review_id=fact_id(enriched.tenant, enriched.answer_id, "review"),
        answer_id=enriched.answer_id,
        tenant=enriched.tenant,
        session_id=answer.session_id,
        user_id=answer.user_id,
        query=answer.query,
        answer=answer.answer,
        risk_mode=enriched.risk_mode,
        held=enriched.decision.state == "held",
        reasons=enriched.decision.reasons,
        hallucination_risk=grounding.hallucination_risk if grounding else None,
        grounding_score=grounding.grounding_score if grounding else None,
        gate_score=enriched.evaluation.score,
        answer_metrics={name: value for name, value in enriched.evaluation.metrics.items() if value is not None},
        claims=worst_claims(enriched, MAX_REVIEW_CLAIMS),
        signals=sorted({signal.type for signal in quality.signals}) if quality else [],
        contexts=[
            ReviewContext(
                number=number, version=source_version(chunk), **chunk.model_dump(include=set(SHOWN_OF_CONTEXT))
            )
            for number, chunk in enumerate(contexts, 1)
        ],
        contexts_total=len(contexts),
        cut_off=was_cut_off(answer),
        steps=[step.model_copy(update={"output": ""}) for step in answer.steps[:MAX_REVIEW_STEPS]],
        releasable=ReleasableAnswer(
            state=enriched.decision.state,
            body=body,
            references=references,
            citations=enriched.formatted.interactive if enriched.formatted else [],
            query_type=answer.query_type,
            quality_score=quality.overall_score if quality else None,
            completed_at=answer.completed_at,
            memorable=enriched.decision.memorable,
            notices=reader.texts_for(answer).notices(grounding.hallucination_risk if grounding else None),
        ),
        model_id=answer.model.id,
        priority=review_priority(enriched),
        rank=enriched.rank,
        evaluator_versions=_evaluators(enriched),
        pipeline_version=enriched.pipeline_version,
        requested_at=now,
        deadline_at=now + timedelta(hours=deadline_hours),
    )


def fitted_request(request: ReviewRequest, max_bytes: int) -> ReviewRequest:
    """Fit a request and its row into a record; remove contexts from the end, then the formatted text.

    Args:
        request: a request of any size.
        max_bytes: maximum size of its JSON.
    """
    while request.contexts and len(request.to_bytes()) > max_bytes:
        kept = len(request.contexts) // 2
        request = request.model_copy(update={"contexts": request.contexts[:kept]})
    shown = request.releasable
    if shown is not None and len(request.to_bytes()) > max_bytes:
        bare = shown.model_copy(update={"body": None, "references": "", "citations": []})
        request = request.model_copy(update={"releasable": bare})
    return request


def _evaluators(enriched: EnrichedAnswer) -> dict[str, str]:
    """Return the evaluators: the pipeline's version, and model and rules of each report."""
    reports = (enriched.citations, enriched.grounding, enriched.quality)
    versions = {
        f"{report.agent}.{name}": version for report in reports if report for name, version in report.versions.items()
    }
    return {"pipeline": enriched.pipeline_version, **dict(list(versions.items())[: MAX_NAMES - 1])}


def worst_claims(enriched: EnrichedAnswer, limit: int) -> list[Claim]:
    """Return unsupported claims, contradicted ones first, then by score and position."""
    if enriched.grounding is None:
        return []
    offending = enriched.grounding.ungrounded_claims
    return sorted(offending, key=lambda c: (c.verdict != "contradicted", c.score or 0.0, c.span.start))[:limit]


def alerts(
    enriched: EnrichedAnswer, now: datetime, thresholds: GroundingThresholds, policy: DecisionPolicy | None = None
) -> list[Alert]:
    """Return the alerts on an answer (grounding score below the minimum of its tenant and query type)."""
    return [
        Alert(
            alert_id=fact_id(enriched.tenant, enriched.answer_id, f"alert-{kind}"),
            alert_type=kind,
            severity=severity,
            message=message,
            answer_id=enriched.answer_id,
            tenant=enriched.tenant,
            metadata=metadata,
            raised_at=now,
        )
        for kind, severity, message, metadata in alerts_for(enriched, thresholds, policy)
    ]


def conversation_turn(enriched: EnrichedAnswer) -> ConversationTurn | None:
    """Return the turn to remember if the decision is final and the grounding sufficient, otherwise ``None``."""
    if not enriched.decision.remember:
        return None
    answer, grounding, quality = enriched.answer, enriched.grounding, enriched.quality
    return ConversationTurn(
        turn_id=turn_id(enriched.tenant, enriched.answer_id),
        answer_id=enriched.answer_id,
        tenant=enriched.tenant,
        session_id=answer.session_id,
        user_id=answer.user_id,
        query=answer.query,
        response=answer.answer,
        context_chunks=[chunk.chunk_id for chunk in answer.contexts or []],
        query_type=answer.query_type,
        quality_score=quality.overall_score if quality else None,
        hallucination_risk=grounding.hallucination_risk if grounding else None,
        grounding_score=grounding.grounding_score if grounding else None,
        revision=max(1, enriched.rank),
        timestamp=answer.completed_at,
    )
