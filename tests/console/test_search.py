"""Search by words and parts of names, with counts and pages in both directions; earlier turns beside an answer."""

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, expect

from schemas.answers import ContextChunk, GeneratedAnswer
from tests.harness.browser import logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from workers.stores.queries.answer_queries import MAX_TEXT
from workers.stores.queries.audit_queries import MAX_QUESTION

BEGIN = datetime.now(UTC) - timedelta(hours=2)
COUNT = 7


def turn(number: int, tenant: str = "searching-north") -> GeneratedAnswer:
    return GeneratedAnswer.model_validate(
        {
            "answer_id": f"{tenant}-{number}",
            "tenant": tenant,
            "session_id": "pump-session",
            "query": f"Question {number} about the Kessel pump?",
            "answer": f"The pump of zone {number} weighs 8 kg, größer als 7 kg [1].",
            "contexts": [ContextChunk(chunk_id="c1", content="The pump weighs 8 kg.")],
            "model": {"id": "cedar-9000-instruct" if number % 2 else "cedar-9000"},
            "completed_at": BEGIN + timedelta(minutes=number),
        }
    )


@pytest.fixture(scope="session")
def turns(console: ConsoleThread) -> list[str]:
    """Seven turns of one session, the earliest first, and one of another tenant with the same session."""
    console.store([turn(number) for number in range(COUNT)] + [turn(0, "searching-south")])
    return [f"searching-north-{number}" for number in range(COUNT)]


def test_answers_without_a_risk_are_found(console: ConsoleThread) -> None:
    tenant = "risks-searched"
    unread = turn(0, tenant).model_copy(update={"contexts": []})
    heavy = turn(1, tenant).model_copy(update={"answer": "The pump weighs 9 kg [1]."})
    console.store([unread, heavy, turn(2, tenant)])
    client = console.client()
    every = client.get("/api/answers", params={"tenant": tenant}).json()["items"]
    by_risk = {each["answer_id"]: each["hallucination_risk"] or "none" for each in every}
    assert by_risk[unread.answer_id] == "none" != by_risk[heavy.answer_id]
    for risk in ("none", "low", "medium", "high"):
        found = client.get("/api/answers", params={"tenant": tenant, "risk": risk}).raise_for_status().json()["items"]
        assert {each["answer_id"] for each in found} == {name for name, of in by_risk.items() if of == risk}
        page = client.get("/search", params={"tenant": tenant, "risk": risk}, headers={"Accept": "text/html"})
        assert page.text.count('class="card"') == len(found)
        assert f'<option value="{risk}" selected>' in page.text
    assert client.get("/api/answers", params={"risk": "no"}).status_code == 422


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ("pump kessel", range(COUNT)),
        ("KESSEL größer", range(COUNT)),
        ("3 zone", [3]),
        ('"zone 3"', [3]),
        ('"3 zone"', []),
        ('pump "question 4"', [4]),
        ("pump submarine", []),
        ("searching-north-2", [2]),
        ('"', []),
        ("%", []),
    ],
)
def test_all_words_of_a_search_must_occur(
    console: ConsoleThread, turns: list[str], words: str, numbers: list[int]
) -> None:
    found = console.client().get("/api/answers", params={"q": words, "tenant": "searching-north"}).json()["items"]
    assert [item["answer_id"] for item in found] == [turns[number] for number in reversed(numbers)]


def test_states_have_the_words_of_the_decisions_beside_their_own(console: ConsoleThread) -> None:
    found = console.client().get("/search", headers={"Accept": "text/html"}).text
    for words in ("warned: shown with a warning", "replaced: corrected", "fallback: a notice, without a person"):
        assert words in found


def test_long_texts_are_cut_between_characters_of_any_script(console: ConsoleThread) -> None:
    tenant, signs = "searching-scripts", ("ж", "見", "🙂")
    long = {f"{sign}{lead}": f"{'x' * lead}{sign * 400}" for sign in signs for lead in range(len(sign.encode("utf-8")))}
    answers = [
        turn(number, tenant).model_copy(update={"answer_id": name, "query": text, "answer": text})
        for number, (name, text) in enumerate(long.items())
    ]
    console.store(answers)
    found = console.client().get("/api/answers", params={"tenant": tenant}).json()["items"]
    assert {item["answer_id"]: (item["query"], item["answer"]) for item in found} == {
        name: (text[:MAX_TEXT], text[:MAX_TEXT]) for name, text in long.items()
    }
    listed = (
        console.client("admin")
        .get("/api/audit/decisions", params={"tenant": tenant, "state": "automatic"})
        .json()["items"]
    )
    assert {item["answer_id"]: item["query"] for item in listed} == {
        name: f"{text[:MAX_QUESTION]} …" for name, text in long.items()
    }


def test_parts_of_names_find_models_and_tenants(console: ConsoleThread, turns: list[str]) -> None:
    client = console.client()

    def found(**filters: str) -> int:
        total: int = client.get("/api/answers", params=filters | {"q": "kessel", "count": "true"}).json()["total"]
        return total

    assert found(tenant_part="SEARCHING") == COUNT + 1
    assert found(tenant_part="north") == COUNT
    assert found(model_part="9000", tenant="searching-north") == COUNT
    assert found(model="cedar-9000", tenant="searching-north") == 4
    assert found(model_part="9000-ins", tenant="searching-north") == 3
    assert console.client("acme").get("/api/answers", params={"tenant_part": "searching"}).json()["items"] == []


def test_pages_lead_forth_and_back(console: ConsoleThread, turns: list[str]) -> None:
    client = console.client()
    filters = {"tenant": "searching-north", "limit": 3}
    pages = [client.get("/api/answers", params=filters).json()]
    while cursor := pages[-1]["next_cursor"]:
        pages.append(client.get("/api/answers", params=filters | {"cursor": cursor}).json())
    shown = [[item["answer_id"] for item in page["items"]] for page in pages]
    assert [each for page in shown for each in page] == turns[::-1]
    assert pages[0]["previous_cursor"] is None
    for number in (2, 1):
        back = client.get("/api/answers", params=filters | {"before": pages[number]["previous_cursor"]}).json()
        assert [item["answer_id"] for item in back["items"]] == shown[number - 1]
        assert (back["previous_cursor"] is None) == (number == 1)
        assert back["next_cursor"] == pages[number - 1]["next_cursor"]
    both = {"cursor": pages[0]["next_cursor"], "before": pages[1]["previous_cursor"]}
    assert client.get("/api/answers", params=filters | both).status_code == 422


@pytest.mark.parametrize("counted", [0, 6, 9], ids=["before", "between", "after"])
def test_the_count_agrees_with_the_page_beside_it(
    console: ConsoleThread, turns: list[str], monkeypatch: pytest.MonkeyPatch, counted: int
) -> None:
    async def of_another_moment(*_: object) -> int:
        return counted

    monkeypatch.setattr(console.resources.answers, "count", of_another_moment)
    client = console.client()
    filters = {"tenant": "searching-north", "count": "true"}
    whole = client.get("/api/answers", params=filters).json()
    assert (len(whole["items"]), whole["total"]) == (COUNT, COUNT)
    first = client.get("/api/answers", params=filters | {"limit": "4"}).json()
    assert first["total"] == max(counted, 5), "a fifth one follows"
    second = client.get("/api/answers", params=filters | {"limit": "4", "cursor": first["next_cursor"]}).json()
    assert second["total"] == max(counted, len(second["items"]))
    page = client.get("/search?tenant=searching-north", headers={"Accept": "text/html"}).text
    assert f"<strong>{COUNT}</strong> answers" in page


@needs_browser
def test_the_search_page_counts_and_pages(
    browser: Browser, console: ConsoleThread, turns: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.console.presentation.pages.PAGE_SIZE", 4)
    with logged_in(browser, console) as (page, seen):
        page.goto("/search")
        page.get_by_label("Words").fill("kessel pump")
        page.get_by_label("Tenant").fill("ing-NORTH")
        page.keyboard.press("Enter")
        expect(page.locator("#total")).to_have_text("7 answers, the latest first")
        first = page.locator(".results a").first
        expect(first).to_have_text("Question 6 about the Kessel pump?")
        page.get_by_role("link", name="Older answers").click()
        expect(first).to_have_text("Question 2 about the Kessel pump?")
        assert serious_violations(page) == []
        page.get_by_role("link", name="Newer answers").click()
        expect(first).to_have_text("Question 6 about the Kessel pump?")
        expect(page.get_by_role("link", name="Newer answers")).to_have_count(0)
        assert seen.complaints == []


@needs_browser
def test_earlier_turns_of_the_session_stand_beside_the_answer(
    browser: Browser, console: ConsoleThread, turns: list[str]
) -> None:
    with logged_in(browser, console) as (page, seen):
        page.goto(f"/answers/{turns[3]}")
        expect(page.locator(".turns .question")).to_have_text(
            [f"Question {number} about the Kessel pump?" for number in range(3)]
        )
        assert serious_violations(page) == []
        page.locator(".turns a").first.click()
        expect(page.locator("h1")).to_have_text("Question 0 about the Kessel pump?")
        expect(page.locator(".turns")).to_have_count(0)
        assert seen.complaints == []


def test_a_reviewer_sees_earlier_turns_only_with_read_rights(console: ConsoleThread) -> None:
    answers = [
        turn(number, "searching-held").model_copy(
            update={"answer": "The pump weighs 12 kg [1].", "risk_mode": "gatekeeper"}
        )
        for number in range(2)
    ]
    console.store(answers)
    items = console.client().get("/api/reviews", params={"tenant": "searching-held"}).json()["items"]
    (review,) = [item["review_id"] for item in items if item["answer_id"] == "searching-held-1"]
    page = {"Accept": "text/html"}
    assert "Question 0 about" in console.client().get(f"/review/{review}", headers=page).text
    assert "Question 0 about" not in console.client("review").get(f"/review/{review}", headers=page).text


FILLER = "This sentence is about nothing in particular. " * 30


@needs_browser
@pytest.mark.parametrize("width", [1280, 390])
def test_a_result_shows_the_passage_around_the_words_that_were_found(
    browser: Browser, console: ConsoleThread, width: int
) -> None:
    late = {
        "answer": f"{FILLER}Clean the zirconium filter with vinegar. {FILLER}",
        "query": f"{FILLER}And the zirconium filter?",
    }
    console.store([turn(1, "passages-found").model_copy(update={"contexts": [], **late})])
    with logged_in(browser, console, "passage-finder", viewport={"width": width, "height": 844}) as (page, seen):
        page.goto("/search?q=zirconium+vinegar")
        result = page.locator(".results .card")
        expect(result.locator("h2 mark.found")).to_have_text(["zirconium"])
        snippet = result.locator("p.snippet").last
        expect(snippet.locator("mark.found")).to_have_text(["zirconium", "vinegar"])
        frame = snippet.bounding_box()
        assert frame is not None
        for mark in snippet.locator("mark.found").all():
            box = mark.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= frame["y"] + frame["height"] + 1, "it is cut off"
        page.goto("/search?q=particular")
        expect(result.locator("p.snippet").last).to_contain_text("This sentence is about nothing in particular.")
        assert serious_violations(page) == []
        assert seen.complaints == []
    items = console.client().get("/api/answers", params={"q": "zirconium", "tenant": "passages-found"}).json()["items"]
    assert items[0]["answer"] == late["answer"][:MAX_TEXT]
