"""The state directory: where running services are found, and who may start them.

It holds `services.json` (addresses and processes while services run), `ports.json` (the last
ports, so that addresses stay the same), `lock`, `logs/` and the services' data.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import structlog

from workers.local.errors import LocalServiceError
from workers.local.ports import LOOPBACK
from workers.local.processes import ProcessIdentity, end_process, is_alive

log = structlog.get_logger(__name__)

DEFAULT_STATE_DIR = Path(".touchstone")
_CONNECT_TIMEOUT_S = 1.0
_ORPHAN_GRACE_S = 10.0
_RUNNING, _STARTING = "running", "starting"


@dataclass(frozen=True, slots=True)
class ServiceAddresses:
    """Where the local services answer; None for one that was not started.

    Attributes:
        kafka_bootstrap_servers: host:port of the broker.
        redis_url: URL of the Redis server's database 0.
        clickhouse_url: URL of ClickHouse's HTTP interface.
    """

    kafka_bootstrap_servers: str | None = None
    redis_url: str | None = None
    clickhouse_url: str | None = None

    @classmethod
    def of_ports(cls, ports: Mapping[str, int]) -> ServiceAddresses:
        """The addresses of services by name on these loopback ports."""
        return cls(
            f"{LOOPBACK}:{ports['kafka']}" if "kafka" in ports else None,
            f"redis://{LOOPBACK}:{ports['redis']}/0" if "redis" in ports else None,
            f"http://{LOOPBACK}:{ports['clickhouse']}" if "clickhouse" in ports else None,
        )


@dataclass(frozen=True, slots=True)
class RecordedProcess:
    """A service's process as `services.json` records it."""

    identity: ProcessIdentity
    port: int

    def answers(self) -> bool:
        """Whether this process still runs and its port takes connections."""
        if not is_alive(self.identity):
            return False
        try:
            with socket.create_connection((LOOPBACK, self.port), timeout=_CONNECT_TIMEOUT_S):
                return True
        except OSError:
            return False


@dataclass(slots=True)
class StateDirectory:
    """The files of one state directory. `lock` first, then write."""

    path: Path
    _lock_fd: int | None = field(default=None, repr=False)

    @property
    def services_file(self) -> Path:
        """Addresses and processes of the services that run."""
        return self.path / "services.json"

    def data(self, service: str) -> Path:
        """The directory of a service's data."""
        return self.path / service

    def log(self, service: str) -> Path:
        """The log of a service's output."""
        return self.path / "logs" / f"{service}.log"

    def lock(self) -> None:
        """Make the directory and keep others from starting services in it.

        The lock belongs to this process alone and ends with it, however it ends.

        Raises:
            LocalServiceError: services run in it already, or it cannot be written.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            fd = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise LocalServiceError(
                "services",
                f"the state directory {self.path} cannot be used ({error}).",
                "Give another state directory.",
            ) from error
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(fd, 32, 0).decode("ascii", "replace").strip()
            os.close(fd)
            raise LocalServiceError(
                "services",
                f"the services of {self.path} run already, started by process {holder or '?'}.",
                "Use them as they are, end that process, or give another state directory.",
            ) from None
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        self._lock_fd = fd

    def release(self) -> None:
        """Forget the services, which have stopped, and let others start some. Safe to repeat."""
        if self._lock_fd is not None:
            self.services_file.unlink(missing_ok=True)
            os.close(self._lock_fd)
            self._lock_fd = None

    def end_orphans(self) -> None:
        """End what a start that was killed has left running, and forget it. Needs the lock.

        Only processes that are provably those recorded are ended. Blocks up to 20 seconds for
        each that does not go by itself.
        """
        for service, process in self.processes().items():
            if is_alive(process.identity):
                log.warning("local_service_orphan", service=service, pid=process.identity.pid)
                end_process(process.identity, _ORPHAN_GRACE_S)
        self.services_file.unlink(missing_ok=True)

    def record(self, processes: Mapping[str, RecordedProcess], *, ready: bool) -> None:
        """Write what runs, and once it is ready its ports for the next start."""
        ports = {name: process.port for name, process in processes.items()}
        _write_json(
            self.services_file,
            {
                "state": _RUNNING if ready else _STARTING,
                **asdict(ServiceAddresses.of_ports(ports)),
                "pids": {name: process.identity.pid for name, process in processes.items()},
                "processes": {name: asdict(process) for name, process in processes.items()},
                "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
            },
        )
        if ready:
            _write_json(self.path / "ports.json", self.previous_ports() | ports)

    def previous_ports(self) -> dict[str, int]:
        """The ports of the last start by service; empty if there was none."""
        ports = _read_json(self.path / "ports.json")
        return {name: port for name, port in ports.items() if isinstance(port, int)}

    def is_running(self) -> bool:
        """Whether the record says that all recorded services have become ready."""
        return _read_json(self.services_file).get("state") == _RUNNING

    def processes(self) -> dict[str, RecordedProcess]:
        """The recorded processes by service; empty if there are none or the file is damaged."""
        recorded = _read_json(self.services_file).get("processes", {})
        try:
            return {
                name: RecordedProcess(ProcessIdentity(**entry["identity"]), int(entry["port"]))
                for name, entry in recorded.items()
            }
        except (AttributeError, KeyError, TypeError, ValueError):
            return {}


def read_addresses(state_dir: Path = DEFAULT_STATE_DIR) -> ServiceAddresses | None:
    """Where the services of a state directory answer, None unless all of them do.

    A record left by a start that was killed is not believed: each recorded process must
    still be the same one, and its port must take connections. Blocks up to a second each.
    """
    state = StateDirectory(state_dir)
    if not state.is_running():
        return None
    processes = state.processes()
    if not processes or not all(process.answers() for process in processes.values()):
        return None
    return ServiceAddresses.of_ports({name: entry.port for name, entry in processes.items()})


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a file so that a reader sees the old or the new content and nothing between."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    draft.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    draft.replace(path)


def _read_json(path: Path) -> dict[str, Any]:
    """A file's object; empty if it is missing or not one."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
