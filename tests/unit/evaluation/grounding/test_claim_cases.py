"""Hand-written claims with the verdict that a careful reader would give.

``tests/data/claim_cases.jsonl``: claim, context, verdict, reason and phenomenon; ``before`` is what
the answer says before the claim. The verdicts were written before anything was measured. What the
judgement misses is listed with a reason in ``claim_cases_misses.json``; a listed case that passes
fails the test, so that the list never claims more than is so.
"""

import json
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.answers import GeneratedAnswer
from tests.harness.paths import DATA
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.thresholds import GroundingThresholds

CASES: list[dict[str, Any]] = [
    json.loads(line) for line in (DATA / "claim_cases.jsonl").read_text(encoding="utf-8").splitlines()
]
MISSES: dict[str, str] = json.loads((DATA / "claim_cases_misses.json").read_text(encoding="utf-8"))
GRAVITY = ("contradicted", "unsupported", "supported", "not_checked")
"""Of several claims in one case the gravest verdict counts."""


def answer_of(case: dict[str, Any]) -> GeneratedAnswer:
    before = case.get("before", "")
    return GeneratedAnswer.model_validate(
        {
            "answer_id": case["id"],
            "answer": f"{before} {case['claim']}".strip(),
            "contexts": [{"chunk_id": "c1", "content": case["context"]}],
            "completed_at": datetime(2026, 11, 2, tzinfo=UTC),
        }
    )


@pytest.fixture(scope="module")
def verdicts() -> dict[str, str]:
    """The verdict on each case."""
    found = {}
    for case in CASES:
        judged = evaluate_grounding(prepare_grounding(answer_of(case)), GroundingThresholds())
        start = len(answer_of(case).answer) - len(case["claim"])
        claimed = [claim.verdict for claim in judged.claims if claim.span.end > start]
        found[case["id"]] = min(claimed, key=GRAVITY.index, default="not_checked")
    return found


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case["id"], marks=[pytest.mark.xfail(reason=MISSES[case["id"]])])
        if case["id"] in MISSES
        else pytest.param(case, id=case["id"])
        for case in CASES
    ],
)
def test_a_claim_gets_the_verdict_of_a_careful_reader(case: dict[str, Any], verdicts: dict[str, str]) -> None:
    assert verdicts[case["id"]] == case["verdict"], case["reason"]


def test_the_cases_are_many_and_of_every_kind() -> None:
    assert len(CASES) >= 200
    assert len({case["id"] for case in CASES}) == len(CASES)
    assert {case["verdict"] for case in CASES} == {"supported", "contradicted", "unsupported"}
    assert len(Counter(case["phenomenon"] for case in CASES)) >= 20
    assert set(MISSES) <= {case["id"] for case in CASES}
    assert all(MISSES.values())
