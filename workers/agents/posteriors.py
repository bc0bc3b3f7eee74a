"""The elected worker's task: posteriors of stored rewards → routing.posteriors.

Elected is whoever owns the first partition of feedback.events in the group of the agent
``feedback``: the group's coordinator sees to it that this is one worker. Two that think so
for a moment publish the same, since a posterior is a query over what is stored.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from schemas.feedback import LinearPosterior, ModelPosterior
from workers.agents.base import Resources
from workers.delivery.errors import UnavailableError
from workers.logs import get_logger
from workers.stores.posteriors import NAME, linear_posteriors, model_posteriors, posterior_outputs

log = get_logger(__name__)

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
        if now >= self._linear_not_before:
            self._linear = await linear_posteriors(self._resources.feedback, settings, now)
            self._linear_not_before = now + LINEAR_EVERY
        current = await model_posteriors(self._resources.feedback, settings, now, self._linear)
        outputs = posterior_outputs(current, self._published, self._resources.pipeline_version)
        await self._resources.producer.send(outputs, agent=NAME)
        self._published = current
        return len(outputs)
