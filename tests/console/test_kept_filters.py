"""A link to one request keeps the filters of the reviewer: the way back, and the requests behind it, are those of the filters."""

from playwright.sync_api import Browser, expect

from schemas.answers import ModelReference
from tests.harness.browser import logged_in, needs_browser, shown
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import review_of, risky


@needs_browser
def test_the_address_of_one_request_resets_no_filters(browser: Browser, console: ConsoleThread) -> None:
    others, wanted, more = console.store(
        risky(number, "kept-filters").model_copy(update={"model": ModelReference(id=name)})
        for number, name in enumerate(("other", "wanted", "wanted"))
    )
    with logged_in(browser, console, "filter-keeper") as (page, seen):
        page.goto("/queue?model=wanted")
        page.goto(f"/review/{review_of(others)}")
        expect(page.locator("#question")).to_contain_text("ingester 0")
        for link in (page.locator("#backlog a"), page.get_by_role("link", name="Queue", exact=True)):
            expect(link).to_have_attribute("href", "/queue?model=wanted")
        expect(page.get_by_role("link", name="Review", exact=True)).to_have_attribute("href", "/review?model=wanted")
        expect(page.locator("#backlog")).to_contain_text("2 open of the filters")
        page.keyboard.press("s")
        expect(page.locator("#question")).not_to_contain_text("ingester 0")
        assert shown(page) in {review_of(wanted), review_of(more)}
        assert page.url.endswith(f"/review/{shown(page)}?model=wanted")
        # Filters that are given up stay given up, also in the link to the list.
        page.locator("details.queue-filters summary").click()
        page.locator("#model").select_option("")
        page.locator("#queue-filters").get_by_role("button", name="Apply").click()
        expect(page.locator("#backlog a")).to_have_attribute("href", "/queue")
        page.goto(f"/review/{review_of(others)}")
        expect(page.locator("#backlog a")).to_have_attribute("href", "/queue")
        assert seen.complaints == []


def test_open_requests_are_found_by_words_of_question_and_answer(console: ConsoleThread) -> None:
    sized, dated, decided = console.store(
        risky(number, "sought-words").model_copy(update={"query": query})
        for number, query in enumerate(("Größe of the ingester?", "When does ingester 1 restart?", "Große ingester?"))
    )
    client = console.client("word-seeker")

    def found(**params: str) -> set[str]:
        page = client.get("/api/reviews", params=params).raise_for_status().json()
        names = {item["review_id"] for item in page["items"]}
        assert page["open_count"] == len(names)
        return names

    client.post(f"/api/reviews/{review_of(decided)}/decision", json={"user_action": "reject"}).raise_for_status()
    assert found(q="grosse") == {review_of(sized)}
    assert found(q="INGESTER 16 restarts") == {review_of(sized), review_of(dated)}
    assert found(q='"ingester 1 restart"') == {review_of(dated)}
    assert found(q="submarine") == set()
    assert found(q="  ") == found()
    given = client.post("/api/reviews/next", json={"q": '"ingester 1 restart"'}).raise_for_status().json()
    assert given["review_id"] == review_of(dated)
    client.post(f"/api/reviews/{given['review_id']}/unlock").raise_for_status()
    refused = client.get("/api/reviews", params={"q": "memory", "state": "decided"})
    assert (refused.status_code, "q is valid only for the state open" in refused.text) == (422, True)
    # A page has the field for open requests alone.
    page = client.get("/queue?q=memory&state=decided", headers={"Accept": "text/html"}).raise_for_status().text
    assert 'name="q"' not in page


@needs_browser
def test_words_stay_in_the_address_like_other_filters(browser: Browser, console: ConsoleThread) -> None:
    with logged_in(browser, console, "word-seeker") as (page, seen):
        page.goto("/queue")
        page.get_by_label("Words of question or answer").fill("größe")
        page.get_by_role("button", name="Apply").click()
        expect(page.locator("[data-row]")).to_have_count(1)
        page.get_by_role("link", name="Review one after the other").click()
        expect(page.locator("#question")).to_contain_text("Größe of the ingester?")
        assert page.url.endswith("?q=gr%C3%B6%C3%9Fe")
        expect(page.locator("#backlog")).to_contain_text("1 open of the filters")
        assert seen.complaints == []
