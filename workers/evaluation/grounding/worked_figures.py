"""Give each claim the figures that the calculations of its answer bear out."""

from collections.abc import Sequence
from dataclasses import replace

from workers.evaluation.claims.claim_extraction import ExtractedClaim
from workers.evaluation.facts.calculation.written_calculations import borne_out, has_calculation
from workers.evaluation.facts.text_details import read_details

MAX_STATEMENTS = 60
"""Most claims of an answer that are read for calculations."""


def with_worked_figures(claims: Sequence[ExtractedClaim], texts: Sequence[str]) -> tuple[ExtractedClaim, ...]:
    """Return the claims with their worked figures; without a calculation the claims themselves.

    Args:
        claims: the claims in order.
        texts: the question and the evidence, whose figures are known.
    """
    if not any(has_calculation(claim.plain) for claim in claims[:MAX_STATEMENTS]):
        return tuple(claims)
    known = frozenset(number.face for text in texts for number in read_details(text).quantities)
    worked = borne_out([claim.reply or claim.plain for claim in claims[:MAX_STATEMENTS]], known)
    return (
        *(replace(claim, worked=figures) for claim, figures in zip(claims, worked, strict=False)),
        *claims[MAX_STATEMENTS:],
    )
