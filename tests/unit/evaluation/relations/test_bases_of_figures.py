"""A figure of one kind is none of another: measured and estimated, gross and net, planned and actual."""

from collections.abc import Sequence

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.relations.figures.bases_of_figures import is_kind_right, is_result_stated


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("", "The depth is estimated at 40 m.", "The estimated depth is 40 m.", "The measured depth is 40 m."),
        ("", "Her gross salary is 3,800 euros a month.", "She earns 3,800 euros gross a month.", "Her net salary is 3,800 euros a month."),
        ("", "The average speed was 60 km/h.", "On average the speed was 60 km/h.", "The maximum speed was 60 km/h."),
        ("What was the actual duration?", "The planned duration of the works was six weeks; they took nine weeks.", "The works took nine weeks.", "The actual duration was six weeks."),
        ("", "The price of 119 euros includes VAT.", "With VAT the price is 119 euros.", "The price without VAT is 119 euros."),
        ("", "The budgeted costs were 2 million, the actual costs 2.6 million.", "The actual costs were 2.6 million.", "The actual costs were 2 million."),
        ("", "The rated power of the motor is 5 kW, the peak power is 8 kW.", "The peak power of the motor is 8 kW.", "The rated power of the motor is 8 kW."),
        ("", "The median income is 31,000 euros.", "The median income is 31,000 euros.", "The mean income is 31,000 euros."),
        ("", "The preliminary count gives 12,400 votes.", "According to the preliminary count there were 12,400 votes.", "The final count gives 12,400 votes."),
        ("", "The calculated load is 300 kg.", "The load was calculated at 300 kg.", "The measured load is 300 kg."),
        ("", "The theoretical range is 420 km.", "In theory the range is 420 km.", "The actual range is 420 km."),
        ("", "Net profit was 1.2 million euros.", "The net profit amounted to 1.2 million euros.", "Gross profit was 1.2 million euros."),
        ("", "Engineers estimate the load at 12 tonnes.", "The estimated load is 12 tonnes.", "The measured load is 12 tonnes."),
        ("", "The average wait at the counter is 14 minutes.", "On average people wait 14 minutes at the counter.", "The maximum wait at the counter is 14 minutes."),
        ("", "The project was budgeted at 3.5 million euros.", "The budget of the project was 3.5 million euros.", "The actual cost of the project was 3.5 million euros."),
        ("What is the net rent?", "Gross rent is 910 euros; net rent is 740 euros.", "The net rent is 740 euros.", "The net rent is 910 euros."),
        ("", "The provisional result shows a turnout of 61 %.", "According to the provisional result, turnout was 61 %.", "The final result shows a turnout of 61 %."),
        ("", "The measured noise level is 46 decibels.", "A noise level of 46 decibels was measured.", "The estimated noise level is 46 decibels."),
        ("", "The median age of the patients was 57 years.", "The median age was 57 years.", "The average age of the patients was 57 years."),
    ],
)  # fmt: skip
def test_a_figure_of_another_kind_is_contradicted(question: str, context: str, right: str, wrong: str) -> None:
    assert verdicts_on(question, context, right) == {"supported"}
    assert verdicts_on(question, context, wrong) == {"contradicted"}


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("", "The bridge is planned to cost 20 million euros.", "The planned cost of the bridge is 20 million euros.", "The bridge cost 20 million euros."),
        ("", "Analysts forecast a profit of 3 million euros for 2024.", "The forecast profit for 2024 is 3 million euros.", "The company made a profit of 3 million euros in 2024."),
        ("", "The stadium will cost 90 million dollars and is due to open in 2027.", "The stadium will cost 90 million dollars.", "The stadium cost 90 million dollars."),
        ("", "The ministry expects growth of 2.1 % this year.", "The ministry's expected growth for this year is 2.1 %.", "Growth was 2.1 % this year."),
    ],
)  # fmt: skip
def test_a_plan_is_no_result(question: str, context: str, right: str, wrong: str) -> None:
    assert verdicts_on(question, context, right) == {"supported"}
    assert verdicts_on(question, context, wrong) == {"unsupported"}


@pytest.mark.parametrize(
    ("question", "context", "claim"),
    [
        ("", "The estimated depth was 40 m; divers later measured 44 m.", "The measured depth is 44 m."),
        ("", "The estimated depth was 40 m, and the measured depth was also 40 m.", "The measured depth was 40 m."),
        ("", "The bridge was planned to cost 20 million euros. It cost 26 million euros in the end.", "The bridge cost 26 million euros."),
        ("", "As planned, the works took six weeks.", "The works took six weeks."),
        ("", "The highest monthly average is 28 °C in July.", "The highest monthly average is 28 °C."),
        ("", "Based on measurements, scientists estimate the age of the rock at 3 million years.", "Scientists estimate the age of the rock at 3 million years."),
        ("", "Her salary is 3,800 euros a month, gross.", "Her gross salary is 3,800 euros a month."),
        ("", "The net profit was 1.2 million euros and the gross profit 2.9 million euros.", "Gross profit was 2.9 million euros."),
        ("", "The price including VAT is 119 euros, without VAT 100 euros.", "The price without VAT is 100 euros."),
        ("", "The average temperature is 12 degrees, with a maximum of 31 degrees in July.", "The maximum temperature is 31 degrees in July."),
        ("", "The plane reaches a top speed of 900 km/h.", "The maximum speed of the plane is 900 km/h."),
        ("", "Sales of 5 million were expected; 5 million were sold.", "5 million were sold."),
        ("", "The company said it will cut 300 jobs. It cut 200 jobs last year.", "The company cut 200 jobs last year."),
        ("How many people came?", "About 800 guests had been expected, but 1,200 came.", "1,200 people came."),
        ("", "The final budget is 4 million euros.", "The final budget is 4 million euros."),
        ("", "Real wages rose by 2 % in 2023.", "Wages rose by 2 % in real terms in 2023."),
        ("", "The target of 500 units was reached in May.", "In May 500 units were reached."),
    ],
)  # fmt: skip
def test_right_statements_of_kinds_are_supported(question: str, context: str, claim: str) -> None:
    assert verdicts_on(question, context, claim) == {"supported"}


@pytest.mark.parametrize(
    ("claim", "sentences"),
    [
        ("The measured depth is not 40 m.", ["The depth is estimated at 40 m."]),
        ("The measured depth is 40 m.", ["The depth is 40 m."]),
        ("The measured depth is 40 m.", ["The estimated depth is 40 m.", "Its depth is 40 m."]),
        ("The measured depth is 41 m.", ["The estimated depth is 40 m."]),
        ("The net salary is more than 900 euros.", ["The gross salary is 900 euros."]),
        ("The highest monthly average is 28 °C.", ["The average in July is 28 °C."]),
        ("The measured width of a plank is 40 m.", ["The estimated depth is 40 m."]),
        ("The delivery charge is 6 euros.", ["The delivery charge is 6 euros."]),
        ("The peak power of the pump is 8 kW.", ["The rated power of the motor is 5 kW, the peak power of the fan is 8 kW."]),
    ],
)  # fmt: skip
def test_figures_without_another_kind_are_left_open(claim: str, sentences: Sequence[str]) -> None:
    assert is_kind_right(claim, "", sentences) is None


@pytest.mark.parametrize(
    ("claim", "sentences"),
    [
        ("A 22-year-old artist has been missing since May.", ["The family hopes to find the 22-year-old artist."]),
        ("The bridge cost 20 million euros.", ["The bridge will cost 20 million euros.", "It cost 20 million euros."]),
        ("The expected cost was 20 million euros.", ["The bridge is expected to cost 20 million euros."]),
        ("The bridge cost less than 20 million euros.", ["The bridge will cost 20 million euros."]),
        ("The bridge costs 20 million euros.", ["The bridge will cost 20 million euros."]),
    ],
)  # fmt: skip
def test_what_has_happened_is_left_open(claim: str, sentences: Sequence[str]) -> None:
    assert is_result_stated(claim, "", sentences) is None
