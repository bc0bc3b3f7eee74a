"""The work of a lead: requests of people who left, who reviewed what, figures by period, keys in the list, empty answers."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from schemas.enriched import EnrichedAnswer
from tests.harness.browser import logged_in, needs_browser, serious_violations
from tests.harness.console import EVERYTHING, ConsoleThread
from tests.harness.held_answers import held, review_of, risky
from tests.harness.reviews import store_decision
from workers.decision.release_events import review_request
from workers.review.decision_events import review_event
from workers.review.review_models import Filters, Reviewer
from workers.stores.clickhouse.rows.review_rows import review_event_row


def assign(console: ConsoleThread, answer: EnrichedAnswer, person: str) -> None:
    """Store an assignment, also to somebody whose token is gone."""
    event = review_event(
        "given", review_of(answer), answer.answer_id, answer.tenant, by="lead", at=datetime.now(UTC), assignee=person
    )
    console.call(console.resources.analytics.store([review_event_row(event)]))


def decide(console: ConsoleThread, answer: EnrichedAnswer, by: str, **said: Any) -> None:
    request = review_request(answer, answer.enriched_at, deadline_hours=24)
    assert request is not None
    said = {"at": datetime.now(UTC), "action": "reject"} | said
    console.call(store_decision(console.resources.analytics, request, by=by, **said))


def page_of(console: ConsoleThread, name: str, address: str) -> str:
    return console.client(name).get(address, headers={"Accept": "text/html"}).raise_for_status().text


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page))


def offered(console: ConsoleThread, name: str, tenant: str) -> set[str]:
    """Take requests until none is offered any more."""
    service, found = console.resources.review, set[str]()
    assert service is not None
    while item := console.call(service.next(Filters(), Reviewer(name, frozenset({tenant})), without=found)):
        found.add(item.review_id)
    return found


def test_requests_of_somebody_who_may_no_longer_review_are_found_and_offered_to_others(console: ConsoleThread) -> None:
    gone, elsewhere, member, free = held(console, "teams", 4)
    # The token of the first one is gone, and that of the second one is for another tenant.
    for answer, person in ((gone, "zoe-who-left"), (elsewhere, "acme"), (member, "member")):
        assign(console, answer, person)
    facets = console.client("lead").get("/api/reviews/filters").json()
    assert facets["assignees"] == ["acme", "member", "zoe-who-left"]
    assert "zoe-who-left" not in facets["people"]
    listed = page_of(console, "lead", "/queue?assignee=Zoe-Who-Left")
    assert f'data-row="{review_of(gone)}"' in listed
    assert listed.count("data-row=") == 1
    assert '<option value="zoe-who-left" selected>zoe-who-left (may not review)</option>' in listed
    assert listed.count("(may not review)") == 2, "each person once, however the address spells the name"
    for spelled in ("MEMBER", "Nobody"):
        assert page_of(console, "lead", f"/queue?assignee={spelled}").count("(may not review)") == 2
    everything = text_of(page_of(console, "lead", "/queue"))
    assert everything.count("may not review: offered to others") == 2
    assert "acme may not review: offered to others" in everything
    assert offered(console, "lead", "teams") == {review_of(each) for each in (gone, elsewhere, free)}


def test_requests_are_found_by_the_person_who_reviewed_them(console: ConsoleThread) -> None:
    answers = held(console, "sought", 5)
    decide(console, answers[0], "anna", action="approve", with_warning=True)
    decide(console, answers[1], "Ben")
    decide(console, answers[1], "anna", ruling="second", action="approve")
    decide(console, answers[2], "policy")
    client = console.client("seeker")
    console.client("sought-ben").post(
        f"/api/reviews/{review_of(answers[3])}/decision", json={"user_action": "reject"}
    ).raise_for_status()

    def found(**params: str) -> set[str]:
        page = client.get("/api/reviews", params=params).raise_for_status().json()
        assert page["open_count"] == len(page["items"])
        return {each["review_id"] for each in page["items"]}

    reviews = [review_of(each) for each in answers]
    assert found(reviewed_by="ANNA ", state="decided") == {reviews[0], reviews[1]}
    assert found(reviewed_by="anna") == {reviews[0], reviews[1]}, "only decided requests are reviewed by somebody"
    assert found(reviewed_by="ben") == {reviews[1]}
    assert found(reviewed_by="policy") == {reviews[2]}
    assert found(reviewed_by="SOUGHT-ben") == {reviews[3]}, "a decision that can be undone counts as well"
    assert found(reviewed_by="nobody-else") == set()
    assert found() == {reviews[4]}
    for state in ("open", "second"):
        refused = client.get("/api/reviews", params={"reviewed_by": "anna", "state": state})
        assert refused.status_code == 422
        assert "reviewed_by is valid only for the state decided" in refused.text
    listed = text_of(page_of(console, "seeker", "/queue?reviewed_by=anna"))
    assert "2 decided" in listed
    assert "approved with a warning by anna" in listed
    assert "rejected by Ben" in listed
    # Another state, chosen after the person.
    assert "1 open, 1 with a waiting reader" in text_of(
        page_of(console, "seeker", "/queue?state=open&reviewed_by=anna")
    )
    assert "Approved with a warning by anna" in text_of(page_of(console, "seeker", f"/review/{reviews[0]}"))
    assert 'href="/review"' in page_of(console, "seeker", "/queue?reviewed_by=anna"), "open requests have no reviewer"


def test_the_person_who_reviewed_does_not_end_the_blindness_of_a_second_opinion(
    console: ConsoleThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console.settings.review, "second_share", 1.0)
    (answer,) = held(console, "sought-blind", 1)
    decide(console, answer, "anna")
    client = console.client("second-sought")
    assert len(client.get("/api/reviews", params={"state": "second"}).json()["items"]) == 1
    assert client.get("/api/reviews", params={"reviewed_by": "anna"}).json()["items"] == []


def test_the_list_says_how_many_readers_wait_and_since_when(console: ConsoleThread) -> None:
    now = datetime.now(UTC)
    observed = risky(7, "waiting-list").model_copy(update={"risk_mode": "observer"})
    console.store([risky(1, "waiting-list"), risky(2, "waiting-list"), observed])
    page = console.client().get("/api/reviews", params={"tenant": "waiting-list"}).json()
    assert (page["open_count"], page["held_count"]) == (3, 2)
    oldest = min(each["requested_at"] for each in page["items"])
    assert page["oldest_at"] == oldest
    assert datetime.fromisoformat(oldest) < now
    shown = text_of(page_of(console, EVERYTHING, "/queue?tenant=waiting-list"))
    assert re.search(r"3 open, 2 with a waiting reader, the oldest since \d{4}-\d\d-\d\d [\d:]+ UTC", shown)
    filtered = console.client().get("/api/reviews", params={"tenant": "waiting-list", "max_score": "0"}).json()
    assert (filtered["open_count"], filtered["held_count"], filtered["oldest_at"]) == (0, 0, None)
    decided = console.client().get("/api/reviews", params={"tenant": "waiting-list", "state": "decided"}).json()
    assert (decided["held_count"], decided["oldest_at"]) == (None, None)


def test_figures_of_reviewers_are_those_of_the_chosen_period(console: ConsoleThread) -> None:
    answers = held(console, "periods", 3)
    for answer, days in zip(answers, (0, 10, 20), strict=True):
        decide(console, answer, "periodic", at=datetime.now(UTC) - timedelta(days=days, seconds=1))
    for days, heading, number in (
        ("", "last 7 days", 1), ("&days=14", "last 14 days", 2), ("&days=30", "last 30 days", 3), ("&days=8", "last 7 days", 1),
    ):  # fmt: skip
        shown = page_of(console, EVERYTHING, f"/queue?model=unknown{days}")
        assert f"Reviewers, {heading}" in shown
        assert re.search(rf"periodic</a></th><td>{number}</td>", shown), days
    assert "/queue?model=unknown&amp;days=14#reviewers-heading" in shown
    assert '<a href="/queue?reviewed_by=periodic">' in shown


@needs_browser
def test_a_decision_in_the_list_is_undone_by_a_key(browser: Browser, console: ConsoleThread, long_undo: None) -> None:
    held(console, "key-list", 3)
    with logged_in(browser, console, "key-lister") as (page, seen):
        for address in ("/queue", "/queue?state=decided"):
            page.goto("/queue")
            page.get_by_label("Choose all of this page").check()
            page.get_by_label("With the chosen").select_option("reject")
            page.locator("#bulk-reason").fill("off topic")
            page.get_by_role("button", name="Preview").click()
            page.keyboard.press("u")
            page.get_by_role("button", name="Reject 3").click()
            expect(page.locator("#status")).to_contain_text("Rejected: 3 of 3 requests")
            page.locator("#bulk-action").focus()
            page.keyboard.press("u")
            page.locator("#bulk-action").blur()
            if address != "/queue":
                page.goto(address)
            expect(page.get_by_role("button", name="Undo (u): 3 of 3 requests")).to_be_visible()
            page.get_by_label("Key u undoes").uncheck()
            page.keyboard.press("u")
            page.keyboard.press("Control+u")
            expect(page.locator("#status")).to_contain_text("Rejected: 3 of 3 requests")
            page.get_by_label("Key u undoes").check()
            page.keyboard.press("u")
            expect(page.locator("#status")).to_contain_text("Undone: 3 of 3 requests")
            expect(page).to_have_url(f"{console.url}{address}")
        page.keyboard.press("u")
        expect(page.locator("#status")).to_contain_text("There is nothing to undo.")
        assert serious_violations(page) == []
        assert seen.complaints == []


@needs_browser
def test_an_empty_answer_says_what_to_do_instead_of_its_approval(browser: Browser, console: ConsoleThread) -> None:
    empty = risky(0, "pressed-empties").model_copy(update={"answer": " \u200b"})
    (answer,) = console.store([empty])
    with logged_in(browser, console, "empty-presser") as (page, seen):
        page.goto(f"/review/{review_of(answer)}")
        expect(page.locator("#question")).to_be_focused()
        sent = seen.requests
        for action, key in (("approve", "a"), ("warn", "w")):
            button = page.locator(f'[data-action="{action}"]')
            expect(button).to_have_attribute("aria-disabled", "true")
            expect(page.locator(f"#hint-{action}")).to_have_text("It is empty: correct or reject it")
            for press in (lambda key=key: page.keyboard.press(key), lambda button=button: button.click(force=True)):
                page.keyboard.press("Escape")
                press()
                expect(page.locator("#status")).to_contain_text("write a correction, or reject the answer")
                page.get_by_role("button", name="Close").click()
        assert not [each for each in sent if each.endswith("/decision")]
        for action in ("correct", "reject"):
            expect(page.locator(f'[data-action="{action}"]')).not_to_have_attribute("aria-disabled", "true")
        assert serious_violations(page) == []
        page.goto("/queue")
        page.get_by_label("Choose all of this page").check()
        page.get_by_label("With the chosen").select_option("approve")
        page.get_by_role("button", name="Preview").click()
        expect(page.locator("#bulk-refused li")).to_contain_text("(the answer is empty")
        assert seen.complaints == []


def test_an_auditor_who_reviews_is_led_to_the_withdrawal(console: ConsoleThread) -> None:
    answer, other = held(console, "advised", 2)
    decide(console, answer, "anna", action="approve")
    decide(console, other, "anna")
    shown = text_of(page_of(console, EVERYTHING, f"/review/{review_of(answer)}"))
    assert "If it was wrong, withdraw the answer on its page, and ask the people" in shown
    shown = text_of(page_of(console, "review", f"/review/{review_of(answer)}"))
    assert "If it was wrong, ask an auditor to withdraw the answer, and ask the people" in shown
    shown = text_of(page_of(console, EVERYTHING, f"/review/{review_of(other)}"))
    assert "If it was wrong, ask the people" in shown


def test_the_deadline_of_an_empty_answer_is_that_of_the_policy(
    console: ConsoleThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console.settings.review, "deadline_held", "warn")
    empty, filled = console.store(
        [risky(0, "empty-deadlines").model_copy(update={"answer": ""}), risky(1, "empty-deadlines")]
    )
    for answer, action, state in ((empty, "reject", "rejected"), (filled, "warn", "warned")):
        item = console.client().get(f"/api/reviews/{review_of(answer)}").json()
        assert (item["at_deadline"], item["outcomes"]["deadline"]["state"]) == (action, state)


@needs_browser
def test_a_saved_filter_keeps_every_value_and_is_not_lost_to_its_name(browser: Browser, console: ConsoleThread) -> None:
    with logged_in(browser, console) as (page, seen):
        page.goto("/queue?queue=open&state=open&tenant=key-list")
        name = page.locator("[data-saved-name]").first
        name.fill("Open ones")
        name.press("Enter")
        expect(page.locator("#status")).to_contain_text("Saved: “Open ones”, in this browser.")
        page.goto("/queue")
        page.locator("[data-saved-names]").select_option("Open ones")
        page.get_by_role("button", name="Open", exact=True).click()
        expect(page).to_have_url(f"{console.url}/queue?tenant=key-list&queue=open")
        page.goto("/queue?tenant=teams")
        name.fill("Open ones")
        name.press("Enter")
        expect(page.locator("#status")).to_contain_text(
            "“Open ones” exists with other filters. Save again to replace it."
        )
        name.press("Enter")
        expect(page.locator("#status")).to_contain_text("Saved: “Open ones”, in this browser.")
        name.press("Enter")
        expect(page.locator("#status")).to_contain_text("Saved: “Open ones”, in this browser.")
        assert seen.complaints == []


@pytest.mark.parametrize("log", ["decisions", "accesses"])
def test_a_file_of_a_filter_that_does_not_exist_is_refused(console: ConsoleThread, log: str) -> None:
    client = console.client("admin")
    for path in (f"/api/audit/{log}/export", f"/api/audit/{log}"):
        refused = client.get(path, params={"who": "anna"})
        assert refused.status_code == 422
        assert refused.json()["detail"].startswith("who: there is no such filter; use answer_id, cursor, format, limit")
        assert (
            client.get(path, params={"person": "anna", "tenant": "teams", "since": "2026-11-01T00:00:00Z"}).status_code
            == 200
        )
    exported = client.get(f"/api/audit/{log}/export", params={"person": "nobody-such", "format": "jsonl"})
    assert (exported.status_code, exported.headers["X-Rows"]) == (200, "0")
