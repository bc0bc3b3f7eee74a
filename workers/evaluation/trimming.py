"""Omit parts of an event until it fits a record, and list the omitted parts.

Parts that can be computed or looked up again are omitted first: formatted text, methods, claims from the end, excerpts,
positions of markers. Scores, totals and the decision are never omitted.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from schemas.base import Part
from schemas.citations import CitationReport
from schemas.enriched import EnrichedAnswer
from schemas.grounding import GroundingReport
from schemas.quality import QualityReport
from schemas.reports import Report

P = TypeVar("P", bound=Part)
E = TypeVar("E", bound=Report | EnrichedAnswer)
R = TypeVar("R", bound=Report)

Cut = tuple[str, Callable[[E], E | None]]
"""A cut: return the smaller event, or ``None`` if nothing is left to omit."""


def fit_report(report: R, max_bytes: int) -> tuple[R, bytes]:
    """Omit parts of a report until it fits; ``trimmed`` lists them. Its bytes lack fields with their default value.

    Returns:
        The report and its bytes.
    """
    cuts = [cut for kind, cuts in _REPORT_CUTS if isinstance(report, kind) for cut in cuts]
    return _fit(report, max_bytes, cuts, all_fields=False)


def fit_record(enriched: EnrichedAnswer, max_bytes: int, *, all_fields: bool = True) -> tuple[EnrichedAnswer, bytes]:
    """Omit parts of an enriched answer until it fits; ``trimmed`` lists them.

    Any answer within the limit on input records (a third of ``max_bytes``) fits, at worst without free fields and
    with fewer contexts. Free fields are omitted last, unless they have grown: 1e15 is written with 18 digits.

    Args:
        enriched: the enriched answer.
        max_bytes: maximum size of its bytes.
        all_fields: False writes neither fields with their default value nor copies.

    Returns:
        The enriched answer and its bytes.
    """
    value = enriched.to_bytes(all_fields=all_fields)
    if len(value) <= max_bytes:
        return enriched, value
    first = (_ANSWER_FREE_FIELDS,) if len(enriched.answer.to_bytes()) > max_bytes // 2 else ()
    return _fit(enriched, max_bytes, (*first, *_ENRICHED_CUTS), all_fields=all_fields)


def _fit(event: E, max_bytes: int, cuts: Iterable[Cut[Any]], *, all_fields: bool) -> tuple[E, bytes]:
    value = event.to_bytes(all_fields=all_fields)
    for name, cut in cuts:
        while len(value) > max_bytes and (smaller := cut(event)) is not None:
            trimmed = event.trimmed if name in event.trimmed else [*event.trimmed, name]
            event = smaller.model_copy(update={"trimmed": trimmed})
            value = event.to_bytes(all_fields=all_fields)
    return event, value


def _halved(name: str) -> Callable[[Any], Any]:
    """Drop the second half of a list; the last item as well in the end."""

    def cut(part: P) -> P | None:
        items: Sequence[Any] = getattr(part, name) or ()
        return part.model_copy(update={name: list(items[: len(items) // 2])}) if items else None

    return cut


def _in_part(name: str, cut: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Apply a cut to a part of an event."""

    def cut_part(event: P) -> P | None:
        part = getattr(event, name)
        smaller = None if part is None else cut(part)
        return None if smaller is None else event.model_copy(update={name: smaller})

    return cut_part


def _emptied(update: dict[str, object]) -> Callable[[Any], Any]:
    """Replace fields by their empty values."""

    def cut(part: P) -> P | None:
        return part.model_copy(update=update) if any(getattr(part, name) for name in update) else None

    return cut


def _emptied_items(name: str, update: dict[str, object]) -> Callable[[Any], Any]:
    """Replace fields of every item of a list by their empty values."""

    def cut(part: P) -> P | None:
        items = getattr(part, name)
        if not any(getattr(item, field) for item in items for field in update):
            return None
        return part.model_copy(update={name: [item.model_copy(update=update) for item in items]})

    return cut


def _without_in_evaluations(update: dict[str, object]) -> Callable[[EnrichedAnswer], EnrichedAnswer | None]:
    """Omit fields from the reports of evaluator plug-ins, which bound them by the size of a record alone."""

    def cut(enriched: EnrichedAnswer) -> EnrichedAnswer | None:
        if not any(getattr(report, name) for report in enriched.evaluations.values() for name in update):
            return None
        reports = {name: report.model_copy(update=update) for name, report in enriched.evaluations.items()}
        return enriched.model_copy(update={"evaluations": reports})

    return cut


def _without_spans(report: CitationReport) -> CitationReport | None:
    if not report.inference_spans and not any(citation.spans for citation in report.citations):
        return None
    citations = [citation.model_copy(update={"spans": []}) for citation in report.citations]
    return report.model_copy(update={"citations": citations, "inference_spans": []})


def _without_free_fields(part: P) -> P | None:
    """Omit metadata and unknown fields from a part and its parts; return ``None`` if there are none."""
    smaller = _bare(part)
    return None if smaller == part else smaller


def _bare(value: Any) -> Any:
    if isinstance(value, list):
        return [_bare(item) for item in value]
    if not isinstance(value, Part):
        return value
    parts: dict[str, Any] = {name: _bare(getattr(value, name)) for name in type(value).model_fields}
    if "metadata" in parts:
        parts["metadata"] = {}
    return type(value).model_construct(_fields_set=None, **parts)


_CITATION_CUTS: tuple[Cut[Any], ...] = (
    ("excerpts", _emptied_items("citations", {"excerpt": ""})),
    ("spans", _without_spans),
    ("invalid_references", _halved("invalid_references")),
    ("unused_sources", _halved("unused_sources")),
)
_GROUNDING_CUTS: tuple[Cut[Any], ...] = (
    ("claim_sources", _emptied_items("claims", {"sources": []})),
    ("calculations", _emptied_items("claims", {"calculations": []})),
    ("issue_claims", _emptied_items("issues", {"claim_ids": []})),
    ("conflicts", _halved("conflicts")),
    ("earlier_contradictions", _halved("earlier_contradictions")),
    ("claims", _halved("claims")),
    ("uncertainty_markers", _halved("uncertainty_markers")),
    ("suggestions", _halved("suggestions")),
)
_QUALITY_CUTS: tuple[Cut[Any], ...] = (
    ("metric_notes", _emptied({"notes": {}})),
    ("earlier_answers", _in_part("consistency", _halved("earlier"))),
    ("contradictions", _in_part("consistency", _halved("contradictions"))),
    ("signal_context", _emptied_items("signals", {"context": None})),
    ("signals", _halved("signals")),
)
_LAST_ISSUES: Cut[Any] = ("issues", _halved("issues"))
_LAST_CITATIONS: Cut[Any] = ("citations", _halved("citations"))
_FREE_FIELDS: Cut[Any] = ("free_fields", _without_free_fields)

_REPORT_CUTS: tuple[tuple[type[Report], tuple[Cut[Any], ...]], ...] = (
    (CitationReport, (*_CITATION_CUTS, _LAST_CITATIONS)),
    (GroundingReport, _GROUNDING_CUTS),
    (QualityReport, _QUALITY_CUTS),
    (Report, (_FREE_FIELDS,)),
    (GroundingReport, (_LAST_ISSUES,)),
)

_ANSWER_FREE_FIELDS: Cut[Any] = ("free_fields", _in_part("answer", _without_free_fields))

_ENRICHED_CUTS: tuple[Cut[Any], ...] = (
    ("evaluator_details", _without_in_evaluations({"details": {}})),
    ("formatted", _emptied({"formatted": None})),
    ("evaluation_details", _in_part("evaluation", _emptied({"details": {}}))),
    ("evaluator_explanations", _without_in_evaluations({"explanation": None})),
    *((name, _in_part("grounding", cut)) for name, cut in _GROUNDING_CUTS),
    *((name, _in_part("citations", cut)) for name, cut in _CITATION_CUTS),
    *((name, _in_part("quality", cut)) for name, cut in _QUALITY_CUTS),
    _ANSWER_FREE_FIELDS,
    *(("free_fields", _in_part(name, _without_free_fields)) for name in ("citations", "grounding", "quality")),
    ("evaluator_scores", _without_in_evaluations({"scores": {}})),
    ("citations", _in_part("citations", _halved("citations"))),
    ("provided_citations", _in_part("answer", _halved("citations"))),
    ("steps", _in_part("answer", _halved("steps"))),
    ("conversation", _in_part("answer", _halved("conversation"))),
    ("contexts", _in_part("answer", _halved("contexts"))),
    ("issues", _in_part("grounding", _halved("issues"))),
)
