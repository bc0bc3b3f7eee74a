"""The local ClickHouse server's start: `clickhouse_server` in a process of its own."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

from workers.local.child import ServiceSpec, exchange
from workers.local.ports import LOOPBACK

NAME = "clickhouse"
DISPLAY_NAME = "touchstone-local-{pid}"
"""What the server with this process id calls itself in each answer's headers."""


def clickhouse_service(directory: Path) -> ServiceSpec:
    """How to start the server with its tables in `directory`."""
    path = str(directory.resolve())

    def command(port: int) -> list[str]:
        return [
            sys.executable, "-m", "workers.local.clickhouse_server",
            "--path", path,
            "--port", str(port),
        ]  # fmt: skip

    return ServiceSpec(
        NAME,
        command,
        _answers_as,
        directory=directory.resolve(),
        environment=_environment(),
        # The engine is one library of 700 MB: a cold disk or a busy machine needs its time.
        start_timeout_s=90.0,
        stop_grace_s=20.0,
    )


def _environment() -> dict[str, str]:
    """Variables of the server's process."""
    environment = {
        # The working directory is data and shall not be searched for modules.
        "PYTHONSAFEPATH": "1",
        # The engine reads it once, on import; times without a zone are UTC.
        "TZ": "UTC",
    }
    checkout = Path(__file__).resolve().parents[2]
    if str(checkout) not in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        # Run from a checkout, which the server's interpreter need not know.
        inherited = os.environ.get("PYTHONPATH", "")
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(checkout), inherited]))
    return environment


async def _answers_as(port: int, pid: int) -> bool:
    """Whether the server with this process id answers on the port.

    Raises:
        OSError: nothing listens there yet.
        TimeoutError: the answer did not come.
    """
    request = f"GET /ping HTTP/1.1\r\nHost: {LOOPBACK}:{port}\r\nConnection: close\r\n\r\n"
    answer = await exchange(port, request.encode(), lambda _: False)
    return answer.startswith(b"HTTP/1.1 200") and DISPLAY_NAME.format(pid=pid).encode() in answer
