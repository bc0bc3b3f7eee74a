"""Type and press while the reply to a step of a reviewer is awaited."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.harness.browser import Seen, detail_of_a_page, escalate, logged_in, needs_browser, reject, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held, review_of
from tests.harness.variants import variants

pytestmark = [needs_browser, pytest.mark.usefixtures("long_undo")]

PAUSE_MS = 1_100
"""Longer than the pause after which keys count again."""


def shown(page: Page) -> str:
    """Return the request that the page shows; empty without one."""
    found: str = page.evaluate("document.querySelector('#review-item [data-review]')?.dataset.review ?? ''")
    return found


def question(page: Page) -> str:
    return page.locator("#question").inner_text()


def steps(page: Page, seen: Seen, expected: list[str]) -> bool:
    """Return true once the page has sent the expected steps of a reviewer, in their order; events come a moment late."""
    for _ in range(100):
        ends = (request.rsplit("/", 1)[-1] for request in seen.requests)
        sent = [end for end in ends if end in ("decision", "skip", "escalate", "undo", "bulk")]
        if sent == expected:
            return True
        page.wait_for_timeout(50)
    return False


@contextmanager
def awaited(page: Page, address: str) -> Iterator[None]:
    """Hold the request to an address until the end of the block; fail if there is not exactly one."""
    waiting: list[Route] = []
    page.route(address, lambda route: waiting.append(route), times=1)
    with page.expect_request(address):
        yield
    page.wait_for_timeout(50)
    (held_back,) = waiting
    held_back.continue_()


def type_on(page: Page, review: str) -> None:
    """Type on until the page shows another request."""
    while shown(page) in ("", review):
        page.keyboard.type("as sure ", delay=10)


def correct(page: Page) -> None:
    page.keyboard.press("c")
    page.keyboard.type("Two GiB. ")
    page.keyboard.press("Control+Enter")


STEPS: list[tuple[str, Callable[[Page], None], str, str]] = [
    ("reject", reject, "decision", "Being sent: rejected: “"),
    ("correct", correct, "decision", "Being sent: corrected: “"),
    ("skip", lambda page: page.keyboard.press("s"), "skip", "Being sent: skipped: “"),
    ("escalate", escalate, "escalate", "Being sent: escalated: “"),
]


@pytest.mark.parametrize(
    ("name", "step", "address", "words"), variants(STEPS, in_every_run=STEPS[1:3]), ids=[name for name, *_ in STEPS]
)
def test_what_is_typed_while_a_step_is_on_its_way_acts_on_no_request(
    browser: Browser, console: ConsoleThread, name: str, step: Callable[[Page], None], address: str, words: str
) -> None:
    held(console, f"typed-{name}", 3)
    with logged_in(browser, console, f"typing-{name}") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        first = shown(page)
        with awaited(page, f"**/{address}"):
            step(page)
            expect(page.locator("#status")).to_contain_text(words)
            expect(page.locator("#review-item")).to_have_attribute("inert", "")
            page.keyboard.press("u")
            expect(page.locator("#status")).to_contain_text("It cannot be undone before it has arrived; press u then.")
            expect(page.locator("#status")).to_contain_text(words)
            page.keyboard.press("c")
            page.keyboard.type("Your answer is 21, reject it as usual: my")
            assert serious_violations(page) == []
            assert page.locator("dialog[open]").count() == 0
        type_on(page, first)
        second = shown(page)
        page.keyboard.type(" guess was 3 or 4, even as a user", delay=20)
        assert shown(page) == second
        assert steps(page, seen, [address])
        assert page.locator("[data-verdict]:checked, dialog[open]").count() == 0
        assert page.locator("#comment").input_value() == page.locator("#decision-reason").input_value() == ""
        expect(page.locator("#correction")).to_be_hidden()
        page.wait_for_timeout(PAUSE_MS)
        page.keyboard.press("2")
        expect(page.locator("[data-verdict]:checked")).to_have_count(1)
        page.keyboard.press("u")
        expect(page.locator(f'[data-review="{first}"]')).to_be_visible()
        assert steps(page, seen, [address, "undo"])
        assert seen.complaints == []


@detail_of_a_page
def test_no_reply_takes_the_page_from_a_request_that_is_worked_on(browser: Browser, console: ConsoleThread) -> None:
    held(console, "typed-undo", 4)
    with logged_in(browser, console, "typing-undo") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        first = shown(page)
        correct(page)
        expect(page.locator(f'[data-review="{first}"]')).to_have_count(0)
        second = shown(page)
        with awaited(page, "**/decision"):
            reject(page)
            expect(page.locator("#status")).to_contain_text("Being sent: rejected")
            page.keyboard.press("u")
            assert shown(page) == second
        expect(page.locator(f'[data-review="{second}"]')).to_have_count(0)
        page.wait_for_timeout(PAUSE_MS)
        third = shown(page)
        with awaited(page, "**/undo"):
            page.keyboard.press("u")
            expect(page.locator("#status")).to_contain_text("Being undone: rejected: “")
            page.keyboard.press("c")
            page.keyboard.type("sea")
            assert shown(page) == third
            expect(page.locator("#correction")).to_be_hidden()
        type_on(page, third)
        page.keyboard.type("see us")
        expect(page.locator("#status")).to_contain_text("Undone: “")
        assert steps(page, seen, ["decision", "decision", "undo"])
        assert shown(page) == second
        assert seen.complaints == []


@detail_of_a_page
def test_a_step_back_while_a_decision_is_on_its_way_is_where_the_page_stays(
    browser: Browser, console: ConsoleThread
) -> None:
    held(console, "typed-back", 3)
    with logged_in(browser, console, "typing-back") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        first = shown(page)
        page.keyboard.press("s")
        expect(page.locator(f'[data-review="{first}"]')).to_have_count(0)
        second = shown(page)
        with awaited(page, "**/decision"):
            reject(page)
            expect(page.locator("#status")).to_contain_text("Being sent: rejected")
            page.go_back()
        expect(page.locator(f'[data-review="{first}"]')).to_be_visible()
        expect(page.locator("#status")).to_contain_text("Rejected: “")
        page.keyboard.press("c")
        page.keyboard.type("Kept here. ")
        page.wait_for_timeout(500)
        assert shown(page) == first
        assert "Kept here." in page.locator("#corrected").input_value()
        assert shown(page) != second
        assert seen.complaints == []


@detail_of_a_page
def test_a_step_back_takes_the_question_about_a_request_along(browser: Browser, console: ConsoleThread) -> None:
    held(console, "typed-question", 2)
    with logged_in(browser, console, "typing-question") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        first = shown(page)
        page.keyboard.press("s")
        expect(page.locator(f'[data-review="{first}"]')).to_have_count(0)
        expect(page.locator("#question")).to_be_focused()  # the next request was painted
        page.keyboard.press("c")
        page.keyboard.type("Two GiB. ")
        page.locator('.decide [data-action="reject"]').click()
        expect(page.locator("#unsent")).to_be_visible()
        page.go_back()
        expect(page.locator(f'[data-review="{first}"]')).to_be_visible()
        expect(page.locator("#unsent")).to_be_hidden()
        assert steps(page, seen, ["skip"])
        assert seen.complaints == []


@detail_of_a_page
def test_a_late_reply_about_a_lock_closes_no_other_request(browser: Browser, console: ConsoleThread) -> None:
    first, _ = map(review_of, held(console, "late-lock", 2))
    with logged_in(browser, console, "late-locker") as (page, seen):
        with page.expect_response("**/lock") as reply, awaited(page, "**/lock"):
            page.goto(f"/review/{first}")
            expect(page.locator("#question")).to_be_focused()
            reject(page)
            expect(page.locator(f'[data-review="{first}"]')).to_have_count(0)
        assert reply.value.status == 409, "it is decided by then"
        page.keyboard.press("2")
        expect(page.locator("[data-verdict]:checked")).to_have_count(1)
        expect(page.locator(".stopped")).to_have_count(0)
        expect(page.locator('.decide [data-action="approve"]')).to_be_enabled()
        assert seen.complaints == []


@detail_of_a_page
def test_a_decision_waits_for_a_vote_before_it_and_a_comment_is_typed_meanwhile(
    browser: Browser, console: ConsoleThread
) -> None:
    held(console, "typed-vote", 2)
    with logged_in(browser, console, "typing-vote") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        first = shown(page)
        with awaited(page, "**/decision"):
            page.keyboard.press("b")
            expect(page.locator("#status")).to_contain_text("Being sent: downvoted: “")
            page.keyboard.press("m")
            page.keyboard.type("as usual")
            page.keyboard.press("Escape")
            page.keyboard.press("r")
            expect(page.locator("#status")).to_contain_text("Being sent: rejected: “")
        expect(page.locator(f'[data-review="{first}"]')).to_have_count(0)
        expect(page.locator("#status")).to_contain_text("Rejected: “")
        assert steps(page, seen, ["decision", "decision"])
        assert seen.complaints == []
    (decision,) = console.client("typing-vote").get("/api/reviews?state=decided").json()["items"]
    assert (decision["review_id"], decision["action"]) == (first, "reject")


@detail_of_a_page
def test_an_action_on_several_requests_is_sent_once_and_turns_the_list_off_meanwhile(
    browser: Browser, console: ConsoleThread
) -> None:
    held(console, "typed-list", 2)
    with logged_in(browser, console, "typing-list") as (page, seen):
        page.goto("/queue")
        page.get_by_label("Choose all of this page").check()
        page.get_by_label("With the chosen").select_option("reject")
        page.get_by_role("button", name="Preview").click()
        do = page.get_by_role("button", name="Reject 2")
        expect(do).to_be_visible()
        with awaited(page, "**/bulk"):
            do.dblclick()
            expect(page.locator("#status")).to_contain_text("Being sent: 2 of 2 requests will be rejected.")
            expect(page.locator("#main")).to_have_attribute("inert", "")
            page.keyboard.press("u")
        expect(page.locator("#status")).to_contain_text("Rejected: 2 of 2 requests")
        assert steps(page, seen, ["bulk", "bulk"]), "the preview and the action"
        assert seen.complaints == []


@detail_of_a_page
def test_a_refusal_leaves_what_was_typed_where_it_was(browser: Browser, console: ConsoleThread) -> None:
    held(console, "typed-kept", 1)
    with logged_in(browser, console, "typing-kept") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        page.keyboard.press("c")
        page.keyboard.type("Two GiB. ")
        page.route("**/decision", lambda route: route.abort(), times=1)
        page.keyboard.press("Control+Enter")
        expect(page.locator("#status")).to_contain_text("The console does not answer")
        expect(page.locator("#corrected")).to_be_focused()
        page.keyboard.type("More. ")
        assert "Two GiB. More. " in page.locator("#corrected").input_value()
        page.keyboard.press("Control+Enter")
        expect(page.locator("#status")).to_contain_text("Corrected: “")
        # Undone, its editor is open: the key that stands on its button sends it from wherever the focus is.
        page.keyboard.press("u")
        expect(page.locator("#correction")).to_be_visible()
        expect(page.locator("#question")).to_be_focused()
        page.keyboard.press("Control+Enter")
        expect(page.locator("#status")).to_contain_text("Corrected: “")
        assert [each for each in seen.complaints if "ERR_FAILED" not in each] == []


@detail_of_a_page
def test_keep_editing_leads_into_the_editor_also_where_it_was_closed(browser: Browser, console: ConsoleThread) -> None:
    held(console, "typed-keep-editing", 1)
    with logged_in(browser, console, "typing-keep-editing") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        page.keyboard.press("c")
        page.keyboard.type("Two GiB. ")
        for action in ("reject", "approve"):
            page.keyboard.press("Escape")
            expect(page.locator("#correction")).to_be_hidden()
            page.locator(f'.decide [data-action="{action}"]').click()
            page.get_by_role("button", name="Keep editing").click()
            expect(page.locator("#corrected")).to_be_focused()
        page.keyboard.type("More. ")
        assert "Two GiB. More. " in page.locator("#corrected").input_value()
        assert steps(page, seen, [])
        assert seen.complaints == []


# ---------------------------------------------------------------- requests of others, and one's own


@detail_of_a_page
def test_a_refused_step_names_its_request_on_the_page_of_the_next_one(browser: Browser, console: ConsoleThread) -> None:
    answers = held(console, "named-refusals", 4)
    rival = console.client("named-other")
    with logged_in(browser, console, "named-mine") as (page, _):
        for key, words in (("s", "skipped"), ("r", "rejected")):
            page.goto("/review")
            expect(page.locator("#question")).to_be_focused()
            first, asked = shown(page), question(page)
            console.client("named-mine").post(f"/api/reviews/{first}/unlock").raise_for_status()
            rival.post(f"/api/reviews/{first}/lock").raise_for_status()
            page.keyboard.press(key)
            if key == "r":
                page.keyboard.press("Enter")
            expect(page.locator("#status")).to_contain_text(
                re.compile(
                    rf"^Not {words}: “{re.escape(asked)}” \(Ingester .*\), named-refusals, [0-9 :-]+ UTC\. named-other holds the lock of it until .* open there\."
                )
            )
            expect(page.locator(f'[data-review="{first}"]')).to_have_count(0)
            assert "take the next one" not in page.locator("#status").inner_text()
    for answer in answers:
        rival.post(f"/api/reviews/{review_of(answer)}/decision", json={"user_action": "reject"})


@detail_of_a_page
def test_a_request_of_another_person_says_so_as_long_as_it_is_shown(browser: Browser, console: ConsoleThread) -> None:
    answers = held(console, "taken", 3)
    review = review_of(answers[0])
    rival = console.client("taken-other")
    rival.post(f"/api/reviews/{review}/lock").raise_for_status()
    with logged_in(browser, console, "taken-mine") as (page, seen):
        page.goto(f"/review/{review}")
        card = page.locator(".stopped")
        expect(card).to_contain_text("taken-other holds the lock of this request until ")
        page.locator("#status").get_by_role("button", name="Close").click()
        expect(card).to_be_visible()
        for name in ("approve", "warn", "correct", "reject", "skip", "escalate", "upvote", "downvote"):
            expect(page.locator(f'.decide [data-action="{name}"]')).to_be_disabled()
        for key in "awcrsegb1":
            page.keyboard.press(key)
        assert steps(page, seen, [])
        assert page.locator("dialog[open], [data-verdict]:checked").count() == 0
        assert serious_violations(page) == []
        # Given back, it is decided here; decided elsewhere meanwhile, what was typed stays.
        rival.post(f"/api/reviews/{review}/unlock").raise_for_status()
        card.get_by_role("button", name="Look again").click()
        expect(page.locator('.decide [data-action="approve"]')).to_be_enabled()
        expect(card).to_have_count(0)
        page.keyboard.press("c")
        page.keyboard.type("Two GiB. ")
        console.client("taken-mine").post(f"/api/reviews/{review}/unlock").raise_for_status()
        rival.post(f"/api/reviews/{review}/decision", json={"user_action": "reject"}).raise_for_status()
        page.keyboard.press("Control+Enter")
        expect(card).to_contain_text("taken-other has decided this request.")
        expect(page.locator("#status")).to_contain_text("Nothing was sent; your correction is still here")
        assert "Two GiB." in page.locator("#corrected").input_value()
        expect(page.locator(".state-line")).to_be_hidden()
        card.get_by_role("button", name="Next open request").click()
        expect(page.locator(f'[data-review="{review}"]')).to_have_count(0)
        expect(page.locator('.decide [data-action="approve"]')).to_be_enabled()
        assert seen.complaints == []


@detail_of_a_page
def test_a_step_back_to_an_own_decision_says_so_and_offers_its_undo(browser: Browser, console: ConsoleThread) -> None:
    held(console, "own-decided", 3)
    with logged_in(browser, console, "own-decider") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        first, asked = shown(page), question(page)
        reject(page)
        expect(page.locator(f'[data-review="{first}"]')).to_have_count(0)
        expect(page.locator("#question")).to_be_focused()  # the next request was painted
        page.keyboard.press("s")
        expect(page.locator("#status")).to_contain_text("Skipped: “")
        page.go_back()
        page.go_back()
        card = page.locator(".stopped")
        for reload in (False, True):
            if reload:
                page.reload()
            expect(page.locator(f'[data-review="{first}"]')).to_be_visible()
            expect(card).to_contain_text("You have rejected this request.")
            expect(page.locator("#status.error")).to_have_count(0)
            expect(page.locator('.decide [data-action="approve"]')).to_be_disabled()
        assert serious_violations(page) == []
        card.get_by_role("button", name=f"Undo: “{asked}”").click()
        expect(page.locator('.decide [data-action="approve"]')).to_be_enabled()
        expect(page.locator("#status")).to_contain_text(f"Undone: “{asked}”")
        assert shown(page) == first
        assert steps(page, seen, ["decision", "skip", "undo"])
        assert seen.complaints == []
    client = console.client("own-decider")
    client.post(f"/api/reviews/{first}/decision", json={"user_action": "reject"}).raise_for_status()
    with logged_in(browser, console, "own-decider") as (page, seen):
        page.goto(f"/review/{first}")
        expect(page.locator(".stopped")).to_contain_text("You have decided this request.")
        page.locator(".stopped").get_by_role("button", name="Undo").click()
        expect(page.locator('.decide [data-action="approve"]')).to_be_enabled()
        assert seen.complaints == []
