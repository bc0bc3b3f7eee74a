"""``touchstone up`` as a process: topics of gateways are created and read, and Ctrl-C ends it at any point."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer

STOP_SECONDS = 20.0
"""Bound of the test; on a free machine the end takes less than three seconds."""
START_SECONDS = 240.0


class Process:
    """A started ``touchstone up`` with its output."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.output = folder / "up.log"
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

    def interrupt(self) -> float:
        begun = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        self.process.wait(STOP_SECONDS)
        return time.monotonic() - begun


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Process]:
    process = Process(tmp_path, TOUCHSTONE_GATEWAYS__TOPICS=json.dumps({"llm-calls": {"format": "openai"}}))
    yield process
    if process.process.poll() is None:
        process.process.kill()
        process.process.wait()


@pytest.mark.parametrize("moment", ["local_service_spawned", "local_services_started", r"broker +\S+:\d+"])
def test_an_interrupt_while_starting_ends_the_command_and_its_services(started: Process, moment: str) -> None:
    started.wait_for(moment)
    started.interrupt()
    assert started.process.returncode == 0, started.text()[-3000:]
    for pid in re.findall(r"local_service_spawned.*?pid=(\d+)", started.text()):
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


async def test_topics_of_gateways_are_created_and_read(started: Process) -> None:
    broker = started.wait_for(r"broker +(\S+:\d+)").group(1)
    started.wait_for("stop with Ctrl-C")
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
