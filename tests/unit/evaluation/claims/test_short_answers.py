"""Short answers are resolved against the question before they are compared with evidence."""

from datetime import UTC, datetime

import pytest

from schemas.answers import GeneratedAnswer
from workers.evaluation.claims.claim_extraction import extract_claims
from workers.evaluation.claims.short_answers import MAX_QUESTION, resolve_short_answer
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding, prepare_grounding
from workers.evaluation.text.segmentation import segment
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


def _verdict(query: str, source: str, text: str) -> str:
    answer = GeneratedAnswer(
        answer_id="a",
        query=query,
        answer=text,
        contexts=[{"chunk_id": "c", "content": source}],
        completed_at=datetime(2026, 11, 2, tzinfo=UTC),
    )
    return evaluate_grounding(prepare_grounding(answer), GroundingThresholds()).claims[0].verdict
