"""Check items that a claim adds to a list of its evidence."""

import pytest

from workers.evaluation.clauses.kinds.added_items import adds_item
from workers.evaluation.clauses.kinds.opening_days import is_day_right
from workers.evaluation.text.words import content_words

SYSTEMS = ["The client runs on Windows and macOS.", "Updates are installed at start."]


def _adds(claim: str, sentences: list[str]) -> bool:
    return adds_item(claim, sentences, [content_words(each) for each in sentences])


@pytest.mark.parametrize(
    ("claim", "sentences"),
    [
        ("The client runs on Windows, macOS and Linux.", SYSTEMS),
        ("The client runs on Windows, Linux, and macOS.", SYSTEMS),
        ("Visa, Mastercard and American Express are accepted.", ["We accept Visa and Mastercard."]),
        ("Teachers, librarians and parents have access.", ["Teachers and librarians have access to the archive."]),
        ("The kit holds a rope, a torch, a whistle and a blanket.", ["The kit holds a rope, a torch and a whistle."]),
    ],
)
def test_an_item_that_no_source_has_is_added(claim: str, sentences: list[str]) -> None:
    assert _adds(claim, sentences)


@pytest.mark.parametrize(
    ("claim", "sentences"),
    [
        ("The client runs on Windows and macOS.", SYSTEMS),
        ("The client runs on Windows, macOS and other systems.", SYSTEMS),
        ("The client runs on Windows, macOS and Linux.", [*SYSTEMS, "A beta for Linux exists."]),
        ("The staff were friendly, helpful and kind.", ["The staff were friendly and helpful."]),
        ("It was washed, peeled and chopped.", ["It was washed and peeled."]),
        ("The client, which is free, runs on Windows and macOS.", SYSTEMS),
    ],
)
def test_lists_of_the_sources_and_other_words_are_kept(claim: str, sentences: list[str]) -> None:
    assert not _adds(claim, sentences)


MOREAU = ["Dr. Moreau sees patients from Monday to Thursday.", "There is no surgery on Fridays."]


@pytest.mark.parametrize(
    ("claim", "sentences", "expected"),
    [
        ("You can see Dr. Moreau on Fridays as well.", MOREAU, False),
        ("You can see Dr. Moreau on Tuesdays.", MOREAU, True),
        ("The shuttle leaves every Saturday.", ["The shuttle runs on weekdays only."], False),
        ("On Mondays the museum is open.", ["The museum is open daily.", "The museum is closed on Mondays."], False),
        ("The museum was open last Monday.", ["The museum is closed on Mondays."], None),
        ("The jury met on Monday.", ["The jury met on Tuesday."], None),
    ],
)
def test_statements_on_days_of_a_schedule(claim: str, sentences: list[str], expected: bool | None) -> None:
    assert is_day_right(claim, sentences) is expected
