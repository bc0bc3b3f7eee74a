"""Count the spans of generative models of which an export made no answer, and say why.

The response to the exporter names these reasons in ``partialSuccess``, and a metric counts them. Spans of other libraries (HTTP,
databases) do not count.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from workers.gateways.traces.otlp_roots import FoundAnswer
from workers.gateways.traces.otlp_spans import CHECKS, FRAME_OPERATIONS, FRAMES, INFERENCE, ExportedSpan

NO_CONTENT = "no_content"
UNKNOWN_OPERATION = "unknown_operation"
REMEDIES: Mapping[str, str] = {
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
_GENERATIVE = ("gen_ai.", "llm.", "openinference.", "langfuse.observation.", "ai.operationId")


def unread_spans(spans: Iterable[ExportedSpan], answers: Sequence[FoundAnswer]) -> dict[str, int]:
    """Return the number of spans by reason.

    Args:
        spans: spans and events of the export.
        answers: the answers that were found.
    """
    found: Counter[str] = Counter()
    for span in spans:
        operation, kind = span.text("gen_ai.operation.name"), (span.text("openinference.span.kind") or "").upper()
        known = operation in _OPERATIONS if operation else kind in _KINDS
        if not known and not span.is_inference and not span.is_frame and not span.documents and _is_generative(span):
            found[UNKNOWN_OPERATION] += 1
    found[NO_CONTENT] = sum(each.said is None and not each.call.is_sent and not each.failed for each in answers)
    return {reason: number for reason, number in found.items() if number}


def as_message(unread: Mapping[str, int]) -> str:
    """Return the reasons as one text for people."""
    return "; ".join(f"{number} {REMEDIES[reason]}" for reason, number in sorted(unread.items()))


def _is_generative(span: ExportedSpan) -> bool:
    return bool(span.lists) or any(name.startswith(_GENERATIVE) for name in span.attributes)
