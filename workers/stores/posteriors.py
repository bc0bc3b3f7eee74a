"""What the stored rewards teach routers, and the records that tell them."""

from collections.abc import Mapping
from datetime import datetime

import orjson

from schemas.feedback import LinearPosterior, ModelPosterior
from schemas.headers import event_headers
from schemas.topics import ROUTING_POSTERIORS
from workers.delivery.records import Output
from workers.settings import RoutingSettings
from workers.steps.contextual import linear_posterior
from workers.steps.posteriors import age_reference, model_posterior
from workers.stores.feedback import FeedbackStore

NAME = "routing"
"""Who publishes, in the records' headers."""

Linear = Mapping[tuple[str, str, str], LinearPosterior]
"""By tenant, model and query type."""


async def linear_posteriors(
    feedback: FeedbackStore, settings: RoutingSettings, now: datetime
) -> dict[tuple[str, str, str], LinearPosterior]:
    """What the rewards owe to the queries.

    Raises:
        StoreUnavailable: ClickHouse does not answer.
    """
    moments = await feedback.weighted_moments(age_reference(now, settings.half_life_days), settings.half_life_days)
    return {(of.tenant, of.model_id, of.query_type): linear_posterior(of) for of in moments}


async def model_posteriors(
    feedback: FeedbackStore, settings: RoutingSettings, now: datetime, linear: Linear
) -> dict[bytes, ModelPosterior]:
    """The posterior of each tenant, model and query type, by the key of its record.

    Raises:
        StoreUnavailable: ClickHouse does not answer.
    """
    rewards = await feedback.weighted_rewards(age_reference(now, settings.half_life_days), settings.half_life_days)
    posteriors = [
        model_posterior(
            each,
            now,
            prior_alpha=settings.prior_alpha,
            prior_beta=settings.prior_beta,
            linear=linear.get((each.tenant, each.model_id, each.query_type)),
        )
        for each in rewards
    ]
    return {posterior_key(posterior): posterior for posterior in posteriors}


def posterior_outputs(
    current: Mapping[bytes, ModelPosterior], published: Mapping[bytes, ModelPosterior], pipeline_version: str
) -> list[Output]:
    """The records that bring what is published up to date: what has changed, and a tombstone for what is gone.

    Args:
        current: by key.
        published: what readers know by now.
        pipeline_version: of the publisher.
    """
    changed = {
        key: posterior
        for key, posterior in current.items()
        if (known := published.get(key)) is None or learned(known) != learned(posterior)
    }
    outputs = [_output(key, posterior, pipeline_version) for key, posterior in changed.items()]
    return outputs + [Output(ROUTING_POSTERIORS, key, None) for key in published if key not in current]


def learned(posterior: ModelPosterior) -> ModelPosterior:
    """What is worth publishing: the time at which it was computed is not."""
    return posterior.model_copy(update={"computed_at": None})


def posterior_key(posterior: ModelPosterior) -> bytes:
    """The record's key: JSON of tenant, model and query type, which no name can blur."""
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
