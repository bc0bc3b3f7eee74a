"""Note the services that an agent waits for, which make it unready and raise an alert."""

from workers.errors import UnavailableError
from workers.observability import metrics


class Waits:
    """Waits of the batches of an agent for unavailable services.

    Args:
        agent: name of the agent, for the metric.
        kind: "exporter" or "agent": an export target that is away is less urgent than a store.
    """

    def __init__(self, agent: str, kind: str) -> None:
        self._gauge = metrics.AGENT_WAITING.labels(agent, kind)
        self._errors: dict[object, str] = {}

    @property
    def description(self) -> str | None:
        """Return the description of a service that is waited for, or None."""
        return next(iter(self._errors.values()), None)

    def begin(self, batch: object, error: UnavailableError) -> None:
        """Note that a batch waits because of an error."""
        self._errors[batch] = str(error)
        self._count()

    def end(self, batch: object) -> None:
        """Note that a batch waits no longer, for whatever reason."""
        self._errors.pop(batch, None)
        self._count()

    def end_all(self) -> None:
        """Note that the services are available: batches that still pause will find them so."""
        self._errors.clear()
        self._count()

    def _count(self) -> None:
        self._gauge.set(bool(self._errors))
