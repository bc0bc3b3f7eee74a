"""Answers through real processes: killed, split, summed up."""

import asyncio
import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schemas.topics import ANSWERS_ENRICHED, DEAD_LETTERS
from tests.harness.deployment import Deployment, until
from tests.harness.paths import ROOT
from workers.intake.file_ingest import InputFormat, ingest_file

EXAMPLES = ROOT / "examples" / "answers.jsonl"
FOURTEENTH = 14
"""Each fourteenth example goes through three workers in fp32."""

OTHERS = ["citations", "quality", "assembly", "release", "memory", "analytics"]

pytestmark = pytest.mark.timeout(1800)  # the waits within end before

TIMES = frozenset({"enriched_at", "judged_at", "duration_seconds", "grounding_seconds", "timestamp", "answer_offset"})
"""Fields that differ between two runs of the same judgement."""


async def enriched_count(deployment: Deployment, client: Any) -> int:
    return int((await deployment.query(client, "SELECT count() FROM {db}.answers FINAL"))[0])


@pytest.mark.long
@pytest.mark.data
async def test_380_real_answers_arrive_once_though_the_worker_is_killed_in_the_middle(
    deployment: Deployment, labelled_data: Path, int8_folder: Path
) -> None:
    # As the image runs it; the other tests here have workers in fp32.
    deployment.int8 = int8_folder
    client = await deployment.client()
    try:
        worker = await deployment.start_worker()
        result = await ingest_file(
            deployment.settings, deployment.addresses, str(labelled_data / "clapnq_human.jsonl.gz"),
            InputFormat.labelled,
        )  # fmt: skip
        assert (result.sent, result.rejected) == (380, 0)

        async def a_hundred() -> bool:
            return await enriched_count(deployment, client) >= 100

        await until(a_hundred, "100 answers stored", 600)
        await worker.kill()
        assert await enriched_count(deployment, client) < 380, "it was killed too late to show anything"
        worker = await deployment.start_worker()

        async def all_stored() -> bool:
            return await enriched_count(deployment, client) >= 380

        await until(all_stored, "380 answers stored", 600)
        assert await worker.terminate() == 0
        row = await deployment.query(
            client, "SELECT count(), uniqExact(answer_id), countIf(degraded), min(rank) FROM {db}.answers FINAL"
        )
        assert row == (380, 380, 0, 4)
        assert await deployment.read(DEAD_LETTERS) == []
    finally:
        await client.close()


async def enriched_by_answer(deployment: Deployment) -> dict[str, Any]:
    records = await deployment.read(ANSWERS_ENRICHED)
    return {event["answer_id"]: without_times(event) for event in (json.loads(record.value) for record in records)}


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_times(part) for name, part in value.items() if name not in TIMES}
    if isinstance(value, list):
        return [without_times(part) for part in value]
    return value


def differences(one: Any, two: Any, path: str = "") -> Iterator[str]:
    """Where two results differ, by path; whole answers would bury it."""
    if isinstance(one, dict) and isinstance(two, dict):
        for name in sorted({*one, *two}):
            yield from differences(one.get(name), two.get(name), f"{path}/{name}")
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for number, (left, right) in enumerate(zip(one, two, strict=True)):
            yield from differences(left, right, f"{path}/{number}")
    elif one != two:
        yield f"{path}: {one!r:.200} != {two!r:.200}"


async def run_examples(deployment: Deployment, file: Path, *agents: list[str] | None) -> dict[str, Any]:
    await deployment.prepare()
    await asyncio.gather(*(deployment.start_worker(names) for names in agents))
    sent = (await ingest_file(deployment.settings, deployment.addresses, str(file))).sent
    client = await deployment.client()

    async def all_stored() -> bool:
        return await enriched_count(deployment, client) >= sent

    try:
        await until(all_stored, "the examples stored", 600)
    finally:
        await client.close()
        await deployment.stop()
    return await enriched_by_answer(deployment)


@pytest.mark.long
async def test_grounding_in_a_process_of_its_own_gives_the_same_enriched_answers(
    deployment: Deployment, tmp_path: Path
) -> None:
    chosen = EXAMPLES.read_text(encoding="utf-8").splitlines(keepends=True)[::FOURTEENTH]
    file = tmp_path / "chosen.jsonl"
    file.write_text("".join(chosen), encoding="utf-8")
    together = await run_examples(deployment, file, None)
    (tmp_path / "split").mkdir()
    split_deployment = Deployment(deployment.addresses, tmp_path / "split", environment=deployment.environment)
    try:
        split = await run_examples(split_deployment, file, ["grounding"], OTHERS)
    finally:
        await split_deployment.close()
    assert len(together) == len(chosen)
    assert list(differences(split, together)) == []


def installed_wheel(folder: Path) -> Path:
    """Build the wheel and install it into a fresh environment, outside of the checkout.

    The dependencies come from the packages of this environment, by path: of the project itself only the wheel is found.

    Returns:
        Folder with the commands of the environment.
    """
    wheels, environment = folder / "wheels", folder / "environment"
    for command in (
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", wheels, ROOT],
        # To install pip takes three seconds of CPU: that of this environment installs the wheel.
        [sys.executable, "-m", "venv", "--without-pip", environment],
        [sys.executable, "-m", "pip", "--python", environment / "bin" / "python", "install", "--quiet", "--no-deps",
         "--find-links", wheels, "--no-index", "touchstone-worker"],
    ):  # fmt: skip
        subprocess.run(command, check=True, cwd=folder, timeout=300)
    site = next((environment / "lib").glob("python3.*/site-packages"))
    (site / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    return environment / "bin"


def run_installed(commands: Path, *command: str | Path, **settings: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of the environment outside of the checkout, without addresses of services; it must succeed."""
    without = ("KAFKA_BOOTSTRAP_SERVERS", "REDIS_URL", "CLICKHOUSE_URL", "PYTHONPATH")
    environment = {name: value for name, value in os.environ.items() if name not in without}
    finished = subprocess.run(
        [commands / command[0], *command[1:]],
        cwd=commands.parent.parent, env=environment | settings, capture_output=True, text=True, timeout=800, check=False,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    return finished


def test_an_installed_wheel_has_its_files_and_evaluates_an_answer(tmp_path: Path, int8_folder: Path) -> None:
    commands = installed_wheel(tmp_path)
    look = "from workers.process.paths import deploy_directory, examples_directory; "
    look += "print(*deploy_directory().rglob('*.sql'), *examples_directory().iterdir())"
    files = run_installed(commands, "python", "-c", look).stdout.split()
    assert all(file.startswith(str(tmp_path)) for file in files), "the checkout was run, not the wheel"
    assert {Path(file).suffix for file in files} >= {".sql", ".jsonl"}
    (tmp_path / "one.jsonl").write_text(EXAMPLES.read_text(encoding="utf-8").partition("\n")[0], encoding="utf-8")
    int8 = {"TOUCHSTONE_INFERENCE__PRECISION": "int8", "TOUCHSTONE_INFERENCE__EXPORT_DIR": str(int8_folder)}
    finished = run_installed(commands, "touchstone", "explain", "one.jsonl", "--json", **int8)
    (explained,) = json.loads(finished.stdout)
    assert explained["state"] == "released"
    (grounding,) = [row for row in explained["rows"] if row["fact"] == "grounding_below_minimum"]
    assert grounding["value"] > 0.9
    assert "Traceback" not in finished.stderr


@pytest.mark.long
def test_the_demo_of_an_installed_wheel_accounts_for_every_example(tmp_path: Path) -> None:
    commands = installed_wheel(tmp_path)
    summary_file = tmp_path / "summary.json"
    finished = run_installed(commands, "touchstone", "demo", "--summary-json", summary_file)
    summary = json.loads(summary_file.read_text())
    files = [EXAMPLES.with_name(name) for name in ("answers.jsonl", "conversations.jsonl", "tools.jsonl")]
    examples = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files) + 1
    assert summary["ingested"] == examples
    assert summary["enriched"] + summary["dead_lettered"] == examples
    assert summary["accounted_for"] is True
    assert 0 < summary["evaluation_cpu_ms"] < 10_000, "the CPU of one answer, not its wait in a batch"
    assert summary["counts"]["degraded"] == 0
    assert summary["reviews"] > 0
    assert summary["remembered"] > 0
    assert len(summary["worst"]) == 3
    assert summary["kinds"]["with earlier turns"] == ["conversation-1", "conversation-2", "conversation-3"]
    assert "tools-1" in summary["kinds"]["over results of tools"]
    assert summary["kinds"]["streamed"] == ["stream-1"]
    assert len(summary["kinds"]["in another language than English"]) >= 13
    assert summary["kinds"]["of a run whose error is traced to one step"] == ["run-1"]
    for name in ("conversation-1", "tools-1", "stream-1", "run-1"):
        assert name in finished.stdout
    assert "Traceback" not in finished.stderr
