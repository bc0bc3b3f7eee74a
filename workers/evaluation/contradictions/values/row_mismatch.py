"""Detect claims about one row of a table that use the figure of another row."""

import re
from collections.abc import Sequence

from workers.evaluation.text.words import content_words

_FIELD = re.compile(r"([^\W\d_][\w -]{0,60}): ([^;]{1,300})(?:; |$)")
_FIGURE = re.compile(r"[^\w]{0,3}\d[\d.,:'’ -]{0,20}\W{0,2}(?:[^\W\d_]{1,12}[.]?)?$")


def read_fields(text: str) -> list[tuple[str, str]] | None:
    """Split a record that ``evidence_units`` rendered into keys and values; return ``None`` for any other text."""
    fields, position = [], 0
    while position < len(text):
        match = _FIELD.match(text, position)
        if not match:
            return None
        fields.append((match[1], match[2]))
        position = match.end()
    return fields or None


def own_row(claim: str, evidence: str, others: Sequence[str]) -> tuple[str, list[str]]:
    """Return the row that a claim is about, and the further evidence without the rows of other subjects.

    The subject of a row is given by the words of its values: the row with the most words in common with the
    claim is chosen. If two rows have the same number, as for a sum over both, both are kept.
    """
    keys = _keys(evidence)
    if not keys:
        return evidence, list(others)
    words = content_words(claim)
    rows = [evidence, *(text for text in others if _keys(text) == keys)]
    scores = {row: len(words & _said(row)) for row in rows}
    best = max(scores.values())
    anchor = evidence if scores[evidence] == best else next(row for row in rows if scores[row] == best)
    kept = [text for text in (evidence, *others) if text != anchor and scores.get(text, best) == best]
    return anchor, kept


def is_cell_named(claim: str, evidence: Sequence[str]) -> bool:
    """Return true if a claim is cells of a row and the evidence has the title of a figure's column in its own words.

    The figure is then one that the evidence states, and none that a calculation gives.
    """
    fields = read_fields(claim) or []
    titles = [content_words(title) for title, value in fields[1:] if _FIGURE.match(value)]
    known = frozenset().union(*map(content_words, evidence)) if titles else frozenset()
    return any(title and title <= known for title in titles)


def _keys(text: str) -> tuple[str, ...]:
    return tuple(key for key, _ in read_fields(text) or ())


def _said(row: str) -> frozenset[str]:
    values = (value for _, value in read_fields(row) or () if not _FIGURE.match(value))
    return content_words(" ".join(values))
