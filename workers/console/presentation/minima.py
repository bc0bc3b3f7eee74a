"""Find the minima that scores of an answer need, for reviewers."""

from collections.abc import Mapping

from workers.decision.minima import minima_of as decided_minima
from workers.settings import Settings

MOST_PLACES = 6
"""Maximum number of decimals of a score."""


def minima_of(settings: Settings, tenant: str, query_type: str | None) -> Mapping[str, float]:
    """Return the minimum of the gate score and of the grounding score of an answer, 0..1, by name of the score."""
    return decided_minima(settings.gate, settings.grounding, settings.decision, tenant, query_type)._asdict()


def beside(value: float, minimum: float | None) -> str:
    """Return a score with two decimals, or with more if it would look like the minimum that it does not reach."""
    if minimum is None or value >= minimum:
        return f"{value:.2f}"
    texts = (f"{value:.{places}f}" for places in range(2, MOST_PLACES))
    return next((text for text in texts if float(text) < minimum), f"{value:.{MOST_PLACES}f}")


def whole(minimum: float) -> str:
    """Return a minimum with all its decimals, at least two."""
    return max(f"{minimum:.2f}", f"{minimum:.{MOST_PLACES}f}".rstrip("0"), key=len)


def gate_range(settings: Settings, tenant: str) -> list[float]:
    """Return the minimum of a tenant's gate scores, or the ends of its range if query types have minima of their own."""
    types = {override.query_type for override in settings.decision.overrides}
    minima = {minima_of(settings, tenant, query_type)["gate"] for query_type in (None, *types)}
    return sorted({min(minima), max(minima)})
