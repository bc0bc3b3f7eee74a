"""Read Langfuse traces with their observations, from a download or the public API.

Source: Langfuse's public API (``TraceWithFullDetails``, ``ObservationsView``) and its page "How do I export a single
trace or session?", version 3, read November 2026. Accepted are a trace that contains its ``observations``,
``{"trace": …, "observations": …}``, and a page of observations (``{"data": […]}``), which are grouped by trace. The
observations of API v2 hold input and output as JSON text, and the cost of each.

If the trace's own output is a text, that text is the answer. Otherwise the answer is the text of the last generation
that has one. The contexts are the documents in the outputs of the retrievers.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workers.gateways.adapted import Adapted, Draft, Received, finished, named_apart
from workers.gateways.apis.chat_messages import content_text, tool_results
from workers.gateways.apis.replies import asked, check_known, reply_of
from workers.gateways.apis.reply import Reply
from workers.gateways.errors import NothingToJudge, UnadaptableRecord
from workers.gateways.reading.contexts import chunks_of
from workers.gateways.reading.lenient_reading import (
    an_object,
    count,
    first_text,
    mapping,
    number,
    objects,
    text,
    time,
    tokens_named,
    unfolded,
    without,
)
from workers.gateways.reading.model_names import model_name
from workers.gateways.reading.provider_names import provider_name
from workers.gateways.reading.tool_calls import call_of

NAME = "langfuse"
GENERATIONS = frozenset({"GENERATION"})
RETRIEVERS = frozenset({"RETRIEVER"})
TOOLS = frozenset({"TOOL"})
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
    """Return one answer for each trace of an export.

    Args:
        record: the export, decoded from JSON.
        received: metadata of the record.

    Raises:
        NothingToJudge: no trace holds an answer.
        UnadaptableRecord: the record is not a Langfuse export.
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
            "GET /api/public/traces/{traceId}, or a page of GET /api/public/v2/observations",
            "observations",
        )
    yield trace, _in_order(list(objects(found)))


def _in_order(observations: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(observations, key=lambda each: str(each.get("startTime") or ""))


def _draft(trace: Mapping[str, Any], observations: Sequence[Mapping[str, Any]]) -> Draft | None:
    generations = [each for each in observations if _kind(each) in GENERATIONS]
    retrieved = [
        chunk for each in observations if _kind(each) in RETRIEVERS for chunk in _documents(each.get("output"))
    ]
    retrieved += [
        _tool_result(each) for each in observations if _kind(each) in TOOLS and each.get("output") is not None
    ]
    # A generation without output has only begun, or its output was not sent.
    read = [
        (each, reply_of(output, _request(each), retrieved))
        for each in generations
        if (output := _output(each)) is not None or each.get("level") == "ERROR"
    ]
    spoken = [
        (each, reply) for each, reply in read if (reply.text and not reply.is_step) or each.get("level") == "ERROR"
    ]
    own = _text_of(trace.get("output"))
    if not spoken and own is None:
        for place, (_, reply) in enumerate(read):
            check_known(reply, NAME, f"generations.{place}.output")
        return None
    generation, reply = spoken[-1] if spoken else ({}, reply_of(own, {}, retrieved))
    failed = generation.get("level") == "ERROR" and own is None
    said = own if own is not None else reply.text
    # In newer Langfuse versions observations come without their trace and carry its metadata.
    metadata = {**mapping(unfolded(generation.get("metadata"))), **mapping(unfolded(trace.get("metadata")))}
    name, version = text(generation.get("promptName")), text(generation.get("promptVersion"))
    question = asked(_request(generation))
    return Draft(
        identifier=first_text(trace, "id") or first_text(generation, "id"),
        tenant=first_text(metadata, "tenant"),
        session_id=first_text(trace, "sessionId") or first_text(generation, "sessionId"),
        user_id=first_text(trace, "userId") or first_text(generation, "userId"),
        query=_text_of(trace.get("input")) or question.query,
        conversation=question.earlier,
        steps=[_step(each, other) for each, other in read if each is not generation],
        answer=None if failed else said,
        contexts=reply.contexts,
        # Offsets refer to the generation's text and are invalid for any other text.
        citations=reply.citations
        if said == reply.text
        else [{**each, "start": None, "end": None} for each in reply.citations],
        model_id=model_name(first_text(generation, "model", "providedModelName"), reply.model),
        answered_model=reply.model,
        provider=provider_name(None, first_text(generation, "model", "providedModelName"), reply.model),
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
        prompt_tokens=_tokens(generation, "input", "promptTokens", reply.prompt_tokens),
        completion_tokens=_tokens(generation, "output", "completionTokens", reply.completion_tokens),
        trace_id=first_text(trace, "id"),
        span_id=first_text(generation, "id"),
        cost_usd=number(trace.get("totalCost")) or _cost(observations),
        kept=_kept(trace, generation),
    )


def _step(generation: Mapping[str, Any], reply: Reply) -> dict[str, Any]:
    """Return another generation of a trace as fields of ``Step``."""
    return {
        "kind": "model",
        "name": first_text(generation, "name"),
        "model": model_name(first_text(generation, "model", "providedModelName"), reply.model),
        "input": asked(_request(generation)).query,
        "output": reply.text,
        "status": "error" if generation.get("level") == "ERROR" else "success",
        "span_id": first_text(generation, "id"),
        "started_at": time(generation.get("startTime")),
        "ended_at": time(generation.get("endTime")),
    }


def _tokens(generation: Mapping[str, Any], word: str, older: str, told: int | None) -> int | None:
    """Return the tokens of a direction, also those of a cache and of thinking, which are among the details only."""
    details = tokens_named(mapping(generation.get("usageDetails")), word)
    usage = mapping(generation.get("usage"))
    return details if details is not None else count(usage.get(word, usage.get(older, told)))


def _kind(observation: Mapping[str, Any]) -> str:
    return str(observation.get("type", "")).upper()


def _output(generation: Mapping[str, Any]) -> Any:
    """Return a generation's output: a response, a message, or a text."""
    output = unfolded(generation.get("output"))
    return {"message": output} if isinstance(output, dict) and "role" in output and "type" not in output else output


def _request(generation: Mapping[str, Any]) -> dict[str, Any]:
    given = unfolded(generation.get("input"))
    return given if isinstance(given, dict) and ("messages" in given or "contents" in given) else {"messages": given}


def _text_of(value: Any) -> str | None:
    """Return the text of a text or a message; other objects depend on the application and count as missing."""
    value = unfolded(value)
    if isinstance(value, dict) and not {"role", "content"} <= value.keys():
        return first_text(value, "query", "question", "answer") if len(value) == 1 else None
    return content_text(value) if isinstance(value, str | dict) else None


def _documents(output: Any) -> Iterator[dict[str, Any]]:
    output = unfolded(output)
    if isinstance(output, dict):
        output = next((output[name] for name in _DOCUMENTS if isinstance(output.get(name), list)), [])
    yield from chunks_of([output] if isinstance(output, str) else output)


def _tool_result(observation: Mapping[str, Any]) -> dict[str, Any]:
    failed = observation.get("level") == "ERROR"
    call = call_of({
        "id": observation.get("id"), "name": observation.get("name"), "arguments": observation.get("input"),
        "status": "error" if failed else None, "error": observation.get("statusMessage") if failed else None,
        "called_at": observation.get("startTime"),
    })  # fmt: skip
    found = next(tool_results({"role": "tool", "content": unfolded(observation["output"])}), {})
    return {
        "chunk_id": call.get("id"),
        "content": found.get("content", ""),
        "source_type": "tool",
        "source_name": call.get("name"),
        "tool": call,
    }


def _completed(trace: Mapping[str, Any], observations: Sequence[Mapping[str, Any]]) -> Any:
    ends = [end for each in observations if (end := time(each.get("endTime"))) is not None]
    begun, latency = time(trace.get("timestamp")), number(trace.get("latency"))
    if ends:
        return max(ends)
    return time(begun.timestamp() + latency) if begun is not None and latency is not None else None


def _cost(observations: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the total cost of a trace's observations in US dollars; ``None`` if no observation has a cost."""
    told = [(number(each.get("totalCost")), number(each.get("calculatedTotalCost"))) for each in observations]
    known = [next(cost for cost in each if cost is not None) for each in told if each != (None, None)]
    return sum(known) if known else None


def _kept(trace: Mapping[str, Any], generation: Mapping[str, Any]) -> dict[str, Any]:
    observation = without(generation, _OBSERVATION)
    return without(trace, _TRACE) | ({"observation": observation} if observation else {})
