"""A second opinion is asked for on a chosen request, of a person or of anyone, and stays blind."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from schemas.enriched import EnrichedAnswer
from tests.console.test_lead import decide, page_of, text_of
from tests.harness.browser import detail_of_a_page, logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held, review_of
from tests.harness.variants import variants
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
    for path, words in (
        (f"/review/{review_of(answer)}", "2 of 3 independent reviews"),
        ("/queue?state=decided", "2 of 3 reviews"),
    ):
        shown = text_of(page_of(console, "anyone-lead", path))
        assert words in shown
        assert "the first one decides for readers" in shown
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
        expect(page.locator("#opinion-person")).to_be_focused()
        until(lambda: seconds(storing, "asked-on-page"), [])
        page.get_by_role("button", name="Ask for a second opinion").click()
        expect(page.locator("#asked-opinions li")).to_contain_text("Asked of anyone who may review it by you")
        until(lambda: seconds(storing, "asked-on-page"), [review_of(answer)])
        assert seen.complaints == []


def acted(console: ConsoleThread, name: str, action: str, answers: list[EnrichedAnswer], **more: Any) -> dict[str, str]:
    """Act on several requests at once; return why each was refused, by answer, empty for those that were done."""
    body = {"action": action, "review_ids": [review_of(each) for each in answers]} | more
    found = console.client(name).post("/api/reviews/bulk", json=body).raise_for_status().json()
    assert [each["review_id"] for each in found] == body["review_ids"]
    assert all(each["done"] == (not each["detail"]) for each in found)
    assert all(bool(each["undo_until"]) == (each["done"] and more.get("preview") is False) for each in found)
    return {
        answer.answer_id[-1]: each["detail"].removeprefix(f"{each['field']}: ")
        for answer, each in zip(answers, found, strict=True)
    }


@pytest.mark.usefixtures("long_undo")
def test_several_opinions_are_previewed_asked_for_and_taken_back(storing: ConsoleThread) -> None:
    answers = held(storing, "asked-many", 7)
    foreign = held(storing, "bulk-undo", 1)
    for answer in answers[:4]:
        decide(storing, answer, "ben")
    decide(storing, answers[4], "policy")
    decide(storing, answers[2], "many-one", ruling="second")
    store_ask(storing, answers[3], "many-one", by="many-two")
    store_ask(storing, answers[6], "many-lead", by="many-two")
    decide(storing, answers[6], "ben")
    wanted = {
        "0": "", "1": "", "2": "many-one has already reviewed this request; ask another person",
        "3": "many-one is already asked for a second opinion on this request",
        "4": "no decision of a person stands on this request, so there is nothing to compare with",
        "5": "nothing is decided yet, or the decision can still be undone; ask once it is published",
        "6": "you may still review this request yourself; decide or skip it",
    }  # fmt: skip
    assert acted(storing, "many-lead", "ask_opinion", answers, person="many-one") == wanted
    (unknown,) = acted(storing, "many-lead", "ask_opinion", foreign).values()
    assert unknown.startswith("unknown review"), "a request of another tenant is as unknown as none"
    assert seconds(storing, "many-one") == [review_of(answers[3])], "a preview asks nobody"
    assert acted(storing, "many-lead", "ask_opinion", answers, person="many-one", preview=False) == wanted
    until(lambda: set(seconds(storing, "many-one")), {review_of(answers[each]) for each in (0, 1, 3)})
    # Each is undone as an assignment is, in any order; and again within a moment, before rows show it.
    lead = storing.client("many-lead")
    for _ in range(2):
        assert [lead.post(f"/api/reviews/{review_of(answers[each])}/undo").status_code for each in (1, 0)] == [204, 204]
        assert lead.post(f"/api/reviews/{review_of(answers[0])}/undo").status_code == 409, "an undo is not undone"
        again = acted(storing, "many-lead", "ask_opinion", answers[:2], person="many-one", preview=False)
        assert again == {"0": "", "1": ""}
    until(lambda: asked_of(storing, answers[0], "many-lead"), [("many-one", "many-lead")])
    # What somebody else asked for is taken back as well, and what is not asked for is refused.
    ended = acted(storing, "many-lead", "end_opinion", [*answers[:4], answers[5]], person="many-one", preview=False)
    assert {name for name, why in ended.items() if not why} == {"0", "1", "3"}
    assert ended["5"].startswith("this second opinion is not asked for")
    until(lambda: seconds(storing, "many-one"), [])
    lead.post(f"/api/reviews/{review_of(answers[3])}/undo").raise_for_status()
    until(lambda: seconds(storing, "many-one"), [review_of(answers[3])])
    assert (
        storing.client("read")
        .post("/api/reviews/bulk", json={"action": "ask_opinion", "review_ids": ["r"]})
        .status_code
        == 403
    )


@pytest.mark.usefixtures("long_undo")
def test_an_opinion_that_was_given_meanwhile_is_not_taken_back(storing: ConsoleThread) -> None:
    answer, other = held(storing, "asked-narrow", 2)
    for each in (answer, other):
        decide(storing, each, "ben")
    asked = acted(storing, "narrow-lead", "ask_opinion", [answer, other], person="narrow-one", preview=False)
    assert asked == {"0": "", "1": ""}
    until(lambda: len(seconds(storing, "narrow-one")), 2)
    decide(storing, answer, "narrow-one", ruling="second", at=datetime.now(UTC) + timedelta(seconds=1))
    lead = storing.client("narrow-lead")
    refused = lead.post(f"/api/reviews/{review_of(answer)}/undo").json()
    assert (refused["conflict"], "was given meanwhile" in refused["detail"]) == ("too_late", True), refused
    assert lead.post(f"/api/reviews/{review_of(other)}/undo").status_code == 204
    until(lambda: seconds(storing, "narrow-one"), [])


@pytest.mark.parametrize(
    "body",
    [
        {"action": "ask_opinion", "assignee": "many-one"}, {"action": "approve", "person": "many-one"},
        {"action": "assign", "assignee": "many-one", "person": "many-one"}, {"action": "ask_opinion", "person": ""},
    ],
    ids=str,
)  # fmt: skip
def test_a_person_fits_the_action(console: ConsoleThread, body: dict[str, Any]) -> None:
    assert console.client("many-lead").post("/api/reviews/bulk", json=body | {"review_ids": ["r"]}).status_code == 422


WINDOWS = [{"width": 1280, "height": 900}, {"width": 390, "height": 844}]


@pytest.mark.usefixtures("long_undo")
@detail_of_a_page
@pytest.mark.parametrize("window", variants(WINDOWS, in_every_run=WINDOWS[:1]), ids=["wide", "phone"])
def test_opinions_of_the_list_are_asked_for_with_the_keyboard_and_undone_as_one(
    browser: Browser, storing: ConsoleThread, window: dict[str, int]
) -> None:
    answers = held(storing, "asked-list", 3)
    if window["width"] > 390:
        for answer in answers[:2]:
            decide(storing, answer, "ben", action="approve")
        decide(storing, answers[2], "policy")
    with logged_in(browser, storing, "list-lead", viewport=window) as (page, seen):
        page.goto("/queue?state=decided")
        rows = page.locator("[data-row]")
        expect(rows).to_have_count(3)
        options = page.get_by_label("Person").locator("option")
        assert options.all_text_contents()[0] == "anyone who has not reviewed it"
        assert "list-lead" not in options.all_text_contents()
        page.get_by_label("Choose all of this page").focus()
        page.keyboard.press("Space")
        expect(page.locator("#chosen-count")).to_have_text("3 chosen")
        page.get_by_label("Person").select_option("list-one")
        page.get_by_role("button", name="Preview").press("Enter")
        dialog = page.locator("#bulk-preview")
        expect(dialog.locator("#bulk-words")).to_have_text(
            "A second opinion on 2 of 3 requests will be asked of list-one."
        )
        expect(dialog.locator("#bulk-refused li")).to_contain_text("no decision of a person")
        expect(dialog.locator("#bulk-taken li").first).to_contain_text("approved by ben")
        assert serious_violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.get_by_role("button", name="Ask about 2").press("Enter")
        expect(page.locator("#status")).to_contain_text("Second opinion asked of list-one: 2 of 3 requests")
        asked = page.locator("[data-asked]:visible")
        expect(asked).to_have_count(2)
        expect(asked.first).to_have_text("asked of list-one by list-lead")
        expect(rows.filter(has_text="approved by ben")).to_have_count(2)
        expect(page.locator("[data-row]", has_text="not done")).to_contain_text("no decision of a person")
        until(lambda: len(seconds(storing, "list-one")), 2)
        page.keyboard.press("u")
        expect(page.locator("#status")).to_contain_text("Undone: 2 of 3 requests")
        expect(asked).to_have_count(0)
        until(lambda: seconds(storing, "list-one"), [])
        # Asked once more and taken back in the list, after a reload that shows what is asked for.
        page.locator("[data-choose]").nth(0).check()
        page.locator("[data-choose]").nth(1).check()
        page.locator("[data-choose]").nth(2).uncheck()
        page.get_by_role("button", name="Preview").click()
        page.locator("#bulk-do").click()
        until(lambda: len(seconds(storing, "list-one")) > 0, True)
        page.goto("/queue?state=decided")
        before = asked.count()
        assert before in (1, 2)
        page.get_by_label("Choose all of this page").check()
        page.get_by_label("With the chosen").select_option("end_opinion")
        page.get_by_label("Person").select_option("list-one")
        page.get_by_role("button", name="Preview").click()
        expect(dialog.locator("#bulk-words")).to_have_text(
            f"The second opinion of list-one on {before} of 3 requests will no longer be asked for."
        )
        page.locator("#bulk-do").click()
        expect(page.locator("#status")).to_contain_text("Second opinion of list-one no longer asked for")
        expect(asked).to_have_count(0)
        until(lambda: seconds(storing, "list-one"), [])
        page.reload()
        expect(asked).to_have_count(0)
        assert seen.complaints == []
