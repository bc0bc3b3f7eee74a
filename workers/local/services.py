"""Start, find, watch and stop the local services together.

    async with LocalServices(Path(".touchstone")) as services:
        print(services.addresses)
        failure = await services.wait_for_failure()

Other processes find the services by `read_addresses`. The log of the light broker is lost when the broker ends. The
data of Apache Kafka, Redis and ClickHouse stay in the state directory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import structlog

from workers.local.apache_kafka import apache_kafka_service
from workers.local.broker import light_broker_service
from workers.local.child import ChildProcess, ServiceSpec
from workers.local.engine.clickhouse import clickhouse_service
from workers.local.errors import LocalServiceError
from workers.local.passwords import ensure_passwords, passwords_file
from workers.local.ports import choose_port, is_free
from workers.local.state import (
    DEFAULT_STATE_DIR,
    RecordedProcess,
    ServiceAddresses,
    StateDirectory,
    read_addresses,
)
from workers.local.valkey import valkey_service, valkey_socket

__all__ = [
    "DEFAULT_STATE_DIR",
    "LocalServiceError",
    "LocalServices",
    "ServiceAddresses",
    "ServicePorts",
    "read_addresses",
]

log = structlog.get_logger(__name__)

_PORT_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class ServicePorts:
    """Fixed loopback ports; None for the previous port or any free port, and for a Unix socket of Redis."""

    kafka: int | None = None
    redis: int | None = None
    clickhouse: int | None = None


class LocalServices:
    """Starts the services of one state directory and stops them.

    One instance serves one start. Use it as an async context manager, or call `start` and
    `stop`. Only one process at a time can run the services of a state directory.
    """

    def __init__(
        self,
        state_dir: Path = DEFAULT_STATE_DIR,
        *,
        kafka: bool = True,
        redis: bool = True,
        clickhouse: bool = True,
        light_broker: bool = True,
        ports: ServicePorts | None = None,
    ) -> None:
        # Absolute, so that a later change of the working directory has no effect.
        self._state = StateDirectory(state_dir.absolute())
        self._wanted = {"kafka": kafka, "redis": redis, "clickhouse": clickhouse}
        self._light_broker = light_broker
        self._ports = ports or ServicePorts()
        self._children: dict[str, ChildProcess] = {}
        self._stopping = asyncio.Event()
        self._addresses: ServiceAddresses | None = None
        self._passwords: dict[str, str] = {}

    @property
    def addresses(self) -> ServiceAddresses:
        """Return the addresses of the services.

        Raises:
            RuntimeError: the services have not been started.
        """
        if self._addresses is None:
            raise RuntimeError("The local services have not been started.")
        return self._addresses

    @property
    def pids(self) -> dict[str, int]:
        """Return the process ids of the services by name."""
        return {name: child.pid for name, child in self._children.items()}

    async def start(self) -> ServiceAddresses:
        """Start all services and return when every one of them answers.

        Services left behind by a killed start are ended first.

        Raises:
            LocalServiceError: services already run in this state directory, or one could not be started; in that
                case none is left running.
        """
        self._state.lock()
        try:
            self._passwords = ensure_passwords(self._state.path)
            await asyncio.to_thread(self._state.end_orphans)
            async with asyncio.TaskGroup() as starts:
                for name, spec in self._specs().items():
                    starts.create_task(self._start_one(name, spec))
            self._record(ready=True)
        except BaseExceptionGroup as group:
            await self.stop()
            raise _first_failure(group) from None
        except BaseException:
            await self.stop()
            raise
        self._addresses = ServiceAddresses.of_places(
            {name: child.socket or child.port for name, child in self._children.items()},
            self._passwords,
            light_broker=self._light_broker,
        )
        log.info("local_services_started", state_dir=str(self._state.path), pids=self.pids)
        return self._addresses

    async def stop(self) -> None:
        """Stop all services concurrently, and remove the recorded addresses. Safe to repeat."""
        self._stopping.set()
        await asyncio.gather(*(child.stop() for child in self._children.values()))
        self._state.release()

    async def wait_for_failure(self) -> LocalServiceError | None:
        """Wait until a service ends unexpectedly, and return the error with its name and reason.

        Returns None when the services were stopped by `stop`.
        """
        ends = {asyncio.create_task(child.wait()): child for child in self._children.values()}
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait({stopping, *ends}, return_when=asyncio.FIRST_COMPLETED)
            if self._stopping.is_set():
                return None
            task = next(task for task in ends if task.done())
            failure = ends[task].failure(f"it ended unexpectedly (exit status {task.result()}).")
            log.error("local_service_failed", service=failure.service, problem=failure.problem)
            return failure
        finally:
            for waiting in (stopping, *ends):
                waiting.cancel()

    async def __aenter__(self) -> LocalServices:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.stop()

    def _specs(self) -> dict[str, ServiceSpec]:
        """Return the start specifications of the wanted services."""
        makers: dict[str, Callable[[], ServiceSpec]] = {
            "kafka": light_broker_service
            if self._light_broker
            else lambda: apache_kafka_service(self._state.data("apache-kafka")),
            "redis": self._valkey,
            "clickhouse": lambda: clickhouse_service(self._state.data("clickhouse"), passwords_file(self._state.path)),
        }
        return {name: make() for name, make in makers.items() if self._wanted[name]}

    def _valkey(self) -> ServiceSpec:
        directory = self._state.data("valkey")
        # Other programs that need a port ask for one.
        socket = valkey_socket(directory) if self._ports.redis is None else None
        return valkey_service(directory, self._passwords["redis"], socket)

    async def _start_one(self, name: str, spec: ServiceSpec) -> None:
        """Start one service.

        Another program may take the port between the choice and the start. Then another port is chosen, unless the
        caller fixed the port.
        """
        fixed: int | None = getattr(self._ports, name)
        previous = self._state.previous_ports().get(name)
        for attempt in range(1, _PORT_ATTEMPTS + 1):
            port = 0 if spec.socket else choose_port(name, fixed, previous)
            child = await ChildProcess.spawn(spec, port, self._state.log(name))
            self._children[name] = child
            self._record(ready=False)
            try:
                await child.wait_ready()
            except LocalServiceError:
                await child.stop()
                lost_port = not spec.socket and child.has_ended() and not is_free(port)
                if fixed is not None or not lost_port or attempt == _PORT_ATTEMPTS:
                    raise
            else:
                return

    def _record(self, *, ready: bool) -> None:
        """Record the running processes, so that a later start can find or end them."""
        self._state.record(
            {
                name: RecordedProcess(child.identity, child.port, str(child.socket) if child.socket else None)
                for name, child in self._children.items()
                if child.identity is not None
            },
            ready=ready,
            light_broker=self._light_broker,
        )


def _first_failure(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the error to report: a defect of this program before a service's failure."""
    failures, defects = group.split(LocalServiceError)
    error: BaseException = defects or failures or group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
