"""Frequencies are compared with the evidence, in words and in figures."""

from collections.abc import Sequence

import pytest

from tests.harness.whole_answers import is_warned_of
from workers.evaluation.clauses.kinds.frequencies import is_frequency_right, without_frequency
from workers.evaluation.clauses.kinds.limits import answer_by_figure

INTEREST = ["Interest is calculated daily and paid at the end of each quarter."]
BIN = ["The bin is emptied every second Monday."]
FILTER = ["Rinse the filter once a week; descale the tank every second month."]
DOSE = ["Take the drops three times a day."]


@pytest.mark.parametrize(
    ("statement", "sentences", "expected"),
    [
        ("Interest is paid quarterly.", INTEREST, True),
        ("Is interest paid monthly?", INTEREST, False),
        ("Interest is calculated every day.", INTEREST, True),
        ("Interest is calculated weekly.", INTEREST, False),
        ("The bin is emptied every two weeks.", BIN, True),
        ("The bin is emptied fortnightly.", BIN, True),
        ("The bin is emptied weekly.", BIN, False),
        ("The filter is rinsed weekly.", FILTER, True),
        ("The filter is rinsed every second month.", FILTER, False),
        ("Descale the tank every 2 months.", FILTER, True),
        ("Descale the tank once a month.", FILTER, False),
        ("Take the drops every eight hours.", DOSE, True),
        ("Take the drops twice a day.", DOSE, False),
        # No frequency, another matter, and evidence that tells none.
        ("Interest is paid.", INTEREST, None),
        ("Salaries are reviewed monthly.", INTEREST, None),
        ("Interest is paid monthly.", ["Interest is paid by transfer."], None),
        ("", INTEREST, None),
    ],
)
def test_a_frequency_is_compared_with_that_of_its_matter(
    statement: str, sentences: Sequence[str], expected: bool | None
) -> None:
    assert is_frequency_right(statement, sentences) is expected


def test_a_statement_of_nothing_else_takes_its_matter_from_the_question() -> None:
    assert is_frequency_right("Every two weeks.", BIN, "How often is the bin emptied?") is True
    assert is_frequency_right("Every week.", BIN, "How often is the bin emptied?") is False
    assert without_frequency("paid every second month, twice a day") == "paid  ,  "


def test_a_figure_of_the_year_before_does_not_answer() -> None:
    revenue = ["Revenue came to 9.4 million euros, after 10.2 million the year before."]
    assert answer_by_figure("Was revenue more than 10 million euros?", revenue) is False
    assert answer_by_figure("Was revenue more than 9 million euros?", revenue) is True


@pytest.mark.parametrize(
    ("question", "sentences", "right", "wrong"),
    [
        ("Is the interest paid monthly?", INTEREST, "No, it is paid quarterly.", "Yes, it is paid monthly."),
        ("Is the bin emptied every week?", BIN, "No, every two weeks.", "Yes, every week."),
        ("How often is the filter rinsed?", FILTER, "Once a week.", "Every second month."),
        ("How often is the filter rinsed?", FILTER, "The filter is rinsed weekly.", "The filter is rinsed daily."),
    ],
)
def test_the_pipeline_warns_of_the_wrong_frequency_alone(
    question: str, sentences: Sequence[str], right: str, wrong: str
) -> None:
    context = " ".join(sentences)
    assert is_warned_of(wrong, question, context)
    assert not is_warned_of(right, question, context)


@pytest.mark.parametrize(
    ("statement", "evidence", "is_right"),
    [
        ("The bin is emptied every nıght.", "The bin is emptied every night.", True),
        ("The bin is emptied every nıght.", "The bin is emptied every week.", False),
        ("The pump is serviced fortnıghtly.", "The pump is serviced fortnightly.", True),
        ("The pump is serviced ſix times a year.", "The pump is serviced six times a year.", True),
        ("The pump is serviced fıve times a year.", "The pump is serviced six times a year.", False),
    ],
)
def test_look_alikes_of_letters_are_read(statement: str, evidence: str, is_right: bool) -> None:
    assert is_frequency_right(statement, [evidence]) is is_right
