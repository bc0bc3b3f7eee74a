"""Make the steps of a run from the spans of its trace: calls of models, tools and retrievers before the answer."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from workers.gateways.reading.lenient_reading import first_text, mapping, unfolded
from workers.gateways.reading.model_names import model_name
from workers.gateways.traces.otlp_roots import FoundAnswer
from workers.gateways.traces.otlp_spans import ExportedSpan

_REQUESTED = ("gen_ai.request.model", "llm.request.model_name")
_ANSWERED = ("gen_ai.response.model", "llm.response.model_name")
_NAMED = "llm.model_name"
"""Attribute of OpenInference: the name of the response or that of the request, by instrumentation."""
_HELD = (("llm.invocation_parameters", "model"), ("metadata", "ls_model_name"))
"""Attributes with JSON, and the field in it that names the requested model."""
_BODIES = frozenset({"messages", "input", "prompt", "contents"})


def models_of(span: ExportedSpan) -> tuple[str | None, str | None]:
    """Return the requested and the answered name of the model of a span; a single name counts as requested."""
    answered, named = span.text(*_ANSWERED), span.text(_NAMED)
    asked = span.text(*_REQUESTED) or _held(span) or (None if answered else named)
    return asked, answered or named


def _held(span: ExportedSpan) -> str | None:
    body = mapping(unfolded(span.attributes.get("input.value")))
    if not _BODIES.isdisjoint(body) and (found := first_text(body, "model")) is not None:
        return found
    held = (first_text(mapping(unfolded(span.attributes.get(name))), field) for name, field in _HELD)
    return next(filter(None, held), None)


def steps_of(answer: FoundAnswer, brought: Sequence[tuple[ExportedSpan, list[dict[str, Any]]]]) -> list[dict[str, Any]]:
    """Return the other calls of a question in the order of their start, as fields of ``Step``.

    Retrievals alone are no run: without another call of a model or a tool there are no steps.

    Args:
        answer: the answer with its calls.
        brought: spans that brought contexts before the answer's call, with these contexts.
    """
    found = [*_calls(answer), *_sources(answer, brought)]
    if all(step["kind"] == "retrieval" for _, step in found):
        return []
    return [step for _, step in sorted(found, key=lambda each: each[0])]


def _calls(answer: FoundAnswer) -> Iterator[tuple[float, dict[str, Any]]]:
    for call in answer.steps:
        step = {
            "kind": "model",
            "model": model_name(*models_of(call.span)),
            "input": call.asked.query or "",
            "output": call.said or "",
        }
        yield _at(call.span.start), step | _common(call.span)


def _sources(
    answer: FoundAnswer, brought: Sequence[tuple[ExportedSpan, list[dict[str, Any]]]]
) -> Iterator[tuple[float, dict[str, Any]]]:
    for span, chunks in brought:
        if span is answer.call.span:
            continue
        is_tool = all(chunk.get("source_type") == "tool" for chunk in chunks)
        # The contexts hold what the call brought.
        identifiers = [identifier for chunk in chunks if (identifier := chunk.get("chunk_id"))]
        yield _at(span.start), {"kind": "tool" if is_tool else "retrieval", "chunk_ids": identifiers} | _common(span)


def _common(span: ExportedSpan) -> dict[str, Any]:
    return {
        "name": span.text("gen_ai.tool.name", "tool.name", "ai.toolCall.name") or span.name,
        "span_id": span.span_id or None,
        "status": "error" if span.failed else "success",
        "started_at": span.start,
        "ended_at": span.end,
    }


def _at(start: datetime | None) -> float:
    return start.timestamp() if start else 0.0
