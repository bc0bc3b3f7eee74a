"""Compute paired differences with intervals, corrected tests, and which run is right more often. Pure functions.

Intervals: percentile bootstrap over buckets of sessions, 2,000 resamples, widened for few buckets
(expanded percentile interval; Hesterberg, "What Teachers Should Know About the Bootstrap", The
American Statistician 69, 2015). The seed is fixed: the same sums give the same interval.
p-values of slices: t-test of the mean difference with the variance between buckets
(linearised ratio). Correction: Benjamini and Hochberg, over all slices and measures together.
Which run is right more often: McNemar's test in its exact form, the binomial test of the cases in which only
one of the two is right.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import stats

from workers.comparison.tallies import MEASURES, Floats, Tally

RESAMPLES = 2_000
SEED = 20_261_101
LEVEL = 0.95
"""Confidence level of the intervals."""

LEAST_BUCKETS = 20
"""Minimum number of buckets with known pairs for an interval or a test; with fewer, the coverage of intervals is too
low.
"""

LEAST_DISCORDANT = 6
"""Minimum number of cases in which only one of two runs is right, or in which a measure of a slice changed: with five
cases, the smallest possible p-value is above 0.05.
"""

SAID = ("claims", "decisions", "ratings")
"""Kinds of human verdicts: verdicts on claims, decisions on answers, ratings."""

SIGNIFICANCE = 0.05
"""Corrected p-value below which a difference of a slice is significant."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One measure of A and B over the pairs in which both know its value.

    Attributes:
        measure: name of the measure.
        known: number of pairs in which both values are known.
        a, b: means; ``None`` without known pairs.
        difference: mean of B minus mean of A.
        low, high: 95 % interval of the difference; ``None`` from too few buckets.
        up, down: numbers of pairs in which the value rose or fell.
        became_null: number of pairs with a value in A and none in B.
        no_longer_null: number of pairs with a value in B and none in A.
        p_value: uncorrected p-value of the difference; ``None`` from too few buckets.
    """

    measure: str
    known: int
    a: float | None
    b: float | None
    difference: float | None
    low: float | None
    high: float | None
    up: int
    down: int
    became_null: int
    no_longer_null: int
    p_value: float | None


def differences(tally: Tally, measures: Sequence[str] = MEASURES) -> list[Difference]:
    """Return the differences of the measures of a tally, in their order."""
    used = tally.pairs > 0
    known, moved = tally.part("known")[used], tally.part("difference")[used]
    totals = tally.sums.sum(axis=1)
    low, high = _intervals(known, moved)
    return [
        _difference(name, totals[:, column], known[:, column], moved[:, column], low[column], high[column])
        for column, name in enumerate(measures)
    ]


def _difference(name: str, totals: Floats, known: Floats, moved: Floats, low: float, high: float) -> Difference:
    count, a, b, difference, up, down, became, no_longer = totals.tolist()
    certain = np.count_nonzero(known) >= LEAST_BUCKETS
    return Difference(
        measure=name,
        known=round(count),
        a=a / count if count else None,
        b=b / count if count else None,
        difference=difference / count if count else None,
        low=float(low) if certain else None,
        high=float(high) if certain else None,
        up=round(up),
        down=round(down),
        became_null=round(became),
        no_longer_null=round(no_longer),
        p_value=_p_value(known[known > 0], moved[known > 0]) if certain else None,
    )


def _intervals(known: Floats, moved: Floats) -> tuple[Floats, Floats]:
    """Return intervals of sum(moved) / sum(known) by measure, from shape (buckets, measures); NaN if unknown."""
    buckets = len(known)
    if buckets < LEAST_BUCKETS:
        nothing = np.full(known.shape[1], np.nan)
        return nothing, nothing
    weights = _resamples(buckets)
    counts = weights @ known
    means = np.divide(weights @ moved, counts, out=np.full_like(counts, np.nan), where=counts > 0)
    # A column of NaN only has no interval; its count of known pairs is zero.
    means[:, ~known.any(axis=0)] = 0.0
    # If a measure is known in few of many buckets, some resamples contain no known pair.
    tail = _tail(buckets)
    low, high = np.nanquantile(means, [tail, 1 - tail], axis=0)
    return low, high


@lru_cache(maxsize=8)
def _resamples(buckets: int) -> Floats:
    """Draw the multiplicity of each bucket in each resample, shape (RESAMPLES, buckets)."""
    drawn = np.random.default_rng(SEED).multinomial(buckets, np.full(buckets, 1 / buckets), size=RESAMPLES)
    return drawn.astype(np.float64)


def _tail(buckets: int) -> float:
    """Return the share cut off at each end: slightly less than 2.5 % for few buckets (Hesterberg, 2015)."""
    quantile = math.sqrt(buckets / (buckets - 1)) * stats.t.ppf((1 - LEVEL) / 2, buckets - 1)
    return float(stats.norm.cdf(quantile))


def _p_value(known: Floats, moved: Floats) -> float:
    """Return the two-sided p-value of sum(moved) / sum(known) being 0."""
    mean = moved.sum() / known.sum()
    rest = moved - mean * known
    variance = len(known) / (len(known) - 1) * (rest @ rest) / known.sum() ** 2
    if variance <= 1e-30:
        return 1.0 if abs(mean) < 1e-12 else 0.0
    return float(2 * stats.t.sf(abs(mean) / math.sqrt(variance), len(known) - 1))


def corrected(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p-values corrected for the false discovery rate; ``None`` entries were not tested."""
    tested = [value for value in p_values if value is not None]
    adjusted = iter(stats.false_discovery_control(tested, method="bh") if tested else ())
    return [None if value is None else float(next(adjusted)) for value in p_values]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two runs with human verdicts.

    Attributes:
        of: one of ``SAID``.
        both, only_a, only_b, neither: numbers of cases in which both, one or none of the runs were right.
    """

    of: str
    both: int = 0
    only_a: int = 0
    only_b: int = 0
    neither: int = 0

    @property
    def cases(self) -> int:
        """Return the number of all cases."""
        return self.both + self.only_a + self.only_b + self.neither

    @property
    def a(self) -> float | None:
        """Return the share of cases in which A was right."""
        return (self.both + self.only_a) / self.cases if self.cases else None

    @property
    def b(self) -> float | None:
        """Return the share of cases in which B was right."""
        return (self.both + self.only_b) / self.cases if self.cases else None

    @property
    def p_value(self) -> float | None:
        """Test that both are right equally often (McNemar, exact); ``None`` from too few cases."""
        discordant = self.only_a + self.only_b
        if discordant < LEAST_DISCORDANT:
            return None
        return float(stats.binomtest(self.only_a, discordant, 0.5).pvalue)

    @property
    def verdict(self) -> str:
        """Say in words which run is right more often."""
        if self.p_value is None:
            return "too few cases in which only one is right"
        if self.p_value >= SIGNIFICANCE:
            return "no difference beyond chance"
        return "A is right more often" if self.only_a > self.only_b else "B is right more often"
