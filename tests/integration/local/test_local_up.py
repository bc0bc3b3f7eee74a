"""``touchstone up`` as a process: topics of gateways are created and read, and Ctrl-C ends it at any point."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import pytest
from aiokafka import AIOKafkaProducer

from workers.local.ports import free_port

STOP_SECONDS = 60.0
"""Guard against hanging; on a free machine the end takes less than three seconds."""
START_SECONDS = 240.0
STARTED = "stop with Ctrl-C"
"""Last words of a start."""


def _body(url: str) -> str:
    """Return the body of a response with any status."""
    try:
        with urlopen(url, timeout=5) as response:
            return str(response.read())
    except HTTPError as response:
        return str(response.read())


class Process:
    """A started ``touchstone up`` with its output."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.output = folder / "up.log"
        self.metrics_port = environment["TOUCHSTONE_HTTP__METRICS_PORT"]
        settings = {"TOUCHSTONE_STATE_DIR": str(folder / "state")} | environment
        with self.output.open("wb") as stream:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "workers.cli", "up"], cwd=folder, env=os.environ | settings,
                stdout=stream, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def text(self) -> str:
        return self.output.read_text(encoding="utf-8", errors="replace")

    def wait_for(self, pattern: str) -> re.Match[str]:
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            if (found := re.search(pattern, self.text())) is not None:
                return found
            assert self.process.poll() is None, self.text()[-3000:]
            time.sleep(0.05)
        raise AssertionError(f"{pattern} is not in the output: {self.text()[-3000:]}")

    def wait_for_readiness(self, pattern: str) -> None:
        until = time.monotonic() + START_SECONDS
        url = f"http://127.0.0.1:{self.metrics_port}/readyz"
        while time.monotonic() < until:
            with suppress(URLError, ConnectionError, TimeoutError):
                if re.search(pattern, _body(url)):
                    return
            assert self.process.poll() is None, self.text()[-3000:]
            time.sleep(0.05)
        raise AssertionError(f"{pattern} is not in the readiness: {self.text()[-3000:]}")

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(STOP_SECONDS)


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Process]:
    process = Process(
        tmp_path,
        TOUCHSTONE_GATEWAYS__TOPICS=json.dumps({"llm-calls": {"format": "openai"}}),
        TOUCHSTONE_HTTP__METRICS_PORT=str(free_port()),
    )
    yield process
    if process.process.poll() is None:
        process.process.kill()
        process.process.wait()


@pytest.mark.parametrize("moment", ["local_service_spawned", "local_services_started", r"broker +\S+:\d+"])
def test_an_interrupt_while_starting_ends_the_command_and_its_services(started: Process, moment: str) -> None:
    started.wait_for(moment)
    _interrupt_the_start(started)


@pytest.mark.parametrize("moment", ["starting", "waits for its partitions"])
def test_an_interrupt_while_agents_open_and_join_ends_the_command_and_its_services(
    started: Process, moment: str
) -> None:
    """Models are imported in threads that cannot be cancelled, and a group that forms has nothing to finish."""
    started.wait_for_readiness(moment)
    _interrupt_the_start(started)


def _interrupt_the_start(started: Process) -> None:
    started.interrupt()
    assert started.process.returncode == 0, started.text()[-3000:]
    assert STARTED not in started.text(), "the end has not waited for the start"
    for pid in re.findall(r"local_service_spawned.*?pid=(\d+)", started.text()):
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


async def test_topics_of_gateways_are_created_and_read(started: Process) -> None:
    broker = started.wait_for(r"broker +(\S+:\d+)").group(1)
    started.wait_for(STARTED)
    producer = AIOKafkaProducer(bootstrap_servers=broker)
    await producer.start()
    try:
        assert await producer.partitions_for("llm-calls")
        record = {"id": "up-1", "response": {"choices": [{"message": {"content": "Paris."}}]}}
        await producer.send_and_wait("llm-calls", json.dumps(record).encode())
    finally:
        await producer.stop()
    started.interrupt()
    assert started.process.returncode == 0
