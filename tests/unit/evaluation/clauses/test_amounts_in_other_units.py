"""A short answer with the right amount in another unit or in words is no other figure."""

from datetime import UTC, datetime

import pytest

from schemas.answers import GeneratedAnswer
from workers.evaluation.facts.numbers.number_words import tens_in_digits
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.thresholds import GroundingThresholds


def verdict(question: str, answer: str, source: str) -> str:
    given = GeneratedAnswer.model_validate(
        {"answer_id": "a", "query": question, "answer": answer, "completed_at": datetime(2026, 11, 2, tzinfo=UTC),
         "contexts": [{"chunk_id": "c", "content": source}]}
    )  # fmt: skip
    (claim,) = evaluate_grounding(prepare_grounding(given), GroundingThresholds()).claims
    return claim.verdict


@pytest.mark.parametrize(
    ("question", "source", "right", "wrong"),
    [
        ("How long is the warranty?", "The warranty period is 24 months from the date of delivery.",
         ("Two years", "2 years", "Twenty-four months", "24 months"), ("Three years", "Thirty-four months", "2 months")),
        ("How long is the course?", "The course takes 90 minutes.", ("1.5 hours",), ("2.5 hours", "90 hours")),
        ("How far is the station?", "The station is 1.5 km from the hotel.", ("1,500 metres",), ("150 metres",)),
        ("How many seats does the hall have?", "The hall has 84 seats.", ("Eighty-four",), ("Forty-eight", "94")),
        ("How long may I stay?", "Visitors may stay for up to two weeks.", ("Up to 14 days",), ("Up to 20 days",)),
    ],
)  # fmt: skip
def test_an_amount_of_a_short_answer_is_compared_by_value(
    question: str, source: str, right: tuple[str, ...], wrong: tuple[str, ...]
) -> None:
    assert {answer: verdict(question, answer, source) for answer in right} == dict.fromkeys(right, "supported")
    assert all(verdict(question, answer, source) in ("contradicted", "unsupported") for answer in wrong)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Twenty-four months", "24 months"),
        ("about thirty one people", "about 31 people"),
        ("one hundred twenty-four", "one hundred twenty-four"),
        ("twenty-four-hour service", "twenty-four-hour service"),
        ("twenty to four", "twenty to four"),
    ],
)
def test_tens_and_ones_are_one_number(text: str, read: str) -> None:
    assert tens_in_digits(text) == read
