"""Choose loopback ports: a fixed port, the previous one, or any free one."""

from __future__ import annotations

import socket

from workers.local.errors import LocalServiceError

LOOPBACK = "127.0.0.1"


def is_free(port: int) -> bool:
    """Return true if a server could listen on this loopback port (1 to 65535) now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Same option as the servers: a port with only closed connections in TIME_WAIT counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """Return a loopback port that is free at this moment."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
    return port


def choose_port(service: str, fixed: int | None, previous: int | None) -> int:
    """Return the port for a service.

    A fixed port is used or refused. The previous start's port is preferred if free, so that addresses stay stable.
    Otherwise any free port is used.

    Raises:
        LocalServiceError: the fixed port is in use or not a port.
    """
    if fixed is not None:
        if not 1 <= fixed <= 65535:
            raise LocalServiceError(service, f"{fixed} is not a valid port.", "Use a port from 1 to 65535.")
        if not is_free(fixed):
            raise LocalServiceError(
                service,
                f"port {fixed} on {LOOPBACK} is in use.",
                "End the program on this port, or choose another port or none.",
            )
        return fixed
    if previous is not None and 1 <= previous <= 65535 and is_free(previous):
        return previous
    return free_port()
