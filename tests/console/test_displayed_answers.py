"""Requests that the review page loads ahead count as looked at once they are displayed, and not before."""

import orjson
import pytest
from playwright.sync_api import Browser, Response, expect

from schemas.review import ReviewEvent
from schemas.topics import FEEDBACK_ANALYTICS, REVIEW_EVENTS
from tests.harness.browser import logged_in, needs_browser
from tests.harness.console import ConsoleThread
from tests.harness.decisions import Values
from tests.harness.deployment import Deployment, until
from tests.harness.held_answers import held
from tests.harness.reviews import AT
from workers.review.review_models import Filters, Reviewer
from workers.settings.addresses import Addresses

pytestmark = needs_browser

WHO = "onlooker"


def test_a_request_that_is_loaded_ahead_is_looked_at_once_it_is_displayed(
    browser: Browser, console: ConsoleThread, addresses: Addresses, tmp_path_factory: pytest.TempPathFactory
) -> None:
    deployment = Deployment(addresses, tmp_path_factory.mktemp("shown"), name=console.settings.kafka.group_prefix)
    questions = {answer.answer.query: answer.answer_id for answer in held(console, "displayed", 2)}
    notes: list[tuple[str, str]] = []

    def noted(what: str, answer_id: str) -> None:
        """Wait for an entry of the access log; it is written in the background, in the order of the accesses."""

        async def written() -> bool:
            rows = [orjson.loads(record.value) for record in await deployment.read(FEEDBACK_ANALYTICS)]
            columns = [row["columns"] for row in rows if row.get("table") == "accesses"]
            notes[:] = [(each["what"], name) for each in columns if each["who"] == WHO for name in each["answers"]]
            return (what, answer_id) in notes

        console.call(until(written, f"{what} of {answer_id}", 60))

    def is_ahead(response: Response) -> bool:
        return response.url.endswith("/review/next") and bool((response.request.post_data_json or {}).get("ahead"))

    with logged_in(browser, console, WHO) as (page, seen):
        with page.expect_response(is_ahead) as loaded:
            page.goto("/review")
        assert loaded.value.status == 200
        first = questions.pop(page.locator("#question").inner_text())
        (second,) = questions.values()
        noted("review", first)
        noted("loaded_ahead", second)
        assert ("review", second) not in notes, "nobody has seen it"
        assert ("loaded_ahead", first) not in notes
        with page.expect_response(lambda response: response.url.endswith("/shown")) as shown:
            page.keyboard.press("1")
            page.keyboard.press("a")
        assert shown.value.status == 204
        expect(page.locator("#question")).to_have_text(*questions)
        noted("review", second)
        assert notes.count(("review", second)) == 1
        assert seen.complaints == []


def test_the_history_says_opened_once_a_request_is_displayed_and_closed_only_after_that(
    browser: Browser, console: ConsoleThread, values: Values
) -> None:
    answers = {answer.answer.query: answer.answer_id for answer in held(console, "opened", 3)}

    def steps(question: str) -> list[str]:
        events = [ReviewEvent.from_bytes(value) for value in values(REVIEW_EVENTS, answers[question])]
        return [event.kind for event in sorted(events, key=lambda event: event.occurred_at)]

    def locked(kind: str) -> list[str]:
        """Return the questions that somebody holds, displayed (opened) or loaded ahead."""
        items = console.client("opening").get("/api/reviews").json()["items"]
        return [
            each["query"] for each in items if each["lock"] and bool(each["lock"]["opened_at"]) == (kind == "opened")
        ]

    def is_next(response: Response) -> bool:
        return response.url.endswith("/review/next")

    with logged_in(browser, console, "opening") as (page, seen):
        with page.expect_response(lambda response: is_next(response) and response.request.post_data_json["ahead"]):
            page.goto("/review")
        expect(page.locator("#question")).to_be_focused()
        first = page.locator("#question").inner_text()
        ((second,), (opened,)) = locked("ahead"), locked("opened")
        assert opened == first
        (third,) = answers.keys() - {first, second}
        assert (steps(first), steps(second), steps(third)) == (["assigned"], [], [])
        # A page gives back what it knows of: the answer with the third one must have come.
        with page.expect_response(
            lambda response: is_next(response) and response.request.post_data_json["ahead"]
        ) as ahead:
            page.keyboard.press("s")
        ahead.value.finished()
        expect(page.locator("#question")).to_have_text(second)
        assert steps(second) == ["assigned"]
        assert steps(third) == [], "it is loaded ahead"
        page.goto("/queue")
        expect(page.locator("h1")).to_have_text("Queue")
        assert seen.complaints == []
    expect_free(console)
    assert steps(first) == ["assigned", "skipped"]
    assert steps(second) == ["assigned", "unassigned"]
    assert steps(third) == [], "nobody has seen it"


def expect_free(console: ConsoleThread) -> None:
    """Wait until nobody holds a request of the tenant."""

    async def free() -> bool:
        found = await console.resources.review.queue(
            Filters(), Reviewer("opening", frozenset({"opened"})), cursor=None, limit=9
        )  # type: ignore[union-attr]
        return not any(each.lock for each in found.items)

    console.call(until(free, "the requests are given back", 60))


def test_the_page_of_an_answer_names_only_those_to_whom_it_was_displayed(
    browser: Browser, console: ConsoleThread
) -> None:
    (answer,) = held(console, "displayed-once", 1)
    accesses = [
        {
            "access_id": f"displayed-{who}", "at": AT, "who": who, "via": "session", "what": what,
            "tenant": "displayed-once", "answers": [answer.answer_id],
        }
        for who, what in (("onlooker", "loaded_ahead"), ("reader", "review"))
    ]  # fmt: skip
    console.call(console.resources.analytics.insert("accesses", accesses))
    with logged_in(browser, console) as (page, _):
        page.goto(f"/answers/{answer.answer_id}?tenant=displayed-once")
        looked = page.locator("#looked")
        expect(looked).to_contain_text("reader")
        expect(looked).not_to_contain_text("onlooker")
        page.goto("/audit/accesses?tenant=displayed-once&person=onlooker")
        expect(page.locator("#log tbody")).to_contain_text("loaded ahead, not displayed")


def test_nobody_reports_a_request_of_another_tenant_as_displayed(console: ConsoleThread) -> None:
    held(console, "displayed", 1)
    request = console.client(WHO).get("/api/reviews", params={"limit": 1}).json()["items"][0]
    assert console.client("undoer").post(f"/review/{request['review_id']}/shown").status_code == 404
    assert console.client("read").post(f"/review/{request['review_id']}/shown").status_code == 403
