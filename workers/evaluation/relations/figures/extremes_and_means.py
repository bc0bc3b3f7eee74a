"""Compare which value of a series a figure is: "45 m at its deepest point" over "greatest depth 120 m, mean depth 45 m"."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from workers.evaluation.facts.calculation.arithmetic import same_dimension, same_quantity
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import kept_for_sentences

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""

_Kind = Literal["mean", "highest", "lowest"]
_KINDS: tuple[tuple[_Kind, PrefilteredPattern], ...] = (
    ("mean", PrefilteredPattern(r"\b(?:mean|average[ds]?|averaging|median|typical(?:ly)?)\b", re.IGNORECASE)),
    (
        "highest",
        PrefilteredPattern(
            r"\b(?:maximum|max|greatest|highest|deepest|longest|largest|tallest|biggest|fastest|heaviest|hottest|peak(?:s|ed)?|record)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "lowest",
        PrefilteredPattern(
            r"\b(?:minimum|min|lowest|smallest|shortest|shallowest|slowest|lightest|coldest)\b", re.IGNORECASE
        ),
    ),
)
_PIECE = re.compile(r"[;,:]\s|\s(?:and|but|while|whereas|with)\s", re.IGNORECASE)


def is_extreme_right(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return false if the evidence has a claim's highest, lowest or mean value as another of the three.

    Args:
        claim: the claim, or the short answer.
        sentences: the evidence.

    Returns:
        ``None`` unless the claim has one such word and one figure, and the evidence another figure for that word.
    """
    own = list(_valued(claim[:MAX_TEXT], whole=True))
    if len(own) != 1:
        return None
    ((kind, figure),) = own
    known = [each for sentence in sentences for each in _pieces(sentence)]
    alike = [(other, value) for other, value in known if same_dimension(value.dimension, figure.dimension)]
    same = {other for other, value in alike if same_quantity(value, figure)}
    return False if same and kind not in same and any(other == kind for other, _ in alike) else None


@kept_for_sentences
def _pieces(sentence: str) -> tuple[tuple[_Kind, Quantity], ...]:
    return tuple(each for piece in _PIECE.split(sentence[:MAX_TEXT]) for each in _valued(piece))


def _valued(text: str, *, whole: bool = False) -> Iterator[tuple[_Kind, Quantity]]:
    """Yield the kind and figure of a text that has one of each; a whole claim may have neither bound nor comparison."""
    kinds = [kind for kind, pattern in _KINDS if pattern.search(text)]
    figures = read_details(text).quantities if len(kinds) == 1 else ()
    if len(figures) == 1 and not (whole and (figures[0].bound or " than " in text)):
        yield kinds[0], figures[0]
