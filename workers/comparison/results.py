"""Define a comparison, its documented figures, and the claims of an answer side by side. Pure functions."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.comparison.statistics import (
    LEAST_DISCORDANT,
    SAID,
    SIGNIFICANCE,
    Agreement,
    Difference,
    corrected,
    differences,
)
from workers.comparison.tallies import SCORES, Tally

BINS = 10
"""Bins of the distribution of a score: 0 to below 0.1, and so on; 1 is in the last bin."""

DECIMALS = 9
"""Decimals of all figures: rounding hides the order in which a database adds numbers."""

DECIDED = ("released", "warned", "held", "fallback", "reviewed")
"""Shares of answers by the decision on them."""


ORDER = ("unknown", "low", "medium", "high", "released", "warned", "held", "fallback", "no", "yes")
"""Order of levels and states in tables, from the least to the most severe."""


def ordered(labels: Iterable[str]) -> list[str]:
    """Return the labels of a matrix in the order of severity; other labels follow by name."""
    return sorted(set(labels), key=lambda label: (ORDER.index(label) if label in ORDER else len(ORDER), label))


@dataclass(frozen=True, slots=True)
class Side:
    """One run.

    Attributes:
        run: live, or the name of a replay.
        versions: numbers of answers by pipeline version.
        alone: number of answers that only this run evaluated.
    """

    run: str
    versions: Mapping[str, int]
    alone: int


@dataclass(frozen=True, slots=True)
class Levels:
    """The decisions of both runs on a pair.

    Attributes:
        state, risk, reviewed: as (A, B).
        reasons_moved: true if the reasons of the decision differ.
        scores_moved: true if a score differs.
    """

    state: tuple[str, str]
    risk: tuple[str, str]
    reviewed: tuple[bool, bool]
    reasons_moved: bool
    scores_moved: bool

    @property
    def moved(self) -> bool:
        """Return true if any part of the decision differs."""
        return self.scores_moved or self.reasons_moved or any(a != b for a, b in (self.state, self.risk, self.reviewed))


@dataclass(frozen=True, slots=True)
class SliceDifference:
    """The difference of one measure within a slice.

    Attributes:
        dimension: model, source or query_type.
        value: value of the dimension.
        pairs: number of pairs in the slice.
        difference: difference of the measure.
        corrected: p-value corrected for all tested slices and measures; ``None`` if this one was not tested.
    """

    dimension: str
    value: str
    pairs: int
    difference: Difference
    corrected: float | None

    @property
    def moved(self) -> bool:
        """Return true if the difference is significant after the correction."""
        return self.corrected is not None and self.corrected < SIGNIFICANCE


@dataclass(frozen=True, slots=True)
class ClaimPair:
    """A claim in A and B; the verdict is ``None`` for a run without the claim."""

    start: int
    end: int
    text: str
    verdict_a: str | None
    score_a: float | None
    verdict_b: str | None
    score_b: float | None

    @property
    def moved(self) -> bool:
        """Return true if the two verdicts differ."""
        return (self.verdict_a, self.score_a) != (self.verdict_b, self.score_b)


@dataclass(frozen=True, slots=True)
class ChangedAnswer:
    """An answer that the two runs evaluate differently.

    Attributes:
        tenant, answer_id, completed_at: identity of the answer.
        change: size of the change: 2 if state or review differ, 1 if the risk level differs, 0.1 if the reasons
            differ, plus the largest difference of a score.
        state, risk, reviewed, reasons: as (A, B).
        scores: the scores that changed, as (A, B) by name.
        query, answer: first characters of both texts.
        claims: the claims side by side.
    """

    tenant: str
    answer_id: str
    completed_at: datetime
    change: float
    state: tuple[str, str]
    risk: tuple[str, str]
    reviewed: tuple[bool, bool]
    reasons: tuple[Sequence[str], Sequence[str]]
    scores: Mapping[str, tuple[float | None, float | None]]
    query: str = ""
    answer: str = ""
    claims: Sequence[ClaimPair] = ()


@dataclass(slots=True)
class Comparison:
    """Two compared runs.

    Attributes:
        a, b: the runs.
        levels: numbers of pairs by the decisions on them.
        overall: sums of all pairs.
        slices: sums by (dimension, value).
        left_out: number of values by dimension that exceed the limit and were not compared.
        distributions: numbers of pairs by score, bin in A and bin in B; shape (SCORES, BINS, BINS).
        agreements: agreements with human verdicts.
        answers: the answers with the largest changes.
        evaluators: sums of the scores of evaluator plug-ins, by measure, such as ``evaluations.tone.score``.
    """

    a: Side
    b: Side
    levels: Counter[Levels] = field(default_factory=Counter)
    overall: Tally = field(default_factory=Tally)
    slices: dict[tuple[str, str], Tally] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    distributions: NDArray[np.int64] = field(default_factory=lambda: np.zeros((len(SCORES), BINS, BINS), np.int64))
    agreements: list[Agreement] = field(default_factory=lambda: [Agreement(of) for of in SAID])
    answers: list[ChangedAnswer] = field(default_factory=list)
    evaluators: dict[str, Tally] = field(default_factory=dict)

    @property
    def pairs(self) -> int:
        """Return the number of answers that both runs evaluated."""
        return self.levels.total()

    def matrix(self, of: str) -> dict[tuple[str, str], int]:
        """Return the numbers of pairs by the values of A and B; ``of`` is state, risk or reviewed."""
        found: Counter[tuple[str, str]] = Counter()
        for levels, count in self.levels.items():
            said = getattr(levels, of)
            found[_word(said[0]), _word(said[1])] += count
        return dict(found)

    @property
    def moved_reasons(self) -> int:
        """Return the number of pairs with different reasons of the decision."""
        return sum(count for levels, count in self.levels.items() if levels.reasons_moved)

    def moved(self, of: str | None = None) -> int:
        """Return the number of pairs that differ in any part, or in state, risk or reviewed."""
        return sum(
            count
            for levels, count in self.levels.items()
            if (levels.moved if of is None else len(set(getattr(levels, of))) > 1)
        )


def _word(said: str | bool) -> str:
    return said if isinstance(said, str) else ("yes" if said else "no")


def slice_differences(comparison: Comparison) -> list[SliceDifference]:
    """Return the differences of all slices and measures, corrected together, the most significant first."""
    found = [
        (dimension, value, round(float(tally.pairs.sum())), difference)
        for (dimension, value), tally in sorted(comparison.slices.items())
        for difference in differences(tally)
        if difference.known
    ]
    adjusted = corrected([_tested(difference) for *_, difference in found])
    all_of = [SliceDifference(*each, value) for each, value in zip(found, adjusted, strict=True)]
    return sorted(all_of, key=lambda each: (2.0 if each.corrected is None else each.corrected, -_size(each)))


def _tested(difference: Difference) -> float | None:
    """Return the p-value if enough pairs changed, else ``None``.

    The number of changed pairs is independent of the direction of the change. Leaving out the other tests therefore
    keeps the correction valid and saves hundreds of tests that cannot become significant (Bourgon, Gentleman and
    Huber, "Independent filtering increases detection power for high-throughput experiments", PNAS 107, 2010).
    """
    return difference.p_value if difference.up + difference.down >= LEAST_DISCORDANT else None


def _size(each: SliceDifference) -> float:
    return abs(each.difference.difference or 0.0)


@dataclass(frozen=True, slots=True)
class Findings:
    """The results of a comparison, computed once.

    Attributes:
        comparison: the comparison.
        measures: differences of all measures, then of the scores of evaluator plug-ins.
        slices: differences of all slices and measures, the most significant first.
        figures: every figure that a gate may name; ``None`` for a figure without a value.
    """

    comparison: Comparison
    measures: Sequence[Difference]
    slices: Sequence[SliceDifference]
    figures: Mapping[str, float | None]


def findings(comparison: Comparison) -> Findings:
    """Compute the findings of a comparison."""
    measures, slices = differences(comparison.overall), slice_differences(comparison)
    for name, tally in sorted(comparison.evaluators.items()):
        measures += differences(tally, [name])
    return Findings(comparison, measures, slices, _figures(comparison, measures, slices))


def _figures(
    comparison: Comparison, measures: Sequence[Difference], slices: Sequence[SliceDifference]
) -> dict[str, float | None]:
    pairs = comparison.pairs
    found: dict[str, float | None] = {
        "pairs": pairs, "only_a": comparison.a.alone, "only_b": comparison.b.alone,
        "changed": _share(comparison.moved(), pairs), "state_changed": _share(comparison.moved("state"), pairs),
        "risk_changed": _share(comparison.moved("risk"), pairs),
        "reasons_changed": _share(comparison.moved_reasons, pairs),
        "slices_changed": sum(each.moved for each in slices),
    }  # fmt: skip
    for each in measures:
        if each.measure in DECIDED:
            found[f"newly_{each.measure}"] = _share(each.up, pairs)
            found[f"no_longer_{each.measure}"] = _share(each.down, pairs)
        for name in ("a", "b", "difference", "low", "high", "known", "up", "down", "became_null", "no_longer_null"):
            found[f"{each.measure}.{name}"] = getattr(each, name)
    for agreement in comparison.agreements:
        for name in ("cases", "a", "b", "only_a", "only_b", "p_value"):
            found[f"{agreement.of}.{name}"] = getattr(agreement, name)
    return {name: None if value is None else round(value, DECIMALS) for name, value in found.items()}


def _share(count: int, of: int) -> float | None:
    return count / of if of else None


FIGURES = tuple(findings(Comparison(Side("", {}, 0), Side("", {}, 0))).figures)
"""Names of the figures that every comparison has."""


def side_by_side(a: Sequence[Mapping[str, Any]], b: Sequence[Mapping[str, Any]]) -> list[ClaimPair]:
    """Match the claims of an answer in both runs by their span, in order.

    Args:
        a: rows of A with start, end, text, verdict and score.
        b: rows of B.
    """
    return sorted(_paired(a, b), key=lambda pair: (pair.start, pair.end))


def _paired(a: Sequence[Mapping[str, Any]], b: Sequence[Mapping[str, Any]]) -> Iterator[ClaimPair]:
    of_a, of_b = ({(row["start"], row["end"]): row for row in rows} for rows in (a, b))
    for start, end in of_a.keys() | of_b.keys():
        one, other = of_a.get((start, end)), of_b.get((start, end))
        text = (one or other or {})["text"]
        yield ClaimPair(start, end, text, *_said(one), *_said(other))


def _said(row: Mapping[str, Any] | None) -> tuple[str | None, float | None]:
    if row is None:
        return None, None
    score = row["score"]
    return row["verdict"], None if score is None else round(score, DECIMALS)
