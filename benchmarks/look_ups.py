"""Measure citation lookups in the local ClickHouse engine (goal: 100 ms).

Rows are spread over two years; each look-up asks for another citation, so that none is answered
from a cache of results. Measured in the store, and at the console over HTTP: token, scope, rate,
the note of the access and the entity tag included.
"""

import tempfile
import time
from collections import defaultdict
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
import uvloop
from clickhouse_connect.driver.asyncclient import AsyncClient
from pydantic import SecretStr

from workers.console.app import create_app
from workers.console.erased_answers import ErasedAnswers
from workers.console.http.backpressure import IntakeGate
from workers.console.http.server import ConsoleServer
from workers.console.http.tenant_quotas import TenantQuotas
from workers.console.identity.access_log import AccessLog
from workers.console.resources import ConsoleResources
from workers.delivery.followers.erasure_follower import read_erasures
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.topics.topic_administration import TopicAdministration
from workers.local.services import LocalServices
from workers.settings import AccessToken, ConsoleSettings, Settings
from workers.settings.addresses import Addresses, apply_local_defaults, local_addresses
from workers.settings.sections.scopes import Scope
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.migrations import migrate
from workers.stores.queries.answer_queries import AnswerStore
from workers.stores.queries.audit_queries import AuditStore
from workers.stores.queries.citation_queries import CitationStore
from workers.stores.queries.overview_queries import OverviewStore
from workers.stores.queries.version_queries import VersionStore

SOURCES = 20_000
"""Different records that are cited."""
FILL = 100_000
"""Citations in one insert."""
SPACING_SECONDS = 63_072_000
"""The time over which the citations are spread: two years."""
WARM_UP = 5
"""Look-ups of each kind that do not count."""
SECRET = "the-secret-of-the-benchmark"


def look_up_seconds(citations: int, look_ups: int) -> dict[str, list[float]]:
    """Return the seconds of each lookup by kind.

    Args:
        citations: rows in the table.
        look_ups: how many of each kind are timed.
    """
    return uvloop.run(_measure(citations, look_ups))


async def _measure(citations: int, look_ups: int) -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        async with LocalServices(Path(folder), redis=False) as services:
            return await _timed(local_addresses(services.addresses), citations, look_ups)


async def _timed(addresses: Addresses, citations: int, look_ups: int) -> dict[str, list[float]]:
    token = AccessToken(name="bench", token=SecretStr(SECRET), scopes=frozenset({Scope.READ}))
    console = ConsoleSettings(tokens=(token,), requests_per_minute=1_000_000)
    settings = apply_local_defaults(Settings(_env_file=None, console=console), addresses)
    async with TopicAdministration(settings, addresses.kafka) as administration:
        await administration.create()
    async with AsyncExitStack() as stack:
        client = await connect(settings.clickhouse, addresses.clickhouse)
        stack.push_async_callback(client.close)
        await migrate(client, settings.clickhouse.database)
        await _fill(client, settings.clickhouse.database, citations)
        url = await _served(settings, addresses, client, stack)
        store = CitationStore(AnalyticsStore(client, settings.clickhouse.database), settings.clickhouse.database)
        http = await stack.enter_async_context(
            aiohttp.ClientSession(url, headers={"Authorization": f"Bearer {SECRET}"})
        )
        return await _look_ups(store, http, citations, look_ups)


async def _fill(client: AsyncClient, database: str, citations: int) -> None:
    for start in range(0, citations, FILL):
        await client.command(
            f"INSERT INTO {database}.citations (tenant, answer_id, citation_id, pipeline_version, rank, completed_at,"
            " valid, chunk_id, source_type, source_table, record_id, source_digest, forms)"
            " SELECT 't', toString(number), concat('citation-', toString(number)), 'v', 4,"
            f" toDateTime64('2025-01-01 00:00:00', 3) + toUInt32(number * {SPACING_SECONDS} / {citations}), 1, 'c',"
            " 'database', 'daily_summaries',"
            f" concat('record-', toString(number % {SOURCES})), hex(number % {SOURCES}), []"
            f" FROM numbers({start}, {min(FILL, citations - start)})"
        )
    await client.command(
        f"INSERT INTO {database}.sources (tenant, source_digest, content)"
        f" SELECT 't', hex(number), repeat('Loki needs 2 GiB. ', 20) FROM numbers({SOURCES})"
    )
    for table in ("citations", "citations_by_id"):
        # As background merges leave them after a while; each further part costs a look-up about a millisecond.
        await client.command(f"OPTIMIZE TABLE {database}.{table} FINAL")


async def _served(settings: Settings, addresses: Addresses, client: AsyncClient, stack: AsyncExitStack) -> str:
    """Serve the console without the model of memory search; return its address."""
    database = settings.clickhouse.database
    analytics = AnalyticsStore(client, database)
    producer = ConfirmedProducer(settings, addresses.kafka)
    await producer.start()
    stack.push_async_callback(producer.stop)
    accesses = AccessLog(producer, "bench", lambda: datetime.now(UTC))
    accesses.start()
    stack.push_async_callback(accesses.stop)
    resources = ConsoleResources(
        settings=settings,
        quotas=TenantQuotas(settings.gateways),
        pipeline_version="bench",
        analytics=analytics,
        answers=AnswerStore(analytics, database),
        audit=AuditStore(analytics, database),
        citations=CitationStore(analytics, database),
        overview=OverviewStore(analytics, database),
        versions=VersionStore(analytics, database),
        erased=ErasedAnswers(lambda: read_erasures(settings, addresses.kafka)),
        producer=producer,
        accesses=accesses,
        intake=IntakeGate(settings.gateways.in_flight_bytes),
    )
    server = ConsoleServer(create_app(resources), settings.console)
    stack.push_async_callback(server.stop)
    return await server.start()


async def _look_ups(
    store: CitationStore, http: aiohttp.ClientSession, citations: int, look_ups: int
) -> dict[str, list[float]]:
    async def over_http(path: str) -> object:
        async with http.get(path) as response:
            response.raise_for_status()
            return await response.read()

    now = datetime(2026, 11, 2, tzinfo=UTC)
    seconds: dict[str, list[float]] = defaultdict(list)
    # Primes apart, so that no two kinds ask for the same citation.
    for number in range(look_ups + WARM_UP):
        for offset, kind in enumerate(("citation", "source", "citation over HTTP", "source over HTTP")):
            chosen = (number * (citations // (look_ups + WARM_UP)) + 101 * offset) % citations
            source = f"record-{chosen % SOURCES}"
            look_up = {
                "citation": lambda chosen=chosen: store.citation(["t"], f"citation-{chosen}", now=now),
                "source": lambda source=source: store.source("t", "daily_summaries", source, now=now),
                "citation over HTTP": lambda chosen=chosen: over_http(f"/api/citations/citation-{chosen}"),
                "source over HTTP": lambda source=source: over_http(
                    f"/api/citations/source/daily_summaries/{source}?tenant=t"
                ),
            }[kind]
            started = time.perf_counter()
            if await look_up() is None:
                raise RuntimeError(f"the {kind} of row {chosen} was not found")
            if number >= WARM_UP:
                seconds[kind].append(time.perf_counter() - started)
    return dict(seconds)
