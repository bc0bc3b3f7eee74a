"""Render Markdown with the claims of an answer marked in place.

The offsets of claims refer to the raw text, and rendering moves them. So each bound of a claim is written into the
text as a character of its own before it is rendered, and becomes a tag afterwards; so is each marker of a citation. The
characters come from private planes of Unicode; those in the text itself are made visible before, so that none can be
mistaken for a bound.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from markupsafe import Markup, escape

from workers.console.presentation.rendering import (
    Run,
    Span,
    answer_runs,
    citation_link,
    marker_spans,
    rendered_markdown,
)
from workers.console.presentation.verdicts import shade_of
from workers.console.presentation.views import CitationView, ClaimView
from workers.evaluation.text.visible_text import MAX_SHOWN, visible

FIRST = 0xF0000
MOST = 0xFFFD
"""First character that stands for a bound, and the number of characters in its plane."""

FIRST_MARKER = 0x100000
"""First character that stands for a marker of a citation."""

_BOUND = re.compile(f"[{chr(FIRST)}-{chr(FIRST + MOST)}]")
_MARKER = re.compile(f"\\[([{chr(FIRST_MARKER)}-{chr(FIRST_MARKER + MOST)}])\\]")
_PARTS = re.compile(f"(<[^>]*>|{_BOUND.pattern}|\\[[{chr(FIRST_MARKER)}-{chr(FIRST_MARKER + MOST)}]\\])")
_PREFIX = re.compile(r"[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)]|#{1,6})[ \t]+)*(?:```.*\n|~~~.*\n)?")
_WORD = re.compile(r"[^\W_]")
_SYNTAX = frozenset("\\`*_~|<>")
"""Characters of Markdown that no bound may be written behind: they belong to what follows."""


def marked_markdown(
    text: str,
    claims: Sequence[ClaimView],
    signs: dict[str, tuple[str, str]],
    citations: Sequence[CitationView] = (),
) -> Markup | None:
    """Render an answer as Markdown with its claims marked, and the markers of its citations as links.

    Args:
        text: the raw answer; shown up to ``MAX_SHOWN`` code points.
        claims: claims with their offsets.
        signs: sign and label of each verdict by its classes.
        citations: citations with the offsets of their markers; without any, markers stay text.

    Returns:
        Safe HTML; ``None`` if a claim or a marker has no place in the rendered text, so that the raw text must be shown.
    """
    text = text[:MAX_SHOWN]
    markers = marker_spans(text, citations) if citations else []
    runs = answer_runs(text, claims, [])
    places = [_around(place, markers) for place in _places(text, runs) if place is not None]
    if 2 * len(places) > MOST or len(markers) > MOST:
        return None
    parts = _PARTS.split(rendered_markdown(_with_bounds(text, places, markers)))
    bounds = [chr(FIRST + number) for number in range(2 * len(places))]
    stands = [f"[{chr(FIRST_MARKER + number)}]" for number in range(len(markers))]
    if sorted(part for part in parts if _BOUND.fullmatch(part)) != bounds:
        return None
    if sorted(part for part in parts if _MARKER.fullmatch(part)) != stands:
        return None
    links = [_link(number, marker, text) for number, marker in enumerate(markers)]
    # nh3 has made the tags safe; the texts between them are escaped.
    return Markup("".join(_marked(parts, [place.value for place in places], links, signs)))  # noqa: S704


def _around(place: Span[ClaimView], markers: Sequence[Span[CitationView | None]]) -> Span[ClaimView]:
    """Return a place whose bounds are outside of all markers."""
    start, end = place.start, place.end
    for marker in markers:
        start = marker.start if marker.start < start < marker.end else start
        end = marker.end if marker.start < end < marker.end else end
    return Span(start, end, place.value)


def _link(number: int, marker: Span[CitationView | None], text: str) -> Markup:
    shown = visible(text[marker.start : marker.end])
    if marker.value is None:
        return Markup('<span class="inference">{}</span>').format(shown)
    return citation_link(marker.value, shown, f"tip-rendered-{number}")


def _places(text: str, runs: Sequence[Run[ClaimView]]) -> Iterator[Span[ClaimView] | None]:
    """Yield the words that each run of a claim covers, without the characters of Markdown around them."""
    owners = {id(run.owner): run.owner for run in runs if run.owner is not None}
    bounds = sorted(
        {0, len(text), *(min(at, len(text)) for claim in owners.values() for at in (claim.start, claim.end))}
    )
    for start, end in pairwise(bounds):
        covering = [claim for claim in owners.values() if claim.start <= start < claim.end]
        if covering:
            owner = max(covering, key=lambda claim: claim.start)
            yield _words(text, start, end, owner)


def _words(text: str, start: int, end: int, owner: ClaimView) -> Span[ClaimView] | None:
    line = text.rfind("\n", 0, start) + 1
    prefix = _PREFIX.match(text, line)
    first = _WORD.search(text, max(start, prefix.end() if prefix else start), end)
    if first is None:
        return None
    stop = end
    while not text[stop - 1].isalnum():
        stop -= 1
    last = stop
    while stop < end and not text[stop].isspace() and text[stop] not in _SYNTAX:
        stop += 1
    # A bracket in front of a parenthesis belongs to a link.
    return Span(first.start(), last if text.startswith("(", stop) else stop, owner)


def _with_bounds(text: str, places: Sequence[Span[ClaimView]], markers: Sequence[Span[CitationView | None]]) -> str:
    """Return the text with a character at each bound, and one in brackets in place of each marker.

    The brackets stay, because Markdown treats what follows punctuation otherwise than what follows a letter.
    """
    events = [(marker.start, 2, marker.end, f"[{chr(FIRST_MARKER + n)}]") for n, marker in enumerate(markers)]
    for number, place in enumerate(places):
        events += [
            (place.start, 1, place.start, chr(FIRST + 2 * number)),
            (place.end, 0, place.end, chr(FIRST + 2 * number + 1)),
        ]
    pieces, position = [], 0
    for start, _, end, stand in sorted(events):
        pieces += [visible(text[position:start]), stand]
        position = end
    return "".join([*pieces, visible(text[position:])])


def _marked(
    parts: Sequence[str], owners: Sequence[ClaimView], links: Sequence[Markup], signs: dict[str, tuple[str, str]]
) -> Iterator[str]:
    """Yield the parts with a mark around each text of a claim; a mark never spans a tag of the text."""
    owner: ClaimView | None = None
    for part in parts:
        if _BOUND.fullmatch(part):
            number, ends = divmod(ord(part) - FIRST, 2)
            if ends:
                yield _sign(owners[number], signs)
            owner = None if ends else owners[number]
            continue
        marker = _MARKER.fullmatch(part)
        shown = links[ord(marker[1]) - FIRST_MARKER] if marker else part
        if owner is None or part.startswith("<") or not part.strip():
            yield shown
        else:
            yield f"{_mark(owner)}{shown}</mark>"


def _mark(owner: ClaimView) -> str:
    return f'<mark class="claim {escape(shade_of(owner.verdict, owner.score))}" data-claim="{escape(owner.claim_id)}" tabindex="-1">'


def _sign(owner: ClaimView, signs: dict[str, tuple[str, str]]) -> str:
    sign, label = signs[shade_of(owner.verdict, owner.score)]
    return f'<span class="sign" aria-hidden="true">{sign}</span><span class="sr"> ({label}) </span>'
