"""Two events in the other order are contradicted; exchanged clauses in one order are not."""

from collections.abc import Sequence

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.relations.times.event_orders import is_sequence_kept


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("", "She joined the navy before finishing school.", "She finished school after joining the navy.", "After finishing school she joined the navy."),
        ("", "Start the pump, then open the valve.", "Open the valve after starting the pump.", "Once the valve is open, start the pump."),
        ("", "A short film preceded the lecture.", "The lecture came after a short film.", "The lecture preceded a short film."),
        ("What comes first, sanding or priming?", "First sand the surface, then apply the primer.", "Sand the surface first.", "Apply the primer first, then sand the surface."),
        ("", "He worked as a teacher before he entered politics.", "He entered politics after he had worked as a teacher.", "He worked as a teacher after he entered politics."),
        ("", "The company bought Arvo and later sold its shipyard.", "The company sold its shipyard after it had bought Arvo.", "The company sold its shipyard before it bought Arvo."),
        ("", "Once the light turns green, remove the card.", "Remove the card after the light turns green.", "Remove the card before the light turns green."),
        ("", "Disconnect the battery before removing the cover.", "Remove the cover after disconnecting the battery.", "Remove the cover, then disconnect the battery."),
        ("", "The ceasefire came after the talks in Oslo.", "The talks in Oslo came before the ceasefire.", "The ceasefire came before the talks in Oslo."),
        ("", "The tour visits the castle first and then the harbour.", "The tour visits the harbour after the castle.", "The tour visits the harbour first and then the castle."),
        ("", "Add the eggs after the butter has melted.", "Melt the butter, then add the eggs.", "Add the eggs before the butter has melted."),
        ("When is the deposit returned?", "The deposit is returned after the keys have been handed in.", "After the keys have been handed in.", "Before the keys are handed in."),
        ("", "Save the file before you close the window.", "Close the window after saving the file.", "Close the window before you save the file."),
        ("", "After the merger the company closed its plant in Orsk.", "The company closed its plant in Orsk after the merger.", "The company closed its plant in Orsk before the merger."),
        ("", "Drain the tank before you replace the seal.", "Replace the seal after draining the tank.", "Replace the seal, then drain the tank."),
        ("", "The opening speech was followed by a film about the lake.", "The film about the lake came after the opening speech.", "The film about the lake was followed by the opening speech."),
        ("", "He studied law in Graz and then moved to Prague.", "He moved to Prague after studying law in Graz.", "He moved to Prague before studying law in Graz."),
        ("", "Visitors first pass the security gate and then collect their badge.", "Visitors collect their badge after passing the security gate.", "Visitors collect their badge before passing the security gate."),
        ("When do I get the refund?", "The refund is paid once the parcel has arrived at the warehouse.", "After the parcel has arrived at the warehouse.", "The refund is paid before the parcel has arrived at the warehouse."),
        ("", "Charge the battery fully prior to using the camera for the first time.", "Charge the battery fully before using the camera for the first time.", "Use the camera for the first time, then charge the battery fully."),
        ("", "The earthquake preceded the eruption.", "The eruption came after the earthquake.", "The earthquake came after the eruption."),
        ("", "As soon as the contract is signed, the deposit is due.", "The deposit is due after the contract is signed.", "The deposit is due before the contract is signed."),
    ],
)  # fmt: skip
def test_the_other_order_is_contradicted(question: str, context: str, right: str, wrong: str) -> None:
    assert verdicts_on(question, context, right) == {"supported"}
    assert verdicts_on(question, context, wrong) == {"contradicted"}


@pytest.mark.parametrize(
    ("question", "context", "claim"),
    [
        ("", "Wash your hands before and after handling the plants.", "Wash your hands after handling the plants."),
        ("", "He worked as a teacher before the war and after the war.", "He worked as a teacher after the war."),
        ("", "Check the oil before each trip. After each trip check the tyres and the oil filter.", "After each trip check the oil filter."),
        ("", "Start the pump, then open the valve. To stop, close the valve, then stop the pump.", "To stop, close the valve, then stop the pump."),
        ("", "Save the file before closing. After closing, the file is moved to the archive.", "After closing, the file is moved to the archive."),
        ("", "The talks followed the ceasefire. New fighting followed the talks.", "The talks came before new fighting."),
        ("", "The game was played after the rain had stopped.", "The rain had stopped before the game was played."),
        ("", "Rinse the rice, boil it for ten minutes, then drain it.", "Boil the rice for ten minutes after rinsing it."),
        ("", "First mix flour and salt, then add water and knead the dough.", "Mix flour and salt before adding water."),
        ("", "Take one tablet after breakfast and one before going to bed.", "Take one tablet before going to bed."),
        ("", "Once the seal is broken, returns are not possible.", "Returns are not possible after the seal is broken."),
        ("", "The road was closed following a landslide, and it reopened after two weeks.", "The road was closed after a landslide."),
        ("", "Members meet once a month, followed by dinner.", "Members meet once a month and then have dinner."),
        ("", "Remove the card after the light turns green, but before the beep.", "Remove the card before the beep."),
        ("", "The store opened after the museum was built, and the museum closed after the store had opened.", "The museum closed after the store had opened."),
    ],
)  # fmt: skip
def test_right_orders_are_supported(question: str, context: str, claim: str) -> None:
    assert verdicts_on(question, context, claim) == {"supported"}


@pytest.mark.parametrize(
    ("claim", "sentences"),
    [
        ("Open the valve, then start the pump.", ["Start the pump, then open the valve.", "Later open the valve, then start the pump."]),
        ("Do not open the valve before starting the pump.", ["Start the pump, then open the valve."]),
        ("Open the valve before starting the pump.", ["Never start the pump before opening the valve."]),
        ("If the pump runs, then open the valve.", ["Open the valve, then the pump runs."]),
        ("Open the valve before 9 o'clock.", ["After 9 o'clock open the valve."]),
        ("Open the valve before starting the fan.", ["Start the pump, then open the valve."]),
        ("The fan starts after the pump.", ["The pump starts once a day after the fan of the boiler house has been cleaned and oiled."]),
        ("She followed the instructions.", ["The instructions followed the letter."]),
    ],
)  # fmt: skip
def test_other_events_are_left_open(claim: str, sentences: Sequence[str]) -> None:
    assert is_sequence_kept(claim, sentences) is None


def test_a_sentence_goes_on_with_the_one_before() -> None:
    sentences = ["First sand the surface.", "Then apply the primer."]
    assert is_sequence_kept("Apply the primer, then sand the surface.", sentences) is False
    assert is_sequence_kept("Sand the surface before applying the primer.", sentences) is None
