"""A claim is compared with the orders, changes, references and exceptions that the evidence states."""

from collections.abc import Sequence

import pytest

from schemas.answers import ContextChunk
from tests.harness.whole_answers import is_warned_of
from workers.evaluation.claims.claim_extraction import extract_claims
from workers.evaluation.grounding.sources.clause_evidence import _chosen
from workers.evaluation.grounding.sources.evidence import collect_evidence
from workers.evaluation.relations.comparison import answer_by_relation
from workers.evaluation.relations.figures.reference_units import is_reference_kept
from workers.evaluation.relations.figures.stated_differences import is_order_stated
from workers.evaluation.relations.other_groups import is_group_right
from workers.evaluation.relations.times.changed_states import is_state_present
from workers.evaluation.text.structure.segmentation import segment
from workers.evaluation.text.words import content_words


def _cases(rows: str) -> list[list[str]]:
    return [row.split(" | ") for row in rows.strip().splitlines()]


OPPOSITES = _cases("""
Is dental treatment covered? | The basic plan covers hospital stays and medicines. Dental treatment is excluded. | No, dental treatment is excluded. | Dental treatment is covered.
Is breakfast part of the package? | The package includes breakfast and one dinner. | Breakfast is included. | Breakfast is excluded from the package.
What happened to the library in the storm? | The storm tore the roof off the school, but the library was unharmed. | The library was not damaged. | The library was destroyed in the storm.
How much data does the Basic tariff have? | The Basic tariff has 20 GB of data a month. | 20 GB a month. | The Basic tariff has unlimited data.
Did Rosa Lind climb the peak alone? | Rosa Lind climbed the peak together with her brother Emil in 1987. | Rosa Lind climbed the peak with her brother. | Rosa Lind climbed the peak alone.
Are sports injuries insured? | The policy covers accidents at work. Sports injuries are excluded from cover. | Sports injuries are not covered. | Sports injuries are included in the cover.
Are drinks part of the menu price? | The menu price covers three courses and drinks. | Drinks are covered by the menu price. | Drinks are excluded from the menu price.
How many users may work at once? | The licence allows up to 25 simultaneous users. | Up to 25 users. | The licence allows unlimited simultaneous users.
Who wrote the report? | Dr Ahn wrote the report together with two colleagues from Seoul. | Dr Ahn and two colleagues wrote the report. | Dr Ahn wrote the report alone.
""")
GROUPS = _cases("""
Who must sign the register? | Staff and students may enter freely. All other visitors must sign the register. | Visitors who are neither staff nor students must sign the register. | Students must sign the register.
Are all museums open on Monday? | All museums are open on Mondays except the Glass Museum. | All museums but the Glass Museum are open on Mondays. | The Glass Museum is open on Mondays.
Which rooms have a balcony? | Every room except number 12 has a balcony. | Room 14 has a balcony. | Room 12 has a balcony.
Who pays the entry fee? | Children under six and pensioners are admitted free. Everyone else pays 8 euros. | Pensioners do not pay. | Pensioners pay 8 euros.
May contractors use the gym? | The gym is open to permanent employees. No one else may use it. | Contractors may not use the gym. | Contractors may use the gym.
Who needs a visa? | Citizens of Norway and Iceland enter without a visa. All other travellers need a visa. | Travellers from elsewhere need a visa. | Citizens of Norway need a visa.
Which shops are closed on Sunday? | All shops in the mall close on Sundays except the pharmacy. | The bookshop is closed on Sundays. | The pharmacy is closed on Sundays.
Which dishes contain nuts? | None of the dishes contains nuts except the brownie. | The brownie contains nuts. | The brownie contains no nuts.
Are all trains stopping at Lund? | Apart from the night express, all trains stop at Lund. | Regional trains stop at Lund. | The night express stops at Lund.
""")
REFERENCES = _cases("""
How much caffeine does the drink have? | The drink contains 32 mg of caffeine per 100 ml. A bottle holds 500 ml. | It contains 32 mg of caffeine per 100 ml. | It contains 32 mg of caffeine per bottle.
What does the tour cost? | The boat tour costs 120 euros per group of up to eight people. | The tour costs 120 euros per group. | The tour costs 120 euros per person.
What is the fee of the account? | The account costs 48 dollars a year. | The account costs 48 dollars a year. | The account costs 48 dollars a month.
How much water does the machine use? | The washing machine uses 45 litres per cycle. | It uses 45 litres per cycle. | It uses 45 litres per hour.
How much do nurses earn? | Nurses at the clinic earn 31 euros an hour. | They earn 31 euros per hour. | They earn 31 euros per day.
How much sugar is in the yoghurt? | The yoghurt has 9 g of sugar per 100 g; a pot weighs 150 g. | It has 9 g of sugar per 100 g. | It has 9 g of sugar per pot.
What does the permit cost? | The parking permit costs 15 pounds per week. | 15 pounds a week. | 15 pounds a month.
How many calls can I make? | The API allows 100 requests per minute. | 100 requests per minute. | 100 requests per second.
How much is the room? | A room costs 90 euros per night, whatever the number of guests. | A room costs 90 euros a night. | A room costs 90 euros per guest.
What does the lift carry? | The lift carries 12 people per trip. | The lift carries 12 people per trip. | The lift carries 12 people per hour.
""")
CHANGES = _cases("""
Where is the archive? | The archive was moved from the cellar to the second floor in 2021. | The archive is on the second floor. | The archive is in the cellar.
What is the team called now? | The Harbour Hawks were renamed the Bay Falcons in 2019. | The team is called the Bay Falcons. | The team is called the Harbour Hawks.
Which database does the service use? | In March, MySQL was replaced by PostgreSQL in the billing service. | The billing service uses PostgreSQL. | The billing service uses MySQL.
Who is the director of the institute? | Until 2020 Hanna Roth was director of the institute; since then Milan Kos has led it. | Milan Kos is the director. | Hanna Roth is the director of the institute.
Where does the company have its headquarters? | The company relocated its headquarters from Bremen to Leipzig last year. | Its headquarters are in Leipzig. | Its headquarters are in Bremen.
Where is the statue? | In 2015 the statue was moved from the market square to the park. | The statue is in the park. | The statue stands in the market square.
What is the street called today? | King Street was renamed Freedom Street in 1990. | Today it is called Freedom Street. | Today it is called King Street.
What engine does the boat have? | The diesel engine was replaced with an electric motor last spring. | The boat has an electric motor. | The boat has a diesel engine.
On which day is the market? | The market was shifted from Friday to Saturday. | The market is on Saturday. | The market is on Friday.
""")
DIFFERENCES = _cases("""
Which parcel is heavier? | Parcel A weighs 900 g more than parcel B. | Parcel A is heavier. | Parcel B is heavier.
Which of the two bridges is longer? | The Elm bridge is twice as long as the Oak bridge. | The Elm bridge is longer. | The Oak bridge is longer.
Which model is cheaper? | The Pro model costs 200 euros more than the Lite model. | The Lite model is cheaper. | The Pro model is cheaper.
Who is older, Tim or Lea? | Tim was born three years after Lea. | Lea is older. | Tim is older.
Which tower is taller? | The north tower is 12 metres shorter than the south tower. | The south tower is taller. | The north tower is taller.
Which lake is deeper? | Lake Vara is 14 metres deeper than Lake Sund. | Lake Vara is deeper. | Lake Sund is deeper.
Which city is larger? | Porto Nero has three times as many inhabitants as Castel. | Porto Nero is larger. | Castel is larger.
Which route is shorter? | The coastal route takes 40 km more than the mountain route. | The mountain route is shorter. | The coastal route is shorter.
Which phone is cheaper? | The K2 costs half as much as the K3. | The K2 is cheaper. | The K3 is cheaper.
Which pump is louder? | Pump 1 is 6 decibels quieter than pump 2. | Pump 2 is louder. | Pump 1 is louder.
""")
"""A question, a source, a right and a wrong answer."""

NEAR = _cases("""
Where is the archive? | The archive was moved from the cellar to the second floor in 2021. In 2023 it was moved from the second floor to the cellar. | The archive is in the cellar.
Where is the boiler? | The archive was moved from the cellar to the second floor. The boiler is still in the cellar. | The boiler is in the cellar.
What is the new name? | The Harbour Hawks were renamed the Bay Falcons in 2019. | The Harbour Hawks are now called the Bay Falcons.
Which database does the shop use? | MySQL was replaced by PostgreSQL in the billing service. The shop uses MySQL. | The shop uses MySQL.
Who led it first? | Until 2020 Hanna Roth was director; since then Milan Kos has led it. | Hanna Roth was director until 2020.
What was the name? | King Street was renamed Freedom Street in 1990. | It was called King Street until 1990.
How do I get from the station to the hotel? | Take bus 4 from the station to the hotel. | Bus 4 goes from the station to the hotel.
What is the yearly price? | The plan costs 10 dollars a month, or 100 dollars a year. | It costs 100 dollars per year.
What does the room cost? | A room costs 90 euros per person per night. | 90 euros per night and person.
How fast may I call? | The API allows 100 requests per minute per key. | 100 requests per key and minute.
How much is it? | The monthly fee is 25 euros per user. | 25 euros per month for each user.
Which parcel is heavier? | Parcel A weighs 900 g more than parcel B. Parcel C weighs 2 kg more than parcel A. | Parcel C is heavier than parcel A.
Is the Pro model cheaper? | The Pro model costs 200 euros more than the Lite model. | No, it costs 200 euros more.
Is tea cheaper than coffee? | Coffee costs one euro more than tea. | Yes, tea is cheaper.
Which planet is smaller? | Mars is about half as wide as Earth. | Mars is smaller than Earth.
Who must pay? | All visitors except children must pay. | Children need not pay.
Who must sign? | Staff and students may enter freely. All other visitors must sign the register. | Contractors must sign the register.
Who must sign? | Staff and students may enter freely. All other visitors must sign the register. | Students do not have to sign the register.
Which dishes have nuts? | All dishes except the soup contain nuts. | The soup contains no nuts.
May children swim? | No one under 12 may swim alone, except club members. | Club members under 12 may swim alone.
Who can see it? | Only admins can see the log. No one else can see it. | Admins can see the log.
What is covered? | The policy covers theft and fire, but excludes floods. | Fire is covered.
What happened? | The fire damaged the roof, but the organ survived. | The roof was damaged.
Did she climb alone? | Rosa Lind climbed the peak together with her brother in 1987, and alone in 1990. | In 1990 she climbed the peak alone.
How many in Berlin? | Together the branches sold 400 bikes; Berlin alone sold 150. | Berlin alone sold 150 bikes.
""")


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"), [*OPPOSITES, *GROUPS, *REFERENCES, *CHANGES, *DIFFERENCES]
)
def test_the_wrong_one_of_two_answers_is_noticed(question: str, context: str, right: str, wrong: str) -> None:
    assert is_warned_of(wrong, question, context)
    assert not is_warned_of(right, question, context)


@pytest.mark.parametrize(("question", "context", "right"), NEAR)
def test_a_right_answer_near_a_rule_is_not_flagged(question: str, context: str, right: str) -> None:
    assert not is_warned_of(right, question, context)


@pytest.mark.parametrize(
    ("question", "sentences", "answer"),
    [
        ("Is parcel B heavier?", ["Parcel A weighs 900 g more than parcel B."], False),
        ("Is parcel B lighter?", ["Parcel A weighs 900 g more than parcel B."], True),
        ("Is the archive in the cellar?", ["The archive was moved from the cellar to the attic."], False),
        ("Does the tour cost 120 euros per person?", ["The tour costs 120 euros per group."], False),
        (
            "Must students sign the register?",
            ["Staff and students enter freely.", "Everyone else must sign the register."],
            False,
        ),
        ("Which parcel is heavier?", ["Parcel A weighs 900 g more than parcel B."], None),
        ("Is parcel C heavier?", ["Parcel A weighs 900 g more than parcel B."], None),
    ],
)
def test_a_relation_answers_a_question_for_yes_or_no(
    question: str, sentences: Sequence[str], answer: bool | None
) -> None:
    assert answer_by_relation(question, sentences) is answer


def test_the_greater_of_two_need_not_be_the_greatest() -> None:
    known = ["Lake Vara is 14 metres deeper than Lake Sund."]
    assert is_order_stated("Lake Sund is the deepest.", "", known) is False
    assert is_order_stated("Lake Vara is the deepest.", "", known) is None


def test_two_differences_that_contradict_each_other_decide_nothing() -> None:
    known = ["Lake Vara is deeper than Lake Sund.", "Lake Sund is deeper than Lake Vara."]
    assert is_order_stated("Lake Vara is deeper.", "", known) is None


def test_a_claim_about_the_past_is_not_compared_with_what_came_after() -> None:
    known = ["The archive was moved from the cellar to the attic in 2021."]
    assert is_state_present("The archive was in the cellar.", "", known) is None
    assert is_state_present("In the cellar.", "Where was the archive before?", known) is None
    assert is_state_present("In the cellar.", "Where is the archive?", known) is False


def test_a_reference_that_the_evidence_also_has_is_right() -> None:
    known = ["Entry costs 5 euros per person.", "A pass costs 5 euros per month."]
    assert is_reference_kept("It costs 5 euros per month.", "", known) is None
    assert is_reference_kept("It costs 5 euros per day.", "", known) is False
    assert is_reference_kept("The limit is 600/min.", "", ["600 requests per minute are allowed."]) is None


def test_what_others_must_do_is_not_forbidden_to_the_rest() -> None:
    known = ["Staff may enter freely.", "Everyone else must sign the register."]
    assert is_group_right("Staff must not sign the register.", known) is None
    assert is_group_right("Staff must sign the register.", known) is False
    assert is_group_right("Everyone but staff must sign the register.", known) is None


def test_what_is_not_transferable_cannot_be_used_by_someone_else() -> None:
    question, context = "Can the ticket be used by someone else?", "Tickets are non-transferable and non-refundable."
    assert not is_warned_of("No, someone else cannot use the ticket.", question, context)
    assert is_warned_of("Yes, someone else can use the ticket.", question, context)


def test_sentences_of_other_sources_and_beyond_gaps_do_not_follow_each_other() -> None:
    contents = [
        "The fee is 20 euros. The hall is warm. The fee covers the towel.",
        "The fee for the hall is due in May.",
    ]
    chunks = [ContextChunk(chunk_id=f"c{number}", content=content) for number, content in enumerate(contents)]
    text = "The fee is 20 euros."
    claim = extract_claims(text, segment(text))[0]
    found = _chosen(claim, collect_evidence(chunks, content_words(text)), has_borders=True)
    assert found == ["The fee is 20 euros.", "", "The fee covers the towel.", "", "The fee for the hall is due in May."]
