"""Hold short answers against limits by the figure of their question: "the tenant" for 300 euros over "up to 100 euros"."""

import re
from collections.abc import Sequence

from workers.evaluation.facts.calculation.arithmetic import same_dimension, satisfies
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.text.words import content_words

MAX_TEXT = 300
"""Longest question, answer and sentence that are read, code points."""
MAX_WORDS = 9
"""Most words of an answer that names who or what the figure falls to."""

_ASKED = re.compile(r"\b(?:who|whom|which|what)\b", re.IGNORECASE)
_PIECE = re.compile(r"[;:]\s|\s(?:while|whereas|otherwise)\s|,\s(?:but|and|or)\s", re.IGNORECASE)


def is_limit_of_answer(reply: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if the evidence limits what an answer names to figures that the question's figure is not among.

    Args:
        reply: the short answer.
        question: the question, with one figure and without a limit.
        sentences: the evidence.

    Returns:
        ``None`` if the answer has a figure, or a piece of the evidence speaks of it without such a limit.
    """
    reply, question = reply[:MAX_TEXT], question[:MAX_TEXT]
    if not _ASKED.search(question) or len(reply.split()) > MAX_WORDS or read_details(reply).quantities:
        return None
    asked = [figure for figure in read_details(question).quantities if figure.is_unit]
    words = content_words(reply) - content_words(question)
    if len(asked) != 1 or asked[0].bound or not words:
        return None
    sides = set[bool | None]()
    for piece in (piece for sentence in sentences for piece in _PIECE.split(sentence[:MAX_TEXT])):
        if not words <= content_words(piece):
            continue
        limits = [
            figure
            for figure in read_details(piece).quantities
            if figure.bound and same_dimension(figure.dimension, asked[0].dimension)
        ]
        sides.add(satisfies(asked[0], limits[0]) if len(limits) == 1 else None)
    return False if sides == {False} else None
