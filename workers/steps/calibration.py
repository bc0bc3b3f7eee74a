"""The grounding calibration: small monotone models over claim features, read from a data file.

Two models, both fitted by ``touchstone calibrate grounding`` and kept as plain JSON in
``workers/data/grounding.json`` with the sets, the figures and the version they come from:

- *claim*: boosted trees of at most four leaves over ``claim_features.FEATURES``, each constrained
  to never fall as a feature grows. Their sum is the log-odds that people find the claim
  unsupported. The confidence of 004 is one minus the probability, with the prior moved so that the
  verdict's cut lies at the seed's minimum of 0.6.
- *answer*: logistic over the sum of the three highest claim probabilities (log) and the share of
  the answer's words that the sources do not say. Both never fall when an unsupported claim is
  added, and never rise when a claim finds support.

Method: gradient boosting with monotone constraints (Friedman 2001; scikit-learn's
``HistGradientBoostingClassifier``); answers labelled as a whole join in by expectation
maximisation over which of their claims is the unsupported one.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.steps.claim_features import FEATURES, WordWeights

CONFIDENCE_AT_CUT = 0.6
"""Confidence of a claim on the edge of the verdict: the minimum of seed 004."""
TOP_CLAIMS = 3
"""Claims that make the risk of an answer: a long answer is not riskier for its length alone."""
UNSAID = [FEATURES.index("unseen_share"), FEATURES.index("apart")]
"""Features of a claim whose mean is the share of it that is not said: nowhere at all, nowhere together."""
CALIBRATION = "grounding.json"
"""The shipped file, in ``workers/data``."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree of two levels: a root and a split on either side; a missing split repeats its leaf.

    Attributes:
        features: columns of root, lower and upper split.
        thresholds: values up to which a row goes to the left.
        leaves: log-odds of the four leaves from left to right.
    """

    features: tuple[int, int, int]
    thresholds: tuple[float, float, float]
    leaves: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class AnswerClaims:
    """The n checked claims of an answer, as its risk sees them.

    Attributes:
        log_odds: of being unsupported, shape (n,).
        unsaid: the share of each that the sources do not say, 0..1, shape (n,); see ``UNSAID``.
        words: distinct content words of each, at least 1, shape (n,).
        unsupported: whether the verdict on each is anything but supported, shape (n,).
    """

    log_odds: Floats
    unsaid: Floats
    words: Floats
    unsupported: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class AnswerWeights:
    """The logistic model of an answer's risk.

    Attributes:
        intercept: of the model.
        top: weight of the log of the worst claims' sum.
        unsaid: weight of the share that is not said.
    """

    intercept: float
    top: float
    unsaid: float

    def risk(self, claims: AnswerClaims) -> float:
        """Probability that people find something unsupported in an answer.

        Args:
            claims: those of the answer that were checked, at least one.
        """
        top, unsaid = answer_features(claims)
        return float(_sigmoid(np.array(self.intercept + self.top * top + self.unsaid * unsaid)))


class GroundingCalibration:
    """Turns claim features into probabilities and those into the risk of an answer.

    Args:
        document: content of a calibration file.

    Raises:
        ValueError: a file of other features, which would be read in the wrong columns.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        if tuple(document["features"]) != FEATURES:
            raise ValueError(
                "the calibration is of other features than this version computes; "
                "fit it again with `touchstone calibrate grounding`"
            )
        self.version = str(document["version"])
        words = document["words"]
        self.words = WordWeights(words["weights"], words["unknown"])
        claim = document["claim"]
        self._intercept = float(claim["intercept"])
        self.cut = float(claim["cut"])
        trees = [Tree(tuple(t["features"]), tuple(t["thresholds"]), tuple(t["leaves"])) for t in claim["trees"]]
        self._features = np.array([tree.features for tree in trees], dtype=np.intp).reshape(-1, 3)
        self._thresholds = np.array([tree.thresholds for tree in trees], dtype=np.float64).reshape(-1, 3)
        self._leaves = np.array([tree.leaves for tree in trees], dtype=np.float64).reshape(-1, 4)
        answer = document["answer"]
        self.answer = AnswerWeights(float(answer["intercept"]), float(answer["top"]), float(answer["unsaid"]))
        self.threshold = float(answer["threshold"])

    def log_odds(self, features: Floats) -> Floats:
        """Log-odds that claims are unsupported.

        Args:
            features: shape (n, len(FEATURES)).

        Returns:
            Shape (n,).
        """
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

    def margins(self, features: Floats) -> Floats:
        """Log-odds that claims are unsupported above the cut of the verdict: from 0 on they are; as :meth:`log_odds`."""
        return self.log_odds(features) - self.cut

    def confidences(self, log_odds: Floats) -> Floats:
        """Confidence in claims, 0..1: 0.6 and more is supported."""
        return confidences_from(log_odds, self.cut)

    def risk(self, claims: AnswerClaims) -> float:
        """Probability that people find something unsupported in an answer.

        Args:
            claims: those of the answer that were checked, at least one.
        """
        return self.answer.risk(claims)


def confidences_from(log_odds: Floats, cut: float) -> Floats:
    """Confidence in claims by their log-odds of being unsupported, 0..1: 0.6 at the cut of the verdict."""
    return 1.0 - _sigmoid(log_odds + (log((1.0 - CONFIDENCE_AT_CUT) / CONFIDENCE_AT_CUT) - cut))


def answer_features(claims: AnswerClaims) -> tuple[float, float]:
    """What the risk of an answer is made of: log of the worst claims' sum, share that is not said."""
    top = np.sort(_sigmoid(claims.log_odds))[::-1][:TOP_CLAIMS].sum()
    return log(max(float(top), 1e-6)), _unsaid_share(claims)


def _unsaid_share(claims: AnswerClaims) -> float:
    """Mean of what is not said by words, over the supported claims and the unsupported ones that raise it.

    A mean over all of them would fall where an unsupported claim joins that has more of its words
    in the sources than the others have, and then say too much of them.
    """
    supported = ~claims.unsupported
    unsaid = float(claims.unsaid[supported] @ claims.words[supported])
    words = float(claims.words[supported].sum())
    others = sorted(zip(claims.unsaid[~supported], claims.words[~supported], strict=True), reverse=True)
    for share, length in others:
        if unsaid <= share * words:
            unsaid, words = unsaid + share * length, words + length
    return unsaid / words


@lru_cache(maxsize=1)
def shipped_calibration() -> GroundingCalibration:
    """The calibration that comes with the package."""
    return GroundingCalibration(json.loads((files("workers") / "data" / CALIBRATION).read_text(encoding="utf-8")))


def _sigmoid(values: Floats) -> Floats:
    positive: Floats = 1.0 / (1.0 + np.exp(-np.clip(values, -60.0, 60.0)))
    return positive
