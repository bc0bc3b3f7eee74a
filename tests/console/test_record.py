"""Decisions that people take in a real Chromium reach the record, and the pages say how it stands."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from schemas.enriched import EnrichedAnswer
from tests.harness.browser import PATIENCE_MS, logged_in, needs_browser, reject, serious_violations
from tests.harness.console import ConsoleThread, secret
from tests.harness.held_answers import held, review_of, risky
from tests.harness.reviews import store_decision
from workers.decision.reader_text.reader_texts import ENGLISH
from workers.decision.release_events import review_request

pytestmark = needs_browser


@pytest.fixture(scope="module")
def deciding(console: ConsoleThread) -> Iterator[ConsoleThread]:
    """The console with the agents that make decisions final and store them."""
    with console.worker(["decisions", "analytics"]):
        yield console


def decide(console: ConsoleThread, answer: EnrichedAnswer, ruling: str = "final", **said: object) -> None:
    """Store a decision of another person."""
    request = review_request(answer, answer.enriched_at, deadline_hours=24)
    assert request is not None
    console.call(store_decision(console.resources.analytics, request, ruling=ruling, **said))


def open_until(page: Page, path: str, selector: str) -> None:
    """Open a page again until it shows something: stores are a moment behind."""
    deadline = datetime.now(UTC) + timedelta(milliseconds=PATIENCE_MS)
    page.goto(path)
    while page.locator(selector).count() == 0:
        assert datetime.now(UTC) < deadline, f"{path} never shows {selector}"
        page.goto(path)


# ---------------------------------------------------------------- decisions reach the answer


def act(page: Page, answer: EnrichedAnswer, action: str) -> None:
    """Decide the request of an answer on its page, and say why."""
    page.goto(f"/review/{review_of(answer)}")
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.press("y")
    page.keyboard.type("wrong figure")
    page.keyboard.press("Escape")
    if action == "correct":
        page.keyboard.press("c")
        page.locator("#corrected").fill(answer.answer.answer.replace("16 GiB", "2 GiB"))
        page.keyboard.press("Control+Enter")
    else:
        page.get_by_role("button", name={"approve": "Approve", "reject": "Reject"}[action], exact=True).click()
    expect(page.locator("#status")).to_contain_text(
        {"correct": "Corrected", "approve": "Approved", "reject": "Rejected"}[action]
    )


DECISIONS = {
    "correct": ("replaced", "Corrected", "2 GiB"), "approve": ("released", "Approved", "16 GiB"), "reject": ("rejected", "Rejected", ENGLISH.rejected),
}  # fmt: skip


def test_a_decision_of_the_page_stands_on_the_answer_and_is_found_by_search(
    browser: Browser, deciding: ConsoleThread
) -> None:
    answers = dict(zip(DECISIONS, held(deciding, "record", 3), strict=True))
    with logged_in(browser, deciding, "recorder") as (page, seen):
        for action, answer in answers.items():
            act(page, answer, action)
        for action, (state, words, content) in DECISIONS.items():
            answer = answers[action]
            open_until(page, f"/answers/{answer.answer_id}", f".meta .state.{state}")
            told = deciding.client("recorder").get(f"/api/answers/{answer.answer_id}").json()["decision"]
            assert told["reason"] == "wrong_figure", "the code of the words"
            decision = page.locator(".decision")
            expect(decision).to_contain_text(f"{words} by recorder")
            expect(decision).to_contain_text("because of: wrong figure")
            expect(decision).to_contain_text("The evaluation had set it to held")
            expect(page.locator("#shown h3").first).to_contain_text("held by pipeline")
            expect(page.locator("#shown p").first).to_have_text("Readers were shown nothing.")
            expect(page.locator("#shown h3").last).to_contain_text(f"{state} by recorder")
            expect(page.locator("#shown .rendered")).to_have_count(1)
            expect(page.locator("#shown .rendered")).to_contain_text(content)
            if action == "correct":
                expect(page.locator("#correction-diff del")).to_have_text("16")
                expect(page.locator("#correction-diff ins")).to_have_text("2")
            assert serious_violations(page) == []
            page.goto("/search")
            page.get_by_label("State").select_option(state)
            page.get_by_role("button", name="Search").click()
            expect(page.locator(".results a")).to_have_text([answer.answer.query])
            expect(page.locator(".results .state")).to_have_text([state])
        assert seen.complaints == []


# ---------------------------------------------------------------- evidence of the selected claim


def test_a_claim_with_evidence_shows_a_passage_of_its_own(
    browser: Browser, console: ConsoleThread, stored: list[EnrichedAnswer]
) -> None:
    requests = [answer for answer in stored if review_request(answer, answer.enriched_at, deadline_hours=24)]
    claims = [claim for answer in requests if answer.grounding for claim in answer.grounding.claims]
    expected = sum(claim.evidence is not None for claim in claims)
    assert expected > 5, "enough claims to tell their passages apart"
    seen = 0
    with logged_in(browser, console) as (page, _):
        for answer in requests:
            page.goto(f"/review/{review_of(answer)}")
            expect(page.locator("#question")).to_be_visible()
            for row in page.locator("[data-claim-row]").all():
                if not (evidence := row.get_attribute("data-evidence")):
                    continue
                verdict = row.get_attribute("data-verdict-of")
                page.locator(f".chip[data-show='{row.get_attribute('data-claim-row')}']").click()
                # Passages of other claims have no colour meanwhile.
                passages = page.locator(".contexts .selected")
                assert {str(each.get_attribute("class")).removesuffix(" weak") for each in passages.all()} == {
                    f"passage selected {verdict}"
                }
                shown = " ".join(passages.all_inner_texts())
                assert "".join(evidence.split()) in "".join(shown.split()), evidence
                expect(passages.first).to_be_in_viewport()
                seen += 1
    assert seen == expected


# ---------------------------------------------------------------- the editor


def test_the_editor_leaves_the_evidence_in_sight_and_an_edit_can_be_discarded(
    browser: Browser, console: ConsoleThread
) -> None:
    (answer,) = held(console, "editing", 1)
    with logged_in(browser, console, "editing") as (page, _):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        page.keyboard.press("c")
        editor = page.locator("#corrected")
        expect(editor).to_be_focused()
        expect(page.locator(".contexts .selected")).to_be_in_viewport()
        expect(editor).to_be_in_viewport()
        before, chosen = editor.evaluate(
            "each => [each.value.slice(0, each.selectionEnd), each.selectionEnd - each.selectionStart]"
        )
        assert before.endswith(page.locator(".selected-row .claim-text").inner_text())
        assert chosen == 0, "a key must not replace the claim"
        editor.fill(answer.answer.answer.replace("16 GiB", "16.5 GiB"))
        # A number stays whole.
        expect(page.locator("#diff del")).to_have_text("16")
        expect(page.locator("#diff ins")).to_have_text("16.5")
        page.get_by_role("button", name="Discard the edit").click()
        expect(page.get_by_role("heading", name="Discard your edit?")).to_be_visible()
        page.keyboard.press("Enter")
        expect(editor).to_have_value(answer.answer.answer.replace("16 GiB", "16.5 GiB"))
        page.get_by_role("button", name="Discard the edit").click()
        page.get_by_role("button", name="Discard it").click()
        expect(page.locator("#status")).to_contain_text("Your edit is discarded; the answer is as the model wrote it.")
        expect(page.locator("#correction")).to_be_hidden()
        page.keyboard.press("c")
        expect(editor).to_have_value(answer.answer.answer)
        # The browser asks before it leaves the page with a text that was not sent.
        editor.fill("It needs 2 GiB [1].")
        asked: list[str] = []
        page.once("dialog", lambda dialog: asked.append(dialog.type))
        page.goto("/queue")
        assert asked == ["beforeunload"]


def test_the_cursor_is_behind_the_claim_in_an_answer_with_line_ends_of_windows(
    browser: Browser, console: ConsoleThread
) -> None:
    (answer,) = console.store([risky(0, "line-ends", "\r\n\r\n")])
    assert answer.decision.state == "held"
    with logged_in(browser, console, "line-ends") as (page, _):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        page.locator(".chip").last.click()
        page.keyboard.press("c")
        editor = page.locator("#corrected")
        expect(editor).to_be_focused()
        before = editor.evaluate("each => each.value.slice(0, each.selectionEnd)")
        assert before == answer.answer.answer.replace("\r\n", "\n")


# ---------------------------------------------------------------- messages


def test_an_undo_is_offered_while_it_is_possible_and_an_error_does_not_look_like_a_success(
    browser: Browser, console: ConsoleThread
) -> None:
    held(console, "undoing", 2)
    with logged_in(browser, console, "undoing") as (page, _):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        for name in ("open", "held"):
            expect(page.locator(f"#{name}-count")).to_have_text("2")
        page.keyboard.press("s")
        expect(page.locator("#status")).to_contain_text("Skipped")
        expect(page.locator("#open-count")).to_have_text("2")
        with page.expect_response(lambda response: response.url.endswith("/decision")) as decided:
            reject(page)
        status = page.locator("#status")
        expect(status).to_contain_text("Rejected")
        button = page.get_by_role("button", name="Undo (u)")
        expect(button).to_be_visible()
        colour = "element => getComputedStyle(element).color + getComputedStyle(element).backgroundColor"
        expect(page.locator("#open-count")).to_have_text("1")
        expect(page.locator("#held-count")).to_have_text("1")
        fine, said = status.evaluate(colour), status.get_attribute("aria-live")
        expect(button).to_have_count(0)
        # The button goes a moment before the time is over, in which the key still undoes.
        page.wait_for_function("until => Date.now() > Date.parse(until)", arg=decided.value.json()["undo_until"])
        page.keyboard.press("u")
        expect(status).to_contain_text("is already published, so it was not undone")
        expect(status).to_have_class("error")
        assert status.evaluate(colour) != fine
        assert (said, status.get_attribute("aria-live")) == ("polite", "assertive")
        assert serious_violations(page) == []


# ---------------------------------------------------------------- second opinions


def test_second_opinions_come_between_open_requests_and_agreement_is_shown(
    browser: Browser, console: ConsoleThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console.settings.review, "second_share", 1.0)
    answers = held(console, "interleaved", 9)
    for answer in answers[:3]:
        decide(console, answer, by="anna", at=datetime.now(UTC), action="reject")
    with logged_in(browser, console, "interleaved") as (page, seen):
        page.goto("/review")
        kinds = []
        for _ in range(6):
            expect(page.locator("#question")).to_be_focused()
            review = page.locator("[data-review]").get_attribute("data-review")
            kinds.append(page.locator(".tag", has_text="second opinion").count())
            reject(page)
            expect(page.locator(f'[data-review="{review}"]')).to_have_count(0)
        assert kinds.count(1) == 3, "one of two, as the target asks"
        expect(page.locator("#question")).to_be_focused()
        assert page.locator(".tag", has_text="second opinion").count() == 0, "open requests are left"
        assert seen.complaints == []


def test_the_overview_shows_agreement_with_its_interval_and_who_disagreed(
    browser: Browser, console: ConsoleThread
) -> None:
    answers = held(console, "agreement", 4)
    for number, answer in enumerate(answers):
        decide(console, answer, by="anna", at=datetime.now(UTC), action="reject" if number < 2 else "approve")
        second = "approve" if number in (0, 2, 3) else "reject"
        decide(console, answer, "second", by="ben", at=datetime.now(UTC), action=second)
    with logged_in(browser, console, "agreement") as (page, _):
        page.goto("/")
        agreement = page.locator(".figure", has=page.locator("dt", has_text="Agreement"))
        expect(agreement).to_contain_text("0.50 kappa of 4 pairs, too few for an interval")
        listed = page.locator(".disagreements tbody tr")
        expect(listed).to_have_count(1)
        expect(listed).to_contain_text("Rejected by anna")
        expect(listed).to_contain_text("Approved by ben")
        listed.get_by_role("link", name="answer", exact=True).click()
        expect(page.locator("h1")).to_have_text(answers[0].answer.query)


# ---------------------------------------------------------------- links and sessions


def test_a_link_to_a_decided_request_says_so_and_offers_the_next_one(browser: Browser, console: ConsoleThread) -> None:
    decided, waiting = held(console, "linked", 2)
    decide(console, decided, by="anna", at=datetime.now(UTC), action="reject")
    with logged_in(browser, console, "linked") as (page, seen):
        page.goto(f"/review/{review_of(decided)}")
        shown = page.locator("#review-item")
        expect(shown).to_contain_text("Rejected by anna")
        expect(shown).not_to_contain_text("A reader waits")
        expect(page.locator(".decide")).to_have_count(0)
        seen.requests.clear()
        for key in "awcrsegb2":
            page.keyboard.press(key)
        page.get_by_role("button", name="Next open request").click()
        expect(page.locator(f'[data-review="{review_of(waiting)}"]')).to_be_visible()
        expect(shown).to_contain_text("A reader waits")
        assert not [path for path in seen.requests if review_of(decided) in path], "a key decided something"


@pytest.fixture
def unknown_page(browser: Browser, console: ConsoleThread) -> Iterator[Page]:
    """A page of somebody who has not logged in yet; one request waits for a review."""
    held(console, "record", 1)
    opened = browser.new_context(base_url=console.url)
    opened.set_default_timeout(PATIENCE_MS)
    yield opened.new_page()
    opened.close()


def test_a_login_for_review_alone_works_and_a_refusal_leaves_a_way_out(unknown_page: Page) -> None:
    page = unknown_page
    page.goto(f"/login#token={secret('review')}")
    page.wait_for_url("**/review")
    expect(page.locator("#question")).to_be_focused()
    expect(page.locator("nav[aria-label=Main] a")).to_have_text(["Review", "Queue"])
    page.goto("/search")
    expect(page.locator("h1")).to_have_text("Forbidden")
    assert serious_violations(page) == []
    page.get_by_role("link", name="Log in with another token").click()
    page.get_by_label("Access token").fill(secret("recorder"))
    page.keyboard.press("Enter")
    expect(page.locator("nav[aria-label=Main] a")).to_have_count(5)


@pytest.mark.parametrize(
    ("name", "link", "landing"),
    [
        ("review", "/login", "/review"),
        ("admin", "/login", "/audit/decisions"),
        ("read", "/login", "/"),
        ("review", "/login?next=/queue%3Fheld%3Dtrue", "/queue?held=true"),
        ("review", "/queue?tenant=record", "/queue?tenant=record"),
        ("read", "/search?q=pump", "/search?q=pump"),
    ],
)
def test_a_link_with_a_token_leads_to_the_work_of_its_person_or_to_the_page_that_it_names(
    unknown_page: Page, console: ConsoleThread, name: str, link: str, landing: str
) -> None:
    page = unknown_page
    # The second time somebody follows it, they have a session already.
    for _ in range(2):
        page.goto("about:blank")
        page.goto(f"{console.url}{link}#token={secret(name)}")
        page.wait_for_url(f"{console.url}{landing}")
        expect(page.locator(".who")).to_contain_text(name)


def test_a_token_is_never_sent_in_the_address_also_before_the_script_of_the_page_has_come(unknown_page: Page) -> None:
    page = unknown_page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    waiting: list[Route] = []
    page.route("**/login.js*", lambda route: waiting.append(route))
    page.goto("/login?next=/queue", wait_until="commit")
    field = page.get_by_label("Access token")
    expect(field).to_be_disabled()
    with page.expect_navigation(wait_until="commit"):
        field.evaluate("(field, token) => { field.value = token; field.form.submit(); }", secret("recorder"))
    assert waiting != [], "the script has not run"
    assert [url for url in asked if secret("recorder") in url] == []
    page.unroute("**/login.js*")
    page.goto("/login?next=/queue")
    field.fill(secret("recorder"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/queue")
