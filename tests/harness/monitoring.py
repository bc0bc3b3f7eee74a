"""Prometheus and Alertmanager as they are shipped, on this machine, with a minute shortened to two seconds."""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import yaml
from aiohttp import web

from tests.harness.deployment import until
from tests.harness.paths import ROOT
from tests.harness.receivers import Receiver, serving
from workers.local.ports import free_port

DEPLOY = ROOT / "deploy"
SECONDS_OF_A_MINUTE = 2
PROGRAMS = ("prometheus", "prometheus-alertmanager")


class MonitoringMissing(Exception):
    """A program is not installed; the text names it."""


@dataclass
class AlertReceiver(Receiver):
    """Takes the webhook of Alertmanager, and keeps the last state of each alert.

    Attributes:
        states: "firing" or "resolved" by name of the alert.
        receivers: names of the receivers that each alert came by.
    """

    states: dict[str, str] = field(default_factory=dict)
    receivers: dict[str, set[str]] = field(default_factory=dict)

    async def take(self, request: web.Request, body: bytes) -> web.Response:
        message = orjson.loads(body)
        firing = [alert for alert in message["alerts"] if alert["status"] == "firing"]
        for alert in [*message["alerts"], *firing]:
            self.states[alert["labels"]["alertname"]] = alert["status"]
            self.receivers.setdefault(alert["labels"]["alertname"], set()).add(message["receiver"])
        return web.Response()

    async def until_state(self, alert: str, state: str, seconds: float = 240.0) -> None:
        """Wait until an alert was last told in this state."""

        async def reached() -> bool:
            return self.states.get(alert) == state

        await until(reached, f"{alert} {state}: {self.states}", seconds)


@dataclass(slots=True)
class Monitoring:
    """The two running programs.

    Attributes:
        alerts: what Alertmanager has sent.
        targets: file with the addresses of workers, which Prometheus reads again when it changes.
        api: address of the API of Prometheus.
    """

    alerts: AlertReceiver
    targets: Path
    api: str

    def watch(self, *ports: int) -> None:
        """Scrape the workers on these ports from now on."""
        draft = self.targets.with_suffix(".new")
        draft.write_bytes(orjson.dumps([{"targets": [f"127.0.0.1:{port}" for port in ports]}]))
        draft.replace(self.targets)

    async def until_scraped(self, workers: int) -> None:
        """Wait until so many workers are up, and Prometheus has found Alertmanager.

        It sends an alert that it could not send again after a minute only, and others would come before it.
        """
        async with aiohttp.ClientSession() as session:

            async def ask(path: str, **query: str) -> Any:
                async with session.get(f"{self.api}/{path}", params=query) as response:
                    return (await response.json())["data"]

            async def scraped() -> bool:
                try:
                    up = await ask("query", query='sum(up{job="touchstone"})')
                    found = await ask("alertmanagers")
                except (aiohttp.ClientConnectionError, aiohttp.ContentTypeError):  # it starts: 503 with a text
                    return False
                return bool(found["activeAlertmanagers"]) and [each["value"][1] for each in up["result"]] == [
                    str(workers)
                ]

            await until(scraped, f"{workers} workers are scraped", 120)


def shorten(content: Any) -> Any:
    """Return a configuration in which each minute has become two seconds, and an hour two minutes."""
    if isinstance(content, dict):
        return {key: shorten(value) for key, value in content.items()}
    if isinstance(content, list):
        return [shorten(each) for each in content]
    if not isinstance(content, str):
        return content
    if re.fullmatch(r"\d+s", content):
        return "2s" if content == "15s" else "1s"
    text = re.sub(r"\b(\d+)h\b", lambda hours: f"{60 * int(hours[1])}m", content)
    return re.sub(r"(?<![\w:])(\d+)m\b", lambda minutes: f"{SECONDS_OF_A_MINUTE * int(minutes[1])}s", text)


def read_shortened(path: Path) -> Any:
    return shorten(yaml.safe_load(path.read_text(encoding="utf-8")))


def write_configuration(folder: Path, alertmanager: int, webhook: str) -> None:
    """Write the shipped files with short minutes, this port of Alertmanager, and a webhook for each receiver."""
    (folder / "rules").mkdir()
    for path in (DEPLOY / "prometheus" / "rules").glob("*.rules.yml"):
        (folder / "rules" / path.name).write_text(yaml.safe_dump(read_shortened(path)))
    configuration = read_shortened(DEPLOY / "prometheus" / "prometheus.yml")
    configuration["alerting"]["alertmanagers"] = [{"static_configs": [{"targets": [f"127.0.0.1:{alertmanager}"]}]}]
    jobs = {job["job_name"]: job for job in configuration["scrape_configs"]}
    del jobs["touchstone"]["dns_sd_configs"]
    jobs["touchstone"]["file_sd_configs"] = [{"files": ["targets.json"], "refresh_interval": "1s"}]
    configuration["scrape_configs"] = [jobs["touchstone"]]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(configuration))
    routing = read_shortened(DEPLOY / "alertmanager" / "alertmanager.yml")
    for each in routing["receivers"]:
        each["webhook_configs"] = [{"url": webhook}]
    (folder / "alertmanager.yml").write_text(yaml.safe_dump(routing))


@asynccontextmanager
async def monitoring(folder: Path) -> AsyncIterator[Monitoring]:
    """Start both with the shipped files.

    What differs: minutes are short, targets and Alertmanager are found by file and port instead of by DNS, and each
    receiver has a webhook.

    Raises:
        MonitoringMissing: a program is not installed.
    """
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        raise MonitoringMissing(f"{', '.join(missing)} not installed (make tools)")
    prometheus, alertmanager = free_port(), free_port()
    async with serving(AlertReceiver(), "/alerts") as receiver:
        assert isinstance(receiver, AlertReceiver)
        write_configuration(folder, alertmanager, f"{receiver.url}/alerts")
        started = Monitoring(receiver, folder / "targets.json", f"http://127.0.0.1:{prometheus}/api/v1")
        started.watch()
        commands = (
            [PROGRAMS[0], "--config.file=prometheus.yml", "--storage.tsdb.path=tsdb",
             f"--web.listen-address=127.0.0.1:{prometheus}"],
            [PROGRAMS[1], "--config.file=alertmanager.yml", "--storage.path=alertmanager",
             f"--web.listen-address=127.0.0.1:{alertmanager}", "--cluster.listen-address="],
        )  # fmt: skip
        processes = [await _start(folder, command) for command in commands]
        try:
            yield started
        finally:
            for process in processes:
                process.kill()
                await process.wait()


async def _start(folder: Path, command: Sequence[str]) -> asyncio.subprocess.Process:
    with (folder / f"{command[0]}.log").open("wb") as log:
        return await asyncio.create_subprocess_exec(*command, cwd=folder, stdout=log, stderr=asyncio.subprocess.STDOUT)
