"""Load the grounding calibration: small monotone models over claim features from a data file.

Two models, both fitted by ``touchstone calibrate grounding`` and kept as plain JSON in
``workers/data/grounding.json`` with the sets, the figures and the version they come from:

- *claim*: boosted trees of at most four leaves over ``claim_features.FEATURES``, each constrained
  to never fall as a feature grows. Their sum is the log-odds that readers find the claim unsupported. The confidence is
  one minus the probability, shifted so that the fitted cutoff is at 0.6.
- *answer*: logistic over the sum of the three highest claim probabilities (log) and the share of
  the answer's words that are not in the sources. Both never fall when an unsupported claim is
  added, and never rise when a claim finds support.

Method: gradient boosting with monotone constraints (Friedman 2001; scikit-learn's
``HistGradientBoostingClassifier``); for answers labelled as a whole, expectation
maximisation estimates which of their claims is unsupported.
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

from workers.evaluation.grounding.claim_features import FEATURES, WordWeights
from workers.evaluation.trees import Floats, TreeSum

CONFIDENCE_AT_CUT = 0.6
"""Confidence of a claim exactly at the cutoff that was fitted, and least confidence of one with details that no source
has."""
TOP_CLAIMS = 3
"""Number of worst claims that determine the risk of an answer, so that length alone adds no risk."""
UNSUPPORTED_FEATURES = [FEATURES.index("unseen_share"), FEATURES.index("apart")]
"""Features whose mean is the unsupported share of a claim: words in no evidence, words not together in one unit."""
CALIBRATION = "grounding.json"
"""The shipped file, in ``workers/data``."""


@dataclass(frozen=True, slots=True)
class AnswerClaims:
    """Hold the n checked claims of an answer as inputs of its risk.

    Attributes:
        log_odds: log-odds that each claim is unsupported, shape (n,).
        unsupported_share: share of each claim that is not in the sources, 0..1, shape (n,); see
            ``UNSUPPORTED_FEATURES``.
        words: distinct content words of each, at least 1, shape (n,).
        unsupported: True if the verdict is not supported, shape (n,).
    """

    log_odds: Floats
    unsupported_share: Floats
    words: Floats
    unsupported: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class AnswerWeights:
    """Hold the logistic model of an answer's risk.

    Attributes:
        intercept: intercept of the model.
        top: weight of the log of the worst claims' sum.
        unsupported_share: weight of the unsupported share.
    """

    intercept: float
    top: float
    unsupported_share: float

    def risk(self, claims: AnswerClaims) -> float:
        """Return the probability that people find something unsupported in an answer.

        Args:
            claims: those of the answer that were checked, at least one.
        """
        top, unsupported_share = answer_features(claims)
        return float(_sigmoid(np.array(self.intercept + self.top * top + self.unsupported_share * unsupported_share)))


class GroundingCalibration:
    """Convert claim features to probabilities, and these to the risk of an answer.

    Args:
        document: content of a calibration file.

    Raises:
        ValueError: the file has other features than ``FEATURES``.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        if tuple(document["features"]) != FEATURES:
            raise ValueError(
                "the calibration file was fitted for other features than this version computes; fit it again with "
                "`touchstone calibrate grounding`"
            )
        self.version = str(document["version"])
        words = document["words"]
        self.words = WordWeights(words["weights"], words["unknown"])
        claim = document["claim"]
        self.cut = float(claim["cut"])
        self._trees = TreeSum(claim)
        answer = document["answer"]
        self.answer = AnswerWeights(float(answer["intercept"]), float(answer["top"]), float(answer["unsaid"]))
        self.threshold = float(answer["threshold"])

    def log_odds(self, features: Floats) -> Floats:
        """Return the log-odds that claims are unsupported.

        Args:
            features: shape (n, len(FEATURES)).

        Returns:
            Shape (n,).
        """
        return self._trees(features)

    def margins(self, features: Floats) -> Floats:
        """Return the log-odds that claims are unsupported, minus the verdict's cutoff; see :meth:`log_odds`."""
        return self.log_odds(features) - self.cut

    def confidences(self, log_odds: Floats) -> Floats:
        """Convert log-odds to the confidence in claims, 0..1; the fitted cutoff maps to 0.6."""
        return confidences_from(log_odds, self.cut)

    def risk(self, claims: AnswerClaims) -> float:
        """Return the probability that people find something unsupported in an answer.

        Args:
            claims: those of the answer that were checked, at least one.
        """
        return self.answer.risk(claims)


def confidences_from(log_odds: Floats, cut: float) -> Floats:
    """Convert log-odds of being unsupported to confidence, 0..1; the fitted cutoff maps to 0.6."""
    return 1.0 - _sigmoid(log_odds + (log((1.0 - CONFIDENCE_AT_CUT) / CONFIDENCE_AT_CUT) - cut))


def answer_features(claims: AnswerClaims) -> tuple[float, float]:
    """Return the features of an answer's risk: log of the worst claims' sum, and the unsupported share."""
    top = np.sort(_sigmoid(claims.log_odds))[::-1][:TOP_CLAIMS].sum()
    return log(max(float(top), 1e-6)), _mean_unsupported_share(claims)


def _mean_unsupported_share(claims: AnswerClaims) -> float:
    """Return the mean unsupported share over the supported claims and the unsupported claims that raise it.

    Unsupported claims below the mean are left out: otherwise an additional unsupported claim could lower the
    risk.
    """
    supported = ~claims.unsupported
    unsupported_share = float(claims.unsupported_share[supported] @ claims.words[supported])
    words = float(claims.words[supported].sum())
    others = sorted(zip(claims.unsupported_share[~supported], claims.words[~supported], strict=True), reverse=True)
    for share, length in others:
        if unsupported_share <= share * words:
            unsupported_share, words = unsupported_share + share * length, words + length
    return unsupported_share / words


@lru_cache(maxsize=1)
def shipped_calibration() -> GroundingCalibration:
    """Load the calibration that the package contains."""
    return GroundingCalibration(json.loads((files("workers") / "data" / CALIBRATION).read_text(encoding="utf-8")))


def _sigmoid(values: Floats) -> Floats:
    positive: Floats = 1.0 / (1.0 + np.exp(-np.clip(values, -60.0, 60.0)))
    return positive
