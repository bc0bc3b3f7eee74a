"""The pages in a real Chromium: by keyboard, by two people at once, in a small window, with hostile texts."""

from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from schemas.feedback import FeedbackEvent
from schemas.identifiers import fact_id
from schemas.release import ReleasedAnswer
from schemas.review import ReviewDecision
from schemas.topics import ANSWERS_RELEASED, FEEDBACK_EVENTS, REVIEW_DECISIONS
from tests.harness.browser import PATIENCE_MS, logged_in, needs_browser, reject, serious_violations, shown
from tests.harness.console import EVERYTHING, ConsoleThread, clock_at, secret, unhurried_undo
from tests.harness.decisions import Values, decisions_on, waited_for
from tests.harness.held_answers import held, risky
from tests.harness.reviews import store_decision
from tests.harness.variants import variants
from workers.console.http.middleware import CONTENT_SECURITY_POLICY
from workers.decision.release_events import review_request

pytestmark = needs_browser

NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


# ---------------------------------------------------------------- review


def test_a_reviewer_clears_ten_answers_by_keyboard_alone(
    browser: Browser, console: ConsoleThread, values: Values
) -> None:
    reviews = {
        fact_id(answer.tenant, answer.answer_id, "review"): answer.answer_id for answer in held(console, "keys", 10)
    }
    comment = "wrong size; r, a and s are keys as well"
    cleared = []
    with logged_in(browser, console, "keys") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        page.keyboard.press("?")
        expect(page.locator("#help")).to_be_visible()
        page.keyboard.press("Escape")
        for number in range(10):
            review = shown(page)
            cleared.append(review)
            expect(page.locator(".contexts .selected").first).to_be_in_viewport()
            page.keyboard.press("j")
            page.keyboard.press("k")
            page.keyboard.press("2" if number % 2 else "1")
            if number % 2:
                page.keyboard.press("m")
                page.keyboard.type(comment)
                page.keyboard.press("Escape")
            page.keyboard.press("r" if number % 2 else "a")
            expect(page.locator(f'[data-review="{review}"]')).to_have_count(0)
        expect(page.locator("#queue-empty")).to_be_focused()
        assert seen.complaints == []
    assert sorted(cleared) == sorted(reviews)
    for number, review in enumerate(cleared):
        (decision,) = decisions_on(values, reviews[review])
        assert (decision.review_id, decision.decided_by) == (review, "keys")
        assert (decision.user_action, decision.user_comment) == (
            ("reject", comment) if number % 2 else ("approve", None)
        )
        assert [each.verdict for each in decision.claim_verdicts] == ["contradicted" if number % 2 else "supported"]
        assert decision.review_duration > 0


def test_of_two_reviewers_who_decide_the_same_answer_one_decides_and_one_is_told(
    browser: Browser, console: ConsoleThread, values: Values
) -> None:
    answers = held(console, "race", 3)
    review = fact_id(answers[0].tenant, answers[0].answer_id, "review")
    with (
        logged_in(browser, console, "first-racer") as (first, _),
        logged_in(browser, console, "second-racer") as (second, _),
    ):
        first.goto(f"/review/{review}")
        expect(first.locator("#question")).to_be_focused()
        first.wait_for_load_state("networkidle")
        second.goto(f"/review/{review}")
        expect(second.locator("#status")).to_contain_text("first-racer holds the lock of this request")
        second.keyboard.press("1")
        second.keyboard.press("a")
        expect(second.locator(".stopped")).to_contain_text("first-racer holds the lock of this request")
        second.get_by_role("button", name="Next open request").click()
        # Who was too late goes on with another one, and never with one that somebody else has.
        expect(second.locator(f'[data-review="{review}"]')).to_have_count(0)
        reject(first)
        expect(first.locator(f'[data-review="{review}"]')).to_have_count(0)
        expect(first.locator("#status")).to_contain_text("Rejected")
        assert shown(first) != shown(second)
    (decision,) = decisions_on(values, answers[0].answer_id)
    assert (decision.decided_by, decision.user_action) == ("first-racer", "reject")


def test_a_correction_reaches_the_gateway(browser: Browser, console: ConsoleThread, values: Values) -> None:
    (answer,) = held(console, "correction", 1)
    with console.worker(["decisions"]), logged_in(browser, console, "corrector") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        page.keyboard.press("c")
        editor = page.locator("#corrected")
        expect(editor).to_be_focused()
        editor.fill(answer.answer.answer.replace("16 GiB", "2 GiB <b>at most</b>"))
        expect(page.locator("#diff del")).to_contain_text("16")
        expect(page.locator("#diff ins").first).to_contain_text("2")
        assert page.locator("#diff b").count() == 0
        page.keyboard.press("Control+Enter")
        expect(page.locator("#queue-empty")).to_be_visible()
        assert seen.complaints == []
        (decision,) = decisions_on(values, answer.answer_id)
        assert decision.corrected_answer == answer.answer.answer.replace("16 GiB", "2 GiB <b>at most</b>")
        *_, value = waited_for(lambda: values(ANSWERS_RELEASED, answer.answer_id), "the released correction")
        released = ReleasedAnswer.from_bytes(value)
        assert (released.state, released.final, released.decided_by) == ("replaced", True, "corrector")
        assert "2 GiB" in (released.content or "")


def test_a_decision_can_be_taken_back(browser: Browser, console: ConsoleThread, values: Values) -> None:
    (answer,) = held(console, "undo", 1)
    review = fact_id(answer.tenant, answer.answer_id, "review")
    with logged_in(browser, console, "undoer") as (page, _):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        with unhurried_undo(console):
            page.keyboard.press("1")
            page.keyboard.press("a")
            expect(page.locator("#status")).to_contain_text("Approved")
            page.keyboard.press("u")
            page.wait_for_url(f"**/review/{review}")
        expect(page.locator("#question")).to_be_focused()
        reject(page)
        expect(page.locator("#status")).to_contain_text("Rejected")
    (decision,) = decisions_on(values, answer.answer_id)
    assert decision.user_action == "reject"


def test_an_outage_is_no_empty_queue_and_an_empty_queue_is_looked_at_again(
    browser: Browser, console: ConsoleThread
) -> None:
    with logged_in(browser, console, "waiter") as (page, _):
        page.clock.install()
        page.route("**/review/next", lambda route: route.abort())
        page.goto("/review")
        again = page.get_by_role("button", name="Try again")
        expect(again).to_be_focused()
        expect(page.locator("#queue-away")).to_contain_text("the console does not answer")
        expect(page.locator("#queue-empty")).to_have_count(0)
        assert serious_violations(page) == []
        page.unroute("**/review/next")
        page.keyboard.press("Enter")
        expect(page.locator("#queue-empty")).to_be_focused()
        held(console, "outage", 1)
        page.clock.fast_forward(15_000)
        expect(page.locator("#question")).to_be_focused()
        expect(page.locator("#status")).to_contain_text("waits for review")
        # What fails once is asked for again, and nobody is told.
        page.route("**/review/next", lambda route: route.abort(), times=1)
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()


def test_what_is_looked_at_stays_locked_and_a_refused_correction_keeps_its_text(
    browser: Browser, console: ConsoleThread, values: Values
) -> None:
    reviews = {
        fact_id(answer.tenant, answer.answer_id, "review"): answer.answer_id for answer in held(console, "patience", 3)
    }
    patient, rival = console.client("patient"), console.client("rival")
    third_ms = int(console.settings.review.lock_seconds * 1000 / 3)

    def locked_until(review: str) -> str:
        return str(patient.get(f"/api/reviews/{review}").json()["lock"]["expires_at"])

    with logged_in(browser, console, "patient") as (page, _):
        page.clock.install()
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        page.wait_for_load_state("networkidle")
        first, before = shown(page), locked_until(shown(page))
        with page.expect_response(f"**/api/reviews/{first}/lock"):
            page.clock.fast_forward(third_ms)
        assert locked_until(first) > before
        # What was loaded ahead has become another's meanwhile.
        listed = patient.get("/api/reviews").json()["items"]
        (ahead,) = {item["review_id"] for item in listed if item["lock"]} - {first}
        patient.post(f"/api/reviews/{ahead}/unlock")
        assert rival.post(f"/api/reviews/{ahead}/lock").status_code == 200
        reject(page)
        expect(page.locator(f'[data-review="{first}"]')).to_have_count(0)
        expect(page.locator("#question")).to_be_focused()
        (last,) = set(reviews) - {first, ahead}
        assert shown(page) == last
        page.keyboard.press("c")
        page.locator("#corrected").fill("It needs 2 GiB [1].")
        patient.post(f"/api/reviews/{last}/unlock")
        assert rival.post(f"/api/reviews/{last}/lock").status_code == 200
        page.keyboard.press("Control+Enter")
        expect(page.locator("#status")).to_contain_text("rival holds the lock of this request")
        expect(page.locator("#corrected")).to_have_value("It needs 2 GiB [1].")
        rival.post(f"/api/reviews/{last}/unlock")
        page.get_by_role("button", name="Look again").click()
        expect(page.get_by_role("button", name="Send correction")).to_be_enabled()
        expect(page.locator("#corrected")).to_have_value("It needs 2 GiB [1].")
        page.keyboard.press("Control+Enter")
        expect(page.locator("#queue-empty")).to_be_focused()
        # What another had is offered again when they give it back.
        rival.post(f"/api/reviews/{ahead}/unlock")
        page.clock.fast_forward(15_000)
        expect(page.locator(f'[data-review="{ahead}"]')).to_be_visible()
    (decision,) = decisions_on(values, reviews[last])
    assert (decision.corrected_answer, decision.decided_by) == ("It needs 2 GiB [1].", "patient")


def test_a_request_that_was_replaced_is_shown_again_with_what_was_typed(
    browser: Browser, console: ConsoleThread, values: Values
) -> None:
    (answer,) = held(console, "changes", 1)
    with logged_in(browser, console, "looker") as (page, _):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        page.locator("#comment").fill("see page 4")
        page.keyboard.press("Escape")
        page.keyboard.press("c")
        page.locator("#corrected").fill("It needs 2 GiB [1].")
        request = review_request(answer, answer.enriched_at, deadline_hours=24)
        assert request
        console.store_request(request.model_copy(update={"rank": request.rank + 1, "query": "How much, in all?"}))
        page.keyboard.press("Control+Enter")
        expect(page.locator("#status")).to_contain_text("Another result has replaced this request")
        expect(page.locator("#question")).to_have_text("How much, in all?")
        expect(page.locator("#corrected")).to_have_value("It needs 2 GiB [1].")
        page.keyboard.press("Control+Enter")
        expect(page.locator("#queue-empty")).to_be_focused()
    (decision,) = decisions_on(values, answer.answer_id)
    assert (decision.query, decision.corrected_answer, decision.user_comment) == (
        "How much, in all?", "It needs 2 GiB [1].", "see page 4",
    )  # fmt: skip


def test_a_reviewer_sees_what_is_urgent_votes_and_says_why(
    browser: Browser, console: ConsoleThread, values: Values
) -> None:
    answers = {fact_id(answer.tenant, answer.answer_id, "review"): answer for answer in held(console, "votes", 2)}
    with logged_in(browser, console, "voter") as (page, seen):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        page.wait_for_load_state("networkidle")
        (wanted,) = set(answers) - {shown(page)}
        answer = answers[wanted]
        request = review_request(answer, datetime.now(UTC) - timedelta(hours=26), deadline_hours=24)
        assert request
        console.store_request(
            request.model_copy(update={"rank": request.rank + 1, "gate_score": 0.01, "queue": "night"})
        )
        page.locator(".queue-filters > summary").click()
        page.get_by_label("Overall score up to").fill("0.02")
        page.keyboard.press("Enter")
        expect(page.locator(f'[data-review="{wanted}"]')).to_be_visible()
        facts = page.locator("#review-item")
        expect(facts).to_contain_text("queue: night")
        expect(facts).to_contain_text("(1 d 2 h)")
        expect(facts).to_contain_text("passed 2 h 0 min ago")
        expect(page.locator("#question")).to_be_focused()
        for key, name in (("g", "Upvote"), ("b", "Downvote")):
            page.keyboard.press(key)
            expect(page.get_by_role("button", name=name)).to_have_attribute("aria-pressed", "true")
        expect(page.get_by_role("button", name="Upvote")).to_have_attribute("aria-pressed", "false")
        page.keyboard.press("y")
        page.keyboard.type("wrong_figure")
        page.keyboard.press("Escape")
        page.keyboard.press("r")
        expect(page.locator("#queue-empty")).to_be_focused()
        assert page.evaluate("document.getElementById('help').textContent").count("vote") == 1
        assert seen.complaints == []

    def rejections() -> list[bytes]:
        found = values(REVIEW_DECISIONS, answer.answer_id)
        return [value for value in found if ReviewDecision.from_bytes(value).user_action == "reject"]

    assert ReviewDecision.from_bytes(waited_for(rejections, "the rejection")[0]).reason == "wrong_figure"
    assert {each.user_action for each in decisions_on(values, answer.answer_id)} == {"upvote", "downvote", "reject"}


def test_a_second_opinion_is_blind(browser: Browser, console: ConsoleThread, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console.settings.review, "second_share", 1.0)
    (answer,) = held(console, "opinions", 1)
    request = review_request(answer, answer.enriched_at, deadline_hours=24)
    assert request
    said = {"by": "first-opinion", "at": datetime.now(UTC), "action": "reject", "reason": "told"}
    console.call(store_decision(console.resources.analytics, request, **said))

    def told(name: str) -> str:
        paths = (f"/api/answers/{answer.answer_id}", f"/api/answers/{answer.answer_id}/explanation")
        shown = [console.client(name).get(path).text for path in paths]
        assert len({"first-opinion" in each for each in shown}) == 1, "both or none"
        return "".join(shown)

    assert "first-opinion" not in told("second-opinion"), "also before the request is opened"
    with logged_in(browser, console, "second-opinion") as (page, _):
        page.goto("/review")
        expect(page.locator("#review-item")).to_contain_text("second opinion")
        assert page.locator("#review-item a").count() == 0
        assert page.get_by_role("button", name="Escalate").count() == 0
        page.keyboard.press("e")
        # The filters name everybody.
        assert "first-opinion" not in page.locator("#review-item").inner_html()
        beside = page.context.new_page()
        beside.goto(f"/answers/{answer.answer_id}")
        expect(beside.locator(".history")).to_contain_text("evaluated")
        assert "first-opinion" not in beside.content()
        assert "first-opinion" in told("first-opinion")
        page.bring_to_front()
        with unhurried_undo(console):
            page.keyboard.press("1")
            page.keyboard.press("a")
            expect(page.locator("#status")).to_contain_text("Approved")
        assert "first-opinion" not in told("second-opinion"), "while the second one can still be undone"


# ---------------------------------------------------------------- answers and their sources


KINDS = {
    "document": ("data", (29, 78, 216)),
    "memory": ("memory", (126, 34, 206)),
    "calculation": ("calculation", (75, 85, 99)),
}
"""Classes and colours of citations in the light, seed 004."""


@pytest.fixture(scope="session")
def cited(console: ConsoleThread) -> EnrichedAnswer:
    """An answer that cites a source of each kind, and owns to an inference."""
    contexts = [
        ContextChunk(chunk_id="d", content="Notes. The pump of line 4 runs at 4.2 bar. It was built in 2019.", source_name="Manual"),
        ContextChunk(
            chunk_id="m", source_type="memory", record_id="mem-1", content="The user prefers bar to kilopascal.",
            created_at=NOW, source_event="conversation of 2 November", learned_at=NOW,
        ),
        ContextChunk(chunk_id="k", source_type="calculation", content="4.2 bar are 420 kilopascal."),
    ]  # fmt: skip
    text = (
        "The pump of line 4 runs at 4.2 bar [1]. You prefer bar to kilopascal [2]. That is 420 kilopascal [3]. "
        "It should last another year [AI Inference - based on its age]."
    )
    answer = GeneratedAnswer(
        answer_id="cited/1", tenant="kinds", query="What pressure?", answer=text, contexts=contexts, completed_at=NOW
    )
    (enriched,) = console.store([answer])
    return enriched


def test_a_citation_shows_its_source_beside_the_answer(
    browser: Browser, console: ConsoleThread, cited: EnrichedAnswer
) -> None:
    with logged_in(browser, console) as (page, seen):
        page.goto(f"/answers/{cited.answer_id}")
        text = page.locator(".answer-text")
        for number, (kind, (red, green, blue)) in enumerate(KINDS.values(), 1):
            link = text.get_by_role("link", name=f"[{number}]")
            expect(link).to_have_class(f"citation {kind}")
            expect(link).to_have_css("color", f"rgb({red}, {green}, {blue})")
        expect(text.locator("a.calculation")).to_have_css("font-style", "italic")
        inference = text.locator(".inference")
        expect(inference).to_have_text("[AI Inference - based on its age]")
        assert inference.locator("a").count() == 0
        first = text.get_by_role("link", name="[1]")
        tip = page.locator(f"#{first.get_attribute('aria-describedby')}")
        expect(tip).to_be_hidden()
        first.hover()
        expect(tip).to_be_visible()
        expect(tip).to_contain_text("Manual")
        page.mouse.move(0, 0)
        expect(tip).to_be_hidden()
        first.focus()
        expect(tip).to_be_visible()
        page.keyboard.press("Escape")
        expect(tip).to_be_hidden()
        page.keyboard.press("Enter")
        panel = page.locator("#panel")
        expect(panel).to_be_visible()
        expect(page.locator("#panel-title")).to_be_focused()
        expect(panel.locator("[data-passages]").first).to_have_text("The pump of line 4 runs at 4.2 bar.")
        expect(panel.locator(".source-text")).to_contain_text("It was built in 2019.")
        expect(panel).to_contain_text("primary source")
        page.keyboard.press("Escape")
        expect(panel).to_be_hidden()
        expect(first).to_be_focused()
        text.get_by_role("link", name="[2]").click()
        expect(panel).to_contain_text("conversation of 2 November")
        expect(panel).to_contain_text("Learned")
        assert seen.complaints == []


def test_a_vote_on_the_page_is_feedback_once(
    browser: Browser, console: ConsoleThread, cited: EnrichedAnswer, values: Values
) -> None:
    with logged_in(browser, console) as (page, _):
        page.goto(f"/answers/{cited.answer_id}")
        for name in ("Yes", "No"):
            page.get_by_role("button", name=name, exact=True).click()
            expect(page.get_by_role("button", name=name, exact=True)).to_have_attribute("aria-pressed", "true")
    events = [FeedbackEvent.from_bytes(value) for value in values(FEEDBACK_EVENTS, cited.answer_id)]
    assert [event.explicit and event.explicit.vote for event in events] == ["up", "down"]
    assert len({event.feedback_id for event in events}) == 1


def test_a_search_leads_to_an_answer_by_keyboard(
    browser: Browser, console: ConsoleThread, stored: list[EnrichedAnswer]
) -> None:
    wanted = stored[4]
    with logged_in(browser, console) as (page, seen):
        page.goto("/search")
        page.get_by_label("Words").focus()
        page.keyboard.type(wanted.answer.query)
        page.keyboard.press("Enter")
        link = page.locator(".results a").first
        expect(link).to_have_text(wanted.answer.query)
        link.focus()
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text(wanted.answer.query)
        assert page.locator("section[aria-labelledby=decision-heading] tr.decided").count() == len(
            wanted.decision.reasons
        )
        assert seen.complaints == []


def test_the_overview_draws_its_charts(browser: Browser, console: ConsoleThread, stored: list[EnrichedAnswer]) -> None:
    now = max(answer.enriched_at for answer in stored) + timedelta(minutes=1)
    with clock_at(console, now), logged_in(browser, console) as (page, seen):
        page.goto("/?period=30d")
        expect(page.locator("#charts")).to_have_attribute("data-drawn", "true")
        assert page.locator("#charts .chart canvas").count() == 6
        painted = page.evaluate(
            """[...document.querySelectorAll('#charts .chart canvas')].map(canvas => new Set(
                canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data).size)"""
        )
        assert all(colours > 10 for colours in painted), "a canvas is empty"
        axes = page.evaluate("""[...document.querySelectorAll("#charts .uplot")].map((each) => each.clientWidth)""")
        before = page.locator("#charts").bounding_box()
        page.locator(".chart .u-over").first.hover()
        assert page.locator("#charts").bounding_box() == before, "a hover moves the page"
        page.set_viewport_size({"width": 700, "height": 900})
        expect(page.locator("#charts")).to_have_attribute("data-drawn", "true")
        page.wait_for_function(
            "widths => [...document.querySelectorAll('#charts .uplot')].some((each, i) => each.clientWidth !== widths[i])",
            arg=axes,
        )
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert seen.complaints == []


def test_an_empty_overview_says_how_to_send_the_first_answers(browser: Browser, console: ConsoleThread) -> None:
    with logged_in(browser, console, "sleeper") as (page, seen):
        with clock_at(console, datetime.now(UTC) + timedelta(hours=11)):
            page.goto("/?period=1h")
            expect(page.locator("#no-answers")).to_contain_text("touchstone ingest")
            assert serious_violations(page) == []
        assert seen.complaints == []


# ---------------------------------------------------------------- hostile texts


SCRIPT = "<script>window.owned = 1</script><img src=x onerror='window.owned = 1'><svg onload='window.owned = 1'>"
LINKS = (
    "[a](javascript:window.owned=1) [b](data:text/html,<script>window.owned=1</script>) "
    "![i](http://tracker.example/pixel.png) <http://tracker.example/> [c](//tracker.example/x) "
    "<a href='javascript:window.owned=1' style='position:fixed;inset:0'>d</a> "
)
BIDI = "\u202egnp.exe\u202c \u2066hidden\u2069 zero\u200bwidth bell\x07 "
HOSTILE = SCRIPT + LINKS + BIDI
LONG = 1_000_000


@pytest.fixture(scope="session")
def hostile(console: ConsoleThread) -> EnrichedAnswer:
    """An answer whose every text is hostile, with lines of a million characters."""
    contexts = [
        ContextChunk(
            chunk_id=f"c{number}{SCRIPT}", content=f"The pump runs at 4.2 bar. {HOSTILE}", source_name=SCRIPT[:190],
            source_path=path, source_type=kind, record_id=f"r{number}", source_event=SCRIPT[:200], entity=BIDI,
        )
        for number, (path, kind) in enumerate(
            (("javascript:window.owned=1", "document"), ("data:text/html,x", "memory"), ("http://tracker.example/\u202e", "web")), 1
        )
    ]  # fmt: skip
    answer = GeneratedAnswer.model_validate(
        {
            "answer_id": "hostile\"'<b>", "tenant": "hostile", "query": HOSTILE, "contexts": contexts,
            "answer": f"The pump runs at 4.2 bar [1] [2] [3]. {HOSTILE}", "completed_at": NOW,
            "model": {"id": SCRIPT[:190]}, "risk_mode": "gatekeeper",
        }
    )  # fmt: skip
    (enriched,) = console.store([answer])
    return enriched


def test_nothing_of_a_hostile_answer_runs_and_nothing_leaves_the_page(
    browser: Browser, console: ConsoleThread, hostile: EnrichedAnswer
) -> None:
    assert hostile.citations
    answer = f"/answers/{quote(hostile.answer_id, safe='')}"
    review = f"/review/{fact_id(hostile.tenant, hostile.answer_id, 'review')}"
    pages = [
        answer,
        review,
        "/search?tenant=hostile",
        "/search?q=%3Cscript%3E&model=%22%3E%3Cscript%3E",
        "/?period=30d",
    ]
    pages += [f"/citations/{citation.citation_id}" for citation in hostile.citations.citations]
    with clock_at(console, NOW + timedelta(hours=1)), logged_in(browser, console) as (page, seen):
        for path in pages:
            response = page.goto(path)
            assert response
            assert (response.status, response.headers["content-security-policy"]) == (200, CONTENT_SECURITY_POLICY), (
                path
            )
            page.wait_for_load_state("networkidle")
            for details in page.locator("details").all():
                details.evaluate("each => each.open = true")
            assert page.evaluate("window.owned") is None, path
            links = page.evaluate("[...document.querySelectorAll('a, area, form, iframe, img, object, embed, script, link')].map("
                                  "each => each.href || each.src || each.action || '')")  # fmt: skip
            assert {link.partition(":")[0] for link in links if link} <= {"http", "https"}, path
            assert (
                page.locator(
                    "main img, main script, main iframe, main svg:not(.icon), main [onload], main [style]:not(.chart *)"
                ).count()
                == 0
            )
            text = page.locator("main").inner_text()
            assert not set(text) & set("\u202e\u202c\u2066\u2069\u200b\x07"), path
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        page.goto(answer)
        for link in page.locator(".answer-text a.citation").all():
            link.click()
            expect(page.locator("#panel .source-text")).to_contain_text("<script>window.owned = 1</script>")
        assert page.evaluate("window.owned") is None
        assert {request for request in seen.requests if not request.startswith(console.url)} == set()
        assert seen.complaints == []


def test_lines_of_a_million_characters_are_cut_and_the_page_stays_usable(
    browser: Browser, console: ConsoleThread, hostile: EnrichedAnswer
) -> None:
    long = "<b>" + "x" * LONG
    enriched = hostile.model_copy(update={"answer_id": "long", "citations": None, "grounding": None})
    console.store_rows(enriched, answers={"answer": long, "content": long, "query": long, "model_id": "m" * 1_000})
    with logged_in(browser, console) as (page, seen):
        page.goto("/answers/long")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert 100_000 < len(page.locator(".answer-text").inner_text()) < LONG
        page.goto("/search?tenant=hostile")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert seen.complaints == []


# ---------------------------------------------------------------- for everybody


def pages_of(cited: EnrichedAnswer) -> list[str]:
    assert cited.citations
    return [
        "/?period=30d", "/search", f"/answers/{cited.answer_id}", "/review",
        f"/citations/{cited.citations.citations[0].citation_id}", "/answers/nobody",
    ]  # fmt: skip


@pytest.mark.parametrize("scheme", variants(["light", "dark"], in_every_run=["light"]))
def test_axe_finds_nothing_serious(
    browser: Browser, console: ConsoleThread, stored: list[EnrichedAnswer], cited: EnrichedAnswer, scheme: str
) -> None:
    found = {}
    with clock_at(console, NOW + timedelta(hours=1)), logged_in(browser, console, color_scheme=scheme) as (page, _):
        for path in pages_of(cited):
            page.goto(path)
            page.wait_for_load_state("networkidle")
            found[path] = serious_violations(page)
        page.goto(f"/answers/{cited.answer_id}")
        page.locator(".answer-text a.citation").first.click()
        expect(page.locator("#panel .source-text")).to_be_visible()
        found["panel"] = serious_violations(page)
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        page.keyboard.press("c")
        expect(page.locator("#corrected")).to_be_focused()
        found["correction"] = serious_violations(page)
        page.get_by_role("button", name="Keys (?)").click()
        found["keys"] = serious_violations(page)
        page.context.clear_cookies()
        page.goto("/login")
        found["login"] = serious_violations(page)
    assert {path: violations for path, violations in found.items() if violations} == {}


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
@pytest.mark.parametrize("width", [360, 600, 1280])
def test_a_tooltip_at_the_edge_stays_inside_the_window(
    browser: Browser, console: ConsoleThread, cited: EnrichedAnswer, width: int, direction: str
) -> None:
    with logged_in(browser, console, viewport={"width": width, "height": 900}) as (page, _):
        page.goto(f"/answers/{cited.answer_id}")
        page.locator(".answer-text").first.evaluate(
            "(text, direction) => [text, ...text.querySelectorAll('[dir]')].forEach((each) => { each.dir = direction; })",
            direction,
        )
        links = page.locator(".answer-text .cited a.citation").all()
        assert len(links) >= 3
        for link in links:
            link.hover()
            tip = page.locator(f"#{link.get_attribute('aria-describedby')}")
            expect(tip).to_be_visible()
            box = tip.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width


def test_every_page_fits_a_window_of_360_pixels(
    browser: Browser, console: ConsoleThread, stored: list[EnrichedAnswer], cited: EnrichedAnswer
) -> None:
    small = {"width": 360, "height": 640}
    with clock_at(console, NOW + timedelta(hours=1)), logged_in(browser, console, viewport=small) as (page, _):
        for path in pages_of(cited):
            page.goto(path)
            page.wait_for_load_state("networkidle")
            assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
        page.goto(f"/answers/{cited.answer_id}")
        page.locator(".answer-text a.citation").first.click()
        expect(page.locator("#panel .source-text")).to_be_in_viewport()
        page.goto("/review")
        page.get_by_role("button", name="Skip").click()
        expect(page.locator("#status")).to_contain_text("Skipped")


# ---------------------------------------------------------------- logging in


def test_who_is_not_logged_in_comes_back_to_where_they_wanted_to_go_and_nowhere_else(
    browser: Browser, console: ConsoleThread
) -> None:
    opened = browser.new_context(base_url=console.url)
    opened.set_default_timeout(PATIENCE_MS)
    page = opened.new_page()
    page.goto("/search?q=pump")
    page.wait_for_url("**/login?next=*")
    page.get_by_label("Access token").fill("a token that nobody has")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("unknown access token")
    page.get_by_label("Access token").fill(secret(EVERYTHING))
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=pump")
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login")
    for elsewhere in ("//tracker.example/", "https://tracker.example/", "javascript:alert(1)", "/\\tracker.example"):
        page.goto(f"/login?next={quote(elsewhere, safe='')}#token={secret(EVERYTHING)}")
        page.wait_for_url(lambda url: "/login" not in url)
        assert page.url.startswith(console.url), elsewhere
        assert "token" not in page.url
    opened.close()


# ---------------------------------------------------------------- corrections and their drafts


def correcting(page: Page, text: str) -> None:
    """Open the editor and type a corrected answer."""
    page.goto("/review")
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.press("2")
    page.keyboard.press("c")
    expect(page.locator("#corrected")).to_be_focused()
    page.locator("#corrected").fill(text)


def test_an_edit_is_never_discarded_silently(browser: Browser, console: ConsoleThread, values: Values) -> None:
    (answer,) = held(console, "edits", 1)
    with logged_in(browser, console, "editor") as (page, seen):
        correcting(page, answer.answer.answer)
        page.keyboard.press("Control+Enter")
        expect(page.locator("#status")).to_contain_text("unchanged")
        page.locator("#corrected").fill("  \n ")
        page.keyboard.press("Control+Enter")
        expect(page.locator("#status")).to_contain_text("The correction is empty. Write the text that readers get")
        # What only the server takes for blank is refused in words as well.
        page.locator("#corrected").fill("\u200b")
        page.keyboard.press("Control+Enter")
        expect(page.locator("#status")).to_contain_text("The text is empty; write the text that readers get")
        expect(page.locator("#status")).to_have_class("error")
        page.locator("#corrected").fill("It needs 2 GiB [1].")
        page.keyboard.press("Escape")
        expect(page.locator("#correction")).to_be_hidden()
        page.keyboard.press("a")
        expect(page.locator("#unsent")).to_be_visible()
        assert serious_violations(page) == []
        page.get_by_role("button", name="Keep editing").click()
        expect(page.locator("#corrected")).to_have_value("It needs 2 GiB [1].")
        expect(page.locator("#corrected")).to_be_focused()
        page.keyboard.press("Escape")
        page.keyboard.press("a")
        page.get_by_role("button", name="Send the correction").click()
        expect(page.locator("#queue-empty")).to_be_visible()
        assert seen.complaints == []
    (decision,) = decisions_on(values, answer.answer_id)
    assert (decision.user_action, decision.corrected_answer) == ("correct", "It needs 2 GiB [1].")


def test_a_question_that_was_closed_does_not_answer_the_next_one(
    browser: Browser, console: ConsoleThread, values: Values
) -> None:
    (answer,) = held(console, "edits-fast", 1)
    with logged_in(browser, console, "fast-editor") as (page, _):
        correcting(page, "It needs 2 GiB [1].")
        page.keyboard.press("Escape")
        page.keyboard.press("a")
        expect(page.locator("#unsent")).to_be_visible()
        # The next key comes before the browser reports that the dialog was closed.
        page.evaluate(
            """() => { document.getElementById("unsent").close();
            document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "r", bubbles: true })); }"""
        )
        page.get_by_role("button", name="Discard it and reject").click()
        expect(page.locator("#why-reason")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("#queue-empty")).to_be_visible()
    (decision,) = decisions_on(values, answer.answer_id)
    assert decision.user_action == "reject"


def test_a_reload_and_an_undo_keep_what_was_typed_and_chosen(
    browser: Browser, console: ConsoleThread, values: Values
) -> None:
    (answer,) = held(console, "drafts", 1)
    with logged_in(browser, console, "drafter") as (page, _):
        correcting(page, "It needs 2 GiB [1].")
        page.locator("#comment").fill("see page 4")
        page.reload()
        expect(page.locator("#corrected")).to_have_value("It needs 2 GiB [1].")
        expect(page.locator("#comment")).to_have_value("see page 4")
        with unhurried_undo(console):
            page.locator("#corrected").press("Control+Enter")
            expect(page.locator("#status")).to_contain_text("Corrected")
            page.get_by_role("button", name="Undo (u)").click()
            page.wait_for_url("**/review/*")
        expect(page.locator("#corrected")).to_have_value("It needs 2 GiB [1].")
        assert page.locator("[data-verdict]:checked").count() == 1
        page.locator("#corrected").press("Control+Enter")
        expect(page.locator("#queue-empty")).to_be_visible()
    (decision,) = decisions_on(values, answer.answer_id)
    assert (decision.corrected_answer, decision.user_comment) == ("It needs 2 GiB [1].", "see page 4")
    assert [verdict.verdict for verdict in decision.claim_verdicts] == ["contradicted"]


def test_the_passage_belongs_to_the_selected_claim(browser: Browser, console: ConsoleThread) -> None:
    console.store(
        [
            risky(0, "passages").model_copy(
                update={
                    "answer": "Ingester 0 needs 16 GiB of memory [1]. Ingester 0 needs 2 GiB of memory [1].",
                }
            )
        ]
    )
    with logged_in(browser, console, "passenger") as (page, _):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        wrong, right = (page.locator("mark[data-claim]").filter(has_text=f"needs {size} GiB") for size in ("16", "2"))
        for claim, verdict in ((wrong, "contradicted"), (right, "supported"), (wrong, "contradicted")):
            claim.click()
            expect(page.locator(".contexts .selected")).to_have_class(f"passage selected {verdict}")
            expect(page.locator(".contexts .selected")).to_contain_text("2 GiB")


def test_a_message_covers_no_button(browser: Browser, console: ConsoleThread) -> None:
    held(console, "messages", 2)
    with logged_in(browser, console, "messenger") as (page, _):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        reject(page)
        expect(page.locator("#status")).to_contain_text("Rejected")
        status = page.locator("#status").bounding_box()
        assert status is not None
        for control in page.locator(".decide button:visible, .review-head button, header a, header button").all():
            box = control.bounding_box()
            assert box is not None
            # The line of messages hides what is scrolled behind it, also while it is empty: wholly, or not at all.
            behind = box["y"] + box["height"] <= status["y"] + status["height"]
            assert behind or box["y"] >= status["y"] + status["height"], control.inner_text()
        # The undo is offered for as long as it is possible, and nothing moves when it goes.
        before = page.locator("#question").bounding_box()
        expect(page.locator("#status")).to_be_empty()
        assert page.locator("#question").bounding_box() == before


def test_an_expired_session_offers_to_log_in_again(browser: Browser, console: ConsoleThread) -> None:
    held(console, "sessions", 1)
    with logged_in(browser, console, "sleeper") as (page, _):
        page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        later = datetime.now(UTC) + timedelta(days=30)
        with clock_at(console, later):
            reject(page)
            expect(page.locator("#status")).to_contain_text("Your session has ended")
            page.get_by_role("button", name="Log in again").click()
            page.wait_for_url("**/login?next=%2Freview%2F*")
