"""Choice of loopback ports: the given one, the last one, or any free one."""

from __future__ import annotations

import socket

from workers.local.errors import LocalServiceError

LOOPBACK = "127.0.0.1"


def is_free(port: int) -> bool:
    """Whether a server could listen on this loopback port (1 to 65535) now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As the servers do: a port that only waits out old connections counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """A loopback port that nothing uses at this moment."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
    return port


def choose_port(service: str, fixed: int | None, previous: int | None) -> int:
    """The port a service shall listen on.

    A fixed port is taken or refused; the previous start's port keeps addresses stable
    where it is free; otherwise any free port will do.

    Raises:
        LocalServiceError: the fixed port is in use or not a port.
    """
    if fixed is not None:
        if not 1 <= fixed <= 65535:
            raise LocalServiceError(service, f"{fixed} is not a port.", "Give one from 1 to 65535.")
        if not is_free(fixed):
            raise LocalServiceError(
                service,
                f"port {fixed} on {LOOPBACK} is in use.",
                "End the program that listens there, or give another port or none.",
            )
        return fixed
    if previous is not None and 1 <= previous <= 65535 and is_free(previous):
        return previous
    return free_port()
