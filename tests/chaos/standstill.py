"""Measure how long groups wrote nothing while workers were replaced."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, pairwise

from schemas.topics import ANSWERS_CITATIONS, ANSWERS_ENRICHED, ANSWERS_GROUNDING, ANSWERS_QUALITY, ANSWERS_RELEASED
from tests.harness.deployment import Deployment

OUTPUTS = {
    "citations": ANSWERS_CITATIONS,
    "grounding": ANSWERS_GROUNDING,
    "quality": ANSWERS_QUALITY,
    "assembly": ANSWERS_ENRICHED,
    "release": ANSWERS_RELEASED,
}
"""Topic by group. Each of these groups writes a record for each answer."""


@dataclass(frozen=True, slots=True)
class Standstill:
    """Longest times without a record of one group, in seconds.

    Attributes:
        usual: on one partition, before any worker was replaced; answers come in bursts.
        group: on all partitions.
        partition: on the partition that waited longest.
    """

    usual: float
    group: float
    partition: float

    def __str__(self) -> str:
        return f"{self.group:.1f} s, one partition for {self.partition:.1f} s (usually {self.usual:.1f} s)"


async def standstills(deployment: Deployment, steady: float, started: float, ended: float) -> dict[str, Standstill]:
    """Return the standstill of each group.

    Args:
        deployment: its topics are read.
        steady: beginning of ordinary work, seconds since the epoch.
        started: beginning of the replacements.
        ended: end of the replacements.
    """
    found: dict[str, Standstill] = {}
    for group, topic in OUTPUTS.items():
        times: dict[int, list[float]] = {number: [] for number in range(deployment.partitions)}
        for record in await deployment.read(topic):
            times[record.partition].append(record.timestamp / 1000)
        found[group] = Standstill(
            max(longest_gap(each, steady, started) for each in times.values()),
            longest_gap(chain.from_iterable(times.values()), started, ended),
            max(longest_gap(each, started, ended) for each in times.values()),
        )
    return found


def longest_gap(times: Iterable[float], started: float, ended: float) -> float:
    """Return the longest time within a span in which nothing happened, in seconds.

    Args:
        times: when something happened, in any order.
        started: beginning of the span.
        ended: end of the span.
    """
    marks = [started, *sorted(each for each in times if started < each < ended), ended]
    return round(max(later - earlier for earlier, later in pairwise(marks)), 1)
