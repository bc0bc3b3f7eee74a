"""A Python module as a process that is forked from one with the libraries imported.

Importing them takes a worker 2 to 7 s of CPU. The process has its own environment, folder, output and signals, and is
killed like any other.
"""

import asyncio
import importlib
import multiprocessing
import os
import runpy
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import chdir
from multiprocessing.context import ForkServerProcess
from multiprocessing.forkserver import ensure_running
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.harness.paths import ROOT

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.harness.preloaded"])


class ForkedProcess:
    """The parts of ``asyncio.subprocess.Process`` that tests use."""

    def __init__(self, process: ForkServerProcess) -> None:
        self._process = process
        assert process.pid is not None
        self.pid = process.pid

    @classmethod
    def start(
        cls,
        module: str,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        output: Path,
        errors: Path | None = None,
    ) -> "ForkedProcess":
        """Run a module like ``python -m``, with its output in files; errors go to the same one by default."""
        streams = [output, errors or output]
        for file in streams:
            file.touch()
        with chdir(ROOT):
            ensure_running()
        process = CONTEXT.Process(
            target=_run, args=(module, [*arguments], folder, dict(environment), streams), daemon=True
        )
        process.start()
        return cls(process)

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def send_signal(self, number: signal.Signals) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    async def wait(self) -> int:
        """Wait until the process has ended; return its exit code."""
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        # A descriptor of its own: a loop watches each one once.
        watched = os.dup(self._process.sentinel)
        loop.add_reader(watched, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(watched)
            os.close(watched)
        assert self.returncode is not None
        return self.returncode


async def run_forked(*arguments: str, folder: Path, environment: Mapping[str, str]) -> tuple[int, str, str]:
    """Run a command of ``touchstone`` to its end; return its exit code, its output and its errors."""
    with TemporaryDirectory() as place:
        output, errors = Path(place, "output"), Path(place, "errors")
        code = await ForkedProcess.start("workers.cli", arguments, folder, environment, output, errors).wait()
        return code, *map(Path.read_text, (output, errors))


def _run(
    module: str, arguments: Sequence[str], folder: Path, environment: Mapping[str, str], streams: Sequence[Path]
) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, file in enumerate(streams, start=1):
        opened = os.open(file, os.O_WRONLY | os.O_APPEND)
        os.dup2(opened, number)
        os.close(opened)
    sys.argv = [module, *arguments]
    sys.orig_argv = [sys.executable, "-m", *sys.argv]
    _add_paths(environment.get("PYTHONPATH", "").split(os.pathsep))
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _add_paths(folders: Sequence[str]) -> None:
    """Do with further folders of packages as an interpreter does that starts: plug-ins and faults stand in them."""
    further = [folder for folder in folders if folder and folder not in sys.path]
    sys.path[:0] = further
    if any(Path(folder, "sitecustomize.py").exists() for folder in further):
        # The forking process may have imported another one.
        sys.modules.pop("sitecustomize", None)
        importlib.import_module("sitecustomize")
