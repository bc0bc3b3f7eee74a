"""Retries by meaning (seed 001): the same person asks nearly the same again within minutes.

All pairs of an answer's query with those around it are looked at, earlier and later ones: so
it does not matter which of two answers comes first, or in which worker, and no query can
match itself. Times are those of the queries, not of the processing: a record that comes a
second time sees what it saw.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.feedback import RetrySignals
from workers.steps.thresholds import FeedbackRules


@dataclass(frozen=True, slots=True)
class AskedQuery:
    """A query in a person's history.

    Attributes:
        answer_id: of the answer to it.
        asked_at: seconds since the epoch.
        vector: embedding of the query, float16 of shape (dimensions,).
    """

    answer_id: str
    asked_at: float
    vector: NDArray[np.float16]


def find_retries(own: AskedQuery, others: Sequence[AskedQuery], rules: FeedbackRules) -> list[RetrySignals]:
    """The pairs of retried and repeated query that an answer's query takes part in.

    Args:
        own: the query of the answer at hand.
        others: the same person's history, in any order; may hold ``own``.
        rules: similarity and window.

    Returns:
        One for each pair, the most similar first, then the latest.
    """
    pairs = [_pair(own, other) for other in others if other.answer_id != own.answer_id]
    found = [
        pair
        for pair in pairs
        if pair is not None
        and pair.similarity_score >= rules.retry_similarity
        and pair.delay_seconds <= rules.retry_window_seconds
    ]
    return sorted(found, key=lambda pair: (-pair.similarity_score, pair.delay_seconds, pair.original_answer_id))


def _pair(one: AskedQuery, other: AskedQuery) -> RetrySignals | None:
    if one.asked_at == other.asked_at or one.vector.shape != other.vector.shape:
        # Asked at one moment: two answers to one question, as of an experiment. Another shape: another model.
        return None
    first, second = sorted((one, other), key=lambda query: query.asked_at)
    return RetrySignals(
        original_answer_id=first.answer_id,
        retry_answer_id=second.answer_id,
        # Differences of float seconds: a millisecond is more than clocks of two machines agree on.
        delay_seconds=round(second.asked_at - first.asked_at, 3),
        similarity_score=_cosine(first.vector, second.vector),
    )


def _cosine(one: NDArray[np.float16], other: NDArray[np.float16]) -> float:
    a, b = one.astype(np.float64), other.astype(np.float64)
    length = float(np.linalg.norm(a) * np.linalg.norm(b))
    return min(1.0, max(0.0, float(a @ b) / length)) if length else 0.0
