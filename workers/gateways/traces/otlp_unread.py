"""Count model spans that produced no answer, by reason.

The response to the exporter names these reasons in ``partialSuccess``, and a metric counts them. Spans of other libraries (HTTP,
databases) do not count.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from workers.gateways.reading.lenient_reading import unfolded
from workers.gateways.traces.otlp_roots import FoundAnswer, ancestors
from workers.gateways.traces.otlp_spans import CHECKS, FRAME_OPERATIONS, FRAMES, INFERENCE, ExportedSpan
from workers.gateways.traces.otlp_values import answer_in

NO_CALL = "no_call"
NO_CONTENT = "no_content"
UNKNOWN_OPERATION = "unknown_operation"
REMEDIES: Mapping[str, str] = {
    NO_CALL: (
        "chains, agents or workflows without a call of a model in the same trace and export; send each trace as a whole "
        "(TraceSpanProcessor, groupbytrace) and instrument the client of the model"
    ),
    NO_CONTENT: (
        "calls without content; set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY "
        "(the value true captures none with the latest conventions), or the like of your instrumentation"
    ),
    UNKNOWN_OPERATION: "spans with an unknown gen_ai.operation.name or openinference.span.kind; they were not evaluated",
}
"""Reasons with what to do, for people."""
_OPERATIONS = (
    INFERENCE
    | FRAME_OPERATIONS
    | {"retrieval", "vector_db_retrieve", "retrieve", "rerank", "embeddings", "execute_tool", "create_agent",
       "plan", "search_memory", "update_memory", "create_memory", "upsert_memory", "delete_memory"}
)  # fmt: skip
_KINDS = (
    FRAMES | CHECKS | {"LLM", "TOOL", "RETRIEVER", "RERANKER", "EMBEDDING", "PROMPT", "UNKNOWN", "EVENT", "DECISION"}
)
_TRACELOOP_KINDS = frozenset({"workflow", "agent", "task", "tool"})
_GENERATIVE = (
    "gen_ai.", "llm.", "openinference.", "langfuse.observation.", "ai.operationId", "mlflow.span", "traceloop.span.kind"
)  # fmt: skip
"""Beginnings of attributes. OpenLLMetry sets other ``traceloop`` attributes on every span of a workflow."""


def unread_spans(spans: Iterable[ExportedSpan], answers: Sequence[FoundAnswer]) -> dict[str, int]:
    """Return the number of spans by reason.

    Args:
        spans: spans and events of the export.
        answers: the answers that were found.
    """
    spans = list(spans)
    by_name = {(span.trace_id, span.span_id): span for span in spans if span.trace_id and span.span_id}
    found: Counter[str] = Counter()
    for span in spans:
        operation, kind = span.text("gen_ai.operation.name"), (span.text("openinference.span.kind") or "").upper()
        known = operation in _OPERATIONS if operation else kind in _KINDS
        known = known or span.text("traceloop.span.kind") in _TRACELOOP_KINDS
        if not known and not span.is_inference and not span.is_frame and not span.documents and _is_generative(span):
            if any(above.is_inference for above in ancestors(span, by_name)):
                continue  # a part of a call that is read
            found[UNKNOWN_OPERATION] += 1
    found[NO_CALL] = _answers_without_call(spans)
    found[NO_CONTENT] = sum(each.said is None and not each.call.is_sent and not each.failed for each in answers)
    return {reason: number for reason, number in found.items() if number}


def _answers_without_call(spans: Sequence[ExportedSpan]) -> int:
    """Return the number of outermost frames that hold an answer or no content, in traces without a call of a model.

    A frame whose parent is in another export belongs to a trace that arrives in parts; its call may come with the rest.
    """
    known = {(span.trace_id, span.span_id): span for span in spans if span.trace_id and span.span_id}
    called = {span.trace_id for span in spans if span.is_inference}
    frames = (span for span in spans if span.is_frame and span.trace_id not in called)
    outermost = (span for span in frames if _is_outermost(span, ancestors(span, known)))
    return sum(_holds_answer(span) or (span.input, span.output) == (None, None) for span in outermost)


def _holds_answer(span: ExportedSpan) -> bool:
    # A list of texts is what a splitter or a loader returns.
    output = unfolded(span.output)
    is_texts = isinstance(output, list) and all(isinstance(each, str) for each in output)
    return not is_texts and answer_in(output) is not None


def _is_outermost(span: ExportedSpan, above: Sequence[ExportedSpan]) -> bool:
    return not (above[-1] if above else span).parent_id and not any(each.is_frame or each.is_check for each in above)


def as_message(unread: Mapping[str, int]) -> str:
    """Return the reasons as one text for people."""
    return "; ".join(f"{number} {REMEDIES[reason]}" for reason, number in sorted(unread.items()))


def _is_generative(span: ExportedSpan) -> bool:
    return bool(span.lists) or any(name.startswith(_GENERATIVE) for name in span.attributes)
