"""Rows of one table: the figure of one row does not support a claim about another."""

import re
from collections.abc import Sequence

from workers.steps.words import content_words

_FIELD = re.compile(r"([^\W\d_][\w -]{0,60}): ([^;]{1,300})(?:; |$)")
_FIGURE = re.compile(r"[^\w]{0,3}\d[\d.,:'’ -]{0,20}\W{0,2}(?:[^\W\d_]{1,12}[.]?)?$")


def read_fields(text: str) -> list[tuple[str, str]] | None:
    """Keys and values of a record as ``sources`` renders it; ``None`` for any other text."""
    fields, position = [], 0
    while position < len(text):
        match = _FIELD.match(text, position)
        if not match:
            return None
        fields.append((match[1], match[2]))
        position = match.end()
    return fields or None


def own_row(claim: str, evidence: str, others: Sequence[str]) -> tuple[str, list[str]]:
    """The row that a claim is about, and the further evidence without the rows that it is not about.

    Rows are about what their values say in words; the more of them a claim has, the more it is
    about the row. Where two rows are as near, as for a sum over both, both stay.
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


def _keys(text: str) -> tuple[str, ...]:
    return tuple(key for key, _ in read_fields(text) or ())


def _said(row: str) -> frozenset[str]:
    values = (value for _, value in read_fields(row) or () if not _FIGURE.match(value))
    return content_words(" ".join(values))
