"""Check what a lead is shown: reviews that differ, until when a lock holds, assignments taken back, published decisions."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from playwright.sync_api import Browser, expect

from schemas.answers import ModelReference
from schemas.enriched import EnrichedAnswer
from schemas.identifiers import fact_id
from tests.console.test_lead import assign, decide, page_of, text_of
from tests.console.test_team import wait_for
from tests.harness.browser import detail_of_a_page, logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held, review_of, risky
from tests.harness.variants import variants


@pytest.fixture(scope="module")
def storing(console: ConsoleThread) -> Iterator[ConsoleThread]:
    """The console with the agent that stores assignments."""
    with console.worker(["decisions", "analytics"]):
        yield console


def test_reviews_that_differ_are_listed_with_their_questions_and_reasons(console: ConsoleThread) -> None:
    answer, same, untold = held(console, "differing", 3)
    at = datetime.now(UTC)
    decide(console, answer, "anna", action="approve", reason="nothing_wrong", at=at - timedelta(hours=1))
    decide(console, answer, "ben", ruling="second", reason="wrong_figure", comment="2 GiB, says the guide", at=at)
    for each in (same, untold):
        decide(console, each, "anna", at=at - timedelta(hours=1))
    decide(console, same, "ben", ruling="second", reason="off_topic", at=at)
    decide(console, untold, "ben", ruling="second", action="approve", at=at - timedelta(minutes=1))
    shown = [
        {name: each[name] for name in ("review_id", "query", "first_reason", "second_reason", "second_comment")}
        for each in console.client("differing-lead").get("/api/reviews/disagreements").raise_for_status().json()
    ]
    assert shown == [
        {
            "review_id": review_of(answer), "query": "How much memory does ingester 0 need?", "first_reason": "nothing_wrong",
            "second_reason": "wrong_figure", "second_comment": "2 GiB, says the guide",
        },
        {"review_id": review_of(untold), "query": "How much memory does ingester 2 need?", "first_reason": "", "second_reason": "", "second_comment": ""},
    ]  # fmt: skip
    for address in ("/queue/disagreements", "/"):
        listed = page_of(console, "differing-lead", address)
        assert f'<a href="/review/{review_of(answer)}">How much memory does ingester 0 need?</a>' in listed
        words = text_of(listed)
        assert "Approved by anna, because of: nothing wrong" in words
        assert "Rejected by ben, because of: wrong figure 2 GiB, says the guide" in words
        assert review_of(same) not in listed
    assert text_of(page_of(console, "acme", "/queue/disagreements")).count("Rejected by ben") == 0


def test_two_corrections_with_different_texts_differ(console: ConsoleThread) -> None:
    other, same = held(console, "corrected-twice", 2)
    at = datetime.now(UTC)
    for answer, text in ((other, "Ingester 0 needs 2 GiB."), (same, "It needs 4 GiB. ")):
        decide(
            console, answer, "anna", action="correct", corrected_answer="It needs 4 GiB.", at=at - timedelta(hours=1)
        )
        decide(console, answer, "ben", ruling="second", action="correct", corrected_answer=text, at=at)
    client = console.client("admin")
    found = client.get("/api/reviews/disagreements", params={"tenant": "corrected-twice"}).raise_for_status().json()
    assert [(each["review_id"], each["first"], each["second"]) for each in found] == [
        (review_of(other), "correct", "correct")
    ]


@needs_browser
def test_reviews_that_differ_are_reached_from_the_queue(browser: Browser, console: ConsoleThread) -> None:
    with logged_in(browser, console, "other-differing") as (page, seen):
        page.goto("/queue")
        page.get_by_role("link", name="Reviews that differ").click()
        expect(page.get_by_role("heading", name="Reviews that differ")).to_be_visible()
        expect(page.locator(".disagreements tbody tr")).to_have_count(2)
        assert serious_violations(page) == []
        page.locator(".disagreements tbody a").first.click()
        expect(page.locator("#question")).to_contain_text("How much memory does ingester 0 need?")
        assert seen.complaints == []


def differing(console: ConsoleThread) -> list[EnrichedAnswer]:
    """Store four requests of which five reviews differ from the decision, a day apart, on two models."""
    answers = console.store(
        risky(number, "differing-many").model_copy(update={"model": ModelReference(id=f"Model/{number % 2} beta")})
        for number in range(4)
    )
    today = datetime.now(UTC).replace(hour=9, minute=0, second=0, microsecond=0)
    said = [
        ("Anna", "approve", "Ben", "reject"),
        ("Anna", "reject", "Ben", "approve"),
        ("Cleo", "approve", "Anna", "correct"),
    ]
    for number, (first_by, first, second_by, second) in enumerate(said):
        at = today - timedelta(days=number + 1)
        correction = {"corrected_answer": "Ingester needs 2 GiB."} if second == "correct" else {}
        decide(console, answers[number], first_by, action=first, at=at)
        decide(
            console,
            answers[number],
            second_by,
            ruling="second",
            action=second,
            at=at + timedelta(hours=1),
            **correction,
        )
    decide(console, answers[2], "Dora", ruling="second", action="reject", at=today - timedelta(days=2))
    decide(console, answers[3], "policy", action="reject", at=today - timedelta(days=9))
    decide(console, answers[3], "Ben", ruling="second", action="approve", at=today - timedelta(days=8))
    return answers


def test_reviews_that_differ_are_chosen_by_person_model_tenant_kind_and_time(console: ConsoleThread) -> None:
    differing(console)
    client = console.client("differ-lead")

    def chosen(**filters: str) -> list[tuple[str, str]]:
        reply = client.get("/api/reviews/disagreements", params=filters).raise_for_status().json()
        return [(each["answer_id"][-1], each["second_by"]) for each in reply]

    day = datetime.now(UTC).date()
    everything = [("0", "Ben"), ("1", "Ben"), ("2", "Dora"), ("2", "Anna"), ("3", "Ben")]
    assert sorted(chosen()) == sorted(everything)
    for filters, wanted in (
        ({"person": "dora"}, {("2", "Dora")}),
        ({"person": " ANNA "}, {("0", "Ben"), ("1", "Ben"), ("2", "Anna")}),
        ({"person": "ben"}, {("0", "Ben"), ("1", "Ben"), ("3", "Ben")}),
        ({"person": "policy"}, {("3", "Ben")}),
        ({"person": "nobody of these"}, set()),
        ({"model": "Model/1 beta"}, {("1", "Ben"), ("3", "Ben")}),
        ({"tenant": "differing-many"}, set(everything)),
        ({"first": "approve"}, {("0", "Ben"), ("2", "Dora"), ("2", "Anna")}),
        ({"first": "approve", "second": "reject"}, {("0", "Ben"), ("2", "Dora")}),
        ({"first": "reject", "second": "approve"}, {("1", "Ben"), ("3", "Ben")}),
        ({"second": "correct"}, {("2", "Anna")}),
        ({"first": "approve", "second": "approve"}, set()),
        ({"until": f"{day - timedelta(days=7)}T00:00:00Z"}, {("3", "Ben")}),
        ({"since": f"{day - timedelta(days=1)}T00:00:00Z"}, {("0", "Ben")}),
        ({"since": f"{day - timedelta(days=2)}T00:00:00Z", "until": f"{day - timedelta(days=1)}T00:00:00Z"},
         {("1", "Ben"), ("2", "Dora")}),
        ({"person": "Ben", "model": "Model/1 beta", "first": "reject", "since": f"{day - timedelta(days=3)}T00:00:00Z"},
         {("1", "Ben")}),
    ):  # fmt: skip
        assert set(chosen(**filters)) == wanted, filters
    for filters, status in (
        ({"tenant": "acme"}, 403), ({"first": "upvote"}, 422), ({"kind": "approve"}, 422), ({"since": "yesterday"}, 422),
    ):  # fmt: skip
        for address in ("/api/reviews/disagreements", "/queue/disagreements"):
            refused = client.get(address, params=filters, headers={"Accept": "text/html"})
            assert refused.status_code == (200 if "kind" in filters and address.startswith("/queue") else status), (
                address
            )
    assert console.client("acme").get("/api/reviews/disagreements", params={"person": "Anna"}).json() == []


WINDOWS = [{"width": 1280, "height": 900}, {"width": 390, "height": 844}]


@detail_of_a_page
@pytest.mark.parametrize("window", variants(WINDOWS, in_every_run=WINDOWS[:1]), ids=["wide", "phone"])
def test_the_filters_of_reviews_that_differ_stay_in_the_address(
    browser: Browser, console: ConsoleThread, window: dict[str, int]
) -> None:
    if window["width"] > 390:
        differing(console)
    with logged_in(browser, console, "differ-other", viewport=window) as (page, seen):
        page.goto("/queue/disagreements")
        rows = page.locator(".disagreements tbody tr")
        expect(rows).to_have_count(5)
        expect(page.locator("#total")).to_have_text("5 reviews that differ, the latest first")
        offered = page.locator("#model-values option").evaluate_all("all => all.map((each) => each.value)")
        assert offered == ["Model/0 beta", "Model/1 beta"]
        page.get_by_label("Person").fill("anna")
        page.get_by_label("Final decision").select_option(label="approved")
        page.get_by_label("Other review").select_option(label="rejected")
        page.get_by_role("button", name="Apply").press("Enter")
        expect(rows).to_have_count(1)
        expect(page.locator("#total")).to_have_text("1 review that differs, the latest first")
        assert "person=anna" in page.url
        assert "first=approve" in page.url
        expect(page.get_by_label("Person")).to_have_value("anna")
        expect(page.get_by_label("Final decision")).to_have_value("approve")
        assert serious_violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        rows.first.locator("a").first.click()
        page.go_back()
        expect(rows).to_have_count(1)
        page.get_by_label("Other review").select_option(label="approved")
        page.get_by_role("button", name="Apply").click()
        expect(page.get_by_text("No review that differs matches these filters.")).to_be_visible()
        page.goto("/queue/disagreements?since=soon")
        expect(page.get_by_role("alert")).to_contain_text("These filters cannot be used")
        assert [each for each in seen.complaints if "422" not in each] == []


def test_a_refusal_because_of_a_lock_says_until_when_it_holds(console: ConsoleThread) -> None:
    (answer,) = held(console, "locked-times", 1)
    review = f"/api/reviews/{review_of(answer)}"
    holder, lead = console.client("lock-holder"), console.client("lock-lead")
    ends = datetime.fromisoformat(holder.post(f"{review}/lock").raise_for_status().json()["expires_at"])
    until = f"lock-holder holds the lock of this request until {ends:%Y-%m-%d %H:%M:%S} UTC, or longer while it is open there"
    bulk = {"action": "assign", "review_ids": [review_of(answer)], "assignee": "lock-lead"}
    refused = (
        lead.post(f"{review}/lock"),
        lead.post(f"{review}/decision", json={"user_action": "reject"}),
        lead.post(f"{review}/skip"),
        lead.post("/api/reviews/bulk", json=bulk),
    )
    for each in refused:
        assert until in each.text, each.text
    listed = text_of(page_of(console, "lock-lead", "/queue"))
    assert "open at lock-holder since " in listed
    assert f"held until {ends:%Y-%m-%d %H:%M:%S} UTC" in listed
    holder.post(f"{review}/unlock").raise_for_status()
    assert lead.post(f"{review}/lock").status_code == 200


@pytest.mark.parametrize("said", [{"action": "approve"}, {"action": "reject"}, {"action": "correct"}], ids=str)
def test_who_corrects_a_published_decision_is_advised(console: ConsoleThread, said: dict[str, str]) -> None:
    number = {"approve": 0, "reject": 1, "correct": 2}[said["action"]]
    answer = held(console, "published-words", 3)[number]
    correction = {"corrected_answer": "Ingester needs 2 GiB."}
    decide(console, answer, "ben", action=said["action"], **(correction if said["action"] == "correct" else {}))
    body = {"user_action": "correct", "corrected_answer": "Two GiB, says the guide."}
    told = {}
    for name in ("late-corrector", "review"):
        for path in ("decision", "outcome"):
            refused = console.client(name).post(f"/api/reviews/{review_of(answer)}/{path}", json=body)
            assert (refused.status_code, refused.json()["conflict"], refused.json()["who"]) == (409, "decided", "ben")
            told[name, path] = refused.json()["detail"]
    assert told["review", "decision"] == told["review", "outcome"]
    assert all(
        each.startswith(
            "ben has decided this request; take the next one. A published decision is final. If it was wrong, "
        )
        for each in told.values()
    )
    assert ("withdraw the answer on its page" in told["late-corrector", "decision"]) == (said["action"] != "reject")
    assert ("ask an auditor to withdraw the answer" in told["review", "decision"]) == (said["action"] != "reject")
    assert all("the new answer gets a review of its own" in each for each in told.values())


def test_the_words_for_a_decided_request_name_the_policy_and_hide_what_is_blind(
    console: ConsoleThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_policy, blind = held(console, "asked-page", 2)
    decide(console, by_policy, "policy")
    decide(console, blind, "ben")
    body = {"user_action": "reject"}
    said = console.client("asking-page").post(f"/api/reviews/{review_of(by_policy)}/decision", json=body).json()
    assert said["detail"].startswith("the policy has decided this request; take the next one. A published decision")
    monkeypatch.setattr(console.settings.review, "second_share", 1.0)
    client = console.client("asking-page")
    assert client.post(f"/api/reviews/{review_of(blind)}/outcome", json=body).json()["detail"] == (
        "another reviewer has decided this request; take the next one"
    )


def given(client: httpx.Client, answers: list[EnrichedAnswer], person: str) -> None:
    body = {
        "action": "assign",
        "assignee": person,
        "review_ids": [review_of(each) for each in answers],
        "preview": False,
    }
    outcomes = client.post("/api/reviews/bulk", json=body).raise_for_status().json()
    assert all(each["done"] and each["undo_until"] for each in outcomes), outcomes


@pytest.mark.usefixtures("long_undo")
def test_an_assignment_is_taken_back_to_the_person_before(storing: ConsoleThread) -> None:
    answers = held(storing, "taken-back", 3)
    first, second, third = (review_of(each) for each in answers)
    lead = storing.client("assigning-lead")
    assign(storing, answers[0], "assignee-one")
    given(lead, answers[:2], "assignee-two")
    # Again within a moment, before rows show the assignment before.
    given(lead, answers[1:2], "assignee-one")
    wait_for(storing, "assigning-lead", "assignee-two", {first})
    wait_for(storing, "assigning-lead", "assignee-one", {second})
    for review in (first, second):
        lead.post(f"/api/reviews/{review}/undo").raise_for_status()
    wait_for(storing, "assigning-lead", "assignee-one", {first})
    wait_for(storing, "assigning-lead", "assignee-two", {second})
    again = lead.post(f"/api/reviews/{first}/undo")
    assert (again.status_code, again.json()["conflict"]) == (409, "too_late"), "an undo is not undone"
    # A skip of the same person stays undoable, and each is undone for itself.
    lead.post(f"/api/reviews/{third}/skip").raise_for_status()
    given(lead, answers[2:], "assignee-two")
    other = storing.client("assignee-one").post(f"/api/reviews/{third}/undo")
    assert other.status_code == 409, "nobody takes back the assignment of another person"
    assert [lead.post(f"/api/reviews/{third}/undo").status_code for _ in range(3)] == [204, 204, 409]
    wait_for(storing, "assigning-lead", "nobody", {third})
    deadline = datetime.now(UTC) + timedelta(seconds=60)
    while len(history := lead.get(f"/api/reviews/{third}").json()["history"]) < 4:
        assert datetime.now(UTC) < deadline, history
    assert [(each["kind"], each["by"], each["detail"]) for each in history] == [
        ("skipped", "assigning-lead", ""), ("given", "assigning-lead", "assignee-two"),
        ("given", "assigning-lead", ""), ("resumed", "assigning-lead", ""),
    ]  # fmt: skip


@pytest.mark.usefixtures("long_undo")
def test_an_assignment_is_not_taken_back_from_who_got_the_request_since(storing: ConsoleThread) -> None:
    (answer, decided) = held(storing, "list-assigned", 2)
    lead = storing.client("assign-undoer")
    given(lead, [answer, decided], "assignee-three")
    wait_for(storing, "assign-undoer", "assignee-three", {review_of(answer), review_of(decided)})
    given(storing.client("assignee-three"), [answer], "assign-undoer")
    wait_for(storing, "assign-undoer", "assign-undoer", {review_of(answer)})
    refused = lead.post(f"/api/reviews/{review_of(answer)}/undo").json()
    assert (refused["conflict"], refused["who"]) == ("too_late", "assign-undoer")
    assert refused["detail"].endswith("was assigned to assign-undoer since, so nothing was undone")
    decide(storing, decided, "ben")
    refused = lead.post(f"/api/reviews/{review_of(decided)}/undo").json()
    assert (refused["conflict"], refused["who"]) == ("decided", "ben")


@pytest.mark.usefixtures("long_undo")
@detail_of_a_page
def test_the_list_follows_an_assignment_and_its_undo(browser: Browser, storing: ConsoleThread) -> None:
    held(storing, "list-followed", 3)
    with logged_in(browser, storing, "follower") as (page, seen):
        page.goto("/queue?assignee=nobody")
        rows = page.locator("[data-row]:visible")
        expect(rows).to_have_count(3)
        page.locator("[data-choose]").nth(0).check()
        page.locator("[data-choose]").nth(2).check()
        page.get_by_label("Person").select_option("followed")
        page.get_by_role("button", name="Preview").click()
        page.get_by_role("button", name="Assign 2").click()
        expect(page.locator("#status")).to_contain_text("Assigned to followed: 2 of 2 requests")
        expect(rows).to_have_count(1)
        expect(page.locator("#queue-totals strong")).to_have_text("1")
        page.get_by_label("Choose all of this page").check()
        expect(page.locator("#chosen-count")).to_have_text("1 chosen")
        page.keyboard.press("u")
        expect(page.locator("#status")).to_contain_text("Undone: 2 of 2 requests")
        expect(rows).to_have_count(3)
        expect(page.locator("#queue-totals strong")).to_have_text("3")
        expect(page.locator("[data-choose]").first).to_be_focused()
        expect(page.locator("[data-row] td:last-child").filter(has_text="assigned")).to_have_count(0)
        wait_for(storing, "follower", "followed", set())
        # All of the page, then a list that shows every person keeps its rows.
        page.get_by_label("Choose all of this page").check()
        page.get_by_role("button", name="Preview").click()
        page.get_by_role("button", name="Assign 3").click()
        expect(page.get_by_text("No request of this page matches the filters any more.")).to_be_visible()
        assert serious_violations(page) == []
        wait_for(
            storing,
            "follower",
            "followed",
            {fact_id("list-followed", f"list-followed-{each}", "review") for each in range(3)},
        )
        page.goto("/queue?tenant=list-followed")
        page.locator("[data-choose]").first.check()
        page.get_by_label("Person").select_option("nobody")
        page.get_by_role("button", name="Preview").click()
        page.get_by_role("button", name="Assign 1").click()
        expect(rows).to_have_count(3)
        expect(rows.first.locator("td:last-child")).to_have_text("assigned to nobody")
        page.keyboard.press("u")
        expect(rows.first.locator("td:last-child")).to_contain_text("followed")
        assert seen.complaints == []


@detail_of_a_page
def test_an_answer_of_which_readers_see_nothing_is_not_approved(browser: Browser, console: ConsoleThread) -> None:
    texts = ("<!-- to be written -->", "<br>\n\n<br>", "```\n```", "&nbsp;\u200b", "…")
    answers = console.store(
        risky(number, "unshown").model_copy(update={"answer": text}) for number, text in enumerate(texts)
    )
    client = console.client("unshown-reader")
    for answer in answers[:-1]:
        review = f"/api/reviews/{review_of(answer)}"
        for body in ({"user_action": "approve"}, {"user_action": "approve", "with_warning": True}):
            for path in ("decision", "outcome"):
                refused = client.post(f"{review}/{path}", json=body)
                assert (refused.status_code, refused.json()["fields"][0]["field"]) == (422, "user_action")
    body = {"user_action": "correct", "corrected_answer": "<!-- later -->"}
    refused = client.post(f"/api/reviews/{review_of(answers[-1])}/outcome", json=body)
    assert refused.json()["fields"][0]["field"] == "corrected_answer"
    assert (
        client.post(f"/api/reviews/{review_of(answers[-1])}/outcome", json={"user_action": "approve"}).status_code
        == 200
    )
    with logged_in(browser, console, "unshown-reader") as (page, seen):
        for answer, text, disabled in ((answers[0], "to be written", True), (answers[-1], "…", False)):
            page.goto(f"/review/{review_of(answer)}")
            expect(page.locator("#answer-view")).to_contain_text(text)
            button = page.locator('[data-action="approve"]')
            assert (button.get_attribute("aria-disabled") == "true") == disabled
        page.goto(f"/review/{review_of(answers[0])}")
        expect(page.locator("#answer-view")).to_contain_text(texts[0].strip("<!->").strip())
        page.keyboard.press("a")
        expect(page.locator("#status")).to_contain_text("write a correction, or reject the answer")
        assert serious_violations(page) == []
        assert seen.complaints == []
