"""Notice another noun of the source in the place of one part, and keep statements that take words from two sentences."""

import re

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.clauses.exchanged_parts import MAX_SENTENCES, MAX_SOURCE, has_exchanged_part
from workers.evaluation.clauses.repeated_sentences import clause_borders, read_sentence, without_items

WRONG = [
    # a modifier
    ("The left pedal moves the blade down. The right pedal stops the motor. Keep both feet dry.", "The right pedal moves the blade down."),
    ("Press the green key to start the scan. The blue key prints the page.", "Press the blue key to start the scan."),
    ("Press the power button for two seconds. The volume button is on the left.", "Press the volume button for two seconds."),
    # an actor
    ("A keeper feeds the seals at noon. A vet examines them once a month.", "A vet feeds the seals at noon."),
    ("The committee chooses the winner, and the sponsor pays the prize.", "The sponsor chooses the winner."),
    ("The cleaners sweep the yard every morning. The porter opens the gate at six.", "The porter sweeps the yard every morning."),
    ("Lena Ott repaired the clock of the church. Her brother Paul painted its doors.", "Paul repaired the clock of the church."),
    # an object
    ("Grease the axle once a month. The chain needs oil. Wipe the saddle with a dry cloth.", "Grease the saddle once a month."),
    ("Take the syrup after meals. The drops are taken before bed.", "Take the drops after meals."),
    # a place
    ("Clean towels are kept in the cupboard under the stairs. The iron stands in the attic.", "Clean towels are kept in the attic."),
    ("The night bus leaves from the harbour every hour. The airport bus leaves from the square.", "The night bus leaves from the square every hour."),
    # one of joined things
    ("The course fee includes books and lunch. The exam is paid separately. Parking is free.", "The course fee includes books and parking."),
    ("Passengers may bring one bag and an umbrella into the cabin. Skis travel in the hold.", "Passengers may bring skis into the cabin."),
    ("The chief invited teachers and nurses to the talk. Reporters were asked to wait outside.", "The chief invited reporters to the talk."),
    # a cause, a purpose, a case
    ("The tram line is closed because the rails are being replaced. A burst pipe has flooded the depot.", "The tram line is closed because of a burst pipe."),
    ("The filter is used to keep sand out of the pump. The valve is there to release air.", "The filter is used to release air."),
    ("Children who read at home had better marks. Children who played chess slept longer.", "Children who played chess had better marks."),
]  # fmt: skip
RIGHT = [
    # the same thing by another noun, or by a pronoun
    ("The bakery on Mill Street opened in May. The shop sells bread and cakes.", "The bakery sells bread and cakes."),
    ("The thief was seen in a park near the river. Police arrested the man at a station in Linz.", "The thief was arrested at a station in Linz."),
    ("Ibuprofen relieves pain. The drug must not be taken before an operation.", "Ibuprofen must not be taken before an operation."),
    ("The pool has two lifeguards. The younger one, Tom, checks the water each morning.", "Tom checks the water each morning."),
    ("The tower was designed by Maria Holm. Holm, an engineer from Bergen, built the bridge too.", "The tower was designed by an engineer from Bergen."),
    ("Guests can use the pool until nine. They can also use the gym.", "Guests can use the gym."),
    ("Tom left his keys on the train. A day later he left his coat in a taxi.", "Tom left his coat in a taxi."),
    # what another sentence adds
    ("Guests can use the pool until nine. The gym is open to them as well.", "Guests can use the pool and the gym."),
    ("The plan covers theft and fire. Flood damage is included too.", "The plan covers theft, fire and flood damage."),
    ("Members can borrow books for four weeks. The same goes for students with a card.", "Students can borrow books for four weeks."),
    ("The rent includes water. Heating has been part of it since May.", "The rent includes heating."),
    ("Divers found a chest in the wreck. A gold ring lay inside the chest.", "Divers found a gold ring in the wreck."),
    ("The jacket can go in the machine. The hood is removable; wash it together with the jacket.", "The hood can go in the machine."),
    # what another sentence says
    ("Hold the power button for ten seconds to switch the speaker off. Hold the volume button to reset it.", "Hold the volume button to reset the speaker."),
    ("A lifeguard and a caretaker work at the pool. Both check the water each morning.", "The caretaker checks the water each morning."),
    ("The tenant pays the heating costs. Since April, the landlord has paid them.", "The landlord has paid the heating costs since April."),
    ("The firm bought a mill in Turin. Last week it sold its plant in Lyon.", "The firm sold its plant in Lyon last week."),
    ("Glue smaller pieces together to make the base. Trim them to form an edge.", "Glue smaller pieces together to form the base."),
    ("Curling, also called stone play, is a game played on ice.", "Curling is played on ice."),
    ("Wipe the door with a cloth; the same cloth does for the racks.", "Wipe the racks with a cloth."),
    # two clauses of one sentence
    ("Mule deer mate in November; white-tailed deer breed in December.", "White-tailed deer breed in December."),
]  # fmt: skip


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=\.)\s", text)


@pytest.mark.parametrize(("context", "claim"), WRONG)
def test_another_noun_of_the_source_is_noticed(context: str, claim: str) -> None:
    assert has_exchanged_part(claim, [sentences(context)])


@pytest.mark.parametrize(("context", "claim"), RIGHT)
def test_a_statement_may_take_words_from_two_sentences(context: str, claim: str) -> None:
    assert not has_exchanged_part(claim, [sentences(context)])


@pytest.mark.parametrize(
    ("context", "claim"),
    [
        ("Hold the power button. The volume button is on the left.", "Hold the mute button."),
        ("Hold the power button. The volume button is on the left.", "Do not hold the volume button."),
        ("Camping is allowed in the park. In summer the rules change.", "Camping is allowed in summer."),
        ("The council met in the hall for three hours. The strike goes on.", "The council met in the hall because of the strike."),
    ],
)  # fmt: skip
def test_other_differences_are_left_to_other_rules(context: str, claim: str) -> None:
    assert not has_exchanged_part(claim, [sentences(context)])


def test_a_long_source_and_another_source_decide_nothing() -> None:
    source = ["Grease the axle once a month.", "Wipe the saddle with a dry cloth."]
    claim = "Grease the saddle once a month."
    assert has_exchanged_part(claim, [source])
    assert not has_exchanged_part(claim, [source[:1], source[1:]])
    assert not has_exchanged_part(claim, [source, [claim]])
    assert not has_exchanged_part(claim, [[*source, "x" * MAX_SOURCE]])
    assert not has_exchanged_part(claim, [source, ["A bell rings."] * MAX_SENTENCES])


def test_joined_things_begin_no_clause() -> None:
    text = "The hall has a stage, lamps and a bar, and the garden is open in June."
    assert clause_borders(text) == {0, 4}
    left = {" ".join(word.text for word in each.words) for each in without_items(read_sentence("Pay for tea and cake"))}
    assert left == {"Pay tea", "Pay cake"}


@pytest.mark.parametrize(
    ("question", "context", "wrong", "right"),
    [
        ("How do I start?", WRONG[1][0], WRONG[1][1], "Press the green key to start the scan."),
        ("Who decides?", WRONG[4][0], WRONG[4][1], "The committee chooses the winner."),
    ],
)  # fmt: skip
def test_the_pipeline_does_not_support_such_a_claim(question: str, context: str, wrong: str, right: str) -> None:
    assert "supported" not in verdicts_on(question, context, wrong)
    assert verdicts_on(question, context, right) == {"supported"}


NOWHERE = [  # source, statement with a thing that no source names, right statement
    ("The ceremony took place in the old chapel behind the library.", "The ceremony took place in the garden.", "The ceremony took place in the chapel."),
    ("She ordered a coffee and a slice of plum cake in the bar.", "She ordered a tea in the bar.", "She ordered a coffee in the bar."),
    ("The bridge was built from local oak by the farmers of the valley.", "The bridge was built from pine.", "The bridge was built from wood."),
    ("Divers found a bronze bell in the wreck.", "Divers found a bronze cannon in the wreck.", "Divers found a bronze bell in the wreck."),
    ("Visitors reach the island by ferry from the old harbour.", "Visitors reach the island by plane.", "Visitors reach the island by boat."),
    ("The cheese is made by hand from raw goat milk.", "The cheese is made from sheep milk.", "The cheese is made from goat milk."),
    ("The cheese is made by hand from raw goat milk.", "The cheese is made by machine.", "The cheese is made by hand."),
    ("The thief stole a painting from the hall and fled on foot.", "The thief stole a statue from the hall.", "The thief stole a picture from the hall."),
    ("The winner receives a bicycle and a dinner for two.", "The winner receives a violin.", "The winner receives a bike."),
    ("Trout with almonds was served at the wedding.", "Chicken with almonds was served at the wedding.", "Fish with almonds was served at the wedding."),
    ("The city built a theatre on the site of the old jail.", "The city built a stadium on the site of the old jail.", "The city built a theatre on the site of the old prison."),
    ("She was wearing a red hat and long gloves.", "She was wearing a red coat.", "She was wearing a red cap."),
    ("Guests park their cars in the yard behind the inn.", "Guests park their horses in the yard behind the inn.", "Guests park their vehicles in the yard behind the inn."),
    ("A truck hit the gate at night. Nobody was hurt.", "A train hit the gate at night.", "The vehicle hit the gate at night."),
]  # fmt: skip


@pytest.mark.parametrize(("source", "wrong", "right"), NOWHERE)
@pytest.mark.parametrize("rest", ["", " ".join(f"Hall {n} was painted in year {n} of the scheme." for n in range(40))])
def test_a_thing_that_no_source_names_is_noticed_in_sources_of_any_length(
    source: str, wrong: str, right: str, rest: str
) -> None:
    sentences = [part for part in re.split(r"(?<=\.)\s", f"{source} {rest}") if part]
    assert not has_exchanged_part(right, [sentences])
    assert has_exchanged_part(wrong, [sentences])


def test_nouns_that_may_mean_one_thing_or_are_in_no_table_are_left_open() -> None:
    source = ["The verdict pleased the farmers of the valley, who own the mill."]
    assert not has_exchanged_part("The ruling pleased the farmers of the valley.", [source])
    assert not has_exchanged_part("The verdict pleased the people of the valley.", [source])


def test_a_thing_that_another_source_names_is_left_open() -> None:
    source = ["The ceremony took place in the old chapel."]
    assert has_exchanged_part("The ceremony took place in the garden.", [source])
    assert not has_exchanged_part("The ceremony took place in the garden.", [source, ["The garden has a pond."]])
