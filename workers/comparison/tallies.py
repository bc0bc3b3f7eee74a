"""Define the sums over pairs of evaluations: the one of run A and the one of run B of the same answer.

Sums are kept by bucket. A hash puts all answers of a session into the same bucket, so a bucket is
a random group of complete sessions. Resampling buckets is equivalent to resampling sessions, and
10 million pairs need no more memory than a thousand. Source: Chamandy, Muralidharan, Najmi and
Naidu, "Estimating Uncertainty for Massive Data Streams" (Google, 2012), who group users the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BUCKETS = 200
"""Number of groups of sessions: an interval from 199 degrees of freedom is close to that of any larger number."""

SCORES = (
    "grounding_score", "risk_score", "quality_score", "validation_score", "gate_score", "citation_coverage",
    "context_similarity", "facts_verified", "faithfulness", "relevance", "correctness", "coverage", "consistency",
    "freshness", "traceability",
)  # fmt: skip
"""Scores from 0 to 1, or null, by their column."""

SHARES = (
    "released", "warned", "held", "fallback", "reviewed", "high_risk", "passes_validation", "citations_valid", "degraded",
)  # fmt: skip
"""Properties that are 0 or 1 for an answer: the mean is the share of answers with the property."""

MEASURES = (*SCORES, *SHARES)
"""All measures with a mean, in the order of all arrays."""

PARTS = ("known", "a", "b", "difference", "up", "down", "became_null", "no_longer_null")
"""Sums of each measure: pairs in which both values are known, of those the values of A and of B, B minus A,
pairs in which the value rose and fell, and pairs in which only one of the two values is known."""


@dataclass(slots=True)
class Tally:
    """Sums of the pairs of one slice.

    Attributes:
        pairs: number of pairs by bucket, shape (BUCKETS,).
        sums: shape (PARTS, BUCKETS, MEASURES), or with one measure for a score of an evaluator plug-in.
    """

    pairs: Floats = field(default_factory=lambda: np.zeros(BUCKETS))
    sums: Floats = field(default_factory=lambda: np.zeros((len(PARTS), BUCKETS, len(MEASURES))))

    @classmethod
    def of_one_measure(cls) -> "Tally":
        """Return an empty tally of a single measure."""
        return cls(sums=np.zeros((len(PARTS), BUCKETS, 1)))

    def add(self, bucket: int, pairs: int, sums: Sequence[Sequence[float]]) -> None:
        """Add the sums of further pairs.

        Args:
            bucket: index of the bucket, from 0.
            pairs: number of pairs.
            sums: one list for each of ``PARTS``, by measure.
        """
        self.pairs[bucket] += pairs
        self.sums[:, bucket, :] += np.asarray(sums, dtype=np.float64)

    def part(self, name: str) -> Floats:
        """Return the sums of one of ``PARTS``, shape (BUCKETS, MEASURES)."""
        found: Floats = self.sums[PARTS.index(name)]
        return found
