"""Decide whether a finding on finished sentences stops the stream of an answer."""

from collections.abc import Sequence
from typing import Literal

from schemas.base import RiskLevel
from schemas.grounding import Claim

StopOn = Literal["nothing", "contradicted_figure", "high_risk"]
"""Findings that stop the stream of an answer."""
FIGURES = frozenset(("number", "date"))
"""Mismatches of figures."""


def stop_reason(claims: Sequence[Claim], risk: RiskLevel | None, stop_on: StopOn) -> StopOn | None:
    """Return the finding that stops the stream, or ``None`` if the stream goes on.

    Args:
        claims: claims of the new sentences.
        risk: risk of the answer so far.
        stop_on: ``contradicted_figure`` stops at a claim with a figure that contradicts the sources; ``high_risk`` also
            at a high risk of the answer so far; ``nothing`` never stops.
    """
    if stop_on == "nothing":
        return None
    if any(claim.verdict == "contradicted" and FIGURES.intersection(claim.mismatches) for claim in claims):
        return "contradicted_figure"
    return "high_risk" if stop_on == "high_risk" and risk == "high" else None
