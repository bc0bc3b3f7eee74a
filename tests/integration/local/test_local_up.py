"""``touchstone up`` as a process: topics of gateways are created and read, and Ctrl-C ends it at any point."""

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import pytest
from aiokafka import AIOKafkaProducer

from tests.harness.deployment import until
from tests.harness.forked_process import ForkedProcess
from workers.local.ports import free_port

STOP_SECONDS = 60.0
"""Guard against hanging; on a free machine the end takes less than three seconds."""
START_SECONDS = 240.0
STARTED = "stop with Ctrl-C"
"""Last words of a start."""
NO_PROCESS = {"TOUCHSTONE_EVALUATORS__PROCESSES": "0"}
"""Without an evaluation process, which is an interpreter of its own."""


def _body(url: str) -> str:
    """Return the body of a response with any status."""
    try:
        with urlopen(url, timeout=5) as response:
            return str(response.read())
    except HTTPError as response:
        return str(response.read())


class Process:
    """A started ``touchstone up`` with its output.

    Args:
        folder: for its output and state.
        int8: folder of the model in int8.
        environment: its settings.
    """

    def __init__(self, folder: Path, int8: Path, **environment: str) -> None:
        self.output = folder / "up.log"
        self._folder = folder
        self.environment = environment | {
            "TOUCHSTONE_STATE_DIR": str(folder / "state"),
            "TOUCHSTONE_HTTP__METRICS_PORT": str(free_port()),
            "TOUCHSTONE_INFERENCE__PRECISION": "int8",
            "TOUCHSTONE_INFERENCE__EXPORT_DIR": str(int8),
        }
        self.process: asyncio.subprocess.Process | ForkedProcess

    def fork(self, **environment: str) -> None:
        """Start it from a process that has imported the libraries."""
        given = os.environ | self.environment | environment
        self.process = ForkedProcess.start("workers.cli", ["up"], self._folder, given, self.output)

    async def start(self) -> None:
        """Start an interpreter, which imports the libraries."""
        with self.output.open("wb") as stream:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "workers.cli", "up", cwd=self._folder, env=os.environ | self.environment,
                stdout=stream, stderr=asyncio.subprocess.STDOUT,
            )  # fmt: skip

    def text(self) -> str:
        return self.output.read_text(encoding="utf-8", errors="replace")

    async def wait_for(self, pattern: str) -> re.Match[str]:
        async def is_told() -> bool:
            assert self.process.returncode is None, self.text()[-3000:]
            return re.search(pattern, self.text()) is not None

        await until(is_told, f"{pattern} in the output", START_SECONDS, 0.05)
        found = re.search(pattern, self.text())
        assert found is not None
        return found

    async def wait_for_readiness(self, pattern: str) -> None:
        url = f"http://127.0.0.1:{self.environment['TOUCHSTONE_HTTP__METRICS_PORT']}/readyz"

        async def is_told() -> bool:
            assert self.process.returncode is None, self.text()[-3000:]
            with suppress(URLError, ConnectionError, TimeoutError):
                return re.search(pattern, await asyncio.to_thread(_body, url)) is not None
            return False

        await until(is_told, f"{pattern} in the readiness", START_SECONDS, 0.05)

    async def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)
        async with asyncio.timeout(STOP_SECONDS):
            await self.process.wait()


@pytest.fixture
async def up(tmp_path: Path, int8_folder: Path) -> AsyncIterator[Process]:
    process = Process(
        tmp_path, int8_folder, TOUCHSTONE_GATEWAYS__TOPICS=json.dumps({"llm-calls": {"format": "openai"}})
    )
    yield process
    if process.process.returncode is None:
        process.process.kill()
        await process.process.wait()


@pytest.mark.parametrize("moment", ["local_service_spawned", "local_services_started", r"broker +\S+:\d+"])
async def test_an_interrupt_while_starting_ends_the_command_and_its_services(up: Process, moment: str) -> None:
    up.fork(**NO_PROCESS)
    await up.wait_for(moment)
    await _interrupt_the_start(up)


async def test_an_interrupt_while_agents_open_ends_the_command_and_its_services(up: Process) -> None:
    """Models are imported in threads that cannot be cancelled."""
    await up.start()
    await up.wait_for_readiness("starting")
    await _interrupt_the_start(up)


async def test_an_interrupt_while_agents_join_ends_the_command_and_its_services(up: Process) -> None:
    """A group that forms has nothing to finish."""
    up.fork()
    await up.wait_for_readiness("waits for its partitions")
    await _interrupt_the_start(up)


async def _interrupt_the_start(up: Process) -> None:
    await up.interrupt()
    assert up.process.returncode == 0, up.text()[-3000:]
    assert STARTED not in up.text(), "the end has not waited for the start"
    for pid in re.findall(r"local_service_spawned.*?pid=(\d+)", up.text()):
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


async def test_topics_of_gateways_are_created_and_read(up: Process) -> None:
    up.fork(**NO_PROCESS)
    broker = (await up.wait_for(r"broker +(\S+:\d+)")).group(1)
    await up.wait_for(STARTED)
    producer = AIOKafkaProducer(bootstrap_servers=broker)
    await producer.start()
    try:
        assert await producer.partitions_for("llm-calls")
        record = {"id": "up-1", "response": {"choices": [{"message": {"content": "Paris."}}]}}
        await producer.send_and_wait("llm-calls", json.dumps(record).encode())
    finally:
        await producer.stop()
    await up.interrupt()
    assert up.process.returncode == 0
