"""Manage the state directory: it records running services and locks their start.

The directory holds `services.json` (addresses and processes while services run), `ports.json` (the previous
ports, so that addresses stay the same), `passwords.json` (see `workers.local.passwords`), `lock`, `logs/` and the services' data.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import structlog

from workers.local.errors import LocalServiceError
from workers.local.passwords import USER, read_passwords
from workers.local.ports import LOOPBACK
from workers.local.processes import ProcessIdentity, end_process, is_alive

log = structlog.get_logger(__name__)

DEFAULT_STATE_DIR = Path(".touchstone")
_CONNECT_TIMEOUT_S = 1.0
_ORPHAN_GRACE_S = 10.0
_RUNNING, _STARTING = "running", "starting"


@dataclass(frozen=True, slots=True)
class ServiceAddresses:
    """Hold the addresses of the local services; None for a service that was not started.

    Attributes:
        kafka_bootstrap_servers: host:port of the broker.
        redis_url: URL of the Redis server's database 0.
        clickhouse_url: URL of ClickHouse's HTTP interface.
        light_broker: false if the broker is Apache Kafka.
    """

    kafka_bootstrap_servers: str | None = None
    redis_url: str | None = None
    clickhouse_url: str | None = None
    light_broker: bool = True

    @classmethod
    def of_places(
        cls, places: Mapping[str, int | Path], passwords: Mapping[str, str] | None = None, *, light_broker: bool = True
    ) -> ServiceAddresses:
        """Return the addresses of services by name on loopback ports or sockets, with their passwords if they are given."""
        known = passwords or {}
        redis, clickhouse = known.get("redis"), known.get("clickhouse")
        redis_login = f":{redis}@" if redis else ""
        clickhouse_login = f"{USER}:{clickhouse}@" if clickhouse else ""
        return cls(
            f"{LOOPBACK}:{places['kafka']}" if "kafka" in places else None,
            _redis_url(redis_login, places["redis"]) if "redis" in places else None,
            f"http://{clickhouse_login}{LOOPBACK}:{places['clickhouse']}" if "clickhouse" in places else None,
            light_broker,
        )

    def without_passwords(self) -> ServiceAddresses:
        """Return addresses to be shown."""
        return replace(
            self, redis_url=_without_login(self.redis_url), clickhouse_url=_without_login(self.clickhouse_url)
        )


@dataclass(frozen=True, slots=True)
class RecordedProcess:
    """Describe a service's process as recorded in `services.json`; its port is 0 where it has a Unix socket."""

    identity: ProcessIdentity
    port: int
    socket: str | None = None

    @property
    def place(self) -> int | Path:
        """Return the port or socket."""
        return Path(self.socket) if self.socket else self.port

    def answers(self) -> bool:
        """Return true if this process still runs and its port or socket accepts connections."""
        if not is_alive(self.identity):
            return False
        family = socket.AF_UNIX if self.socket else socket.AF_INET
        try:
            with socket.socket(family, socket.SOCK_STREAM) as client:
                client.settimeout(_CONNECT_TIMEOUT_S)
                client.connect(self.socket or (LOOPBACK, self.port))
                return True
        except OSError:
            return False


@dataclass(slots=True)
class StateDirectory:
    """Access the files of one state directory. `lock` first, then write."""

    path: Path
    _lock_fd: int | None = field(default=None, repr=False)

    @property
    def services_file(self) -> Path:
        """Return the path of the file with addresses and processes of the running services."""
        return self.path / "services.json"

    def data(self, service: str) -> Path:
        """Return the directory of a service's data."""
        return self.path / service

    def log(self, service: str) -> Path:
        """Return the path of the log of a service's output."""
        return self.path / "logs" / f"{service}.log"

    def lock(self) -> None:
        """Create the directory and prevent other processes from starting services in it.

        The lock belongs to this process and ends with it, also after a crash.

        Raises:
            LocalServiceError: services already run in the directory, or it cannot be written.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            fd = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise LocalServiceError(
                "services",
                f"the state directory {self.path} cannot be used ({error}).",
                "Set TOUCHSTONE_STATE_DIR to a writable folder.",
            ) from error
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(fd, 32, 0).decode("ascii", "replace").strip()
            os.close(fd)
            raise LocalServiceError(
                "services",
                f"the services of {self.path} are already running, started by process {holder or '?'}.",
                "Use the running services, end that process, or use another state directory.",
            ) from None
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        self._lock_fd = fd

    def release(self) -> None:
        """Remove the record of the stopped services and release the lock. Safe to repeat."""
        if self._lock_fd is not None:
            self.services_file.unlink(missing_ok=True)
            os.close(self._lock_fd)
            self._lock_fd = None

    def end_orphans(self) -> None:
        """End services left running by a killed start, and remove their record. Needs the lock.

        Only processes whose identity matches the record are ended. Blocks up to 20 seconds for
        each process that does not end by itself.
        """
        for service, process in self.processes().items():
            if is_alive(process.identity):
                log.warning("local_service_orphaned", service=service, pid=process.identity.pid)
                end_process(process.identity, _ORPHAN_GRACE_S)
        self.services_file.unlink(missing_ok=True)

    def record(self, processes: Mapping[str, RecordedProcess], *, ready: bool, light_broker: bool = True) -> None:
        """Write the running services, and after they are ready also their ports for the next start."""
        places = {name: process.place for name, process in processes.items()}
        ports = {name: place for name, place in places.items() if isinstance(place, int)}
        _write_json(
            self.services_file,
            {
                "state": _RUNNING if ready else _STARTING,
                **asdict(ServiceAddresses.of_places(places, light_broker=light_broker)),
                "pids": {name: process.identity.pid for name, process in processes.items()},
                "processes": {name: asdict(process) for name, process in processes.items()},
                "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
            },
        )
        if ready:
            _write_json(self.path / "ports.json", self.previous_ports() | ports)

    def previous_ports(self) -> dict[str, int]:
        """Return the ports of the previous start by service; empty if there was none."""
        ports = _read_json(self.path / "ports.json")
        return {name: port for name, port in ports.items() if isinstance(port, int)}

    def is_running(self) -> bool:
        """Return true if all recorded services have become ready, according to the record."""
        return _read_json(self.services_file).get("state") == _RUNNING

    def has_light_broker(self) -> bool:
        """Return false if the recorded broker is Apache Kafka."""
        return _read_json(self.services_file).get("light_broker", True) is not False

    def processes(self) -> dict[str, RecordedProcess]:
        """Return the recorded processes by service; empty if none are recorded or the file is damaged."""
        recorded = _read_json(self.services_file).get("processes", {})
        try:
            return {
                name: RecordedProcess(ProcessIdentity(**entry["identity"]), int(entry["port"]), entry.get("socket"))
                for name, entry in recorded.items()
            }
        except (AttributeError, KeyError, TypeError, ValueError):
            return {}


def read_addresses(state_dir: Path = DEFAULT_STATE_DIR) -> ServiceAddresses | None:
    """Return the addresses of the services of a state directory; None unless all services answer.

    A record left by a killed start is not trusted: each recorded process must
    still be the same process, and its port must accept connections. Blocks up to a second for each.
    """
    state = StateDirectory(state_dir)
    if not state.is_running():
        return None
    processes = state.processes()
    if not processes or not all(process.answers() for process in processes.values()):
        return None
    places = {name: entry.place for name, entry in processes.items()}
    return ServiceAddresses.of_places(places, read_passwords(state_dir), light_broker=state.has_light_broker())


def _redis_url(login: str, place: int | Path) -> str:
    if isinstance(place, Path):
        return f"unix://{login}{quote(str(place))}?db=0"
    return f"redis://{login}{LOOPBACK}:{place}/0"


def _without_login(url: str | None) -> str | None:
    if url is None:
        return None
    login, _, host = urlsplit(url).netloc.rpartition("@")
    return url.replace(f"//{login}@{host}", f"//{host}", 1)


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a file atomically, so that a reader sees the old or the new content."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    draft.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    draft.replace(path)


def _read_json(path: Path) -> dict[str, Any]:
    """Return a file's JSON object; empty if the file is missing or holds no object."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
