"""Langfuse: a trace with its observations, as the interface downloads it and the public API returns it.

Source: Langfuse's public API (``TraceWithFullDetails``, ``ObservationsView``) and its page "How do I export a
single trace or session?", version 3, read November 2026. Both forms are read: the trace with its
``observations`` inside, and ``{"trace": …, "observations": …}``; also a page of observations (``{"data": […]}``),
whose traces are put together here; those of API v2 hold input and output as texts of JSON, and what each cost.

The answer of a trace is what its last generation with a text says; where the trace has an output of its own
that is a text, that. Its contexts are the documents that its retrievers put out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workers.gateways.adapted import Adapted, Draft, Received, finished, named_apart
from workers.gateways.contexts import chunks_of
from workers.gateways.errors import NothingToJudge, UnadaptableRecord
from workers.gateways.messages import content_text
from workers.gateways.reading import (
    an_object,
    count,
    first_text,
    mapping,
    number,
    objects,
    text,
    time,
    unfolded,
    without,
)
from workers.gateways.replies import asked, reply_of

NAME = "langfuse"
GENERATIONS = frozenset({"GENERATION"})
RETRIEVERS = frozenset({"RETRIEVER"})
_DOCUMENTS = ("documents", "contexts", "results", "matches", "hits", "chunks")
_TRACE = frozenset(
    {"id", "timestamp", "input", "output", "sessionId", "userId", "observations", "latency", "totalCost", "htmlPath",
     "createdAt", "updatedAt", "projectId"}
)  # fmt: skip
_OBSERVATION = frozenset(
    {"id", "traceId", "type", "startTime", "endTime", "completionStartTime", "model", "input", "output", "usage",
     "usageDetails", "promptTokens", "completionTokens", "totalTokens", "level", "statusMessage", "promptName",
     "promptVersion", "projectId", "createdAt", "updatedAt", "calculatedTotalCost", "totalCost", "latency", "timeToFirstToken",
     "inputPrice", "outputPrice", "totalPrice", "unit", "providedModelName", "userId", "sessionId"}
)  # fmt: skip


def adapt(record: Any, received: Received) -> list[Adapted]:
    """The answers of an export: one a trace.

    Raises:
        NothingToJudge: no trace holds an answer.
        UnadaptableRecord: it is no export.
    """
    traces = list(_traces(record))
    drafts = [_draft(trace, observations) for trace, observations in traces]
    known = named_apart(drafts, received)
    found = [
        finished(draft, NAME, trace, beside)
        for draft, (trace, _), beside in zip(drafts, traces, known, strict=True)
        if draft is not None
    ]
    if not found:
        raise NothingToJudge("no_answer")
    return found


def _traces(record: Any) -> Iterator[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]]:
    if isinstance(record, list):
        for each in record:
            yield from _traces(each)
        return
    export = an_object(record, "the record")
    if isinstance(export.get("data"), list):
        grouped: dict[str, list[Mapping[str, Any]]] = {}
        for observation in objects(export["data"]):
            grouped.setdefault(first_text(observation, "traceId", "trace_id") or "", []).append(observation)
        for trace_id, observations in grouped.items():
            yield {"id": trace_id}, _in_order(observations)
        return
    trace = export["trace"] if isinstance(export.get("trace"), dict) else export
    found = export.get("observations", trace.get("observations"))
    if text(trace.get("id")) is None or not isinstance(found, list):
        raise UnadaptableRecord(
            "langfuse: fields id and observations are missing; send a trace as downloaded from Langfuse or returned by "
            "GET /api/public/traces/{traceId}, or a page of GET /api/public/v2/observations"
        )
    yield trace, _in_order(list(objects(found)))


def _in_order(observations: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(observations, key=lambda each: str(each.get("startTime") or ""))


def _draft(trace: Mapping[str, Any], observations: Sequence[Mapping[str, Any]]) -> Draft | None:
    generations = [each for each in observations if _kind(each) in GENERATIONS]
    retrieved = [
        chunk for each in observations if _kind(each) in RETRIEVERS for chunk in _documents(each.get("output"))
    ]
    read = [(each, reply_of(_output(each), _request(each), retrieved)) for each in generations]
    spoken = [(each, reply) for each, reply in read if reply.text or each.get("level") == "ERROR"]
    own = _text_of(trace.get("output"))
    if not spoken and own is None:
        return None
    generation, reply = spoken[-1] if spoken else ({}, reply_of(own, {}, retrieved))
    failed = generation.get("level") == "ERROR" and own is None
    said = own if own is not None else reply.text
    usage = {**mapping(generation.get("usage")), **mapping(generation.get("usageDetails"))}
    # Newer Langfuse has no trace beside its observations, which bear its metadata themselves.
    metadata = {**mapping(unfolded(generation.get("metadata"))), **mapping(unfolded(trace.get("metadata")))}
    name, version = text(generation.get("promptName")), text(generation.get("promptVersion"))
    return Draft(
        identifier=first_text(trace, "id") or first_text(generation, "id"),
        tenant=first_text(metadata, "tenant"),
        session_id=first_text(trace, "sessionId") or first_text(generation, "sessionId"),
        user_id=first_text(trace, "userId") or first_text(generation, "userId"),
        query=_text_of(trace.get("input")) or asked(_request(generation)).query,
        answer=None if failed else said,
        contexts=reply.contexts,
        # Offsets are those of the generation's text.
        citations=reply.citations
        if said == reply.text
        else [{**each, "start": None, "end": None} for each in reply.citations],
        model_id=first_text(generation, "model", "providedModelName") or reply.model,
        prompt_version=f"{name}:{version}" if name and version else name,
        temperature=number(mapping(unfolded(generation.get("modelParameters"))).get("temperature")),
        query_type=first_text(metadata, "query_type"),
        risk_mode=first_text(metadata, "risk_mode"),
        status="error" if failed else "success",
        error=text(generation.get("statusMessage")) if failed else None,
        error_type="langfuse_error" if failed else None,
        finish_reason=reply.finish_reason,
        requested_at=time(trace.get("timestamp")) or time(generation.get("startTime")),
        completed_at=_completed(trace, observations),
        first_token_at=time(generation.get("completionStartTime")),
        prompt_tokens=count(usage.get("input", usage.get("promptTokens", reply.prompt_tokens))),
        completion_tokens=count(usage.get("output", usage.get("completionTokens", reply.completion_tokens))),
        trace_id=first_text(trace, "id"),
        span_id=first_text(generation, "id"),
        cost_usd=number(trace.get("totalCost")) or _cost(observations),
        kept=_kept(trace, generation),
    )


def _kind(observation: Mapping[str, Any]) -> str:
    return str(observation.get("type", "")).upper()


def _output(generation: Mapping[str, Any]) -> Any:
    """What a generation put out: a response, a message, or a text."""
    output = unfolded(generation.get("output"))
    return {"message": output} if isinstance(output, dict) and "role" in output and "type" not in output else output


def _request(generation: Mapping[str, Any]) -> dict[str, Any]:
    given = unfolded(generation.get("input"))
    return given if isinstance(given, dict) and ("messages" in given or "contents" in given) else {"messages": given}


def _text_of(value: Any) -> str | None:
    """A value that is a text, or a message with one; objects of applications say nothing that could be known."""
    value = unfolded(value)
    if isinstance(value, dict) and not {"role", "content"} <= value.keys():
        return first_text(value, "query", "question", "answer") if len(value) == 1 else None
    return content_text(value) if isinstance(value, str | dict) else None


def _documents(output: Any) -> Iterator[dict[str, Any]]:
    output = unfolded(output)
    if isinstance(output, dict):
        output = next((output[name] for name in _DOCUMENTS if isinstance(output.get(name), list)), [])
    yield from chunks_of(output)


def _completed(trace: Mapping[str, Any], observations: Sequence[Mapping[str, Any]]) -> Any:
    ends = [end for each in observations if (end := time(each.get("endTime"))) is not None]
    begun, latency = time(trace.get("timestamp")), number(trace.get("latency"))
    if ends:
        return max(ends)
    return time(begun.timestamp() + latency) if begun is not None and latency is not None else None


def _cost(observations: Sequence[Mapping[str, Any]]) -> float | None:
    """US dollars that all observations of a trace cost together; ``None`` where none tells it."""
    told = [(number(each.get("totalCost")), number(each.get("calculatedTotalCost"))) for each in observations]
    known = [next(cost for cost in each if cost is not None) for each in told if each != (None, None)]
    return sum(known) if known else None


def _kept(trace: Mapping[str, Any], generation: Mapping[str, Any]) -> dict[str, Any]:
    observation = without(generation, _OBSERVATION)
    return without(trace, _TRACE) | ({"observation": observation} if observation else {})
