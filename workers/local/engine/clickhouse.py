"""Start the local ClickHouse server: `clickhouse_server` in a separate process."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

from workers.local.child import ServiceSpec, exchange
from workers.local.ports import LOOPBACK

NAME = "clickhouse"
DISPLAY_NAME = "touchstone-local-{pid}"
"""Name of the server in the response headers; it contains the process id."""


def clickhouse_service(directory: Path, passwords: Path) -> ServiceSpec:
    """Return the start specification of the server with its tables in `directory`.

    Args:
        directory: folder of the tables.
        passwords: file with the passwords by service.
    """
    path = str(directory.resolve())

    def command(port: int) -> list[str]:
        return [
            sys.executable, "-m", "workers.local.engine.clickhouse_server",
            "--path", path,
            "--port", str(port),
            "--passwords", str(passwords.resolve()),
        ]  # fmt: skip

    return ServiceSpec(
        NAME,
        command,
        _answers_as,
        directory=directory.resolve(),
        environment=_environment(),
        # The engine is one library of 700 MB, which loads slowly from a cold disk or on a busy machine.
        start_timeout_s=90.0,
        stop_grace_s=20.0,
    )


def _environment() -> dict[str, str]:
    """Return the environment variables of the server's process."""
    environment = {
        # The working directory contains data and must not be searched for modules.
        "PYTHONSAFEPATH": "1",
        # The engine reads the time zone once, on import; times without a zone are UTC.
        "TZ": "UTC",
    }
    checkout = Path(__file__).resolve().parents[3]
    if str(checkout) not in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        # In a checkout, the server's interpreter may not find the package otherwise.
        inherited = os.environ.get("PYTHONPATH", "")
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(checkout), inherited]))
    return environment


async def _answers_as(port: int, pid: int) -> bool:
    """Return true if the server with this process id answers on the port.

    Raises:
        OSError: nothing listens on the port yet.
        TimeoutError: the response did not arrive in time.
    """
    request = f"GET /ping HTTP/1.1\r\nHost: {LOOPBACK}:{port}\r\nConnection: close\r\n\r\n"
    answer = await exchange(port, request.encode(), lambda _: False)
    return answer.startswith(b"HTTP/1.1 200") and DISPLAY_NAME.format(pid=pid).encode() in answer
