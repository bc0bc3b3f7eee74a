"""Model rewards by query: a Bayesian linear model on a few features of the query's embedding.

Source: Agrawal and Goyal, Thompson sampling for contextual bandits with linear payoffs (2013).
The features are a projection of the embedding on sixteen fixed directions of random signs
(Achlioptas, Database-friendly random projections, 2003), which approximately keeps the distances of queries and
keeps the state of a model small: 170 numbers instead of about 75,000.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from schemas.feedback import LINEAR_TERMS, QUERY_FEATURES, LinearPosterior

NEUTRAL = 0.5
"""Expected reward of an unknown model; the linear model describes the difference from it."""

RIDGE = 3.0
"""Prior precision of each coefficient, in observations: the reward of a new model is 0.5 ± 0.4."""

PRIOR_VARIANCE, PRIOR_OBSERVATIONS = 0.25, 10.0
"""Assumed variance of a reward (the largest possible), and the number of
observations that this assumption counts for.
"""

DECIMALS = 4
"""Number of decimals of a feature, whose size is about 1/4."""

DIGITS = 8
"""Number of decimals of a posterior."""


@dataclass(frozen=True, slots=True)
class WeightedMoments:
    """Hold the age-weighted sums over a model's rewards and their queries.

    Attributes:
        tenant: tenant of the answers.
        model_id: model of the answers.
        query_type: the router's class, empty for none.
        products: sums of products of two terms of a query: the upper triangle of a matrix of
            shape (17, 17), row by row.
        rewards: sums of terms times reward minus 0.5, shape (17,).
        squares: sum of the squares of reward minus 0.5.
        weight: sum of the weights.
    """

    tenant: str
    model_id: str
    query_type: str
    products: Sequence[float]
    rewards: Sequence[float]
    squares: float
    weight: float


def query_features(vector: NDArray[np.floating]) -> list[float]:
    """Return the features of a query.

    Args:
        vector: its embedding, of length 1, shape (dimensions,).

    Returns:
        16 numbers whose squares sum up to about 1.
    """
    projected = _directions(len(vector)) @ np.asarray(vector, dtype=np.float64)
    return [round(float(value), DECIMALS) for value in projected / np.sqrt(QUERY_FEATURES)]


def terms(features: Sequence[float]) -> NDArray[np.float64]:
    """Return the constant and the features, the regressors of the model, shape (17,)."""
    return np.array([1.0, *features])


def linear_posterior(moments: WeightedMoments) -> LinearPosterior:
    """Compute the posterior of the coefficients and of the residual variance."""
    precision = _matrix(moments.products) + RIDGE * np.eye(LINEAR_TERMS)
    rewards = np.asarray(moments.rewards)
    residual = max(0.0, moments.squares - float(rewards @ np.linalg.solve(precision, rewards)))
    variance = (PRIOR_OBSERVATIONS * PRIOR_VARIANCE + residual) / (PRIOR_OBSERVATIONS + moments.weight)
    return LinearPosterior(
        precision=[_rounded(value) for value in precision[np.triu_indices(LINEAR_TERMS)]],
        rewards=[_rounded(value) for value in rewards],
        variance=_rounded(variance),
    )


def predicted(posterior: LinearPosterior | None, features: Sequence[float]) -> tuple[float, float]:
    """Predict a model's reward for a query: expectation and standard deviation.

    Args:
        posterior: posterior of the model; ``None`` for an unknown model.
        features: features of the query.
    """
    query = terms(features)
    if posterior is None:
        return NEUTRAL, float(np.sqrt(PRIOR_VARIANCE * (query @ query) / RIDGE))
    precision = _matrix(posterior.precision)
    solved = np.linalg.solve(precision, np.stack([np.asarray(posterior.rewards), query], axis=1))
    return NEUTRAL + float(query @ solved[:, 0]), float(np.sqrt(posterior.variance * (query @ solved[:, 1])))


def _matrix(triangle: Sequence[float]) -> NDArray[np.float64]:
    """Build the symmetric matrix of an upper triangle."""
    upper = np.zeros((LINEAR_TERMS, LINEAR_TERMS))
    upper[np.triu_indices(LINEAR_TERMS)] = triangle
    return upper + np.triu(upper, 1).T


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


@lru_cache(maxsize=4)
def _directions(dimensions: int) -> NDArray[np.float64]:
    """Derive signs from SHA-256, reproducible in any language; shape (16, dimensions).

    The sign of feature i and dimension j is the bit ``j mod 256`` (from the highest of the first
    byte on) of the digest of ``"i:j div 256"``; 1 is plus.
    """
    blocks = -(-dimensions // 256)
    rows = [
        b"".join(sha256(f"{i}:{block}".encode()).digest() for block in range(blocks)) for i in range(QUERY_FEATURES)
    ]
    bits = np.array([np.unpackbits(np.frombuffer(row, dtype=np.uint8))[:dimensions] for row in rows])
    return 2.0 * bits - 1.0
