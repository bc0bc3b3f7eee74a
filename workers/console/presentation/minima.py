"""Find the minima that scores of an answer need, for reviewers."""

from collections.abc import Mapping

from workers.settings import Settings


def minima_of(settings: Settings, tenant: str, query_type: str | None) -> Mapping[str, float]:
    """Return the minimum of the gate score and of the grounding score of an answer, 0..1, by name of the score."""
    resolved = settings.decision.resolved(tenant, query_type)
    return {
        "gate": settings.gate.gate_score if resolved.gate_score is None else resolved.gate_score,
        "grounding": resolved.least_grounding(settings.grounding),
    }


def gate_words(settings: Settings, tenant: str) -> str:
    """Return the minimum of a tenant's gate scores in words, or its range if query types have minima of their own."""
    types = {override.query_type for override in settings.decision.overrides}
    minima = {minima_of(settings, tenant, query_type)["gate"] for query_type in (None, *types)}
    return "–".join(f"{each:.2f}" for each in sorted({min(minima), max(minima)}))
