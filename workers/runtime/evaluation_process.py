"""Run evaluation agents in a process of their own, which belongs to a worker.

An interpreter runs Python code on one core at a time. The evaluation takes most of the CPU of a worker, so the other
agents wait for it in a process that they share.
"""

import asyncio
import logging
import pickle
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Self

import aiohttp
import orjson
from prometheus_client import Metric
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from schemas.topics import REPORT_TOPICS
from workers.errors import FatalDeliveryError, TouchstoneError
from workers.observability.logs import get_logger
from workers.process.cores import available_cores
from workers.process.peak_memory import peak_bytes
from workers.runtime.evaluation_child import KILL_SECONDS, Order
from workers.runtime.health import NoResponse
from workers.settings import Settings
from workers.settings.addresses import Addresses

MODULE = "workers.runtime.evaluation_child"
NAME = "evaluation"

LAG = "touchstone_consumer_lag_records"

PROBE_SECONDS = 3.0
"""Maximum wait for a probe of the process, seconds; callers of the worker's probes wait longer."""

SCRAPE_SECONDS = 8.0
"""Maximum wait for the metrics of the process, seconds; Prometheus waits for 10 s."""

log = get_logger(__name__)


def process_count(settings: Settings) -> int:
    """Return the number of evaluation processes: by the setting, else one if this process may use two cores."""
    chosen = settings.evaluators.processes
    if chosen == "auto":
        return 1 if available_cores() > 1 else 0
    return chosen


def evaluation_agents(settings: Settings) -> tuple[str, ...]:
    """Return the names of the agents that evaluate answers, with those of plug-ins."""
    return (*REPORT_TOPICS, *settings.evaluators.enabled)


@asynccontextmanager
async def spawned_processes(settings: Settings) -> "AsyncIterator[list[EvaluationProcess]]":
    """Spawn the evaluation processes of a worker that runs all agents; none if it evaluates by itself.

    They can be spawned before the worker exists: their imports take seconds. Those that still run at the end of the
    context are stopped.
    """
    count = process_count(settings)
    names = [NAME] if count == 1 else [f"{NAME}-{number}" for number in range(1, count + 1)]
    async with AsyncExitStack() as stack:
        processes = []
        for name in names:
            processes.append(await EvaluationProcess.spawn(name))
            stack.push_async_callback(processes[-1].stop)
        yield processes


class EvaluationProcess:
    """Run evaluation agents in a child process; :meth:`spawn` returns one.

    Args:
        name: name of the process in logs, errors and the names of checks.
        process: the child process.
        reader: what the process reports of its start.
        channel: its standard input, whose end ends the process.
    """

    def __init__(
        self,
        name: str,
        process: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        channel: asyncio.StreamWriter,
    ) -> None:
        self.name = name
        self._process = process
        self._channel = channel
        self._report = asyncio.create_task(self._read_report(reader))
        # Retrieve the exception: a worker that is stopped in its start does not wait for it.
        self._report.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._grace_seconds = 0.0
        self._port: int | None = None

    @classmethod
    async def spawn(cls, name: str) -> Self:
        """Start a process, which imports what it needs and waits for its order.

        It has its own session, so that Ctrl-C in a terminal reaches only the worker, which then stops both.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            reader, channel = await asyncio.open_connection(sock=ours)
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", MODULE, stdin=theirs.fileno(), start_new_session=True
            )
        log.info("evaluation_process_spawned", name=name, pid=process.pid)
        return cls(name, process, reader, channel)

    async def start(self, settings: Settings, addresses: Addresses, agents: Sequence[str]) -> None:
        """Order the process to start its agents, without waiting for them.

        Args:
            settings: settings of the worker.
            addresses: addresses of broker and stores.
            agents: names of the agents.
        """
        self._grace_seconds = settings.delivery.shutdown_grace_seconds
        # Only this worker asks for metrics and probes of the process.
        http = settings.http.model_copy(update={"host": "127.0.0.1", "metrics_port": 0})
        order = Order(
            name=self.name,
            settings=settings.model_copy(update={"http": http}),
            addresses=addresses,
            agents=tuple(agents),
            log_level=logging.getLevelName(logging.getLogger("workers").getEffectiveLevel()),
            log_format=settings.log_format,
        )
        self._channel.write(pickle.dumps(order))
        with suppress(ConnectionError):  # wait_started reports a process that ended
            await self._channel.drain()

    async def wait_started(self) -> None:
        """Wait until all agents of the process have started.

        Raises:
            TouchstoneError: the start failed; the message is that of the process.
        """
        self._port = await asyncio.shield(self._report)

    async def wait_failed(self) -> Exception:
        """Wait until the process ends.

        Returns:
            The failure.
        """
        status = await self._process.wait()
        try:
            await asyncio.shield(self._report)
        except TouchstoneError as error:
            return error
        return self._ended(status)

    async def _read_report(self, reader: asyncio.StreamReader) -> int:
        """Return the port of the process once its agents have started; raise the error of its start."""
        line = b""
        with suppress(ConnectionError):
            line = await reader.readline()
        if not line:
            raise self._ended(await self._process.wait())
        report = orjson.loads(line)
        if "error" in report:
            raise TouchstoneError(report["error"])
        return int(report["metrics_port"])

    def _ended(self, status: int) -> FatalDeliveryError:
        ended = f"by signal {signal.Signals(-status).name}" if status < 0 else f"with exit status {status}"
        return FatalDeliveryError(
            f"the process {self.name} ended {ended}; read its last log lines and restart the worker"
        )

    async def stop(self) -> None:
        """Stop the process: with SIGTERM, and with SIGKILL if it has not ended some time after the grace period."""
        self._port = None
        if self._process.returncode is None:
            grace = self._grace_seconds
            for number, seconds in ((signal.SIGTERM, grace + KILL_SECONDS), (signal.SIGKILL, KILL_SECONDS)):
                with suppress(ProcessLookupError):
                    self._process.send_signal(number)
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await self._process.wait()
                    break
                log.warning("stop_grace_exceeded", process_name=self.name, grace_seconds=grace)
        self._report.cancel()
        self._channel.close()

    async def is_alive(self) -> bool:
        """Return whether the event loop of the process runs; true while the process starts."""
        if self._process.returncode is not None:
            return False
        try:
            await self._get("/healthz", PROBE_SECONDS)
        except NoResponse:
            return False
        return True

    async def checks(self) -> Mapping[str, str | None]:
        """Return the reason for each agent that is not ready; ``None`` for ready agents."""
        try:
            body = await self._get("/readyz", PROBE_SECONDS)
        except NoResponse:
            return {self.name: "does not respond"}
        if body is None:
            return {self.name: "starting"}
        return {name: None if reason == "ok" else reason for name, reason in orjson.loads(body)["checks"].items()}

    async def metrics(self) -> list[Metric]:
        """Return the metrics of the process; empty while it starts.

        Raises:
            NoResponse: the process does not respond.
        """
        body = await self._get("/metrics", SCRAPE_SECONDS)
        # In a thread: parsing takes 20 ms.
        return [] if body is None else await asyncio.to_thread(_parsed, body)

    async def lag(self) -> dict[str, int]:
        """Return the lag of each agent in records, as last measured; empty if the process does not respond."""
        lag: dict[str, int] = {}
        with suppress(NoResponse):
            for sample in (each for metric in await self.metrics() for each in metric.samples):
                if sample.name == LAG:
                    agent = sample.labels["agent"]
                    lag[agent] = lag.get(agent, 0) + int(sample.value)
        return lag

    def peak_bytes(self) -> int:
        """Return the peak resident memory of the process, bytes; 0 if it does not run."""
        return peak_bytes(self._process.pid)

    async def _get(self, path: str, seconds: float) -> bytes | None:
        """Return the body of a response with any status; ``None`` while the process starts."""
        if self._port is None:
            return None
        url = f"http://127.0.0.1:{self._port}{path}"
        timeout = aiohttp.ClientTimeout(total=seconds)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout, headers={"Accept": CONTENT_TYPE_LATEST}) as session,
                session.get(url) as response,
            ):
                return await response.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise NoResponse(f"the process {self.name} does not respond") from error


def _parsed(body: bytes) -> list[Metric]:
    return list(text_string_to_metric_families(body.decode()))  # type: ignore[no-untyped-call]
