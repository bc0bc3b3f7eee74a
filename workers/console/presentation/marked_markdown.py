"""Render Markdown with the claims of an answer marked in place.

The offsets of claims refer to the raw text, and rendering moves them. So each bound of a claim is written into the
text as a character of its own before it is rendered, and becomes a tag afterwards. The characters come from a private
plane of Unicode; those in the text itself are made visible before, so that none can be mistaken for a bound.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from markupsafe import Markup, escape

from workers.console.presentation.rendering import Run, Span, answer_runs, rendered_markdown
from workers.console.presentation.verdicts import shade_of
from workers.console.presentation.views import ClaimView
from workers.evaluation.text.visible_text import MAX_SHOWN, visible

FIRST = 0xF0000
MOST = 0xFFFD
"""First character that stands for a bound, and the number of characters in its plane."""

_BOUND = re.compile(f"[{chr(FIRST)}-{chr(FIRST + MOST)}]")
_PARTS = re.compile(f"(<[^>]*>|[{chr(FIRST)}-{chr(FIRST + MOST)}])")
_PREFIX = re.compile(r"[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)]|#{1,6})[ \t]+)*(?:```.*\n|~~~.*\n)?")
_WORD = re.compile(r"[^\W_]")
_SYNTAX = frozenset("\\`*_~|<>")
"""Characters of Markdown that no bound may be written behind: they belong to what follows."""


def marked_markdown(text: str, claims: Sequence[ClaimView], signs: dict[str, tuple[str, str]]) -> Markup | None:
    """Render an answer as Markdown with its claims marked.

    Args:
        text: the raw answer; shown up to ``MAX_SHOWN`` code points.
        claims: claims with their offsets.
        signs: sign and label of each verdict by its classes.

    Returns:
        Safe HTML; ``None`` if a claim has no place in the rendered text, so that the raw text must be shown.
    """
    text = text[:MAX_SHOWN]
    places = [place for place in _places(text, answer_runs(text, claims, [])) if place is not None]
    if 2 * len(places) > MOST:
        return None
    html = rendered_markdown(_with_bounds(text, places))
    parts = _PARTS.split(html)
    if sorted(part for part in parts if _BOUND.fullmatch(part)) != [chr(FIRST + n) for n in range(2 * len(places))]:
        return None
    # nh3 has made the tags safe; the texts between them are escaped.
    return Markup("".join(_marked(parts, [place.value for place in places], signs)))  # noqa: S704


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


def _with_bounds(text: str, places: Sequence[Span[ClaimView]]) -> str:
    pieces, position = [], 0
    for number, place in enumerate(places):
        for at, bound in ((place.start, 2 * number), (place.end, 2 * number + 1)):
            pieces += [visible(text[position:at]), chr(FIRST + bound)]
            position = at
    return "".join([*pieces, visible(text[position:])])


def _marked(parts: Sequence[str], owners: Sequence[ClaimView], signs: dict[str, tuple[str, str]]) -> Iterator[str]:
    """Yield the parts with a mark around each text of a claim; a mark never spans a tag."""
    owner: ClaimView | None = None
    for part in parts:
        if _BOUND.fullmatch(part):
            number, ends = divmod(ord(part) - FIRST, 2)
            if ends:
                yield _sign(owners[number], signs)
            owner = None if ends else owners[number]
        elif owner is None or part.startswith("<") or not part.strip():
            yield part
        else:
            yield f"{_mark(owner)}{part}</mark>"


def _mark(owner: ClaimView) -> str:
    return f'<mark class="claim {escape(shade_of(owner.verdict, owner.score))}" data-claim="{escape(owner.claim_id)}" tabindex="-1">'


def _sign(owner: ClaimView, signs: dict[str, tuple[str, str]]) -> str:
    sign, label = signs[shade_of(owner.verdict, owner.score)]
    return f'<span class="sign" aria-hidden="true">{sign}</span><span class="sr"> ({label}) </span>'
