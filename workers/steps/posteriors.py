"""What routers are told about a model: the Beta posterior of its rewards.

A reward between 0 and 1 counts as so much of a success and the rest of a failure (the
fractional form of Thompson sampling's update; Agrawal and Goyal, 2012, draw a coin instead).
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from schemas.feedback import LinearPosterior, ModelPosterior

STEPS_PER_HALF_LIFE = 100
"""Ages are counted to this share of a half-life, so that a posterior stands still for a while
where nothing new is known, and is not published anew."""


@dataclass(frozen=True, slots=True)
class WeightedRewards:
    """The rewards of a model for a tenant and query type, weighted by age.

    Attributes:
        tenant: whose answers.
        model_id: who wrote them.
        query_type: the router's class, empty for none.
        successes: sum of weight times reward.
        failures: sum of weight times what is missing to 1.
    """

    tenant: str
    model_id: str
    query_type: str
    successes: float
    failures: float


def age_reference(now: datetime, half_life_days: float) -> datetime:
    """The time from which ages count: ``now``, held still for a hundredth of a half-life."""
    step = half_life_days * 86_400 / STEPS_PER_HALF_LIFE
    return datetime.fromtimestamp(now.timestamp() // step * step, UTC)


def model_posterior(
    rewards: WeightedRewards,
    now: datetime,
    *,
    prior_alpha: float = 1.0,
    prior_beta: float = 1.0,
    linear: LinearPosterior | None = None,
) -> ModelPosterior:
    """The posterior after the rewards.

    Args:
        rewards: what is known.
        now: when it was computed.
        prior_alpha: successes assumed before anything is known.
        prior_beta: failures assumed.
        linear: what of the rewards the queries explain.
    """
    alpha, beta = prior_alpha + rewards.successes, prior_beta + rewards.failures
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
