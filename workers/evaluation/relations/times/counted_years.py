"""Compare years with those that the evidence counts from others: "went public three years later" after "in 2005"."""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.facts.calculation.time_spans import YEAR, implied_years
from workers.evaluation.text.words import content_words

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""
SHARED = 0.5
"""Least share of a claim's words in the piece whose year is counted."""

_PIECE = re.compile(r"[;,]\s|\s(?:and|but|then)\s", re.IGNORECASE)


def is_counted_year_right(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return whether a claim has the year that the evidence counts for what the claim tells.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence, those of one source in order.

    Returns:
        ``None`` if the claim has not exactly one year, or the evidence counts none for it.
    """
    years = set(YEAR.findall(claim[:MAX_TEXT]))
    if len(years) != 1:
        return None
    words = content_words(YEAR.sub(" ", claim[:MAX_TEXT])) | content_words(question[:MAX_TEXT])
    found = {year for year, told in _counted(sentences) if len(words & told) >= SHARED * len(words)}
    return None if len(found) != 1 else int(years.pop()) == found.pop()


def _counted(sentences: Sequence[str]) -> Iterator[tuple[int, frozenset[str]]]:
    """Yield the years that are counted from the last year before, each with the words of its piece."""
    before = ""
    for sentence in sentences:
        start = 0
        for piece in _PIECE.split(sentence[:MAX_TEXT]):
            start = sentence.find(piece, start)
            known = f"{before} {sentence[:start]}"
            # What stands before the piece brings its own counted years, too.
            for date in implied_years(f"{known} {piece}")[len(implied_years(known)) :]:
                if date.year is not None:
                    yield date.year, content_words(piece)
        before = sentence[:MAX_TEXT] if sentence else ""
