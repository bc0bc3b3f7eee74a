"""Measure ClickHouse with ten million answers: insert rate, bytes an answer, and query times.

    python -m benchmarks.analytics --json docs/reference/analytics.json

The answers are made inside the engine, 30 days of them, in the order of their time, with the
cardinalities of a large deployment: 5 tenants, 4 models, 3 prompt versions, 6 query types, 2,000
sources, two cited an answer. They go through the raw tables and their materialised views, as the
sink's rows do. Texts are stored where a question reads them (the audit), each a stretch of a
corpus of random words. Every question is asked over all 30 days and all tenants, which is the worst
that a dashboard can do. The week before them, which `drift` compares with, comes last, with a tenth of the
answers an hour: questions read figures by the hour, whose rows are as many.
"""

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from clickhouse_connect.driver.asyncclient import AsyncClient

from tests.harness.deployment import until
from tests.harness.named_queries import query_values
from workers.grafana.dashboards import panel_queries
from workers.local.services import LocalServices
from workers.settings import ClickHouseSettings
from workers.stores.clickhouse.analytics_store import connect
from workers.stores.clickhouse.migrations import migrate
from workers.stores.clickhouse.named_queries import read_queries
from workers.stores.clickhouse.rollups import REFRESHED, refresh_rollups

DATABASE = "bench"
SINCE, UNTIL = datetime(2026, 10, 1), datetime(2026, 10, 31)
WEEK = timedelta(days=7)
STEP = 500_000
REPEATS = 5
MINUTES_OF_TRAFFIC = 5
QUERY_LIMIT_MS, PANEL_LIMIT_MS = 500, 150
CORPUS_WORDS, VOCABULARY = 400_000, 6_000

MADE = """
WITH number AS n, rand64(1) % 1000 / 1000 AS u, rand64(2) % 1000 / 1000 AS v, 1 + rand64(3) % 3 AS k,
     ['acme', 'acme', 'acme', 'globex', 'globex', 'initech', 'umbrella', 'hooli'][sipHash64(n) % 8 + 1] AS tenant,
     toDateTime64('{since}', 3, 'UTC') + toIntervalMillisecond(toInt64((n - {begin}) * {span} / {answers})) AS at,
     lower(hex(sipHash128(n))) AS id,
     (place, length) -> substring(corpus, 1 + (rand64(place) % ({corpus} - length)), length) AS words
"""
ANSWERS = """
INSERT INTO bench.answers
    (tenant, answer_id, pipeline_version, rank, query_type, model_id, prompt_version, risk_mode, status, contexts,
     completed_at, latency_seconds, hallucination_risk, risk_score, grounding_score, quality_score, validation_score,
     gate_score, citation_coverage, passes_validation, citations_valid, citations_total, invalid_references, signals,
     issues, reasons, claims_total, claims_supported, claims_contradicted, claims_unsupported, source_names,
     source_citations, source_supported, source_contradicted, source_unsupported, state, review, degraded,
     citations_seconds, grounding_seconds, quality_seconds, answer_partition, answer_offset, enriched_at)
{made}
SELECT
    tenant, id, 'v', 4, ['ops', 'code', 'search', 'chat', 'sql', 'mail'][rand64(5) % 6 + 1],
    ['small', 'medium', 'large', 'tuned'][rand64(6) % 4 + 1], ['p1', 'p2', 'p3'][rand64(7) % 3 + 1], 'observer',
    if(u < 0.01, 'error', 'ok'), 3, at, 1 + v * 10, ['low', 'low', 'medium', 'high'][rand64(8) % 4 + 1], u,
    if(v < 0.1, NULL, v), sqrt(u), 1 - u * u, v, u, u > 0.2, v > 0.1, k, if(v < 0.1, ['out_of_range'], []),
    if(u < 0.2, ['refusal', 'low_confidence'], []), if(v < 0.3, ['unsupported_claims'], []),
    if(v < 0.3, ['grounding_below_minimum'], []), 4, 2, 1, 1,
    arrayMap(i -> concat('Source ', tenant, ' ', toString((rand64(9) + i) % 400)), range(k)),
    arrayMap(i -> 1, range(k)), arrayMap(i -> 1, range(k)), arrayMap(i -> i = 0 AND u < 0.1, range(k)),
    arrayMap(i -> 0, range(k)), if(v < 0.6, 'warned', 'released'), v < 0.05, u < 0.001, 0.001 + u / 1000,
    0.02 + v / 50, 0.01 + u / 100, 0, n, at
FROM numbers({first}, {count})
"""
LOGS = """
INSERT INTO bench.citation_logs
    (tenant, response_id, pipeline_version, rank, query_text, response_text, citations, citation_count,
     invalid_references, grounding_score, ungrounded_claims, state, completed_at, created_at)
{made}, (SELECT text FROM bench.corpus) AS corpus
SELECT
    tenant, id, 'v', 4, words(11, 60), words(12, 700), words(13, 500), k, '[]', if(v < 0.1, NULL, v), words(14, 80),
    if(v < 0.6, 'warned', 'released'), at, at
FROM numbers({first}, {count})
"""
REWARDS = """
INSERT INTO bench.rewards
    (reward_id, answer_id, tenant, model_id, query_type, explicit_reward, implicit_reward, satisfaction, reward,
     error_occurred, retry_detected, latency_seconds, latency_tolerance, revision, answered_at, computed_at)
{made}
SELECT
    '', id, tenant, ['small', 'medium', 'large', 'tuned'][rand64(6) % 4 + 1],
    ['ops', 'code', 'search', 'chat', 'sql', 'mail'][rand64(5) % 6 + 1], if(u < 0.05, v, NULL), v,
    if(u < 0.2, v, NULL), v, u < 0.01, u < 0.08, v, 'high', 1, at, at
FROM numbers({first}, {count})
"""
ALERTS = """
INSERT INTO bench.alerts
    (tenant, alert_id, answer_id, rank, alert_type, severity, message, metadata, completed_at, raised_at)
{made}
SELECT
    tenant, concat('alert-', id), id, 4, ['low_grounding_score', 'invalid_citation'][rand64(4) % 2 + 1], 'warning',
    concat('Response ', id, ' has low grounding score: ', toString(v)),
    concat('{{"response_id":"', id, '","score":', toString(v), '}}'), at, at
FROM numbers({first}, {count}) WHERE n % 8 = 0
"""
REVIEWS = """
INSERT INTO bench.reviews
    (tenant, review_id, answer_id, pipeline_version, rank, state, held, risk_mode, reasons, priority, model_id,
     query, answer, completed_at, requested_at)
{made}
SELECT
    tenant, concat('review-', id), id, 'v', 4, 'open', u < 0.3, 'observer', [], v, 'small', '', '', at, at
FROM numbers({first}, {count}) WHERE n % 100 = 0
"""
DECISIONS = """
INSERT INTO bench.review_decisions
    (tenant, decision_id, review_id, answer_id, decided_at, decided_by, action, reason, review_duration, model_id)
{made}
SELECT
    tenant, concat(id, reviewer), concat('review-', id), id, at + toIntervalSecond(toInt64(36000 * u)), reviewer,
    ['approve', 'approve', 'correct', 'reject'][rand64(5) % 4 + 1], '', 20 + 100 * v, 'small'
FROM numbers({first}, {count})
ARRAY JOIN if(n % 2000 = 0, ['reviewer-1', 'reviewer-2'], [concat('reviewer-', toString(n / 200 % 20))]) AS reviewer
WHERE n % 200 = 0
"""
STATEMENTS = {
    "answers": ANSWERS, "citation_logs": LOGS, "rewards": REWARDS, "alerts": ALERTS, "reviews": REVIEWS,
    "review_decisions": DECISIONS,
}  # fmt: skip

LAYOUTS = {
    "raw rows, FINAL": """
        SELECT toDate(completed_at) AS day, model_id, count(), avg(grounding_score)
        FROM bench.answers FINAL WHERE run = 'live' GROUP BY day, model_id""",
    "narrow facts, FINAL": """
        SELECT toDate(hour) AS day, model_id, count(), avg(grounding_score)
        FROM bench.answer_facts FINAL WHERE run = 'live' GROUP BY day, model_id""",
    "narrow facts, argMax": """
        SELECT day, model_id, count(), avg(score) FROM (
            SELECT any(toDate(hour)) AS day, argMax(f.model_id, rank) AS model_id, argMax(grounding_score, rank) AS score
            FROM bench.answer_facts AS f WHERE run = 'live' GROUP BY tenant, run, hour, answer_key
        ) GROUP BY day, model_id SETTINGS max_bytes_before_external_group_by = 500000000""",
    "narrow facts, repeats counted": """
        SELECT toDate(hour) AS day, model_id, count(), avg(grounding_score)
        FROM bench.answer_facts WHERE run = 'live' GROUP BY day, model_id""",
    "figures by the hour": """
        SELECT toDate(hour) AS day, model_id, sum(answers), sum(grounding_sum) / sum(grounding_scored)
        FROM bench.answer_hours FINAL WHERE run = 'live' GROUP BY day, model_id""",
}

SIZES = """
SELECT table, sum(rows), sum(bytes_on_disk), count()
FROM system.parts WHERE active AND database = {database:String} GROUP BY table ORDER BY table
"""


def corpus(seed: int = 7) -> str:
    """Generate text with Zipf-distributed words, so that it compresses like real text."""
    chooser = random.Random(seed)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    words = [
        "".join(chooser.choices(letters, weights=range(26, 0, -1), k=chooser.randint(2, 10))) for _ in range(VOCABULARY)
    ]
    weights = [1 / (place + 3) for place in range(VOCABULARY)]
    return " ".join(chooser.choices(words, weights=weights, k=CORPUS_WORDS))


def made(answers: int, *, since: datetime = SINCE, until: datetime = UNTIL, begin: int = 0, words: int = 0) -> str:
    """Return the SQL that generates the rows of answers.

    Args:
        answers: how many lie between these times.
        since: of the first one.
        until: of the last one.
        begin: number of the first one.
        words: length of the corpus, for tables with texts; 0 without.
    """
    span = int((until - since).total_seconds() * 1000)
    text = MADE.format(since=since, span=span, answers=answers, begin=begin, corpus=words)
    return text if words else text[: text.rindex(",\n")]


def load() -> list[float]:
    """Return the machine's load averages over 1, 5 and 15 minutes."""
    return [round(value, 2) for value in os.getloadavg()]


async def fill(client: AsyncClient, answers: int) -> dict[str, Any]:
    """Insert all rows; return rows a second for each table."""
    text = corpus()
    await client.command("CREATE TABLE bench.corpus (text String) ENGINE = MergeTree ORDER BY tuple()")
    await client.insert("corpus", [[text]], column_names=["text"], database=DATABASE)
    figures = {}
    for table, statement in STATEMENTS.items():
        started = time.perf_counter()
        for first in range(0, answers, STEP):
            count = min(STEP, answers - first)
            rows_made = made(answers, words=len(text) if table == "citation_logs" else 0)
            await client.command(statement.format(made=rows_made, first=first, count=count))
        rows = int(await client.command(f"SELECT count() FROM bench.{table}"))
        seconds = time.perf_counter() - started
        figures[table] = {"rows": rows, "rows_per_second": round(rows / seconds)}
        print(f"{table}: {rows:,} rows, {rows / seconds:,.0f} a second, load {load()[0]}", flush=True)
    await client.command("DROP TABLE bench.corpus")
    return figures


async def quiet(client: AsyncClient) -> None:
    """Wait until ClickHouse merges nothing more."""

    async def merged() -> bool:
        return int(await client.command("SELECT count() FROM system.merges")) == 0

    await until(merged, "merges", 600, 1)


async def refresh_one(client: AsyncClient, name: str) -> float:
    """Refresh a view that was paused during inserts; return the seconds."""
    started = time.perf_counter()
    for what in ("START", "REFRESH", "WAIT"):
        await client.command(f"SYSTEM {what} VIEW bench.{name}")
    seconds = time.perf_counter() - started
    print(f"{name}: {seconds:.1f} s, load {load()[0]}", flush=True)
    return round(seconds, 1)


async def age(client: AsyncClient) -> None:
    """Merge the figures as after steady ingestion: everything except the last hour."""
    for name in REFRESHED:
        await client.command(f"OPTIMIZE TABLE bench.{name.removesuffix('_refresh')} FINAL")


async def traffic(client: AsyncClient, answers: int) -> float:
    """Insert the rows of the last hour again, as live traffic does, and refresh the figures.

    Returns:
        Seconds of the last refresh.

    Raises:
        AssertionError: a row that came again was counted again.
    """
    taken = 0.0
    for _ in range(MINUTES_OF_TRAFFIC):
        statement = ANSWERS.format(made=made(answers), first=answers - 1_000, count=1_000)
        await client.command(statement)
        started = time.perf_counter()
        await refresh_rollups(client, DATABASE)
        taken = time.perf_counter() - started
    counted = int(await client.command(f"SELECT sum(answers) FROM bench.answer_hours FINAL WHERE hour >= '{SINCE}'"))
    assert counted == answers, f"{answers} answers are counted as {counted}"
    return round(taken, 2)


async def week_before(client: AsyncClient, answers: int) -> int:
    """Insert a previous week with a tenth of the answers an hour; return their number."""
    count = round(answers * (WEEK / (UNTIL - SINCE)) / 10)
    before = made(count, since=SINCE - WEEK, until=SINCE, begin=answers)
    await client.command(ANSWERS.format(made=before, first=answers, count=count))
    await refresh_rollups(client, DATABASE)
    return count


async def compare(client: AsyncClient) -> dict[str, int]:
    """Return the milliseconds of one query, grounding by model and day, over the candidate layouts."""
    figures = {}
    for name, statement in LAYOUTS.items():
        taken = []
        for _ in range(3):
            started = time.perf_counter()
            await client.query(statement)
            taken.append((time.perf_counter() - started) * 1000)
        figures[name] = round(median(taken))
        print(f"{name}: {figures[name]} ms", flush=True)
    return figures


async def ask(client: AsyncClient) -> dict[str, Any]:
    """Return the milliseconds of every query as seen by a client."""
    panels = set(panel_queries())
    figures = {}
    for name, query in read_queries().items():
        values = query_values(query, DATABASE, {"from": SINCE, "to": UNTIL, "interval": 86_400})
        taken = []
        for _ in range(REPEATS + 1):
            started = time.perf_counter()
            rows = len((await client.query(query.sql, parameters=values)).result_rows)
            taken.append((time.perf_counter() - started) * 1000)
        limit = PANEL_LIMIT_MS if name in panels else QUERY_LIMIT_MS
        figures[name] = {
            "rows": rows, "first_ms": round(taken[0]), "median_ms": round(median(taken[1:])),
            "worst_ms": round(max(taken[1:])), "limit_ms": limit, "on_a_dashboard": name in panels,
        }  # fmt: skip
        mark = "" if figures[name]["median_ms"] < limit else "  TOO SLOW"
        print(f"{name}: median {median(taken[1:]):.0f} ms, worst {max(taken[1:]):.0f} of {limit}{mark}", flush=True)
    return figures


async def measure(answers: int, directory: Path) -> dict[str, Any]:
    """Fill, refresh and query the tables."""
    services = LocalServices(directory, kafka=False, redis=False)
    found = await services.start()
    assert found.clickhouse_url
    client = await connect(ClickHouseSettings(database=DATABASE, timeout_seconds=600), found.clickhouse_url)
    try:
        await migrate(client, DATABASE)
        result: dict[str, Any] = {"answers": answers, "days": (UNTIL - SINCE).days, "cores": os.cpu_count()}
        for name in REFRESHED:
            await client.command(f"SYSTEM STOP VIEW bench.{name}")
        result["load_before"] = load()
        if int(await client.command("SELECT count() FROM bench.answers")) == 0:
            result["inserted"] = await fill(client, answers)
        result["refresh_of_all_hours_s"] = {name: await refresh_one(client, name) for name in REFRESHED}
        await quiet(client)
        await age(client)
        result["refresh_of_one_hour_s"] = await traffic(client, answers)
        sizes = (await client.query(SIZES, parameters={"database": DATABASE})).result_rows
        result["tables"] = {
            table: {"rows": rows, "bytes": size, "bytes_per_answer": round(size / answers, 1), "parts": parts}
            for table, rows, size, parts in sizes
        }
        result["answers_of_the_week_before"] = await week_before(client, answers)
        await age(client)
        await quiet(client)
        result["load_while_asking"] = load()
        result["queries"] = await ask(client)
        result["layouts_ms"] = await compare(client)
        return result
    finally:
        await client.close()
        await services.stop()


def main() -> int:
    """Measure as the command line says; exit status 1 if a question is too slow."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--answers", type=int, default=10_000_000)
    parser.add_argument("--json", type=Path, help="write the figures there")
    parser.add_argument("--directory", type=Path, help="where the tables are kept, and used again if they are there")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="touchstone-bench-") as temporary:
        result = asyncio.run(measure(arguments.answers, arguments.directory or Path(temporary)))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    slow = [name for name, figures in result["queries"].items() if figures["median_ms"] >= figures["limit_ms"]]
    print(f"too slow: {', '.join(slow)}" if slow else "every question is within its limit")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
