"""Letters that patterns without case take for others: Turkish ı and İ, the long ſ, the sign of the kelvin."""

import json
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from schemas.answers import GeneratedAnswer
from schemas.topics import ANSWERS_GENERATED
from tests.harness.paths import DATA
from workers.delivery.records import Record
from workers.evaluation.facts.text_details import read_details
from workers.pipeline.evaluator_registry import open_evaluators
from workers.pipeline.pipeline import EvaluationPipeline
from workers.pipeline.reports import Origin
from workers.settings import Settings

CASES: list[dict[str, Any]] = [
    json.loads(line)
    for name in ("claim_cases.jsonl", "claim_cases_heldout.jsonl")
    for line in (DATA / name).read_text(encoding="utf-8").splitlines()
]
ALIKE = [("i", "ı"), ("i", "İ"), ("I", "İ"), ("s", "ſ"), ("S", "ſ"), ("k", "\u212a")]


@pytest.fixture(scope="module")
def pipeline() -> EvaluationPipeline:
    settings = Settings(_env_file=None)
    return EvaluationPipeline(settings, open_evaluators(settings))


@pytest.mark.parametrize(("letter", "alike"), ALIKE)
def test_hand_written_claims_are_judged_by_all_steps_in_such_letters(
    pipeline: EvaluationPipeline, letter: str, alike: str
) -> None:
    """Every fourth claim with the letter, each letter beginning with another."""
    assert_judged(pipeline, letter, alike, slice(ALIKE.index((letter, alike)) % 4, None, 4))


@pytest.mark.long
@pytest.mark.parametrize(("letter", "alike"), ALIKE)
def test_every_hand_written_claim_is_judged_by_all_steps_in_such_letters(
    pipeline: EvaluationPipeline, letter: str, alike: str
) -> None:
    assert_judged(pipeline, letter, alike, slice(None))


def assert_judged(pipeline: EvaluationPipeline, letter: str, alike: str, some: slice) -> None:
    vectors = np.random.default_rng(1)
    # Of a case without the letter only the query would differ, which is the same for all.
    cases = [each for each in CASES if letter in each["claim"] + each["context"]]
    for case in cases[some]:
        answer = GeneratedAnswer.model_validate(
            {
                "answer_id": case["id"],
                "query": "Is this so since Friday the third?".replace(letter, alike),
                "answer": f"{case.get('before', '')} {case['claim']}".strip().replace(letter, alike),
                "contexts": [{"chunk_id": "c1", "content": case["context"].replace(letter, alike)}],
                "completed_at": datetime(2026, 11, 2, tzinfo=UTC),
            }
        )
        prepared = pipeline.prepare(answer, Record(ANSWERS_GENERATED.name, 0, 0, b"k", None))
        some = {text: _unit(vectors.normal(size=384)) for text in prepared.texts}
        origin = Origin(Settings(_env_file=None), "1", answer.completed_at)
        pipeline.evaluate(prepared, some, {})
        enriched = pipeline.finish(prepared, origin).enriched
        reports = (enriched.citations, enriched.grounding, enriched.quality)
        assert [report.reason for report in reports if report is not None and report.status == "failed"] == []


def _unit(vector: Any) -> Any:
    return (vector / np.linalg.norm(vector)).astype(np.float32)


@pytest.mark.parametrize(
    "text",
    [
        "It costs five dollars since Friday.",
        "Fifteen people came twice in the first quarter of 2020.",
        "Two thirds of them left on 3 April 2021, six on Sunday.",
        "It was built in the sixth century.",
    ],
)
@pytest.mark.parametrize(("letter", "alike"), ALIKE)
def test_what_is_said_exactly_is_read_in_such_letters_too(text: str, letter: str, alike: str) -> None:
    plain, written = read_details(text), read_details(text.replace(letter, alike))
    assert written.quantities == plain.quantities
    assert (written.dates, written.periods, written.weekdays) == (plain.dates, plain.periods, plain.weekdays)
