"""Compute what a rate of answers needs: partitions, pods, memory and disks."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from schemas.topics import TOPICS
from workers.measurement.sizing_table import (
    ANSWER_BYTES,
    LOAD,
    MEMORY_BYTES,
    PODS,
    QUERY_BYTES,
    RECORDS,
    ROWS,
    TABLE_BYTES,
    TOPIC_BYTES,
    ZONES,
    PodCost,
)
from workers.settings import Settings
from workers.stores.clickhouse.retention import days_kept

DAY = 86_400
PARTITION_STEP = 12
"""Partitions are a multiple of it, so that 2, 3, 4 and 6 pods share them evenly."""

GROWTH = 3
"""Partitions for each pod of the largest deployment. They cannot be added later without a pause.

Some pods own one partition more than others. With three for each pod, these pods use at most 4/3 of the planned load,
which is 89 % of their cores; with 1.25 they had twice the partitions of others, more than they could do."""


@dataclass(frozen=True, slots=True)
class PodPlan:
    """Describe the pods of one deployment.

    Attributes:
        name: deployment in deploy/kubernetes.
        agent: the agent by whose records it scales.
        pods: pods at the peak, the upper limit of the autoscaler.
        fewest: the lower limit of the autoscaler.
        records_each: records a second of the agent for each pod, the target of the autoscaler.
        cores: cores of all pods at the peak.
        memory_gib: memory of all pods at the peak, GiB.
    """

    name: str
    agent: str
    pods: int
    fewest: int
    records_each: int
    cores: int
    memory_gib: float


@dataclass(frozen=True, slots=True)
class Plan:
    """Describe what a rate of answers needs.

    Attributes:
        rate: answers a second at the peak.
        answer_kb: mean size of an answer, kB.
        partitions: partitions of every topic.
        pods: deployments of workers.
        records_per_second: records written at the broker, without replicas.
        kafka_mb_per_second: bytes written at the broker, before compression and without replicas.
        kafka_tb: disks of all replicas, before compression; compacted topics are counted for a year.
        rows_per_second: rows inserted into ClickHouse.
        clickhouse_gb_per_day: growth of one replica.
        clickhouse_tb: disk of one replica with the retention of the settings.
        redis_gb: memory of Redis.
        memory_gb_per_day: growth of the conversational memory.
    """

    rate: float
    answer_kb: float
    partitions: int
    pods: tuple[PodPlan, ...]
    records_per_second: int
    kafka_mb_per_second: float
    kafka_tb: float
    rows_per_second: int
    clickhouse_gb_per_day: float
    clickhouse_tb: float
    redis_gb: float
    memory_gb_per_day: float

    @property
    def cores(self) -> int:
        """Return the cores of all workers at the peak."""
        return sum(each.cores for each in self.pods)

    @property
    def memory_gib(self) -> float:
        """Return the memory of all workers at the peak, GiB."""
        return sum(each.memory_gib for each in self.pods)

    def cost_lines(self, prices: Mapping[str, float]) -> list[tuple[str, float, float]]:
        """Return what is paid for: name of the price, amount, and cost a month with the prices that are given."""
        amounts = {
            "core": float(self.cores),
            "memory_gib": self.memory_gib,
            "kafka_tb": self.kafka_tb,
            "clickhouse_tb": self.clickhouse_tb,
            "redis_gb": self.redis_gb,
        }
        return [(name, amount, amount * prices.get(name, 0.0)) for name, amount in amounts.items()]


PRICES = ("core", "memory_gib", "kafka_tb", "clickhouse_tb", "redis_gb")
"""Names of the prices of :meth:`Plan.cost_lines`."""


def plan(rate: float, answer_kb: float, settings: Settings) -> Plan:
    """Compute what a rate needs.

    Args:
        rate: answers a second at the peak.
        answer_kb: mean size of an answer as it arrives, kB. Costs are scaled linearly with it, which is the upper bound.
        settings: replicas and retention.
    """
    scale = answer_kb * 1_000 / ANSWER_BYTES
    pods = tuple(_pods(cost, rate, scale) for cost in PODS)
    partitions = PARTITION_STEP * ceil(GROWTH * max(each.pods for each in pods) / PARTITION_STEP)
    bytes_per_second = rate * scale
    days = days_kept(settings.retention)
    table_days = sum(size * (days[table] or 365) for table, size in TABLE_BYTES.items())
    return Plan(
        rate=rate,
        answer_kb=answer_kb,
        partitions=partitions,
        pods=pods,
        records_per_second=round(rate * RECORDS),
        kafka_mb_per_second=bytes_per_second * sum(TOPIC_BYTES.values()) / 1e6,
        kafka_tb=bytes_per_second * DAY * _topic_days(settings) * max(settings.kafka.replication, ZONES) / 1e12,
        rows_per_second=round(rate * ROWS),
        clickhouse_gb_per_day=bytes_per_second * DAY * sum(TABLE_BYTES.values()) / 1e9,
        clickhouse_tb=bytes_per_second * DAY * table_days / 1e12,
        redis_gb=rate * settings.feedback.retry_window_seconds * QUERY_BYTES / 1e9,
        memory_gb_per_day=bytes_per_second * DAY * MEMORY_BYTES / 1e9,
    )


def _topic_days(settings: Settings) -> float:
    """Return the sum of bytes × days of all topics for one answer; topics without an end count for a year."""
    kept = {topic.name: settings.kafka.retention_of(topic) for topic in TOPICS}
    total = 0.0
    for name, size in TOPIC_BYTES.items():
        retention = kept[name]
        total += size * (365.0 if retention is None else retention.total_seconds() / DAY)
    return total


def _pods(cost: PodCost, rate: float, scale: float) -> PodPlan:
    answers_each = cost.cores * 1_000 * LOAD / (cost.cpu_ms * scale)
    count = max(ZONES, ceil(rate / answers_each))
    return PodPlan(
        name=cost.name,
        agent=cost.agent,
        pods=count,
        fewest=max(ZONES, ceil(count / 4)),
        records_each=ceil(answers_each * cost.records),
        cores=count * cost.cores,
        memory_gib=count * cost.memory_gib,
    )


def overlay(found: Plan) -> str:
    """Return the part of a kustomization that gives partitions and pods of a plan to deploy/kubernetes, YAML."""
    lines = [
        "configMapGenerator:",
        "  - name: touchstone-settings",
        "    behavior: merge",
        f"    literals: [TOUCHSTONE_KAFKA__PARTITIONS={found.partitions}]",
        "patches:",
    ]
    for each in found.pods:
        for kind, fewest, most in (
            ("HorizontalPodAutoscaler", "minReplicas", "maxReplicas"),
            ("ScaledObject", "minReplicaCount", "maxReplicaCount"),
        ):
            lines += [
                f"  - target: {{kind: {kind}, name: touchstone-{each.name}}}",
                "    patch: |",
                f"      - {{op: replace, path: /spec/{fewest}, value: {each.fewest}}}",
                f"      - {{op: replace, path: /spec/{most}, value: {each.pods}}}",
            ]
    return "\n".join(lines) + "\n"
