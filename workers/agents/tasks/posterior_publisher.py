"""Publish posteriors of stored rewards to routing.posteriors, on one elected worker.

If two workers both count as elected for a moment, they publish the same, because a posterior is a query over stored
rewards.
"""

import time
from collections.abc import Callable

from schemas.feedback import LinearPosterior, ModelPosterior
from workers.agents.base import AgentContext, OwnedPartitions
from workers.agents.tasks.elected import repeat_while_elected
from workers.errors import UnavailableError
from workers.observability.logs import get_logger
from workers.stores.queries.feedback_store import FeedbackStore
from workers.stores.queries.posterior_queries import NAME, linear_posteriors, model_posteriors, posterior_outputs

log = get_logger(__name__)

LINEAR_EVERY = 60.0
"""Shortest interval between two computations of the linear posteriors, seconds; they read every reward of 20 half-lives."""
LINEAR_SHARE = 20
"""The interval is at least this many times as long as the computation took, so that it never loads the store for more
than a twentieth of the time."""


class PosteriorPublisher:
    """Publish changed posteriors periodically.

    Args:
        context: producer, clock and settings.
        store: stored rewards.
        clock: returns seconds for intervals; not the time of day, which can be set.
    """

    def __init__(
        self, context: AgentContext, store: FeedbackStore, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._context = context
        self._store = store
        self._published: dict[bytes, ModelPosterior] = {}
        self._linear: dict[tuple[str, str, str], LinearPosterior] = {}
        self._clock = clock
        self._linear_not_before = clock()

    async def run(self, owned: OwnedPartitions) -> None:
        """Repeat until cancelled, while this worker is elected."""
        await repeat_while_elected(
            self._try_publish, self._restart, owned, self._context.settings.routing.publish_seconds
        )

    async def _try_publish(self) -> None:
        try:
            await self.publish()
        except UnavailableError as error:
            log.warning("posterior_publication_failed", error=str(error))

    def _restart(self) -> None:
        # A newly elected worker publishes all posteriors, and so does this one when it is elected again.
        self._published.clear()

    async def publish(self) -> int:
        """Publish posteriors that have changed since the last round.

        Returns:
            Number of sent records.

        Raises:
            UnavailableError: ClickHouse does not respond, or the broker does not acknowledge.
        """
        settings = self._context.settings.routing
        now = self._context.now()
        started = self._clock()
        if started >= self._linear_not_before:
            self._linear = await linear_posteriors(self._store, settings, now)
            self._linear_not_before = started + max(LINEAR_EVERY, LINEAR_SHARE * (self._clock() - started))
        current = await model_posteriors(self._store, settings, now, self._linear)
        outputs = posterior_outputs(current, self._published, self._context.pipeline_version)
        await self._context.producer.send(outputs, agent=NAME)
        self._published = current
        return len(outputs)
