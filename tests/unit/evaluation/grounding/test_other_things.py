"""A claim on one of several things is compared with the sources about this thing."""

import pytest

from tests.harness.whole_answers import answer_over, is_warned_of
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import PreparedGrounding, prepare_grounding
from workers.evaluation.thresholds import GroundingThresholds

SOLVIK = (
    "Camp Solvik in Moss has 85 pitches. The kitchen is open from 6 to 22:00. Arrival is from 13:00, departure until"
    " 10:00. Bicycles cost 9 euros a day. The sauna is open from May to September."
)
TARN = (
    "Camp Tarn in Hamar has 40 pitches and no sauna. Arrival is from 15:00, departure until 12:00. Fires are forbidden."
)
MISTRAL = (
    "The Mistral 300 washes 7 kg, needs 44 litres a cycle and has a door of 32 cm. It has two drawers and no lamp."
)
SIROCCO = (
    "The Sirocco 500 washes 9 kg, needs 52 litres a cycle and has a door of 34 cm. It has one lamp and three drawers."
)
GUARANTEE = "All washing machines have a guarantee of 30 months. Delivery costs 25 euros."
CARE = "Northline Care guarantees drums for 30 months and pumps for 12 months."
KESTREL = "The Kestrel Pro is a drone with four rotors, a camera and a battery of 5200 mAh."
FLIGHT = "Flight Time: the drone flies 40 minutes with its battery, the four rotors and the camera on."
SAVINGS = "Savings Account: 2 % interest, a card, no fee, open to all customers."
CHECKING = "Checking Account: 0 % interest, a card, a fee of 3 euros, open to all customers."
NORTHGATE = "# Northgate Library\n\nIt is open from 9 to 18:00. Members borrow books for 28 days. There are 60 seats."
SOUTHGATE = "# Southgate Library\n\nIt is open from 10 to 20:00. Members borrow books for 21 days. There are 45 seats."
ROSA = "Villa Rosa in Como has 14 rooms. Breakfast costs 12 euros. Parking costs 5 euros a day."
BRUNA = "Villa Bruna in Lecco has 9 rooms. Breakfast costs 15 euros and parking is free. Its owner also runs Villa Rosa, where dogs are welcome."
BOAT = "All our villas take credit cards. Guests of Villa Rosa may use the boat free of charge."
AERO = "Der Aero A wiegt 1,2 kg und hat 16 GB Speicher und zwei Anschlüsse."
TERRA = "Der Terra B wiegt 2,1 kg und hat 32 GB Speicher und drei Anschlüsse."


@pytest.mark.parametrize(
    ("contexts", "question", "right", "wrong"),
    [
        (
            (SOLVIK, TARN),
            "",
            "Departure from Camp Solvik is until 10:00.",
            "Departure from Camp Solvik is until 12:00.",
        ),
        ((SOLVIK, TARN), "", "Departure from Camp Tarn is until 12:00.", "Departure from Camp Tarn is until 10:00."),
        ((SOLVIK, TARN), "", "Camp Tarn is in Hamar.", "Camp Tarn is in Moss."),
        ((SOLVIK, TARN), "", "At Camp Solvik a bicycle costs 9 euros.", "At Camp Tarn a bicycle costs 9 euros."),
        ((SOLVIK, TARN), "How big is Camp Tarn?", "It has 40 pitches.", "It has 85 pitches."),
        ((MISTRAL, SIROCCO, GUARANTEE), "", "The Sirocco 500 washes 9 kg.", "The Sirocco 500 washes 7 kg."),
        ((MISTRAL, SIROCCO, GUARANTEE), "How wide is the Sirocco?", "Its door is 34 cm.", "Its door is 32 cm."),
        (
            (MISTRAL, SIROCCO, GUARANTEE),
            "How long is the guarantee on the Sirocco 500?",
            "The guarantee is 30 months.",
            "The guarantee is 34 months.",
        ),
        ((NORTHGATE, SOUTHGATE), "When is the Northgate Library open?", "From 9 to 18:00.", "From 10 to 20:00."),
        ((NORTHGATE, SOUTHGATE), "", "There are 45 seats at Southgate.", "There are 60 seats at Southgate."),
        ((ROSA, BRUNA, BOAT), "", "At Villa Bruna parking is free.", "At Villa Bruna parking costs 5 euros a day."),
        ((ROSA, BRUNA, BOAT), "What is it at Villa Bruna?", "Breakfast costs 15 euros.", "Breakfast costs 12 euros."),
        ((AERO, TERRA), "", "Der Terra B hat 32 GB Speicher.", "Der Terra B hat 16 GB Speicher."),
        ((SAVINGS, CHECKING), "", "The Savings Account has no fee.", "The Savings Account has a fee of 3 euros."),
    ],
)
def test_the_value_of_another_thing_in_another_source_is_flagged(
    contexts: tuple[str, ...], question: str, right: str, wrong: str
) -> None:
    assert not is_warned_of(right, question or "Tell me more.", *contexts)
    assert is_warned_of(wrong, question or "Tell me more.", *contexts)


@pytest.mark.parametrize(
    ("contexts", "answer"),
    [
        ((SOLVIK, TARN), "Camp Solvik is the bigger one, with 85 pitches against 40."),
        ((SOLVIK, TARN), "Camp Solvik has 85 pitches, Camp Tarn has 40."),
        ((MISTRAL, SIROCCO, GUARANTEE), "The Sirocco 500 washes more than the Mistral 300: 9 kg."),
        ((ROSA, BRUNA, BOAT), "Dogs are welcome at Villa Rosa."),
        # A source with few words of theirs, and a part of one thing under a label.
        ((MISTRAL, SIROCCO, CARE), "The drum of the Sirocco 500 is guaranteed for 30 months."),
        ((KESTREL, FLIGHT), "The Kestrel Pro flies for 40 minutes."),
        ((ROSA, BRUNA, BOAT), "Guests of Villa Rosa may use the boat free of charge."),
        ((ROSA, BRUNA, BOAT), "Villa Rosa has 14 rooms. Villa Bruna has 9 rooms. Parking is free there."),
    ],
)
def test_other_sources_count_where_they_name_the_thing_or_are_compared(contexts: tuple[str, ...], answer: str) -> None:
    assert not is_warned_of(answer, "Tell me about Villa Rosa, the camps and the machines.", *contexts)


@pytest.mark.parametrize(
    ("contexts", "question", "answer"),
    [
        ((SOLVIK, TARN), "When must I leave Camp Solvik?", "Arrival is from 13:00, departure until 10:00."),
        ((MISTRAL, SIROCCO), "What has the Mistral 300?", "The Mistral 300 washes 7 kg. It has two drawers."),
        ((SIROCCO, MISTRAL), "What has the Sirocco 500?", "The Sirocco 500 washes 9 kg. It has one lamp."),
    ],
)
def test_two_things_are_no_conflict_of_sources(contexts: tuple[str, ...], question: str, answer: str) -> None:
    findings = evaluate_grounding(_prepared(question, answer, contexts), GroundingThresholds())
    assert findings.conflicts == []


@pytest.mark.parametrize(
    ("answer", "contexts"),
    [
        ("Departure from Camp Solvik is until 14:30.", (TARN, SOLVIK)),
        ("Departure from Camp Solvik is until 13:30.", (TARN, SOLVIK)),
        ("Departure from Camp Tarn is until 14:30.", (SOLVIK, TARN)),
    ],
)
def test_the_passage_is_of_the_same_thing(answer: str, contexts: tuple[str, str]) -> None:
    (claim,) = evaluate_grounding(_prepared("", answer, contexts), GroundingThresholds()).claims
    assert claim.verdict in ("unsupported", "contradicted")
    assert claim.evidence is not None
    assert claim.evidence.number == 2


def _prepared(question: str, answer: str, contexts: tuple[str, ...]) -> PreparedGrounding:
    return prepare_grounding(answer_over(answer, question or "When?", contexts))
