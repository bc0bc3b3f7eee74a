"""The undo of a reviewer's last step, and the address of the request that is shown."""

import re
from collections.abc import Callable
from datetime import timedelta
from email.utils import format_datetime, parsedate_to_datetime

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.harness.browser import (
    detail_of_a_page,
    escalate,
    logged_in,
    needs_browser,
    reject,
    serious_violations,
    shown,
)
from tests.harness.console import UNDO_SECONDS, ConsoleThread
from tests.harness.decisions import Values, decisions_on
from tests.harness.held_answers import held, review_of
from tests.harness.variants import variants


def question(page: Page) -> str:
    """Return the question of the request that the page shows."""
    return page.locator("#question").inner_text()


@needs_browser
def test_the_countdown_of_an_undo_never_exceeds_the_time_that_the_page_names(
    browser: Browser, console: ConsoleThread
) -> None:
    held(console, "countdowns", 2)

    def answer_late(route: Route) -> None:
        reply = route.fetch()
        behind = parsedate_to_datetime(reply.headers["date"]) - timedelta(seconds=20)
        route.fulfill(response=reply, headers=reply.headers | {"date": format_datetime(behind, usegmt=True)})

    with logged_in(browser, console, "counting") as (page, _):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        page.route("**/decision", answer_late)
        reject(page)
        expect(page.locator("#status")).to_contain_text("Rejected: “")
        expect(page.locator("#status .countdown")).to_have_text(re.compile(r"^ ?[123] s$"))


WINDOWS = [{"width": 1280, "height": 900}, {"width": 390, "height": 844}]


@detail_of_a_page
@pytest.mark.parametrize("window", variants(WINDOWS, in_every_run=WINDOWS[:1]))
def test_an_undo_names_its_request_counts_down_and_says_when_it_is_too_late(
    browser: Browser, console: ConsoleThread, values: Values, window: dict[str, int]
) -> None:
    answers = {review_of(answer): answer for answer in held(console, "late-undo", 3)}
    with logged_in(browser, console, "late-undoer", viewport=window) as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        first, asked = shown(page), question(page)
        with page.expect_response(lambda response: response.url.endswith("/decision")) as decided:
            reject(page)
        status = page.locator("#status")
        expect(status).to_contain_text(f"Rejected: “{asked}”")
        button = page.get_by_role("button", name=f"Undo{' (u)' if window['width'] > 900 else ''}: “{asked}”")
        expect(button.locator(".countdown")).to_have_text(re.compile(r"^ ?[123] s$"))
        before = button.locator(".countdown").inner_text()
        expect(button.locator(".countdown")).not_to_have_text(before)
        expect(button).to_have_count(0)
        second = shown(page)
        page.wait_for_function("until => Date.now() > Date.parse(until)", arg=decided.value.json()["undo_until"])
        page.keyboard.press("u")
        # Requests of other tenants and times may have the same question.
        published = rf"The decision on “{re.escape(asked)}” \(late-undo, [0-9 :-]+ UTC\) is already published, so it was not undone\."
        expect(status).to_contain_text(re.compile(published))
        expect(status).to_contain_text("ask the people who run the application to answer the question again")
        expect(status).to_have_class("error")
        assert shown(page) == second, "the request that is shown stays as it is"
        assert page.evaluate("document.documentElement.scrollWidth") <= window["width"]
        assert serious_violations(page) == []
        page.keyboard.press("u")
        expect(status).to_contain_text("There is nothing to undo.")
        assert seen.complaints == []
    (decision,) = decisions_on(values, answers[first].answer_id)
    assert decision.user_action == "reject"


@detail_of_a_page
def test_an_undo_of_a_skip_that_comes_too_late_leads_to_its_request(browser: Browser, console: ConsoleThread) -> None:
    held(console, "late-skips", 2)
    with logged_in(browser, console, "late-skipper") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        first = shown(page)
        page.keyboard.press("s")
        expect(page.locator(f'[data-review="{first}"]')).to_have_count(0)
        page.wait_for_function("until => Date.now() > until", arg=page.evaluate("Date.now()") + UNDO_SECONDS * 1000)
        page.keyboard.press("u")
        expect(page.locator("#status")).to_contain_text("skipped too long ago, so nothing was undone")
        page.get_by_role("button", name="Open it").click()
        expect(page).to_have_url(f"{console.url}/review/{first}")
        expect(page.locator(f'[data-review="{first}"]')).to_be_visible()
        assert seen.complaints == []


def test_an_undo_without_a_decision_says_so(console: ConsoleThread) -> None:
    (answer,) = held(console, "undecided", 1)
    refused = console.client("undecided").post(f"/api/reviews/{review_of(answer)}/undo")
    assert (refused.status_code, refused.json()["conflict"]) == (409, "too_late")
    named = f"“How much memory does ingester 0 need?” (undecided, {answer.answer.completed_at:%Y-%m-%d %H:%M:%S} UTC)"
    assert f"nothing to undo for {named}" in refused.json()["detail"]


@detail_of_a_page
def test_the_address_names_the_request_that_is_shown_and_back_and_forward_lead_through_them(
    browser: Browser, console: ConsoleThread
) -> None:
    reviews = {review_of(answer) for answer in held(console, "addresses", 3)}
    with logged_in(browser, console, "addressed") as (page, seen):
        page.goto("/review?min_risk=low")
        expect(page.locator("#question")).to_be_focused()
        visited = []
        for _ in range(3):
            expect(page.locator(f'[data-review="{visited[-1] if visited else "none"}"]')).to_have_count(0)
            visited.append(shown(page))
            expect(page).to_have_url(f"{console.url}/review/{visited[-1]}?min_risk=low")
            page.keyboard.press("s")
        assert set(visited) == reviews
        expect(page.locator("#queue-empty")).to_be_focused()
        expect(page).to_have_url(f"{console.url}/review?min_risk=low")
        page.go_back()
        expect(page.locator(f'[data-review="{visited[2]}"]')).to_be_visible()
        page.keyboard.press("m")
        page.keyboard.type("kept")
        page.keyboard.press("Escape")
        page.go_back()
        expect(page.locator(f'[data-review="{visited[1]}"]')).to_be_visible()
        expect(page.locator("#question")).to_be_focused()
        page.go_forward()
        expect(page.locator(f'[data-review="{visited[2]}"]')).to_be_visible()
        expect(page.locator("#comment")).to_have_value("kept")
        page.reload()
        expect(page.locator(f'[data-review="{visited[2]}"]')).to_be_visible()
        expect(page).to_have_url(f"{console.url}/review/{visited[2]}?min_risk=low")
        assert seen.complaints == []


@detail_of_a_page
@pytest.mark.usefixtures("long_undo")
@pytest.mark.parametrize(
    ("leave", "words"), [(lambda page: page.keyboard.press("s"), "Skipped"), (escalate, "Escalated")]
)
def test_a_skip_and_an_escalation_are_undone_like_a_decision(
    browser: Browser, console: ConsoleThread, leave: Callable[[Page], None], words: str
) -> None:
    held(console, "escalations", 2)
    with logged_in(browser, console, "escalating") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        left, asked = shown(page), question(page)
        leave(page)
        expect(page.locator("#status")).to_contain_text(f"{words}: “{asked}”")
        expect(page.locator(f'[data-review="{left}"]')).to_have_count(0)
        page.keyboard.press("u")
        expect(page.locator("#status")).to_contain_text(f"Undone: “{asked}”")
        expect(page.locator(f'[data-review="{left}"]')).to_be_visible()
        expect(page).to_have_url(f"{console.url}/review/{left}")
        assert seen.complaints == []


@detail_of_a_page
@pytest.mark.usefixtures("long_undo")
def test_each_decision_is_undone_for_itself_also_if_a_key_was_pressed_twice(
    browser: Browser, console: ConsoleThread
) -> None:
    held(console, "pressed-twice", 3)
    with logged_in(browser, console, "double-presser") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        first, first_question = shown(page), question(page)
        reject(page)
        expect(page.locator(f'[data-review="{first}"]')).to_have_count(0)
        second, second_question = shown(page), question(page)
        reject(page)
        expect(page.locator("#status")).to_contain_text(f"Rejected: “{second_question}”")
        page.keyboard.press("u")
        expect(page.locator("#status")).to_contain_text(f"Undone: “{second_question}”")
        expect(page.locator(f'[data-review="{second}"]')).to_be_visible()
        page.keyboard.press("u")
        expect(page.locator("#status")).to_contain_text(f"Undone: “{first_question}”")
        expect(page.locator(f'[data-review="{first}"]')).to_be_visible()
        page.keyboard.press("u")
        expect(page.locator("#status")).to_contain_text("There is nothing to undo.")
        assert counters(page) == ["0", "3", "3"]
        assert seen.complaints == []


@detail_of_a_page
@pytest.mark.usefixtures("long_undo")
def test_a_decision_can_be_undone_from_another_page_and_after_coming_back(
    browser: Browser, console: ConsoleThread
) -> None:
    held(console, "left-page", 2)
    with logged_in(browser, console, "leaving") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        first, asked = shown(page), question(page)
        reject(page)
        expect(page.locator("#status")).to_contain_text("Rejected")
        page.goto("/queue")
        expect(page.locator("#status")).to_contain_text(f"Rejected: “{asked}”")
        page.get_by_role("button", name=f"Undo (u): “{asked}”").click()
        expect(page).to_have_url(f"{console.url}/review/{first}")
        expect(page.locator("#question")).to_be_focused()
        reject(page)
        expect(page.locator("#status")).to_contain_text("Rejected")
        page.goto("/queue")
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        page.keyboard.press("u")
        expect(page).to_have_url(f"{console.url}/review/{first}")
        expect(page.locator(f'[data-review="{first}"]')).to_be_visible()
        assert counters(page) == ["0", "2", "2"]
        assert seen.complaints == []


@detail_of_a_page
@pytest.mark.usefixtures("long_undo")
def test_an_undo_after_a_vote_says_that_the_vote_stays_before_it_undoes_an_older_decision(
    browser: Browser, console: ConsoleThread
) -> None:
    held(console, "voted", 2)
    with logged_in(browser, console, "voting") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        first, asked = shown(page), question(page)
        reject(page)
        expect(page.locator(f'[data-review="{first}"]')).to_have_count(0)
        second = shown(page)
        page.keyboard.press("b")
        expect(page.locator("#status")).to_contain_text("Downvoted")
        page.keyboard.press("u")
        expect(page.locator("#status")).to_contain_text(
            f"A vote cannot be undone. Undo again to undo this instead: rejected: “{asked}”"
        )
        assert shown(page) == second
        page.keyboard.press("u")
        expect(page.locator(f'[data-review="{first}"]')).to_be_visible()
        assert seen.complaints == []


@detail_of_a_page
@pytest.mark.usefixtures("long_undo")
def test_a_bulk_decision_names_its_requests_before_and_is_undone_as_one(
    browser: Browser, console: ConsoleThread
) -> None:
    held(console, "bulk-undo", 2)
    with logged_in(browser, console, "bulk-undoer") as (page, seen):
        page.goto("/queue")
        page.get_by_label("Choose all of this page").check()
        page.get_by_label("With the chosen").select_option("reject")
        page.get_by_role("button", name="Preview").click()
        expect(page.locator("#bulk-taken li")).to_have_count(2)
        expect(page.locator("#bulk-taken li").first).to_contain_text("reader waits")
        assert serious_violations(page) == []
        page.get_by_role("button", name="Reject 2").click()
        expect(page.locator("#status")).to_contain_text("Rejected: 2 of 2 requests")
        page.get_by_role("button", name="Undo (u): 2 of 2 requests").click()
        expect(page.get_by_label("Choose all of this page")).to_be_enabled()
        expect(page.locator("[data-choose]:enabled")).to_have_count(2)
        expect(page.locator(".review-head strong")).to_have_text("2")
        assert seen.complaints == []
    stats = console.client("bulk-undoer").get("/api/reviews/stats").json()
    assert (stats["backlog"], stats["decided_today"]) == (2, 0)


@detail_of_a_page
@pytest.mark.usefixtures("long_undo")
def test_an_undo_of_several_decisions_says_how_many_were_undone(browser: Browser, console: ConsoleThread) -> None:
    reviews = [review_of(answer) for answer in held(console, "partial-undo", 3)]
    with logged_in(browser, console, "partial-undoer") as (page, seen):
        page.goto("/queue")
        page.get_by_label("Choose all of this page").check()
        page.get_by_label("With the chosen").select_option("reject")
        page.get_by_role("button", name="Preview").click()
        page.get_by_role("button", name="Reject 3").click()
        expect(page.locator("#status")).to_contain_text("Rejected: 3 of 3 requests")
        # Undone for itself in another window meanwhile.
        console.client("partial-undoer").post(f"/api/reviews/{reviews[1]}/undo").raise_for_status()
        page.get_by_role("button", name="Undo (u): 3 of 3 requests").click()
        expect(page.locator("#status")).to_contain_text("2 of 3 undone; there is nothing to undo for")
        expect(page.locator("#status")).to_have_class("error")
        expect(page.locator("[data-choose]:enabled")).to_have_count(3)
        expect(page.locator("[data-choose]").first).to_be_focused()
        assert len(seen.complaints) <= 1, "the refusal alone"
    assert console.client("partial-undoer").get("/api/reviews/stats").json()["backlog"] == 3


# ---------------------------------------------------------------- counters


def counters(page: Page) -> list[str]:
    """Return what the page counts: decided by the reviewer, open, and with a waiting reader."""
    return [page.locator(f"#{name}-count").inner_text() for name in ("own", "open", "held")]


@detail_of_a_page
def test_counters_agree_with_a_reload_and_the_list_while_decisions_can_be_undone(
    browser: Browser, console: ConsoleThread
) -> None:
    held(console, "recounts", 3)
    client = console.client("recounting")
    with logged_in(browser, console, "recounting") as (page, _):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        assert counters(page) == ["0", "3", "3"]
        first = shown(page)
        reject(page)
        expect(page.locator("#status")).to_contain_text("Rejected")
        assert counters(page) == ["1", "2", "2"]
        page.keyboard.press("u")
        expect(page.locator("#status")).to_contain_text("Undone")
        assert counters(page) == ["0", "3", "3"]
        page.reload()
        expect(page.locator("#question")).to_be_focused()
        assert counters(page) == ["0", "3", "3"]
        assert shown(page) == first
        reject(page)
        expect(page.locator("#status")).to_contain_text("Rejected")
        assert counters(page) == ["1", "2", "2"]
        page.reload()
        expect(page.locator("#question")).to_be_focused()
        assert counters(page) == ["1", "2", "2"]
        page.goto("/queue")
        expect(page.locator(".review-head strong")).to_have_text("2")
        expect(page.locator("#reviewers tbody tr").first).to_contain_text("recounting (you)")
        assert page.locator("#reviewers tbody tr td").all_inner_texts()[:5] == ["1", "0", "0 (0 %)", "0", "1"]
    stats = client.get("/api/reviews/stats").json()
    assert (stats["backlog"], stats["held"], stats["decided_today"]) == (2, 2, 1)
    assert client.get("/api/reviews", params={"limit": 1}).json()["open_count"] == 2
    (figures,) = client.get("/api/reviews/reviewers").json()
    assert (figures["name"], figures["decided"], figures["rejected"]) == ("recounting", 1, 1)
