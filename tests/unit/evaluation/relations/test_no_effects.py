"""A change is contradicted by evidence that there was none, and nothing else is."""

from collections.abc import Sequence

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.relations.no_effects import is_change_stated

STUDY = "The study found no effect of the drug on sleep, but patients reported less pain."


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("Did the drug improve sleep?", STUDY, "No, the drug did not improve sleep.", "Yes, it improved sleep."),
        ("Does the cream reduce scars?", "The trial showed no effect of the cream on scars.", "No, it has no effect on scars.", "Yes, it reduces scars."),
        ("Did the campaign increase sales?", "The campaign had no effect on sales.", "No, sales did not increase.", "Yes, sales increased."),
        ("Is the noise bad for the fish?", "The survey found no effect of the noise on the fish.", "No, no effect was found.", "Yes, the fish were harmed."),
        ("", "The vaccine had no impact on fertility.", "The vaccine does not affect fertility.", "The vaccine reduces fertility."),
        ("", "The update has no influence on battery life.", "The update has no influence on battery life.", "The update shortens battery life."),
        ("", "The price rise made no difference to demand.", "Demand did not change after the price rise.", "Demand fell after the price rise."),
        ("Did the lessons help reading?", "The lessons did not affect reading scores.", "No, reading scores were not affected.", "Yes, reading scores rose."),
        ("", "The new lamp hasn't affected the harvest.", "The new lamp has not affected the harvest.", "The new lamp improved the harvest."),
        ("", "Membership was unaffected by the higher fee.", "The higher fee did not affect membership.", "Membership fell because of the higher fee."),
        ("Does caffeine raise blood pressure?", "In this group caffeine had no significant effect on blood pressure.", "No, there was no significant effect on blood pressure.", "Yes, caffeine raises blood pressure."),
        ("", "The merger has not affected delivery times.", "Delivery times have not changed since the merger.", "The merger shortened delivery times."),
        ("Did moving the signs reduce accidents?", "Moving the signs made no measurable difference to the number of accidents.", "No, it made no measurable difference.", "Yes, the number of accidents dropped."),
        ("", "Researchers observed no influence of music on plant growth.", "Music did not influence plant growth in the observations.", "Music boosts plant growth."),
        ("", "The firmware does not influence the range of the sensor.", "The firmware has no influence on the range of the sensor.", "The firmware increases the range of the sensor."),
        ("Has the subsidy helped rents?", "Rents remained unchanged after the subsidy.", "No, rents stayed the same.", "Yes, rents fell after the subsidy."),
        ("", "There was no impact of the strike on turnover.", "The strike did not hurt turnover.", "The strike hurt turnover."),
        ("", "The reform will not affect pensions.", "Pensions are not affected by the reform.", "The reform lowers pensions."),
        ("Do the stockings prevent swelling?", "The stockings had little or no effect on swelling.", "They had little or no effect.", "Yes, they prevent swelling."),
        ("", "Watering more often had no effect on the yield, while shading reduced it.", "Shading reduced the yield.", "Watering more often increased the yield."),
    ],
)  # fmt: skip
def test_a_change_is_contradicted_where_no_effect_was_found(
    question: str, context: str, right: str, wrong: str
) -> None:
    assert "contradicted" not in verdicts_on(question, context, right)
    assert verdicts_on(question, context, wrong) == {"contradicted"}


@pytest.mark.parametrize(
    ("claim", "question", "sentences"),
    [
        ("Patients had less pain.", "", [STUDY]),
        ("The drug reduced severe pain.", "", ["The drug had no effect on mild pain but reduced severe pain."]),
        ("Tea improved sleep.", "", ["Coffee had no effect on sleep.", "Tea made sleep better."]),
        ("The second dose lowered the fever.", "", ["The first dose had no effect on fever.", "The second dose lowered the fever."]),
        ("The rate rose to 4 % in June.", "", ["The interest rate did not change in May.", "In June it rose to 4 %."]),
        ("The rate rose in June.", "", ["The interest rate did not change in May."]),
        ("The study asked whether the drug improves sleep.", "", [STUDY]),
        ("The campaign was meant to increase sales.", "", ["The campaign had no effect on sales."]),
        ("The drug may improve sleep.", "", [STUDY]),
        ("The drug did not improve sleep.", "", [STUDY]),
        ("Changing the filter improves the flow.", "", ["Do not change the filter while the pump runs."]),
        ("The pump raises the pressure.", "", ["Without the valve the pump has no effect on the pressure."]),
        ("The law increases the fee.", "", ["The law does not change the tax rate.", "It increases the fee."]),
        ("The drug improves sleep in children.", "", ["The drug had no effect on sleep in adults."]),
        ("Sales increased.", "", ["The campaign had no effect on sales."]),
        ("The drug improved sleep.", "", ["The drug had no adverse effect on sleep."]),
        ("In week six speed improved.", "", ["In week one the course had no effect on speed, yet in week six speed improved."]),
        ("The old model improved safety.", "", ["There is no difference to the old model."]),
    ],
)  # fmt: skip
def test_what_is_no_change_of_the_thing_is_left_open(claim: str, question: str, sentences: Sequence[str]) -> None:
    assert is_change_stated(claim, question, sentences) is None


@pytest.mark.parametrize(
    ("question", "context", "claim"),
    [
        ("", "The new tax has no effect on low incomes but lowers high incomes.", "The tax lowers high incomes."),
        ("What did the patch do to the error rate?", "In the first month the patch had no effect on the error rate. After the second update the error rate fell by half.", "After the second update the error rate fell by half."),
        ("Does the pill affect driving?", "The pill has no effect on driving. Alcohol slows reactions and affects driving.", "Alcohol affects driving."),
        ("", "Although smoking had no effect on height, it reduced lung capacity and lung growth in height-matched groups.", "Smoking reduced lung capacity."),
        ("Did the training help?", "The training had no effect on speed in week one, yet by week six speed had improved by 8 %.", "By week six speed had improved by 8 %."),
        ("", "Prices did not change in 2021. Prices rose by 3 % in 2022.", "Prices rose by 3 % in 2022."),
        ("", "The ban had no effect on imports, which fell for other reasons.", "Imports fell for other reasons."),
        ("", "The pump has no effect on the pressure in tank A; it raises the pressure in tank B.", "The pump raises the pressure in tank B."),
        ("", "A longer cable has no influence on the signal. A shorter cable improves the signal.", "A shorter cable improves the signal."),
        ("", "The vaccine had no impact on prices. Vaccine prices are high.", "Vaccine prices are high."),
        ("Did the course help?", "The course had no effect on grades. Grades in the class are high and rising for other reasons.", "Grades in the class are high and rising for other reasons."),
        ("", "Salt had no effect on growth, though sugar increased growth.", "Sugar increased growth."),
        ("Is the bridge safe?", "The repairs did not affect traffic. Traffic fell in 2020 because of the pandemic.", "Traffic fell in 2020 because of the pandemic."),
        ("", "Rent was unaffected. Heating costs rose by 20 %.", "Heating costs rose by 20 %."),
        ("", "The drug had no effect on cholesterol and lowered blood sugar.", "The drug lowered blood sugar."),
        ("", "The reform has had no measurable effect on wages in the north and raised wages in the south.", "The reform raised wages in the south."),
    ],
)  # fmt: skip
def test_a_change_that_the_evidence_states_beside_it_is_supported(question: str, context: str, claim: str) -> None:
    assert verdicts_on(question, context, claim) == {"supported"}


@pytest.mark.parametrize(
    ("question", "context", "claim"),
    [
        ("Has the new rule cut waiting times?", "The new rule has had no effect on waiting times so far.", "Yes, it has cut waiting times."),
        ("", "Fertiliser X had no discernible effect on the harvest.", "Fertiliser X increased the harvest."),
        ("", "The change of supplier hasn't had any impact on quality.", "The change of supplier has harmed quality."),
        ("", "The reform has had no measurable effect on wages in the north.", "The reform raised wages in the north."),
        ("", "Tests show that the additive makes no noticeable difference to fuel use.", "The additive reduces fuel use."),
        ("Did the app cut sick leave?", "The app has not had an impact on sick leave.", "Yes, it cut sick leave by half."),
        ("", "Their diet didn't influence the length of the illness.", "Their diet shortened the illness."),
    ],
)  # fmt: skip
def test_further_wrong_changes_are_contradicted(question: str, context: str, claim: str) -> None:
    assert verdicts_on(question, context, claim) == {"contradicted"}


def test_a_figure_leaves_the_change_contradicted() -> None:
    sentences = ["The additive makes no difference to fuel use."]
    assert is_change_stated("The additive reduces fuel use by 8 %.", "", sentences) is False


@pytest.mark.parametrize(
    ("claim", "question", "sentences"),
    [
        ("It improved sleep.", "Did the drug improve sleep?", ["The study found no effect on sleep."]),
        ("The drug improved sleep.", "", ["The drug had no effect on sleep.", "The drug improved mood."]),
        ("Sleep improved.", "Did the drug help?", ["The drug had no effect on sleep and did not improve the depth of sleep."]),
    ],
)  # fmt: skip
def test_other_findings_do_not_hide_that_there_was_no_effect(
    claim: str, question: str, sentences: Sequence[str]
) -> None:
    assert is_change_stated(claim, question, sentences) is False
