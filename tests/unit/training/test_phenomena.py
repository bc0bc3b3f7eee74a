"""Who is right on a hand-written claim, and what is counted of it."""

from typing import Any

import pytest

from training.phenomena import Tally, is_right
from workers.pipeline.local_pipeline import LocalPipeline
from workers.settings import Settings

CASE: dict[str, Any] = {
    "id": "case", "context": "Grinder 5 recorded 47 min of downtime on Monday.", "phenomenon": "number_unit",
}  # fmt: skip
RIGHT, WRONG = "Grinder 5 was down for 47 minutes.", "Grinder 5 was down for 74 minutes."


@pytest.fixture(scope="module")
def pipeline() -> LocalPipeline:
    return LocalPipeline(Settings(_env_file=None))


@pytest.mark.parametrize(
    ("claim", "verdict", "right"),
    [
        (RIGHT, "supported", True),
        (RIGHT, "contradicted", False),
        (WRONG, "contradicted", True),
        (WRONG, "unsupported", True),
        (WRONG, "supported", False),
    ],
)
def test_a_judge_is_right_if_it_calls_supported_what_is(
    pipeline: LocalPipeline, claim: str, verdict: str, right: bool
) -> None:
    assert is_right(pipeline, CASE | {"claim": claim, "verdict": verdict}) == right


def test_what_stands_before_a_claim_is_not_judged_with_it(pipeline: LocalPipeline) -> None:
    assert is_right(pipeline, CASE | {"before": WRONG, "claim": RIGHT, "verdict": "supported"})


def test_one_wrong_claim_of_two_is_not_supported(pipeline: LocalPipeline) -> None:
    assert is_right(pipeline, CASE | {"claim": f"{RIGHT} {WRONG}", "verdict": "unsupported"})


def test_gains_and_losses_are_counted_apart() -> None:
    tally = Tally()
    for rules, both in ((True, True), (False, True), (False, True), (True, False), (False, False)):
        tally.count(rules, both)
    assert tally == Tally(cases=5, rules=2, both=3, gained=2, lost=1)
