"""Call the handler of an agent, isolated from other batches where a record of the batch may kill the process."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from workers.delivery.failures.attempts import MAX_COUNTED_DEATHS, AttemptJournal
from workers.delivery.records import Result, WorkItem
from workers.errors import TransientError, UnavailableError, panics_as_errors

Handler = Callable[[Sequence[WorkItem]], Awaitable[Sequence[Result]]]
"""Handler that converts a batch of work items into one result each; may raise for the whole batch."""


class HandlerTimeout(TransientError):
    """Report that the handler did not finish in time."""


class HandlerCalls:
    """Calls of the handler of an agent, which the journal of attempts lists while they last.

    Args:
        agent: name of the agent.
        handler: converts a batch to results.
        journal: lists the records in progress.
        timeout_seconds: longest time of one call; ``None`` for no limit.
    """

    def __init__(self, agent: str, handler: Handler, journal: AttemptJournal, timeout_seconds: float | None) -> None:
        self._agent = agent
        self._handler = handler
        self._journal = journal
        self._timeout_seconds = timeout_seconds

    async def results(self, works: Sequence[WorkItem], alone: bool) -> Sequence[Result]:
        """Return the results of a batch.

        Args:
            works: the batch.
            alone: run no other suspects meanwhile: the records were in progress when a process died.

        Raises:
            HandlerTimeout: the handler did not finish in time.
            UnavailableError: a service is away for the batch or for one of its records.
        """
        records = [work.record for work in works]
        isolation = self._journal.isolation
        accused = alone and self._journal.counted_deaths(records[0]) >= MAX_COUNTED_DEATHS - 1
        async with isolation.alone(accused=accused) if alone else isolation.together() as counts:
            self._journal.begin(self._agent, records, counts=counts)
            try:
                async with asyncio.timeout(self._timeout_seconds):
                    with panics_as_errors():
                        results = await self._handler(works)
            except TimeoutError as error:
                if self._timeout_seconds is None:
                    raise
                raise HandlerTimeout(
                    f"{self._agent} did not finish a batch of {len(works)} records within "
                    f"{self._timeout_seconds:g} s; raise delivery.handle_timeout_seconds or lower "
                    "delivery.sink_batch_records"
                ) from error
            finally:
                self._journal.end(self._agent, records)
        # A service is away for every record, also where the handler assigns the error to one.
        if away := next((result for result in results if isinstance(result, UnavailableError)), None):
            raise away
        return results
