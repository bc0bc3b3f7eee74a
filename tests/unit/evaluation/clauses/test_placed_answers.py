"""A short answer is compared with the part of the evidence that its question asks about."""

from collections.abc import Sequence

import pytest

from tests.harness.whole_answers import is_warned_of
from workers.evaluation.clauses.placed_answers import is_answer_placed

BUS = ["The last bus leaves at 23:40 on weekdays and at 21:10 on Sundays and holidays."]
SALES = ["Sales rose by 4 % in the first quarter and fell by 2 % in the second."]
DOG = ["The dog belongs to Mr Hale and was trained by Ms Orr."]
LIMIT = [
    "Team leads approve expenses up to 5,000 dollars.",
    "Anything above must be signed off by the finance director.",
]
STAIRS = ["Tenants clean the stairs once a week.", "The landlord is responsible for the garden and the roof."]
RAIN = ["March brought 31 mm of rain and April 78 mm."]
MAYOR = ["Olga Brandt joined the council in 1999.", "Six years later, in 2005, she became mayor."]
FOUNDER = ["Zeta was founded by Omar Haddad in Beirut.", "Its present head, Lena Wirth, joined in 2011."]
CAR_PARK = [
    "Visitors park in the multi-storey garage.",
    "The staff car park is reserved for employees with a blue badge.",
]
DEPARTURE = [
    "Boarding closes 20 minutes before departure for domestic flights"
    " and 45 minutes before departure for long-haul flights."
]
CASES = [
    ("When does the last bus leave on Sundays?", BUS, "At 21:10.", "At 23:40."),
    ("When does the last bus leave on weekdays?", BUS, "At 23:40.", "At 21:10."),
    ("How did sales develop in the second quarter?", SALES, "They fell by 2 %.", "They rose by 4 %."),
    ("Who trained the dog?", DOG, "Ms Orr.", "Mr Hale."),
    ("Who can approve expenses above 5,000 dollars?", LIMIT, "The finance director.", "Team leads."),
    ("Who is responsible for cleaning the stairs?", STAIRS, "The tenants.", "The landlord."),
    ("How much rain fell in April?", RAIN, "78 mm.", "31 mm."),
    ("When did Olga Brandt become mayor?", MAYOR, "In 2005.", "In 1999."),
    ("Who founded the company?", FOUNDER, "Omar Haddad.", "Lena Wirth."),
    ("Who is allowed to use the staff car park?", CAR_PARK, "Employees with a blue badge.", "Visitors."),
    (
        "When do I have to be at the gate for a long-haul flight?",
        DEPARTURE,
        "45 minutes before departure.",
        "20 minutes before departure.",
    ),
    (
        "Which pass do I need for the gym?",
        ["The blue pass opens the pool and the sauna.", "For the gym you need the green pass."],
        "The green pass.",
        "The blue pass.",
    ),
    (
        "Which sensor measures humidity?",
        ["Sensor T1 measures temperature and sensor H1 humidity."],
        "Sensor H1.",
        "Sensor T1.",
    ),
    (
        "How much water does the plant need in winter?",
        ["In summer the plant needs half a litre of water a day, in winter only half a litre a week."],
        "Half a litre a week.",
        "Half a litre a day.",
    ),
]


@pytest.mark.parametrize(("question", "sentences", "right", "wrong"), CASES)
def test_the_part_with_more_of_the_question_has_its_answer(
    question: str, sentences: Sequence[str], right: str, wrong: str
) -> None:
    assert is_answer_placed(question, wrong, sentences) is False
    assert is_answer_placed(question, right, sentences) is True


@pytest.mark.parametrize(
    ("question", "sentences", "answer"),
    [
        # A label is the name of all parts of its line.
        ("Which server has the most memory?", ["web-1: 4 cores, 8 GB memory.", "db-1: 8 cores, 64 GB memory."], "db-1"),
        # Nothing tells the parts apart.
        ("Who owns the dog?", DOG, "Mr Hale."),
        ("Who owns the dog?", DOG, "Ms Orr."),
        # The rest of the evidence is about the question, and holds no candidate.
        (
            "Who won the race in 2019?",
            ["The 2019 race was delayed by fog.", "Petra Sand came in first."],
            "Petra Sand.",
        ),
        # A statement that needs no question, a question for yes or no, and a value that is there alone.
        ("When does the last bus leave on Sundays?", BUS, "The last bus leaves the depot at 23:40 on weekdays."),
        ("Does the last bus leave at 21:10 on Sundays?", BUS, "Yes."),
        # A statement with the subject and the verb of its question.
        (
            "What does the bakery sell?",
            [
                "The bakery on Mill Street opened in May.",
                "The shop sells bread and cakes.",
                "A café next door serves coffee.",
            ],
            "The bakery sells bread and cakes.",
        ),
        (
            "What does Acme make?",
            ["Acme was founded in Graz.", "The company makes pumps for mines.", "Its rival Norex makes valves."],
            "Acme makes pumps for mines.",
        ),
        ("How long is the pool?", ["The pool is open from 10 to 12.", "It is 25 m long."], "25 m."),
        ("When does the last bus leave on Sundays?", [], "At 23:40."),
    ],
)
def test_nothing_is_said_where_the_words_do_not_tell(question: str, sentences: Sequence[str], answer: str) -> None:
    assert is_answer_placed(question, answer, sentences) is None


@pytest.mark.parametrize("between", [[], [""]])
def test_a_sentence_takes_its_subject_from_the_one_before_it_in_the_same_source(between: list[str]) -> None:
    hospital, opened = "Plans for a hospital in Marle were drawn up in 1956.", "It was opened in 1961."
    found = is_answer_placed("When was the hospital in Marle opened?", "In 1956.", [hospital, *between, opened])
    assert found is (None if between else False)


def test_a_pronoun_of_another_source_stands_for_nothing_that_the_question_names() -> None:
    question, first, other = (
        "When was the hospital in Marle opened?",
        "The hospital in Marle received its first patients in 1956.",
        "It was opened in 1961.",
    )
    assert is_warned_of("In 1956.", question, f"{first} {other}")
    assert not is_warned_of("In 1956.", question, first, other)


@pytest.mark.parametrize(("question", "sentences", "right", "wrong"), CASES)
def test_the_pipeline_warns_of_the_answer_to_another_question_alone(
    question: str, sentences: Sequence[str], right: str, wrong: str
) -> None:
    context = " ".join(sentences)
    assert is_warned_of(wrong, question, context)
    assert not is_warned_of(right, question, context)
