"""What became of a set of answers: asked of the stores, shown as a table."""

from dataclasses import asdict, dataclass, field
from typing import Any

from clickhouse_connect.driver.asyncclient import AsyncClient
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from workers.addresses import Addresses
from workers.settings import Settings
from workers.stores.analytics import connect

WORST = 3

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
    sum(claims_unsupported) AS unsupported,
    round(quantile(0.5)(citations_seconds) * 1000, 2) AS citations_ms,
    round(quantile(0.5)(grounding_seconds) * 1000, 1) AS grounding_ms,
    round(quantile(0.5)(quality_seconds) * 1000, 1) AS quality_ms
FROM {database}.answers FINAL
WHERE answer_id IN {{ids:Array(String)}}
"""

STATES = """
SELECT state, count() FROM {database}.answers FINAL
WHERE answer_id IN {{ids:Array(String)}} GROUP BY state ORDER BY state
"""

OFFENDERS = """
SELECT a.answer_id, any(a.query), any(a.model_id), any(a.grounding_score), any(a.risk_score),
       argMax((c.text, c.verdict, c.evidence), (c.verdict = 'contradicted', 1 - ifNull(c.score, 0)))
FROM {database}.answers AS a FINAL
INNER JOIN (SELECT * FROM {database}.claims FINAL WHERE verdict IN ('contradicted', 'unsupported')) AS c
    ON a.answer_id = c.answer_id AND a.pipeline_version = c.pipeline_version AND a.run = c.run
WHERE a.answer_id IN {{ids:Array(String)}} AND a.grounding_score IS NOT NULL
GROUP BY a.answer_id
ORDER BY any(a.claims_contradicted) / any(a.claims_total) DESC, any(a.grounding_score), a.answer_id
LIMIT {worst}
"""


@dataclass(slots=True)
class DemoSummary:
    """The figures of a run.

    Attributes:
        ingested: answers sent.
        enriched: answers in ClickHouse, each counted once.
        dead_lettered: records that assembly gave up.
        counts: figures by name.
        states: answers by release state.
        reviews: open reviews.
        remembered: turns in memory.
        timings: seconds by phase.
        peak_bytes: resident memory of the worker at its peak.
        worst: the worst answers with their most offending claim.
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

    @property
    def accounted_for(self) -> bool:
        """Every answer is enriched or dead-lettered, none twice."""
        return self.ingested == self.enriched + self.dead_lettered

    def as_dict(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self) | {"accounted_for": self.accounted_for}


async def summarise(
    settings: Settings,
    addresses: Addresses,
    worker: Any,
    identifiers: list[str],
    *,
    rejected: int,
    timings: dict[str, float],
    peak_bytes: int,
) -> DemoSummary:
    """Ask the stores what became of answers.

    Args:
        settings: all settings.
        addresses: of the stores.
        worker: the running worker, for its memory store.
        identifiers: of the answers.
        rejected: lines that were not sent.
        timings: seconds by phase.
        peak_bytes: memory of this process.
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
        dead = await client.query(f"SELECT count() FROM {database}.dead_letters FINAL WHERE agent = 'assembly'")
        worst = await client.query(OFFENDERS.format(database=database, worst=WORST), parameters={"ids": identifiers})
    finally:
        await client.close()
    known = set(identifiers)
    turns = await worker.remembered()
    return DemoSummary(
        ingested=len(identifiers) - rejected,
        enriched=int(counts.pop("enriched")),
        dead_lettered=int(dead.result_rows[0][0]),
        counts=counts,
        states={state: int(count) for state, count in states.result_rows},
        reviews=int(reviews.result_rows[0][0]),
        remembered=sum(turn["answer_id"] in known for turn in turns),
        timings={name: round(seconds, 2) for name, seconds in timings.items()},
        peak_bytes=peak_bytes,
        worst=[_offender(row) for row in worst.result_rows],
    )


def print_summary(summary: DemoSummary, console: Console) -> None:
    """Show a summary to people."""
    counts = summary.counts
    table = Table("", "", show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    rows = {
        "answers": f"{summary.ingested} ingested = {summary.enriched} enriched + {summary.dead_lettered} dead-lettered"
        f" ({counts['degraded']} degraded)",
        "risk": f"{counts['low']} low, {counts['medium']} medium, {counts['high']} high, {counts['none']} not judged",
        "grounding": f"mean {counts['grounding']}; {counts['claims']} claims, {counts['contradicted']} contradicted, "
        f"{counts['unsupported']} unsupported",
        "citations": f"{counts['invalid_citations']} answers with invalid references",
        "quality": f"mean {counts['quality']}, {counts['passing']} pass; gate score mean {counts['gate']}",
        "decisions": ", ".join(f"{count} {state}" for state, count in summary.states.items()),
        "review": f"{summary.reviews} in the queue",
        "memory": f"{summary.remembered} turns remembered",
        "medians": f"citations {counts['citations_ms']} ms, grounding {counts['grounding_ms']} ms, "
        f"quality {counts['quality_ms']} ms an answer",
        "time": f"start {summary.timings['start']:.1f} s, judging {summary.timings['judge']:.1f} s",
        "peak memory": f"{summary.peak_bytes / 1e6:.0f} MB (all agents in one process)",
    }
    for name, value in rows.items():
        table.add_row(f"[bold]{name}[/]", value)
    console.print(table, highlight=False)
    for number, offender in enumerate(summary.worst, start=1):
        console.print(f"\n[bold]worst answer {number}[/]  {escape(offender['query'])}", highlight=False)
        console.print(f"  [red]{offender['verdict']}[/]  {escape(offender['claim'])}", highlight=False)
        console.print(f"  evidence      {escape(offender['evidence']) or 'none'}", highlight=False)


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
