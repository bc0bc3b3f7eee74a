"""Compare the side of a limit that a claim demands with the one on which the source forbids something."""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.facts.calculation.arithmetic import same_dimension, same_quantity
from workers.evaluation.facts.numbers.bounds import forbidden_side
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.text_details import read_details

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""

_DEMANDS = re.compile(
    r"\b(?:must|ha(?:s|ve) to|needs? to|should|make sure|ensure|check|verify|keep|wait (?:until|till)|only (?:when|if|while|where))\b",
    re.IGNORECASE,
)


def is_side_allowed(claim: str, _: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim demands what is above a limit and a sentence forbids something there, or below.

    "The lag must exceed 16 MB" is wrong over "Never switch while the lag exceeds 16 MB", and so is "must not exceed 32 MB".

    Args:
        claim: the claim, or the short answer.
        sentences: the evidence, those of one source in order.
    """
    if not (demanded := _demanded(claim)):
        return None
    forbidden = [each for sentence in sentences for each in _forbidden(sentence[:MAX_TEXT])]
    stated = [figure for sentence in sentences for figure in read_details(sentence[:MAX_TEXT]).quantities]
    for figure in demanded:
        of_kind = [each for each in forbidden if same_dimension(figure.dimension, each[0].dimension)]
        if any(side == figure.bound and same_quantity(figure, limit) for limit, side in of_kind):
            return False
        is_other = len(of_kind) == 1 and of_kind[0][1] == -figure.bound
        if is_other and not any(same_quantity(figure, each) for each in stated):
            return False
    return None


def keeps_allowed_side(claim: str, sentence: str) -> bool:
    """Return true if a claim demands the side of a limit on which a sentence forbids nothing: "must not exceed 16 MB"."""
    demanded = _demanded(claim)
    return bool(demanded) and any(
        side == -figure.bound and same_dimension(figure.dimension, limit.dimension) and same_quantity(figure, limit)
        for limit, side in _forbidden(sentence[:MAX_TEXT])
        for figure in demanded
    )


def _demanded(claim: str) -> list[Quantity]:
    """Return the figures of a claim with a bound behind a word of demand."""
    demand = _DEMANDS.search(claim[:MAX_TEXT])
    if demand is None:
        return []
    return [figure for figure in read_details(claim[demand.start() : MAX_TEXT]).quantities if figure.bound]


def _forbidden(sentence: str) -> Iterator[tuple[Quantity, int]]:
    """Yield the limits of a sentence with the side on which it forbids something."""
    for figure in read_details(sentence).quantities:
        place = sentence.find(figure.written) if figure.written else -1
        if place >= 0 and (side := forbidden_side(sentence, place)):
            yield figure, side
