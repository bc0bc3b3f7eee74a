"""Compute routing posteriors from the stored rewards, and the records that publish them."""

from collections.abc import Mapping
from datetime import datetime

import orjson

from schemas.feedback import LinearPosterior, ModelPosterior
from schemas.headers import event_headers
from schemas.topics import ROUTING_POSTERIORS
from workers.delivery.records import Output
from workers.feedback.beta_posterior import age_reference, model_posterior
from workers.feedback.contextual_reward import linear_posterior
from workers.settings import RoutingSettings
from workers.stores.queries.feedback_store import FeedbackStore

NAME = "routing"
"""Name of the publisher in the record headers."""

Linear = Mapping[tuple[str, str, str], LinearPosterior]
"""Linear posteriors by tenant, model and query type."""


async def linear_posteriors(
    feedback: FeedbackStore, settings: RoutingSettings, now: datetime
) -> dict[tuple[str, str, str], LinearPosterior]:
    """Compute the linear posteriors of rewards on query features.

    Raises:
        StoreUnavailable: ClickHouse does not respond.
    """
    moments = await feedback.weighted_moments(age_reference(now, settings.half_life_days), settings.half_life_days)
    return {(of.tenant, of.model_id, of.query_type): linear_posterior(of) for of in moments}


async def model_posteriors(
    feedback: FeedbackStore, settings: RoutingSettings, now: datetime, linear: Linear
) -> dict[bytes, ModelPosterior]:
    """Return the posterior of each tenant, model and query type, by record key.

    Raises:
        StoreUnavailable: ClickHouse does not respond.
    """
    rewards = await feedback.weighted_rewards(age_reference(now, settings.half_life_days), settings.half_life_days)
    posteriors = [
        model_posterior(each, now, linear=linear.get((each.tenant, each.model_id, each.query_type))) for each in rewards
    ]
    return {posterior_key(posterior): posterior for posterior in posteriors}


def posterior_outputs(
    current: Mapping[bytes, ModelPosterior], published: Mapping[bytes, ModelPosterior], pipeline_version: str
) -> list[Output]:
    """Return the records that update the published posteriors: changed ones, and tombstones for removed ones.

    Args:
        current: current posteriors by key.
        published: posteriors that readers already have.
        pipeline_version: version of the publisher.
    """
    changed = {
        key: posterior
        for key, posterior in current.items()
        if (known := published.get(key)) is None or learned(known) != learned(posterior)
    }
    outputs = [_output(key, posterior, pipeline_version) for key, posterior in changed.items()]
    return outputs + [Output(ROUTING_POSTERIORS, key, None) for key in published if key not in current]


def learned(posterior: ModelPosterior) -> ModelPosterior:
    """Return the posterior without the time of its computation, which alone is no reason to publish."""
    return posterior.model_copy(update={"computed_at": None})


def posterior_key(posterior: ModelPosterior) -> bytes:
    """Return the record key: JSON of tenant, model and query type, unambiguous for all names."""
    return orjson.dumps([posterior.tenant, posterior.model_id, posterior.query_type])


def _output(key: bytes, posterior: ModelPosterior, pipeline_version: str) -> Output:
    headers = event_headers(
        event_id=key.decode(),
        event_type=type(posterior).__name__,
        time=posterior.computed_at,
        pipeline_version=pipeline_version,
        agent=NAME,
    )
    return Output(ROUTING_POSTERIORS, key, posterior.to_bytes(), headers)
