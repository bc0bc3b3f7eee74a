"""A fault is attributed to the step of the run that stated it first."""

from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.answers import ContextChunk, GeneratedAnswer, Step
from schemas.grounding import Claim
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.thresholds import GroundingThresholds

SOURCES = ["The pump at line 7 runs at 4.2 bar. It was serviced on 3 March by the night shift."]
STEPS: list[dict[str, Any]] = [
    {"kind": "model", "name": "plan", "output": "I look up the pressure of the pump at line 7."},
    {"kind": "tool", "name": "sensor_api", "chunk_ids": ["c0"]},
    {"kind": "model", "name": "draft", "output": "The pump at line 7 runs at 4.8 bar."},
    {"kind": "model", "name": "review", "output": "Good: the pump at line 7 runs at 4.8 bar. Nobody was hurt."},
]


def _claim(answer: str, steps: list[dict[str, Any]]) -> Claim:
    made = GeneratedAnswer(
        answer_id="a",
        query="At which pressure does the pump at line 7 run?",
        answer=answer,
        contexts=[ContextChunk(chunk_id=f"c{n}", content=text) for n, text in enumerate(SOURCES)],
        steps=[Step(**step) for step in steps],
        completed_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    (claim,) = evaluate_grounding(prepare_grounding(made), GroundingThresholds()).claims
    return claim


@pytest.mark.parametrize(
    ("answer", "verdict", "step"),
    [
        ("The pump at line 7 runs at 4.8 bar.", "contradicted", 3),
        ("The pump at line 7 runs at 4.2 bar.", "supported", None),
        ("The pump at line 7 runs at 5.1 bar.", "contradicted", None),
        ("Nobody was hurt.", "unsupported", 4),
    ],
)
def test_the_first_step_that_stated_a_fault_is_named(answer: str, verdict: str, step: int | None) -> None:
    claim = _claim(answer, STEPS)
    assert (claim.verdict, claim.step) == (verdict, step)


def test_an_answer_of_one_call_has_no_step() -> None:
    claim = _claim("The pump at line 7 runs at 4.8 bar.", [])
    assert claim.step is None and "step" not in claim.model_dump()
