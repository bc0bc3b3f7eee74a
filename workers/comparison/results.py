"""A comparison as a whole, its documented figures, and the claims of an answer side by side. Pure."""

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
"""Of a score's distribution: 0 to below 0.1, and so on; 1 is in the last one."""

DECIMALS = 9
"""Of all figures: the order in which a database adds numbers must not show."""

DECIDED = ("released", "warned", "held", "fallback", "reviewed")
"""What a decision makes of an answer, as shares."""


ORDER = ("unknown", "low", "medium", "high", "released", "warned", "held", "fallback", "no", "yes")
"""In which levels and states are shown, from harmless to grave."""


def ordered(labels: Iterable[str]) -> list[str]:
    """Labels of a matrix in the order in which people expect them; further ones by name."""
    return sorted(set(labels), key=lambda label: (ORDER.index(label) if label in ORDER else len(ORDER), label))


@dataclass(frozen=True, slots=True)
class Side:
    """One run.

    Attributes:
        run: live, or the label of a replay.
        versions: its answers by pipeline version.
        alone: answers that only this run judged.
    """

    run: str
    versions: Mapping[str, int]
    alone: int


@dataclass(frozen=True, slots=True)
class Levels:
    """How a pair was decided.

    Attributes:
        state, risk, reviewed: as (A, B).
        reasons_moved: whether the reasons of the decision differ.
        scores_moved: whether a score does.
    """

    state: tuple[str, str]
    risk: tuple[str, str]
    reviewed: tuple[bool, bool]
    reasons_moved: bool
    scores_moved: bool

    @property
    def moved(self) -> bool:
        """Whether anything differs."""
        return self.scores_moved or self.reasons_moved or any(a != b for a, b in (self.state, self.risk, self.reviewed))


@dataclass(frozen=True, slots=True)
class SliceDifference:
    """A measure within a slice.

    Attributes:
        dimension: model, source or query_type.
        value: which of them.
        pairs: in the slice.
        difference: of the measure.
        corrected: its p-value, corrected for all slices and measures that were tested; ``None`` if it was not.
    """

    dimension: str
    value: str
    pairs: int
    difference: Difference
    corrected: float | None

    @property
    def moved(self) -> bool:
        """Whether it moved beyond chance."""
        return self.corrected is not None and self.corrected < SIGNIFICANCE


@dataclass(frozen=True, slots=True)
class ClaimPair:
    """A claim as A and B saw it; the verdict of a run that does not have it is ``None``."""

    start: int
    end: int
    text: str
    verdict_a: str | None
    score_a: float | None
    verdict_b: str | None
    score_b: float | None

    @property
    def moved(self) -> bool:
        """Whether the two differ."""
        return (self.verdict_a, self.score_a) != (self.verdict_b, self.score_b)


@dataclass(frozen=True, slots=True)
class ChangedAnswer:
    """An answer that the two runs judge differently.

    Attributes:
        tenant, answer_id, completed_at: which one.
        change: how much: 2 if state or review differ, 1 if the risk level does, 0.1 if the reasons do, and the
            largest move of a score.
        state, risk, reviewed, reasons: as (A, B).
        scores: those that moved, as (A, B) by name.
        query, answer: their beginnings.
        claims: side by side.
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
    """Two runs compared.

    Attributes:
        a, b: the runs.
        levels: pairs by how they were decided.
        overall: sums of all pairs.
        slices: sums by (dimension, value).
        left_out: values by dimension that were too many to be looked at.
        distributions: pairs by score, bin in A and bin in B; shape (SCORES, BINS, BINS).
        agreements: with people.
        answers: those that changed most.
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

    @property
    def pairs(self) -> int:
        """Answers that both judged."""
        return self.levels.total()

    def matrix(self, of: str) -> dict[tuple[str, str], int]:
        """Pairs by what A and B said: ``of`` is state, risk or reviewed."""
        found: Counter[tuple[str, str]] = Counter()
        for levels, count in self.levels.items():
            said = getattr(levels, of)
            found[_word(said[0]), _word(said[1])] += count
        return dict(found)

    @property
    def moved_reasons(self) -> int:
        """Pairs in which the reasons of the decision differ."""
        return sum(count for levels, count in self.levels.items() if levels.reasons_moved)

    def moved(self, of: str | None = None) -> int:
        """Pairs that differ: in anything, or in state, risk or reviewed."""
        return sum(
            count
            for levels, count in self.levels.items()
            if (levels.moved if of is None else len(set(getattr(levels, of))) > 1)
        )


def _word(said: str | bool) -> str:
    return said if isinstance(said, str) else ("yes" if said else "no")


def slice_differences(comparison: Comparison) -> list[SliceDifference]:
    """All slices and measures, corrected together; the clearest first."""
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
    """The p-value, where enough pairs moved at all.

    How many moved says nothing of the direction, so leaving out the others keeps the correction right and spares
    it hundreds of tests that cannot be passed (Bourgon, Gentleman and Huber, "Independent filtering increases
    detection power for high-throughput experiments", PNAS 107, 2010).
    """
    return difference.p_value if difference.up + difference.down >= LEAST_DISCORDANT else None


def _size(each: SliceDifference) -> float:
    return abs(each.difference.difference or 0.0)


@dataclass(frozen=True, slots=True)
class Findings:
    """What a comparison comes to, worked out once.

    Attributes:
        comparison: itself.
        measures: differences of all measures.
        slices: of all slices and measures, the clearest first.
        figures: every figure that a gate may name; ``None`` where there is none to tell.
    """

    comparison: Comparison
    measures: Sequence[Difference]
    slices: Sequence[SliceDifference]
    figures: Mapping[str, float | None]


def findings(comparison: Comparison) -> Findings:
    """Work out what a comparison comes to."""
    measures, slices = differences(comparison.overall), slice_differences(comparison)
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
"""Names of all figures; they are the same whatever is compared."""


def side_by_side(a: Sequence[Mapping[str, Any]], b: Sequence[Mapping[str, Any]]) -> list[ClaimPair]:
    """The claims of an answer in both runs, matched by their span, in order.

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
