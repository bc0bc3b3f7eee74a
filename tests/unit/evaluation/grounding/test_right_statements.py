"""Right statements of the kinds that models make of news, manuals and recipes are not contradicted; wrong ones are noticed."""

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.contradictions.contradiction_checks import compare
from workers.evaluation.contradictions.values.dated_values import is_course_wrong
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.ownership.value_owners import OwnedValues, has_other_owner

LEVY = (
    "The maximum amount of income subject to the city levy will increase to 45,600 in 2025. Pensions of the city will"
    " grow by more than 60 a month starting in January 2025."
)
CLIMATE = "Weather in Cusco, Peru: averages by month. Cusco has a mild highland climate. Rain falls mainly in January."
ARRIVAL = (
    "A group of Okafor's cousins arrived at Lyon's Bellecour station on Monday, a local paper reported. The Lyon Light"
    " Trial is named after the festival, where nine people died. Lawyers arrived at the court on Tuesday."
)
FUMES = (
    "Exposure to chlorine gas can result in severe burns of the lungs, according to the agency. The presence of a cleaner"
    " in the rented hut may have caused the illness."
)
SURGEON = (
    "Dr. Ines Falk, a surgeon at the Harbour Hospital, spent 14 years in the navy as a doctor. The lawyers showed a video of"
    " the 8-year-old, who stood near the stage, according to the police."
)
MISSING = (
    "The worried family of Rosa Lindt has asked in every shop since she went missing on 30 December 2019. The Graz, Styria,"
    " painter's family hands out flyers and hopes that somebody remembers the 22-year-old."
)
EGGS = (
    "1 Put the eggs in a pot with water. 2 When the water starts to boil, which takes 4 minutes, turn off the heat and let"
    " stand for 17 minutes. 3 Pour out the hot water and pour cold water over the eggs."
)
NETS = "Hang a net over the top of the porch lamp to block the swallows' access to it."
ACIDS = "Minor fats can be made by the body, while major fats cannot be made by the body, so you must get them from your diet."
OIL = "Filtered oil has a smoke point of 230 degrees C, whereas the smoke point of unfiltered oil is 175 degrees C."
HARBOUR = (
    "The highest monthly average temperature in Sandvik for July is 18 degrees. The lowest monthly average temperature in"
    " Sandvik for December is 3 degrees. The March low is 2 degrees."
)
DISCARDED = (
    "In case a machine is scrapped by the firm but not sold, its book value is taken off the account in that year."
)
QUADS = "Differences between quads and buggies: buggies usually have side-by-side seats, seat belts and a roof cage."
MINISTER = (
    "Han will stay in office until President Kim accepts his resignation. Kim called the resignation regrettable."
)
WINDS = (
    "They are called the Sunward Isles because they lie open to the wind of the north trade winds. They are called the"
    " Leeside Isles because they lie away from the wind."
)
QUESTION = (
    "Mira asks Jan why he is not more worried by Tom's friendship with Vera. She drives to Tom's flat to confront him."
)
FEES = "Members of the Blue plan pay 7.5% of their wage; members of the Green plan pay 9%."
FUTURE = "The alternative to speaking up is a town where people feel less free to walk at night, watched and afraid."
FORECAST = (
    "The Skagen forecast for 15 April is 43 degrees and cloudy. The Ribe forecast for 15 April is 48 degrees and sunny."
)


@pytest.mark.parametrize(
    ("context", "right", "wrong"),
    [
        (LEVY, "In addition, the maximum amount of income subject to the city levy will rise to 45,600 in 2025.", "In addition, the maximum amount of income subject to the city levy will rise to 54,600 in 2025."),
        (LEVY, "As a result, the maximum amount of income subject to the city levy will rise to 45,600 in 2025.", "As a result, the maximum amount of income subject to the city levy will fall to 45,600 in 2025."),
        (CLIMATE, "Cusco, Peru has a mild highland climate.", "Cusco, Peru does not have a mild highland climate."),
        (ARRIVAL, "A group of Okafor's cousins arrived in Lyon on Monday.", "A group of Okafor's cousins arrived in Lyon on Tuesday."),
        (FUMES, "Exposure to chlorine gas can cause severe burns of the lungs.", "Exposure to chlorine gas cannot cause severe burns of the lungs."),
        (SURGEON, "Dr. Ines Falk, a surgeon, spoke about an 8-year-old who stood near the stage.", "Dr. Ines Falk spent 8 years in the navy."),
        (MISSING, "Rosa Lindt, a 22-year-old painter from Graz, Styria, has been missing since 30 December 2019.", "Rosa Lindt, a 22-year-old painter from Graz, Styria, has been missing since 13 December 2019."),
        (EGGS, "After 17 minutes, pour out the hot water and pour cold water over the eggs.", "After 27 minutes, pour out the hot water and pour cold water over the eggs."),
        (NETS, "You can hang a net over your porch lamp to deter swallows from accessing it.", "A net over the porch lamp does not block the swallows' access to it."),
        (ACIDS, "Minor fats are those that the body can make, even if they are not present in the diet.", "Major fats can be made by the body, even if they are not present in the diet."),
        (OIL, "Filtered oil has a higher smoke point (230 degrees C) than unfiltered oil (175 degrees C).", "Filtered oil has a lower smoke point than unfiltered oil."),
        (HARBOUR, "The lowest is 3 degrees in December.", "The lowest is 8 degrees in December."),
        (HARBOUR, "The average temperature in Sandvik ranges from 3 degrees (December) to 18 degrees (July).", "The average temperature in Sandvik ranges from 3 degrees (December) to 28 degrees (July)."),
        (DISCARDED, "If a machine is scrapped by the firm without selling it, its book value is taken off the account in that year.", "If a machine is scrapped by the firm, its book value is not taken off the account in that year."),
        (MINISTER, "President Kim has not accepted Han's resignation yet.", "President Kim did not call the resignation regrettable."),
        (WINDS, "The main difference between the Sunward Isles and the Leeside Isles is their exposure to the north trade winds.", "The Sunward Isles do not lie open to the wind of the north trade winds."),
        (FUTURE, "Speaking up helps to make a town where people walk at night without feeling watched and afraid.", "The alternative to speaking up is a town where 400 people walk at night."),
    ],
)  # fmt: skip
def test_a_right_statement_is_not_contradicted_and_a_wrong_one_is_not_supported(
    context: str, right: str, wrong: str
) -> None:
    assert "contradicted" not in verdicts_on("", context, right)
    assert not verdicts_on("", context, wrong) & {"supported"}


@pytest.mark.parametrize(
    ("context", "claim"),
    [
        (QUADS, "Roof cage: buggies usually have a roof cage, while quads do not."),
        (QUESTION, "Mira is worried about Tom's friendship with Vera."),
        (FEES, "It could be 7.5% or 9% of the wage, depending on the plan."),
        (FORECAST, "The temperature in Ribe is 43 degrees (first source) or 48 degrees (second source)."),
        ("Ms Orr, whose dry one-liners resonated far beyond the town, retired last year. Ms Orr was known for her fairness.", "She was known for her dry one-liners."),
    ],
)  # fmt: skip
def test_what_sources_leave_open_is_not_contradicted(context: str, claim: str) -> None:
    assert "contradicted" not in verdicts_on("", context, claim)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Buggies have a roof cage, while quads do not.", "Quads and buggies differ in their roof cage and quads cost less."),
        ("People walk at night without feeling watched.", "People feel less free, and watched, when they walk at night."),
        ("Minor fats are not unhealthy to eat, as the body makes them from healthy fats.", "The body makes minor fats from healthy fats."),
        ("Guests without feeling cold swim in the lake.", "Guests swim in the lake and feel less cold."),
    ],
)  # fmt: skip
def test_a_denial_of_another_word_is_no_negation(claim: str, evidence: str) -> None:
    assert "negation" not in compare(claim, evidence)


def test_a_clause_whose_verb_is_left_out_denies_no_other_word() -> None:
    denied = [words for _, words in read_details("Buggies have a roof cage, while quads do not.").clauses]
    assert denied == [frozenset(), frozenset()]


def test_a_word_that_a_clause_also_affirms_is_not_denied() -> None:
    text = "The body makes them from healthy fats and so they are not healthy to eat."
    assert [words for _, words in read_details(text).clauses] == [frozenset()]


def test_the_ends_of_a_range_are_no_course_over_time() -> None:
    sentences = ["The lowest mean for December is 3 degrees.", "The highest mean for July is 18 degrees."]
    assert not is_course_wrong("It ranges from 3 degrees (December) to 18 degrees (July).", sentences)
    assert is_course_wrong("It rose from 3 degrees in December to 18 degrees in July.", sentences)


def test_a_step_has_no_other_subject() -> None:
    recipe = "Cover the pan and cook for 5 minutes. Flip and brush the ribs and cook another 5 minutes."
    claim = "Cook for 5 minutes, then flip and brush again before cooking for an additional 5 minutes."
    for question in ("", "How do I cook ribs?"):
        assert "contradicted" not in verdicts_on(question, recipe, claim)


def test_an_age_is_no_duration_of_another() -> None:
    sentences = [
        "The lawyers showed close-up video of the 8-year-old, who was only 3 feet from the stage, according to the BKA.",
        "Dr. Ines Falk, a trauma surgeon at Harbour Hospital, spent 14 years in the U.S. Army as a combat surgeon.",
    ]
    claim = (
        "Dr. Ines Falk, a trauma surgeon, testified about the extent of the injuries she treated, including those"
        " sustained by Martin Roth, an 8-year-old boy who died in the attack."
    )
    assert not has_other_owner(claim, "", OwnedValues([sentences]))


def test_a_duration_of_another_is_noticed() -> None:
    sentences = ["Ines Falk spent 14 years in the navy.", "Otto Brand spent 8 years in the navy."]
    assert has_other_owner("Ines Falk spent 8 years in the navy.", "", OwnedValues([sentences]))


@pytest.mark.parametrize(
    ("context", "right", "wrong"),
    [
        ("Bake the tart for 20 minutes and the bread for 40 minutes.", "Bake the bread for 40 minutes.", "Bake the bread for 20 minutes."),
        ("Tighten the upper bolts to 20 Nm and the lower bolts to 35 Nm.", "Tighten the lower bolts to 35 Nm.", "Tighten the lower bolts to 20 Nm."),
        ("Charge the scooter for 6 hours. Charge the helmet light for 2 hours.", "Charge the helmet light for 2 hours.", "Charge the helmet light for 6 hours."),
        ("After 20 minutes, turn the bread. After 40 minutes, take it out.", "After 20 minutes, turn the bread.", "After 40 minutes, turn the bread."),
        ("Fry the onions for 5 minutes, then add the rice and cook for 12 minutes.", "Fry the onions for 5 minutes, then add the rice and cook for 12 minutes.", "Fry the onions for 12 minutes, then add the rice and cook for 5 minutes."),
        ("The manual explains why the lamp does not blink.", "The lamp does not blink.", "The lamp blinks."),
        ("The museum is closed until further notice.", "The museum is closed.", "The museum is not closed."),
        ("The road is blocked until Friday.", "The road is blocked until Friday.", "The road is not blocked."),
        ("The town plans to build a pool.", "The town has not built a pool yet.", "The town does not plan to build a pool."),
        ("Lima, Peru, was chosen as host on Monday. Bogota, Colombia, withdrew its bid in May.", "Lima, Peru was chosen as host on Monday.", "Bogota, Colombia was chosen as host on Monday."),
        ("Last Tuesday, Peru won the match. Chile lost it.", "Peru won the match.", "Chile won the match."),
        ("As a result, fares will rise to 3.20 euros in March.", "Fares will rise to 3.20 euros in March.", "Fares will rise by 3.20 euros in March."),
    ],
)  # fmt: skip
def test_what_such_rules_leave_out_is_still_compared(context: str, right: str, wrong: str) -> None:
    assert verdicts_on("", context, right) == {"supported"}
    assert not verdicts_on("", context, wrong) & {"supported"}
