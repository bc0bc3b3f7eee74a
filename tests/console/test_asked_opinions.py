"""A second opinion is asked for on a chosen request, of a person or of anyone, and stays blind."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from schemas.enriched import EnrichedAnswer
from tests.console.test_lead import decide, page_of, review_of, text_of
from tests.harness.browser import logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held
from workers.review.decision_events import review_event
from workers.stores.clickhouse.rows.review_rows import review_event_row

TENANT = "asked-twice"
PEOPLE = ("asked-one", "asked-two", "asked-three")


@pytest.fixture(scope="module")
def storing(console: ConsoleThread) -> Iterator[ConsoleThread]:
    """The console with the agents that store what is asked for and decided."""
    with console.worker(["decisions", "analytics"]):
        yield console


def until(found: Callable[[], Any], wanted: Any) -> None:
    deadline = datetime.now(UTC) + timedelta(seconds=60)
    while (last := found()) != wanted:
        assert datetime.now(UTC) < deadline, last


def seconds(console: ConsoleThread, name: str) -> list[str]:
    """The requests that a person is to review independently."""
    found = console.client(name).get("/api/reviews", params={"state": "second"}).raise_for_status().json()
    assert found["open_count"] == len(found["items"])
    return [each["review_id"] for each in found["items"]]


def asked_of(console: ConsoleThread, answer: EnrichedAnswer, name: str = "asking-lead") -> list[tuple[str | None, str]]:
    found = console.client(name).get(f"/api/reviews/{review_of(answer)}").raise_for_status().json()
    return [(each["person"], each["by"]) for each in found["asked"]]


def store_ask(console: ConsoleThread, answer: EnrichedAnswer, person: str, **said: Any) -> None:
    said = {"kind": "opinion_asked", "by": "asking-lead", "at": datetime.now(UTC)} | said
    event = review_event(
        said["kind"], review_of(answer), answer.answer_id, answer.tenant, by=said["by"], at=said["at"], assignee=person
    )
    console.call(console.resources.analytics.store([review_event_row(event)]))


def test_a_chosen_person_gets_the_request_first_and_blind(storing: ConsoleThread) -> None:
    answer, waiting = held(storing, TENANT, 2)
    decide(storing, answer, "ben", action="approve", comment="fine by ben")
    lead, review = storing.client("asking-lead"), review_of(answer)
    reply = lead.post(f"/api/reviews/{review}/opinion", json={"person": "asked-one"})
    assert (reply.status_code, reply.json()["person"], reply.json()["by"]) == (202, "asked-one", "asking-lead")
    until(lambda: seconds(storing, "asked-one"), [review])
    assert asked_of(storing, answer) == [("asked-one", "asking-lead")]
    assert [seconds(storing, name) for name in ("asked-two", "asking-lead")] == [[], []]
    client = storing.client("asked-one")
    item = client.post("/api/reviews/next", json={}).raise_for_status().json()
    assert (item["review_id"], item["second_review"], item["reviews_done"], item["reviews_wanted"]) == (
        review,
        True,
        1,
        2,
    )
    assert "ben" not in client.get(f"/api/reviews/{review}").text
    assert "fine by ben" not in page_of(storing, "asked-one", f"/review/{review}")
    assert client.get("/api/answers", params={"tenant": TENANT, "state": "released"}).json()["items"] == []
    assert client.get("/api/audit/decisions").json()["items"] == []
    assert "asking-lead asks you" in text_of(page_of(storing, "asked-one", f"/review/{review}"))
    # Others see the decision, as before.
    assert storing.client("asked-two").get(f"/api/reviews/{review}").json()["decided_by"] == "ben"
    said = {"user_action": "reject", "reason": "wrong_figure"}
    client.post(f"/api/reviews/{review}/decision", json=said).raise_for_status()
    until(lambda: asked_of(storing, answer), [])
    until(lambda: client.get(f"/api/reviews/{review}").json()["decided_by"], "ben")
    assert client.post("/api/reviews/next", json={}).json()["review_id"] == review_of(waiting)
    client.post(f"/api/reviews/{review_of(waiting)}/unlock")
    (differing,) = [each for each in lead.get("/api/reviews/disagreements").json() if each["review_id"] == review]
    assert (differing["first_by"], differing["second_by"]) == ("ben", "asked-one")
    # The decision is as it was.
    assert lead.get(f"/api/reviews/{review}").json()["action"] == "approve"
    audit = storing.client("admin").get("/api/audit/decisions", params={"tenant": TENANT, "state": "opinion_asked"})
    (record,) = audit.json()["items"]
    assert (record["decided_by"], record["target"]) == ("asking-lead", "asked-one")
    assert record["outcome"].startswith("Second opinion of asked-one asked for by asking-lead")
    assert "Second opinion of asked-one asked for by asking-lead" in text_of(
        page_of(storing, "asking-lead", f"/answers/{answer.answer_id}?tenant={TENANT}")
    )


def test_anyone_is_asked_once(console: ConsoleThread) -> None:
    answer = held(console, "asked-anyone", 1)[0]
    decide(console, answer, "ben", at=datetime.now(UTC) - timedelta(days=30))
    decide(console, answer, "early", ruling="second", at=datetime.now(UTC) - timedelta(days=29))
    store_ask(console, answer, "", by="anyone-lead")
    assert [bool(seconds(console, name)) for name in ("anyone-lead", "anyone-one", "anyone-two")] == [False, True, True]
    decide(console, answer, "anyone-one", ruling="second")
    assert [seconds(console, name) for name in ("anyone-one", "anyone-two")] == [[], []]
    # Asked once more: of those who have not reviewed it, and of nobody after a week or once it is taken back.
    store_ask(console, answer, "", by="anyone-lead", at=datetime.now(UTC) + timedelta(seconds=1))
    assert [bool(seconds(console, name)) for name in ("anyone-one", "anyone-two")] == [False, True]
    store_ask(console, answer, "", kind="opinion_ended", by="anyone-lead", at=datetime.now(UTC) + timedelta(seconds=2))
    assert seconds(console, "anyone-two") == []
    store_ask(console, answer, "anyone-two", by="anyone-lead", at=datetime.now(UTC) - timedelta(days=8))
    assert seconds(console, "anyone-two") == []
    assert asked_of(console, answer, "anyone-lead") == []


def test_what_cannot_be_asked_for_is_refused_with_a_remedy(console: ConsoleThread) -> None:
    names = ("decided", "open", "policy", "withdrawn", "hidden")
    answers = dict(zip(names, held(console, "asked-refused", len(names)), strict=True))
    for name, by in (("decided", "ben"), ("policy", "policy"), ("hidden", "ben")):
        decide(console, answers[name], by, action="approve")
    decide(console, answers["decided"], "refused-two", ruling="vote", action="upvote")
    store_ask(console, answers["hidden"], "refused-lead", by="refused-two")
    client = console.client("refused-lead")

    def refused(name: str, person: str | None = None) -> tuple[str, str]:
        reply = client.post(f"/api/reviews/{review_of(answers[name])}/opinion", json={"person": person})
        assert reply.status_code == 422, reply.text
        (field,) = reply.json()["fields"]
        return field["field"], field["message"]

    assert refused("open")[1].endswith("ask once it is published")
    assert "no decision of a person" in refused("policy")[1]
    assert "you may still review this request yourself" in refused("hidden")[1]
    for person, words in (
        ("acme", "may not review the requests of this tenant"), ("gone", "may not review"), ("refused-lead", "you have seen"),
        ("refused-two", "has already reviewed"),
    ):  # fmt: skip
        field, message = refused("decided", person)
        assert (field, words in message) == ("person", True), message
    ended = client.delete(f"/api/reviews/{review_of(answers['decided'])}/opinion", params={"person": "refused-two"})
    assert (ended.status_code, ended.json()["conflict"]) == (409, "too_late")
    assert (
        console.client("acme").post(f"/api/reviews/{review_of(answers['decided'])}/opinion", json={}).status_code == 404
    )
    assert (
        console.client("read").post(f"/api/reviews/{review_of(answers['decided'])}/opinion", json={}).status_code == 403
    )
    assert client.post(f"/api/reviews/{review_of(answers['decided'])}/opinion").status_code == 202


@needs_browser
def test_a_second_opinion_is_asked_for_and_taken_back_on_the_page(browser: Browser, storing: ConsoleThread) -> None:
    (answer,) = held(storing, "asked-on-page", 1)
    decide(storing, answer, "ben", action="approve")
    with logged_in(browser, storing, "asking-on-page") as (page, seen):
        page.goto(f"/review/{review_of(answer)}")
        options = page.get_by_label("Ask", exact=True).locator("option")
        assert "asking-on-page" not in options.all_text_contents()
        page.get_by_label("Ask", exact=True).select_option("asked-on-page")
        page.get_by_role("button", name="Ask for a second opinion").click()
        expect(page.locator("#status")).to_contain_text("Second opinion asked of asked-on-page.")
        expect(page.locator("#asked-opinions li")).to_contain_text("Asked of asked-on-page by you")
        until(lambda: seconds(storing, "asked-on-page"), [review_of(answer)])
        page.reload()
        expect(page.locator("#asked-opinions li")).to_have_count(1)
        assert serious_violations(page) == []
        page.goto("/queue?state=decided")
        expect(page.locator("[data-row] td:last-child")).to_contain_text("asked of asked-on-page by asking-on-page")
        page.goto(f"/review/{review_of(answer)}")
        page.get_by_role("button", name="Take back").click()
        expect(page.locator("#asked-opinions li")).to_have_count(0)
        until(lambda: seconds(storing, "asked-on-page"), [])
        page.get_by_role("button", name="Ask for a second opinion").click()
        expect(page.locator("#asked-opinions li")).to_contain_text("Asked of anyone who may review it by you")
        until(lambda: seconds(storing, "asked-on-page"), [review_of(answer)])
        assert seen.complaints == []
