"""Detect retries by meaning: the same person repeats nearly the same query within minutes.

An answer's query is compared with earlier and later queries. The result therefore does not depend on the order of two
answers or on the worker, and no query matches itself. Times are times of queries, not of processing, so that a record
that is delivered twice gives the same result.

A query that differs in a number, date, name or identifier is another question however near its vector is; see
``query_fingerprint``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.feedback import RetrySignals
from workers.evaluation.thresholds import FeedbackRules
from workers.feedback.asked_kinds import ask_alike
from workers.feedback.query_fingerprint import QueryFingerprint, asks_something_else


@dataclass(frozen=True, slots=True)
class AskedQuery:
    """Describe a query in a person's history.

    Attributes:
        answer_id: identifier of its answer.
        asked_at: seconds since the epoch.
        vector: embedding of the query, float16 of shape (dimensions,).
        fingerprint: digests of its words and values; ``None`` in an entry that an earlier version wrote.
    """

    answer_id: str
    asked_at: float
    vector: NDArray[np.float16]
    fingerprint: QueryFingerprint | None = None


def find_retries(own: AskedQuery, others: Sequence[AskedQuery], rules: FeedbackRules) -> list[RetrySignals]:
    """Find the pairs of original and repeated query that include an answer's query.

    Args:
        own: the query of this answer.
        others: the same person's history, in any order; may contain ``own``.
        rules: similarity and window.

    Returns:
        One result for each pair, the most similar first, then the latest.
    """
    pairs = [(_pair(own, other), _least(own, other, rules)) for other in others if other.answer_id != own.answer_id]
    found = [
        pair
        for pair, least in pairs
        if pair is not None and pair.similarity_score >= least and pair.delay_seconds <= rules.retry_window_seconds
    ]
    return sorted(found, key=lambda pair: (-pair.similarity_score, pair.delay_seconds, pair.original_answer_id))


def _least(one: AskedQuery, other: AskedQuery, rules: FeedbackRules) -> float:
    """Return the least cosine of a retry: lower for two queries that ask for the same kind of thing."""
    alike = one.fingerprint and other.fingerprint and ask_alike(one.fingerprint.asks, other.fingerprint.asks)
    return min(rules.retry_similarity, rules.retry_similarity_alike) if alike else rules.retry_similarity


def _pair(one: AskedQuery, other: AskedQuery) -> RetrySignals | None:
    if one.asked_at == other.asked_at or one.vector.shape != other.vector.shape:
        # Skip queries of the same time (two answers to one question, as in an experiment) and vectors of another model.
        return None
    if one.fingerprint and other.fingerprint and asks_something_else(one.fingerprint, other.fingerprint):
        return None
    first, second = sorted((one, other), key=lambda query: query.asked_at)
    return RetrySignals(
        original_answer_id=first.answer_id,
        retry_answer_id=second.answer_id,
        # Allow a millisecond for float rounding; clocks of two machines do not agree better.
        delay_seconds=round(second.asked_at - first.asked_at, 3),
        similarity_score=_cosine(first.vector, second.vector),
    )


def _cosine(one: NDArray[np.float16], other: NDArray[np.float16]) -> float:
    a, b = one.astype(np.float64), other.astype(np.float64)
    length = float(np.linalg.norm(a) * np.linalg.norm(b))
    return min(1.0, max(0.0, float(a @ b) / length)) if length else 0.0
