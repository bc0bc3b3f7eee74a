"""Alertmanager with the shipped configuration: an alert mutes only what it covers."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from tests.harness.deployment import until
from tests.harness.paths import ROOT
from tests.unit.deploy.test_prometheus import ALERTS
from workers.local.ports import free_port

CONFIGURATION = ROOT / "deploy" / "alertmanager" / "alertmanager.yml"


@pytest.fixture
async def alerts(tmp_path: Path) -> AsyncIterator[str]:
    """Address of the alerts of an Alertmanager of this test."""
    program = shutil.which("prometheus-alertmanager")
    if program is None:
        pytest.skip("Alertmanager is not installed (make tools)")
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        program, f"--config.file={CONFIGURATION}", f"--storage.path={tmp_path}",
        f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address=",
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    yield f"http://127.0.0.1:{port}/api/v2/alerts"
    process.kill()
    await process.wait()


DOWN, MISSING, NONE = "TouchstoneWorkerDown", "TouchstoneAgentMissing", "TouchstoneNoWorker"


@pytest.mark.parametrize(("firing", "mute"), [({DOWN, MISSING}, set()), ({NONE, DOWN, MISSING}, {DOWN, MISSING})])
async def test_only_the_total_outage_mutes_the_alerts_on_workers_and_agents(
    alerts: str, firing: set[str], mute: set[str]
) -> None:
    sent = [{"labels": {"alertname": name, **ALERTS[name]["labels"]}} for name in firing]
    async with aiohttp.ClientSession() as session:

        async def accepted() -> bool:
            try:
                async with session.post(alerts, json=sent) as response:
                    return response.status == 200
            except aiohttp.ClientConnectionError:
                return False

        await until(accepted, "Alertmanager takes alerts", 30)

        async def muted() -> bool:
            async with session.get(alerts) as response:
                listed = {each["labels"]["alertname"]: each["status"]["inhibitedBy"] for each in await response.json()}
            return set(listed) == firing and {name for name, by in listed.items() if by} == mute

        await until(muted, f"of {firing} only {mute} are muted", 15)
