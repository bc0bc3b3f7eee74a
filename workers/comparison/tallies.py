"""What is summed over pairs: an answer as run A judged it, and as run B did.

Sums stand by bucket. All answers of a session fall into the same bucket, by a hash, so a bucket is
a random group of whole sessions: resampling buckets is resampling sessions, however many there are,
and 10 million pairs need no more memory than a thousand. Source: Chamandy, Muralidharan, Najmi and
Naidu, "Estimating Uncertainty for Massive Data Streams" (Google, 2012), who group users so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BUCKETS = 200
"""Groups of sessions: enough that an interval from 199 degrees of freedom is as good as from any number."""

SCORES = (
    "grounding_score", "risk_score", "quality_score", "validation_score", "gate_score", "citation_coverage",
    "context_similarity", "facts_verified", "faithfulness", "relevance", "correctness", "coverage", "consistency",
    "freshness", "traceability",
)  # fmt: skip
"""Scores from 0 to 1, or null, by their column."""

SHARES = (
    "released", "warned", "held", "fallback", "reviewed", "high_risk", "passes_validation", "citations_valid", "degraded",
)  # fmt: skip
"""What an answer is or is not: its mean is the share of answers that are."""

MEASURES = (*SCORES, *SHARES)
"""Everything that has a mean, in the order of all arrays."""

PARTS = ("known", "a", "b", "difference", "up", "down", "became_null", "no_longer_null")
"""What is summed of each measure: pairs in which both know it, its value in A and in B of those, B less A,
pairs in which it rose and fell, and pairs in which only one of the two knows it."""


@dataclass(slots=True)
class Tally:
    """Sums of the pairs of one slice.

    Attributes:
        pairs: number of pairs by bucket, shape (BUCKETS,).
        sums: shape (PARTS, BUCKETS, MEASURES).
    """

    pairs: Floats = field(default_factory=lambda: np.zeros(BUCKETS))
    sums: Floats = field(default_factory=lambda: np.zeros((len(PARTS), BUCKETS, len(MEASURES))))

    def add(self, bucket: int, pairs: int, sums: Sequence[Sequence[float]]) -> None:
        """Add sums of further pairs.

        Args:
            bucket: from 0.
            pairs: how many.
            sums: one list for each of ``PARTS``, by measure.
        """
        self.pairs[bucket] += pairs
        self.sums[:, bucket, :] += np.asarray(sums, dtype=np.float64)

    def part(self, name: str) -> Floats:
        """One of ``PARTS``, shape (BUCKETS, MEASURES)."""
        found: Floats = self.sums[PARTS.index(name)]
        return found
