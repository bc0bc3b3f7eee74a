"""The elected worker's task: posteriors of stored rewards → routing.posteriors.

Elected is whoever owns the first partition of feedback.events in the group of the agent
``feedback``: the group's coordinator sees to it that this is one worker. Two that think so
for a moment publish the same, since a posterior is a query over what is stored.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import orjson

from schemas.feedback import LinearPosterior, ModelPosterior
from schemas.headers import event_headers
from schemas.topics import ROUTING_POSTERIORS
from workers.agents.base import Resources
from workers.delivery.errors import UnavailableError
from workers.delivery.records import Output
from workers.logs import get_logger
from workers.steps.contextual import linear_posterior
from workers.steps.posteriors import age_reference, model_posterior

log = get_logger(__name__)

NAME = "routing"

LINEAR_EVERY = timedelta(minutes=1)
"""Time between two looks at what the rewards owe to the queries: a hundred times the work of their sums."""


class PosteriorPublisher:
    """Publishes the posteriors that have changed, again and again.

    Args:
        resources: store, producer, clock and settings.
        is_elected: whether this worker is the one, now.
    """

    def __init__(self, resources: Resources, is_elected: Callable[[], bool]) -> None:
        self._resources = resources
        self._is_elected = is_elected
        self._published: dict[bytes, ModelPosterior] = {}
        self._linear: dict[tuple[str, str, str], LinearPosterior] = {}
        self._linear_not_before = datetime.min.replace(tzinfo=UTC)

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await asyncio.sleep(self._resources.settings.routing.publish_seconds)
            if not self._is_elected():
                # Whoever is elected next begins with all of them, and so does this one.
                self._published.clear()
                continue
            try:
                await self.publish()
            except UnavailableError as error:
                log.warning("posteriors_not_published", error=str(error))

    async def publish(self) -> int:
        """Publish what has changed since the last time.

        Returns:
            How many records were sent.

        Raises:
            UnavailableError: ClickHouse does not answer, or the broker does not confirm.
        """
        assert self._resources.feedback is not None
        settings = self._resources.settings.routing
        now = self._resources.now()
        reference = age_reference(now, settings.half_life_days)
        rewards = await self._resources.feedback.weighted_rewards(reference, settings.half_life_days)
        if now >= self._linear_not_before:
            moments = await self._resources.feedback.weighted_moments(reference, settings.half_life_days)
            self._linear = {(of.tenant, of.model_id, of.query_type): linear_posterior(of) for of in moments}
            self._linear_not_before = now + LINEAR_EVERY
        posteriors = [
            model_posterior(
                each,
                now,
                prior_alpha=settings.prior_alpha,
                prior_beta=settings.prior_beta,
                linear=self._linear.get((each.tenant, each.model_id, each.query_type)),
            )
            for each in rewards
        ]
        current = {posterior_key(posterior): posterior for posterior in posteriors}
        changed = {
            key: posterior
            for key, posterior in current.items()
            if (known := self._published.get(key)) is None or _learned(known) != _learned(posterior)
        }
        gone = [key for key in self._published if key not in current]
        outputs = [self._output(key, posterior) for key, posterior in changed.items()]
        outputs += [Output(ROUTING_POSTERIORS, key, None) for key in gone]
        await self._resources.producer.send(outputs, agent=NAME)
        self._published = current
        return len(outputs)

    def _output(self, key: bytes, posterior: ModelPosterior) -> Output:
        headers = event_headers(
            event_id=key.decode(),
            event_type=type(posterior).__name__,
            time=posterior.computed_at,
            pipeline_version=self._resources.pipeline_version,
            agent=NAME,
        )
        return Output(ROUTING_POSTERIORS, key, posterior.to_bytes(), headers)


def _learned(posterior: ModelPosterior) -> ModelPosterior:
    """What is worth publishing: the time at which it was computed is not."""
    return posterior.model_copy(update={"computed_at": None})


def posterior_key(posterior: ModelPosterior) -> bytes:
    """The record's key: JSON of tenant, model and query type, which no name can blur."""
    return orjson.dumps([posterior.tenant, posterior.model_id, posterior.query_type])
