"""Run evaluation agents as a child of a worker: ``python -m workers.runtime.evaluation_child``.

Standard input is a socket of the worker (``workers.runtime.evaluation_process``). The worker writes an ``Order`` to it.
This process answers with one line of JSON: the port of its metrics and probes, or the error of its start. It ends when
the worker closes the socket, also by SIGKILL.
"""

import os
import pickle
import signal
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import orjson

from workers.errors import TouchstoneError
from workers.observability.logs import LogFormat, configure_logs
from workers.process.allocator import bound_allocator
from workers.process.ending import run_service
from workers.settings import Settings
from workers.settings.addresses import Addresses

KILL_SECONDS = 5.0
"""Time after the grace period of a stop after which a process ends at once, seconds."""

STANDARD_INPUT = 0


@dataclass(frozen=True, slots=True)
class Order:
    """Hold what a worker passes to its child.

    Attributes:
        name: name of the process in logs and in its journal of attempts.
        settings: settings of the worker.
        addresses: addresses of broker and stores.
        agents: names of the agents to run.
        log_level: minimum level of log lines.
        log_format: format of log lines.
    """

    name: str
    settings: Settings
    addresses: Addresses
    agents: tuple[str, ...]
    log_level: str
    log_format: LogFormat


def main() -> None:
    """Run the agents until the worker stops them or ends."""
    bound_allocator()
    worker = _take_standard_input()
    # Before the order, which may come seconds later: `up` and `demo` start their services meanwhile.
    from workers.pipeline.versions import rules_digest
    from workers.runtime.worker import Worker, run_worker

    rules_digest()
    try:
        with worker.makefile("rb") as stream:
            # From the process that started this one, by a socket that no other process has.
            order: Order = pickle.load(stream)  # noqa: S301
    except EOFError:
        return  # the worker ended before it wrote one
    grace = order.settings.delivery.shutdown_grace_seconds
    threading.Thread(target=_end_with, args=(worker, grace), daemon=True).start()
    configure_logs(order.log_level, order.log_format, process=order.name)

    def ready(running: Worker) -> None:
        worker.sendall(orjson.dumps({"metrics_port": running.metrics_port}) + b"\n")

    try:
        run_service(run_worker(order.settings, order.addresses, order.agents, ready, name=order.name))
    except TouchstoneError as error:
        worker.sendall(orjson.dumps({"error": str(error)}) + b"\n")
        raise SystemExit(1) from None


def _take_standard_input() -> socket.socket:
    """Return the socket, and leave nothing to read to processes that this one starts: they would hold it open."""
    worker = socket.socket(fileno=os.dup(STANDARD_INPUT))
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), STANDARD_INPUT)
    return worker


def _end_with(worker: socket.socket, grace_seconds: float) -> None:
    """Stop this process when the worker closes its end of the socket."""
    while worker.recv(1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(grace_seconds + KILL_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    main()
