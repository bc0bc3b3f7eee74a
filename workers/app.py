"""The worker: chosen agents, each a Faust app of its own, in one process and one event loop."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import orjson

from schemas.feedback import AnalyticsRow
from schemas.topics import FEEDBACK_ANALYTICS
from workers import metrics
from workers.addresses import Addresses
from workers.agents.analytics import ANALYTICS
from workers.agents.assembly import ASSEMBLY
from workers.agents.base import AgentDefinition, Resources, event_output, read_answer
from workers.agents.citations import CITATIONS
from workers.agents.deadlines import DeadlineSweeper
from workers.agents.decisions import DECISIONS, FinalityKeeper
from workers.agents.feedback import FEEDBACK
from workers.agents.grounding import GROUNDING
from workers.agents.intake import AGENT as INTAKE
from workers.agents.intake import intake_agent
from workers.agents.langfuse import LANGFUSE
from workers.agents.memory import MEMORY
from workers.agents.otel import OTEL
from workers.agents.posteriors import PosteriorPublisher
from workers.agents.quality import QUALITY
from workers.agents.release import RELEASE
from workers.agents.signals import SIGNALS
from workers.agents.webhooks import ALERT_WEBHOOK, REVIEW_WEBHOOK
from workers.background import start_background
from workers.delivery.application import AgentApplication
from workers.delivery.assembler import Assembler
from workers.delivery.attempts import AttemptJournal
from workers.delivery.breaker import DeadLetterBreaker
from workers.delivery.dead_letters import DeadLetterSender
from workers.delivery.erasures import ErasureFollower
from workers.delivery.errors import TouchstoneError, describe
from workers.delivery.processing import BatchProcessor
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output, Record, Work
from workers.delivery.released import ReleasedAnswers
from workers.delivery.tracing import Tracing
from workers.exporters.receiver import open_session
from workers.health import HealthServer
from workers.inference.embedding import EmbeddingService
from workers.inference.opening import open_embedding, open_verification
from workers.inference.sharing import open_shared_vectors
from workers.inference.verification import VerificationService
from workers.logs import get_logger
from workers.privacy import Privacy
from workers.settings import Settings
from workers.stores.analytics import AnalyticsStore, connect
from workers.stores.feedback import FeedbackStore
from workers.stores.history import QueryHistory
from workers.stores.memory import MemoryStore
from workers.stores.migrations import migrate
from workers.stores.reviews import ReviewStore
from workers.topics import TopicAdministration
from workers.versions import package_version, pipeline_version, version_parts
from workers.watchdog import watch_loop

AGENTS: dict[str, AgentDefinition] = {
    agent.name: agent
    for agent in (
        CITATIONS, GROUNDING, QUALITY, ASSEMBLY, RELEASE, DECISIONS, SIGNALS, FEEDBACK, MEMORY, ANALYTICS,
    )
}  # fmt: skip
"""The agents that always run, by name."""

EXPORTERS: dict[str, AgentDefinition] = {agent.name: agent for agent in (OTEL, LANGFUSE, ALERT_WEBHOOK, REVIEW_WEBHOOK)}
"""The agents that run where the settings name their receiver."""

LAG_SECONDS = 2.0
"""Time between two observations of the lag."""

STORE_CHECK_SECONDS = 5.0
"""Time between two looks whether ClickHouse or Redis answers."""

STORED_IN_CLICKHOUSE = frozenset({"analytics", "feedback"})
"""Needs that ClickHouse serves, and without which an agent waits."""

ASKED_OF_CLICKHOUSE = frozenset({"reviews"})
"""Needs that it serves beside the agent's records, which go on without it."""

STOP_SHARE = 0.6
"""Share of the grace that accepted works get to finish; the rest is for commits and leaving."""

log = get_logger(__name__)


class UnknownAgent(TouchstoneError):
    """There is no such agent."""


class AgentSwitchedOff(UnknownAgent):
    """An agent is named that the settings would have to ask for."""


def optional_agents(settings: Settings) -> dict[str, AgentDefinition]:
    """The agents that are there because the settings ask for them, by name."""
    intake = intake_agent(settings.gateways)
    exporters = (agent for agent in EXPORTERS.values() if agent.switched_on is not None and agent.switched_on(settings))
    return {agent.name: agent for agent in (*([] if intake is None else [intake]), *exporters)}


def chosen_agents(names: Iterable[str] | None, settings: Settings) -> list[AgentDefinition]:
    """The agents of those names; without names those that always run, and those that the settings ask for.

    Args:
        names: of agents, or ``None``.
        settings: all settings.

    Raises:
        UnknownAgent: naming those there are.
        AgentSwitchedOff: naming the settings that are missing.
    """
    known = AGENTS | optional_agents(settings)
    if names is None:
        return list(known.values())
    names = list(names)
    if not names:
        raise UnknownAgent(f"no agent is named; there are {', '.join(known)}")
    missing = [name for name in names if name not in known]
    if INTAKE in missing:
        raise AgentSwitchedOff("the agent intake has no topics to read; set TOUCHSTONE_GATEWAYS__TOPICS")
    if off := [name for name in missing if name in EXPORTERS]:
        groups = ", ".join(f"TOUCHSTONE_{name.replace('-', '_').upper()}__…" for name in off)
        raise AgentSwitchedOff(f"no receiver is set for {', '.join(off)}; set {groups} (docs/reference/exporters.md)")
    if missing:
        raise UnknownAgent(f"no agent is called {', '.join(missing)}; there are {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names)]


def agents_without(left_out: Iterable[str], settings: Settings) -> list[str]:
    """Names of the agents that a worker runs by default, without some that run in a process of their own.

    Args:
        left_out: names of agents, switched on or not.
        settings: all settings.

    Raises:
        UnknownAgent: for a name that is no agent's, and where none is left; naming those there are.
    """
    left_out = set(left_out)
    known = [*(AGENTS | optional_agents(settings))]
    if unknown := sorted(left_out - {*known, *EXPORTERS, INTAKE}):
        raise UnknownAgent(f"no agent is called {', '.join(unknown)}; there are {', '.join(known)}")
    kept = [name for name in known if name not in left_out]
    if not kept:
        raise UnknownAgent(f"no agent is left to run; there are {', '.join(known)}")
    return kept


@dataclass(slots=True)
class RunningAgent:
    """One agent at work."""

    definition: AgentDefinition
    application: AgentApplication
    processor: BatchProcessor
    privacy: Privacy
    assembler: Assembler | None = None

    async def start(self) -> None:
        """Join the group and begin."""
        self.processor.start()
        if self.assembler is not None:
            self.assembler.start()
        await self.application.start(self._receive)

    async def stop(self, grace_seconds: float) -> None:
        """Finish what was accepted, commit it and leave; the rest comes again."""
        self.application.stop_accepting()
        if self.assembler is not None:
            await self.assembler.stop()
        if not await self.processor.drain(grace_seconds * STOP_SHARE):
            log.warning("not_drained", agent=self.definition.name, in_flight=self.processor.in_flight)
        await self.processor.stop()
        await self.application.stop()

    def owns_first_partition(self) -> bool:
        """Whether the group has given this worker the first partition of what the agent reads: one has it."""
        return self.application.partition(self.definition.reads[0], 0) in self.application.assigned()

    def owned_partitions(self) -> set[int]:
        """Numbers of the partitions that this worker owns of the first topic that the agent reads."""
        name = self.application.partition(self.definition.reads[0], 0).topic
        return {partition.partition for partition in self.application.assigned() if partition.topic == name}

    def hindrance(self) -> str | None:
        """Why no records flow, or ``None`` if they do."""
        if self.processor.breaker.reason is not None:
            return self.processor.breaker.reason
        if not self.application.is_connected:
            return "the broker does not answer"
        if not self.application.is_assigned:
            return "waits for its partitions"
        return self.processor.waiting_for

    async def _receive(self, record: Record) -> None:
        if self.privacy.concerns(record):
            # In a thread: the longest record takes longer than the loop may be held up.
            record = await asyncio.to_thread(self.privacy.record, record, self.definition.name)
        if self.assembler is not None:
            await self.assembler.receive(record)
        else:
            await self.processor.submit(Work(record))


class Worker:
    """Agents with what they share.

    Args:
        settings: all settings.
        addresses: of broker and stores.
        agents: which ones; all by default.
    """

    def __init__(self, settings: Settings, addresses: Addresses, agents: Iterable[str] | None = None) -> None:
        self._settings = settings
        self._addresses = addresses
        self._definitions = chosen_agents(agents, settings)
        self._resources: Resources | None = None
        self._erasures = ErasureFollower(settings, addresses.kafka)
        self._running: list[RunningAgent] = []
        self._background: list[asyncio.Task[None]] = []
        self._store_problem: str | None = None
        self._health: HealthServer | None = None
        self._failure: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()
        self.metrics_port: int | None = None

    async def start(self) -> None:
        """Check topics, open stores and models, start every agent at once.

        Raises:
            TouchstoneError: something is missing; the message says what and the remedy.
        """
        async with TopicAdministration(self._settings, self._addresses.kafka) as topics:
            await topics.require(
                topic for definition in self._definitions for topic in definition.reads if topic.foreign
            )
        await self._start_health()
        await self._erasures.start()
        self._watch("erasures", self._erasures.run())
        resources = await self._open()
        self._running = [self._agent(definition, resources) for definition in self._definitions]
        await self._join_groups()
        self._watch("lag", self._observe_lag())
        self._watch("watchdog", watch_loop())
        if resources.analytics is not None:
            self._watch("store-check", self._check_store(resources.analytics))
        if resources.history is not None:
            self._watch("history-check", self._check_history(resources.history))
        for agent in self._running:
            if agent.definition is FEEDBACK:
                self._watch("posteriors", PosteriorPublisher(resources, agent.owns_first_partition).run())
            if agent.definition is DECISIONS:
                self._watch("finality", FinalityKeeper(resources, agent.owned_partitions).run())
                self._watch("deadlines", DeadlineSweeper(resources, agent.owns_first_partition).run())
        await resources.producer.send([_version_output(resources)], agent="worker")
        log.info(
            "worker_started",
            agents=[agent.definition.name for agent in self._running],
            pipeline_version=resources.pipeline_version,
            metrics_port=self.metrics_port,
        )

    async def _join_groups(self) -> None:
        joined: asyncio.Future[Any] = asyncio.gather(*(agent.start() for agent in self._running))
        failed: asyncio.Future[Any] = asyncio.ensure_future(self.wait_failed())
        try:
            await asyncio.wait([joined, failed], return_when=asyncio.FIRST_COMPLETED)
            if failed.done():
                raise failed.result()
            await joined
        finally:
            # Faust waits without end for a group that refuses us.
            for waiting in (joined, failed):
                waiting.cancel()
            await asyncio.gather(joined, failed, return_exceptions=True)

    async def wait_failed(self) -> Exception:
        """Wait until an agent cannot keep its promise.

        Returns:
            Why.
        """
        waits = [asyncio.ensure_future(agent.application.wait_crashed()) for agent in self._running]
        failures = [self._failure, *(agent.processor.failure for agent in self._running)]
        if self._resources is not None:
            models = (self._resources.embedding, self._resources.verifier)
            failures += [model.failure for model in models if model is not None]
        try:
            done, _ = await asyncio.wait([*waits, *failures], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        return next(iter(done)).result()

    def caught_up(self) -> bool:
        """Whether every agent has committed up to the end of what its last fetches saw."""
        return all(agent.processor.in_flight == 0 and agent.application.lag() == 0 for agent in self._running)

    @property
    def embedding(self) -> EmbeddingService | None:
        """The model of this worker, if its agents need one."""
        return self._resources.embedding if self._resources else None

    @property
    def verifier(self) -> VerificationService | None:
        """The verifier of this worker, if its agents need one and the settings name one."""
        return self._resources.verifier if self._resources else None

    @property
    def memory(self) -> MemoryStore | None:
        """The memory of this worker, if its agents need one."""
        return self._resources.memory if self._resources else None

    def lag(self) -> dict[str, int]:
        """Records that each agent is behind, by what its last fetches saw."""
        return {agent.definition.name: agent.application.lag() for agent in self._running}

    async def remembered(self) -> list[dict[str, Any]]:
        """Turns in this worker's memory store; none if it runs without the memory agent."""
        return await self.memory.turns() if self.memory is not None else []

    async def stop(self) -> None:
        """Drain every agent at once, within the grace, and close what was opened."""
        grace = self._settings.delivery.shutdown_grace_seconds
        for task in self._background:
            task.cancel()
        stops = asyncio.gather(*(agent.stop(grace) for agent in self._running), return_exceptions=True)
        try:
            for result in await asyncio.wait_for(stops, grace):
                if isinstance(result, BaseException):
                    log.warning("stop_failed", exc_info=result)
        except TimeoutError:
            log.warning("stop_exceeded_grace", grace_seconds=grace)
        await self._erasures.stop()
        if self._resources is not None:
            await _close(self._resources)
        if self._health is not None:
            await self._health.stop()

    def readiness(self) -> dict[str, str | None]:
        """What keeps each agent from work; ``None`` for nothing."""
        if len(self._running) < len(self._definitions):
            return {"worker": "starting"}
        hindrances = {agent.definition.name: agent.hindrance() for agent in self._running}
        for definition in self._definitions:
            if not STORED_IN_CLICKHOUSE.isdisjoint(definition.needs):
                hindrances[definition.name] = hindrances[definition.name] or self._store_problem
        return hindrances

    def _watch(self, name: str, task: Coroutine[None, None, None]) -> None:
        self._background.append(start_background(task, name, self._failure))

    async def _start_health(self) -> None:
        http = self._settings.http
        self._health = HealthServer(http.host, http.metrics_port, self.readiness)
        self.metrics_port = await self._health.start()
        metrics.BUILD.info({"version": package_version(), "pipeline_version": pipeline_version(self._settings)})

    async def _open(self) -> Resources:
        settings = self._settings
        version = pipeline_version(settings)
        producer = ConfirmedProducer(settings, self._addresses.kafka)
        await producer.start()
        resources = Resources(
            settings=settings,
            bootstrap_servers=self._addresses.kafka,
            pipeline_version=version,
            producer=producer,
            dead_letters=DeadLetterSender(producer, version),
            journal=AttemptJournal(settings.state_dir / "attempts", settings.kafka.group_prefix),
            erasures=self._erasures.register,
            now=lambda: datetime.now(UTC),
        )
        self._resources = resources  # from here on a stop closes what is open
        if settings.tracing.endpoint is not None:
            resources.tracing = Tracing(settings.tracing, version)
        needs = {need for definition in self._definitions for need in definition.needs}
        if "embedding" in needs:
            shared = open_shared_vectors(settings, self._addresses.redis)
            resources.embedding = await open_embedding(settings, shared=shared)
        if "verifier" in needs:
            resources.verifier = await open_verification(settings)
        if "memory" in needs:
            resources.memory = await _open_memory(settings, resources.embedding)
        if "history" in needs:
            # Not asked whether it answers: without it the worker does all but detect retries.
            resources.history = QueryHistory(
                self._addresses.redis, settings.redis, settings.feedback.retry_window_seconds
            )
        if "http" in needs:
            resources.http = open_session(settings.exports)
        if "released" in needs:
            resources.released = ReleasedAnswers(settings, self._addresses.kafka)
            await resources.released.start()
        if not (STORED_IN_CLICKHOUSE | ASKED_OF_CLICKHOUSE).isdisjoint(needs):
            client = await connect(settings.clickhouse, self._addresses.clickhouse)
            await migrate(client, settings.clickhouse.database)
            resources.analytics = AnalyticsStore(client, settings.clickhouse.database)
            resources.feedback = FeedbackStore(resources.analytics, settings.clickhouse.database)
            resources.reviews = ReviewStore(client, settings.clickhouse.database)
        return resources

    def _agent(self, definition: AgentDefinition, resources: Resources) -> RunningAgent:
        settings = self._settings
        application = AgentApplication(definition.name, definition.reads, settings, resources.bootstrap_servers)
        processor = BatchProcessor(
            definition.name,
            definition.handler(resources),
            application,
            resources.producer,
            resources.dead_letters,
            settings.delivery,
            definition.limits(settings),
            resources.journal,
            DeadLetterBreaker(definition.name, settings.breaker),
            self._erasures.register,
            resources.tracing,
        )
        agent = RunningAgent(
            definition, application, processor, Privacy(settings.privacy, settings.kafka.max_input_bytes)
        )
        if definition is ASSEMBLY:
            read = partial(read_answer, max_bytes=settings.kafka.max_input_bytes)
            agent.assembler = Assembler(application, processor, settings.delivery, read, self._erasures.register)
        return agent

    async def _check_store(self, store: AnalyticsStore) -> None:
        """Ask ClickHouse now and then: an agent without rows would not notice that it is away."""
        while True:
            self._store_problem = await store.problem()
            await asyncio.sleep(STORE_CHECK_SECONDS)

    async def _check_history(self, history: QueryHistory) -> None:
        while True:
            await history.check()
            await asyncio.sleep(STORE_CHECK_SECONDS)

    async def _observe_lag(self) -> None:
        while True:
            await asyncio.sleep(LAG_SECONDS)
            for agent in self._running:
                agent.application.observe_lag()


def _version_output(resources: Resources) -> Output:
    """What this version is made of, for those who compare versions later."""
    now, version = resources.now(), resources.pipeline_version
    columns = {
        "version": version,
        "parts": orjson.dumps(version_parts(resources.settings)).decode(),
        "started_at": now.isoformat(),
    }
    row = AnalyticsRow(table="versions", columns=columns)
    common: dict[str, Any] = {"agent": "worker", "time": now, "pipeline_version": version}
    return event_output(FEEDBACK_ANALYTICS, row, key=version, event_id=version, **common)


async def _open_memory(settings: Settings, embedding: EmbeddingService | None) -> MemoryStore:
    assert embedding is not None
    store = MemoryStore(settings.memory_uri, embedding.dimensions)
    await store.open()
    return store


async def _close(resources: Resources) -> None:
    await resources.producer.stop()
    if resources.released is not None:
        await resources.released.stop()
    if resources.embedding is not None:
        await resources.embedding.stop()
    if resources.verifier is not None:
        await resources.verifier.stop()
    if resources.memory is not None:
        await resources.memory.close()
    if resources.analytics is not None:
        await resources.analytics.close()
    if resources.history is not None:
        await resources.history.close()
    if resources.http is not None:
        await resources.http.close()
    if resources.tracing is not None:
        await asyncio.to_thread(resources.tracing.close)
    resources.journal.close()
    resources.steps_pool.shutdown(wait=False, cancel_futures=True)


async def run_worker(
    settings: Settings,
    addresses: Addresses,
    agents: Iterable[str] | None = None,
    ready: Callable[[Worker], None] | None = None,
) -> int:
    """Run until SIGTERM or SIGINT, or until an agent fails.

    Args:
        settings: all settings.
        addresses: of broker and stores.
        agents: which ones; all by default.
        ready: told once all agents are up.

    Returns:
        Exit code: 0 after a signal, 1 after a failure.
    """
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    worker = Worker(settings, addresses, agents)
    try:
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
    finally:
        await worker.stop()


async def _started(worker: Worker, stopped: asyncio.Future[Any]) -> bool:
    """Start, unless a signal comes first: a group may take its time to form, or a store to answer."""
    start = asyncio.ensure_future(worker.start())
    await asyncio.wait([start, stopped], return_when=asyncio.FIRST_COMPLETED)
    if start.done():
        await start
        return True
    start.cancel()
    await asyncio.gather(start, return_exceptions=True)
    return False
