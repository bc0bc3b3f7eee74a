"""Texts of others as pages show them: cut into pieces with what each piece is, and never as HTML of theirs.

Offsets are code points of the raw text, as everywhere. A text is cut first and made visible
after, so that what is replaced moves no offset.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Generic, TypeVar

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

from workers.console.views import CitationView, ClaimView
from workers.steps.markers import find_markers

MAX_SHOWN = 200_000
"""Most code points of one text in a page."""

HOSTILE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Unicode categories that are shown by their number: controls, direction marks, line separators."""
KEPT = "\n\t\u200c\u200d\u00ad"
"""Line ends, and the format characters that Persian, Hindi, emoji and hyphenation are written with."""

T = TypeVar("T")


def visible(text: str) -> str:
    """A text without power over how its surroundings are shown: control characters by their number."""
    text = text[:MAX_SHOWN]
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character
        if character in KEPT or unicodedata.category(character) not in HOSTILE
        else f"⟨U+{ord(character):04X}⟩"
        for character in text.replace("\r\n", "\n")
    )


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of an answer.

    Attributes:
        text: made visible.
        citation: the citation whose marker it is.
        inference: whether it owns to an inference of the model.
    """

    text: str
    citation: CitationView | None = None
    inference: bool = False


@dataclass(frozen=True, slots=True)
class Run(Generic[T]):
    """Pieces that belong to one thing, or to none.

    Attributes:
        owner: the claim, or what else it is about; ``None`` between them.
        pieces: in order.
    """

    owner: T | None
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Span(Generic[T]):
    """A part of a text: from ``start`` to before ``end``."""

    start: int
    end: int
    value: T


def answer_runs(text: str, claims: Sequence[ClaimView], citations: Sequence[CitationView]) -> list[Run[ClaimView]]:
    """An answer by its claims, with the markers of its citations.

    Args:
        text: the raw answer.
        claims: with their offsets.
        citations: with the offsets of their markers.
    """
    text = text[:MAX_SHOWN]
    owners = [Span(claim.start, claim.end, claim) for claim in claims]
    markers: list[Span[CitationView | None]] = [
        Span(start, end, citation) for citation in citations if citation.valid for start, end in citation.spans
    ]
    markers += [Span(m.start, m.end, None) for m in find_markers(text, len(citations)) if m.form == "inference"]
    return _runs(text, owners, markers)


def passage_runs(content: str, passages: Iterable[Span[T]]) -> list[Run[T]]:
    """A source by the passages that something rests on."""
    return _runs(content[:MAX_SHOWN], list(passages), [])


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
    """For each interval the span over it that begins last: of two that overlap, the inner one."""
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


_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
_TAGS = {
    "a", "blockquote", "br", "code", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "strong",
    "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip


def markdown(text: str) -> Markup:
    """Markdown as HTML that can do nothing: no HTML of the text's own, no images, links by http(s) alone."""
    html = _MARKDOWN.render(visible(text))
    clean = nh3.clean(
        html, tags=_TAGS, attributes={"a": {"href"}}, url_schemes={"http", "https"}, url_relative="deny",
        link_rel="noopener noreferrer nofollow",
    )  # fmt: skip
    # nh3 has left nothing but these tags; everything else in it is escaped.
    return Markup(clean)  # noqa: S704


def web_address(path: str) -> str | None:
    """A path as a link, if it is one that a browser may follow: http or https, and nothing hidden in it."""
    plain = path.isprintable() and not any(unicodedata.category(c) in HOSTILE or c.isspace() for c in path)
    return path if plain and path.lower().startswith(("http://", "https://")) else None


def citation_kind(citation: CitationView) -> str:
    """How a citation is coloured (seed 004): data, memory or calculation."""
    return {"memory": "memory", "calculation": "calculation"}.get(citation.source_type, "data")
