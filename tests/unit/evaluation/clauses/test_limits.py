"""Yes and no where a figure decides: limits and bounds."""

import pytest

from workers.evaluation.clauses.kinds.limits import answer_by_figure
from workers.evaluation.facts.text_details import read_details

SHELF = ["The wall shelf bears loads of up to 25 kg when fixed to brick.", "The corner shelf bears only 12 kg."]
UPLOADS = ["Photos may not exceed 5 MB; videos may be up to 50 MB."]


@pytest.mark.parametrize(
    ("question", "evidence", "answer"),
    [
        ("Can the wall shelf hold a 20 kg aquarium on a brick wall?", SHELF, True),
        ("Can the wall shelf hold a 30 kg aquarium?", SHELF, False),
        ("Is a 14-year-old allowed on the wall?", ["The climbing wall is open to anyone aged 12 or over."], True),
        ("Is a ten-year-old allowed on the wall?", ["The climbing wall is open to anyone aged 12 or over."], False),
        ("May a nine-year-old swim alone?", ["Children under 10 may not swim alone."], False),
        ("May a 12-year-old swim alone?", ["Children under 10 may not swim alone."], True),
        ("May a child of 1.35 m use the slide?", ["Riders of the slide must be at least 140 cm tall."], False),
        ("Can ten people ride in the lift?", ["The lift carries at most eight passengers."], False),
        ("Can the lift take 500 kg?", ["The lift carries up to 8 people or 600 kg."], True),
        ("Can the lift take 700 kg?", ["The lift carries up to 8 people or 600 kg."], False),
        ("Can I upload a 4 MB photo?", UPLOADS, True),
        ("Can I upload a 12 MB photo?", UPLOADS, False),
        ("Can I upload a 12 MB video?", UPLOADS, True),
        ("Is a 25 kg bag charged extra?", ["Bags heavier than 23 kg are charged extra."], True),
        ("Does the hall seat at least 400 people?", ["The hall seats 450 people."], True),
        ("Does the hall seat at least 500 people?", ["The hall seats 450 people."], False),
    ],
)
def test_the_figure_of_the_evidence_answers(question: str, evidence: list[str], answer: bool) -> None:
    assert answer_by_figure(question, evidence) is answer


@pytest.mark.parametrize(
    ("question", "evidence"),
    [
        ("Is a 20 kg bag free?", ["Bags heavier than 23 kg are charged extra."]),
        ("Can the shelf hold 20 kg?", ["The shelf is made of oak and weighs 8 kg."]),
        ("Can the shelf hold 20 kg?", ["Shelf A holds up to 15 kg.", "Shelf B holds up to 25 kg."]),
        ("Which shelf can hold 20 kg?", SHELF),
        ("Is the pass valid in 2026?", ["The pass costs 20 euros until 2025."]),
    ],
)
def test_without_a_single_limit_or_figure_there_is_no_answer(question: str, evidence: list[str]) -> None:
    assert answer_by_figure(question, evidence) is None


def test_the_verb_after_a_figure_is_no_month() -> None:
    """ "Children under 10 may not" has no date; "10 may at noon" and "10 May" have."""
    assert not read_details("Children under 10 may not swim alone.").dates
    assert read_details("It opens on 10 may at noon.").dates
    assert read_details("It opens on 10 May and stays open.").dates


@pytest.mark.parametrize(
    ("question", "answer"), [("Can a ſix-year-old join?", True), ("Can a fıve-year-old join?", False)]
)
def test_an_age_with_look_alikes_of_letters_is_read(question: str, answer: bool) -> None:
    assert answer_by_figure(question, ["Children of 6 years or older may join."]) is answer
