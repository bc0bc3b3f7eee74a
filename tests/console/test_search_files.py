"""Check the files of a search: CSV, JSON lines and Parquet, with its filters and within its bounds."""

import csv
import html
import io
import json
import re
from datetime import datetime

import pyarrow.parquet as pq
import pytest

from schemas.enriched import EnrichedAnswer
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import risky
from tests.harness.reviews import store_decision
from workers.console.http import downloads
from workers.console.routes import search_export
from workers.decision.release_events import review_request

TENANT = "search-files"
PAGE = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def answers(console: ConsoleThread) -> list[EnrichedAnswer]:
    """Five held answers, of which the first one was corrected."""
    found = console.store(risky(number, TENANT) for number in range(5))
    request = review_request(found[0], found[0].enriched_at, deadline_hours=24)
    assert request is not None
    said = {"action": "correct", "corrected_answer": "=It needs 2 GiB [1]."}
    console.call(store_decision(console.resources.analytics, request, **said))
    return found


def test_the_three_formats_hold_what_the_search_finds(
    console: ConsoleThread, answers: list[EnrichedAnswer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_export, "BATCH", 2)
    client = console.client("read")
    page = client.get("/search", params={"tenant": TENANT, "q": "memory"}, headers=PAGE).raise_for_status().text
    links = [html.unescape(link) for link in re.findall(r'download href="([^"]*)"', page)]
    files = [client.get(link).raise_for_status() for link in links]
    for form, file in zip(("csv", "jsonl", "parquet"), files, strict=True):
        assert re.search(
            rf'filename="answers-{TENANT}-words-until-[0-9TZ-]+\.{form}"', file.headers["Content-Disposition"]
        )
        assert file.headers["X-Rows"] == "5"
    cells = list(csv.DictReader(io.StringIO(files[0].text)))
    lines = [json.loads(line) for line in files[1].content.splitlines()]
    table = pq.read_table(io.BytesIO(files[2].content))
    assert table.schema == search_export.SCHEMA
    assert table.column_names == list(cells[0]) == list(lines[0])
    expected = [answer.answer_id for answer in reversed(answers)]
    for rows in (cells, lines, table.to_pylist()):
        assert [row["answer_id"] for row in rows] == expected
    listed = client.get("/api/answers", params={"tenant": TENANT}).json()["items"]
    for item, line in zip(listed, lines, strict=True):
        same = set(item) & set(line) - {"completed_at"}
        assert {name: line[name] for name in same} == {name: item[name] for name in same}
        assert datetime.fromisoformat(line["completed_at"]) == datetime.fromisoformat(item["completed_at"])
        assert line["claims_contradicted_by_evaluation"] == item["claims_contradicted"]
    assert (lines[-1]["state"], lines[-1]["shown"], cells[-1]["shown"]) == (
        "replaced", "=It needs 2 GiB [1].", "'=It needs 2 GiB [1].",
    )  # fmt: skip


def test_filters_hold_and_unknown_ones_are_refused(console: ConsoleThread, answers: list[EnrichedAnswer]) -> None:
    client = console.client("read")
    found = client.get("/api/search/export", params={"tenant": TENANT, "state": "replaced", "format": "jsonl"})
    assert [json.loads(line)["answer_id"] for line in found.content.splitlines()] == [answers[0].answer_id]
    refused = client.get("/api/search/export", params={"tenant": TENANT, "person": "anna"})
    assert refused.status_code == 422
    assert "person: there is no such filter" in refused.json()["detail"]
    assert console.client("admin").get("/api/search/export").status_code == 403


def test_more_than_a_file_holds_is_refused(
    console: ConsoleThread, answers: list[EnrichedAnswer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "MAX_ROWS", 4)
    refused = console.client("read").get("/api/search/export", params={"tenant": TENANT})
    assert refused.status_code == 422
    assert "5 rows match, and a file has at most 4" in refused.json()["detail"]
