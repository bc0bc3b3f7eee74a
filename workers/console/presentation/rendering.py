"""Render untrusted texts for pages: split into typed pieces, never as their own HTML.

Offsets are code points of the raw text. A text is split before hidden characters are made
visible, so that the replacement shifts no offset.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Generic, TypeVar
from urllib.parse import quote

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

from workers.console.presentation.views import CitationView, ClaimView
from workers.decision.reader_text.reference_list import HEADING
from workers.evaluation.text.structure.markers import find_markers
from workers.evaluation.text.visible_text import HOSTILE, MAX_SHOWN, visible

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of an answer.

    Attributes:
        text: text with hidden characters made visible.
        citation: citation of this marker; ``None`` for plain text.
        inference: ``True`` if the piece is a marker of the model's own inference.
    """

    text: str
    citation: CitationView | None = None
    inference: bool = False


@dataclass(frozen=True, slots=True)
class Run(Generic[T]):
    """Consecutive pieces with the same owner.

    Attributes:
        owner: the claim or other owner; ``None`` for text between owners.
        pieces: pieces in text order.
    """

    owner: T | None
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Span(Generic[T]):
    """A value on a part of a text, from ``start`` up to but excluding ``end``."""

    start: int
    end: int
    value: T


def answer_runs(text: str, claims: Sequence[ClaimView], citations: Sequence[CitationView]) -> list[Run[ClaimView]]:
    """Split an answer by its claims and the markers of its citations.

    Args:
        text: the raw answer; shown up to ``MAX_SHOWN`` code points.
        claims: claims with their offsets.
        citations: citations with the offsets of their markers.
    """
    text = text[:MAX_SHOWN]
    owners = [Span(claim.start, claim.end, claim) for claim in claims]
    return _runs(text, owners, _markers(text, citations))


def marker_spans(text: str, citations: Sequence[CitationView]) -> list[Span[CitationView | None]]:
    """Return the markers of citations and of the model's own inference (``None``) in order, without overlap."""
    markers = [span for span in _markers(text, citations) if 0 <= span.start < span.end <= len(text)]
    bounds = sorted({bound for span in markers for bound in (span.start, span.end)})
    covering = dict(_covering(bounds, markers))
    return [Span(start, end, covering[start].value) for start, end in pairwise(bounds) if start in covering]


def _markers(text: str, citations: Sequence[CitationView]) -> list[Span[CitationView | None]]:
    markers: list[Span[CitationView | None]] = [
        Span(start, end, citation) for citation in citations if citation.valid for start, end in citation.spans
    ]
    return markers + [Span(m.start, m.end, None) for m in find_markers(text, len(citations)) if m.form == "inference"]


def passage_runs(content: str, passages: Iterable[Span[T]]) -> list[Run[tuple[T, ...]]]:
    """Split a source by the passages that are used as evidence; a run names every passage that covers it."""
    content = content[:MAX_SHOWN]
    spans = [span for span in passages if 0 <= span.start < span.end]
    bounds = sorted(
        {0, len(content), *(min(bound, len(content)) for span in spans for bound in (span.start, span.end))}
    )
    runs = []
    for start, end in pairwise(bounds):
        covering = tuple(span.value for span in spans if span.start <= start < span.end)
        runs.append(Run(covering or None, (Piece(visible(content[start:end])),)))
    return runs


def passages(claims: list[ClaimView]) -> list[Span[ClaimView]]:
    """Return the evidence spans of claims in their source."""
    return [
        Span(claim.evidence_start, claim.evidence_end, claim)
        for claim in claims
        if claim.evidence_start is not None and claim.evidence_end is not None
    ]


def _runs(text: str, owners: Sequence[Span[T]], markers: Sequence[Span[CitationView | None]]) -> list[Run[T]]:
    owners = [span for span in owners if 0 <= span.start < span.end]
    ends = [(span.start, span.end) for span in owners] + [(span.start, span.end) for span in markers]
    bounds = sorted({0, len(text), *(min(bound, len(text)) for pair in ends for bound in pair)})
    owner_at = dict(_covering(bounds, owners))
    marker_at = dict(_covering(bounds, markers))
    parts = [(owner_at.get(start), marker_at.get(start), text[start:end]) for start, end in pairwise(bounds)]
    runs = []
    for _, group in groupby(parts, key=lambda part: id(part[0])):
        members = list(group)
        owner = members[0][0]
        runs.append(Run(owner.value if owner else None, tuple(_piece(marker, piece) for _, marker, piece in members)))
    return runs


def _piece(marker: Span[CitationView | None] | None, text: str) -> Piece:
    return Piece(visible(text), marker.value if marker else None, inference=marker is not None and marker.value is None)


def _covering(bounds: Sequence[int], spans: Sequence[Span[T]]) -> Iterator[tuple[int, Span[T]]]:
    """Yield for each interval the covering span that starts last: the inner one of two overlapping spans."""
    ordered = sorted(spans, key=lambda span: span.start)
    open_spans: list[Span[T]] = []
    position = 0
    for bound in bounds:
        while position < len(ordered) and ordered[position].start <= bound:
            open_spans.append(ordered[position])
            position += 1
        open_spans = [span for span in open_spans if span.end > bound]
        if open_spans:
            yield bound, open_spans[-1]


MARKDOWN = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table").disable("image")
_TAGS = {
    "a", "blockquote", "br", "code", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "strong",
    "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip


SCROLLED_TABLE = '<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>'
"""Beginning of a table that scrolls in its frame, also by keys."""
SCROLLED_CODE = '<pre role="region" aria-label="Code" tabindex="0">'
"""Beginning of a block of code that scrolls in its frame, also by keys."""


def markdown(text: str) -> Markup:
    """Render Markdown as safe HTML: no raw HTML, no images, only http and https links."""
    # nh3 has removed all other tags and attributes, and the remaining text is escaped.
    return Markup(rendered_markdown(visible(_with_quotations(text))))  # noqa: S704


def _with_quotations(text: str) -> str:
    """Set the excerpts of a list of references apart: behind four spaces Markdown takes their ">" for a sign of the text."""
    before, heading, references = text.rpartition(HEADING)
    return before + heading + references.replace("\n    > ", "\n> ") if heading else text


def rendered_markdown(text: str) -> str:
    """Render Markdown whose hidden characters are visible already, with the tags of ``markdown`` only."""
    html = nh3.clean(
        MARKDOWN.render(text), tags=_TAGS, attributes={"a": {"href"}}, url_schemes={"http", "https"},
        url_relative="deny", link_rel="noopener noreferrer nofollow",
    )  # fmt: skip
    return html.replace("<table>", SCROLLED_TABLE).replace("</table>", "</table></div>").replace("<pre>", SCROLLED_CODE)


def web_address(path: str) -> str | None:
    """Return the path if it is a safe link: http or https, without hidden characters; else ``None``."""
    plain = path.isprintable() and not any(unicodedata.category(c) in HOSTILE or c.isspace() for c in path)
    return path if plain and path.lower().startswith(("http://", "https://")) else None


def citation_kind(citation: CitationView) -> str:
    """Return the colour class of a citation: data, memory or calculation."""
    return {"memory": "memory", "calculation": "calculation"}.get(citation.source_type, "data")


def citation_link(citation: CitationView, text: str, tip: str) -> Markup:
    """Return a marker as a link to its source, with a tooltip.

    Args:
        citation: the citation.
        text: the marker as the answer has it.
        tip: identifier of the tooltip in the page.
    """
    excerpt = f": “{visible(citation.excerpt)}”" if citation.excerpt else ""
    return Markup(
        '<span class="cited"><a class="citation {kind}" href="/citations/{address}" data-citation="{name}" '
        'aria-describedby="{tip}">{text}</a>'
        '<span class="tip" role="tooltip" id="{tip}">{title}{excerpt}</span></span>'
    ).format(
        kind=citation_kind(citation), address=quote(citation.citation_id, safe=""), name=citation.citation_id, tip=tip,
        text=text, title=visible(citation.display_text), excerpt=excerpt,
    )  # fmt: skip
