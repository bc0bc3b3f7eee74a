"""Query the figures of a set of answers."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from clickhouse_connect.driver.asyncclient import AsyncClient

from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import connect
from workers.stores.clickhouse.row_reading import in_parameters

WORST = 3

# A key is an answer_id, or the JSON list of tenant and answer_id. A letter of an answer that was stored by a redelivery
# or by an earlier run is not counted twice.
PROGRESS = """
WITH stored AS (SELECT DISTINCT answer_id FROM {database}.answers WHERE answer_id IN {{ids:Array(String)}} AND run = 'live'),
letters AS (
    SELECT base64Decode(ifNull(key_base64, '')) AS key, if(startsWith(key, '["'), JSONExtractString(key, 2), key) AS id
    FROM {database}.dead_letters FINAL
    WHERE agent = 'assembly' AND failed_at >= fromUnixTimestamp64Milli({{since:Int64}}, 'UTC')
)
SELECT (SELECT count() FROM stored),
       (SELECT uniqExact(id) FROM letters WHERE id IN {{ids:Array(String)}} AND id NOT IN stored)
"""

COUNTS = """
SELECT
    count(), countIf(degraded), countIf(hallucination_risk = 'low'), countIf(hallucination_risk = 'medium'),
    countIf(hallucination_risk = 'high'), countIf(hallucination_risk IS NULL), countIf(passes_validation),
    countIf(citations_valid = 0), sum(claims_total), sum(claims_contradicted), sum(claims_unsupported),
    count(grounding_score), count(quality_score), count(gate_score),
    sum(grounding_score), sum(quality_score), sum(gate_score)
FROM {database}.answers FINAL
WHERE answer_id IN {{ids:Array(String)}} AND run = 'live'
"""
COUNTED = (
    "enriched", "degraded", "low", "medium", "high", "none", "passing", "invalid_citations", "claims", "contradicted",
    "unsupported",
)  # fmt: skip
MEANS = ("grounding", "quality", "gate")

STATES = """
SELECT state, count() FROM {database}.answers FINAL
WHERE answer_id IN {{ids:Array(String)}} AND run = 'live' GROUP BY state
"""

REVIEWS = "SELECT count() FROM {database}.reviews FINAL WHERE answer_id IN {{ids:Array(String)}}"

OFFENDERS = """
SELECT a.answer_id, any(a.query), any(a.model_id), any(a.grounding_score), any(a.risk_score),
       argMax((c.text, c.verdict, c.evidence), (c.verdict = 'contradicted', 1 - ifNull(c.score, 0))),
       any(a.claims_contradicted) / greatest(any(a.claims_total), 1) AS share
FROM {database}.answers AS a FINAL
INNER JOIN (SELECT * FROM {database}.claims FINAL WHERE verdict IN ('contradicted', 'unsupported')) AS c
    ON a.answer_id = c.answer_id AND a.pipeline_version = c.pipeline_version AND a.run = c.run
WHERE a.answer_id IN {{ids:Array(String)}} AND a.run = 'live' AND a.grounding_score IS NOT NULL
GROUP BY a.answer_id
ORDER BY share DESC, any(a.grounding_score), a.answer_id
LIMIT {worst}
"""


ATTRIBUTED = """
SELECT DISTINCT answer_id FROM {database}.claims FINAL
WHERE answer_id IN {{ids:Array(String)}} AND run = 'live' AND step IS NOT NULL
"""
OF_RUNS = "of a run whose error is traced to one step"


@dataclass(slots=True)
class RunSummary:
    """Hold the figures of a run.

    Attributes:
        ingested: number of sent answers.
        enriched: number of answers in ClickHouse, each counted once.
        dead_lettered: number of sent answers that the assembly agent dead-lettered.
        counts: figures by name.
        states: numbers of answers by release state.
        reviews: number of open reviews.
        remembered: number of turns in memory.
        timings: seconds by phase.
        peak_bytes: peak resident memory of the worker, all its processes together.
        worst: the worst answers, each with its worst claim.
        kinds: identifiers of answers of some kinds, by words for the kind.
        evaluation_cpu_ms: median CPU time of the evaluation of one answer, ms.
        processes: number of processes of the worker.
    """

    ingested: int
    enriched: int
    dead_lettered: int
    counts: dict[str, Any]
    states: dict[str, int]
    reviews: int
    remembered: int
    timings: dict[str, float]
    peak_bytes: int
    worst: list[dict[str, Any]] = field(default_factory=list)
    kinds: dict[str, list[str]] = field(default_factory=dict)
    evaluation_cpu_ms: float | None = None
    processes: int = 1

    @property
    def accounted_for(self) -> bool:
        """Return true if every answer is enriched or dead-lettered, none twice."""
        return self.ingested == self.enriched + self.dead_lettered

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as a JSON-compatible dictionary."""
        return asdict(self) | {"accounted_for": self.accounted_for}


async def count_done(client: AsyncClient, database: str, identifiers: list[str], since: datetime) -> tuple[int, int]:
    """Return the number of answers that are stored, and of those that were dead-lettered instead.

    Args:
        client: connected client.
        database: name of the database with the tables.
        identifiers: identifiers of the sent answers.
        since: time at which the first of them was sent.
    """
    rows = await _ask(client, PROGRESS.format(database=database), identifiers, since=int(since.timestamp() * 1000))
    return sum(int(stored) for stored, _ in rows), sum(int(dead) for _, dead in rows)


async def summarise(
    settings: Settings,
    addresses: Addresses,
    identifiers: list[str],
    *,
    since: datetime,
    remembered: Iterable[str],
    kinds: Mapping[str, list[str]],
    timings: dict[str, float],
    peak_bytes: int,
) -> RunSummary:
    """Query the stores for the results of a set of answers.

    Args:
        settings: all settings.
        addresses: addresses of the stores.
        identifiers: identifiers of the sent answers.
        since: time at which the first of them was sent.
        remembered: identifiers of the answers in memory.
        kinds: identifiers of answers of some kinds, by words for the kind.
        timings: seconds by phase.
        peak_bytes: peak memory of the worker.
    """
    client = await connect(settings.clickhouse, addresses.clickhouse)
    database = settings.clickhouse.database
    try:
        counts = await _counts(client, database, identifiers)
        states = Counter[str]()
        for state, count in await _ask(client, STATES.format(database=database), identifiers):
            states[state] += int(count)
        reviews = await _ask(client, REVIEWS.format(database=database), identifiers)
        _, dead = await count_done(client, database, identifiers, since)
        worst = await _ask(client, OFFENDERS.format(database=database, worst=WORST), identifiers)
        runs = sorted(name for (name,) in await _ask(client, ATTRIBUTED.format(database=database), identifiers))
    finally:
        await client.close()
    known = set(identifiers)
    return RunSummary(
        ingested=len(identifiers),
        enriched=counts.pop("enriched"),
        dead_lettered=dead,
        counts=counts,
        states=dict(sorted(states.items())),
        reviews=sum(int(count) for (count,) in reviews),
        remembered=sum(answer_id in known for answer_id in remembered),
        timings={name: round(seconds, 2) for name, seconds in timings.items()},
        peak_bytes=peak_bytes,
        worst=[_offender(row) for row in sorted(worst, key=_badness)[:WORST]],
        kinds=dict(kinds) | ({OF_RUNS: runs} if runs else {}),
    )


async def _ask(client: AsyncClient, statement: str, identifiers: Iterable[str], **parameters: Any) -> list[Any]:
    """Return the rows of a statement for all identifiers, of which one request carries as many as it may."""
    rows: list[Any] = []
    for ids in list(in_parameters(dict.fromkeys(identifiers), lambda name: [name])) or [[]]:
        rows += (await client.query(statement, parameters={"ids": ids, **parameters})).result_rows
    return rows


async def _counts(client: AsyncClient, database: str, identifiers: list[str]) -> dict[str, Any]:
    parts = await _ask(client, COUNTS.format(database=database), identifiers)
    totals = [sum(value or 0 for value in column) for column in zip(*parts, strict=True)]
    counted, numbers, sums = totals[: len(COUNTED)], totals[len(COUNTED) : -len(MEANS)], totals[-len(MEANS) :]
    means = (round(total / number, 3) if number else None for total, number in zip(sums, numbers, strict=True))
    return dict(zip(COUNTED, map(int, counted), strict=True)) | dict(zip(MEANS, means, strict=True))


def _badness(row: Any) -> tuple[float, float, str]:
    answer_id, _, _, grounding, _, _, share = row
    return -share, grounding, answer_id


def _offender(row: Any) -> dict[str, Any]:
    answer_id, query, model, grounding, risk, (claim, verdict, evidence), _ = row
    return {
        "answer_id": answer_id,
        "query": query,
        "model": model,
        "grounding_score": grounding,
        "risk_score": risk,
        "claim": claim,
        "verdict": verdict,
        "evidence": evidence,
    }
