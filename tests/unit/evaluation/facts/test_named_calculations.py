"""A figure that follows by the calculation that claim and question name is known; any other figure is not."""

import pytest

from workers.evaluation.facts.calculation.named_calculations import has_wrong_change, named_figures
from workers.evaluation.facts.text_details import read_details


def is_given(claim: str, topic: str, *texts: str) -> bool:
    """Return true if the first figure with a unit, or the first figure, of a claim is given."""
    figures = sorted(read_details(claim).quantities, key=lambda each: (not each.is_unit, -abs(each.face)))
    return figures[0] in named_figures(claim, topic, figures[:1], [texts])


RIGHT_AND_WRONG = [
    ("It weighs about {} pounds.", "31", "41", "", ["The shell weighs 14 kg. Its length is 8.1 m."]),
    ("The dough rises at {} °C.", "25", "35", "", ["Let the dough rise at 77 °F for two hours."]),
    ("It averaged {} km/h.", "84", "94", "", ["The express covered the 210 km in two and a half hours."]),
    ("They pay {} euros in all.", "59.50", "61.50", "What do three adults and two children pay?", ["Prices: adults 14.50 euros, children under 14 8.00 euros."]),
    ("Five nights cost {} euros.", "550", "650", "", ["A double room costs 110 euros a night."]),
    ("Revenue for all of 2022 was {} million pounds.", "13.5", "14.5", "", ["Revenue 2022 in million pounds", "Q1 | 3.1", "Q2 | 2.7", "Q3 | 3.4", "Q4 | 4.3"]),
    ("On average {} people attended.", "4,400", "4,700", "", ["Match: 1; Attendance: 4,200", "Match: 2; Attendance: 3,900", "Match: 3; Attendance: 5,100"]),
    ("In 2023 the profit was €{}.", "175,000", "130,000", "", ["Revenue (k€); 2022: 910; 2023: 1,040", "Costs (k€); 2022: 780; 2023: 865"]),
    ("That is {} euros per kilo.", "30", "35", "", ["A 250 g bag of the coffee costs 7.50 euros."]),
    ("One bottle comes to {} euros.", "2.25", "2.75", "", ["A crate of twelve bottles of cider costs 27 euros."]),
    ("Visitor numbers grew by {} %.", "25", "20", "", ["In 2018 the museum had 48,000 visitors; in 2019 it had 60,000."]),
    ("The area is {} square metres.", "6,000", "5,000", "", ["The field is 120 m long and 50 m wide."]),
    ("The train has {} seats in all.", "432", "442", "", ["The train has six coaches with 72 seats each."]),
    ("In the first half of the year {} tonnes were sold.", "795", "865", "", ["Sales in tonnes 2020", "Q1 | 410", "Q2 | 385", "Q3 | 290", "Q4 | 450"]),
    ("The pass costs {} euros a year.", "540", "450", "", ["A monthly pass costs 45 euros."]),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "right", "wrong", "topic", "texts"), RIGHT_AND_WRONG)
def test_only_the_result_of_the_named_calculation_is_given(
    claim: str, right: str, wrong: str, topic: str, texts: list[str]
) -> None:
    assert is_given(claim.format(right), topic, *texts)
    assert not is_given(claim.format(wrong), topic, *texts)


def test_instances_that_are_counted_are_not_multiplied() -> None:
    texts = "The first stop lasted 25 minutes.", "The second stop lasted 35 minutes."
    assert not is_given("The two stops lasted 70 minutes in total.", "", *texts)


def test_a_percentage_is_taken_of_the_amount_beside_it_or_if_the_claim_names_it() -> None:
    report = "Scrap was 27 percent in handling.", "The line stood 9.4 hours for castings."
    assert not is_given("The replacement takes about 3 hours.", "", *report)
    assert is_given(
        "The rebate is 27 euros.", "", "The rebate for members is 30 percent.", "The course costs 90 euros."
    )


@pytest.mark.parametrize(("share", "is_wrong"), [("25", False), ("20", True)])
def test_a_rise_is_measured_from_the_lower_figure(share: str, is_wrong: bool) -> None:
    claim = f"Membership rose by {share} percent."
    text = "There were 800 members at first and 1,000 in the end."
    assert has_wrong_change(claim, read_details(claim).quantities, text) is is_wrong


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("La rénovation a coûté 3 250 000 euros.", [3_250_000.0]),
        ("El puente costó 4,5 millones de euros.", [4_500_000.0]),
        ("Output rose from EUR 10 to 15 million.", [10_000_000.0, 15_000_000.0]),
        ("予算は２，５００万円です。", [25_000_000.0]),
        ("売上は3億2000万円です。", [320_000_000.0]),
        ("It took two hours and 45 minutes.", [9_900.0]),
        ("The river flowed at 2 m/s.", [7.2]),
    ],
)
def test_figures_of_other_languages_and_compound_units_are_read(text: str, values: list[float]) -> None:
    assert [number.values[0] for number in read_details(text).quantities] == values
