"""Check verdicts on everyday answers: a right one in other words than its source beside a wrong twin."""

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.text.languages.local_forms import local_forms

BRIDGE = "Construction of the bridge began in 1994, and it was inaugurated by the minister in June 1998."
SIGNING = (
    "Purchases up to $500 may be made with the team card. Department heads approve purchases up to $5,000."
    " Anything above that amount needs the signature of the CFO and of nobody else."
)
TOWNS = "| Town | Area (km²) | Population |\n|---|---|---|\n| Brenwick | 84 | 12,400 |\n| Oldmere | 47 | 31,900 |"
MERGER = "The authority examined the merger for five months. In March it rejected the plan."
VENN = (
    "Clara Venn was born in Lund. She was taught by the painter Otto Brandt and later instructed the young Maria Feld."
)
POLICY = (
    "The policy covers fire and burst pipes. Flooding from rivers is excluded unless the module Nature has been bought."
)
CASES = [
    ("When was the bridge opened?", BRIDGE, "It opened in 1998.", "It opened in 1994."),
    ("Who signs?", SIGNING, "Only the CFO can approve purchases above $5,000.", "Department heads approve purchases above $5,000."),
    ("Which town has more inhabitants?", TOWNS, "Oldmere has more inhabitants.", "Brenwick has more inhabitants."),
    ("Was the merger approved?", MERGER, "No, the authority rejected it.", "Yes, the authority cleared it in March."),
    ("Who was her teacher?", VENN, "Clara Venn learned from the painter Otto Brandt.", "Clara Venn learned from Maria Feld."),
]  # fmt: skip


@pytest.mark.parametrize(("question", "context", "right", "wrong"), CASES)
def test_a_right_answer_is_supported_and_its_twin_is_not(question: str, context: str, right: str, wrong: str) -> None:
    assert verdicts_on(question, context, right) == {"supported"}
    assert verdicts_on(question, context, wrong) & {"contradicted", "unsupported"}


def test_covered_only_with_the_module_is_no_contradiction_to_excluded_unless() -> None:
    assert "contradicted" not in verdicts_on(
        "", POLICY, "River flooding is only covered if you bought the Nature module."
    )
    assert "contradicted" in verdicts_on("", POLICY, "Flooding from rivers is covered.")


def test_what_closed_later_has_opened() -> None:
    shop = "The shop opened in 1990. It ceased trading in 2004."
    assert "contradicted" not in verdicts_on("Did the shop close?", shop, "Yes, it ceased trading in 2004.")


def test_the_first_hour_of_a_range_is_a_time_of_day() -> None:
    assert "10:00 bis 18:00" in local_forms("Das Museum ist von 10 bis 18 Uhr geöffnet.", "de")
    assert "9:00 à 17:30" in local_forms("Le musée est ouvert de 9 à 17h30.", "fr")
    assert "10 bis 18 Personen" in local_forms("Der Raum fasst 10 bis 18 Personen.", "de")


SHIPPING = "Orders over 100 euros ship for free. Smaller orders cost 6 euros."
SALES = (
    "In 2015 sales were 10 million, in 2016 sales were 12 million, in 2017 sales were 14 million, in 2018 sales were 17 million,"
    " in 2019 sales were 19 million."
)
LINES = "The red line runs every ten minutes, the blue one every fifteen."


@pytest.mark.parametrize(
    ("question", "context", "claim"),
    [
        ("What does shipping cost for an order of 120 euros?", SHIPPING, "Shipping is free for an order of 120 euros."),
        ("Who signs an order of 300 euros?", "The lead signs orders below 500 euros.", "The lead signs an order of 300 euros."),
    ],
)  # fmt: skip
def test_a_figure_of_the_question_contradicts_nothing(question: str, context: str, claim: str) -> None:
    assert "contradicted" not in verdicts_on(question, context, claim)


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("How often does the blue line run?", LINES, "The blue line runs every fifteen minutes.", "The blue line runs every ten minutes."),
        ("How long is the second part?", "The first part takes 40 minutes, the second 25.", "The second part takes 25 minutes.", "The second part takes 40 minutes."),
        ("How tall is Ben?", "Anna is 160 cm tall, Ben 175.", "Ben is 175 cm tall.", "Ben is 160 cm tall."),
        ("How many days of vacation do part-timers get?", "Full-timers get 30 days of vacation, part-timers 18.", "Part-timers get 18 days of vacation.", "Part-timers get 30 days of vacation."),
        ("How long is the second part?", "The first part takes 40 minutes. The second takes 25.", "The second part takes 25 minutes.", "The second part takes 40 minutes."),
        ("Wie lange dauert der zweite Teil?", "Der erste Teil dauert 40 Minuten, der zweite 25.", "Der zweite Teil dauert 25 Minuten.", "Der zweite Teil dauert 40 Minuten."),
        ("How much was raised in May?", "In April the club raised 400 euros and in May 650 euros.", "In May the club raised 650 euros.", "In May the club raised 400 euros."),
        ("How much was raised in June?", "The club raised 400 euros in April. In June it raised 650 euros.", "In June the club raised 650 euros.", "In June the club raised 400 euros."),
        ("How much was raised in 2021?", "In 2020 the club raised 400 euros and in 2021 650 euros.", "In 2021 the club raised 650 euros.", "In 2021 the club raised 400 euros."),
        ("How many people lived there in 1950?", "In 1900 the town had 4,000 inhabitants, in 1950 9,500.", "In 1950 the town had 9,500 inhabitants.", "In 1950 the town had 4,000 inhabitants."),
        ("Was kostet es im Mai?", "Im April kostet die Fahrt 40 Euro, im Mai 65.", "Im Mai kostet die Fahrt 65 Euro.", "Im Mai kostet die Fahrt 40 Euro."),
        ("Where does Will live?", "Anna lives in Rome and Will lives in Milan.", "Will lives in Milan.", "Will lives in Rome."),
        ("What were sales in 2016?", SALES, "In 2016 sales were 12 million.", "In 2016 sales were 10 million."),
    ],
)  # fmt: skip
def test_a_value_belongs_to_its_own_clause(question: str, context: str, right: str, wrong: str) -> None:
    """The clause may leave out its noun or unit, or begin with its month or year."""
    assert verdicts_on(question, context, right) == {"supported"}
    assert verdicts_on(question, context, wrong) == {"contradicted"}


@pytest.mark.parametrize(
    ("question", "context", "claim"),
    [
        ("Why does the pump weigh 12 kg?", "The pump weighs 15 kg, since it is made of steel.", "The pump weighs 12 kg since it is made of steel."),
        ("Is the tower 300 m high?", "The tower is 250 m high.", "The tower is 300 m high."),
        ("How long is the second part?", "The first part takes 40 minutes, the second 25 minutes.", "The second part takes 35 minutes."),
    ],
)  # fmt: skip
def test_a_figure_of_the_question_that_the_evidence_has_otherwise_is_noticed(
    question: str, context: str, claim: str
) -> None:
    assert verdicts_on(question, context, claim) & {"contradicted", "unsupported"}


@pytest.mark.parametrize(
    ("question", "context", "claim"),
    [
        ("What do I need?", "Use 300 g of flour and 150 g of sugar.", "Use 150 g of sugar."),
        ("Was kostet die Fahrt?", "Die Fahrt kostet im Mai 65 Euro.", "Im Mai kostet die Fahrt 65 Euro."),
    ],
)
def test_a_capital_before_a_figure_with_its_unit_is_no_series(question: str, context: str, claim: str) -> None:
    assert verdicts_on(question, context, claim) == {"supported"}


def test_abstaining_is_neither_vote() -> None:
    bill = "The senator abstained in the vote on the bill."
    assert verdicts_on("Did the senator vote for the bill?", bill, "No, the senator abstained.") == {"supported"}
    for side in ("for", "against"):
        wrong = f"Yes, the senator voted {side} the bill."
        assert verdicts_on(f"Did the senator vote {side} the bill?", bill, wrong) == {"contradicted"}


def test_a_figure_of_the_question_is_left_out_as_a_whole_number() -> None:
    groups = "Groups of up to 10 people need 3 people to help."
    question = "How many people does a group of 5 people need?"
    assert verdicts_on(question, groups, "A group of 5 people needs 15 people.") == {"contradicted"}
