"""The end of the queue says what is still open, and why it is not offered."""

import re

from playwright.sync_api import Browser, expect

from schemas.answers import ModelReference
from schemas.identifiers import fact_id
from schemas.review import ReviewEvent
from schemas.topics import REVIEW_EVENTS
from tests.harness.browser import escalate, logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.decisions import Values
from tests.harness.held_answers import held, risky
from tests.harness.reviews import store_decision
from workers.decision.release_events import review_request
from workers.stores.clickhouse.rows.review_rows import review_event_row


@needs_browser
def test_the_end_of_the_queue_names_what_is_skipped_escalated_assigned_and_open_elsewhere(
    browser: Browser, console: ConsoleThread, values: Values
) -> None:
    answers = held(console, "left-over", 5)
    reviews = {answer.answer.query: fact_id(answer.tenant, answer.answer_id, "review") for answer in answers}
    names = {answer.answer.query: answer.answer_id for answer in answers}
    given, locked, *others = reviews
    rival = console.client("leftover-rival")
    body = {"action": "assign", "review_ids": [reviews[given]], "assignee": "leftover-rival", "preview": False}
    assert rival.post("/api/reviews/bulk", json=body).json()[0]["done"]
    (event,) = (ReviewEvent.from_bytes(value) for value in values(REVIEW_EVENTS, names[given]))
    console.call(console.resources.analytics.store([review_event_row(event)]))
    rival.post(f"/api/reviews/{reviews[locked]}/lock").raise_for_status()
    request = review_request(answers[-1], answers[-1].enriched_at, deadline_hours=24)
    assert request is not None
    console.call(store_decision(console.resources.analytics, request, by="leftover-rival"))
    with logged_in(browser, console, "leftover") as (page, seen):
        page.goto("/review?assignee=%20LeftOver-Rival%20")
        expect(page.locator("#question")).to_have_text(given)
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        first = page.locator("#question").inner_text()
        page.keyboard.press("s")
        expect(page.locator("#question")).not_to_have_text(first)
        expect(page.locator("#question")).to_be_focused()
        second = page.locator("#question").inner_text()
        assert {first, second} == set(others[:2])
        escalate(page)
        empty = page.locator("#queue-empty")
        expect(empty).to_be_focused()
        expect(empty).to_contain_text("Nothing waits for you")
        expect(empty.locator(".left-skipped a")).to_have_text([first])
        expect(empty.locator(".left-escalated a")).to_have_text([second])
        expect(empty).to_contain_text("1 assigned to leftover-rival")
        expect(empty).to_contain_text("1 open at leftover-rival")
        assert serious_violations(page) == []
        empty.locator(".left-skipped a").click()
        expect(page.locator("#question")).to_have_text(first)
        page.goto("/review?max_score=0")
        expect(empty).to_contain_text("4 outside of the filters")
        page.goto("/queue?state=decided")
        page.get_by_role("link", name="How much memory").click()
        expect(page.locator(".card.decision")).to_contain_text("Approved")
        assert "state=" not in page.url, "the next request is an open one"
        page.goto("/review?state=decided")
        expect(empty).to_contain_text("nothing is left to decide in them")
        empty.get_by_role("link", name="List of the decided requests").click()
        expect(page.locator("[data-row]")).to_have_count(1)
        assert seen.complaints == []


def test_left_requests_with_the_same_question_are_told_apart(console: ConsoleThread) -> None:
    answers = [
        risky(number, "same-questions").model_copy(
            update={"query": "How much?", "model": ModelReference(id=f"cedar-{number}"), "answer": text}
        )
        for number, text in enumerate(
            (
                "It needs **16 GiB** of memory [1].",
                "It needs 32 GiB of memory [1]. " + "It restarts by itself after a crash [1]. " * 9,
                "It needs <i>64 GiB</i> of memory [1].",
                "",
            )
        )
    ]
    stored = console.store(answers)
    client = console.client("repeater")
    for number, (answer, step) in enumerate(zip(stored, ("skip", "skip", "escalate", "skip"), strict=True)):
        review = fact_id(answer.tenant, answer.answer_id, "review")
        body = {"reason": "others know it"} if step == "escalate" else None
        assert client.post(f"/api/reviews/{review}/{step}", json=body).is_success, number
    shown = client.post("/review/remaining", json={}).raise_for_status().text
    lines = {
        kind: tuple(
            re.findall(rf'aria-describedby="({kind}-\d)">How much\?</a><br><small id="\1">(.*?)</small>', shown)
        )
        for kind in ("skipped", "escalated")
    }
    notes = {kind: {re.sub("<.*?>", "", note) for _, note in found} for kind, found in lines.items()}
    at = [f"answered {answer.answer.completed_at:%Y-%m-%d %H:%M:%S} UTC" for answer in stored]
    long = "It needs 32 GiB of memory [1]. It restarts by itself after a crash [1]. It restarts by itself after a crash [1]. It …"
    assert notes == {
        "skipped": {
            f"It needs 16 GiB of memory [1]. · cedar-0 · {at[0]}",
            f"{long} · cedar-1 · {at[1]}",
            f"An empty answer · cedar-3 · {at[3]}",
        },
        "escalated": {f"It needs &lt;i&gt;64 GiB&lt;/i&gt; of memory [1]. · cedar-2 · {at[2]}"},
    }


def test_persons_are_found_in_any_case_and_with_blanks_around(console: ConsoleThread) -> None:
    (answer,) = held(console, "left-over", 1)
    event = ReviewEvent(
        event_id="given-in-any-case", review_id=fact_id(answer.tenant, answer.answer_id, "review"),
        answer_id=answer.answer_id, tenant=answer.tenant, kind="given", reviewer="Änne Öl", assignee="leftover-rival",
        occurred_at=answer.enriched_at,
    )  # fmt: skip
    console.call(console.resources.analytics.store([review_event_row(event)]))
    access = {
        "access_id": "any-case", "at": answer.enriched_at, "who": "Änne Öl", "via": "session", "what": "answer",
        "tenant": answer.tenant, "answers": [answer.answer_id],
    }  # fmt: skip
    console.call(console.resources.analytics.insert("accesses", [access]))
    client = console.client("leftover")
    for name in ("Änne Öl", "änne öl", " ÄNNE ÖL "):
        for log in ("decisions", "accesses"):
            found = client.get(f"/api/audit/{log}", params={"person": name}).json()
            assert [each["tenant"] for each in found["items"]] == ["left-over"], (log, name)
    for name in ("leftover-rival", " Leftover-RIVAL "):
        found = client.get("/api/reviews", params={"assignee": name}).json()
        assert answer.answer_id in [each["answer_id"] for each in found["items"]], name
    free = client.get("/api/reviews", params={"assignee": " Nobody "}).json()
    assert answer.answer_id not in [each["answer_id"] for each in free["items"]]
