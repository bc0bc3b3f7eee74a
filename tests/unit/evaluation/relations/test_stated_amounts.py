"""Amounts, bands, limits and sides of an event are compared as the evidence states them."""

import pytest

from tests.harness.whole_answers import is_warned_of
from workers.evaluation.contradictions.converses import is_other_side
from workers.evaluation.contradictions.denials import is_due
from workers.evaluation.facts.amounts_of_each import amounts_of_each
from workers.evaluation.relations.figures.bands import is_in_band
from workers.evaluation.relations.figures.restated_values import is_value_kept
from workers.evaluation.relations.figures.wholes import is_of_whole
from workers.evaluation.relations.times.date_limits import is_side_kept


def _cases(rows: str) -> list[list[str]]:
    return [row.split(" | ") for row in rows.strip().splitlines()]


AMOUNTS = _cases("""
How much memory do the nodes have in total? | Each node has 8 cores and 32 GiB of memory. The cluster has 4 nodes. | The nodes have 128 GiB of memory in total. | The nodes have 160 GiB of memory in total.
How much memory does a worker need? | A worker needs 4 GiB of memory. We recommend 4 replicas in production. | A worker needs 4 GiB of memory. | A worker needs 16 GiB of memory.
How many seats does the train have? | The train has 6 coaches. Every coach has 72 seats and two toilets. | Together the coaches have 432 seats. | Together the coaches have 144 seats.
How heavy is a sack? | A pallet carries 40 sacks. Each sack weighs 25 kg. | A pallet with all its sacks weighs 1,000 kg. | A sack weighs 1,000 kg.
How long is a shift? | A shift lasts 8 hours and there are 3 shifts a day. Breaks take 30 minutes. | A shift lasts 8 hours. | A shift lasts 24 hours.
What does the course cost? | The course has 12 lessons. A lesson costs 35 euros. | The whole course costs 420 euros. | The whole course costs 35 euros.
How long does the course take? | The course has 12 lessons of 90 minutes each. | The whole course takes 18 hours. | The whole course takes 90 minutes.
How much storage does a user get? | Every user gets 15 GB of storage. The family plan covers 6 users. | Each user gets 15 GB. | Each user gets 90 GB.
How much memory does a runner get? | A runner gets 7 GB of memory and 2 cores. Up to 20 runners can be started. | A runner gets 7 GB of memory. | A runner gets 140 GB of memory.
How long is one lap? | One lap of the park is 2.4 km. The race has 4 laps. | One lap is 2.4 km, so the race is 9.6 km in total. | One lap is 9.6 km.
How many chairs are in the hall? | The hall has 14 rows. Each row has 22 chairs. | Altogether there are 308 chairs in the hall. | Altogether there are 22 chairs in the hall.
How much water do the beds need? | Each of the 6 beds needs 15 litres of water a day. | Together the beds need 90 litres of water a day. | Together the beds need 15 litres of water a day.
What did the tickets cost? | We bought 8 tickets at 12.50 euros each. | The tickets cost 100 euros in total. | The tickets cost 12.50 euros in total.
""")
BANDS = _cases("""
Which size does my 14 kg dog need? | Dogs of 2 to 4.9 kg: size XS. 5 to 9.9 kg: size S. 10 to 19.9 kg: size M. 20 to 40 kg: size L. | At 14 kg your dog needs size M. | At 14 kg your dog needs size L.
What is the fee for a parcel of 3 kg? | Parcels up to 2 kg cost 6 euros. Parcels from 2 to 5 kg cost 9 euros. Parcels from 5 to 10 kg cost 14 euros. | A parcel of 3 kg costs 9 euros. | A parcel of 3 kg costs 14 euros.
Which rate applies to 45,000 euros? | Income from 11,000 to 30,000 euros is taxed at 24 %. Income from 30,000 to 60,000 euros is taxed at 35 %. | An income of 45,000 euros is taxed at 35 %. | An income of 45,000 euros is taxed at 24 %.
Which group does a child aged 7 join? | Children aged 3 to 5 are in the Bees. Children aged 6 to 9 are in the Foxes. From 10 on they are Eagles. | A child aged 7 is in the Foxes. | A child aged 7 is in the Bees.
Which alarm limit has freezer F-12? | Units F-01 to F-08 alarm at -12 °C. Units F-09 to F-15 alarm at -65 °C. | Freezer F-12 alarms at -65 °C. | Freezer F-12 alarms at -12 °C.
Which gate does row 22 use? | Rows 1 to 15 board at gate A. Rows 16 to 30 board at gate B. | Row 22 boards at gate B. | Row 22 boards at gate A.
How much does postage cost for a 120 g letter? | Letters up to 50 g cost 0.95 euros, letters from 51 g to 500 g cost 1.60 euros, and letters from 501 g to 1000 g cost 2.75 euros. | A 120 g letter costs 1.60 euros. | A 120 g letter costs 2.75 euros.
How many days of leave do I get after 7 years? | Leave depends on service. 0 to 4 years: 25 days. 5 to 9 years: 28 days. 10 to 30 years: 30 days. | After 7 years you get 28 days of leave. | After 7 years you get 30 days of leave.
Which carriage is seat 45 in? | Seats 1 to 40 are in the front carriage; seats 41 to 80 are in the rear carriage. | Seat 45 is in the rear carriage. | Seat 45 is in the front carriage.
What is the fee for a withdrawal of 800 euros? | Withdrawals from 10 to 500 euros cost 2 euros. Withdrawals from 501 to 2,000 euros cost 5 euros. | A withdrawal of 800 euros costs 5 euros. | A withdrawal of 800 euros costs 2 euros.
""")
SIDES = _cases("""
What happened between Altera Foods and Brightgrain? | Altera Foods agreed to sell its cereal division to Brightgrain for $820 million in cash. | Brightgrain is buying Altera's cereal division for $820 million in cash. | Altera is buying Brightgrain's cereal division for $820 million in cash.
Who lent the painting? | The museum in Ghent lent the painting to the gallery in Lyon for six months. | The gallery in Lyon borrowed the painting from the museum in Ghent for six months. | The museum in Ghent borrowed the painting from the gallery in Lyon for six months.
Who teaches whom? | Maria Sand taught the violinist Ole Bruun from 1931 to 1936. | Ole Bruun learned from Maria Sand from 1931 to 1936. | Maria Sand learned from Ole Bruun from 1931 to 1936.
Who supplies the hospital? | Norvik Pharma sells insulin to St Mary's Hospital under a three-year contract. | St Mary's Hospital buys insulin from Norvik Pharma under a three-year contract. | Norvik Pharma buys insulin from St Mary's Hospital under a three-year contract.
Who won the final? | Hana Mori beat Lena Fuchs in the final, 6-4, 7-5. | Lena Fuchs lost to Hana Mori in the final. | Hana Mori lost to Lena Fuchs in the final.
Who gave the prize to whom? | The Larsen Foundation awarded the prize to Amina Diallo in 2019. | Amina Diallo received the prize from the Larsen Foundation in 2019. | The Larsen Foundation received the prize from Amina Diallo in 2019.
""")
LIMITS = _cases("""
When must I treat the bees? | Treat all colonies directly after the last harvest and no later than mid-August. | Treat every colony by mid-August at the latest. | Treat every colony no earlier than mid-August.
When does the form have to arrive? | The form must arrive no later than 10 May. | The form must arrive by 10 May at the latest. | The form must arrive after 10 May.
How many guests may I bring? | Members may bring no more than three guests. | Members may bring three guests at most. | Members must bring at least three guests.
When does the library accept returns? | Books must be handed in before 6 pm on Fridays. | On Fridays books are to be handed in by 6 pm at the latest. | On Fridays books are to be handed in after 6 pm.
When can I pick up the badge? | Badges can be collected from 9 am on the first day. | You can collect your badge from 9 am on the first day. | You can collect your badge until 9 am on the first day.
When is the new tariff valid? | The new tariff applies from 1 July 2026. The old one is valid until 30 June 2026. | The new tariff applies from 1 July 2026. | The new tariff applies until 1 July 2026.
What do I have to return today? | Piranesi is due on 11 March and has not been returned. Today is 11 March. | Piranesi has to be returned today. | Piranesi was returned today.
What do I still need to sign? | The lease has been signed. The inventory list has not been signed yet. | You still have to sign the inventory list. | You have signed the inventory list.
""")


@pytest.mark.parametrize(("question", "context", "right", "wrong"), [*AMOUNTS, *BANDS, *SIDES, *LIMITS])
def test_the_wrong_one_of_two_answers_is_noticed(question: str, context: str, right: str, wrong: str) -> None:
    assert is_warned_of(wrong, question, context)
    assert not is_warned_of(right, question, context)


def test_a_figure_that_a_named_calculation_gives_is_no_restated_value() -> None:
    known = ["A shift lasts 8 hours.", "A break lasts 30 minutes."]
    assert is_value_kept("A shift lasts 24 hours.", "How long is a shift?", known) is False
    assert is_value_kept("Three shifts last 24 hours in total.", "", known) is None
    assert is_value_kept("A shift lasts 480 minutes.", "", known) is None
    assert is_value_kept("A shift lasts about 9 hours.", "", known) is None


def test_a_value_within_stated_bounds_is_kept() -> None:
    assert is_value_kept("The tank holds 80 litres.", "", ["The tank holds at least 60 litres."]) is None
    assert is_value_kept("The tank holds 50 litres.", "", ["The tank holds at least 60 litres."]) is False
    assert is_value_kept("The delay was under 10 seconds.", "", ["The delay was 8 seconds."]) is None
    assert is_value_kept("The delay was under 10 seconds.", "", ["The delay was 12 seconds."]) is False


def test_amounts_of_each_need_one_count() -> None:
    assert [
        (each.noun, each.count) for each in amounts_of_each(("Each sack weighs 25 kg.", "There are 40 sacks."))
    ] == [("sack", 40.0)]
    assert not amounts_of_each(("Each sack weighs 25 kg.", "There are 40 sacks here and 60 sacks there."))
    assert not amounts_of_each(("Each sack weighs 25 kg.",))


def test_a_whole_is_not_compared_where_the_claim_is_about_one() -> None:
    known = ["We bought 8 tickets at 12.50 euros each."]
    assert is_of_whole("The tickets cost 12.50 euros in total.", known) is False
    assert is_of_whole("A ticket costs 12.50 euros in total.", known) is None
    assert is_of_whole("In total the tickets cost 12.50 euros each.", known) is None


def test_bands_decide_only_between_two_of_one_kind() -> None:
    known = ["Rows 1 to 15 board at gate A.", "Rows 16 to 30 board at gate B."]
    assert is_in_band("Row 7 boards at gate A.", "", known) is True
    assert is_in_band("Row 7 boards at gate B.", "", known) is False
    assert is_in_band("Row 7 boards early.", "", known) is None
    assert is_in_band("Row 40 boards at gate B.", "", known) is None
    assert is_in_band("Row 7 boards at gate A.", "", known[:1]) is None
    assert is_in_band("Flight 7 leaves from gate B.", "", known) is None


def test_the_other_side_of_an_event_needs_exchanged_parties() -> None:
    evidence = "The museum in Ghent lent the painting to the gallery in Lyon."
    assert is_other_side("The gallery in Lyon borrowed the painting from Ghent.", evidence)
    assert is_other_side("The painting was borrowed by the gallery in Lyon from the museum in Ghent.", evidence)
    assert not is_other_side("The museum in Ghent borrowed the painting from Lyon.", evidence)
    assert not is_other_side("The painting was borrowed by the museum in Ghent from the gallery in Lyon.", evidence)


def test_parties_of_one_kind_are_told_apart_by_their_other_words() -> None:
    evidence = "The museum in Ghent lent the painting to the museum in Lyon."
    assert is_other_side("The museum in Lyon borrowed the painting from the museum in Ghent.", evidence)
    assert not is_other_side("The museum in Ghent borrowed the painting from the museum in Lyon.", evidence)
    # Ghent acts on both sides, whoever else is named.
    assert not is_other_side("Ghent and Lyon borrowed it from Bruges.", "Bruges and Ghent lent it to Lyon.")


def test_an_event_that_is_passed_on_has_two_other_sides() -> None:
    evidence = "In 2019 the Hart family sold the mill to the town of Elm, which sold it to Jan Kok in 2023."
    assert is_other_side("Jan Kok bought the mill from the town of Elm in 2023.", evidence)
    assert is_other_side("The town of Elm bought the mill from the Hart family.", evidence)
    assert not is_other_side("The Hart family bought the mill from the town of Elm.", evidence)


def test_sides_of_a_time_are_not_compared_across_a_denial() -> None:
    known = ["Music must be turned off by 10 pm."]
    assert is_side_kept("Music must be turned off after 10 pm.", "", known) is False
    assert is_side_kept("Music must not be played after 10 pm.", "", known) is None
    assert is_side_kept("Music must be turned off by 10 pm.", "", known) is None
    both = ["The desk is open until 5 pm.", "The desk is closed after 5 pm."]
    assert is_side_kept("The desk is open until 5 pm.", "", both) is None


def test_what_is_still_to_be_done_denies_nothing() -> None:
    assert is_due("The keys have to be rotated.", "The keys have not been rotated yet.")
    assert not is_due("The keys were rotated.", "The keys have not been rotated yet.")
    assert not is_due("The keys have to be rotated.", "The keys have not been sold.")
