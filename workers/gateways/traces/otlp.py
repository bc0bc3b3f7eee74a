"""Make answers of the spans and events of GenAI clients in OTLP, including OpenInference's attributes.

Sources: OTLP 1.9; the GenAI semantic conventions (schema gen-ai-dev 1.42: ``gen_ai.input.messages`` and
``gen_ai.output.messages`` with parts, ``gen_ai.retrieval.documents``, event
``gen_ai.client.inference.operation.details``) and their versions up to 1.36 (``gen_ai.choice``, see
``otlp_messages``); OpenInference's semantic conventions (``llm.input_messages.0.message.content``,
``retrieval.documents.0.document.content``); OpenLLMetry's ``gen_ai.prompt.0.content``. Read November 2026.

An export is processed as a unit: the contexts of a call are the documents of all retrievals in the same trace that
ended before the call began. ``workers.intake.trace_sources`` adds retrievals of other exports.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from schemas.answers import MAX_CONTEXTS
from workers.gateways.adapted import Adapted, Draft, Received, Withheld, finished, named_apart
from workers.gateways.errors import NothingToJudge, UnadaptableRecord
from workers.gateways.reading.lenient_reading import (
    an_object,
    count,
    first_text,
    items,
    mapping,
    number,
    text,
    unfolded,
    without,
)
from workers.gateways.reading.model_names import model_name
from workers.gateways.reading.provider_names import provider_name
from workers.gateways.traces.otlp_calls import ModelCall, call_of
from workers.gateways.traces.otlp_roots import FoundAnswer, answers_of
from workers.gateways.traces.otlp_spans import ExportedSpan, exported_events, exported_spans
from workers.gateways.traces.otlp_steps import models_of, steps_of
from workers.gateways.traces.otlp_tenants import spans_by_tenant
from workers.gateways.traces.otlp_unread import unread_spans

NAME = "otlp"
MAX_SECONDS = 86_400.0
_CALLER = "touchstone."
"""Prefix of attributes that set fields of the answer for which the conventions have no name."""
_TOLD = frozenset(
    {
        "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.conversation.id", "gen_ai.request.model",
        "gen_ai.response.model", "gen_ai.provider.name", "gen_ai.system", "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens", "gen_ai.usage.prompt_tokens", "gen_ai.usage.completion_tokens",
        "gen_ai.request.temperature", "gen_ai.response.finish_reasons", "gen_ai.retrieval.documents", "session.id",
        "user.id", "enduser.id", "llm.model_name", "llm.provider", "llm.token_count.prompt",
        "llm.token_count.completion", "llm.cost.total", "llm.finish_reason", "input.value", "output.value",
        "error.type", "exception.type", "gen_ai.prompt.version", "gen_ai.response.time_to_first_chunk", "llm.prompt_template.version",
    }
)  # fmt: skip


def adapt(record: Any, received: Received) -> list[Adapted]:
    """Return one answer for each question of an export.

    Args:
        record: the export in its JSON form.
        received: metadata of the record.

    Raises:
        NothingToJudge: the export holds no answer, as is the case for most exports.
        UnadaptableRecord: the record is not an OTLP export, or all its calls were refused.
    """
    export = an_object(record, "the export")
    if not isinstance(export.get("resourceSpans"), list) and not isinstance(export.get("resourceLogs"), list):
        raise UnadaptableRecord(
            "otlp: resourceSpans (or resourceLogs) is missing; send an OTLP export request", "resourceSpans"
        )
    spans = [*exported_spans(export), *exported_events(export)]
    calls, answers, drafts = list[ModelCall](), list[FoundAnswer](), list[Draft]()
    for of_tenant in spans_by_tenant(spans, received.tenant).values():
        retrievals = _retrievals(of_tenant)
        made = [call_of(span) for span in of_tenant if span.is_inference]
        of_these = answers_of(made, of_tenant)
        drafts += [_draft(each, retrievals.get(each.call.span.trace_id, ())) for each in of_these]
        calls, answers = [*calls, *made], [*answers, *of_these]
    found: list[Adapted] = []
    refusals: list[UnadaptableRecord] = []
    for draft, answer, known in zip(drafts, answers, named_apart(drafts, received), strict=True):
        try:
            _check_known(answer)
            found.append(finished(draft, NAME, [answer.call.span.resource, answer.call.span.raw], known))
        except UnadaptableRecord as refusal:
            refusals.append(refusal)
    if not found and refusals:
        raise refusals[0]
    unread = unread_spans(spans, answers)
    if not found:
        raise NothingToJudge("tool_call" if any(call.calls_tools for call in calls) else "no_answer", unread)
    # A refused call does not stop the other calls of its export.
    return [replace(found[0], refused=len(refusals), unread=unread), *found[1:]]


def _check_known(answer: FoundAnswer) -> None:
    """Refuse a response of an unknown shape; an empty answer would be evaluated in its place."""
    if answer.said is None and answer.call.unread is not None and not answer.failed:
        name = answer.call.unread
        raise UnadaptableRecord(
            f"otlp: the attribute {name} has an unknown shape; send messages with role and parts or content", name
        )


def _draft(answer: FoundAnswer, retrievals: Sequence["_Retrieval"]) -> Draft:
    call, span = answer.call, answer.call.span
    named = answer.root or span
    attributes = {**(answer.root.attributes if answer.root else {}), **span.attributes}
    caller = {name.removeprefix(_CALLER): value for name, value in attributes.items() if name.startswith(_CALLER)}
    finish_reasons = items(span.attributes.get("gen_ai.response.finish_reasons"))
    query = answer.query
    models = models_of(span)
    withheld: set[Withheld] = set()
    if answer.said is None and not call.is_sent and not answer.failed:
        # Instrumentations capture no content by default.
        withheld = {"answer"} if query else {"query", "answer"}
    return Draft(
        identifier=f"{named.trace_id}-{named.span_id}" if named.trace_id and named.span_id else None,
        tenant=span.tenant,
        session_id=first_text(caller, "session_id")
        or first_text(attributes, "gen_ai.conversation.id", "session.id", "langfuse.session.id"),
        user_id=first_text(caller, "user_id")
        or first_text(attributes, "user.id", "enduser.id", "langfuse.user.id")
        or first_text(mapping(unfolded(attributes.get("metadata"))), "user_id"),
        query=query,
        answer=None if answer.failed else answer.said,
        contexts=_without_repeats([*_contexts(answer, retrievals), *call.asked.evidence, *call.results]),
        conversation=answer.earlier,
        steps=steps_of(answer, [(each.span, each.documents) for each in _before(answer, retrievals)]),
        withheld=withheld,
        model_id=model_name(*models),
        answered_model=models[1],
        provider=provider_name(
            span.text("gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system"), *models
        ),
        prompt_version=span.text("gen_ai.prompt.version", "llm.prompt_template.version"),
        temperature=number(attributes.get("gen_ai.request.temperature")),
        query_type=first_text(caller, "query_type"),
        risk_mode=first_text(caller, "risk_mode"),
        status="error" if answer.failed else "success",
        error=(named.message or span.message) if answer.failed else None,
        error_type=first_text(attributes, "error.type", "exception.type"),
        finish_reason=call.finish_reason or text(next(iter(finish_reasons), None)) or span.text("llm.finish_reason"),
        requested_at=named.start,
        completed_at=named.end,
        first_token_at=_after(span.start, number(attributes.get("gen_ai.response.time_to_first_chunk"))),
        prompt_tokens=_tokens(
            span, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"
        ),
        completion_tokens=_tokens(
            span, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"
        ),
        trace_id=span.trace_id,
        span_id=named.span_id,
        cost_usd=number(attributes.get("llm.cost.total")),
        kept=_kept(span),
    )


def _without_repeats(chunks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return chunks with each result of a tool once: the call's span and the next call's messages both hold it."""
    kept: dict[tuple[Any, ...], dict[str, Any]] = {}
    for place, chunk in enumerate(chunks):
        identifier = mapping(chunk.get("tool")).get("id")
        key = ("tool", identifier) if identifier else ("place", place)
        known = kept.get(key)
        if known is None:
            kept[key] = chunk
        else:
            known["tool"] = {**mapping(chunk.get("tool")), **mapping(known["tool"])}
    texts = {chunk["content"] for chunk in kept.values() if mapping(chunk.get("tool")).get("id")}
    return [
        chunk
        for (kind, _), chunk in kept.items()
        if kind == "tool" or chunk.get("source_type") != "tool" or chunk["content"] not in texts
    ]


@dataclass(frozen=True, slots=True)
class _Retrieval:
    """A span with its retrieved sources, read once."""

    span: ExportedSpan
    documents: list[dict[str, Any]]

    @property
    def is_tool(self) -> bool:
        """Return whether the span executed a tool."""
        return all(chunk.get("source_type") == "tool" for chunk in self.documents)


def _retrievals(spans: Sequence[ExportedSpan]) -> dict[str, list[_Retrieval]]:
    """Return the retrievals of each trace."""
    found: dict[str, list[_Retrieval]] = {}
    for span in spans:
        documents = span.documents
        if not documents and (result := span.tool_result) is not None:
            documents = [result]
        if documents:
            found.setdefault(span.trace_id, []).append(_Retrieval(span, documents))
    return found


def _contexts(answer: FoundAnswer, retrievals: Sequence[_Retrieval]) -> list[dict[str, Any]]:
    """Return the sources retrieved for an answer without duplicates; reranked documents replace all others, but no results of tools.

    Args:
        answer: the answer.
        retrievals: retrievals of the same trace.
    """
    kept = _before(answer, retrievals)
    reranked = [each for each in kept if each.span.lists.get("reranker.output_documents")]
    found: dict[tuple[Any, str], dict[str, Any]] = {}
    kept = [each for each in kept if each in reranked or each.is_tool] if reranked else kept
    for chunk in (chunk for retrieval in kept for chunk in retrieval.documents):
        found.setdefault((chunk.get("chunk_id"), chunk["content"]), chunk)
        if len(found) > MAX_CONTEXTS:
            break  # one more than an answer may carry, so that the cut is reported
    return list(found.values())


def _before(answer: FoundAnswer, retrievals: Sequence[_Retrieval]) -> list[_Retrieval]:
    """Return the retrievals and tools of a question that ended before the call of its answer."""
    call = answer.call.span
    # A trace may hold several questions; sources within a question's root are those of no other one.
    within = [each for each in retrievals if each.span.span_id in answer.inner]
    retrievals = within or retrievals
    # Spans without a trace are unrelated to each other.
    return [each for each in retrievals if each.span is call or (call.trace_id and _precedes(each.span, call))]


def _precedes(span: ExportedSpan, call: ExportedSpan) -> bool:
    return span.end is None or call.start is None or span.end <= call.start


def _tokens(span: ExportedSpan, *names: str) -> int | None:
    return next((found for name in names if (found := count(span.attributes.get(name))) is not None), None)


def _after(start: datetime | None, seconds: float | None) -> datetime | None:
    return start + timedelta(seconds=seconds) if start and seconds is not None and 0 <= seconds < MAX_SECONDS else None


def _kept(span: ExportedSpan) -> dict[str, Any]:
    attributes = {
        name: value for name, value in without(span.attributes, _TOLD).items() if not name.startswith(_CALLER)
    }
    return without({"span": span.name, "attributes": attributes, "resource": span.resource}, frozenset())
