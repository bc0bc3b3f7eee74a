"""The figures of a demo are those of the answers that it sent."""

import base64
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient

from schemas.answers import GeneratedAnswer
from schemas.export import example
from schemas.feedback import AnalyticsRow
from schemas.identifiers import record_key
from schemas.topics import ANSWERS_GENERATED
from tests.harness.deployment import Deployment
from workers.cli.operation.demo import send_files
from workers.cli.operation.demo_files import demo_files
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.queries.runs.run_summary import count_done, summarise

NOW = datetime(2026, 11, 20, tzinfo=UTC)
ROW: dict[str, Any] = AnalyticsRow.model_validate(example(AnalyticsRow)).columns | {"pipeline_version": "v", "rank": 1}


@pytest.fixture
async def deployment(addresses: Addresses, tmp_path: Path) -> AsyncIterator[Deployment]:
    deployment = Deployment(addresses, tmp_path)
    await deployment.prepare()
    yield deployment
    await deployment.close()


def letter(name: str, key: str, failed_at: datetime = NOW, agent: str = "assembly") -> dict[str, Any]:
    return {
        "dead_letter_id": name, "topic": "answers.generated", "partition": 0, "offset": 1, "agent": agent,
        "error_class": "E", "error": "e", "attempts": 1, "failed_at": failed_at.isoformat(), "pipeline_version": "v",
        "key_base64": base64.b64encode(key.encode()).decode(), "headers": "[]",
    }  # fmt: skip


async def test_earlier_letters_letters_of_others_and_replays_are_not_counted(
    deployment: Deployment, client: AsyncClient
) -> None:
    store = AnalyticsStore(client, deployment.name)
    for name, run in (("a-1", "live"), ("a-1", "october"), ("a-2", "october"), ("a-4", "live")):
        await store.insert("answers", [ROW | {"answer_id": name, "run": run, "completed_at": NOW.isoformat()}])
    await store.insert(
        "dead_letters",
        [
            letter("of a sent answer", record_key("acme", "a-2")),
            letter("again", record_key("acme", "a-2"), NOW + timedelta(seconds=1)),
            letter("of the default tenant", "a-3"),
            letter("of a stored answer", "a-4"),
            letter("of another agent", "a-1", agent="memory"),
            letter("earlier", "a-1", NOW - timedelta(seconds=1)),
            letter("of another answer", "b-1"),
        ],
    )
    names = ["a-1", "a-2", "a-3", "a-4"]
    summary = await summarise(
        deployment.settings, deployment.addresses, names, since=NOW, remembered=[], kinds={}, timings={}, peak_bytes=0
    )
    assert (summary.ingested, summary.enriched, summary.dead_lettered) == (4, 2, 2)
    assert summary.accounted_for
    assert sum(summary.states.values()) == 2


async def test_more_answers_than_fit_into_one_request_are_counted(deployment: Deployment, client: AsyncClient) -> None:
    names = [f"{number:04} of a gateway with long names é{'x' * 150}" for number in range(1_000)]
    rows = [
        ROW | {"answer_id": name, "completed_at": NOW.isoformat(), "grounding_score": score, "claims_total": 4}
        for name, score in zip(names, [0.25, 0.75] * 500, strict=True)
    ]
    store = AnalyticsStore(client, deployment.name)
    await store.insert("answers", rows[:-1])
    await store.insert("dead_letters", [letter("of the last answer", names[-1])])
    claim = {"claim_id": "k", "text": "c", "verdict": "contradicted", "evidence": "e", "score": 0.1, "kind": "factual"}
    claim |= {"hedged": 0, "start": 0, "end": 1, "pipeline_version": "v", "run": "live", "rank": 1}
    whose = [("tenant", "answer_id", "completed_at")] * 999
    await store.insert(
        "claims", [claim | {name: row[name] for name in of} for of, row in zip(whose, rows, strict=False)]
    )
    assert await count_done(client, deployment.name, names, NOW) == (999, 1)
    summary = await summarise(
        deployment.settings,
        deployment.addresses,
        names,
        since=NOW,
        remembered=names,
        kinds={},
        timings={},
        peak_bytes=0,
    )
    assert (summary.ingested, summary.enriched, summary.dead_lettered) == (1_000, 999, 1)
    assert sum(summary.states.values()) == 999
    assert summary.remembered == 1_000
    assert summary.counts["claims"] == 4 * 999
    assert summary.counts["grounding"] == round((500 * 0.25 + 499 * 0.75) / 999, 3)
    assert [each["answer_id"] for each in summary.worst] == names[0:6:2]


async def test_lines_that_are_rejected_are_not_waited_for(
    deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    sent = example(GeneratedAnswer)
    lines = [
        sent | {"answer_id": "a-1"},
        {"answer_id": "a-2"},
        {"answer_id": "a-1", "answer": 3},
        sent | {"answer_id": "a-3"},
    ]
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert await send_files(deployment.settings, deployment.addresses, demo_files(file)) == ["a-1", "a-3"]
    assert len(await deployment.read(ANSWERS_GENERATED)) == 2
    assert "2 lines" in (told := capsys.readouterr().err)
    assert "mine.rejected.jsonl" in told
