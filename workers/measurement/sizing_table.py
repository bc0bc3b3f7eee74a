"""Hold the measured cost of one answer, from which partitions, pods, memory and disks are computed.

``python -m benchmarks.sizing`` measures the figures with the example answers, in int8. CPU was measured on two cores that
other work kept busy, one answer after the other, and is an upper bound: on a quiet machine all agents together took 82 ms.
That of assembly was lost in what a process uses with nothing to do; it has three of the ten agents of
the path without evaluation (18.5 ms, docs/reference/performance.md).

Records and bytes were measured later, since rows travel together and records leave out default values
(docs/decisions/0085-fields-that-say-something.md).

The manifests of deploy/kubernetes, ``touchstone plan`` and docs/operations/scaling.md use the table.
"""

from dataclasses import dataclass

ANSWER_BYTES = 2_600
"""Mean size of the measured answers. The cost of an answer grows with its size, at most linearly."""

LOAD = 2 / 3
"""Share of its capacity that a pod uses at the peak. The pods of two zones of three then carry the load of all."""

ZONES = 3
"""Zones over which pods are spread, and the least number of pods of a deployment."""


DEPLOYED_RATE = 100
"""Answers a second of the manifests in deploy/kubernetes as they are."""


@dataclass(frozen=True, slots=True)
class PodCost:
    """Describe the pods of a deployment.

    Attributes:
        name: deployment in deploy/kubernetes.
        agent: the agent whose records stand for its load.
        records: records that this agent reads for an answer.
        cpu_ms: CPU of all its agents for an answer, milliseconds.
        cores: cores of a pod (its limit).
        memory_gib: memory of a pod (its limit), GiB.
    """

    name: str
    agent: str
    records: float
    cpu_ms: float
    cores: int
    memory_gib: float = 3.0


PODS = (
    PodCost("judging", "grounding", 1.0, 113.9, 2),
    PodCost("assembly", "assembly", 4.0, 5.6, 1),
    PodCost("feedback", "signals", 2.2, 22.8, 1),
    PodCost("storing", "analytics", 2.6, 61.2, 1),
)

TOPIC_BYTES = {
    "answers.generated": 2_633,
    "answers.citations": 1_515,
    "answers.grounding": 5_595,
    "answers.quality": 1_380,
    "answers.enriched": 13_620,
    "answers.released": 1_824,
    "memory.turns": 450,
    "review.requests": 3_089,
    "feedback.events": 849,
    "feedback.rewards": 889,
    "feedback.analytics": 14_140,
    "alerts.raised": 565,
}
"""Bytes of an answer on each topic, keys and headers included, before compression. Posteriors do not grow with answers."""

RECORDS = 12.2
"""Records of an answer at the broker, on all topics but that of posteriors."""

TABLE_BYTES = {
    "answers": 583, "answer_texts": 269, "claims": 537, "citations": 223, "citations_by_id": 154, "sources": 95, "citation_logs": 391,
    "alerts": 113, "reviews": 523, "review_queue": 83, "feedback": 234, "implicit_feedback": 78, "rewards": 163,
    "answer_facts": 155, "reward_facts": 42, "answer_places": 17,
}  # fmt: skip
"""Bytes of an answer in each table of ClickHouse, compressed and merged. Those of ``answer_places`` are of a million rows."""

ROWS = 11.7
"""Rows of an answer that workers insert into ClickHouse."""

QUERY_BYTES = 1_440
"""Bytes of a query in Redis, kept for the window of retries."""

MEMORY_BYTES = 0.45 * 3_900
"""Bytes of an answer in LanceDB: turns an answer × bytes a turn, old versions of files included."""
