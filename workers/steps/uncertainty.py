"""Uncertainty markers of an answer: "probably", "I'm not sure" (seed 000, strategy 3)."""

import re
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
        for match in UNCERTAINTY.finditer(text, sentence.start, sentence.end):
            if not any(start <= match.start() < end for start, end in foreign):
                yield Span(start=match.start(), end=match.end())
