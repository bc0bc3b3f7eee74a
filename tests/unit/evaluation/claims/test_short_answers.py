"""Short answers are resolved against the question before they are compared with evidence."""

from datetime import UTC, datetime

import pytest

from schemas.answers import GeneratedAnswer
from workers.evaluation.claims.claim_extraction import extract_claims
from workers.evaluation.claims.short_answers import MAX_QUESTION, consents, resolve_short_answer
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.text.structure.segmentation import segment
from workers.evaluation.thresholds import GroundingThresholds

LAB = "Is smoking allowed in the lab?"


@pytest.mark.parametrize(
    ("query", "answer", "resolved"),
    [
        (LAB, "Yes.", "smoking allowed in the lab."),
        (LAB, "No.", "smoking not allowed in the lab."),
        (LAB, "No, smoking is not allowed in the lab.", "smoking is not allowed in the lab."),
        ("Does the pump weigh 12 kg?", "No, it weighs more.", "not the pump weigh 12 kg, it weighs more."),
        ("The lab opens at 8. Is smoking allowed there?", "Yes", "smoking allowed there."),
        ("Ist Rauchen erlaubt?", "Nein.", "not Rauchen erlaubt."),
        ("How long is the warranty?", "36 months.", "36 months."),
        ("Which is cheaper, the A100 or the V100?", "The second one.", "cheaper: the V100"),
        ("Which is cheaper, the A100 or the V100?", "The former", "cheaper: the A100"),
    ],
)
def test_a_short_answer_states_what_was_asked(query: str, answer: str, resolved: str) -> None:
    assert resolve_short_answer(query, answer) == resolved


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("What is the capital of France?", "The capital of France is Paris."),
        ("What is the capital of France?", "Paris."),
        ("How long is the warranty?", "The warranty is 36 months."),
        ("What is the warranty of the pump?", "Warranty of the pump: 24 months"),
        (LAB, "The rules of the lab are on page 2."),
        ("summarise the report", "No incidents."),
        ("", "Yes."),
        ("Is it " + "very " * MAX_QUESTION + "late?", "Yes."),
        (LAB, ""),
    ],
)
def test_an_answer_that_needs_no_question_stays_as_it_is(query: str, answer: str) -> None:
    assert resolve_short_answer(query, answer) == answer


def test_only_the_first_statement_of_an_answer_is_resolved_and_its_span_stays() -> None:
    text = "Yes. No smoking in the hall. No."
    claims = extract_claims(text, segment(text), query=LAB)
    assert claims[0].plain.startswith("smoking allowed in the lab")
    assert all("lab" not in claim.plain for claim in claims[1:])
    assert text[claims[0].start : claims[0].end] == claims[0].text


@pytest.mark.parametrize(
    ("query", "source", "right", "wrong"),
    [
        (LAB, "Smoking is not allowed in the lab.", "No.", "Yes."),
        (LAB, "Smoking is not allowed in the lab.", "No, it is not.", "Yes, it is."),
        ("Is the patient allergic to penicillin?", "The patient is allergic to penicillin.", "Yes.", "No."),
        ("Does the pump weigh 12 kg?", "The pump weighs 12 kg.", "Yes, 12 kg.", "No, it weighs more than that."),
        ("How long is the warranty?", "The warranty of the pump is 24 months.", "24 months.", "36 months."),
        ("Is the museum open on Mondays?", "The museum is closed on Mondays.", "No.", "Yes."),
        ("May employees work from home?", "Employees may work from home two days a week.", "Yes.", "No."),
        ("Ist Rauchen im Labor erlaubt?", "Rauchen ist im Labor nicht erlaubt.", "Nein.", "Ja."),
    ],
)
def test_a_short_answer_against_the_source_is_contradicted_and_its_twin_is_supported(
    query: str, source: str, right: str, wrong: str
) -> None:
    assert [_verdict(query, source, answer) for answer in (right, wrong)] == ["supported", "contradicted"]


PARKING = "Parking is available for guests of the hotel."
HOURS = "A surgeon is on duty at night. The clinic in Bern is open on Saturdays from 9:00 to 13:00."


@pytest.mark.parametrize(
    ("query", "source", "right", "wrong"),
    [
        ("Is parking available for guests?", PARKING, "Yes.", "Yes, for a fee of 5,000 euros."),
        ("Is parking available for guests?", PARKING, "Yes, it is available.", "Yes, with valet service by Mr. Olsen."),
        ("Is a surgeon on duty at night?", HOURS, "Yes, a surgeon is on duty.", "Yes, Dr. Miller in Basel."),
        ("Is the clinic open on Saturdays?", HOURS, "Yes, from 9:00 to 13:00.", "Yes, from 9:00 to 15:00."),
        (LAB, "Smoking is not allowed in the lab.", "No, smoking is forbidden.", "No, smoking costs 50 euros."),
        ("Is the clinic open on Saturdays?", HOURS, "Yes, from 9 am to 1 pm.", "Yes, from 9 am to 3 pm."),
        (
            "Within how many days are returns accepted?",
            "Returns are accepted within 30 days of purchase.",
            "30 days of purchase.",
            "30 days, and 90 days for members.",
        ),
        (
            "What is the recommended dose for adults?",
            "The recommended dose for adults is 400 mg every six hours.",
            "400 mg every six hours.",
            "400 mg, and 800 mg for children.",
        ),
        ("Ist das Parken für Gäste kostenlos?", "Das Parken ist für Gäste kostenlos.", "Ja.", "Ja, bis zu 3 Tage."),
    ],
)
def test_what_a_right_answer_adds_needs_evidence_of_its_own(query: str, source: str, right: str, wrong: str) -> None:
    assert _verdict(query, source, right) == "supported"
    assert _verdict(query, source, wrong) != "supported"


@pytest.mark.parametrize(
    ("query", "source", "right", "wrong"),
    [
        ("Is the museum open on Mondays?", "The museum is open on Mondays.", "It is.", "It is not."),
        ("Is the museum open on Mondays?", "The museum is open on Mondays.", "Yes, it is.", "It isn't."),
        ("Are dogs allowed in the park?", "Dogs are not allowed in the park.", "They aren't.", "They are."),
        ("Can members bring guests?", "Members can bring guests.", "They can.", "They cannot."),
        ("Can members bring guests?", "Members cannot bring guests.", "They can't.", "Indeed, they can."),
        ("Ist die Garantie übertragbar?", "Die Garantie ist übertragbar.", "Das ist sie.", "Das ist sie nicht."),
        ("La garantie est-elle transférable ?", "La garantie est transférable.", "Elle l'est.", "Elle ne l'est pas."),
    ],
)
def test_a_pronoun_with_its_verb_says_yes_or_no(query: str, source: str, right: str, wrong: str) -> None:
    assert [_verdict(query, source, answer) for answer in (right, wrong)] == ["supported", "contradicted"]


@pytest.mark.parametrize(
    ("query", "source", "text"),
    [
        ("Who may use the sauna?", "The sauna may be used by adults.", "No."),
        ("Who may use the sauna?", "The sauna may be used by adults.", "Yes."),
        ("What colour is the door?", "The door is red.", "It is."),
        ("Is the door open?", "The door was open in May.", "It was."),
        ("What colour is the door?", "The door is red.", "It will be that."),
    ],
)
def test_a_claim_that_states_nothing_is_not_supported(query: str, source: str, text: str) -> None:
    assert _verdict(query, source, text) == "unsupported"


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Are wrong deliveries refunded?", "Wrong deliveries are refunded."),
        ("Do false declarations void the policy?", "False declarations void the policy."),
        ("Are right-hand drive cars covered?", "Right-hand drive cars are not covered."),
        ("Is true north the same as magnetic north?", "True north differs from magnetic north."),
        ("Can the correct size be exchanged?", "Correct sizes cannot be exchanged."),
        ("Are copies allowed?", "Exactly two copies are allowed."),
        ("Is smoking allowed in the rooms?", "No-smoking rooms are on the second floor."),
        ("Ist der Antrag noch möglich?", "Da die Frist abgelaufen ist, ist kein Antrag mehr möglich."),
        ("Est-ce que le retour est possible ?", "Si le délai est dépassé, le retour est impossible."),
    ],
)
def test_an_ordinary_first_word_is_neither_yes_nor_no(query: str, text: str) -> None:
    assert consents(query, text) is None
    assert _verdict(query, text, text) == "supported"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Correct.", True),
        ("Right – entry is free.", True),
        ("True, entry is free.", True),
        ("Of course", True),
        ("Wrong, it is not free.", False),
        ("False.", False),
        ("Of course not!", False),
    ],
)
def test_the_same_words_are_yes_or_no_before_punctuation(text: str, says: bool) -> None:
    assert consents("Is entry free?", text) is says


def _verdict(query: str, source: str, text: str) -> str:
    answer = GeneratedAnswer(
        answer_id="a",
        query=query,
        answer=text,
        contexts=[{"chunk_id": "c", "content": source}],
        completed_at=datetime(2026, 11, 2, tzinfo=UTC),
    )
    return evaluate_grounding(prepare_grounding(answer), GroundingThresholds()).claims[0].verdict
