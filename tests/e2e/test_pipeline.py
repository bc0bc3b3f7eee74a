"""Answers through real processes: killed, split, summed up."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schemas.topics import ANSWERS_ENRICHED, DEAD_LETTERS
from tests.harness.deployment import ROOT, Deployment, until
from workers.commands.ingest import InputFormat, ingest_file

EXAMPLES = ROOT / "examples" / "answers.jsonl"
OTHERS = ["citations", "quality", "assembly", "release", "memory", "analytics"]

pytestmark = pytest.mark.timeout(1800)  # the waits within end before

TIMES = frozenset({"enriched_at", "judged_at", "duration_seconds", "grounding_seconds", "timestamp", "answer_offset"})
"""Fields that differ between two runs of the same judgement."""


async def enriched_count(deployment: Deployment, client: Any) -> int:
    return int((await deployment.query(client, "SELECT count() FROM {db}.answers FINAL"))[0])


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
            InputFormat.labelled, quiet=True,
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


async def run_examples(deployment: Deployment, *agents: list[str] | None) -> dict[str, Any]:
    await deployment.prepare()
    await asyncio.gather(*(deployment.start_worker(names) for names in agents))
    sent = (await ingest_file(deployment.settings, deployment.addresses, str(EXAMPLES), quiet=True)).sent
    client = await deployment.client()

    async def all_stored() -> bool:
        return await enriched_count(deployment, client) >= sent

    try:
        await until(all_stored, "the examples stored", 600)
    finally:
        await client.close()
        await deployment.stop()
    return await enriched_by_answer(deployment)


async def test_grounding_in_a_process_of_its_own_gives_the_same_enriched_answers(
    deployment: Deployment, tmp_path: Path
) -> None:
    together = await run_examples(deployment, None)
    (tmp_path / "split").mkdir()
    split_deployment = Deployment(deployment.addresses, tmp_path / "split", environment=deployment.environment)
    try:
        split = await run_examples(split_deployment, ["grounding"], OTHERS)
    finally:
        await split_deployment.stop()
    assert len(together) == len(EXAMPLES.read_text(encoding="utf-8").splitlines())
    assert list(differences(split, together)) == []


def test_the_demo_accounts_for_every_example(tmp_path: Path) -> None:
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("KAFKA_BOOTSTRAP_SERVERS", "REDIS_URL", "CLICKHOUSE_URL")
    }
    summary_file = tmp_path / "summary.json"
    finished = subprocess.run(
        [sys.executable, "-m", "workers.cli", "demo", "--summary-json", str(summary_file)],
        cwd=tmp_path, env=environment | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=800,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    summary = json.loads(summary_file.read_text())
    examples = len(EXAMPLES.read_text(encoding="utf-8").splitlines())
    assert summary["ingested"] == examples
    assert summary["enriched"] + summary["dead_lettered"] == examples
    assert summary["accounted_for"] is True
    assert summary["counts"]["degraded"] == 0
    assert summary["reviews"] > 0
    assert summary["remembered"] > 0
    assert len(summary["worst"]) == 3
    assert "Traceback" not in finished.stderr
