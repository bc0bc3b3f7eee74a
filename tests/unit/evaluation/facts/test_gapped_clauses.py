"""A later clause gets the verb that it leaves out, and only where it leaves one out."""

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.errors import BudgetExceeded
from workers.evaluation.budget import Budget, spending
from workers.evaluation.facts.forms.gapped_clauses import restore_gapped

RESTORED = [
    ("The filter is changed monthly, the lamp yearly.", "The filter is changed monthly, the lamp is changed yearly."),
    (
        "In the new film Mara Lind plays the queen and Otto Reis the king.",
        "In the new film Mara Lind plays the queen and Otto Reis plays the king.",
    ),
    (
        "The museum shows paintings on the first floor and coins on the second.",
        "The museum shows paintings on the first floor and shows coins on the second floor.",
    ),
    (
        "The short tour takes an hour, the long one half a day.",
        "The short tour takes an hour, the long tour takes half a day.",
    ),
    (
        "A red lamp means that the tank is empty, a blue one that it is full.",
        "A red lamp means that the tank is empty, a blue lamp means that it is full.",
    ),
    (
        "Lions live in Africa, tigers in Asia and wolves in Europe.",
        "Lions live in Africa, tigers live in Asia and wolves live in Europe.",
    ),
    ("Ann ordered tea and Ben coffee.", "Ann ordered tea and Ben ordered coffee."),
    ("Mr Hall teaches physics and Ms Cole chemistry.", "Mr Hall teaches physics and Ms Cole teaches chemistry."),
    ("The soup contains beans, the salad nuts.", "The soup contains beans, the salad contains nuts."),
    (
        "Visitors come from Spain in May and from Italy in June.",
        "Visitors come from Spain in May and come from Italy in June.",
    ),
    (
        "She lives with her mother in Rome and her father in Oslo.",
        "She lives with her mother in Rome and lives with her father in Oslo.",
    ),
    (
        "Wash the wool in cold water and the cotton in hot water.",
        "Wash the wool in cold water and wash the cotton in hot water.",
    ),
    (
        "Maria was born in Lisbon and her brother in Porto.",
        "Maria was born in Lisbon and her brother was born in Porto.",
    ),
]
WHOLE = [
    "The fee includes the lunch, the guide and the bus.",
    "The teacher spoke with the girl in red and the boy in blue.",
    "We met the head of the school and the mayor of the town.",
    "The council approved the plan for the park and the budget for the school.",
    "Ann ordered tea and Ben left.",
    "The city hosted the Olympics in 1988 and the World Cup in 2002.",
    "The men won gold in Paris and the women silver in Tokyo.",
    "Bo Lee became the second man to work weekdays and Sunday mornings.",
    "He studied in Aurora, the largest town in the region.",
    "The library stands in Aurora, the largest town in the region.",
    "She works in a clinic, a house in the woods.",
    "The group includes Big Brother alums, Survivor legends, and people from Bachelor Nation.",
    "The judge gave this sentence, including one year for a crime and the jury for another.",
    "The road goes to the bridge, the only one in the valley.",
    "She works at a clinic, a house in the woods.",
    "The lamp is red in the hall and it is blue in the loft.",
    "The report was finished in May, later in June it was printed.",
]
COMPARED = [  # question, source, wrong and right statement
    (
        "How often is the lamp changed?",
        "The filter is changed monthly, the lamp yearly.",
        "The lamp is changed monthly.",
        "The lamp is changed every year.",
    ),
    (
        "What is on the second floor?",
        "The museum shows paintings on the first floor and coins on the second.",
        "Paintings are on the second floor.",
        "The coins are on the second floor.",
    ),
    (
        "What does the lamp show?",
        "A red lamp means that the tank is empty, a blue one that it is full.",
        "A blue lamp means that the tank is empty.",
        "A blue lamp shows that the tank is full.",
    ),
    (
        "How is it heated?",
        "The hall is heated with gas, the tower with wood.",
        "The tower is heated with gas.",
        "The tower is heated with wood.",
    ),
    (
        "Where is it stored?",
        "Milk is kept in the cold room and flour in the loft.",
        "Flour is kept in the cold room.",
        "Flour is kept in the loft.",
    ),
    (
        "What did they study?",
        "Lena studied law and Jonas medicine.",
        "Jonas studied law.",
        "Jonas studied medicine.",
    ),
    (
        "What does the soup contain?",
        "The soup contains beans, the salad nuts.",
        "The soup contains nuts.",
        "The salad contains nuts.",
    ),
    (
        "Who teaches what?",
        "Mr Hall teaches physics and Ms Cole chemistry.",
        "Ms Cole teaches physics.",
        "Mr Hall teaches physics and Ms Cole chemistry.",
    ),
]


@pytest.mark.parametrize(("text", "whole"), RESTORED)
def test_a_clause_gets_the_verb_of_the_clause_before(text: str, whole: str) -> None:
    assert restore_gapped(text) == whole
    assert restore_gapped(whole) == whole


@pytest.mark.parametrize("text", WHOLE)
def test_lists_appositions_and_whole_clauses_stay_as_they_are(text: str) -> None:
    assert restore_gapped(text) == text


@pytest.mark.parametrize(("question", "source", "wrong", "right"), COMPARED)
def test_clauses_without_a_verb_are_compared_by_their_subject(
    question: str, source: str, wrong: str, right: str
) -> None:
    assert verdicts_on(question, source, wrong) <= {"contradicted", "unsupported"}
    assert verdicts_on(question, source, right) == {"supported"}


def test_clauses_with_a_verb_of_a_known_form_are_not_parsed() -> None:
    with spending(budget := Budget()):
        restore_gapped("The pump was started in May and tests were made in June.")
    assert budget.spent == 0


def test_parses_are_counted_the_same_whether_or_not_they_are_kept() -> None:
    text = "Cows graze on the plain and goats on the hill."
    budgets = Budget(), Budget()
    for budget in budgets:
        with spending(budget):
            restore_gapped(text)
    assert budgets[0].spent == budgets[1].spent > len(text)
    with spending(Budget(limit=1)), pytest.raises(BudgetExceeded):
        restore_gapped(text)
