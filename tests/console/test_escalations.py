"""Escalations with their reasons, and what happens at the deadline of a request."""

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, expect

from schemas.identifiers import fact_id
from schemas.review import ReviewEvent
from schemas.topics import REVIEW_EVENTS
from tests.harness.browser import detail_of_a_page, escalate, logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread, clock_at
from tests.harness.decisions import Values
from tests.harness.held_answers import held, review_of
from tests.harness.variants import variants
from workers.decision.finality import released_by
from workers.decision.release_events import review_request
from workers.review.decision_events import DeadlineAction, decided_by_deadline
from workers.review.queue.left_requests import standing_escalations
from workers.stores.clickhouse.rows.review_rows import review_event_row

AT = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
REASON = "The figure is in a contract that I may not read."


def steps(*told: str) -> dict[tuple[str, str], str]:
    """Return who escalated each request last, after steps such as ``anna escalated``."""
    rows = [
        {
            "tenant": "t",
            "review_id": "r",
            "by": by,
            "kind": kind,
            "at": AT + timedelta(minutes=number),
            "reason": "",
            "verdicts": "",
        }
        for number, (by, kind) in enumerate(step.split() for step in told)
    ]
    return {name: each.by for name, each in standing_escalations(rows).items()}


def test_an_undone_escalation_leaves_the_one_before() -> None:
    assert steps("anna escalated", "anna resumed") == {}
    assert steps("anna escalated", "ben escalated") == {("t", "r"): "ben"}
    assert steps("anna escalated", "ben escalated", "ben resumed") == {("t", "r"): "anna"}
    assert steps("anna escalated", "ben escalated", "anna resumed") == {("t", "r"): "ben"}


WINDOWS = [{"width": 1280, "height": 900}, {"width": 390, "height": 844}]


@needs_browser
@pytest.mark.parametrize("window", variants(WINDOWS, in_every_run=WINDOWS[:1]))
def test_an_escalation_asks_why_and_the_next_reviewer_sees_who_when_and_why(
    browser: Browser, console: ConsoleThread, values: Values, window: dict[str, int]
) -> None:
    (answer,) = held(console, "passed-on", 1)
    review = fact_id(answer.tenant, answer.answer_id, "review")
    with logged_in(browser, console, "escalator", viewport=window) as (page, seen):
        page.goto(f"/review/{review}")
        expect(page.locator("#question")).to_be_focused()
        before = len(values(REVIEW_EVENTS, answer.answer_id))
        page.keyboard.press("e")
        dialog = page.locator("#escalation")
        expect(dialog).to_contain_text("Its deadline moves to 24 h from now; if nobody decides by then, readers get")
        assert serious_violations(page) == []
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        page.keyboard.press("e")
        expect(page.locator("#escalation-reason")).to_be_focused()
        page.keyboard.press("Enter")
        expect(dialog).to_be_visible()
        page.keyboard.type(REASON)
        page.keyboard.press("Enter")
        expect(page.locator("#status")).to_contain_text("Escalated")
        expect(page.locator(f'[data-review="{review}"]')).to_have_count(0)
        assert seen.complaints == []
    events = [ReviewEvent.from_bytes(value) for value in values(REVIEW_EVENTS, answer.answer_id)][before:]
    (escalated,) = (each for each in events if each.kind == "escalated")
    assert escalated.reason == REASON
    console.call(console.resources.analytics.store([review_event_row(escalated)]))
    (listed,) = console.client("next-reviewer").get("/api/reviews").json()["items"]
    assert (listed["escalation"]["by"], listed["escalation"]["reason"]) == ("escalator", REASON)
    audited = console.client("next-reviewer").get("/api/audit/decisions").json()["items"]
    assert (escalated.event_id, REASON) in [(each["decision_id"], each["comment"]) for each in audited]
    marked = f"escalated by escalator on {escalated.occurred_at:%Y-%m-%d %H:%M:%S} UTC: {REASON}"
    with logged_in(browser, console, "next-reviewer", viewport=window) as (page, seen):
        page.goto("/queue")
        expect(page.locator(f'[data-row="{review}"] .escalation')).to_have_text(marked)
        page.goto(f"/review/{review}")
        expect(page.locator("p.escalation")).to_have_text(f"This request was {marked}.")
        expect(page.locator(".history")).to_contain_text(REASON)
        assert serious_violations(page) == []
        page.goto(f"/answers/{answer.answer_id}")
        expect(page.locator(".history")).to_contain_text(REASON)
        assert seen.complaints == []


@detail_of_a_page
def test_an_escalation_hands_on_verdicts_which_bind_nobody_and_the_list_previews_what_is_decided_on(
    browser: Browser, console: ConsoleThread, values: Values
) -> None:
    (answer,) = held(console, "found", 1)
    review = fact_id(answer.tenant, answer.answer_id, "review")
    found = ("contradicted", "supported")
    with logged_in(browser, console, "finder") as (page, seen):
        page.goto(f"/review/{review}")
        expect(page.locator("#question")).to_be_focused()
        rows = page.locator("[data-claim-row]")
        for key in "2j1":
            page.keyboard.press(key)
        page.keyboard.press("e")
        expect(page.locator("#escalation-verdicts")).to_contain_text("sees your verdicts on 2 claims as yours")
        page.keyboard.type(REASON)
        page.keyboard.press("Enter")
        expect(page.locator("#status")).to_contain_text("Escalated")
        events = [ReviewEvent.from_bytes(value) for value in values(REVIEW_EVENTS, answer.answer_id)]
        (escalated,) = (each for each in events if each.kind == "escalated")
        assert [each.verdict for each in escalated.claim_verdicts] == list(found)
        console.call(console.resources.analytics.store([review_event_row(escalated)]))
        page.goto(f"/review/{review}")
        for number, verdict in enumerate(found):
            expect(rows.nth(number).locator(".own-words")).to_have_text(f"you: {verdict}")
        assert seen.complaints == []
    # A browser that is closed may not give back what it holds.
    console.client("finder").post(f"/api/reviews/{review}/unlock").raise_for_status()
    client = console.client("second-finder")
    (listed,) = client.get("/api/reviews").json()["items"]
    assert list(listed["escalation"]["verdicts"].values()) == list(found)
    with logged_in(browser, console, "second-finder") as (page, seen):
        page.goto("/queue")
        page.get_by_label("Choose all of this page").check()
        page.get_by_label("With the chosen").select_option("approve")
        page.get_by_role("button", name="Preview").click()
        taken = page.locator("#bulk-taken li")
        for words in (
            "How much memory does ingester 0 need?", "high risk", "of 0.80 needed", "reader waits", "left",
            f"escalated by finder on {escalated.occurred_at:%Y-%m-%d %H:%M:%S} UTC: {REASON} (found so far: 1 supported, 1 contradicted)",
            "readers get: ", "Ingester 0 needs 16 GiB of memory",
        ):  # fmt: skip
            expect(taken).to_contain_text(words)
        page.goto(f"/review/{review}")
        rows = page.locator("[data-claim-row]")
        for number, verdict in enumerate(found):
            expect(rows.nth(number).locator(".given-verdict")).to_have_text(f"finder before the escalation: {verdict}")
            expect(rows.nth(number).locator(".own-words")).to_have_text("no verdict of yours")
        expect(page.locator("[data-verdict]:checked")).to_have_count(0)
        assert serious_violations(page) == []
        assert seen.complaints == []


@detail_of_a_page
@pytest.mark.usefixtures("long_undo")
def test_after_an_undone_escalation_the_page_shows_the_request_as_it_was(
    browser: Browser, console: ConsoleThread, values: Values
) -> None:
    (answer,) = held(console, "escalation-undone", 1)
    review = review_of(answer)
    with logged_in(browser, console, "escalation-undoer") as (page, seen):
        page.goto(f"/review/{review}")
        expect(page.locator("#question")).to_be_focused()
        facts = page.locator("p.meta").nth(1)
        deadline = facts.locator("time").last.inner_text()
        escalate(page)
        expect(page.locator("#status")).to_contain_text("Escalated")
        events = [ReviewEvent.from_bytes(value) for value in values(REVIEW_EVENTS, answer.answer_id)]
        escalated = [review_event_row(each) for each in events if each.kind == "escalated"]
        console.call(console.resources.analytics.store(escalated))
        page.keyboard.press("u")
        expect(page.locator("#status")).to_contain_text("Undone")
        expect(facts).to_contain_text("queue: default")
        assert facts.locator("time").last.inner_text() == deadline
        expect(page.locator("p.escalation")).to_have_count(0)
        expect(page.locator(".history li").last).to_contain_text(
            "escalation undone by escalation-undoer, back to the queue default"
        )
        assert seen.complaints == []


def test_an_escalation_with_a_verdict_on_an_unknown_claim_is_refused(console: ConsoleThread) -> None:
    (answer,) = held(console, "found", 1)
    address = f"/api/reviews/{fact_id(answer.tenant, answer.answer_id, 'review')}/escalate"
    body = {"claim_verdicts": [{"claim_id": "no-claim", "verdict": "supported"}]}
    # Whoever had the request open before: a browser that is closed need not give it back in time.
    refused = console.client("second-finder").post(address, json=body)
    assert (refused.status_code, refused.json()["fields"][0]["field"]) == (422, "claim_verdicts.0.claim_id")


@detail_of_a_page
def test_several_are_escalated_with_a_reason_alone(browser: Browser, console: ConsoleThread) -> None:
    held(console, "passed-on", 2)
    with logged_in(browser, console, "escalator") as (page, seen):
        page.goto("/queue")
        page.get_by_label("Choose all of this page").check()
        page.get_by_label("With the chosen").select_option("escalate")
        page.get_by_role("button", name="Preview").click()
        expect(page.locator("#status")).to_contain_text("say why others should decide")
        expect(page.locator("#bulk-reason")).to_be_focused()
        page.keyboard.type(REASON)
        page.keyboard.press("Enter")
        expect(page.locator("#bulk-preview")).to_contain_text("will be escalated")
        assert seen.complaints == []


@detail_of_a_page
@pytest.mark.parametrize(
    ("held_by", "last", "words"),
    [
        ("reject", "reject", "If nobody decides by then, readers get “Response was not approved due to quality concerns.” instead"),
        ("warn", "reject", "If nobody decides by then, readers get the answer with a warning."),
        ("escalate", "warn", "If nobody decides by then, the request goes to the queue “escalated” for 24 h; if nobody decides there, readers get the answer with a warning."),
    ],
)  # fmt: skip
def test_beside_the_deadline_stands_what_readers_get_if_nobody_decides(
    browser: Browser, console: ConsoleThread, monkeypatch: pytest.MonkeyPatch,
    held_by: str, last: DeadlineAction, words: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(console.settings.review, "deadline_held", held_by)
    monkeypatch.setattr(console.settings.review, "deadline_last", last)
    (answer,) = held(console, "deadlines", 1)
    request = review_request(answer, answer.enriched_at, deadline_hours=24)
    assert request is not None and request.deadline_at is not None
    review = request.review_id
    item = console.client("deadlined").get(f"/api/reviews/{review}").json()
    assert item["at_deadline"] == held_by
    done: DeadlineAction = "warn" if "warn" in (held_by, last) else "reject"
    released = released_by(decided_by_deadline(request, done, request.deadline_at))
    assert item["outcomes"]["deadline"] == {"state": released.state, "content": released.content}
    with logged_in(browser, console, "deadlined") as (page, seen):
        page.goto(f"/review/{review}")
        expect(page.locator(".at-deadline")).to_contain_text(words)
        page.locator('[data-outcome="deadline"]').click()
        expect(page.locator('[data-outcome-of="deadline"]')).to_contain_text(words)
        assert seen.complaints == []
    late = request.deadline_at + timedelta(minutes=1)
    with clock_at(console, late), logged_in(browser, console, "deadlined") as (page, _):
        page.goto(f"/review/{review}")
        passed = words.replace("If nobody decides by then", "Unless somebody decides first")
        expect(page.locator(".at-deadline")).to_contain_text(passed)
