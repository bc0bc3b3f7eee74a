"""Estimate intervals of differences between two scorings of the same answers by resampling their sources."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ROUNDS = 1_000
"""Number of resamplings; the ends of an interval are then known to about a twentieth of its width."""

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Difference:
    """Hold a difference with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"

    def as_list(self) -> list[float]:
        """Return value and ends for JSON, rounded."""
        return [round(each, 4) for each in (self.value, self.low, self.high)]


def difference(
    measure: Callable[[Rows], float | None], sources: Sequence[str], rounds: int = ROUNDS
) -> Difference | None:
    """Return a difference over all rows with its 95 % interval by source (percentile bootstrap).

    Answers on one source resemble each other, so sources are drawn with replacement, each with all of its rows. The
    result is the same for each run.

    Args:
        measure: the difference over chosen rows; ``None`` where it is not defined, as for rows of one class.
        sources: source of each row.
        rounds: number of resamplings.

    Returns:
        The difference; ``None`` if it is not defined over all rows.
    """
    everything = measure(np.arange(len(sources)))
    if everything is None:
        return None
    rows: dict[str, list[int]] = {}
    for row, source in enumerate(sources):
        rows.setdefault(source, []).append(row)
    groups = [np.array(each, dtype=np.intp) for each in rows.values()]
    chance = np.random.default_rng(0)
    found = []
    for _ in range(rounds):
        drawn = np.concatenate([groups[number] for number in chance.integers(0, len(groups), len(groups))])
        if (value := measure(drawn)) is not None:
            found.append(value)
    low, high = np.percentile(found, [2.5, 97.5]) if found else (everything, everything)
    return Difference(float(everything), float(low), float(high))
