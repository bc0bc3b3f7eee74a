"""Auditors find who decided, who looked, and take it with them as files."""

import csv
import io
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser, Page, expect

from schemas.review import ClaimVerdict
from tests.harness.browser import logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held
from tests.harness.reviews import AT, review_request, store_decision
from workers.console.http import downloads
from workers.console.http.table_files import encoded, without_formula
from workers.console.routes import audit
from workers.decision.release_events import review_request as request_of
from workers.review.decision_events import decided
from workers.review.reviewer_labels import label_row

SAID: Sequence[Mapping[str, Any]] = (
    {"by": "anna", "action": "approve"},
    {"by": "anna", "action": "approve", "with_warning": True},
    {"by": "ben", "action": "reject", "reason": "wrong_figure", "comment": '=HYPERLINK("http://x.example")'},
    {"by": "ben", "action": "correct", "corrected_answer": "Loki needs 2 GiB."},
    {"by": "policy", "action": "approve", "ruling": "late"},
)
LOGGED: Mapping[str, str] = {"tenant": "inspected", "until": (AT + timedelta(days=1)).isoformat()}
"""Filters for the records of the fixture; the accesses of these tests come later, where an agent stores them."""
STATES = ["released", "warned", "rejected", "replaced", ""]


@pytest.fixture(scope="module")
def logged(console: ConsoleThread) -> ConsoleThread:
    """The console with five decisions and seven accesses of one tenant, and one of each of another tenant."""
    store = console.resources.analytics
    for number, said in enumerate(SAID):
        request = review_request(number, tenant="inspected")
        console.call(store_decision(store, request, **({"at": AT + timedelta(minutes=number)} | said)))
    console.call(store_decision(store, review_request(1, tenant="inspected-by-others"), by="eva"))
    accesses = [
        {
            "access_id": f"{tenant}-{number}", "at": AT + timedelta(minutes=number), "who": "anna" if number % 2 else "ben",
            "via": "session", "what": "search" if number % 2 else "answer", "tenant": tenant, "answers": [f"a-{number}", "a-0"],
        }
        for tenant, count in (("inspected", 7), ("inspected-by-others", 1))
        for number in range(count)
    ]  # fmt: skip
    console.call(store.insert("accesses", accesses))
    return console


def listed(console: ConsoleThread, log: str, **params: Any) -> list[dict[str, Any]]:
    found = console.client("admin").get(f"/api/audit/{log}", params={**LOGGED, **params})
    items: list[dict[str, Any]] = found.raise_for_status().json()["items"]
    return items


def exported(console: ConsoleThread, log: str, form: str, **params: Any) -> httpx.Response:
    found = console.client("admin").get(f"/api/audit/{log}/export", params={**LOGGED, "format": form, **params})
    return found.raise_for_status()


def test_decisions_tell_who_decided_what_when_and_why(logged: ConsoleThread) -> None:
    found = listed(logged, "decisions")
    assert [each["answer_id"] for each in found] == [f"a-{number}" for number in reversed(range(5))]
    assert [each["state"] for each in reversed(found)] == STATES
    rejected = found[2]
    assert (rejected["decided_by"], rejected["reason"]) == ("ben", "wrong_figure")
    assert rejected["comment"].startswith("=HYPERLINK")
    assert datetime.fromisoformat(rejected["decided_at"]) == AT + timedelta(minutes=2)


@pytest.mark.parametrize(
    ("log", "params", "count"),
    [
        ("decisions", {"person": "anna"}, 2),
        ("decisions", {"state": "rejected"}, 1),
        ("decisions", {"state": "released", "person": "ben"}, 0),
        ("decisions", {"answer_id": "a-3"}, 1),
        ("decisions", {"since": (AT + timedelta(minutes=3)).isoformat()}, 2),
        ("decisions", {"until": (AT + timedelta(minutes=3)).isoformat()}, 3),
        ("accesses", {"person": "anna"}, 3),
        ("accesses", {"state": "answer"}, 4),
        ("accesses", {"answer_id": "a-0"}, 7),
        ("accesses", {"answer_id": "a-6"}, 1),
    ],
)
def test_filters_hold_for_lists_pages_and_files(
    logged: ConsoleThread, log: str, params: dict[str, str], count: int
) -> None:
    assert len(listed(logged, log, **params)) == count
    assert len(exported(logged, log, "jsonl", **params).content.splitlines()) == count
    page = logged.client("admin").get(f"/audit/{log}", params={**LOGGED, **params}).text
    assert f"<strong>{count}</strong>" in page


def test_pages_of_a_log_hold_every_record_once(logged: ConsoleThread) -> None:
    client, seen, cursor = logged.client("admin"), [], None
    while True:
        params = {**LOGGED, "limit": "3", **({"cursor": cursor} if cursor else {})}
        found = client.get("/api/audit/accesses", params=params).raise_for_status().json()
        seen.append([each["access_id"] for each in found["items"]])
        if (cursor := found["next_cursor"]) is None:
            break
    assert [len(page) for page in seen] == [3, 3, 1]
    assert len({name for page in seen for name in page}) == 7


@pytest.mark.parametrize("log", ["decisions", "accesses"])
def test_the_three_formats_hold_the_same(logged: ConsoleThread, log: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "EXPORT_BATCH", dict.fromkeys(audit.EXPORT_BATCH, 2))
    files = {form: exported(logged, log, form) for form in ("csv", "jsonl", "parquet")}

    for form, response in files.items():
        assert f'filename="{log}-inspected-until-2026-11-03T0800Z.{form}"' in response.headers["Content-Disposition"]
    lines = [json.loads(line) for line in files["jsonl"].content.splitlines()]
    table = pq.read_table(io.BytesIO(files["parquet"].content))
    cells = list(csv.DictReader(io.StringIO(files["csv"].text)))
    names = list(lines[0])
    assert len(lines) == table.num_rows == len(cells) == int(files["csv"].headers["X-Rows"])
    assert table.column_names == list(cells[0]) == names
    assert table.schema == audit.SCHEMAS[log]  # type: ignore[index]
    for name in names:
        column = [value.isoformat() if isinstance(value, datetime) else value for value in table[name].to_pylist()]
        assert column == [line[name] for line in lines] or name in ("at", "decided_at")
    assert [line["tenant"] for line in lines] == ["inspected"] * len(lines)


def test_a_cell_is_no_formula(logged: ConsoleThread) -> None:
    (row,) = csv.DictReader(io.StringIO(exported(logged, "decisions", "csv", answer_id="a-2").text))
    assert row["comment"] == '\'=HYPERLINK("http://x.example")'
    assert row["reason"] == "wrong_figure"


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "\u00a0=1", "＝1+1", "\tx"]
)
def test_texts_that_spreadsheets_run_begin_with_an_apostrophe(text: str) -> None:
    assert without_formula(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=1", "8 kg", "'quoted", "(=1)", "ü", "[1]"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert without_formula(text) == text


def test_more_than_a_file_holds_is_refused_and_not_cut(logged: ConsoleThread, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "MAX_ROWS", 4)
    client = logged.client("admin")
    refused = client.get("/api/audit/accesses/export", params=LOGGED)
    assert refused.status_code == 422
    assert "7 rows match, and a file has at most 4" in refused.json()["detail"]


def test_an_interrupted_parquet_file_is_not_taken_for_a_whole_one(logged: ConsoleThread) -> None:
    schema = pa.schema([("name", pa.string())])

    async def rows() -> AsyncIterator[list[dict[str, str]]]:
        yield [{"name": "first"}]
        raise ConnectionError

    async def read() -> bytes:
        pieces = bytearray()
        with pytest.raises(ConnectionError):
            async for piece in encoded("parquet", schema, rows()):
                pieces += piece
        return bytes(pieces)

    with pytest.raises(pa.ArrowInvalid):
        pq.read_table(io.BytesIO(logged.call(read())))


def test_auditors_need_their_scope_and_start_at_the_decisions(logged: ConsoleThread) -> None:
    html = {"Accept": "text/html"}
    for name in ("read", "review"):
        for path in ("/audit/decisions", "/api/audit/decisions", "/api/audit/accesses/export"):
            assert logged.client(name).get(path, headers=html).status_code == 403
    start = logged.client("admin").get("/", headers=html)
    assert (start.status_code, start.headers["Location"]) == (303, "/audit/decisions")
    assert logged.client("admin").get("/audit/nothing").status_code == 422


@pytest.fixture
def auditor(browser: Browser, logged: ConsoleThread) -> Any:
    with logged_in(browser, logged, "inspected") as (page, seen):
        page.goto("/")
        yield page
        assert not seen.complaints


@needs_browser
def test_one_page_tells_who_released_an_answer_on_what_evidence_what_was_shown_and_who_looked(
    logged: ConsoleThread, auditor: Page
) -> None:
    (answer,) = held(logged, "inspected", 1)
    request = request_of(answer, answer.enriched_at, deadline_hours=24)
    assert request is not None
    verdicts = [ClaimVerdict(claim_id=request.claims[0].claim_id, verdict="contradicted")]
    said = {"by": "anna", "at": datetime.now(UTC), "action": "correct", "corrected_answer": "It needs 2 GiB [1]."}
    logged.call(store_decision(logged.resources.analytics, request, claim_verdicts=verdicts, **said))
    access = {
        "access_id": "looked-at", "at": datetime.now(UTC), "who": "ben", "via": "session", "what": "search",
        "tenant": "inspected", "answers": [answer.answer_id],
    }  # fmt: skip
    logged.call(logged.resources.analytics.insert("accesses", [access]))
    page = auditor
    page.get_by_role("link", name="Audit").click()
    page.get_by_label("Words of question, answer or correction, or a part of an answer_id").fill(answer.answer_id)
    page.get_by_role("button", name="Apply").click()
    page.get_by_role("link", name=answer.answer.query, exact=True).click()
    expect(page.locator(".decision")).to_contain_text("Corrected by anna")
    expect(page.locator("#shown .rendered")).to_be_visible()
    expect(page.locator("#shown")).to_contain_text("It needs 2 GiB")
    expect(page.locator("#shown")).to_contain_text("Readers were shown nothing")
    claim = page.locator(f"[data-claim-row='{request.claims[0].claim_id}']")
    expect(claim).to_contain_text("anna found it contradicted")
    expect(claim.locator("blockquote")).to_contain_text("2 GiB")
    page.get_by_text("Lists that showed it or its question").click()
    expect(page.locator("#listed tbody")).to_contain_text("ben")
    expect(page.locator(".history")).to_contain_text("held: high risk of hallucination")
    found = page.get_by_role("region", name="Rules of the decision").locator("tbody td:nth-child(3)").all_inner_texts()
    assert {"no", "none", "high", "success"} <= set(found), found
    assert not [each for each in found if each in ("False", "True", "[]") or len(each.partition(".")[2]) > 2], found
    assert not serious_violations(page)
    page.get_by_role("link", name="All accesses").click()
    expect(page.locator("#log")).to_contain_text("ben")
    assert not serious_violations(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download CSV").click()
    assert "looked-at" in download.value.path().read_text()


@needs_browser
@pytest.mark.parametrize("size", [(390, 844), (640, 450)], ids=["phone", "zoom-200"])
@pytest.mark.parametrize("log", ["decisions", "accesses"])
def test_the_audit_fits_a_narrow_window(auditor: Page, log: str, size: tuple[int, int]) -> None:
    auditor.set_viewport_size({"width": size[0], "height": size[1]})
    auditor.goto(f"/audit/{log}")
    auditor.locator("#log").wait_for()
    assert auditor.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not serious_violations(auditor)


def test_labels_have_one_type_a_column() -> None:
    request = review_request(1)
    verdict = ClaimVerdict.model_validate(
        {"claim_id": request.claims[0].claim_id, "verdict": "contradicted", "span": {"start": 0, "end": 17}}
    )
    row = label_row(decided(request, by="a", profile={}, at=AT, action="reject", claim_verdicts=[verdict]), request)
    table = pa.Table.from_pylist([row])
    assert table.schema.field("spans").type == pa.list_(pa.list_(pa.int64()))
    assert table["span_verdicts"].to_pylist() == [["contradicted"]]
