"""A day of a reviewer: what is kept, counted and shown to those who may only review."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.harness.browser import detail_of_a_page, logged_in, needs_browser, reject, serious_violations, shown
from tests.harness.console import ConsoleThread, clock_at, secret
from tests.harness.held_answers import held, review_of
from tests.harness.reviews import store_decision
from workers.decision.release_events import review_request

pytestmark = [needs_browser, pytest.mark.usefixtures("long_undo")]


def test_what_is_chosen_and_typed_in_the_list_stays_through_an_ended_session(
    browser: Browser, console: ConsoleThread
) -> None:
    first, *_ = [review_of(answer) for answer in held(console, "list-kept", 3)]
    with logged_in(browser, console, "list-keeper") as (page, _):
        page.goto("/queue?min_risk=low")
        box = page.locator(f'[data-choose="{first}"]')
        box.check()
        page.get_by_label("With the chosen").select_option("reject")
        page.locator("#bulk-reason").fill("Not in the sources.")
        with clock_at(console, datetime.now(UTC) + timedelta(days=30)):
            page.get_by_role("button", name="Preview").click()
            expect(page.locator("#status")).to_contain_text("What you typed is still here")
            page.get_by_role("button", name="Log in again").click()
            page.wait_for_url("**/login?next=%2Fqueue*")
        page.get_by_label("token").fill(secret("list-keeper"))
        page.keyboard.press("Enter")
        page.wait_for_url("**/queue?min_risk=low")
        expect(page.locator("#chosen-count")).to_have_text("1 chosen")
        expect(box).to_be_checked()
        expect(page.locator("#bulk-reason")).to_have_value("Not in the sources.")
        page.goto("/queue")
        expect(page.locator("#chosen-count")).to_have_text("0 chosen")
        page.goto("/queue?min_risk=low")
        page.get_by_role("button", name="Preview").click()
        page.get_by_role("button", name="Reject 1").click()
        expect(page.locator("#status")).to_contain_text("Rejected: 1 of 1 requests")
        page.reload()
        expect(page.locator("#chosen-count")).to_have_text("0 chosen")
        expect(page.locator("#bulk-reason")).to_have_value("")


@detail_of_a_page
def test_nothing_that_was_typed_stays_in_the_tab_after_a_log_out(browser: Browser, console: ConsoleThread) -> None:
    held(console, "logged-out", 1)
    with logged_in(browser, console, "leaver") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        page.keyboard.press("m")
        page.keyboard.type("Ask Ms Weber, 0170 123456.")
        assert page.evaluate("sessionStorage.length") > 0
        page.get_by_role("button", name="Log out").click()
        page.wait_for_url("**/login")
        assert page.evaluate("JSON.stringify(sessionStorage)") == "{}"
        assert seen.complaints == []


@detail_of_a_page
def test_the_totals_of_the_list_follow_what_is_done_to_several_requests(
    browser: Browser, console: ConsoleThread
) -> None:
    answers = held(console, "list-totals", 3)
    with logged_in(browser, console, "totals-lister") as (page, seen):
        page.goto("/queue")
        totals = page.locator("#queue-totals")
        expect(totals).to_contain_text("3 open, 3 with a waiting reader")
        for answer in answers[:2]:
            page.locator(f'[data-choose="{review_of(answer)}"]').check()
        page.get_by_label("With the chosen").select_option("reject")
        page.get_by_role("button", name="Preview").click()
        page.get_by_role("button", name="Reject 2").click()
        expect(totals).to_contain_text("1 open, 1 with a waiting reader")
        for number, answer in enumerate(answers):
            row = page.locator(f'[data-row="{review_of(answer)}"]')
            expect(row.get_by_text("reader waits")).to_have_count(0 if number < 2 else 1)
            expect(row.get_by_text("left")).to_have_count(0 if number < 2 else 1)
        page.keyboard.press("u")
        expect(totals).to_contain_text("3 open, 3 with a waiting reader")
        assert seen.complaints == []


@detail_of_a_page
def test_who_may_only_review_has_no_link_that_leads_nowhere_and_sees_what_readers_got(
    browser: Browser, console: ConsoleThread
) -> None:
    decided: list[tuple[dict[str, Any], str]] = [
        ({"action": "approve", "with_warning": True}, "Ingester 0 needs 16 GiB"),
        ({"action": "correct", "corrected_answer": "Ingester 1 needs 2 GiB [1]."}, "Ingester 1 needs 2 GiB"),
        ({"action": "reject", "reason": "It is wrong."}, ""),
    ]
    answers = held(console, "only-review", len(decided) + 1)
    with logged_in(browser, console, "review") as (page, seen), logged_in(browser, console) as (other, _):

        def lost_links() -> list[str]:
            links = page.locator("main a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
            return [each for each in links if each.startswith(("/answers", "/search", "/audit"))]

        for answer, (made, words) in zip(answers, decided, strict=False):
            request = review_request(answer, answer.enriched_at, deadline_hours=24)
            assert request is not None
            console.call(store_decision(console.resources.analytics, request, by="review", **made))
            page.goto(f"/review/{review_of(answer)}")
            got = page.locator("#readers-got .rendered")
            expect(got).to_contain_text(words or "not")
            if not words:
                expect(got).not_to_contain_text("16 GiB")
            assert lost_links() == []
            other.goto(f"/review/{review_of(answer)}")
            expect(other.get_by_role("link", name="What readers are shown")).to_be_visible()
            expect(other.locator("#readers-got")).to_have_count(0)
        page.goto(f"/review/{review_of(answers[-1])}")
        expect(page.locator('.decide [data-action="approve"]')).to_be_enabled()
        assert lost_links() == []
        expect(page.locator("#readers-got")).to_have_count(0)
        assert serious_violations(page) == []
        assert seen.complaints == []


@detail_of_a_page
def test_the_time_of_a_review_stays_where_its_page_is_left(browser: Browser, console: ConsoleThread) -> None:
    held(console, "time-kept", 1)
    with logged_in(browser, console, "time-keeper") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        review = shown(page)
        for _ in range(6):
            page.keyboard.press("j")
            page.wait_for_timeout(500)
        page.goto("/queue")
        page.wait_for_timeout(1_500)
        page.go_back()
        expect(page.locator(f'[data-review="{review}"]')).to_be_visible()
        page.keyboard.press("s")
        expect(page.locator("#status")).to_contain_text("Skipped: “")
        page.goto(f"/review/{review}")
        expect(page.locator("#question")).to_be_focused()
        with page.expect_request("**/decision") as sent:
            reject(page)
        expect(page.locator("#status")).to_contain_text("Rejected: “")
        body = sent.value.post_data_json
        assert body is not None
        assert body["review_duration"] >= 3
        assert seen.complaints == []


@detail_of_a_page
def test_the_number_of_open_requests_follows_what_others_decide(browser: Browser, console: ConsoleThread) -> None:
    answers = held(console, "counts-followed", 3)
    with logged_in(browser, console, "counts-mine") as (page, seen):
        page.clock.install()
        page.goto("/review")
        expect(page.locator("#open-count")).to_have_text("3")
        page.wait_for_load_state("networkidle")  # the next request is loaded ahead
        mine = shown(page)
        other = next(review for review in map(review_of, answers) if review != mine)
        console.client("counts-mine").post(f"/api/reviews/{other}/unlock").raise_for_status()
        made = console.client("counts-other").post(f"/api/reviews/{other}/decision", json={"user_action": "reject"})
        made.raise_for_status()
        page.clock.fast_forward(16_000)
        expect(page.locator("#open-count")).to_have_text("2")
        expect(page.locator("#held-count")).to_have_text("2")
        expect(page.locator("#own-count")).to_have_text("0")
        assert seen.complaints == []


@detail_of_a_page
@pytest.mark.parametrize(
    "window", [{"width": 1280, "height": 900}, {"width": 390, "height": 844}, {"width": 640, "height": 450}]
)
def test_a_message_of_several_lines_covers_no_question(
    browser: Browser, console: ConsoleThread, window: dict[str, int]
) -> None:
    (answer,) = held(console, "long-lines", 1)
    with logged_in(browser, console, "line-reader", viewport=window) as (page, _):
        page.goto(f"/review/{review_of(answer)}")
        expect(page.locator("#question")).to_be_focused()
        complaint = "The answer is empty, so readers would get nothing; write a correction, or reject it. " * 3
        page.evaluate(
            "words => import('/static/js/common.js').then(({ complain }) => complain({ status: 422, message: words }))",
            complaint,
        )
        for down in (0, 150, 400):
            page.evaluate("down => scrollTo(0, down)", down)
            page.wait_for_timeout(300)
            message, question = page.locator("#status").bounding_box(), page.locator("#question").bounding_box()
            assert message is not None
            assert question is not None
            assert message["height"] > 40
            assert question["y"] >= message["y"] + message["height"] - 1 or question["y"] + question["height"] <= 0


@detail_of_a_page
def test_the_key_of_the_guidelines_leads_the_focus_there_and_back(browser: Browser, console: ConsoleThread) -> None:
    (answer,) = held(console, "long-lines", 1)
    with logged_in(browser, console, "line-other") as (page, _):
        page.goto(f"/review/{review_of(answer)}")
        expect(page.locator("#question")).to_be_focused()
        page.keyboard.press("i")
        expect(page.locator("#guidelines [tabindex], #guidelines summary").first).to_be_focused()
        page.keyboard.press("i")
        expect(page.locator("#question")).to_be_focused()
