"""Hints say why a search found nothing, and what readers get in few words on a phone."""

import re

import pytest

from schemas.identifiers import fact_id
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held

WORDS = "All words must occur in the question, the answer or its correction."
LEAD = re.compile(r'<small id="hint-(\w+)"><span class="lead">([^<]*)</span>([^<]*)</small>')


def page_of(console: ConsoleThread, address: str) -> str:
    response = console.client().get(address, headers={"Accept": "text/html"})
    assert response.status_code == 200
    return response.text


@pytest.mark.parametrize(
    ("address", "hinted"),
    [("/search?q=nowhere-at-all", True), ("/search?tenant=nowhere-at-all", False), ("/search?tenant=hinted-words", False)],
)  # fmt: skip
def test_a_search_for_words_that_finds_nothing_says_where_they_must_occur(
    console: ConsoleThread, address: str, hinted: bool
) -> None:
    held(console, "hinted-words", 1)
    assert (WORDS in page_of(console, address)) == hinted


def test_a_hint_below_a_button_can_be_read_without_its_lead(console: ConsoleThread) -> None:
    (answer,) = held(console, "hinted-words", 1)
    shown = page_of(console, f"/review/{fact_id('hinted-words', answer.answer_id, 'review')}")
    hints = {action: (lead, words) for action, lead, words in LEAD.findall(shown)}
    assert hints == {
        "approve": ("Readers get it ", "with references"),
        "warn": ("Readers get it ", "with a warning"),
        "correct": ("Readers get ", "your text"),
        "reject": ("Readers get ", "a notice instead"),
        "skip": ("Readers get ", "nothing new"),
    }
