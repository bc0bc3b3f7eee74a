"""Tell the tenant of every span of an export.

An export holds the spans of many callers, and a caller chooses its trace and the parent of its spans. So spans of two
tenants can have one trace identifier, and each tenant's spans are read by themselves.
"""

from collections.abc import Sequence

from schemas.identifiers import DEFAULT_TENANT
from workers.gateways.traces.otlp_roots import ancestors
from workers.gateways.traces.otlp_spans import ExportedSpan


def spans_by_tenant(spans: Sequence[ExportedSpan], fixed: str | None) -> dict[str, list[ExportedSpan]]:
    """Return the spans of each tenant, in the order of the export, and set the tenant of each span.

    A span without a tenant has that of the nearest span around it that names one, else that of its trace if all
    spans of the trace that name one name the same, else ``default``.

    Args:
        spans: all spans of the export.
        fixed: tenant of all spans; ``None`` if each names its own.
    """
    known = {(span.trace_id, span.span_id): span for span in spans if span.trace_id and span.span_id}
    named: dict[str, set[str]] = {}
    for span in spans:
        if span.trace_id and span.named_tenant:
            named.setdefault(span.trace_id, set()).add(span.named_tenant)
    groups: dict[str, list[ExportedSpan]] = {}
    for span in spans:
        of_trace = named.get(span.trace_id, set())
        around = [span, *ancestors(span, known)] if len(of_trace) > 1 else [span]
        only = next(iter(of_trace)) if len(of_trace) == 1 else DEFAULT_TENANT
        span.tenant = fixed or next((each.named_tenant for each in around if each.named_tenant), only)
        groups.setdefault(span.tenant, []).append(span)
    return groups
