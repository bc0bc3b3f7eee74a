"""Leaving parts out until an event fits into a record, and saying which.

What can be made again or looked up goes first: formatted text, methods, claims from the end, excerpts,
places of markers. Scores, totals and the decision always stay.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from schemas.base import Part
from schemas.citations import Citation, CitationReport
from schemas.enriched import EnrichedAnswer
from schemas.grounding import GroundingReport
from schemas.quality import QualityReport
from schemas.reports import Report

P = TypeVar("P", bound=Part)
E = TypeVar("E", bound=Report | EnrichedAnswer)
R = TypeVar("R", bound=Report)

Cut = tuple[str, Callable[[E], E | None]]
"""What is left out, and how: the smaller event, or ``None`` where nothing is left to leave out."""


def fit_report(report: R, max_bytes: int) -> tuple[R, bytes]:
    """Leave parts of a report out until it fits; ``trimmed`` names them.

    Returns:
        The report and its bytes.
    """
    return _fit(report, max_bytes, [cut for kind, cuts in _REPORT_CUTS if isinstance(report, kind) for cut in cuts])


def fit_record(enriched: EnrichedAnswer, max_bytes: int) -> tuple[EnrichedAnswer, bytes]:
    """Leave parts of an enriched answer out until it fits; ``trimmed`` names them.

    Any answer within the limit on input records (a third of ``max_bytes``) fits in the end,
    whatever its reports hold: at worst without free fields and with fewer contexts. Free
    fields go last, unless they are what has grown: 1e15 is written with 18 digits.

    Returns:
        The enriched answer and its bytes.
    """
    value = enriched.to_bytes()
    if len(value) <= max_bytes:
        return enriched, value
    first = (_ANSWER_FREE_FIELDS,) if len(enriched.answer.to_bytes()) > max_bytes // 2 else ()
    return _fit(enriched, max_bytes, (*first, *_ENRICHED_CUTS))


def _fit(event: E, max_bytes: int, cuts: Iterable[Cut[Any]]) -> tuple[E, bytes]:
    value = event.to_bytes()
    for name, cut in cuts:
        while len(value) > max_bytes and (smaller := cut(event)) is not None:
            trimmed = event.trimmed if name in event.trimmed else [*event.trimmed, name]
            event = smaller.model_copy(update={"trimmed": trimmed})
            value = event.to_bytes()
    return event, value


def _halved(name: str) -> Callable[[Any], Any]:
    """Drop the second half of a list; the last item as well in the end."""

    def cut(part: P) -> P | None:
        items: Sequence[Any] = getattr(part, name) or ()
        return part.model_copy(update={name: list(items[: len(items) // 2])}) if items else None

    return cut


def _in_part(name: str, cut: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same cut in a part of an event."""

    def cut_part(event: P) -> P | None:
        part = getattr(event, name)
        smaller = None if part is None else cut(part)
        return None if smaller is None else event.model_copy(update={name: smaller})

    return cut_part


def _without_formatted(enriched: EnrichedAnswer) -> EnrichedAnswer | None:
    return None if enriched.formatted is None else enriched.model_copy(update={"formatted": None})


def _without_details(enriched: EnrichedAnswer) -> EnrichedAnswer | None:
    """Without how the characteristics came about: the reports that they are made of stay."""
    if not enriched.evaluation.details:
        return None
    return enriched.model_copy(update={"evaluation": enriched.evaluation.model_copy(update={"details": {}})})


def _without_notes(report: QualityReport) -> QualityReport | None:
    return report.model_copy(update={"notes": {}}) if report.notes else None


def _without_excerpts(report: CitationReport) -> CitationReport | None:
    def bare_citation(citation: Citation) -> Citation:
        return citation.model_copy(update={"excerpt": ""})

    if not any(citation.excerpt for citation in report.citations):
        return None
    return report.model_copy(update={"citations": [bare_citation(citation) for citation in report.citations]})


def _without_spans(report: CitationReport) -> CitationReport | None:
    if not report.inference_spans and not any(citation.spans for citation in report.citations):
        return None
    citations = [citation.model_copy(update={"spans": []}) for citation in report.citations]
    return report.model_copy(update={"citations": citations, "inference_spans": []})


def _without_sources(report: GroundingReport) -> GroundingReport | None:
    if not any(claim.sources for claim in report.claims):
        return None
    return report.model_copy(update={"claims": [claim.model_copy(update={"sources": []}) for claim in report.claims]})


def _without_calculations(report: GroundingReport) -> GroundingReport | None:
    if not any(claim.calculations for claim in report.claims):
        return None
    claims = [claim.model_copy(update={"calculations": []}) for claim in report.claims]
    return report.model_copy(update={"claims": claims})


def _without_issue_claims(report: GroundingReport) -> GroundingReport | None:
    if not any(issue.claim_ids for issue in report.issues):
        return None
    issues = [issue.model_copy(update={"claim_ids": []}) for issue in report.issues]
    return report.model_copy(update={"issues": issues})


def _without_signal_context(report: QualityReport) -> QualityReport | None:
    if not any(signal.context for signal in report.signals):
        return None
    return report.model_copy(
        update={"signals": [signal.model_copy(update={"context": None}) for signal in report.signals]}
    )


def _without_free_fields(part: P) -> P | None:
    """A part and its parts without metadata and unknown fields; ``None`` if there are none."""
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
    ("excerpts", _without_excerpts),
    ("spans", _without_spans),
    ("invalid_references", _halved("invalid_references")),
    ("unused_sources", _halved("unused_sources")),
)
_GROUNDING_CUTS: tuple[Cut[Any], ...] = (
    ("claim_sources", _without_sources),
    ("calculations", _without_calculations),
    ("issue_claims", _without_issue_claims),
    ("conflicts", _halved("conflicts")),
    ("claims", _halved("claims")),
    ("uncertainty_markers", _halved("uncertainty_markers")),
    ("suggestions", _halved("suggestions")),
)
_QUALITY_CUTS: tuple[Cut[Any], ...] = (
    ("metric_notes", _without_notes),
    ("earlier_answers", _in_part("consistency", _halved("earlier"))),
    ("contradictions", _in_part("consistency", _halved("contradictions"))),
    ("signal_context", _without_signal_context),
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
    ("formatted", _without_formatted),
    ("evaluation_details", _without_details),
    *((name, _in_part("grounding", cut)) for name, cut in _GROUNDING_CUTS),
    *((name, _in_part("citations", cut)) for name, cut in _CITATION_CUTS),
    *((name, _in_part("quality", cut)) for name, cut in _QUALITY_CUTS),
    _ANSWER_FREE_FIELDS,
    *(("free_fields", _in_part(name, _without_free_fields)) for name in ("citations", "grounding", "quality")),
    ("citations", _in_part("citations", _halved("citations"))),
    ("provided_citations", _in_part("answer", _halved("citations"))),
    ("contexts", _in_part("answer", _halved("contexts"))),
    ("issues", _in_part("grounding", _halved("issues"))),
)
