"""A team shares the queue: filters, the list, assignments, bulk actions, guidelines, figures by reviewer."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from schemas.identifiers import fact_id
from tests.harness.browser import detail_of_a_page, logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held
from tests.harness.reviews import store_decision
from tests.harness.variants import variants
from workers.decision.release_events import review_request
from workers.review.guidelines import guidelines_of


@pytest.fixture(scope="module")
def deciding(console: ConsoleThread) -> Iterator[ConsoleThread]:
    """The console with the agent that stores assignments and decisions."""
    with console.worker(["decisions", "analytics"]):
        yield console


def reviews_of(tenant: str, count: int) -> list[str]:
    return [fact_id(tenant, f"{tenant}-{number}", "review") for number in range(count)]


def assigned_to(console: ConsoleThread, name: str, person: str) -> set[str]:
    found = console.client(name).get("/api/reviews", params={"assignee": person}).json()
    return {item["review_id"] for item in found["items"]}


def wait_for(console: ConsoleThread, name: str, person: str, wanted: set[str]) -> None:
    """Wait until the rows of the queue show an assignment."""
    deadline = datetime.now(UTC) + timedelta(seconds=120)
    while (found := assigned_to(console, name, person)) != wanted:
        assert datetime.now(UTC) < deadline, found


# ---------------------------------------------------------------- API


def test_an_assigned_request_is_offered_to_its_person_first_and_to_nobody_else(deciding: ConsoleThread) -> None:
    held(deciding, "lists", 3)
    reviews = reviews_of("lists", 3)
    lister, colleague = deciding.client("lister"), deciding.client("colleague")
    body = {"action": "assign", "assignee": "colleague", "review_ids": [reviews[2]]}
    assert lister.post("/api/reviews/bulk", json=body).json() == [
        {
            "review_id": reviews[2],
            "done": True,
            "detail": "",
            "field": "",
            "undo_until": None,
            "shown": "",
            "contradicted": [],
        }
    ]
    assert assigned_to(deciding, "lister", "colleague") == set(), "a preview changes nothing"
    lister.post("/api/reviews/bulk", json=body | {"preview": False})
    wait_for(deciding, "lister", "colleague", {reviews[2]})
    assert assigned_to(deciding, "lister", "nobody") == set(reviews[:2])
    offered = lister.post("/api/reviews/next", json={}).json()["review_id"]
    assert offered in reviews[:2]
    first = colleague.post("/api/reviews/next", json={}).json()
    assert (first["review_id"], first["assignee"]) == (reviews[2], "colleague")
    for client, review in ((lister, offered), (colleague, reviews[2])):
        client.post(f"/api/reviews/{review}/unlock")
    lister.post("/api/reviews/bulk", json=body | {"assignee": "nobody", "preview": False})
    wait_for(deciding, "lister", "colleague", set())


def test_nobody_assigns_to_people_of_other_tenants_or_requests_of_other_tenants(deciding: ConsoleThread) -> None:
    held(deciding, "lists", 1)
    (review,) = reviews_of("lists", 1)
    body = {"action": "assign", "assignee": "acme", "review_ids": [review], "preview": False}
    (refused,) = deciding.client("lister").post("/api/reviews/bulk", json=body).json()
    assert not refused["done"]
    assert "may not review" in refused["detail"]
    (unknown,) = deciding.client("acme").post("/api/reviews/bulk", json=body | {"assignee": "acme"}).json()
    assert not unknown["done"]
    assert "unknown review" in unknown["detail"]
    filters = deciding.client("lister").get("/api/reviews/filters").json()
    assert filters["tenants"] == ["lists"]
    assert {"lister", "colleague"} <= set(filters["people"])
    assert "acme" not in filters["people"]


@pytest.mark.usefixtures("long_undo")
def test_a_refusal_of_one_request_does_not_stop_the_others(deciding: ConsoleThread) -> None:
    held(deciding, "lists", 3)
    reviews = reviews_of("lists", 3)
    lister, colleague = deciding.client("lister"), deciding.client("colleague")
    assert colleague.post(f"/api/reviews/{reviews[0]}/lock").status_code == 200
    body = {"action": "reject", "reason": "off_topic", "review_ids": [*reviews, reviews[1]], "preview": False}
    outcomes = {each["review_id"]: each for each in lister.post("/api/reviews/bulk", json=body).json()}
    assert len(outcomes) == 3
    assert "colleague holds the lock" in outcomes[reviews[0]]["detail"]
    assert [outcomes[review]["done"] for review in reviews] == [False, True, True]
    colleague.post(f"/api/reviews/{reviews[0]}/unlock")
    for review in reviews[1:]:
        assert lister.post(f"/api/reviews/{review}/undo").status_code == 204


@pytest.mark.usefixtures("long_undo")
def test_the_number_of_requests_agrees_with_their_list_while_a_decision_can_be_undone(deciding: ConsoleThread) -> None:
    held(deciding, "lists", 3)
    review = reviews_of("lists", 3)[0]
    lister = deciding.client("lister")
    assert lister.post(f"/api/reviews/{review}/decision", json={"user_action": "reject"}).status_code == 202
    page = lister.get("/api/reviews").json()
    assert lister.post(f"/api/reviews/{review}/undo").status_code == 204
    assert review not in {item["review_id"] for item in page["items"]}
    assert page["open_count"] == len(page["items"])


def test_a_second_reviewer_is_not_told_the_person_of_the_first_review(
    deciding: ConsoleThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deciding.settings.review, "second_share", 1.0)
    (answer,) = held(deciding, "blind-team", 1)
    (review,) = reviews_of("blind-team", 1)
    body = {"action": "assign", "assignee": "first-of-team", "review_ids": [review], "preview": False}
    first, second = deciding.client("first-of-team"), deciding.client("second-of-team")
    assert first.post("/api/reviews/bulk", json=body).json()[0]["done"]
    wait_for(deciding, "first-of-team", "first-of-team", {review})
    request = review_request(answer, answer.enriched_at, deadline_hours=24)
    assert request is not None
    said = {"by": "first-of-team", "at": datetime.now(UTC), "action": "reject"}
    deciding.call(store_decision(deciding.resources.analytics, request, **said))
    (listed,) = second.get("/api/reviews", params={"state": "second"}).json()["items"]
    shown = second.post("/api/reviews/next", json={}).json()
    assert listed["review_id"] == shown["review_id"] == review
    assert (listed["assignee"], shown["assignee"]) == (None, None)
    wrong = second.get("/api/reviews", params={"state": "second", "assignee": "second-of-team"}).json()
    assert len(wrong["items"]) == 1, "a filter by person would tell it as well"


@pytest.mark.parametrize(
    "body",
    [
        {"action": "assign", "review_ids": ["a"]},
        {"action": "reject", "assignee": "x", "review_ids": ["a"]},
        {"action": "correct", "review_ids": ["a"]},
        {"action": "reject", "review_ids": []},
    ],
)
def test_an_incomplete_bulk_action_is_refused(console: ConsoleThread, body: dict[str, Any]) -> None:
    assert console.client("lister").post("/api/reviews/bulk", json=body).status_code == 422


def test_figures_by_reviewer_count_people_of_ones_tenants_only(console: ConsoleThread) -> None:
    for tenant, by in (("counted", "ben"), ("figures-elsewhere", "eva")):
        (answer,) = held(console, tenant, 1)
        request = review_request(answer, answer.enriched_at, deadline_hours=24)
        assert request is not None
        said = {"by": by, "at": datetime.now(UTC), "action": "reject", "duration": 12.0}
        console.call(store_decision(console.resources.analytics, request, **said))
    (figures,) = console.client("counted").get("/api/reviews/reviewers").json()
    assert (figures["name"], figures["decided"], figures["rejected"]) == ("ben", 1, 1)
    assert figures["median_active_seconds"] == 12.0


def test_guidelines_of_a_tenant_come_before_those_for_all(tmp_path: Path) -> None:
    assert guidelines_of(None, "acme") is None
    assert guidelines_of(tmp_path, "acme") is None
    (tmp_path / "default.md").write_text("for all")
    (tmp_path / "acme.md").write_text("for acme")
    (tmp_path / "a%2F..%2Fb.md").write_text("for a/../b")
    found = {tenant: guidelines_of(tmp_path, tenant) for tenant in ("acme", "other", "a/../b", "../acme", ".")}
    assert found == {
        "acme": "for acme", "other": "for all", "a/../b": "for a/../b", "../acme": "for all", ".": "for all",
    }  # fmt: skip


# ---------------------------------------------------------------- pages


def choose(page: Page, label: str, value: str) -> None:
    page.locator(".filters").first.get_by_label(label, exact=True).select_option(value)


@needs_browser
def test_filters_have_words_stay_in_the_address_and_are_saved_by_name(
    browser: Browser, deciding: ConsoleThread
) -> None:
    held(deciding, "lists", 3)
    with logged_in(browser, deciding, "lister") as (page, seen):
        page.goto("/queue")
        choose(page, "Reason", "high risk of hallucination")
        page.get_by_role("button", name="Apply").click()
        page.wait_for_url("**reason=high_hallucination_risk**")
        expect(page.locator("[data-row]")).to_have_count(3)
        page.get_by_label("Name").fill("risky ones")
        page.get_by_role("button", name="Save").click()
        page.goto("/queue")
        page.get_by_label("Saved filters").select_option("risky ones")
        page.get_by_role("button", name="Open").click()
        page.wait_for_url("**/queue?reason=high_hallucination_risk")
        expect(page.get_by_label("Reason", exact=True).first).to_have_value("high_hallucination_risk")
        page.locator("[data-row] a").first.click()
        expect(page.locator("#question")).to_be_focused()
        assert "reason=high_hallucination_risk" in page.url
        page.locator(".queue-filters > summary").click()
        choose(page, "Risk", "high")
        page.locator("#queue-filters").get_by_role("button", name="Apply").click()
        page.wait_for_url("**min_risk=high**")
        page.reload()
        expect(page.get_by_label("Risk", exact=True)).to_have_value("high")
        assert seen.complaints == []


@detail_of_a_page
def test_a_bulk_action_is_previewed_and_then_taken(browser: Browser, deciding: ConsoleThread) -> None:
    held(deciding, "bulks", 3)
    reviews = reviews_of("bulks", 3)
    rival = deciding.client("bulk-rival")
    assert rival.post(f"/api/reviews/{reviews[0]}/lock").status_code == 200
    with logged_in(browser, deciding, "bulk") as (page, seen):
        page.goto("/queue")
        page.get_by_label("Choose all of this page").check()
        page.get_by_label("Person").select_option("bulk-rival")
        page.get_by_role("button", name="Preview").click()
        expect(page.locator("#bulk-words")).to_have_text("2 of 3 requests will be assigned to bulk-rival.")
        expect(page.locator("#bulk-refused li")).to_contain_text("bulk-rival holds the lock")
        assert serious_violations(page) == []
        page.get_by_role("button", name="Cancel").click()
        rival.post(f"/api/reviews/{reviews[0]}/unlock")
        page.get_by_role("button", name="Preview").click()
        expect(page.locator("#bulk-words")).to_have_text("3 of 3 requests will be assigned to bulk-rival.")
        page.get_by_role("button", name="Assign 3").click()
        expect(page.locator("#status")).to_contain_text("Assigned to bulk-rival: 3 of 3 requests")
        wait_for(deciding, "bulk", "bulk-rival", set(reviews))
        assert seen.complaints == []


WINDOWS = [{"width": 1280, "height": 900}, {"width": 390, "height": 844}]


@detail_of_a_page
@pytest.mark.parametrize("window", variants(WINDOWS, in_every_run=WINDOWS[1:]))
def test_the_list_is_for_everybody(browser: Browser, console: ConsoleThread, window: dict[str, int]) -> None:
    held(console, "lists", 2)
    with logged_in(browser, console, "lister", viewport=window) as (page, _):
        for state in ("open", "decided", "second"):
            page.goto(f"/queue?state={state}")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert serious_violations(page) == []
        page.goto("/queue?min_risk=enormous")
        expect(page.locator("main")).to_contain_text("invalid value")


@detail_of_a_page
def test_guidelines_stand_beside_the_claim(
    browser: Browser, console: ConsoleThread, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lists.md").write_text("# Rules\n\n- **Reject** what could hurt.\n\n<script>window.owned = 1</script>")
    monkeypatch.setattr(console.settings.review, "guidelines", tmp_path)
    held(console, "lists", 2)
    with logged_in(browser, console, "lister") as (page, _):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        page.keyboard.press("i")
        guidelines = page.locator("#guidelines")
        expect(guidelines.locator("strong")).to_have_text("Reject")
        assert page.evaluate("window.owned") is None
        assert serious_violations(page) == []
        page.keyboard.press("s")
        expect(page.locator("#status")).to_contain_text("Skipped")
        expect(guidelines.locator("strong")).to_be_visible()


@detail_of_a_page
def test_a_score_is_explained_on_focus_and_in_words(browser: Browser, console: ConsoleThread) -> None:
    held(console, "lists", 2)
    with logged_in(browser, console, "lister") as (page, _):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        term = page.locator(".figures .term").filter(has_text="grounding")
        tip = page.locator(f"#{term.get_attribute('aria-describedby')}")
        expect(tip).to_be_hidden()
        term.focus()
        expect(tip).to_contain_text("How well the sources support the claims")
        figures = page.locator(".figures dd")
        expect(figures.first).to_have_text(re.compile(r"^0\.\d\d of 0\.\d\d needed$"))
        expect(figures.nth(2)).to_contain_text(re.compile("low|medium|high"))
