"""Sum boosted trees of at most four leaves, kept as plain numbers in a data file.

A document has ``intercept`` and ``trees``; ``measurement.boosted_trees`` exports it from a fitted model.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Tree:
    """Represent a tree of two levels: a root and a split on either side; a missing split repeats its leaf.

    Attributes:
        features: columns of root, lower and upper split.
        thresholds: values up to which a row goes to the left.
        leaves: log-odds of the four leaves from left to right.
    """

    features: tuple[int, int, int]
    thresholds: tuple[float, float, float]
    leaves: tuple[float, float, float, float]


class TreeSum:
    """Compute log-odds as a constant plus the leaves of trees.

    Args:
        document: ``intercept`` and ``trees``, each with ``features``, ``thresholds`` and ``leaves``.

    Raises:
        KeyError: a part is missing.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._intercept = float(document["intercept"])
        trees = [Tree(tuple(t["features"]), tuple(t["thresholds"]), tuple(t["leaves"])) for t in document["trees"]]
        self._features = np.array([tree.features for tree in trees], dtype=np.intp).reshape(-1, 3)
        self._thresholds = np.array([tree.thresholds for tree in trees], dtype=np.float64).reshape(-1, 3)
        self._leaves = np.array([tree.leaves for tree in trees], dtype=np.float64).reshape(-1, 4)

    def __call__(self, features: Floats) -> Floats:
        """Return the log-odds of n rows of features, shape (n,); features have shape (n, columns)."""
        if not len(features):
            return np.zeros(0)
        rows = np.arange(len(self._features))
        root = features[:, self._features[:, 0]] > self._thresholds[:, 0]
        side = root.astype(np.intp) + 1
        column = self._features[rows, side]
        inner = np.take_along_axis(features, column, axis=1) > self._thresholds[rows, side]
        leaf = 2 * root.astype(np.intp) + inner.astype(np.intp)
        summed: Floats = self._intercept + self._leaves[rows, leaf].sum(axis=1)
        return summed
