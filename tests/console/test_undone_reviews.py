"""After an undo nothing is sent unasked: neither the reason of another decision nor an edited correction; time goes on."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.harness.browser import logged_in, needs_browser, serious_violations, shown
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held

pytestmark = [needs_browser, pytest.mark.usefixtures("long_undo")]


def undo_to(page: Page, review: str) -> None:
    """Undo the last decision, which was on a request."""
    page.get_by_role("button", name="Undo").first.click()
    expect(page.locator(f'[data-review="{review}"]')).to_be_visible()
    expect(page.locator("#status")).to_contain_text("Undone")


def warn_because(page: Page, reason: str) -> str:
    """Approve the request that is shown with a warning, for a reason, and return it."""
    review = shown(page)
    page.keyboard.press("w")
    page.locator("#approval-reason").fill(reason)
    page.keyboard.press("Enter")
    expect(page.locator(f'[data-review="{review}"]')).to_have_count(0)
    return review


def test_the_reason_of_an_undone_decision_is_asked_again_for_another_one(
    browser: Browser, console: ConsoleThread
) -> None:
    held(console, "second-thoughts", 3)
    with logged_in(browser, console, "second-thinker") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        review = warn_because(page, "the tool failed")
        undo_to(page, review)
        page.keyboard.press("r")
        expect(page.locator("#why-title")).to_have_text("Why is it rejected?")
        expect(page.locator("#why-reason")).to_be_focused()
        expect(page.locator("#why-reason")).to_have_value("the tool failed")
        before = page.locator("#why [data-said-before]")
        expect(before).to_have_text(
            "Your reason or comment was for the approval that you have undone: change it, or send it as it is."
        )
        assert serious_violations(page) == []
        assert shown(page) == review, "nothing is sent before the answer"
        page.get_by_role("button", name="Cancel").click()
        page.keyboard.press("a")
        expect(page.locator(f'[data-review="{review}"]')).to_have_count(0)  # the same kind of decision, for its reason
        undo_to(page, review)
        page.keyboard.press("r")
        page.locator("#why-reason").fill("The figure is wrong.")
        with page.expect_request("**/decision") as sent:
            page.keyboard.press("Enter")
        assert (sent.value.post_data_json["user_action"], sent.value.post_data_json["reason"]) == (
            "reject",
            "The figure is wrong.",
        )
        expect(page.locator(f'[data-review="{review}"]')).to_have_count(0)
        undo_to(page, review)
        page.keyboard.press("c")
        page.keyboard.type(" Or not.")
        page.keyboard.press("Control+Enter")
        expect(page.locator("#why-title")).to_have_text("Why is it corrected?")
        expect(before).to_contain_text("was for the rejection that you have undone")
        page.locator("#why-reason").fill("")
        with page.expect_request("**/decision") as sent:
            page.keyboard.press("Enter")
        assert (sent.value.post_data_json["user_action"], sent.value.post_data_json["reason"]) == ("correct", None)
        assert seen.complaints == []


def test_a_reason_that_is_typed_after_an_undo_is_that_of_the_next_decision(
    browser: Browser, console: ConsoleThread
) -> None:
    held(console, "phone-thoughts", 2)
    with logged_in(browser, console, "phone-thinker", viewport={"width": 390, "height": 844}) as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        expect(page.locator("#decision-reason")).to_be_hidden()
        review = warn_because(page, "the tool failed")
        undo_to(page, review)
        expect(page.locator("#decision-reason")).to_be_visible()
        expect(page.locator("#decision-reason")).to_have_value("the tool failed")
        page.locator("#decision-reason").fill("The figure is wrong.")
        page.keyboard.press("Escape")
        with page.expect_request("**/decision") as sent:
            page.keyboard.press("r")
        assert sent.value.post_data_json["reason"] == "The figure is wrong."
        expect(page.locator(f'[data-review="{review}"]')).to_have_count(0)
        expect(page.locator("#decision-reason")).to_be_hidden()
        assert seen.complaints == []


def test_the_key_of_a_correction_opens_the_editor_and_sends_nothing(browser: Browser, console: ConsoleThread) -> None:
    held(console, "key-edits", 2)
    with logged_in(browser, console, "key-editor") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        review, editor = shown(page), page.locator("#corrected")
        page.keyboard.press("c")
        page.keyboard.type(" It is 2 GiB.")
        page.locator("#item-answer").click()
        for press in (lambda: page.keyboard.press("c"), page.locator('.decide [data-action="correct"]').click):
            press()
            expect(editor).to_be_focused()
            page.locator("#item-answer").click()
        page.keyboard.press("c")
        page.keyboard.press("Control+Enter")
        expect(page.locator(f'[data-review="{review}"]')).to_have_count(0)
        undo_to(page, review)
        expect(editor).to_be_visible()
        page.keyboard.press("c")
        expect(editor).to_be_focused()
        page.keyboard.type(" more")
        assert shown(page) == review
        assert "more" in editor.input_value()
        with page.expect_request("**/decision") as sent:
            page.get_by_role("button", name="Send correction").click()
        assert "It is 2 GiB." in sent.value.post_data_json["corrected_answer"]
        assert [each for each in seen.requests if each.endswith("/decision")].__len__() == 2
        assert seen.complaints == []


def test_the_active_time_goes_on_after_an_undo(browser: Browser, console: ConsoleThread) -> None:
    held(console, "timed", 2)
    with logged_in(browser, console, "timed") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        review = shown(page)
        page.mouse.move(300, 300)
        page.wait_for_timeout(2_000)
        page.mouse.move(320, 320)
        with page.expect_request("**/decision") as first:
            warn_because(page, "the tool failed")
        before = first.value.post_data_json["review_duration"]
        assert before >= 2
        undo_to(page, review)
        with page.expect_request("**/decision") as second:
            page.keyboard.press("w")
        assert second.value.post_data_json["review_duration"] >= before
        assert seen.complaints == []
