"""Find the uncertainty markers of an answer: "probably", "I'm not sure"."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from schemas.reports import Span
from workers.evaluation.text.structure.segmentation import Sentence, code_spans
from workers.evaluation.text.wording import UNCERTAINTY

_QUOTED = re.compile(r"\"[^\"]{1,400}+\"|“[^“”]{1,400}+”|„[^„“”]{1,400}+[“”]|«[^«»]{1,400}+»")


def uncertainty_spans(text: str, sentences: Sequence[Sentence]) -> Iterator[Span]:
    """Yield markers at word boundaries in the answer's own words, neither quoted nor code.

    Each occurrence counts; headings and title rows are left out.
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
    """Return each start, in order, with the furthest end of a range that begins at or before it."""
    ends: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        ends.append((start, max(end, ends[-1][1] if ends else end)))
    return ends
