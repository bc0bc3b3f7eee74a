"""Make the steps of a run from the spans of its trace: calls of models, tools and retrievers before the answer."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from workers.gateways.model_names import model_name
from workers.gateways.traces.otlp_roots import FoundAnswer
from workers.gateways.traces.otlp_spans import ExportedSpan

REQUESTED = ("gen_ai.request.model", "llm.request.model_name")
ANSWERED = ("gen_ai.response.model", "llm.response.model_name", "llm.model_name")


def model_of(span: ExportedSpan) -> str | None:
    """Return the name of the model that a span names."""
    return model_name(span.text(*REQUESTED), span.text(*ANSWERED))


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
            "model": model_of(call.span),
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
