"""Simulate a day at a rate of answers: backlog, delay and catch-up of every deployment while servers and zones fail.

    python -m benchmarks.day --rate 2000
    python -m benchmarks.day --rate 2000 --hours 6 --partitions 240 --json day.json

Pods and partitions are those of ``touchstone plan`` for the rate as a peak, and the rate holds all day. Costs are those of
its table; sizes of answers are drawn from the example answers, arrivals are Poisson. A record waits at the broker until a
pod that owns its partition has time, as the range assignor distributes partitions. Nothing is measured here: the
figures follow from the table and from these rules.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workers.measurement.sizing import plan
from workers.measurement.sizing_table import PODS, TOPIC_BYTES, ZONES
from workers.settings import Settings

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "answers.jsonl"
REBALANCE_SECONDS = 7
"""Pause of a consumer group whose members change, upper end of the measured pauses (docs/operations/scaling.md)."""

ELECTION_SECONDS = 10
"""Time without a leader for the partitions of a broker that was killed."""

BEFORE = {"assembly": "judging", "feedback": "judging", "storing": "assembly"}
"""The deployment whose output another one waits for. Judging reads answers as they arrive."""

READS = {
    "judging": ("answers.generated",),
    "assembly": ("answers.generated", "answers.citations", "answers.grounding", "answers.quality"),
    "feedback": ("answers.generated", "feedback.events"),
    "storing": ("feedback.analytics", "memory.turns", "feedback.rewards"),
}
"""Topics whose records wait with a deployment."""

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Failure:
    """Describe what is away, and when.

    Attributes:
        name: what fails.
        begins: second of the day.
        seconds: time for which it is away.
        pods: share of all pods that are away.
        stops: deployments that wait, because their store is away.
        leaders: share of partitions without a leader.
    """

    name: str
    begins: int
    seconds: int
    pods: float = 0.0
    stops: tuple[str, ...] = ()
    leaders: float = 0.0

    def is_on(self, second: int) -> bool:
        """Return whether it is away in this second."""
        return self.begins <= second < self.begins + self.seconds


@dataclass(frozen=True, slots=True)
class Outcome:
    """Hold what a failure, or the time without one, has done to a deployment.

    Attributes:
        deployment: name of the deployment.
        during: the failure.
        backlog: largest number of answers that waited.
        delay_seconds: the longest wait of an answer in any partition, by the rate of its partition.
        gigabytes: size of their records at the broker, before compression and without replicas.
        caught_up_minutes: time from the end of the failure until as little waits as before; ``None`` if never.
    """

    deployment: str
    during: str
    backlog: int
    delay_seconds: float
    gigabytes: float
    caught_up_minutes: float | None

    @classmethod
    def of(cls, name: str, during: str, waiting: Values, delay: Values, caught_up: float | None) -> "Outcome":
        """Return the outcome of a time, by what waited in each of its seconds."""
        size = sum(TOPIC_BYTES[topic] for topic in READS[name])
        return cls(name, during, round(waiting.max()), float(delay.max()), float(waiting.max()) * size / 1e9, caught_up)


class Deployment:
    """Pods that read partitions.

    Args:
        name: of the deployment.
        pods: number of pods.
        cores: of each pod.
        cpu_ms: of an answer.
        partitions: number of partitions.
    """

    def __init__(self, name: str, pods: int, cores: int, cpu_ms: float, partitions: int) -> None:
        self.name = name
        self._each = 1_000 * cores / cpu_ms
        self._all = pods
        self._pods = pods
        self._owner = _owners(partitions, pods)
        self._pause = 0
        self.waiting: Values = np.zeros(partitions)

    def assign(self, pods: int) -> None:
        """Give the partitions to so many pods, as the range assignor does."""
        if pods != self._pods:
            self._pods, self._pause = pods, REBALANCE_SECONDS
            self._owner = _owners(len(self._owner), pods)

    def step(self, arrived: Values, failures: Sequence[Failure], leaderless: NDArray[np.bool_]) -> Values:
        """Work for a second.

        Args:
            arrived: new answers by partition, in answers of the mean size.
            failures: what is away now.
            leaderless: partitions without a leader.

        Returns:
            The answers that are done, by partition.
        """
        self.assign(max(1, round(self._all * (1 - sum(each.pods for each in failures)))))
        self.waiting += arrived
        if self._pause or any(self.name in each.stops for each in failures):
            self._pause = max(0, self._pause - 1)
            return np.zeros_like(arrived)
        ready = np.where(leaderless, 0.0, self.waiting)
        demand = np.bincount(self._owner, ready, self._pods)
        share = np.minimum(1.0, self._each / np.maximum(demand, 1e-9))
        done: Values = ready * share[self._owner]
        self.waiting -= done
        return done


def _owners(partitions: int, pods: int) -> NDArray[np.int64]:
    """Return the pod of each partition, as the range assignor chooses it."""
    sizes = [len(part) for part in np.array_split(np.arange(partitions), pods)]
    return np.repeat(np.arange(pods), sizes)


def failures_of(hours: float) -> list[Failure]:
    """Return the failures of a day, or of its first hours, far enough apart to be told from each other."""
    hour = 3_600
    day = [
        Failure("a broker is killed", 1 * hour, ELECTION_SECONDS, leaders=1 / ZONES),
        Failure("ClickHouse is away for 20 minutes", 2 * hour, 1_200, stops=("storing", "feedback")),
        Failure("a zone is away for 30 minutes", 4 * hour, 1_800, pods=1 / ZONES),
        Failure("all workers are restarted", 10 * hour, 60, stops=tuple(each.name for each in PODS)),
    ]
    return [each for each in day if each.begins + each.seconds < hours * hour]


def simulate(
    rate: float, hours: float, seed: int, partitions: int | None = None, failures: Sequence[Failure] | None = None
) -> list[Outcome]:
    """Return the outcomes of all failures, and of the time before the first, by deployment."""
    found = plan(rate, 2.6, Settings(_env_file=None))
    count = partitions or found.partitions
    deployments = [
        Deployment(cost.name, each.pods, cost.cores, cost.cpu_ms, count)
        for cost, each in zip(PODS, found.pods, strict=True)
    ]
    failures = failures_of(hours) if failures is None else failures
    rng, sizes = np.random.default_rng(seed), _sizes()
    seconds = int(hours * 3_600)
    waiting = {each.name: np.zeros(seconds) for each in deployments}
    delay = {each.name: np.zeros(seconds) for each in deployments}
    spread = float(np.std(sizes))
    for second in range(seconds):
        on = [each for each in failures if each.is_on(second)]
        leaderless = np.arange(count) < count * sum(each.leaders for each in on)
        number = rng.poisson(rate / count, count)
        arrived = np.maximum(0.0, number + spread * np.sqrt(number) * rng.standard_normal(count))
        done: dict[str, Values] = {}
        for each in deployments:
            done[each.name] = each.step(done.get(BEFORE.get(each.name, ""), arrived), on, leaderless)
            waiting[each.name][second] = each.waiting.sum()
            delay[each.name][second] = each.waiting.max() / (rate / count)
    return [
        _outcome(each.name, during, failures, waiting[each.name], delay[each.name])
        for during in (None, *failures)
        for each in deployments
    ]


def _sizes() -> Values:
    """Return the sizes of the example answers, divided by their mean."""
    sizes = np.array([len(line) for line in EXAMPLES.read_bytes().splitlines()], np.float64)
    return sizes / sizes.mean()


def _outcome(
    name: str, failure: Failure | None, failures: Sequence[Failure], waiting: Values, delay: Values
) -> Outcome:
    first = min((each.begins for each in failures), default=len(waiting))
    if failure is None:
        return Outcome.of(name, "nothing fails", waiting[:first], delay[:first], None)
    end = failure.begins + failure.seconds
    until = min((each.begins for each in failures if each.begins > failure.begins), default=len(waiting))
    usual = np.percentile(waiting[:first], 99)
    quiet = _first_quiet(waiting[end:until] > usual)
    part = slice(failure.begins, until)
    return Outcome.of(name, failure.name, waiting[part], delay[part], None if quiet is None else quiet / 60)


def _first_quiet(over: NDArray[np.bool_]) -> int | None:
    """Return the first second of a minute that is mostly as usual. Chance alone passes a percentile now and then."""
    if len(over) < 60:
        return None
    found = np.flatnonzero(np.convolve(over, np.ones(60), "valid") < 6)
    return int(found[0]) if len(found) else None


def main() -> None:
    """Simulate, print a table, and write JSON if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=2_000.0, help="answers a second, all day (default 2000)")
    parser.add_argument("--hours", type=float, default=24.0, help="length of the day (default 24)")
    parser.add_argument("--partitions", type=int, help="partitions; by default those of the plan")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (default 1)")
    parser.add_argument("--json", type=Path, help="write the outcomes to a file")
    options = parser.parse_args()
    outcomes = simulate(options.rate, options.hours, options.seed, options.partitions)
    print("| during | deployment | answers that wait | at the broker | longest wait | caught up after |")
    print("|---|---|---|---|---|---|")
    for each in outcomes:
        after = "" if each.during == "nothing fails" else _minutes(each.caught_up_minutes)
        size, wait = f"{each.gigabytes:,.1f} GB", f"{each.delay_seconds:,.0f} s"
        print(f"| {each.during} | {each.deployment} | {each.backlog:,} | {size} | {wait} | {after} |")
    if options.json:
        document = {"rate": options.rate, "hours": options.hours, "outcomes": [asdict(each) for each in outcomes]}
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def _minutes(value: float | None) -> str:
    return "not before the next failure" if value is None else f"{value:.1f} min"


if __name__ == "__main__":
    main()
