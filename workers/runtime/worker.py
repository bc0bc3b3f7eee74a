"""Run chosen agents, each a separate Faust app, in one event loop, beside processes that evaluate."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import partial
from typing import Any

from schemas.topics import FEEDBACK_ANALYTICS
from workers.agents.base import AgentContext, AgentDefinition, event_output
from workers.delivery.consumption.log_growth import LogGrowth
from workers.delivery.followers.erasure_follower import ErasureFollower
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.delivery.topics.topic_administration import TopicAdministration
from workers.errors import TouchstoneError, describe
from workers.observability import metrics
from workers.observability.logs import get_logger
from workers.pipeline.versions import package_version, pipeline_version, version_parts
from workers.process.background import start_background, stop_background
from workers.process.memory_limit import memory_limit
from workers.process.peak_memory import peak_bytes
from workers.runtime.agent_choice import agents_without, chosen_agents
from workers.runtime.delivery_parts import DeliveryParts, open_delivery_parts
from workers.runtime.evaluation_process import EvaluationProcess, evaluation_agents, spawned_processes
from workers.runtime.health import HealthServer
from workers.runtime.running_agent import OpenedAgent, RunningAgent, drain
from workers.runtime.watchdog import watch_loop
from workers.services.shared_services import SharedServices
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.rows.clickhouse_rows import version_row

TOPIC_SECONDS = 15.0
"""Wait for topics that another process is creating. A start without them ends the process."""

STARTING_GRACE_SECONDS = 1.0
"""Grace period of an interrupted start that has accepted no record; there is nothing to finish."""

LAG_SECONDS = 2.0
"""Interval between two observations of the lag."""

log = get_logger(__name__)


class Worker:
    """Agents with their shared services.

    Args:
        settings: all settings.
        addresses: addresses of broker and stores.
        agents: names of agents; the default agents if absent.
        name: name of this process, if it is an evaluation process of another worker.
        evaluation: processes with further agents, which start and stop with this one.

    Attributes:
        services: stores, models and clients that the agents share.
        metrics_port: port of metrics and probes, known after the start.
    """

    def __init__(
        self,
        settings: Settings,
        addresses: Addresses,
        agents: Iterable[str] | None = None,
        *,
        name: str = "",
        evaluation: Sequence[EvaluationProcess] = (),
    ) -> None:
        self._settings = settings
        self._addresses = addresses
        self._definitions = chosen_agents(agents, settings)
        self._name = name
        self._evaluation = evaluation
        self._version = pipeline_version(settings)
        self._growth = LogGrowth(addresses.kafka) if addresses.local and addresses.light_broker else None
        self._erasures = ErasureFollower(settings, addresses.kafka, self._growth)
        self._producer = ConfirmedProducer(settings, addresses.kafka)
        self._opened = AsyncExitStack()
        self._running: list[RunningAgent] = []
        self._background: list[asyncio.Task[None]] = []
        self._followers: list[asyncio.Task[None]] = []
        self._started = False
        self._failure: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()
        self.services = SharedServices(settings, addresses)
        self.metrics_port: int | None = None

    async def start(self) -> None:
        """Check topics, open every agent, and start them all at once.

        Raises:
            TouchstoneError: a requirement is missing; the message names it and the remedy.
        """
        async with TopicAdministration(self._settings, self._addresses.kafka) as topics:
            await topics.require(
                (topic for definition in self._definitions for topic in definition.reads if topic.foreign),
                TOPIC_SECONDS,
            )
        await self._start_health()
        for process in self._evaluation:
            await process.start(self._settings, self._addresses, evaluation_agents(self._settings))
        if self._growth is not None:
            self._followers.append(start_background(self._growth.run(), "log-growth", self._failure))
        await self._follow_erasures()
        agents, parts = await self._open()
        self._running = [RunningAgent(agent, parts) for agent in agents]
        await self._join_groups()
        self._started = True
        self._watch("lag", self._observe_lag())
        self._watch("watchdog", watch_loop())
        for agent in self._running:
            for name, task in agent.context.tasks.items():
                self._watch(name, task(agent.owned_partitions))
        await self._producer.send([self._version_output()], agent="worker")
        log.info(
            "worker_started",
            agents=[agent.definition.name for agent in self._running],
            pipeline_version=self._version,
            metrics_port=self.metrics_port,
        )

    async def _join_groups(self) -> None:
        starts = (agent.start() for agent in self._running)
        joined: asyncio.Future[Any] = asyncio.gather(*starts, *(each.wait_started() for each in self._evaluation))
        failed: asyncio.Future[Any] = asyncio.ensure_future(self.wait_failed())
        try:
            await asyncio.wait([joined, failed], return_when=asyncio.FIRST_COMPLETED)
            if failed.done():
                raise failed.result()
            await joined
        finally:
            # Faust waits without a limit for a group that refuses this worker.
            for waiting in (joined, failed):
                waiting.cancel()
            await asyncio.gather(joined, failed, return_exceptions=True)

    async def wait_failed(self) -> Exception:
        """Wait until an agent, a model or an evaluation process fails permanently.

        Returns:
            The failure.
        """
        crashes = (agent.application.wait_crashed() for agent in self._running)
        ends = (process.wait_failed() for process in self._evaluation)
        waits = [asyncio.ensure_future(failing) for failing in (*crashes, *ends)]
        failures = [
            self._failure,
            *(agent.processor.failure for agent in self._running),
            *self.services.failures,
        ]
        try:
            done, _ = await asyncio.wait([*waits, *failures], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        return next(iter(done)).result()

    def caught_up(self) -> bool:
        """Return whether every agent of this process has committed up to the ends that it knows."""
        return all(agent.processor.in_flight == 0 and agent.application.lag() == 0 for agent in self._running)

    async def lag(self) -> dict[str, int]:
        """Return the lag of each agent in records, by the ends that it knows.

        An evaluation process that does not respond is left out.
        """
        lag = {agent.definition.name: agent.application.lag() for agent in self._running}
        for process in self._evaluation:
            for name, records in (await process.lag()).items():
                lag[name] = lag.get(name, 0) + records
        return lag

    @property
    def processes(self) -> int:
        """Return the number of processes with agents: this one and those that evaluate."""
        return 1 + len(self._evaluation)

    def peak_bytes(self) -> int:
        """Return the sum of the peak resident memory of this process and those that evaluate, bytes."""
        return peak_bytes() + sum(process.peak_bytes() for process in self._evaluation)

    async def remembered(self) -> list[dict[str, Any]]:
        """Return the turns in memory."""
        async with self.services.memory() as memory:
            return await memory.turns()

    async def stop(self) -> None:
        """Drain all agents concurrently within the grace period, then close all resources: the producer first, health
        last.
        """
        async with self._opened:
            try:
                ends = map(stop_background, self._background)
                stops = (process.stop() for process in self._evaluation)
                await asyncio.gather(*ends, drain(self._running, self._grace_seconds()), *stops)
            finally:
                # After the drain: records in work must hear of persons who are erased meanwhile.
                for follower in reversed(self._followers):
                    await stop_background(follower)
                await self._erasures.stop()

    def readiness(self) -> dict[str, str | None]:
        """Return the reason for each agent that is not ready; ``None`` for ready agents."""
        if len(self._running) < len(self._definitions):
            return {"worker": "starting"}
        return {agent.definition.name: agent.hindrance() for agent in self._running}

    def _grace_seconds(self) -> float:
        grace = self._settings.delivery.shutdown_grace_seconds
        idle = not self._started and all(agent.processor.in_flight == 0 for agent in self._running)
        return min(grace, STARTING_GRACE_SECONDS) if idle else grace

    def _watch(self, name: str, task: Coroutine[None, None, None]) -> None:
        self._background.append(start_background(task, name, self._failure))

    async def _follow_erasures(self) -> None:
        await self._erasures.start()
        self._followers.append(start_background(self._erasures.run(), "erasures", self._failure))

    async def _start_health(self) -> None:
        http = self._settings.http
        health = HealthServer(http.host, http.metrics_port, self.readiness, self._evaluation)
        self._opened.push_async_callback(health.stop)
        self.metrics_port = await health.start()
        if (limit := memory_limit()) is not None:
            metrics.MEMORY_LIMIT.labels("container").set(limit)
        metrics.BUILD.info({"version": package_version(), "pipeline_version": self._version})

    async def _open(self) -> tuple[list[OpenedAgent], DeliveryParts]:
        """Open the shared delivery parts, then the agents, and connect the producer last, so that it closes first."""
        pool = ThreadPoolExecutor(max_workers=2, thread_name_prefix="steps")
        self._opened.callback(partial(pool.shutdown, wait=False, cancel_futures=True))
        parts = open_delivery_parts(
            self._settings, self._producer, self._version, self._growth, self._opened, self._name
        )
        agents = [await self._open_agent(definition, pool) for definition in self._definitions]
        self._opened.push_async_callback(self._producer.stop)
        await self._producer.start()
        return agents, parts

    async def _open_agent(self, definition: AgentDefinition, pool: ThreadPoolExecutor) -> OpenedAgent:
        context = AgentContext(
            settings=self._settings,
            addresses=self._addresses,
            pipeline_version=self._version,
            services=self.services,
            producer=self._producer,
            erasures=self._erasures.register,
            steps_pool=pool,
            now=lambda: datetime.now(UTC),
        )
        stack = await self._opened.enter_async_context(AsyncExitStack())
        return OpenedAgent(definition, context, await definition.open(context, stack))

    async def _observe_lag(self) -> None:
        while True:
            await asyncio.sleep(LAG_SECONDS)
            await asyncio.gather(*(agent.application.observe_lag(LAG_SECONDS) for agent in self._running))

    def _version_output(self) -> Output:
        """Return the record that stores the parts of this version, for later comparison.

        Where records are small, texts for readers and effects are left out: a worker must start nevertheless.
        """
        parts, limit = version_parts(self._settings), self._settings.kafka.largest_result_bytes
        output = self._output_of(parts)
        for name in ("texts.", "decision.effects."):
            if len(output.value or b"") > limit:
                log.warning("version_parts_omitted", parts=f"{name}*", limit_bytes=limit)
                parts = {part: value for part, value in parts.items() if not part.startswith(name)}
                output = self._output_of(parts)
        return output

    def _output_of(self, parts: Mapping[str, str]) -> Output:
        now, version = datetime.now(UTC), self._version
        row = version_row(version, parts, now).record()
        return event_output(
            FEEDBACK_ANALYTICS, row, key=version, event_id=version, agent="worker", time=now, pipeline_version=version
        )


def complete_worker(settings: Settings, addresses: Addresses, evaluation: Sequence[EvaluationProcess]) -> Worker:
    """Return a worker with the default agents, of which evaluation processes run those that evaluate.

    Args:
        settings: all settings.
        addresses: addresses of broker and stores.
        evaluation: the processes; without one the worker evaluates by itself.
    """
    agents = agents_without(evaluation_agents(settings), settings) if evaluation else None
    return Worker(settings, addresses, agents, evaluation=evaluation)


async def run_worker(
    settings: Settings,
    addresses: Addresses,
    agents: Iterable[str] | None = None,
    ready: Callable[[Worker], None] | None = None,
    *,
    name: str = "",
) -> int:
    """Run until SIGTERM or SIGINT, or until an agent fails.

    Args:
        settings: all settings.
        addresses: of broker and stores.
        agents: names of agents, which all run in this process; if absent the default agents, in several processes
            where that is worth it.
        ready: called when all agents have started.
        name: name of this process, if it is an evaluation process of another worker.

    Returns:
        Exit code: 0 after a signal, 1 after a failure.
    """
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with AsyncExitStack() as stack:
        if agents is None:
            evaluation = await stack.enter_async_context(spawned_processes(settings))
            worker = complete_worker(settings, addresses, evaluation)
        else:
            worker = Worker(settings, addresses, agents, name=name)
        stack.push_async_callback(worker.stop)
        stopped = asyncio.ensure_future(stop.wait())
        if not await _started(worker, stopped):
            return 0
        if ready is not None:
            ready(worker)
        failed = asyncio.ensure_future(worker.wait_failed())
        await asyncio.wait([stopped, failed], return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if failed.done():
            failure = failed.result()
            known = isinstance(failure, TouchstoneError)
            log.error(
                "worker_failed",
                error=describe(failure),
                error_class=type(failure).__name__,
                exc_info=None if known else failure,
            )
            return 1
        failed.cancel()
        return 0


async def _started(worker: Worker, stopped: asyncio.Future[Any]) -> bool:
    """Start, unless a signal arrives first: forming a group, or a store's response, may take time."""
    start = asyncio.ensure_future(worker.start())
    await asyncio.wait([start, stopped], return_when=asyncio.FIRST_COMPLETED)
    if start.done():
        await start
        return True
    start.cancel()
    await asyncio.gather(start, return_exceptions=True)
    return False
