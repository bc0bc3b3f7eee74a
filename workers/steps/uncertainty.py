"""Uncertainty markers of an answer: "probably", "I'm not sure" (seed 000, strategy 3)."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from schemas.reports import Span
from workers.steps.segmentation import Sentence, code_spans
from workers.steps.wording import UNCERTAINTY

_QUOTED = re.compile(r"\"[^\"]{1,400}+\"|“[^“”]{1,400}+”|„[^„“”]{1,400}+[“”]|«[^«»]{1,400}+»")


def uncertainty_spans(text: str, sentences: Sequence[Sentence]) -> Iterator[Span]:
    """Markers at word boundaries that are the answer's own words: not quoted and not code.

    Each occurrence counts; a heading or title row states nothing and is left out.
    """
    for sentence in sentences:
        if sentence.block in ("code", "quote", "heading") or sentence.is_header:
            continue
        foreign = code_spans(text, sentence.start, sentence.end)
        foreign += [(match.start(), match.end()) for match in _QUOTED.finditer(text, sentence.start, sentence.end)]
        ends = _furthest_ends(foreign)
        starts = [start for start, _ in ends]
        for match in UNCERTAINTY.finditer(text, sentence.start, sentence.end):
            index = bisect_right(starts, match.start()) - 1
            if index < 0 or ends[index][1] <= match.start():
                yield Span(start=match.start(), end=match.end())


def _furthest_ends(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Each start, in order, with the furthest end of a range that begins there or before."""
    ends: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        ends.append((start, max(end, ends[-1][1] if ends else end)))
    return ends
