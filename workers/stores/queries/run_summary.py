"""Query the figures of a set of answers."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from clickhouse_connect.driver.asyncclient import AsyncClient

from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import connect

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
    count() AS enriched,
    countIf(degraded) AS degraded,
    countIf(hallucination_risk = 'low') AS low,
    countIf(hallucination_risk = 'medium') AS medium,
    countIf(hallucination_risk = 'high') AS high,
    countIf(hallucination_risk IS NULL) AS none,
    round(avg(grounding_score), 3) AS grounding,
    round(avg(quality_score), 3) AS quality,
    round(avg(gate_score), 3) AS gate,
    countIf(passes_validation) AS passing,
    countIf(citations_valid = 0) AS invalid_citations,
    sum(claims_total) AS claims,
    sum(claims_contradicted) AS contradicted,
    sum(claims_unsupported) AS unsupported
FROM {database}.answers FINAL
WHERE answer_id IN {{ids:Array(String)}} AND run = 'live'
"""

STATES = """
SELECT state, count() FROM {database}.answers FINAL
WHERE answer_id IN {{ids:Array(String)}} AND run = 'live' GROUP BY state ORDER BY state
"""

OFFENDERS = """
SELECT a.answer_id, any(a.query), any(a.model_id), any(a.grounding_score), any(a.risk_score),
       argMax((c.text, c.verdict, c.evidence), (c.verdict = 'contradicted', 1 - ifNull(c.score, 0)))
FROM {database}.answers AS a FINAL
INNER JOIN (SELECT * FROM {database}.claims FINAL WHERE verdict IN ('contradicted', 'unsupported')) AS c
    ON a.answer_id = c.answer_id AND a.pipeline_version = c.pipeline_version AND a.run = c.run
WHERE a.answer_id IN {{ids:Array(String)}} AND a.run = 'live' AND a.grounding_score IS NOT NULL
GROUP BY a.answer_id
ORDER BY any(a.claims_contradicted) / any(a.claims_total) DESC, any(a.grounding_score), a.answer_id
LIMIT {worst}
"""


ATTRIBUTED = """
SELECT DISTINCT answer_id FROM {database}.claims FINAL
WHERE answer_id IN {{ids:Array(String)}} AND run = 'live' AND step IS NOT NULL ORDER BY answer_id
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
        peak_bytes: peak resident memory of the worker.
        worst: the worst answers, each with its worst claim.
        kinds: identifiers of answers of some kinds, by words for the kind.
        evaluation_cpu_ms: median CPU time of the evaluation of one answer, ms.
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
    parameters = {"ids": identifiers, "since": int(since.timestamp() * 1000)}
    rows = (await client.query(PROGRESS.format(database=database), parameters=parameters)).result_rows
    return int(rows[0][0]), int(rows[0][1])


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
        peak_bytes: peak memory of this process.
    """
    client = await connect(settings.clickhouse, addresses.clickhouse)
    database = settings.clickhouse.database
    try:
        counts = await _first(client, COUNTS.format(database=database), identifiers)
        states = await client.query(STATES.format(database=database), parameters={"ids": identifiers})
        reviews = await client.query(
            f"SELECT count() FROM {database}.reviews FINAL WHERE answer_id IN {{ids:Array(String)}}",
            parameters={"ids": identifiers},
        )
        _, dead = await count_done(client, database, identifiers, since)
        worst = await client.query(OFFENDERS.format(database=database, worst=WORST), parameters={"ids": identifiers})
        runs = await client.query(ATTRIBUTED.format(database=database), parameters={"ids": identifiers})
    finally:
        await client.close()
    known = set(identifiers)
    return RunSummary(
        ingested=len(identifiers),
        enriched=int(counts.pop("enriched")),
        dead_lettered=dead,
        counts=counts,
        states={state: int(count) for state, count in states.result_rows},
        reviews=int(reviews.result_rows[0][0]),
        remembered=sum(answer_id in known for answer_id in remembered),
        timings={name: round(seconds, 2) for name, seconds in timings.items()},
        peak_bytes=peak_bytes,
        worst=[_offender(row) for row in worst.result_rows],
        kinds=dict(kinds) | ({OF_RUNS: [name for (name,) in runs.result_rows]} if runs.result_rows else {}),
    )


async def _first(client: AsyncClient, query: str, identifiers: list[str]) -> dict[str, Any]:
    result = await client.query(query, parameters={"ids": identifiers})
    return dict(zip(result.column_names, result.result_rows[0], strict=True))


def _offender(row: Any) -> dict[str, Any]:
    answer_id, query, model, grounding, risk, (claim, verdict, evidence) = row
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
