"""A value that stands with another subject in short evidence is no support, also where no rule reads the passage."""

import json
import math
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.grounding import Claim
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.ownership.placement_model import PlacementModel, shipped_placement
from workers.evaluation.ownership.value_placement import MAX_EVIDENCE, MEASURES, measure_placement
from workers.evaluation.thresholds import GroundingThresholds
from workers.evaluation.trees import TreeSum

PAIRS = [
    (
        "The ferry to Hisle takes 40 minutes, and with the catamaran you are on Brank in half that time, 20 minutes.",
        "",
        "The ferry to Hisle takes 40 minutes.",
        "The ferry to Hisle takes 20 minutes.",
    ),
    (
        "Room Aster seats 24 people. Its neighbour, room Birch, was widened last year and now seats 60.",
        "How many people does room Birch seat?",
        "60.",
        "24.",
    ),
    (
        "Dr. Kovar leads the eye clinic; the ward for children has been run by Dr. Amsel since spring.",
        "Who runs the ward for children?",
        "Dr. Amsel.",
        "Dr. Kovar.",
    ),
    (
        "Plan Solo costs 9 euros a month, plan Duo 14 euros, and for 22 euros the whole family is covered by plan Clan.",
        "",
        "Plan Duo costs 14 euros a month.",
        "Plan Duo costs 22 euros a month.",
    ),
    (
        "The red line ends in Morby. The blue line, opened a decade later, goes on to Stenhus.",
        "Where does the blue line end?",
        "In Stenhus.",
        "In Morby.",
    ),
    (
        "Our cat Minka weighs 4 kg, a third of what the dog Bruno brings to the scales: 12 kg.",
        "",
        "Minka weighs 4 kg.",
        "Minka weighs 12 kg.",
    ),
]
"""Evidence, question, right and wrong statement; none of them stands in the passages that the model was fitted on."""


def test_most_values_of_the_subject_are_more_probable_than_those_of_another() -> None:
    model = shipped_placement()
    found = [
        [model.probability(text, question, evidence) for text in (right, wrong)]
        for evidence, question, right, wrong in PAIRS
    ]
    assert all(own is not None and own >= model.threshold for own, _ in found)
    assert sum(own > other for own, other in found if own is not None and other is not None) >= 4


GARDENS = "Marta's garden has 14 apple trees, and the neighbours across the lane count 32."
OFFICES = (
    "The Oslo office opened in 1998 with a staff of 12. When Bergen followed, 45 people moved in on the first day."
)


@pytest.mark.parametrize(
    ("evidence", "right", "wrong"),
    [
        (GARDENS, "Marta's garden has 14 apple trees.", "Marta's garden has 32 apple trees."),
        (OFFICES, "The Oslo office opened with a staff of 12.", "The Oslo office opened with a staff of 45."),
    ],
)
def test_a_value_of_another_subject_is_unsupported_and_its_twin_is_not(evidence: str, right: str, wrong: str) -> None:
    assert _claim(right, evidence).verdict == "supported"
    assert _claim(wrong, evidence).verdict == "unsupported"
    assert _claim(wrong, evidence).mismatches == ["subject"]


def test_long_evidence_is_left_to_the_rules() -> None:
    filler = " The harbour office sells tickets, and dogs travel with their owners on all decks of the boats." * 8
    assert _claim("Marta's garden has 32 apple trees.", GARDENS + filler).mismatches == []


def _claim(answer: str, *contexts: str) -> Claim:
    given = GeneratedAnswer(
        answer_id="one",
        query="How high is it?",
        answer=answer,
        contexts=[ContextChunk(chunk_id=str(number), content=text) for number, text in enumerate(contexts)],
        completed_at=datetime(2026, 11, 2, tzinfo=UTC),
    )
    (claim,) = evaluate_grounding(prepare_grounding(given), GroundingThresholds()).claims
    return claim


def test_long_evidence_and_evidence_without_the_value_are_not_measured() -> None:
    claim = "The ferry takes 40 minutes."
    assert measure_placement(claim, "", "The ferry takes 40 minutes.") is not None
    assert measure_placement(claim, "", "The ferry takes 40 minutes." + " x" * MAX_EVIDENCE) is None
    assert measure_placement(claim, "", "Nobody knows.") is None
    assert measure_placement("", "", "The ferry takes 40 minutes.") is None


def test_a_claim_without_a_number_or_name_states_no_value() -> None:
    evidence = "Team plan: 9 euros a month. Business plan: 15 euros a month. Annual billing lowers the price."
    assert measure_placement("If the Team plan is too expensive, I can explain annual billing.", "", evidence) is None


def test_a_comparison_of_two_subjects_has_no_place_of_its_own() -> None:
    evidence = "The ferry takes 40 minutes, the catamaran 20."
    assert measure_placement("The ferry takes 40 minutes.", "", evidence) is not None
    assert measure_placement("The ferry takes 20 minutes more than the catamaran.", "", evidence) is None


def test_a_boundary_between_value_and_subject_adds_distance() -> None:
    place = MEASURES.index("subject_farthest")
    one, two = (
        measure_placement("Hisle lies 40 miles away.", "", text)
        for text in ("Hisle is 40 miles from here.", "This is Hisle. Brank is 40 miles from here.")
    )
    assert one is not None
    assert two is not None
    assert two[place] > one[place]


@given(st.text(max_size=200), st.text(max_size=80), st.text(max_size=400))
def test_measures_of_any_text_are_finite_and_complete(claim: str, question: str, evidence: str) -> None:
    found = measure_placement(claim, question, evidence)
    assert found is None or (len(found) == len(MEASURES) and all(map(math.isfinite, found)))


def test_a_model_of_other_measures_is_refused_with_the_command_that_fits_it() -> None:
    document = {"measures": ["distance"], "threshold": 0.2, "intercept": 0.0, "trees": []}
    with pytest.raises(ValueError, match=r"python -m training\.placement"):
        PlacementModel(document)


def test_trees_sum_the_leaf_of_each_row() -> None:
    tree = {"features": [0, 1, 0], "thresholds": [0.5, 2.0, 0.0], "leaves": [1.0, 2.0, 4.0, 4.0]}
    trees = TreeSum(json.loads(json.dumps({"intercept": 10.0, "trees": [tree, tree]})))
    assert trees(np.array([[0.0, 1.0], [0.0, 3.0], [1.0, 0.0]])).tolist() == [12.0, 14.0, 18.0]
    assert trees(np.zeros((0, 2))).tolist() == []
