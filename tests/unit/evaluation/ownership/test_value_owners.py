"""Values belong to subjects: a value of another subject is no support, in sentences, lists, rows and records."""

from collections.abc import Sequence

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.facts.evidence_units import segment_source
from workers.evaluation.ownership import value_owners
from workers.evaluation.ownership.combined_values import Group, groups_of
from workers.evaluation.ownership.held_values import HeldSentence
from workers.evaluation.ownership.value_owners import OwnedValues, combines_values, gives_numbers, has_other_owner
from workers.evaluation.text.wording import plain_text


def _misplaced(claim: str, *contexts: str, topic: str = "") -> bool:
    sources = [[plain_text(unit.text) for unit in segment_source(text)] for text in contexts]
    return has_other_owner(claim, topic, OwnedValues(sources))


@pytest.mark.parametrize(
    ("evidence", "right", "wrong"),
    [
        ("Ann earns 600 euros. Bob earns 300 euros.", "Ann earns 300 euros more than Bob.", "Ann earns 300 euros."),
        ("The inn is 20 m tall. The mill is 40 m tall.", "The mill is 20 m taller.", "The mill is 20 m tall."),
        ("Route A is 5 km long. Route B is 10 km long.", "Route B is 5 km longer than A.", "Route B is 5 km long."),
        ("Room 1 costs 100 euros. Room 2 costs 200 euros.", "Room 2 costs 100 euros more.", "Room 2 costs 100 euros."),
    ],
)
def test_a_difference_is_not_the_value_of_another_subject(evidence: str, right: str, wrong: str) -> None:
    assert not _misplaced(right, evidence)
    assert _misplaced(wrong, evidence)


@pytest.mark.parametrize(
    ("evidence", "question", "right", "wrong"),
    [
        (
            "A boat costs 60 euros per day, a pair of oars 45 euros.",
            "What do oars and a boat cost?",
            "A pair of oars costs 45 euros and a boat 60 euros per day.",
            "A pair of oars costs 60 euros and a boat 45 euros per day.",
        ),
        (
            "A single room costs 80 euros, a double room 120 euros.",
            "What do single and double rooms cost?",
            "A double room costs 120 euros and a single room 80 euros.",
            "A double room costs 80 euros and a single room 120 euros.",
        ),
        (
            "A coffee costs 3 euros. A slice of cake costs 5 euros.",
            "",
            "A slice of cake costs 5 euros and a coffee 3 euros.",
            "A slice of cake costs 3 euros and a coffee 5 euros.",
        ),
        (
            "A bus leaves at 9:15, a tram at 9:40.",
            "",
            "A bus leaves at 9:15 and a tram at 9:40.",
            "A bus leaves at 9:40 and a tram at 9:15.",
        ),
    ],
)
def test_things_with_an_article_have_values_of_their_own(evidence: str, question: str, right: str, wrong: str) -> None:
    assert not _misplaced(right, evidence, topic=question)
    assert _misplaced(wrong, evidence, topic=question)


LOVELACE = "Ada Lovelace was born in 1815 in London. Charles Babbage was born in 1791 and outlived her."
SALARIES = "| Name | Salary |\n|---|---|\n| Ann | 300 |\n| Bob | 500 |"
RECORDS = (
    '[{"host": "web-01", "memory_gb": 32}, {"host": "web-02", "memory_gb": 64}, {"host": "db-01", "memory_gb": 128}]'
)
FORMS = "Name: Leila Farouk\nPosition: analyst\nSupervisor: Gregor Hahn\n\nName: Paolo Conti\nPosition: analyst\nSupervisor: Ruth Adeyemi"
BUSES = "| | Mon–Fri | Sat | Sun |\n|---|---|---|---|\n| first bus | 5:10 | 6:00 | 7:30 |\n| last bus | 23:40 | 0:20 | 21:15 |"

PAIRS = [
    (LOVELACE, "Charles Babbage was born in 1791.", "Charles Babbage was born in 1815."),
    (SALARIES, "Bob earns 500.", "Bob earns 300."),
    (
        "The Halvorsen Tower rises 212 metres above the harbour. Next to it stands Meridian House, which reaches 148 metres.",
        "Meridian House is 148 metres tall.",
        "Meridian House is 212 metres tall.",
    ),
    (
        "With 17 goals Nkemelu was once more ahead of Petrova, who scored 12.",
        "Petrova scored 12 goals.",
        "Petrova scored 17 goals.",
    ),
    (
        "Last year solar and wind supplied 14 and 31 percent of the electricity respectively.",
        "Solar supplied 14 percent of the electricity.",
        "Solar supplied 31 percent of the electricity.",
    ),
    (
        "Two routes lead to the summit, the east ridge and the glacier route. The former takes five hours; the latter takes nine.",
        "The glacier route takes nine hours.",
        "The glacier route takes five hours.",
    ),
    (
        "The tower at Grey Ness rises 31 metres. Its sister tower on Tarn Holm, finished later, reaches 44 metres.",
        "The Grey Ness tower is 31 metres tall.",
        "The Grey Ness tower is 44 metres tall.",
    ),
    (
        "After the review, Jonas's salary was raised to $61,000 and Mirela's to $72,500.",
        "Mirela now earns $72,500.",
        "Mirela now earns $61,000.",
    ),
    (
        "Boil the white beans for 50 minutes. Black beans, which stay firmer, need 80 minutes.",
        "White beans boil for 50 minutes.",
        "White beans boil for 80 minutes.",
    ),
    (
        "The main owner is Harbor Trust, with 44% of the shares. The Novak family keeps 19%.",
        "The Novak family keeps 19% of the shares.",
        "The Novak family holds 44% of the shares.",
    ),
    (
        "Nord 30 – our smallest tent. Weighs 900 g, with two pegs.\n\nNord 50 – room for three. Weighs 1,700 g in its bag.",
        "The Nord 30 weighs 900 g.",
        "The Nord 30 weighs 1,700 g.",
    ),
    (
        "Upper Dale, despite its name, is the smaller one, with 640 inhabitants. Lower Dale has grown to 2,900 since then.",
        "Upper Dale has 640 inhabitants.",
        "Upper Dale has 2,900 inhabitants.",
    ),
    (RECORDS, "web-02 has 64 GB of memory.", "web-02 has 128 GB of memory."),
    (FORMS, "Leila Farouk's supervisor is Gregor Hahn.", "Leila Farouk's supervisor is Ruth Adeyemi."),
    (BUSES, "The last bus on Sundays leaves at 21:15.", "The last bus on Sundays leaves at 23:40."),
    (
        "- Adults: €12\n- Students: €7\n- Groups of ten or more: €9 a head",
        "Students pay €7.",
        "Students pay €9.",
    ),
    (
        "Pump 3 delivers 40 litres a minute. Pump 4 delivers 65 litres a minute.",
        "Pump 4 delivers 65 litres a minute.",
        "Pump 4 delivers 40 litres a minute.",
    ),
    (
        "Mr. Tanaka (Osaka) paid 900 euros, whereas Ms. Weber (Bonn) paid 450 euros.",
        "Ms. Weber paid 450 euros.",
        "Ms. Weber paid 900 euros.",
    ),
    (
        "The Arlo dam, completed in 1961, holds 40 million litres. The Vesper dam, completed in 1974, holds 75 million litres.",
        "The Vesper dam was completed in 1974.",
        "The Vesper dam was completed in 1961.",
    ),
    (
        "Unlike the K2 model, which weighs 900 g, the K3 model weighs only 650 g.",
        "The K3 model weighs 650 g.",
        "The K3 model weighs 900 g.",
    ),
    (
        "name,age,city\nIvo,34,Split\nDana,51,Zadar",
        "Dana is 51 years old.",
        "Dana is 34 years old.",
    ),
    (
        '{"teams": [{"team": "Union Vale", "points": 41}, {"team": "Redfield", "points": 33}]}',
        "Redfield has 33 points.",
        "Redfield has 41 points.",
    ),
    (
        "Sweden exported 3,400 tonnes and Norway 2,100 tonnes of the fish.",
        "Norway exported 2,100 tonnes.",
        "Norway exported 3,400 tonnes.",
    ),
    (
        "On the plan emergency exits are drawn in green, fire extinguishers in red and meeting points in blue.",
        "Emergency exits are drawn in green.",
        "Emergency exits are drawn in red.",
    ),
    (
        "La torre nueva mide 74 metros. La torre vieja, en cambio, mide 39 metros.",
        "La torre vieja mide 39 metros.",
        "La torre vieja mide 74 metros.",
    ),
    (
        "Hans Petry leitete das Museum bis 2009. Ruth Ebner wurde 2014 Direktorin.",
        "Ruth Ebner wurde 2014 Direktorin.",
        "Ruth Ebner wurde 2009 Direktorin.",
    ),
]


@pytest.mark.parametrize(("context", "right", "wrong"), PAIRS)
def test_a_value_of_another_subject_is_noticed(context: str, right: str, wrong: str) -> None:
    assert _misplaced(wrong, context)
    assert not _misplaced(right, context)


@pytest.mark.parametrize(
    ("context", "claim"),
    [
        # The pronoun and "the company" stand for the subject of the sentence before.
        ("Kessler joined Norvia in 2011. She was appointed chair in 2016.", "Kessler was appointed chair in 2016."),
        (
            "Contoso was founded in Bonn in 1998. The company went public in 2007.",
            "Contoso went public in 2007.",
        ),
        # A subject has many years.
        (
            "Meridian House was planned in 1992. The Queen inaugurated the building in 1998.",
            "Meridian House opened in 1998.",
        ),
        ("Chard will produce fresh white, yellow or red leaf stalks.", "Chard has white, yellow or red stalks."),
        ("The tour led to Rome in May and to Paris in June.", "The tour reached Paris in June."),
        ("Ann sold 5 cars in May. Bob sold 7 cars.", "Ann and Bob sold 12 cars together."),
        (SALARIES, "Ann and Bob earn 300 and 500."),
        (BUSES, "The first bus leaves at 5:10 from Monday to Friday and at 7:30 on Sundays."),
    ],
)
def test_an_open_question_has_no_result(context: str, claim: str) -> None:
    assert not _misplaced(claim, context)


def test_a_short_answer_takes_its_subject_from_the_question() -> None:
    context = "Admission: adults €12, students €7, children under ten free. Groups of ten or more pay €9 a head."
    assert _misplaced("€9", context, topic="What does the entry cost for students?")
    assert not _misplaced("€7", context, topic="What does the entry cost for students?")


def test_a_second_source_counts() -> None:
    first, second = "Ann Berg was born in 1815.", "Bob Rust was born in 1791."
    assert _misplaced("Bob Rust was born in 1815.", first, second)
    assert not _misplaced("Bob Rust was born in 1815.", first, second, "Bob Rust was born in 1815.")


def test_a_number_whose_unit_is_left_out_belongs_to_its_subject() -> None:
    units = [["Full-time staff are entitled to 27 days of paid leave, part-time staff to 14."]]
    assert gives_numbers("Part-time staff get 14 days of paid leave.", "", OwnedValues(units))
    assert not gives_numbers("Part-time staff get 15 days of paid leave.", "", OwnedValues(units))
    assert not gives_numbers("Part-time staff get leave.", "", OwnedValues(units))


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The drop in OEE was from 79.8 % to 76.3 %.", ["Week 44.", "OEE 76.3 %, week 43: 79.8 %."]),
        ("Scrap fell from 3.1 % to 2.4 % in June.", ["In May scrap was 3.1 %. In June scrap was 2.4 %."]),
        ("Der Verbrauch sank von 48 kWh auf 41 kWh.", ["Im Mai lag der Verbrauch bei 48 kWh, im Juni bei 41 kWh."]),
    ],
)
def test_two_states_of_one_subject_belong_to_it(claim: str, evidence: list[str]) -> None:
    assert not has_other_owner(claim, "", OwnedValues([evidence]))


PLANS = (
    "Basic plan: 9 euros a month, 50 GB of storage, e-mail support only.",
    "Pro plan: 19 euros a month, 500 GB of storage, phone support on weekdays from 8 am to 6 pm.",
)
ROOMS = ("Single room: 80 euros per night, 14 square metres.", "Double room: 120 euros per night, 22 square metres.")
DOSES = ("Adults: 400 mg every 8 hours, with food.", "Children: 200 mg every 12 hours, with water.")


@pytest.mark.parametrize(
    ("contexts", "right", "wrong"),
    [
        (PLANS, "The Pro plan costs 19 euros a month.", "The Pro plan costs 9 euros a month."),
        (PLANS, "With the Basic plan you get 50 GB.", "With the Basic plan you get 500 GB."),
        (PLANS, "The Pro plan has phone support.", "The Basic plan has phone support."),
        (PLANS, "The Basic plan has no phone support.", "With Basic, phone support is included."),
        ((" ".join(PLANS),), "The Pro plan costs 19 euros a month.", "The Pro plan costs 9 euros a month."),
        (ROOMS, "A double room costs 120 euros per night.", "A double room costs 80 euros per night."),
        (ROOMS, "A single room has 14 square metres.", "A single room has 22 square metres."),
        (DOSES, "Children take 200 mg every 12 hours.", "Children take 200 mg every 8 hours."),
        (DOSES, "Adults take 400 mg.", "Adults take 200 mg."),
    ],
)  # fmt: skip
def test_values_of_labelled_lines_in_several_sources(contexts: tuple[str, ...], right: str, wrong: str) -> None:
    assert not _misplaced(right, *contexts)
    assert _misplaced(wrong, *contexts)


def test_the_question_names_the_labelled_line() -> None:
    assert _misplaced("It costs 9 euros a month.", *PLANS, topic="What does the Pro plan cost?")
    assert not _misplaced("It costs 19 euros a month.", *PLANS, topic="What does the Pro plan cost?")


@pytest.mark.parametrize(
    ("contexts", "claim"),
    [
        (PLANS, "The Pro plan costs 10 euros more than the Basic plan."),
        (PLANS, "The Basic plan costs 9 euros and the Pro plan 19 euros."),
        ((*PLANS, "In the first year every plan costs 9 euros a month."), "The Pro plan costs 9 euros a month."),
        (("Basic: e-mail support.", "Pro: everything in Basic, phone support."), "Pro has e-mail support."),
        (("Price: 19 euros.", "Storage: 500 GB.", "Delivery: 3 days."), "The price is 19 euros with 500 GB."),
        (("Team: up to 5 users.", "Solo: 3 users."), "A team may have 3 users."),
        (("Entrance: free parking.", "Facilities: street parking."), "The facilities include free parking."),
        (
            ("name: Nora's Pizza; city: Graz", "categories: Pizza Places, Lunch Bars", "ambience: Lunch Places"),
            "It falls under the categories of Lunch Places.",
        ),
        (("Note: the fee is 30 euros.", "Refund: 20 euros."), "Note that you get 20 euros back."),
    ],
)
def test_labelled_lines_leave_open_what_several_lines_or_others_say(contexts: tuple[str, ...], claim: str) -> None:
    assert not _misplaced(claim, *contexts)


@pytest.mark.parametrize(
    ("evidence", "right", "wrong"),
    [
        ("Die Stadt Oberau liegt auf 610 Metern über dem Meer. Unterau, 4 Kilometer talabwärts gelegen, zählt rund 900 Einwohner und liegt auf 540 Metern.", "Unterau kommt auf 540 Meter.", "Unterau kommt auf 610 Meter."),
        ("Der Turm Nord misst 80 Meter. Der Turm Süd, 2 Kilometer entfernt gelegen, bietet rund 90 Plätze und misst 65 Meter.", "Der Turm Süd kommt auf 65 Meter.", "Der Turm Süd kommt auf 80 Meter."),
        ("Der See Alm fasst 300 Liter. Der See Bor, 3 Kilometer weiter gelegen und 20 Liter ärmer, bietet rund 90 Plätze und fasst 280 Liter.", "Der See Bor fasst 280 Liter.", "Der See Bor fasst 300 Liter."),
    ],
)  # fmt: skip
def test_a_german_clause_that_begins_with_its_verb_keeps_the_subject(evidence: str, right: str, wrong: str) -> None:
    assert verdicts_on("", evidence, right) == {"supported"}
    assert verdicts_on("", evidence, wrong) == {"contradicted"}


def test_things_with_values_are_read_once_for_all_claims_over_them(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = OwnedValues([["The grinder weighs 12 kg, the case weighs 3 kg."]])
    read: list[str] = []

    def counted(sentences: Sequence[HeldSentence], kind: str) -> list[Group]:
        read.append(kind)
        return groups_of(sentences, kind)

    monkeypatch.setattr(value_owners, "groups_of", counted)
    found = [combines_values(f"The case weighs {weight} kg.", "", evidence) for weight in range(10, 20)]
    assert found == [weight == 15 for weight in range(10, 20)]
    assert len(read) == 1
