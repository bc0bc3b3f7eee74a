"""The list of requests: contradicted claims before an approval, decisions that can be undone, and what an undo says."""

import re
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from schemas.answers import ContextChunk
from schemas.identifiers import fact_id
from tests.harness.browser import logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held, risky

pytestmark = pytest.mark.usefixtures("long_undo")


def review_of(tenant: str, answer_id: str) -> str:
    return fact_id(tenant, answer_id, "review")


def doubtful(console: ConsoleThread) -> list[str]:
    """Store a request with a contradicted claim and one without, and return their reviews."""
    contradicted = risky(0, "bulk-doubts")
    unsupported = risky(1, "bulk-doubts").model_copy(
        update={
            "answer": "Ingester 1 was built by a famous architect from Lisbon [1].", "risk_mode": "observer",
            "contexts": [ContextChunk(chunk_id="c1", content="Ingester 1 restarts after a crash.")],
        }
    )  # fmt: skip
    first, second = console.store([contradicted, unsupported])
    verdicts = [[claim.verdict for claim in each.grounding.claims] for each in (first, second)]
    assert "contradicted" in verdicts[0]
    assert "contradicted" not in verdicts[1]
    return [review_of("bulk-doubts", each.answer_id) for each in (first, second)]


def preview(client: httpx.Client, action: str, reviews: list[str]) -> dict[str, Any]:
    found = client.post("/api/reviews/bulk", json={"action": action, "review_ids": reviews}).raise_for_status().json()
    return {each["review_id"]: each for each in found}


def previewed(page: Page, action: str) -> None:
    page.get_by_label("Choose all of this page").check()
    page.get_by_label("With the chosen").select_option(action)
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#bulk-preview")).to_be_visible()


@needs_browser
def test_an_approval_of_several_names_contradicted_claims_and_asks_for_a_reason(
    browser: Browser, console: ConsoleThread
) -> None:
    with_doubt, without = doubtful(console)
    client = console.client("bulk-doubter")
    found = preview(client, "approve", [with_doubt, without])
    claims = client.get(f"/api/reviews/{with_doubt}").json()["claims"]
    numbers = [number for number, claim in enumerate(claims, 1) if claim["verdict"] == "contradicted"]
    assert [each["number"] for each in found[with_doubt]["contradicted"]] == numbers
    assert found[with_doubt]["contradicted"][0]["text"] == claims[numbers[0] - 1]["text"]
    assert found[without]["contradicted"] == []
    assert preview(client, "reject", [with_doubt])[with_doubt]["contradicted"] == []
    with logged_in(browser, console, "bulk-doubter") as (page, seen):
        page.goto("/queue")
        previewed(page, "reject")
        expect(page.locator("#bulk-why")).to_be_hidden()
        page.locator("#bulk-cancel").click()
        previewed(page, "approve")
        (line,) = page.locator("#bulk-taken li", has_text="contradicted").all()
        expect(line).to_contain_text(f"contradicted: claim {numbers[0]}")
        expect(line).to_contain_text("16 GiB")
        expect(page.locator("#bulk-taken")).to_contain_text(" of 0.80 needed")
        expect(page.locator("#bulk-doubt-words")).to_contain_text("claims of one request contradicted")
        assert serious_violations(page) == []
        page.get_by_role("button", name="Approve 2").click()
        expect(page.locator("#bulk-why")).to_be_focused()
        expect(page.locator("#bulk-preview")).to_be_visible()
        assert client.get("/api/reviews/stats").json()["backlog"] == 2
        page.locator("#bulk-why").fill("checked by hand")
        with page.expect_request("**/api/reviews/bulk") as sent:
            page.get_by_role("button", name="Approve 2").click()
        assert sent.value.post_data_json["reason"] == "checked by hand"
        expect(page.locator("#status")).to_contain_text("Approved: 2 of 2 requests")
        page.get_by_role("button", name="Undo (u): 2 of 2 requests").click()
        expect(page.locator("#status")).to_contain_text("Undone: 2 of 2 requests")
        page.get_by_label("With the chosen").select_option("approve")
        page.locator("#bulk-reason").fill("as agreed")
        previewed(page, "approve")
        expect(page.locator("#bulk-why")).to_be_hidden()
        expect(page.locator("#bulk-taken")).to_contain_text("contradicted: claim")
        assert seen.complaints == []


def test_the_list_of_decided_requests_has_those_that_can_be_undone(console: ConsoleThread) -> None:
    answers = held(console, "just-decided", 4)
    reviews = [review_of("just-decided", each.answer_id) for each in answers]
    client = console.client("just-decided")

    def decided(**params: str) -> list[tuple[str, str, str, str]]:
        found = client.get("/api/reviews", params={"state": "decided", **params}).raise_for_status().json()
        assert found["open_count"] == len(found["items"])
        return [(each["review_id"], each["action"], each["state"], each["decided_by"]) for each in found["items"]]

    assert decided() == []
    for review, body in zip(
        reviews,
        ({"user_action": "reject"}, {"user_action": "approve", "with_warning": True}, {"user_action": "approve"}),
        strict=False,
    ):
        client.post(f"/api/reviews/{review}/decision", json=body).raise_for_status()
    by = "just-decided"
    rows = [
        (reviews[2], "approve", "released", by), (reviews[1], "approve", "warned", by), (reviews[0], "reject", "rejected", by),
    ]  # fmt: skip
    assert decided() == rows
    listed = client.get("/api/reviews", params={"state": "decided"}).json()["items"]
    assert {each["hallucination_risk"] for each in listed} == {"high"}
    assert decided(min_risk="high", tenant="just-decided") == rows
    assert decided(max_score="0") == []
    assert decided(model="another") == []
    page = client.get("/queue", params={"state": "decided"}, headers={"Accept": "text/html"}).text
    assert all(f'data-row="{review}"' in page for review in reviews[:3])
    assert f'data-row="{reviews[3]}"' not in page
    first = client.get("/api/reviews", params={"state": "decided", "limit": 2}).json()
    second = client.get("/api/reviews", params={"state": "decided", "cursor": first["next_cursor"]}).json()
    assert [each["review_id"] for each in first["items"] + second["items"]] == [row[0] for row in rows]
    assert first["open_count"] == 3
    client.post(f"/api/reviews/{reviews[1]}/undo").raise_for_status()
    assert decided() == [rows[0], rows[2]]
    assert console.client("read").get("/api/reviews", params={"state": "decided"}).status_code == 403


@needs_browser
def test_an_undo_of_several_decisions_says_so_on_every_page(browser: Browser, console: ConsoleThread) -> None:
    held(console, "list-undo", 2)
    with logged_in(browser, console, "list-undoer") as (page, seen):
        for page_of_undo in ("/queue", "/queue?state=decided", "/"):
            page.goto("/queue")
            previewed(page, "reject")
            page.get_by_role("button", name="Reject 2").click()
            expect(page.locator("#status")).to_contain_text("Rejected: 2 of 2 requests")
            if page_of_undo != "/queue":
                page.goto(page_of_undo)
            page.get_by_role("button", name=re.compile(r"^Undo.*: 2 of 2 requests")).click()
            expect(page.locator("#status")).to_contain_text("Undone: 2 of 2 requests")
            expect(page).to_have_url(f"{console.url}{page_of_undo}")
        page.goto("/queue")
        expect(page.locator("#status")).to_be_empty()
        expect(page.locator("[data-choose]:enabled")).to_have_count(2)
        assert seen.complaints == []
