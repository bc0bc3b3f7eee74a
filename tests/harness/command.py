"""``touchstone``'s main in this process, with streams, settings, folder and logging of its own.

A process takes one to four seconds of CPU to start. One test of each command starts it as a process.
"""

import io
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir
from pathlib import Path
from typing import Any
from unittest import mock

import structlog

import workers.cli.output  # its console keeps the width of the environment in which it is first imported  # noqa: F401
from workers.cli.main import main
from workers.settings import load_settings

IN_PROCESS = threading.Lock()
"""Commands in this process share its streams: one at a time."""

OURS = ("TOUCHSTONE_", "KAFKA_", "REDIS_", "CLICKHOUSE_")


def bare_environment() -> dict[str, str]:
    """Return the environment of this process without settings and addresses."""
    return {name: value for name, value in os.environ.items() if not name.startswith(OURS)}


def run_command(
    *arguments: str, folder: Path, environment: Mapping[str, str], given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a thread, which may have an event loop of its own, as a process would.

    Args:
        arguments: after ``touchstone``.
        folder: working directory.
        environment: all environment variables.
        given: standard input.
    """
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_run, arguments, folder, environment, given).result()


def run_command_as_text(
    *arguments: str, folder: Path, environment: Mapping[str, str], given: bytes = b""
) -> subprocess.CompletedProcess[str]:
    """Run a command and decode what it prints."""
    done = run_command(*arguments, folder=folder, environment=environment, given=given)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def _run(
    arguments: tuple[str, ...], folder: Path, environment: Mapping[str, str], given: bytes
) -> subprocess.CompletedProcess[bytes]:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    read = io.TextIOWrapper(io.BytesIO(given), encoding="utf-8")
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    with (
        IN_PROCESS,
        chdir(folder),
        mock.patch.multiple(sys, argv=["touchstone", *arguments], stdout=out, stderr=err, stdin=read, path=sys.path[:]),
        mock.patch.object(sys, "excepthook"),
        # A service ends its process in the end; here that would end the tests.
        mock.patch.object(os, "_exit", side_effect=SystemExit),
        # What the allocator is told stays with the process, and other tests look at what large buffers cost.
        mock.patch("workers.cli.main.bound_allocator"),
        mock.patch.dict(os.environ, dict(environment), clear=True),
    ):
        load_settings.cache_clear()
        try:
            main()
            code: Any = 0
        except SystemExit as leave:
            code = leave.code
        finally:
            load_settings.cache_clear()
            root.handlers[:] = handlers
            root.setLevel(level)
            structlog.reset_defaults()
    return subprocess.CompletedProcess(arguments, code or 0, _content(out), _content(err))


def _content(stream: io.TextIOWrapper) -> bytes:
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue()
