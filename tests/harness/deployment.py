"""A deployment under test: its own topics, groups and database on real servers, workers as processes."""

import asyncio
import json
import os
import re
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

import aiohttp
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.structs import ConsumerRecord
from clickhouse_connect.driver.asyncclient import AsyncClient
from prometheus_client.parser import text_string_to_metric_families

from schemas.topics import ANSWERS_GENERATED, DEFAULT_PARTITIONS, TOPICS, Topic
from tests.harness.forked_process import ForkedProcess
from tests.harness.migrated import make_tables, return_tables
from tests.harness.paths import ROOT
from workers.agents.base import AgentDefinition
from workers.delivery.producer_client import partition_by_name
from workers.delivery.topics.topic_administration import TopicAdministration
from workers.process.peak_memory import peak_bytes
from workers.replay.throttle import GroupLag
from workers.runtime.agent_choice import AGENTS
from workers.settings import KafkaSettings, Settings
from workers.settings.addresses import Addresses, apply_local_defaults
from workers.stores.clickhouse.analytics_store import connect

FETCH_MILLISECONDS = 100
EVALUATION = "workers.runtime.evaluation_child"
READY = re.compile(r"metrics on http://[^:]+:(\d+)/metrics")


def runs(pid: int, module: str) -> bool:
    """Return whether a process runs, with this module on its command line."""
    try:
        return module in Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return False


def session_seconds(addresses: Addresses) -> float:
    """Return a short session timeout, after which a group goes on without a killed member.

    Tansu lets a group wait for half of it at each start; Kafka takes no shorter one than 6 s.
    """
    return 4.0 if addresses.light_broker else 6.0


async def until(
    condition: Callable[[], Awaitable[bool]], what: str, seconds: float = 300.0, interval: float = 0.1
) -> float:
    """Wait for a condition.

    Returns:
        Seconds that it took.

    Raises:
        TimeoutError: naming what did not come about.
    """
    started = time.monotonic()
    while not await condition():
        if time.monotonic() - started > seconds:
            raise TimeoutError(f"{what}: not within {seconds:g} s")
        await asyncio.sleep(interval)
    return time.monotonic() - started


@dataclass(slots=True)
class WorkerProcess:
    """One ``touchstone worker``."""

    process: asyncio.subprocess.Process | ForkedProcess
    log: Path
    metrics_port: int = 0

    @property
    def pid(self) -> int:
        return self.process.pid

    def evaluation_pids(self) -> list[int]:
        """Return the process identifiers of its evaluation processes."""
        found: list[int] = []
        for thread in Path(f"/proc/{self.pid}/task").glob("*/children"):
            with suppress(FileNotFoundError, ProcessLookupError):
                found += [pid for pid in map(int, thread.read_text().split()) if runs(pid, EVALUATION)]
        return found

    @property
    def running(self) -> bool:
        return self.process.returncode is None

    async def wait_ready(self, seconds: float = 300.0) -> None:
        async def ready() -> bool:
            match = READY.search(self.log.read_text(errors="replace"))
            if match:
                self.metrics_port = int(match[1])
            elif not self.running:
                raise RuntimeError(f"worker ended with {self.process.returncode}:\n{self.tail()}")
            return match is not None

        await until(ready, "worker ready", seconds)

    async def kill(self) -> None:
        """SIGKILL: no chance to do anything."""
        if self.running:
            self.process.kill()
        await self.process.wait()

    def pause(self) -> None:
        """Freeze the process; its connections stay."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    async def terminate(self, seconds: float = 120.0) -> int:
        """SIGTERM, then wait for the exit code."""
        if self.running:
            self.process.send_signal(signal.SIGTERM)
        try:
            return await asyncio.wait_for(self.process.wait(), seconds)
        except TimeoutError:
            await self.kill()
            raise

    async def end(self, seconds: float = 120.0) -> int:
        """Wait for the exit code of a process that ends by itself."""
        async with asyncio.timeout(seconds):
            return await self.process.wait()

    def peak_bytes(self) -> int:
        """Peak resident memory so far, its processes added up, or 0 once it has ended."""
        return sum(map(peak_bytes, [self.pid, *self.evaluation_pids()]))

    async def metric(self, name: str, **labels: str) -> float:
        """Sum of a metric over all series that carry these labels; 0 while nothing answers."""
        text = await self._get("/metrics")
        if text is None:
            return 0.0
        wanted = set(labels.items())
        lines = (line for line in text.splitlines(keepends=True) if line.startswith(name))
        return sum(
            sample.value
            for family in text_string_to_metric_families("".join(lines))
            for sample in family.samples
            if sample.name == name and wanted <= set(sample.labels.items())
        )

    async def state(self) -> str:
        """For a failure that must explain itself: how it stands and what it has said last."""
        if self.running:
            lag = await self.metric("touchstone_consumer_lag_records")
            in_work = await self.metric("touchstone_records_in_flight")
            standing = f"runs, lag {lag:g}, in flight {in_work:g}, ready: {await self.readiness()}"
        else:
            standing = f"ended with {self.process.returncode}"
        return f"--- {self.log.name}: {standing}\n{self.tail()}"

    async def readiness(self) -> str:
        """What /readyz says."""
        return await self._get("/readyz") or "no answer"

    async def _get(self, path: str) -> str | None:
        url = f"http://127.0.0.1:{self.metrics_port}{path}"
        try:
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session,
                session.get(url) as response,
            ):
                return await response.text()
        except (aiohttp.ClientError, TimeoutError):
            return None

    def logged(self, event: str) -> list[dict[str, Any]]:
        """Entries of one event in the log, which is in JSON."""
        lines = self.log.read_text(errors="replace").splitlines()
        entries = [json.loads(line) for line in lines if line.startswith("{") and event in line]
        return [entry for entry in entries if entry["event"] == event]

    def tail(self, lines: int = 40) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


@dataclass(slots=True)
class Deployment:
    """Names of its own on given servers.

    Attributes:
        forks: whether workers are forked from a process that has imported the libraries. Tests do so; benchmarks and
            the command of the fault tests start each worker anew.
        addresses: of the servers.
        directory: for logs and state; it is there.
        name: prefix of topics, groups and keys, and the database.
        environment: of its workers, beside what the deployment sets.
        partitions: of each topic.
        replication: replicas of each topic.
        min_insync_replicas: of each topic; by default one less than replicas.
        int8: folder of the model in int8, to run it as the image does; without, the model is in fp32.
        workers: those that were started.
    """

    forks: ClassVar[bool] = False
    addresses: Addresses
    directory: Path
    name: str = field(default_factory=lambda: f"t{uuid4().hex[:10]}")
    environment: dict[str, str] = field(default_factory=dict)
    partitions: int = DEFAULT_PARTITIONS
    replication: int = 1
    min_insync_replicas: int | None = None
    int8: Path | None = None
    workers: list[WorkerProcess] = field(default_factory=list)

    @property
    def settings(self) -> Settings:
        settings = Settings(
            _env_file=None,
            kafka=KafkaSettings(
                topic_prefix=f"{self.name}.",
                group_prefix=self.name,
                partitions=self.partitions,
                replication=self.replication,
                min_insync_replicas=self.min_insync_replicas,
                session_timeout_seconds=session_seconds(self.addresses),
            ),
            state_dir=self.directory / "state",
        )
        settings.clickhouse.database = self.name
        settings.redis.key_prefix = f"{self.name}:"
        if self.int8 is not None:
            settings.inference.precision, settings.inference.export_dir = "int8", self.int8
        return apply_local_defaults(settings, self.addresses)

    async def prepare(self) -> None:
        """Create topics and tables."""
        async with TopicAdministration(self.settings, self.addresses.kafka) as administration:
            await administration.create()
        client = await self.client()
        try:
            await make_tables(client, self.name)
        finally:
            await client.close()

    async def client(self) -> AsyncClient:
        return await connect(self.settings.clickhouse, self.addresses.clickhouse)

    async def start_worker(
        self,
        agents: Sequence[str] | None = None,
        *,
        ready: bool = True,
        environment: Mapping[str, str] | None = None,
        module: str = "workers.cli",
        command: str = "worker",
        python: Path | str = sys.executable,
    ) -> WorkerProcess:
        """Start a worker process and wait until all its agents are up.

        Args:
            agents: their names; by default all.
            ready: whether to wait.
            environment: beside that of the deployment.
            module: that is run.
            command: of the module.
            python: interpreter.
        """
        log = self.directory / f"worker-{len(self.workers)}.log"
        arguments = [command, *(["--agents", ",".join(agents)] if agents else [])]
        variables = self._environment() | dict(environment or {})
        if self.forks and python == sys.executable:
            worker = WorkerProcess(ForkedProcess.start(module, arguments, self.directory, variables, log), log)
        else:
            with log.open("wb") as output:
                process = await asyncio.create_subprocess_exec(
                    python, "-m", module, *arguments,
                    cwd=self.directory, env=variables, stdout=output, stderr=asyncio.subprocess.STDOUT,
                )  # fmt: skip
            worker = WorkerProcess(process, log)
        self.workers.append(worker)
        if ready:
            await worker.wait_ready()
        return worker

    async def stop(self) -> None:
        """End every worker that still runs."""
        for worker in self.workers:
            if worker.running:
                await worker.kill()

    async def delete_topics(self) -> None:
        """Delete the topics: the light broker tells every client of all topics, 0.25 s of CPU with those of 100 tests."""
        async with TopicAdministration(self.settings, self.addresses.kafka) as administration:
            await administration.delete(TOPICS)

    async def close(self) -> None:
        """End every worker, and delete topics and tables, whose views would refresh themselves for the rest of the run."""
        await self.stop()
        await self.delete_topics()
        client = await self.client()
        await return_tables(client, self.name)
        await client.close()

    async def send(
        self,
        values: Iterable[tuple[bytes | None, bytes | None]],
        topic: Topic = ANSWERS_GENERATED,
        *,
        age_seconds: float = 0.0,
    ) -> int:
        """Send raw records, confirmed.

        Args:
            values: keys and values.
            topic: where they are sent.
            age_seconds: age of the records by their timestamps.

        Returns:
            How many.
        """
        timestamp = int((time.time() - age_seconds) * 1000) if age_seconds else None
        producer = AIOKafkaProducer(
            # All replicas: a record that only a killed leader had is not lost by the workers.
            acks="all", partitioner=partition_by_name, bootstrap_servers=self.addresses.kafka,
            max_request_size=2_000_000,
        )  # fmt: skip
        count = 0
        try:
            await producer.start()
            pending = []
            for key, value in values:
                name = self.settings.topic_name(topic.name)
                pending.append(await producer.send(name, value=value, key=key, timestamp_ms=timestamp))
                count += 1
                if len(pending) >= 500:
                    await asyncio.gather(*pending)
                    pending.clear()
            await asyncio.gather(*pending)
        finally:
            await producer.stop()
        return count

    async def read(self, topic: Topic) -> list[ConsumerRecord]:
        """All records of a topic, up to the high-water mark that the broker's fetches tell."""
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self.addresses.kafka, auto_offset_reset="earliest", enable_auto_commit=False,
            max_partition_fetch_bytes=2_000_000, fetch_max_wait_ms=FETCH_MILLISECONDS,
        )  # fmt: skip
        await consumer.start()
        try:
            partitions = [
                TopicPartition(self.settings.topic_name(topic.name), number)
                for number in range(self.settings.kafka.partitions)
            ]
            consumer.assign(partitions)
            await consumer.seek_to_beginning()
            records: list[ConsumerRecord] = []
            unread = set(partitions)
            async with asyncio.timeout(300):
                while unread:
                    found = await consumer.getmany(*unread, timeout_ms=FETCH_MILLISECONDS)
                    records.extend(record for batch in found.values() for record in batch)
                    for partition in partitions:
                        mark = consumer.highwater(partition)
                        if mark is not None and await consumer.position(partition) >= mark:
                            unread.discard(partition)
            return records
        finally:
            await consumer.stop()

    async def caught_up(self, agent: AgentDefinition, *topics: Topic, seconds: float = 900.0) -> None:
        """Wait until an agent has acknowledged all that topics hold; without topics, all those it reads."""
        group = self.settings.group_name(agent.name)
        lags = [
            GroupLag(self.settings, self.addresses.kafka, topic, [group], new_ones_count=True)
            for topic in topics or agent.reads
        ]
        await asyncio.gather(*(lag.start() for lag in lags))
        try:

            async def none() -> bool:
                return not any(await asyncio.gather(*(lag.records() for lag in lags)))

            await until(none, f"{agent.name} has read its topics", seconds)
        finally:
            await asyncio.gather(*(lag.stop() for lag in lags))

    async def all_caught_up(self, agents: Sequence[AgentDefinition] = tuple(AGENTS.values())) -> None:
        """Wait until nothing is left to do: agents send before they acknowledge, and write for later ones only."""
        for agent in agents:
            await self.caught_up(agent)

    async def query(self, client: AsyncClient, sql: str) -> Any:
        """One row; ``{db}`` is the database."""
        return (await client.query(sql.format(db=self.name))).result_rows[0]

    async def table_texts(self, client: AsyncClient) -> dict[str, str]:
        """Every row of every table, as text that the engine makes: it knows types that the client does not."""
        found = await client.query(
            "SELECT name FROM system.tables WHERE database = {db:String} AND NOT startsWith(name, '.tmp')",
            parameters={"db": self.name},
        )
        return {
            name: (await client.raw_query(f"SELECT * FROM {self.name}.{name}", fmt="TabSeparatedRaw")).decode(
                "utf-8", "replace"
            )
            for (name,) in found.result_rows
        }

    def _environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("TOUCHSTONE_")}
        addresses = {
            "KAFKA_BOOTSTRAP_SERVERS": self.addresses.kafka,
            "REDIS_URL": self.addresses.redis,
            "CLICKHOUSE_URL": self.addresses.clickhouse,
        }
        settings = {
            "TOUCHSTONE_KAFKA__TOPIC_PREFIX": f"{self.name}.",
            "TOUCHSTONE_KAFKA__GROUP_PREFIX": self.name,
            "TOUCHSTONE_KAFKA__IDEMPOTENT_PRODUCER": str(self.settings.kafka.idempotent_producer),
            "TOUCHSTONE_KAFKA__FETCH_WAIT_SECONDS": str(self.settings.kafka.fetch_wait_seconds),
            "TOUCHSTONE_KAFKA__SESSION_TIMEOUT_SECONDS": str(self.settings.kafka.session_timeout_seconds),
            "TOUCHSTONE_CLICKHOUSE__DATABASE": self.name,
            "TOUCHSTONE_REDIS__KEY_PREFIX": f"{self.name}:",
            "TOUCHSTONE_STATE_DIR": str(self.directory / "state"),
            # Threads of several models on the same cores wait for each other in a spin: far slower than one alone.
            "TOUCHSTONE_INFERENCE__THREADS": "1",
            # A kill of a worker kills all of its agents. Tests of evaluation processes set another number.
            "TOUCHSTONE_EVALUATORS__PROCESSES": "0",
            "TOUCHSTONE_LOG_FORMAT": "json",
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
        }
        if self.int8 is not None:
            settings |= {
                "TOUCHSTONE_INFERENCE__PRECISION": "int8",
                "TOUCHSTONE_INFERENCE__EXPORT_DIR": str(self.int8),
            }
        return inherited | addresses | settings | self.environment
