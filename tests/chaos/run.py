"""One scenario's run: a deployment, its proxies and what it has sent."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from aiokafka.errors import KafkaError
from clickhouse_connect.driver.asyncclient import AsyncClient

from tests.chaos.broker import ProxiedBroker
from tests.chaos.proxy import KafkaProxy, TcpProxy
from tests.chaos.standstill import Standstill
from tests.harness.addresses import with_port
from tests.harness.answers import identifier, records, stubbed_records
from tests.harness.deployment import Deployment, WorkerProcess, until
from tests.harness.kafka_cluster import KafkaCluster, KafkaMissing

FAULTS_PATH = Path(__file__).parent / "faults"
STUBBED = "benchmarks.stubbed_worker"
"""Module of workers whose evaluation is stubbed."""


class Skipped(Exception):
    """The scenario cannot be played here; the text says why."""


@dataclass(slots=True)
class Run:
    """What a scenario works with.

    Attributes:
        deployment: topics, groups and tables of its own.
        answers: how many answers to send.
        sent: identifiers of readable answers.
        poison: unreadable records sent. Each must become a dead letter of assembly, and nothing else.
        faults: faults injected.
        expected_degraded: answers that must end degraded, and no more.
        expected_lost: answers that the broker has deleted and the worker has reported as lost.
        kills: processes to kill, where the scenario leaves the number open.
        fleet: workers to start, where the scenario leaves the number open.
        standstills: longest times without a new record by group, where the scenario measures them.
        notes: what explains the figures.
        module: module that a worker runs.
        records: makes answers: number, prefix and first number.
        tell: called with what was done, how often, and how often it will be done.
    """

    deployment: Deployment
    answers: int
    client: AsyncClient
    sent: set[str] = field(default_factory=set)
    poison: int = 0
    faults: int = 0
    peak_bytes: int = 0
    recovered_seconds: float = 0.0
    expected_degraded: int = 0
    expected_lost: set[str] = field(default_factory=set)
    kills: int | None = None
    fleet: int | None = None
    standstills: dict[str, Standstill] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    module: str = "workers.cli"
    records: Callable[[int, str, int], Iterable[tuple[bytes, bytes]]] = records
    tell: Callable[[str, int, int], None] = lambda _what, _done, _all: None
    proxies: list[TcpProxy | KafkaProxy] = field(default_factory=list)
    broker: ProxiedBroker | None = None
    kafka: KafkaCluster | None = None
    disks: list[Path] = field(default_factory=list)
    _burst: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def patience(self) -> float:
        # For a machine that has more to do than this; who waits for a condition loses nothing by it.
        return 300.0 + self.answers / 20

    async def worker(
        self,
        agents: list[str] | None = None,
        environment: dict[str, str] | None = None,
    ) -> WorkerProcess:
        return await self.deployment.start_worker(agents, environment=environment, module=self.module)

    def stub_evaluation(self) -> None:
        """Give workers that start from now on constant evaluations, and answers that fit them."""
        self.module, self.records = STUBBED, stubbed_records

    async def send(self, count: int | None = None, prefix: str = "a", start: int = 0) -> None:
        """Send answers; counted as sent once the broker has confirmed them."""
        count = self.answers if count is None else count
        await self.deployment.send(self.records(count, prefix, start))
        self.sent |= {identifier(number, prefix) for number in range(start, start + count)}

    async def send_until_confirmed(self, count: int, prefix: str = "a", start: int = 0) -> None:
        """Send answers, and all of them again while a broker is away: a repeat has the same identifiers."""
        async with asyncio.timeout(self.patience):
            while True:
                try:
                    return await self.send(count, prefix, start)
                except KafkaError:
                    await asyncio.sleep(1)

    @asynccontextmanager
    async def traffic(self, burst: int, pause: float) -> AsyncIterator[None]:
        """Send bursts of answers as long as the block lasts, so that something is in work whenever trouble comes.

        Args:
            burst: answers in each.
            pause: seconds between them.

        Raises:
            TimeoutError: the broker has not confirmed a burst in time.
        """

        async def send() -> None:
            start = 0
            while True:
                async with self._burst:
                    await self.send_until_confirmed(burst, "t", start)
                start += burst
                await asyncio.sleep(pause)

        sending = asyncio.create_task(send())
        try:
            yield
        finally:
            # Between two bursts and never within one: what the broker has confirmed is counted.
            await self._stop_between_bursts(sending)

    async def _stop_between_bursts(self, sending: asyncio.Task[None]) -> None:
        async with self._burst:
            sending.cancel()
        await asyncio.wait([sending])
        if not sending.cancelled():
            sending.result()  # it ended by an error, and the rest of the block had no traffic

    async def until_assembled(self, worker: WorkerProcess, count: int) -> None:
        """Until this process has settled so many answers: the moment is in the middle of its work."""

        async def enough() -> bool:
            settled = await worker.metric("touchstone_records_acknowledged_total", agent="assembly")
            return settled >= count

        # A look takes both processes as much CPU as an answer.
        await until(enough, f"{count} answers assembled", self.patience, interval=0.3)

    async def until_quiet(self) -> None:
        """Until no running worker has anything left to do, twice in a row."""
        quiet = 0

        async def nothing_left() -> bool:
            nonlocal quiet
            running = [worker for worker in self.deployment.workers if worker.running]
            lag = sum([await worker.metric("touchstone_consumer_lag_records") for worker in running])
            in_work = sum([await worker.metric("touchstone_records_in_flight") for worker in running])
            quiet = quiet + 1 if lag + in_work == 0 else 0
            self.observe()
            return quiet >= 2

        # Lag is observed every two seconds: two looks further apart see two observations.
        await until(nothing_left, "all agents caught up", self.patience, interval=2.1)

    async def send_poison(self, values: Iterable[bytes]) -> None:
        """Send records that nobody can read."""
        self.poison += await self.deployment.send((None, value) for value in values)
        self.faults = self.poison

    async def stored(self) -> int:
        row = await self.deployment.query(self.client, "SELECT uniqExact(answer_id) FROM {db}.answers")
        return int(row[0])

    async def stored_identifiers(self) -> set[str]:
        result = await self.client.query(f"SELECT DISTINCT answer_id FROM {self.deployment.name}.answers")
        return {str(row[0]) for row in result.result_rows}

    async def degraded_identifiers(self) -> set[str]:
        result = await self.client.query(f"SELECT answer_id FROM {self.deployment.name}.answers FINAL WHERE degraded")
        return {str(row[0]) for row in result.result_rows}

    async def settled(self) -> int:
        """Answers stored, and records that assembly has dead-lettered, as ClickHouse knows them."""
        row = await self.deployment.query(
            self.client,
            "SELECT (SELECT uniqExact(answer_id) FROM {db}.answers),"
            " (SELECT count() FROM {db}.dead_letters FINAL WHERE agent = 'assembly')",
        )
        return int(row[0]) + int(row[1])

    async def until_stored(self, count: int) -> float:
        async def enough() -> bool:
            return await self.stored() >= count

        return await until(enough, f"{count} answers stored", self.patience)

    async def until_settled(self) -> None:
        """Until everything sent is stored or dead-lettered; the time counts as recovery."""

        wanted = len(self.sent - self.expected_lost) + self.poison

        async def everything() -> bool:
            self.observe()
            return await self.settled() >= wanted

        # The question costs ClickHouse more the more answers it has.
        seconds = max(0.5, wanted / 20_000)
        self.recovered_seconds = await until(everything, f"{wanted} records settled", self.patience, interval=seconds)

    def observe(self) -> None:
        """Keep the highest memory of any worker."""
        self.peak_bytes = max([self.peak_bytes, *(worker.peak_bytes() for worker in self.deployment.workers)])

    async def proxy_clickhouse(self) -> TcpProxy:
        """Put a proxy between workers and ClickHouse; the oracle looks past it."""
        return await self._proxy("CLICKHOUSE_URL", self.deployment.addresses.clickhouse)

    async def proxy_valkey(self) -> TcpProxy:
        """Put a proxy between workers and Valkey."""
        return await self._proxy("REDIS_URL", self.deployment.addresses.redis)

    async def _proxy(self, variable: str, url: str) -> TcpProxy:
        parts = urlsplit(url)
        proxy = TcpProxy(parts.port or Path(unquote(parts.path)))
        await proxy.start()
        self.proxies.append(proxy)
        on_port = url if parts.port else f"redis://:{parts.password}@127.0.0.1:1/0"
        self.deployment.environment[variable] = with_port(on_port, proxy.port)
        return proxy

    async def broker_behind_proxy(self) -> KafkaProxy:
        """A broker of its own that advertises a proxy's address, so that no client finds a way around.

        Raises:
            Skipped: the broker is given from outside, and Kafka is missing here.
        """
        if self.deployment.addresses.light_broker:
            self.broker = await ProxiedBroker.start()
        else:
            try:
                self.broker = await ProxiedBroker.start_kafka(self.deployment.directory / "kafka")
            except KafkaMissing as reason:
                raise Skipped(f"the broker is given from outside: {reason}") from reason
        self.deployment.addresses = replace(self.deployment.addresses, kafka=self.broker.address)
        await self.deployment.prepare()
        return self.broker.proxy

    async def own_kafka(
        self, size: int = 1, *, properties: Mapping[str, str] | None = None, version: str | None = None
    ) -> KafkaCluster:
        """A cluster of Apache Kafka that the scenario may harm.

        Raises:
            Skipped: the run is on the light broker, or Kafka is missing.
        """
        if self.deployment.addresses.light_broker:
            raise Skipped("the light broker is one node and keeps its log in memory")
        try:
            self.kafka = await KafkaCluster.start(
                self.deployment.directory / "kafka", size, properties=properties, version=version
            )
        except KafkaMissing as reason:
            raise Skipped(str(reason)) from reason
        self.deployment.addresses = replace(self.deployment.addresses, kafka=self.kafka.addresses)
        self.deployment.replication = min(3, size)
        await self.deployment.prepare()
        return self.kafka

    async def small_disk(self, megabytes: int) -> Path:
        """A file system of its own, in memory, that a scenario can fill.

        Raises:
            Skipped: this user may not mount one.
        """
        folder = self.deployment.directory / "disk"
        folder.mkdir()
        options = ("-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder))
        if os.geteuid() != 0 or await _run("mount", *options) != 0:
            raise Skipped("only root may mount a file system")
        self.disks.append(folder)
        return folder

    async def close(self) -> None:
        self.observe()
        await self.deployment.stop()
        for proxy in self.proxies:
            await proxy.stop()
        if self.broker is None and self.kafka is None:
            await self.deployment.delete_topics()
        if self.broker is not None:
            await self.broker.stop()
        if self.kafka is not None:
            await self.kafka.kill()
        for disk in self.disks:
            await _run("umount", str(disk))
        await self.client.command(f"DROP DATABASE IF EXISTS {self.deployment.name}")
        await self.client.close()

    @staticmethod
    def faulty(fault: str, switch: Path | None = None) -> dict[str, str]:
        """Environment of a worker with a fault inside."""
        root = FAULTS_PATH.parent.parent.parent
        environment = {"CHAOS_FAULT": fault, "PYTHONPATH": f"{FAULTS_PATH}:{root}"}
        return environment | ({"CHAOS_SWITCH": str(switch)} if switch else {})


async def _run(*command: str) -> int:
    """Run a command to its end; return its exit code."""
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.DEVNULL)
    return await process.wait()
