"""Hold claims between the minimum and the fitted cutoff to their details."""

import numpy as np
import pytest

from schemas.grounding import Verdict
from workers.evaluation.grounding.calibration import CONFIDENCE_AT_CUT, shipped_calibration
from workers.evaluation.grounding.claim_features import FEATURES
from workers.evaluation.grounding.support import MISSING, MeasuredClaim, Reading, Support, evaluate_measured_claims

MINIMUM = 0.01
"""A minimum below every confidence, so that the verdict depends on the details alone."""


def evaluated(words: float, missing: int | None, reading: Reading) -> Support:
    """Evaluate a claim; its words differ from those of the evidence the more, the larger ``words`` is."""
    values = np.zeros(len(FEATURES))
    values[: min(MISSING)] = words
    if missing is not None:
        values[missing] = 1.0
    measured = MeasuredClaim(values, 4, (), (0,), 0.5, 0.5, False, False, reading=reading)
    (support,) = evaluate_measured_claims([measured], shipped_calibration(), MINIMUM, None, has_evidence=True)
    return support


@pytest.mark.parametrize(
    ("missing", "reading", "verdict"),
    [
        (None, "compared", "supported"),
        *((column, "compared", "unsupported") for column in MISSING),
        # In other words of another language it stays open whether the source has the detail.
        (None, "other_words", "supported"),
        *((column, "other_words", "not_checked") for column in MISSING),
    ],
)
def test_a_detail_that_no_source_has_needs_the_fitted_cutoff(
    missing: int | None, reading: Reading, verdict: Verdict
) -> None:
    support = evaluated(40.0, missing, reading)
    assert support.verdict == verdict
    assert support.score < CONFIDENCE_AT_CUT, "else the claim would be above the cutoff"
    assert support.verdict == "supported" or support.score < MINIMUM or reading == "other_words"


@pytest.mark.parametrize("column", MISSING)
def test_above_the_fitted_cutoff_a_missing_detail_alone_decides_nothing(column: int) -> None:
    support = evaluated(0.0, column, "compared")
    assert (support.verdict, support.score >= CONFIDENCE_AT_CUT) == ("supported", True)
