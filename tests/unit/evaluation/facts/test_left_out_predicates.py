"""A part behind a comma gets the subject and verb that it leaves out, and only where it leaves them out."""

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.facts.forms.left_out_predicates import restore_predicates
from workers.evaluation.facts.forms.left_out_words import restore_left_out

RESTORED = [
    (
        "In spring the pool is open 14 hours a day, in winter 9 hours.",
        "In spring the pool is open 14 hours a day, in winter the pool is open 9 hours a day.",
    ),
    (
        "At sea level water boils at 100 degrees, on Everest at 71 degrees.",
        "At sea level water boils at 100 degrees, on Everest water boils at 71 degrees.",
    ),
    (
        "In January, the reservoir held 62% of its capacity; in August, 31%.",
        "In January, the reservoir held 62% of its capacity; in August the reservoir held 31% of its capacity.",
    ),
    (
        "For orders under $50 shipping is $6, for larger orders $3, and for members $1.",
        "For orders under $50 shipping is $6, for larger orders shipping is $3, and for members shipping is $1.",
    ),
    (
        "With a coupon the course costs 120 euros, without one 160 euros.",
        "With a coupon the course costs 120 euros, without a coupon the course costs 160 euros.",
    ),
    (
        "To members of the union the bank lends at 2 %, to others at 5 %.",
        "To members of the union the bank lends at 2 %, to others the bank lends at 5 %.",
    ),
    (
        "In 2021 the plant employed 310 people, in 2024 only 190.",
        "In 2021 the plant employed 310 people, in 2024 the plant employed only 190 people.",
    ),
    (
        "For the cake you need 3 eggs, for the icing 200 g of sugar.",
        "For the cake you need 3 eggs, for the icing you need 200 g of sugar.",
    ),
    (
        "Im Sommer hat das Bad 14 Stunden geöffnet, im Winter 9 Stunden.",
        "Im Sommer hat das Bad 14 Stunden geöffnet, im Winter hat das Bad 9 Stunden geöffnet.",
    ),
    (
        "En hiver le musée ferme à 17 h, en été à 20 h.",
        "En hiver le musée ferme à 17 h, en été le musée ferme à 20 h.",
    ),
]
WHOLE = [
    "On weekdays the office is open 10 hours, with a break of 1 hour.",
    "In the trial 40 patients got the drug, in total 75 took part.",
    "For members entry costs 8 euros; for guests it costs 12 euros.",
    "In the study 12 people fell ill, of whom 3 died.",
    "In Norway the company runs 12 hotels and in Sweden it plans 5 more.",
    "In Norway the company runs 12 hotels and in Sweden 5 hotels burned down.",
    "In 2023 sales in Germany were 40 units in May, in June 50 units.",
    "After lunch the talk lasts 40 minutes, in all the day has 6 hours of talks.",
    "The mill made 40 tonnes in 2023, in 2024 it closed.",
    "In May 1998 the town had 900 people.",
]


@pytest.mark.parametrize(("written", "restored"), RESTORED)
def test_a_part_with_a_phrase_and_a_figure_gets_subject_and_verb(written: str, restored: str) -> None:
    # As the texts are compared, with the unit that a later number leaves out.
    assert restore_left_out(written) == restored


@pytest.mark.parametrize("text", WHOLE)
def test_a_sentence_that_leaves_nothing_out_stays_as_it_is(text: str) -> None:
    assert restore_predicates(text) == text


@pytest.mark.parametrize(
    ("source", "right", "wrong"),
    [
        (
            "In spring the pool is open 14 hours a day, in winter 9 hours.",
            ["In winter the pool is open 9 hours a day.", "The pool is open 14 hours a day in spring."],
            [
                "In spring the pool is open 9 hours a day.",
                "The pool is open 14 hours a day in winter.",
                "In spring the pool is open 9 hours a day and in winter 14 hours.",
            ],
        ),
        (
            "On weekdays the office is open 10 hours, on Saturdays 6 hours.",
            ["On Saturdays the office is open 6 hours."],
            ["On weekdays the office is open 6 hours.", "The office is open for 10 hours on Saturdays."],
        ),
        (
            "For adults the dose is 400 mg, for children 100 mg.",
            ["The dose for children is 100 mg.", "Adults get a dose of 400 mg."],
            ["The dose for adults is 100 mg.", "For children the dose is 400 mg."],
        ),
        (
            "With the van delivery takes 3 days, by courier 1 day.",
            ["By courier delivery takes 1 day."],
            ["By courier delivery takes 3 days.", "With the van delivery takes 1 day."],
        ),
        (
            "In July the shop sells 90 kg of ice, in January 5 kg.",
            ["In January the shop sells 5 kg of ice."],
            ["In January the shop sells 90 kg of ice.", "The shop sells 5 kg of ice in July."],
        ),
        (
            "With winter tyres the car stops after 35 metres, with summer tyres after 52 metres.",
            ["With summer tyres the car stops after 52 metres."],
            ["With summer tyres the car stops after 35 metres."],
        ),
        (
            "On weekdays the office is open 10 hours, with a break of 1 hour.",
            ["On weekdays the office has a break of 1 hour."],
            ["On weekdays the office is open 1 hour."],
        ),
        # The following were looked at once, after the rule was made.
        (
            "In its base version the phone has 128 GB of memory, in the Pro version 512 GB.",
            ["In the Pro version the phone has 512 GB of memory."],
            [
                "In the Pro version the phone has 128 GB of memory.",
                "In its base version the phone has 512 GB of memory.",
            ],
        ),
        (
            "At its source the river is 2 metres wide, at its mouth 640 metres.",
            ["At its mouth the river is 640 metres wide."],
            ["At its source the river is 640 metres wide.", "The river is 2 metres wide at its mouth."],
        ),
        (
            "In the 2022 season she won four races; in the 2023 season nine.",
            ["In the 2023 season she won nine races."],
            ["In the 2022 season she won nine races."],
        ),
        (
            "Before noon tickets cost $9; after noon, $14.",
            ["After noon tickets cost $14."],
            ["Before noon tickets cost $14.", "After noon tickets cost $9."],
        ),
        (
            "For beginners the course has 20 lessons, for the advanced 12 and for experts 6.",
            ["For experts the course has 6 lessons.", "The course for the advanced has 12 lessons."],
            ["For experts the course has 12 lessons.", "For beginners the course has 6 lessons."],
        ),
        (
            "With full load the drone flies 18 minutes, without load 31 minutes.",
            ["Without load the drone flies 31 minutes."],
            ["With full load the drone flies 31 minutes.", "Without load the drone flies 18 minutes."],
        ),
        (
            "Bei Regen dauert der Aufstieg 5 Stunden, bei Sonne 3 Stunden.",
            ["Bei Sonne dauert der Aufstieg 3 Stunden."],
            ["Bei Regen dauert der Aufstieg 3 Stunden."],
        ),
        (
            "En agosto el hotel cuesta 140 euros, en noviembre 70 euros.",
            ["En noviembre el hotel cuesta 70 euros."],
            ["En noviembre el hotel cuesta 140 euros."],
        ),
    ],
)
def test_a_value_of_one_time_or_case_is_none_of_another(source: str, right: list[str], wrong: list[str]) -> None:
    assert all(verdicts_on("", source, claim) == {"supported"} for claim in right)
    assert all("supported" not in verdicts_on("", source, claim) for claim in wrong)
