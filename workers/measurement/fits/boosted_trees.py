"""Export boosted trees of scikit-learn as plain numbers that ``evaluation.trees`` computes with."""

from typing import Any

import numpy as np

from workers.evaluation.trees import Floats, TreeSum


def export_trees(model: Any, check: Floats) -> dict[str, Any]:
    """Return a fitted ``HistGradientBoostingClassifier`` with trees of at most four leaves and two levels as numbers.

    Args:
        model: the fitted model.
        check: rows without missing values on which export and model must agree, shape (n, columns).

    Raises:
        AssertionError: the exported trees compute something else.
    """
    trees = [_tree(predictor.nodes) for (predictor,) in model._predictors]
    exported = {"intercept": float(np.ravel(model._baseline_prediction)[0]), "trees": trees}
    difference = np.abs(TreeSum(exported)(check) - model.decision_function(check)).max()
    if difference > 1e-6:
        raise AssertionError(f"the exported trees differ from the fitted ones by {difference}")
    return exported


def _tree(nodes: Any) -> dict[str, Any]:
    def split(number: int) -> tuple[int, float, float, float]:
        node = nodes[number]
        if node["is_leaf"]:
            return 0, 0.0, float(node["value"]), float(node["value"])
        left, right = nodes[node["left"]], nodes[node["right"]]
        return int(node["feature_idx"]), float(node["num_threshold"]), float(left["value"]), float(right["value"])

    root = nodes[0]
    if root["is_leaf"]:
        value = float(root["value"])
        return {"features": [0, 0, 0], "thresholds": [0.0, 0.0, 0.0], "leaves": [value] * 4}
    low, high = split(int(root["left"])), split(int(root["right"]))
    return {
        "features": [int(root["feature_idx"]), low[0], high[0]],
        "thresholds": [float(root["num_threshold"]), low[1], high[1]],
        "leaves": [low[2], low[3], high[2], high[3]],
    }
