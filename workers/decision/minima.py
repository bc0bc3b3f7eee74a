"""Find the minima that scores of an answer need by the settings."""

from typing import NamedTuple

from workers.decision.policy import DecisionPolicy
from workers.evaluation.thresholds import GateThresholds, GroundingThresholds


class Minima(NamedTuple):
    """Hold the minima of an answer's scores.

    Attributes:
        gate: minimum of the gate score, 0..1.
        grounding: minimum of the grounding score, 0..1.
    """

    gate: float
    grounding: float


def minima_of(
    gate: GateThresholds,
    grounding: GroundingThresholds,
    policy: DecisionPolicy,
    tenant: str,
    query_type: str | None,
) -> Minima:
    """Return the minima by which the policy decides on answers of a tenant and query type."""
    resolved = policy.resolved(tenant, query_type)
    gate_score = gate.gate_score if resolved.gate_score is None else resolved.gate_score
    return Minima(gate_score, resolved.least_grounding(grounding))
