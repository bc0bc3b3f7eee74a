"""`touchstone doctor` on real servers: nothing is found where nothing is wrong, and each fault with its remedy."""

import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from aiohttp import ClientSession, web
from redis.asyncio import Redis
from typer.testing import CliRunner

from schemas.topics import ALERTS_RAISED
from tests.harness.deployment import until
from workers.agents.base import AgentDefinition
from workers.cli.main import app
from workers.delivery.topics.topic_administration import TopicAdministration
from workers.doctor import examination, kafka_checks
from workers.doctor.clocks import compare_clocks
from workers.doctor.examination import examine, examine_until_ready
from workers.doctor.findings import Finding
from workers.doctor.scope import Scope
from workers.doctor.supported_versions import compare
from workers.local.ports import LOOPBACK, free_port
from workers.local.services import LocalServices
from workers.runtime.agent_choice import AGENTS, chosen_agents
from workers.settings import ExportSettings, MemorySettings, OtelSettings, Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.migrations import migrate, read_migrations, remake

Found = list[tuple[str, str, str, str]]


@pytest.fixture
def refreshed_figures() -> bool:
    return True


async def problems(settings: Settings, addresses: Addresses, agents: list[str] | None = None) -> Found:
    """Return everything that is not ok, as tuples."""
    scope = Scope(tuple(chosen_agents(agents, settings)), console=agents is None)
    findings = await examine(settings, addresses, scope, lambda _: None)
    return [(each.check, each.status, each.text, each.remedy) for each in findings if each.status != "ok"]


async def test_a_deployment_that_is_ready_has_no_problem(
    settings: Settings, addresses: Addresses, topics: None, analytics: AnalyticsStore
) -> None:
    assert await problems(settings, addresses) == []


@pytest.mark.both_brokers
async def test_a_missing_topic_is_named(settings: Settings, addresses: Addresses, topics: None) -> None:
    async with TopicAdministration(settings, addresses.kafka) as administration:
        name = settings.topic_name(ALERTS_RAISED.name)
        await administration.delete([ALERTS_RAISED])

        async def gone() -> bool:
            return not await administration.present([name])

        await until(gone, "the broker no longer knows the topic")
    found = await problems(settings, addresses, ["citations"])
    assert found == [("kafka topics", "failure", f"is missing: {name}", "run `touchstone topics create`")]


async def test_a_missing_topic_of_a_gateway_is_named(settings: Settings, addresses: Addresses, topics: None) -> None:
    gateways = type(settings.gateways).model_validate({"topics": {"nobody.logs": {"format": "litellm"}}})
    settings = settings.model_copy(update={"gateways": gateways})
    ((check, status, text, remedy),) = await problems(settings, addresses, ["intake"])
    assert (check, status) == ("gateway topics", "failure")
    assert text.startswith("nobody.logs is missing")
    assert "TOUCHSTONE_GATEWAYS__TOPICS" in remedy


async def test_brokers_and_stores_that_are_away_are_told_all_at_once(settings: Settings) -> None:
    away = Addresses(f"{LOOPBACK}:{free_port()}", f"redis://{LOOPBACK}:{free_port()}", f"http://{LOOPBACK}:{free_port()}", False)  # fmt: skip
    found = await problems(settings, away)
    assert [(check, status) for check, status, _, _ in found] == [
        ("kafka", "failure"), ("clickhouse", "failure"), ("redis", "warning"),
    ]  # fmt: skip
    remedies = [remedy for _, _, _, remedy in found]
    assert all(
        variable in remedy
        for variable, remedy in zip(("KAFKA_BOOTSTRAP_SERVERS", "CLICKHOUSE_URL", "REDIS_URL"), remedies, strict=True)
    )


async def test_a_broker_that_speaks_another_protocol_is_told_from_one_that_is_away(
    settings: Settings, addresses: Addresses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_checks, "TIMEOUT_SECONDS", 1.0)
    kafka = settings.kafka.model_copy(update={"security_protocol": "SSL"})
    ((check, status, text, remedy),) = await problems(
        settings.model_copy(update={"kafka": kafka}), addresses, ["citations"]
    )
    assert (check, status) == ("kafka", "failure")
    assert "accepts connections, but no request with SSL" in text
    assert "TOUCHSTONE_KAFKA__SECURITY_PROTOCOL" in remedy


async def test_a_schema_that_is_behind_or_ahead_is_told_with_its_remedy(
    settings: Settings, addresses: Addresses, topics: None
) -> None:
    database, migrations = settings.clickhouse.database, read_migrations()
    client = await connect(settings.clickhouse, addresses.clickhouse)
    try:
        await migrate(client, database, migrations[:-1])
        ((check, status, text, remedy),) = await problems(settings, addresses, ["analytics"])
        assert (check, status, remedy) == ("clickhouse schema", "failure", "run `touchstone migrate`")
        assert migrations[-1].name in text
        await migrate(client, database)
        await client.command(f"DROP TABLE {database}.insights SYNC")
        ((check, status, text, remedy),) = await problems(settings, addresses, ["analytics"])
        assert (check, status, text) == ("clickhouse schema", "failure", f"{database} lacks insights")
        assert remedy == "run `touchstone rebuild clickhouse`"
        await remake(client, database)
        later = replace(migrations[-1], version=9_998, statements=(), oldest_worker=migrations[-1].version)
        await migrate(client, database, [*migrations, later])
        assert await problems(settings, addresses, ["analytics"]) == []
        breaking = replace(later, version=9_999, name="9999_breaking.sql", oldest_worker=9_999)
        await migrate(client, database, [*migrations, later, breaking])
        ((check, status, text, remedy),) = await problems(settings, addresses, ["analytics"])
        assert (check, status, remedy) == ("clickhouse schema", "failure", "upgrade Touchstone")
        assert "9999_breaking.sql allows no worker before 9999" in text
    finally:
        await client.command(f"DROP DATABASE IF EXISTS {database}")
        await client.close()


async def test_an_agent_that_needs_no_store_is_examined_without_one(
    settings: Settings, addresses: Addresses, topics: None
) -> None:
    away = f"http://{LOOPBACK}:{free_port()}"
    assert await problems(settings, replace(addresses, clickhouse=away, redis=away), ["citations", "grounding"]) == []


@pytest.fixture
async def valkey(tmp_path: Path) -> AsyncIterator[str]:
    """Address of a Valkey of this test alone."""
    services = LocalServices(tmp_path / "valkey", kafka=False, clickhouse=False)
    address = (await services.start()).redis_url
    assert address is not None
    yield address
    await services.stop()


async def test_a_wrong_password_of_redis_and_a_missing_right_are_told(
    settings: Settings, addresses: Addresses, topics: None, valkey: str
) -> None:
    async with Redis.from_url(valkey) as admin:
        await admin.execute_command("ACL", "SETUSER", "agent", "on", ">right", "~*", "+@all", "-@scripting")
    scheme, _, rest = valkey.partition("://")
    place = rest.rpartition("@")[2]
    logins = (f"{scheme}://agent:wrong@{place}", f"{scheme}://agent:right@{place}", valkey)
    found = [await problems(settings, replace(addresses, redis=url), ["signals"]) for url in logins]
    (wrong,), (refused,), nothing = found
    assert wrong[:2] == ("redis", "warning")
    assert "refuses the user or the password" in wrong[2]
    assert wrong[3] == "correct the password in REDIS_URL"
    assert refused[:2] == ("redis rights", "warning")
    assert settings.redis.key_prefix in refused[3]
    assert nothing == []
    assert "right@" not in str(found)


@asynccontextmanager
async def guarded(url: str, password: str, without: str = "") -> AsyncIterator[str]:
    """ClickHouse behind a server that checks the password and lacks a right: the local engine knows neither."""

    async def answer(request: web.Request) -> web.Response:
        body = await request.read()
        if request.headers.get("Authorization") != f"Basic {password}":
            text = "Code: 516. DB::Exception: worker: Authentication failed: password is incorrect. (AUTHENTICATION_FAILED)"
            return web.Response(status=403, text=text, headers={"X-ClickHouse-Exception-Code": "516"})
        lacks = without and body.startswith(b"CHECK GRANT") and without.encode() in body
        body = b"SELECT 0" if lacks else body
        headers = {name: value for name, value in request.headers.items() if name in ("Content-Type", "User-Agent")}
        async with ClientSession(auto_decompress=False) as session:
            given = await session.request(request.method, url + request.path_qs, data=body, headers=headers)
            kept = {n: v for n, v in given.headers.items() if n.startswith("X-ClickHouse") or n == "Content-Type"}
            return web.Response(status=given.status, body=await given.read(), headers=kept)

    site = web.Application()
    site.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(site)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, LOOPBACK, port).start()
    try:
        yield f"http://{LOOPBACK}:{port}"
    finally:
        await runner.cleanup()


async def test_a_wrong_password_of_clickhouse_and_a_missing_right_are_told(
    settings: Settings, addresses: Addresses, topics: None, analytics: AnalyticsStore
) -> None:
    # Base64 of worker:right.
    right, lacked = "d29ya2VyOnJpZ2h0", f"INSERT ON {settings.clickhouse.database}.claims"
    async with guarded(addresses.clickhouse, right, without=lacked) as url:
        host = url.removeprefix("http://")
        wrong = await problems(settings, replace(addresses, clickhouse=f"http://worker:wrong@{host}"), ["analytics"])
        lacking = await problems(settings, replace(addresses, clickhouse=f"http://worker:right@{host}"), ["analytics"])
    ((check, status, text, remedy),) = wrong
    assert (check, status) == ("clickhouse", "failure")
    assert "refuses the user or the password" in text
    assert "TOUCHSTONE_CLICKHOUSE__PASSWORD" in remedy
    ((check, status, text, remedy),) = lacking
    assert (check, status, text) == ("clickhouse rights", "failure", f"this user lacks {lacked}")
    assert "touchstone roles" in remedy


async def test_a_memory_that_cannot_be_written_and_a_receiver_that_is_away_are_told(
    settings: Settings, addresses: Addresses, topics: None, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    otel = OtelSettings(endpoint=f"http://{LOOPBACK}:{free_port()}/v1/logs")
    memory = MemorySettings(uri=str(tmp_path / "file" / "memory"))
    changed = settings.model_copy(update={"memory": memory, "otel": otel, "exports": ExportSettings(plaintext=True)})
    found = await problems(changed, addresses, ["memory", "otel"])
    assert [(check, status) for check, status, _, _ in found] == [("memory", "failure"), ("opentelemetry", "warning")]
    assert "TOUCHSTONE_MEMORY__URI" in found[0][3]


def test_a_clock_is_wrong_only_by_what_the_question_cannot_have_taken() -> None:
    assert compare_clocks("clock", 100.0, 103.0, 104.0).status == "ok"
    behind, ahead = compare_clocks("clock", 100.0, 90.0, 101.0), compare_clocks("clock", 100.0, 161.0, 101.0)
    assert (behind.status, ahead.status) == ("warning", "warning")
    assert "10 s behind" in behind.text
    assert "60 s ahead of" in ahead.text


def test_a_server_older_than_the_tested_ones_is_a_warning() -> None:
    assert compare("version", "ClickHouse", "25.8.33.6").status == "ok"
    old = compare("version", "ClickHouse", "24.12.1.1")
    assert (old.status, old.remedy) == ("warning", "upgrade the server")


@pytest.mark.parametrize("definition", AGENTS.values(), ids=lambda each: each.name)
async def test_an_agent_names_the_stores_that_it_opens(
    definition: AgentDefinition, settings: Settings, addresses: Addresses, topics: None
) -> None:
    """The doctor examines the stores that are named, and must examine those without which a worker does not start."""
    opened = set()

    class Services:
        def __getattr__(self, name: str) -> Any:
            @asynccontextmanager
            async def open_service() -> AsyncIterator[MagicMock]:
                opened.add(name)
                yield MagicMock()

            return open_service

    context = MagicMock(services=Services(), settings=settings, addresses=addresses)
    async with AsyncExitStack() as stack:
        # The rest of an agent does not work with what stands for its services.
        with contextlib.suppress(TypeError, ValueError, AttributeError):
            await definition.open(context, stack)
    assert opened & {"clickhouse", "memory"} == definition.stores


async def test_a_deployment_that_becomes_ready_is_waited_for(
    settings: Settings, addresses: Addresses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examination, "PAUSE_SECONDS", 0.0)
    told: list[list[Finding]] = []
    scope = Scope(tuple(chosen_agents(["citations"], settings)), console=False)
    async with TopicAdministration(settings, addresses.kafka) as administration:

        async def run() -> list[Finding]:
            if len(told) == 1:
                await administration.create()
            return await examine(settings, addresses, scope, lambda _: None)

        found = await examine_until_ready(run, 60.0, told.append)
    assert {each.status for each in found} == {"ok"}
    assert [[each.remedy for each in failures] for failures in told] == [["run `touchstone topics create`"]]


async def test_the_command_prints_findings_and_its_exit_code_says_whether_there_are_failures(
    settings: Settings, addresses: Addresses, topics: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    import asyncio

    environment = {
        "KAFKA_BOOTSTRAP_SERVERS": addresses.kafka, "REDIS_URL": f"redis://{LOOPBACK}:{free_port()}",
        "CLICKHOUSE_URL": addresses.clickhouse, "TOUCHSTONE_CLICKHOUSE__DATABASE": settings.clickhouse.database,
        "TOUCHSTONE_KAFKA__TOPIC_PREFIX": settings.kafka.topic_prefix, "TOUCHSTONE_STATE_DIR": str(settings.state_dir),
    }  # fmt: skip
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    async def run(*arguments: str) -> Any:
        return await asyncio.to_thread(CliRunner().invoke, app, ["doctor", *arguments])

    ready = await run("--agents", "signals")
    assert ready.exit_code == 0
    assert "≠ warning  redis" in ready.stdout
    assert (await run("--agents", "signals", "--strict")).exit_code == 1
    behind = await run("--json")
    assert behind.exit_code == 1
    told = json.loads(behind.stdout)
    assert (told["healthy"], told["failures"], told["warnings"]) == (False, 1, 1)
    assert (
        Finding(**next(each for each in told["checks"] if each["status"] == "failure")).remedy
        == "run `touchstone migrate`"
    )
