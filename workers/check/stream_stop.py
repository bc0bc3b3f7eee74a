"""Decide whether a finding on finished sentences stops the stream of an answer."""

from workers.check.check_models import CheckedPart
from workers.settings.console import StopOn

FIGURES = frozenset(("number", "date"))
"""Mismatches of figures."""


def stop_reason(part: CheckedPart, stop_on: StopOn) -> StopOn | None:
    """Return the finding of a part that stops the stream, or ``None`` if the stream goes on.

    Args:
        part: findings on finished sentences.
        stop_on: ``contradicted_figure`` stops at a claim with a figure that contradicts the sources; ``high_risk`` also
            at a high risk of the answer so far; ``nothing`` never stops.
    """
    if stop_on == "nothing":
        return None
    if any(claim.verdict == "contradicted" and FIGURES.intersection(claim.mismatches) for claim in part.claims):
        return "contradicted_figure"
    return "high_risk" if stop_on == "high_risk" and part.hallucination_risk == "high" else None
