"""``touchstone export labels`` on real rows, and the evaluation on what it writes."""

import gzip
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from schemas.reports import Span
from schemas.review import ClaimVerdict
from tests.harness.command import bare_environment, run_command_as_text
from tests.harness.migrated import make_tables, return_tables
from tests.harness.reviews import ANSWER, QUERY, review_request, store_decision, store_requests
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect


def touchstone(arguments: Sequence[str], settings: Settings, addresses: Addresses, folder: Path) -> Any:
    environment = bare_environment() | {
        "CLICKHOUSE_URL": addresses.clickhouse,
        "TOUCHSTONE_CLICKHOUSE__DATABASE": settings.clickhouse.database,
    }
    return run_command_as_text(*arguments, folder=folder, environment=environment)


async def test_what_reviewers_say_is_measured_by_the_evaluation(
    settings: Settings, addresses: Addresses, tmp_path: Path
) -> None:
    client = await connect(settings.clickhouse, addresses.clickhouse)
    await make_tables(client, settings.clickhouse.database, refreshed=False)
    store = AnalyticsStore(client, settings.clickhouse.database)
    requests = [review_request(number) for number in range(12)]
    await store_requests(store, requests)
    for number, request in enumerate(requests):
        bad = number % 2
        verdicts = [ClaimVerdict(claim_id="c", verdict="contradicted", span=Span(start=0, end=17))] if bad else []
        await store_decision(store, request, action="reject" if bad else "approve", claim_verdicts=verdicts)
    undecided = review_request(20)
    await store_requests(store, [undecided])
    await store_decision(store, undecided, action="reject")
    await store_decision(store, review_request(21), action="approve")  # the request is gone by its retention
    try:
        done = touchstone(["export", "labels", "out.jsonl.gz", "--json"], settings, addresses, tmp_path)
        assert done.returncode == 0, done.stderr[-2_000:]
        left_out = {"no verdict": 1, "the review request is gone": 1}
        assert json.loads(done.stdout) == {"file": "out.jsonl.gz", "written": 12, "left_out": left_out}
        again = touchstone(["export", "labels", "out.jsonl.gz"], settings, addresses, tmp_path)
        assert (again.returncode, "choose a new file" in again.stderr) == (1, True)
    finally:
        await return_tables(client, settings.clickhouse.database)
        await client.close()
    file = tmp_path / "out.jsonl.gz"
    assert file.stat().st_mode & 0o077 == 0
    rows = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    assert {tuple(row) for row in rows} == {
        (
            "id",
            "dataset",
            "task",
            "query",
            "contexts",
            "answer",
            "label",
            "spans",
            "span_verdicts",
            "split",
            "licence",
            "source_repo",
        )
    }
    assert sorted(row["label"] for row in rows) == [0] * 6 + [1] * 6
    measured = touchstone(
        ["eval", "grounding", "--data", str(file), "--json", "figures.json"], settings, addresses, tmp_path
    )
    assert measured.returncode == 0, measured.stderr[-2_000:]
    (figures,) = json.loads((tmp_path / "figures.json").read_text())["figures"]
    assert (figures["answers"], figures["set"]) == (12, "out")


async def test_the_export_of_reviewers_labels_calibrates_the_risk(
    settings: Settings, addresses: Addresses, tmp_path: Path
) -> None:
    """The reviewers of these answers approve most of what the risk doubts."""
    client = await connect(settings.clickhouse, addresses.clickhouse)
    await make_tables(client, settings.clickhouse.database, refreshed=False)
    store = AnalyticsStore(client, settings.clickhouse.database)
    requests = []
    for number in range(60):
        context = f"Node {number} needs {number + 2} GiB of memory."
        said = ["Sailors adore marble ballrooms.", f"Node {number} needs {number + 2} GiB.", "Memory use is monitored."]
        changes = {"answer": said[number % 3], "claims": [], "query": f"How much memory does node {number} need?"}
        changes |= {"contexts": [{"number": 1, "chunk_id": "c1", "content": context}]}
        requests.append(review_request(number, **changes))
    await store_requests(store, requests)
    for number, request in enumerate(requests):
        span = Span(start=0, end=len(request.answer))
        verdicts = [] if number % 3 else [ClaimVerdict(claim_id="c", verdict="unsupported", span=span)]
        await store_decision(store, request, action="approve" if number % 3 else "reject", claim_verdicts=verdicts)
    try:
        exported = touchstone(["export", "labels", "reviewed.jsonl.gz", "--json"], settings, addresses, tmp_path)
        assert json.loads(exported.stdout)["written"] == 60, exported.stderr[-2_000:]
    finally:
        await return_tables(client, settings.clickhouse.database)
        await client.close()
    command = ["calibrate", "labels", "--data", "reviewed.jsonl.gz", "--out", "risk.json"]
    fitted = touchstone([*command, "--json"], settings, addresses, tmp_path)
    assert fitted.returncode == 0, fitted.stderr[-2_000:]
    figures = json.loads(fitted.stdout)
    assert (figures["answers"], figures["bad"], figures["written"]) == (60, 20, True)
    assert figures["calibration_error"][1] < figures["calibration_error"][0]
    shown = touchstone(command, settings, addresses, tmp_path)
    assert f"TOUCHSTONE_GROUNDING__RISK_MAPPING={tmp_path / 'risk.json'}" in shown.stdout
    assert {"sets": ["reviewed"]}.items() <= json.loads((tmp_path / "risk.json").read_text("utf-8")).items()


async def test_a_correction_is_a_preference_pair(settings: Settings, addresses: Addresses, tmp_path: Path) -> None:
    client = await connect(settings.clickhouse, addresses.clickhouse)
    await make_tables(client, settings.clickhouse.database, refreshed=False)
    store = AnalyticsStore(client, settings.clickhouse.database)
    corrected, second, approved = (review_request(number) for number in range(3))
    await store_requests(store, [corrected, second, approved])
    await store_decision(store, corrected, action="correct", corrected_answer="Loki needs 2 GiB [1].", reason="figure")
    await store_decision(store, approved, action="approve")
    await store_decision(store, second, action="correct", corrected_answer="Other.", ruling="second")
    try:
        done = touchstone(["export", "preferences", "pairs.jsonl", "--json"], settings, addresses, tmp_path)
        assert done.returncode == 0, done.stderr[-2_000:]
        assert json.loads(done.stdout) == {"file": "pairs.jsonl", "written": 1, "left_out": {}}
        other = touchstone(
            ["export", "preferences", "b.jsonl", "--tenant", "b", "--json"], settings, addresses, tmp_path
        )
        assert json.loads(other.stdout)["written"] == 0
    finally:
        await return_tables(client, settings.clickhouse.database)
        await client.close()
    (row,) = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_bytes().splitlines()]
    assert (row["prompt"], row["chosen"], row["rejected"]) == (QUERY, "Loki needs 2 GiB [1].", ANSWER)
    assert (row["contexts"], row["reason"], row["tenant"]) == (["Loki needs 2 GiB."], "figure", "acme")


async def test_an_export_that_fails_leaves_no_file_and_can_be_repeated(
    settings: Settings, addresses: Addresses, tmp_path: Path
) -> None:
    """The second page cannot be read."""
    client = await connect(settings.clickhouse, addresses.clickhouse)
    database = settings.clickhouse.database
    await make_tables(client, database, refreshed=False)
    store = AnalyticsStore(client, database)
    request = review_request(1)
    await store_requests(store, [request])
    await store_decision(store, request, action="correct", corrected_answer="Loki needs 2 GiB [1].")
    export = ["export", "preferences", "pairs.jsonl"]
    try:
        await client.command(f"RENAME TABLE {database}.reviews TO {database}.reviews_away")
        failed = touchstone(export, settings, addresses, tmp_path)
        assert failed.returncode == 1, failed.stderr[-2_000:]
        assert os.listdir(tmp_path) == []  # noqa: PTH208 pathlib's is refused in a coroutine
        await client.command(f"RENAME TABLE {database}.reviews_away TO {database}.reviews")
        assert touchstone(export, settings, addresses, tmp_path).returncode == 0
        assert len((tmp_path / "pairs.jsonl").read_bytes().splitlines()) == 1
    finally:
        await return_tables(client, database)
        await client.close()
