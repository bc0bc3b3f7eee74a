"""Weigh the placement of a claim's value by boosted trees, which tell values of another subject in short evidence.

The trees are fitted by ``training.placement`` on passages with pairs of statements that differ in one value or subject.
They are kept in ``workers/data/placement.json`` with the threshold below which a value is taken for another subject's.
Method: gradient boosting (Friedman 2001; scikit-learn's ``HistGradientBoostingClassifier``).
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np

from workers.evaluation.ownership.value_placement import MEASURES, measure_placement
from workers.evaluation.trees import TreeSum

PLACEMENT = "placement.json"
"""The shipped file, in ``workers/data``."""


class PlacementModel:
    """Compute the probability that a claim's value stands where its subject's value stands.

    Args:
        document: content of a placement file.

    Raises:
        ValueError: the file has other measures than ``MEASURES``.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        if tuple(document["measures"]) != MEASURES:
            raise ValueError(
                "the placement file was fitted for other measures than this version computes; fit it again with "
                "`python -m training.placement`"
            )
        self.threshold = float(document["threshold"])
        self._trees = TreeSum(document)

    def probability(self, claim: str, question: str, evidence: str) -> float | None:
        """Return the probability, 0..1; ``None`` where the placement cannot be measured (``measure_placement``)."""
        measured = measure_placement(claim, question, evidence)
        if measured is None:
            return None
        return float(1.0 / (1.0 + np.exp(-self._trees(np.array([measured], dtype=np.float64))[0])))

    def is_misplaced(self, claim: str, question: str, evidence: str) -> bool:
        """Return true if the value of a claim stands with another subject; the arguments are as in ``probability``."""
        found = self.probability(claim, question, evidence)
        return found is not None and found < self.threshold


@lru_cache(maxsize=1)
def shipped_placement() -> PlacementModel:
    """Load the model that the package contains."""
    return PlacementModel(json.loads((files("workers") / "data" / PLACEMENT).read_text(encoding="utf-8")))
