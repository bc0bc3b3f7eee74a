"""Paired differences with intervals, corrected tests, and who is right more often. Pure.

Intervals: percentile bootstrap over buckets of sessions, 2,000 resamples, widened for few buckets
(expanded percentile interval; Hesterberg, "What Teachers Should Know About the Bootstrap", The
American Statistician 69, 2015). The seed is fixed: the same sums give the same interval.
p-values of slices: t-test of the mean difference with the variance between buckets
(linearised ratio). Correction: Benjamini and Hochberg, over all slices and measures together.
Who is right more often: McNemar's test in its exact form, the binomial test of the cases in which only
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
"""Of the intervals."""

LEAST_BUCKETS = 20
"""Fewest buckets with known pairs that an interval or a test is told from; below, intervals cover too seldom."""

LEAST_DISCORDANT = 6
"""Fewest cases in which only one of two is right, or in which a measure of a slice moved: with five, the smallest
p-value that their directions can have lies above 0.05."""

SAID = ("claims", "decisions", "ratings")
"""What people say: verdicts on claims, decisions on answers, ratings."""

SIGNIFICANCE = 0.05
"""Corrected p-value below which a slice counts as moved."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One measure of A and B over the pairs in which both know it.

    Attributes:
        measure: its name.
        known: pairs in which both know it.
        a, b: means; ``None`` where nothing is known.
        difference: mean of B less A.
        low, high: 95 % interval of the difference; ``None`` from too few buckets.
        up, down: pairs in which it rose, in which it fell.
        became_null: pairs in which A knows it and B does not.
        no_longer_null: the other way round.
        p_value: of the difference, uncorrected; ``None`` from too few buckets.
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


def differences(tally: Tally) -> list[Difference]:
    """The differences of all measures, in their order."""
    used = tally.pairs > 0
    known, moved = tally.part("known")[used], tally.part("difference")[used]
    totals = tally.sums.sum(axis=1)
    low, high = _intervals(known, moved)
    return [
        _difference(name, totals[:, column], known[:, column], moved[:, column], low[column], high[column])
        for column, name in enumerate(MEASURES)
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
    """Intervals of sum(moved) / sum(known) by measure, from shape (buckets, measures); NaN where nothing is known."""
    buckets = len(known)
    if buckets < LEAST_BUCKETS:
        nothing = np.full(known.shape[1], np.nan)
        return nothing, nothing
    weights = _resamples(buckets)
    counts = weights @ known
    means = np.divide(weights @ moved, counts, out=np.full_like(counts, np.nan), where=counts > 0)
    # A column that is NaN throughout has no interval, which is told apart by its count.
    means[:, ~known.any(axis=0)] = 0.0
    # Where a measure is known in few buckets of many, some resamples have none of it.
    tail = _tail(buckets)
    low, high = np.nanquantile(means, [tail, 1 - tail], axis=0)
    return low, high


@lru_cache(maxsize=8)
def _resamples(buckets: int) -> Floats:
    """How often each bucket is drawn, shape (RESAMPLES, buckets)."""
    drawn = np.random.default_rng(SEED).multinomial(buckets, np.full(buckets, 1 / buckets), size=RESAMPLES)
    return drawn.astype(np.float64)


def _tail(buckets: int) -> float:
    """Share cut off at each end: a little less than 2.5 % where buckets are few (Hesterberg, 2015)."""
    quantile = math.sqrt(buckets / (buckets - 1)) * stats.t.ppf((1 - LEVEL) / 2, buckets - 1)
    return float(stats.norm.cdf(quantile))


def _p_value(known: Floats, moved: Floats) -> float:
    """Two-sided, of sum(moved) / sum(known) being 0."""
    mean = moved.sum() / known.sum()
    rest = moved - mean * known
    variance = len(known) / (len(known) - 1) * (rest @ rest) / known.sum() ** 2
    if variance <= 1e-30:
        return 1.0 if abs(mean) < 1e-12 else 0.0
    return float(2 * stats.t.sf(abs(mean) / math.sqrt(variance), len(known) - 1))


def corrected(p_values: Sequence[float | None]) -> list[float | None]:
    """p-values corrected for their number, as a share of false discoveries; what is ``None`` was no test."""
    tested = [value for value in p_values if value is not None]
    adjusted = iter(stats.false_discovery_control(tested, method="bh") if tested else ())
    return [None if value is None else float(next(adjusted)) for value in p_values]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two runs against what people have said.

    Attributes:
        of: which of ``SAID``.
        both, only_a, only_b, neither: cases in which these were right.
    """

    of: str
    both: int = 0
    only_a: int = 0
    only_b: int = 0
    neither: int = 0

    @property
    def cases(self) -> int:
        """All of them."""
        return self.both + self.only_a + self.only_b + self.neither

    @property
    def a(self) -> float | None:
        """Share in which A was right."""
        return (self.both + self.only_a) / self.cases if self.cases else None

    @property
    def b(self) -> float | None:
        """Share in which B was right."""
        return (self.both + self.only_b) / self.cases if self.cases else None

    @property
    def p_value(self) -> float | None:
        """Of both being right equally often (McNemar, exact); ``None`` from too few cases."""
        discordant = self.only_a + self.only_b
        if discordant < LEAST_DISCORDANT:
            return None
        return float(stats.binomtest(self.only_a, discordant, 0.5).pvalue)

    @property
    def verdict(self) -> str:
        """In words, which one is right more often."""
        if self.p_value is None:
            return "too few cases in which only one is right"
        if self.p_value >= SIGNIFICANCE:
            return "no difference beyond chance"
        return "A is right more often" if self.only_a > self.only_b else "B is right more often"
