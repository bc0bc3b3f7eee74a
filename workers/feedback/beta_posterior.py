"""Compute the Beta posterior of a model's rewards for routers.

A reward r between 0 and 1 adds r to the successes and 1 - r to the failures. This is a fractional form of Thompson
sampling's update; Agrawal and Goyal (2012) draw a random result instead.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from schemas.feedback import LinearPosterior, ModelPosterior

STEPS_PER_HALF_LIFE = 100
"""Ages are rounded to this share of a half-life, so that a posterior without new rewards is equal for a while and not
published again.
"""


@dataclass(frozen=True, slots=True)
class WeightedRewards:
    """Hold the rewards of a model for a tenant and query type, weighted by age.

    Attributes:
        tenant: tenant of the answers.
        model_id: model of the answers.
        query_type: the router's class, empty for none.
        successes: sum of weight times reward.
        failures: sum of weight times one minus reward.
    """

    tenant: str
    model_id: str
    query_type: str
    successes: float
    failures: float


def age_reference(now: datetime, half_life_days: float) -> datetime:
    """Return the reference time of ages: ``now`` rounded down to a hundredth of a half-life."""
    step = half_life_days * 86_400 / STEPS_PER_HALF_LIFE
    return datetime.fromtimestamp(now.timestamp() // step * step, UTC)


def model_posterior(
    rewards: WeightedRewards, now: datetime, *, linear: LinearPosterior | None = None
) -> ModelPosterior:
    """Compute the posterior after the rewards; the prior is uniform (Beta(1, 1)).

    Args:
        rewards: weighted rewards.
        now: time of the computation.
        linear: posterior of the linear model over queries, if there is one.
    """
    alpha, beta = 1.0 + rewards.successes, 1.0 + rewards.failures
    return ModelPosterior(
        tenant=rewards.tenant,
        model_id=rewards.model_id,
        query_type=rewards.query_type or None,
        alpha=alpha,
        beta=beta,
        mean=alpha / (alpha + beta),
        observations=rewards.successes + rewards.failures,
        linear=linear,
        computed_at=now,
    )
