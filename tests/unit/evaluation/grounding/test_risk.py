"""The risk of an answer from its measures."""

import pytest

from workers.evaluation.grounding.risk import CERTAIN_COMPARISONS, Measures, assess
from workers.evaluation.thresholds import GroundingThresholds

THRESHOLDS = GroundingThresholds()


def risk(comparisons: int, contradicted: int = 1, content: float = 0.1) -> float:
    measures = Measures(
        uncertainty=0, context_similarity=0.9, facts_verified=0.9, citation_coverage=1.0, contradicted=contradicted,
        groundable=10, comparisons=comparisons,
    )  # fmt: skip
    return assess(measures, content, THRESHOLDS).score


@pytest.mark.parametrize("comparisons", [0, 1, CERTAIN_COMPARISONS])
def test_a_contradiction_among_few_comparisons_is_a_high_risk(comparisons: int) -> None:
    assert risk(comparisons) >= THRESHOLDS.risk_high


def test_each_further_comparison_makes_a_contradiction_less_certain_and_never_a_low_risk() -> None:
    scores = [risk(comparisons) for comparisons in (80, 81, 160, 800, 80_000)]
    assert scores == sorted(scores, reverse=True)
    assert scores[1] < scores[0]
    assert scores[2] == pytest.approx(1 - 0.9 * (1 - 0.35))
    assert scores[-1] == THRESHOLDS.risk_medium


@pytest.mark.parametrize("comparisons", [0, 80, 800])
def test_comparisons_change_nothing_without_a_contradiction(comparisons: int) -> None:
    assert risk(comparisons, contradicted=0) == pytest.approx(0.1)
