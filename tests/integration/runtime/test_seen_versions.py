"""``touchstone versions`` lists what has judged, and in what it differs."""

import json
from pathlib import Path
from typing import Any

import orjson

from schemas.export import example
from schemas.feedback import AnalyticsRow
from tests.harness.deployment import Deployment, until
from tests.harness.forked_process import run_forked
from workers.pipeline.versions import pipeline_version, version_parts
from workers.runtime.worker import Worker
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore

ROW: dict[str, Any] = AnalyticsRow.model_validate(example(AnalyticsRow)).columns


async def touchstone(deployment: Deployment, *arguments: str) -> tuple[int, str, str]:
    return await run_forked(*arguments, folder=deployment.directory, environment=deployment._environment())


async def test_texts_and_then_effects_are_left_out_of_small_records(addresses: Addresses) -> None:
    def stored(limit: int) -> set[str]:
        settings = Settings()
        settings.kafka.max_record_bytes = limit
        row = orjson.loads(Worker(settings, addresses, ["analytics"])._version_output().value or b"")["columns"]
        return {name.partition(".")[0] for name in orjson.loads(row["parts"])}

    everything = {name.partition(".")[0] for name in version_parts(Settings())}
    assert stored(1_000_000) == everything > {"texts", "decision"}
    assert stored(15_000) == everything - {"texts"}
    assert "rules" in stored(10_000)


async def test_versions_are_listed_with_what_differs(addresses: Addresses, tmp_path: Path) -> None:
    deployment = Deployment(addresses, tmp_path)
    await deployment.prepare()
    client = await deployment.client()
    settings = deployment.settings
    present, parts = pipeline_version(settings), version_parts(settings)
    try:
        store = AnalyticsStore(client, deployment.name)
        old = {"version": "2026.10-grounding1-00ff00", "parts": json.dumps(parts | {"grounding.risk_high": "0.6"})}
        await store.insert("versions", [old | {"started_at": "2026-10-02T08:00:00Z"}])
        for number, version in enumerate([old["version"], old["version"], "2026.9-lost"]):
            await store.insert("answers", [ROW | {"answer_id": f"a-{number}", "pipeline_version": version}])
        worker = Worker(settings, addresses, ["analytics"])
        await worker.start()
        try:

            async def told() -> bool:
                return bool((await deployment.query(client, "SELECT count() FROM {db}.versions FINAL"))[0] == 2)

            await until(told, "the worker's row", 60)
        finally:
            await worker.stop()
        code, output, errors = await touchstone(deployment, "versions", "--json")
        assert code == 0, errors
        found = json.loads(output)
        seen = {each["version"]: each for each in found["versions"]}
        assert found["present"] == found["against"] == present
        assert {name: each["answers"] for name, each in seen.items()} == {
            old["version"]: 2, "2026.9-lost": 1, present: 0,
        }  # fmt: skip
        assert seen[old["version"]]["differs"] == {"grounding.risk_high": ["0.7", "0.6"]}
        assert (seen[present]["differs"], seen["2026.9-lost"]["differs"]) == ({}, None)
        assert seen[present]["parts"] == parts
        code, output, errors = await touchstone(deployment, "versions", "--against", old["version"])
        assert code == 0, errors
        assert f"{present}: grounding.risk_high 0.7 instead of 0.6" in output
        code, _, errors = await touchstone(deployment, "versions", "--against", "2026.9-lost")
        assert code == 2
        assert "2026.9-lost" in errors
    finally:
        await client.close()
        await deployment.close()
