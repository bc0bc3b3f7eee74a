"""Find the minima that scores of an answer need, for reviewers."""

from collections.abc import Mapping

from workers.decision.minima import minima_of as decided_minima
from workers.settings import Settings

MOST_PLACES = 6
"""Maximum number of decimals of a score."""


def minima_of(settings: Settings, tenant: str, query_type: str | None) -> Mapping[str, float]:
    """Return the minimum of the gate score and of the grounding score of an answer, 0..1, by name of the score."""
    return decided_minima(settings.gate, settings.grounding, settings.decision, tenant, query_type)._asdict()


def beside(value: float, *minima: float | None) -> str:
    """Return a score with two decimals, or with as many as show which of its minima it reaches.

    Args:
        value: the score, 0..1.
        minima: minima that stand beside it; ``None`` for one that does not exist.
    """
    needed = [minimum for minimum in minima if minimum is not None]
    texts = (f"{value:.{places}f}" for places in range(2, MOST_PLACES + 1))
    shown = (text for text in texts if all((float(text) >= each) == (value >= each) for each in needed))
    return next(shown, repr(value))


def whole(minimum: float) -> str:
    """Return a minimum with all its decimals, at least two."""
    return max(f"{minimum:.2f}", f"{minimum:.{MOST_PLACES}f}".rstrip("0"), key=len)


def gate_range(settings: Settings, tenant: str) -> list[float]:
    """Return the minimum of a tenant's gate scores, or the ends of its range if query types have minima of their own."""
    types = {override.query_type for override in settings.decision.overrides}
    minima = {minima_of(settings, tenant, query_type)["gate"] for query_type in (None, *types)}
    return sorted({min(minima), max(minima)})
