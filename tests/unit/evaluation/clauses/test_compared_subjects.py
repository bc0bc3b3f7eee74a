"""Comparisons of subjects, charges, sides of limits, winners, and denials that the evidence puts otherwise."""

import pytest

from tests.harness.whole_answers import is_warned_of
from workers.evaluation.clauses.kinds.charges import answer_by_charge, is_charged_rightly
from workers.evaluation.clauses.kinds.contests import is_contest_right
from workers.evaluation.clauses.kinds.kept_limits import is_limit_kept
from workers.evaluation.clauses.paraphrases import with_paraphrases
from workers.evaluation.clauses.ranked_subjects import is_ranked_rightly
from workers.evaluation.ownership.value_owners import OwnedValues
from workers.evaluation.text.structure.segmentation import segment

ENGINES = ["Engine A was built in 1998.", "Engine B was built in 2006."]
TRAINS = ["The express takes 2 h 10 min; the regional train takes 3 h 25 min."]
TICKETS = ["A return ticket costs $18 by bus and $31 by train."]
MOUNTAINS = ["Mount Kel is 2,310 m high, Mount Dor 1,980 m.", "Mount Zan is 2,950 m high."]
PEAKS = [
    "Mount Alba, at 2,740 m, is the highest peak of the south.",
    "In the north Mount Ferrin climbs to 3,115 m.",
]
FARES = ["A train ticket costs 24 euros.", "The bus costs 19 euros."]
HOTELS = ["Hotel: Aurora; Price: 95 EUR; Rooms: 40", "Hotel: Belvedere; Price: 120 EUR; Rooms: 64"]


@pytest.mark.parametrize(
    ("claim", "question", "evidence", "right"),
    [
        ("Engine A is older.", "", ENGINES, True),
        ("Engine B is older than engine A.", "", ENGINES, False),
        ("Engine B is not older than engine A.", "", ENGINES, True),
        ("Engine B is newer.", "", ENGINES, True),
        ("Engine A.", "Which engine is older?", ENGINES, True),
        ("Engine A.", "Who built the engine?", ENGINES, None),
        ("The regional train is faster.", "Which is the faster train?", TRAINS, False),
        ("The express is the faster train.", "Which is the faster train?", TRAINS, True),
        ("The bus.", "Which is cheaper, train or bus?", TICKETS, True),
        ("The train is less expensive.", "", TICKETS, False),
        ("Mount Zan is the highest.", "", MOUNTAINS, True),
        ("Mount Kel is the highest.", "", MOUNTAINS, False),
        ("Mount Kel is higher than Mount Dor.", "", MOUNTAINS, True),
        ("The Aurora is cheaper.", "Which hotel is cheaper?", HOTELS, True),
        ("The Aurora has more rooms.", "Which hotel has more rooms?", HOTELS, False),
        ("Mount Ferrin is higher than Mount Alba.", "", PEAKS, True),
        ("Mount Alba is higher than Mount Ferrin.", "", PEAKS, False),
        ("The bus is cheaper.", "Is the train cheaper than the bus?", FARES, True),
        ("The train is cheaper.", "Is the train cheaper than the bus?", FARES, False),
        ("The train is not cheaper than the bus.", "", FARES, True),
        ("The bus is comfortable.", "Is the train cheaper than the bus?", FARES, None),
        ("The tram is cheaper than the bus.", "", FARES, None),
        ("The train is faster than the bus.", "", FARES, None),
        ("The Pro plan is cheaper.", "", ["Basic is $9 a month, the Pro plan $29 a month."], False),
        ("The Pro plan is cheaper.", "", ["Basic is $9 a month, the Pro plan $99 a year."], None),
        ("It is older.", "", ENGINES, None),
        ("The pump is older.", "", ENGINES, None),
        # The evidence says itself what compares how: that is for other checks.
        ("Engine B is older.", "", [*ENGINES, "The older one is engine B, which was rebuilt."], None),
        # Two values of one subject leave open which one is meant.
        ("Ann is faster.", "", ["Ann ran 12 s and 14 s.", "Bob ran 13 s."], None),
    ],
)
def test_an_order_is_compared_with_the_values_of_its_subjects(
    claim: str, question: str, evidence: list[str], right: bool | None
) -> None:
    assert is_ranked_rightly(claim, question, OwnedValues([evidence])) is right


@pytest.mark.parametrize(
    ("question", "evidence", "answer"),
    [
        ("Is breakfast included?", "The rate covers the room only; breakfast costs 14 euros extra.", False),
        ("Is parking free?", "Parking costs 3 euros per hour.", False),
        ("Is parking free?", "Parking is free for members.", None),
        ("Is parking free on Sundays?", "Parking is free on Sundays.", True),
        ("Are towels included?", "Towels can be hired for 5 euros.", False),
        ("Do I have to pay for parking?", "Parking is complimentary.", False),
        ("Do visitors pay for the sauna?", "Use of the sauna costs 9 euros per person.", True),
        ("Is there a charge for luggage storage?", "Luggage storage is available at no extra charge.", False),
        ("Is there a charge for late checkout?", "Late checkout costs $20.", True),
        ("Is the bread gluten-free?", "The bread costs 4 euros.", None),
        ("Does the tour include lunch?", "Lunch is payable on the spot.", False),
    ],
)
def test_what_is_free_and_what_costs_extra_answers_a_question(
    question: str, evidence: str, answer: bool | None
) -> None:
    assert answer_by_charge(question, [evidence]) is answer


def test_a_plan_that_includes_something_is_not_free() -> None:
    plans = ["Team plan: €7 per user and month, 500 GB storage."]
    assert is_charged_rightly("The Team plan includes 500 GB of storage.", plans) is None
    assert is_charged_rightly("Breakfast is included.", ["Breakfast costs 14 euros extra."]) is False


def test_those_who_pay_are_no_condition() -> None:
    assert is_charged_rightly("Parking is free.", ["Parking fees are payable by guests."]) is False
    assert is_charged_rightly("Parking is free.", ["Parking is free for residents."]) is None


@pytest.mark.parametrize(
    ("claim", "question", "evidence", "kept"),
    [
        ("At least 40.", "How many may enter?", "No more than 40 people may enter at a time.", False),
        ("At most 40.", "How many may enter?", "No more than 40 people may enter at a time.", True),
        ("Under 21.", "How old must I be?", "Renters must be over 21.", False),
        (
            "It is due after 15 March.",
            "When is the report due?",
            "The report must be submitted before 15 March.",
            False,
        ),
        ("At most 1.8 m.", "How high may the fence be?", "Fences must not exceed 1.8 m.", True),
        ("It is closed after 8 pm.", "When is the library closed?", "The library is open until 8 pm.", True),
        ("It is closed until 8 pm.", "When is the library closed?", "The library is open until 8 pm.", False),
        ("10 pm at the latest.", "When must guests arrive?", "Guests must arrive no later than 10 pm.", True),
        # The words alone do not show which of two limits a verb belongs to.
        ("It closes above 8 bar.", "", "It opens above 8 bar and closes below 7 bar.", None),
        ("He led it from 2012.", "When did Ben lead the team?", "Anna led the team until 2012.", None),
        ("At least 50.", "How many may enter?", "No more than 40 people may enter at a time.", None),
        (
            "If the latency exceeds 250 ms, more consumers make it worse.",
            "",
            "Check that the database is not the bottleneck: if the latency exceeds 250 ms, more consumers make it worse.",
            None,
        ),
    ],
)
def test_the_side_of_a_limit_is_compared(claim: str, question: str, evidence: str, kept: bool | None) -> None:
    assert is_limit_kept(claim, question, [evidence]) is kept


@pytest.mark.parametrize(
    ("claim", "question", "evidence", "right"),
    [
        ("Ashton won.", "Who won?", "Norwood beat Ashton 3-1.", False),
        ("Norwood.", "Who won the final?", "In the final Norwood defeated Ashton by three goals to one.", True),
        ("Keller beat Sorensen.", "", "Jonas Keller was beaten by Tim Sorensen in three sets.", False),
        ("Villar won.", "Who won the election?", "Ortega lost to Villar by 300 votes.", True),
        ("The Rovers won the derby.", "", "The derby was a win for the Hawks, who beat the Rovers 2-0.", False),
        ("Norwood won.", "", "Norwood beat Ashton in May and lost to Ashton in June.", None),
        ("Kesten won.", "", "Norwood beat Ashton 3-1.", None),
    ],
)
def test_winner_and_loser_are_compared(claim: str, question: str, evidence: str, right: bool | None) -> None:
    assert is_contest_right(claim, question, [evidence]) is right


@pytest.mark.parametrize(
    ("sentence", "meant"),
    [
        ("The phone lacks a headphone jack.", "The phone does not have a headphone jack."),
        ("She turned down the offer.", "She did not accept the offer."),
        ("Nobody under 18 is admitted.", "Minors are not allowed."),
        ("Nobody under 18 is admitted.", "Adults are allowed."),
        ("Damage by water or fire is excluded.", "water damage and fire damage is not covered."),
        ("Damage by water is not covered.", "water damage is not covered."),
        ("The study found no link between coffee and gout.", "coffee does not cause gout."),
        ("Riders without a helmet are turned away.", "A helmet is required."),
        ("You may stay up to 90 days without a visa.", "A visa is not needed for up to 90 days."),
        ("The flight landed 40 minutes late.", "The flight was not on time."),
    ],
)
def test_a_phrase_is_written_out_in_plain_words(sentence: str, meant: str) -> None:
    assert with_paraphrases([sentence])[0] == sentence
    assert meant in with_paraphrases([sentence])


def test_an_age_shuts_out_only_those_who_are_always_younger() -> None:
    for age in (12, 16):
        assert with_paraphrases([f"Nobody under {age} is admitted."]) == [f"Nobody under {age} is admitted."]
    told = with_paraphrases(["Nobody under 21 is admitted."])
    assert "Minors are not admitted." in told
    assert not any(text.startswith("Adults") for text in told), "at 19 an adult is not admitted"


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Mount Dor is 1,980 m. Mount Zan is 2,950 m high.", 2),
        ("It takes 30 min. Then wait.", 2),
        ("It is 12 V. Use it.", 2),
        ("The limit is 80 km/h. Cars may pass.", 2),
        ("Registration closes on 3 May. Late fees apply until 10 May.", 2),
        ("In 1998 M. Dupont left.", 1),
        ("See fig. 5 m below.", 1),
    ],
)
def test_a_unit_before_a_stop_is_no_initial(text: str, sentences: int) -> None:
    assert len(segment(text)) == sentences


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("Which engine is older?", " ".join(ENGINES), "Engine A is older.", "Engine B is older."),
        ("Is parking free?", "Parking costs 3 euros per hour.", "No.", "Yes."),
        (
            "What is known of sensor 3?",
            "Sensor 3 reported a fault at 02:14.",
            "Sensor 3 reported a fault last night.",
            "Sensor 3 reported no fault last night.",
        ),
        ("Do guests pay for the sauna?", "Use of the sauna costs 9 euros.", "Yes, 9 euros.", "No, the sauna is free."),
        (
            "Is there a charge for the pool?",
            "The pool is free of charge.",
            "No, it is free.",
            "Yes, the pool costs extra.",
        ),
        ("Is Mount Ferrin higher than Mount Alba?", " ".join(PEAKS), "Yes.", "No."),
        ("Is the train cheaper than the bus?", " ".join(FARES), "No.", "Yes."),
        ("Is the bus less expensive than the train?", " ".join(FARES), "Yes.", "No."),
        ("How many may enter?", "No more than 40 people may enter at a time.", "At most 40.", "At least 40."),
        ("Who won?", "Norwood beat Ashton 3-1.", "Norwood won.", "Ashton won."),
        (
            "Who taught whom?",
            "Aminata learned the kora from Lamine.",
            "Lamine taught Aminata.",
            "Aminata taught Lamine.",
        ),
        ("Can adults attend?", "Nobody under 18 is admitted to the show.", "Yes.", "No."),
        ("Is water damage covered?", "Damage by water, falls or improper use is excluded.", "No.", "Yes."),
        (
            "Was the bill passed?",
            "The senate rejected the bill by 51 votes to 47.",
            "No, the senate rejected it.",
            "Yes, the senate passed it by 51 votes to 47.",
        ),
        (
            "What did the study find?",
            "The study found no link between coffee and heart disease.",
            "It found no link between coffee and heart disease.",
            "It found that coffee causes heart disease.",
        ),
        ("Is the report public?", "The report is confidential.", "No, it is confidential.", "Yes, it is public."),
    ],
)
def test_the_wrong_answer_is_noticed_and_the_right_one_is_not_flagged(
    question: str, context: str, right: str, wrong: str
) -> None:
    assert is_warned_of(wrong, question, context)
    assert not is_warned_of(right, question, context)
