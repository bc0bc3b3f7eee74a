"""A search finds words with accents by their letters without them, and the other way round, and marks what it found."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, expect

from schemas.answers import GeneratedAnswer
from tests.console.test_audit_records import plain
from tests.console.test_search import turn
from tests.harness.browser import logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held
from tests.harness.reviews import store_decision
from workers.decision.release_events import review_request

TENANT = "Régie-accents"
TEXTS = {
    "french": "Le délai de préavis du café est d’un mois, l’œuvre coûte 10 000 euros.",
    "german": "Die Straße in Zürich wird am großen Übergang gesperrt.",
    "composed": "Re\u0301sume\u0301 of the cafe\u0301 in Sa\u0303o Paulo.",
    "polish": "Łódź leży blisko Warszawy, pięć kilometrów.",
    "nordic": "Ærø and Øresund lie south of Malmö.",
    "turkish": "İstanbul'da ılık bir sabah, Iğdır.",
    "greek": "Ο λόγος της Ελλάδας.",
    "russian": "Ёлка стоит у края.",
    "arabic": "كَتَبَ أحمد الرسالة.",
    "hebrew": "שָׁלוֹם לכם.",
    "japanese": "ガラスの窓。",
    "plain": "The cafe in Zurich, a resume of Lodz and of Sao Paulo.",
}


@pytest.fixture(scope="module")
def texts(console: ConsoleThread) -> None:
    console.store(text_turn(name, text) for name, text in TEXTS.items())


def text_turn(name: str, text: str) -> GeneratedAnswer:
    values = {"answer_id": f"accents-{name}", "query": "?", "answer": text, "contexts": []}
    return turn(1, TENANT).model_copy(
        update=values | {"model": turn(1).model.model_copy(update={"id": f"modèle-{name}"})}
    )


def names(console: ConsoleThread, **params: str) -> set[str]:
    found = console.client().get("/api/answers", params=params | {"limit": "100"}).raise_for_status().json()["items"]
    return {item["answer_id"].removeprefix("accents-") for item in found}


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("cafe", {"french", "composed", "plain"}),
        ("CAFÉ", {"french", "composed", "plain"}),
        ("Cafe\u0301", {"french", "composed", "plain"}),
        ("Zurich", {"german", "plain"}),
        ("zürich", {"german", "plain"}),
        ("resume sao", {"composed", "plain"}),
        ('"delai de preavis"', {"french"}),
        ('"preavis de delai"', set()),
        ("d'un", {"french"}),
        ('"10 000"', {"french"}),
        ("oeuvre coute", {"french"}),
        ("strasse ubergang GROSSEN", {"german"}),
        ("lodz", {"polish", "plain"}),
        ("piec kilometrow lezy", {"polish"}),
        ("oresund malmo aero", {"nordic"}),
        ("istanbul ilik igdir", {"turkish"}),
        ("ΛΟΓΟΣ ελλαδας", {"greek"}),
        ("елка", {"russian"}),
        ("كتب احمد", {"arabic"}),
        ("שלום", {"hebrew"}),
        ("ガラス", {"japanese"}),
        ("カラス", set()),
        ("cafa", set()),
        ("zuerich", set()),
        ("\u0301", set()),
        ('"', set()),
    ],
)
def test_words_are_found_with_and_without_accents(
    console: ConsoleThread, texts: None, words: str, found: set[str]
) -> None:
    assert names(console, tenant=TENANT, q=words) == found


def test_parts_of_names_are_found_without_accents(console: ConsoleThread, texts: None) -> None:
    assert names(console, tenant_part="regie-ACC", model_part="modele-g") == {"german", "greek"}
    assert names(console, tenant_part="RÉGIE-acc", model_part="modèle-g") == {"german", "greek"}
    assert names(console, tenant_part="regie-acc", model_part="modale-g") == set()


def test_words_of_a_correction_and_of_the_audit_are_found_without_accents(console: ConsoleThread) -> None:
    tenant = "corrected-delays"
    first, _ = held(console, tenant, 2)
    request = review_request(first, first.enriched_at, deadline_hours=24)
    assert request is not None
    said = {"action": "correct", "corrected_answer": "Le délai est de deux mois [1]."}
    console.call(store_decision(console.resources.analytics, request, **said))
    assert names(console, tenant=tenant, q="delai") == {first.answer_id}
    assert names(console, tenant=tenant, q="delais") == set()
    released = plain("released-delays").model_copy(update={"tenant": tenant, "query": "Où est le café ?"})
    console.store([released])
    client = console.client("admin")
    for words, answers in (
        ("delai", {first.answer_id}), ("OU cafe", {released.answer_id}), ("cafes", set()), ('"', set()), ("\u0301", set()),
    ):  # fmt: skip
        listed = client.get("/api/audit/decisions", params={"tenant": tenant, "q": words}).raise_for_status().json()
        assert {row["answer_id"] for row in listed["items"]} == answers, words


@needs_browser
def test_found_words_are_marked_as_the_text_writes_them(browser: Browser, console: ConsoleThread, texts: None) -> None:
    with logged_in(browser, console) as (page, seen):
        for words, marked in (
            ('cafe "de preavis" fur', []),
            ('CAFE "de preavis"', ["de préavis", "café"]),
            ("cafe resume", ["cafe", "resume", "Re\u0301sume\u0301", "cafe\u0301"]),
        ):
            page.goto("/search?" + urlencode({"tenant": TENANT, "q": words}))
            expect(page.locator(".results mark")).to_have_text(marked)
            assert serious_violations(page) == []
        page.goto("/search?" + urlencode({"tenant": TENANT}))
        expect(page.locator(".results li")).to_have_count(len(TEXTS))
        expect(page.locator(".results mark")).to_have_count(0)
        assert seen.complaints == []
