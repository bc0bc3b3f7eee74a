"""The local services are real servers: the clients that production uses work against them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from stat import S_IMODE
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import clickhouse_connect
import pytest
import pytest_asyncio
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import DatabaseError
from redis.asyncio import Redis
from redis.exceptions import AuthenticationError
from redis.exceptions import ConnectionError as RedisConnectionError

from workers.local.processes import ProcessIdentity, identity_of, is_alive
from workers.local.services import (
    LocalServiceError,
    LocalServices,
    ServiceAddresses,
    ServicePorts,
    read_addresses,
)

pytestmark = pytest.mark.timeout(900)

PATIENCE_S = 120.0


async def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition, and fail by name when it does not come."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        await asyncio.sleep(0.02)


def clickhouse(addresses: ServiceAddresses, **options: Any) -> Client:
    """A client as the worker makes it."""
    assert addresses.clickhouse_url is not None
    url = urlsplit(addresses.clickhouse_url)
    login = {"username": url.username, "password": url.password}
    return clickhouse_connect.get_client(host=url.hostname, port=url.port, **login | options)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def addresses(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ServiceAddresses]:
    """All three services, shared by the tests of this file that stop nothing."""
    async with LocalServices(tmp_path_factory.mktemp("state")) as services:
        yield services.addresses


@pytest.fixture
def client(addresses: ServiceAddresses) -> Iterator[Client]:
    """A ClickHouse client."""
    made = clickhouse(addresses)
    yield made
    made.close()


@pytest.fixture
def table(client: Client) -> Iterator[str]:
    """A table like those of the worker: the latest rank of an identifier wins."""
    name = f"t_{uuid.uuid4().hex}"
    client.command(
        f"CREATE TABLE {name} (id UUID, at DateTime64(6, 'UTC'), tags Array(String),"
        " scores Map(String, Float64), note Nullable(String), body String,"
        " model LowCardinality(String), rank UInt32)"
        " ENGINE = ReplacingMergeTree(rank) ORDER BY id"
        " SETTINGS non_replicated_deduplication_window = 100"
    )
    yield name
    client.command(f"DROP TABLE {name}")


AT = datetime(2025, 3, 1, 12, tzinfo=UTC)


def rows(count: int, rank: int = 1) -> list[tuple[Any, ...]]:
    """Distinct rows for `table`."""
    return [
        (
            uuid.UUID(int=n),
            AT + timedelta(microseconds=n),
            ["a", f"ü{n}"],
            {"risk": n / 2},
            None if n % 2 else "even\n\n;\0",
            json.dumps({"n": n}),
            f"model-{n % 3}",
            rank,
        )
        for n in range(count)
    ]


# --- the broker -----------------------------------------------------------------------------


async def test_consumer_group_goes_on_where_it_committed(addresses: ServiceAddresses) -> None:
    servers = addresses.kafka_bootstrap_servers
    topic = f"topic-{uuid.uuid4().hex}"
    admin = AIOKafkaAdminClient(bootstrap_servers=servers)
    await admin.start()
    await admin.create_topics([NewTopic(topic, num_partitions=3, replication_factor=1)])
    await admin.close()
    sent = [f"{n}".encode() for n in range(100)]
    async with AIOKafkaProducer(bootstrap_servers=servers, acks="all") as producer:
        for n, value in enumerate(sent):
            await producer.send_and_wait(topic, value, key=value, partition=n % 3, headers=[("ce_id", value)])

    async def consume(count: int) -> list[bytes]:
        async with AIOKafkaConsumer(
            topic,
            bootstrap_servers=servers,
            group_id=f"group-{topic}",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            max_poll_records=1,
            # The broker lets a new member wait for most of the session of one that has left.
            session_timeout_ms=3_000,
            heartbeat_interval_ms=300,
        ) as consumer:
            got: list[bytes] = []
            while len(got) < count:
                record = await consumer.getone()
                assert record.headers == (("ce_id", record.value),)
                got.append(record.value)
            await consumer.commit()
            return got

    first = await consume(40)
    second = await consume(60)
    assert sorted(first + second, key=int) == sent


# --- Redis ----------------------------------------------------------------------------------


async def test_redis_data_outlives_a_restart(tmp_path: Path) -> None:
    async with LocalServices(tmp_path, kafka=False, clickhouse=False) as services:
        url = services.addresses.redis_url
        assert url is not None
        async with Redis.from_url(url) as redis:
            await redis.set("key", "value", ex=600)
            await redis.hset("hash", mapping={"a": "1"})
    async with LocalServices(tmp_path, kafka=False, clickhouse=False) as services:
        assert services.addresses.redis_url == url, "the address is the same while its port is free"
        async with Redis.from_url(url) as redis:
            assert await redis.get("key") == b"value"
            assert await redis.hgetall("hash") == {b"a": b"1"}
            assert 0 < await redis.ttl("key") <= 600


# --- ClickHouse -----------------------------------------------------------------------------


def test_twenty_thousand_rows_come_back_as_they_were_sent(client: Client, table: str) -> None:
    sent = rows(20_000)
    assert client.insert(table, sent).written_rows == 20_000
    result = client.query(f"SELECT * FROM {table} ORDER BY id")
    # The client gives times in UTC without their zone, as it does with any server.
    assert result.result_rows == [(row[0], row[1].replace(tzinfo=None), *row[2:]) for row in sent]
    assert result.summary["result_rows"] == "20000"


def test_final_keeps_the_highest_rank_of_each_identifier(client: Client, table: str) -> None:
    for rank in (2, 3, 1):
        client.insert(table, rows(50, rank))
    assert client.command(f"SELECT count() FROM {table}") == 150
    final = client.query(f"SELECT count(), min(rank), max(rank) FROM {table} FINAL")
    assert final.result_rows == [(50, 3, 3)]


def test_repeated_insert_token_adds_nothing(client: Client, table: str) -> None:
    for token in ("a", "a", "b"):
        client.insert(table, rows(10), settings={"insert_deduplication_token": token})
    assert client.command(f"SELECT count() FROM {table}") == 20


def test_materialised_view_follows_an_insert(client: Client, table: str) -> None:
    client.command(
        f"CREATE MATERIALIZED VIEW {table}_mv ENGINE = SummingMergeTree ORDER BY model"
        f" AS SELECT model, count() AS n FROM {table} GROUP BY model"
    )
    client.insert(table, rows(9))
    sums = client.query(f"SELECT model, sum(n) FROM {table}_mv GROUP BY model ORDER BY model")
    assert sums.result_rows == [("model-0", 3), ("model-1", 3), ("model-2", 3)]
    client.command(f"DROP VIEW {table}_mv")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("String", "it's \\ \t\n{x} `ü` '; DROP TABLE t; --"),
        ("String", "y\n" * 30_000),  # too long for the URL: sent as a form
        ("Array(Int32)", [1, -2]),
        ("Array(String)", ["a'b", "\\"]),
        ("DateTime64(6)", datetime(2025, 1, 1, 2, 3, 4, 5)),
        ("UUID", uuid.UUID(int=7)),
        ("Nullable(String)", None),
        ("Float64", 0.25),
    ],
)
def test_parameter_arrives_as_it_was_given(client: Client, kind: str, value: Any) -> None:
    result = client.query(f"SELECT {{value:{kind}}}", parameters={"value": value})
    assert result.result_rows == [(value,)]


def test_a_parameter_over_the_bound_of_clickhouse_is_refused_in_a_form_too(client: Client) -> None:
    with pytest.raises(DatabaseError, match="Field value too long"):
        client.query("SELECT length({value:String})", parameters={"value": "y" * 132_000})


def test_parameters_reach_inserts_as_well(client: Client, table: str) -> None:
    client.command(
        "INSERT INTO {t:Identifier} (id, body) VALUES ({id:UUID}, {body:String})",
        parameters={"t": table, "id": uuid.UUID(int=1), "body": "it's;\n\nB"},
    )
    assert client.query(f"SELECT body FROM {table}").result_rows == [("it's;\n\nB",)]


@pytest.mark.parametrize(
    ("query", "code", "name"),
    [
        ("SELEC 1", 62, "SYNTAX_ERROR"),
        ("SELECT * FROM nowhere", 60, "UNKNOWN_TABLE"),
        ("SELECT missing", 47, "UNKNOWN_IDENTIFIER"),
        ("SELECT {x:Int32}", 456, "UNKNOWN_QUERY_PARAMETER"),
        ("SELECT throwIf(number = 3) FROM numbers(9)", 395, "FUNCTION_THROW_IF_VALUE_IS_NON_ZERO"),
        ("SELECT 1; SELECT 2", 62, "SYNTAX_ERROR"),
    ],
)
def test_error_has_the_code_that_clickhouse_gives(client: Client, query: str, code: int, name: str) -> None:
    with pytest.raises(DatabaseError) as refusal:
        client.query(query)
    assert (refusal.value.code, refusal.value.name) == (code, name)
    assert f"Code: {code}. DB::Exception" in str(refusal.value)


def test_refused_insert_adds_no_row(client: Client, table: str) -> None:
    damaged = b"\x01\x05\x02id\x04UUID" + b"short"
    with pytest.raises(DatabaseError) as refusal:
        client.raw_insert(table, ["id"], damaged, fmt="Native")
    assert refusal.value.code == 33
    assert client.command(f"SELECT count() FROM {table}") == 0


def test_setting_holds_for_its_own_request_alone(client: Client) -> None:
    asked = "SELECT getSetting('max_block_size')"
    usual = client.command(asked)
    assert client.command(asked, settings={"max_block_size": 123}) == 123
    assert client.command(asked) == usual
    with pytest.raises(DatabaseError, match="UNKNOWN_SETTING"):
        client.raw_query("SELECT 1", settings={"no_such_setting": 1})


def test_statement_that_needs_a_session_is_refused_and_not_ignored(client: Client) -> None:
    with pytest.raises(DatabaseError, match="no sessions"):
        client.command("SET max_threads = 1")


def test_database_of_a_client_holds_for_its_names(addresses: ServiceAddresses, client: Client) -> None:
    client.command("CREATE DATABASE other")
    inside = clickhouse(addresses, database="other")
    inside.command("CREATE TABLE here (a Int8) ENGINE = MergeTree ORDER BY a")
    inside.insert("here", [(1,)])
    assert client.command("SELECT count() FROM other.here") == 1
    assert client.query("DESCRIBE TABLE other.here").result_rows[0][:2] == ("a", "Int8")
    inside.close()
    client.command("DROP DATABASE other")
    with pytest.raises(DatabaseError, match="UNKNOWN_DATABASE"):
        clickhouse(addresses, database="other").command("SELECT 1")


@pytest.mark.parametrize("compression", ["lz4", "zstd", "gzip", False])
def test_every_compression_of_the_client_is_understood(
    addresses: ServiceAddresses, table: str, compression: str | bool
) -> None:
    packed = clickhouse(addresses, compress=compression)
    packed.insert(table, rows(3_000))
    assert packed.command(f"SELECT count() FROM {table}") == 3_000
    packed.close()


def test_client_learns_version_and_settings(client: Client) -> None:
    assert client.command("SELECT version()") == client.server_version
    assert client.server_settings["max_threads"].value == "1"
    assert client.ping()
    assert client.query("SELECT 1 AS a LIMIT 0").column_names == ("a",)


async def test_clients_at_the_same_time_get_their_own_answers(addresses: ServiceAddresses, table: str) -> None:
    def insert_and_ask(worker: int) -> tuple[int, int]:
        own = clickhouse(addresses)
        with contextlib.closing(own):
            for part in range(3):
                first = (worker * 3 + part) * 2_000
                batch = [(uuid.UUID(int=first + n), f"{worker}") for n in range(2_000)]
                own.insert(table, batch, column_names=["id", "body"])
            mine = own.command(f"SELECT count() FROM {table} WHERE body = {{w:String}}", {"w": f"{worker}"})
            return worker, int(str(mine))

    answers = await asyncio.gather(*(asyncio.to_thread(insert_and_ask, n) for n in range(6)))
    assert answers == [(n, 6_000) for n in range(6)]


async def test_async_client_and_a_slow_statement_that_blocks_nobody(addresses: ServiceAddresses, table: str) -> None:
    assert addresses.clickhouse_url is not None
    url = urlsplit(addresses.clickhouse_url)
    slow = await clickhouse_connect.get_async_client(
        host=url.hostname, port=url.port, username=url.username, password=url.password
    )
    quick = await clickhouse_connect.get_async_client(
        host=url.hostname, port=url.port, username=url.username, password=url.password
    )
    try:
        waiting = asyncio.create_task(slow.query("SELECT sleep(2)"))
        await quick.insert(table, rows(5_000))
        assert (await quick.query(f"SELECT count() FROM {table}")).result_rows == [(5_000,)]
        assert await quick.ping()
        assert not waiting.done(), "the quick client had to wait for the slow one"
        assert (await waiting).result_rows == [(0,)]
        with pytest.raises(DatabaseError, match="UNKNOWN_TABLE"):
            await quick.query("SELECT * FROM nowhere")
    finally:
        await slow.close()
        await quick.close()


async def test_web_pages_and_links_change_nothing(addresses: ServiceAddresses) -> None:
    url = addresses.clickhouse_url
    assert url is not None
    async with aiohttp.ClientSession() as http:
        for headers in ({"Origin": "https://example.org"}, {"Host": "example.org"}):
            async with http.post(url, data=b"SELECT 1", headers=headers) as answer:
                assert answer.status == 403
        query = {"query": "CREATE TABLE by_link (a Int8) ENGINE = Memory"}
        async with http.get(url, params=query) as answer:
            assert answer.headers["X-ClickHouse-Exception-Code"] == "164"
        async with http.get(url, params={"query": "SELECT 1", "default_format": "JSON"}) as answer:
            assert (await answer.json())["data"] == [{"1": 1}]
        async with http.get(f"{url}/ping") as answer:
            assert await answer.text() == "Ok.\n"


async def test_clickhouse_data_outlives_a_restart(tmp_path: Path) -> None:
    async with LocalServices(tmp_path, kafka=False, redis=False) as services:
        first = clickhouse(services.addresses)
        first.command("CREATE TABLE kept (a UInt64) ENGINE = MergeTree ORDER BY a")
        first.insert("kept", [(n,) for n in range(5_000)])
        first.close()
    async with LocalServices(tmp_path, kafka=False, redis=False) as services:
        second = clickhouse(services.addresses)
        assert second.command("SELECT count() FROM kept") == 5_000
        second.close()


async def test_directory_in_use_ends_a_second_engine_with_its_reason(tmp_path: Path) -> None:
    async with LocalServices(tmp_path, kafka=False, redis=False):
        second = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "workers.local.engine.clickhouse_server"),
            *("--path", str(tmp_path / "clickhouse"), "--port", "1"),
            *("--passwords", str(tmp_path / "passwords.json")),
            stderr=asyncio.subprocess.PIPE,
        )
        _, errors = await asyncio.wait_for(second.communicate(), PATIENCE_S)
        assert second.returncode == 1
        assert b"clickhouse_server: Code:" in errors
        assert b"Traceback" not in errors


# --- start, discovery, failure --------------------------------------------------------------


async def test_services_are_found_while_they_run_and_not_after(tmp_path: Path) -> None:
    services = LocalServices(tmp_path, clickhouse=False)
    assert read_addresses(tmp_path) is None
    started = await services.start()
    try:
        assert read_addresses(tmp_path) == started == services.addresses
        assert started.clickhouse_url is None, "it was not asked for"
        record = json.loads((tmp_path / "services.json").read_text())
        assert record["kafka_bootstrap_servers"] == started.kafka_bootstrap_servers
        assert record["pids"] == services.pids
        assert (tmp_path / "logs" / "kafka.log").stat().st_size > 0
    finally:
        await services.stop()
    assert read_addresses(tmp_path) is None
    assert not (tmp_path / "services.json").exists()
    assert all(identity_of(pid) is None for pid in services.pids.values())


async def test_second_start_is_refused_and_leaves_the_first_alone(tmp_path: Path) -> None:
    async with LocalServices(tmp_path, clickhouse=False) as first:
        with pytest.raises(LocalServiceError) as refusal:
            await LocalServices(tmp_path, clickhouse=False).start()
        assert str(tmp_path) in str(refusal.value)
        assert "another state directory" in str(refusal.value)
        assert read_addresses(tmp_path) == first.addresses


async def test_failed_start_leaves_nothing_running(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        services = LocalServices(tmp_path, clickhouse=False, ports=ServicePorts(redis=port))
        with pytest.raises(LocalServiceError, match=f"redis: port {port}"):
            await services.start()
    assert all(identity_of(pid) is None for pid in services.pids.values())
    assert read_addresses(tmp_path) is None
    async with LocalServices(tmp_path, clickhouse=False, ports=ServicePorts(redis=port)) as second:
        assert second.addresses.redis_url is not None
        assert urlsplit(second.addresses.redis_url).port == port


async def test_death_of_a_service_is_noticed_and_named(tmp_path: Path) -> None:
    async with LocalServices(tmp_path, clickhouse=False) as services:
        watch = asyncio.create_task(services.wait_for_failure())
        os.kill(services.pids["redis"], signal.SIGKILL)
        failure = await asyncio.wait_for(watch, PATIENCE_S)
        assert failure is not None
        assert failure.service == "redis"
        assert "-9" in failure.problem
        assert "Ready to accept connections" in failure.log_tail
        assert str(tmp_path / "logs" / "redis.log") in str(failure)
        assert read_addresses(tmp_path) is None


async def test_orderly_stop_is_no_failure(tmp_path: Path) -> None:
    services = LocalServices(tmp_path, clickhouse=False, kafka=False)
    await services.start()
    watch = asyncio.create_task(services.wait_for_failure())
    await services.stop()
    await services.stop()
    assert await asyncio.wait_for(watch, PATIENCE_S) is None


PARENT = """
import asyncio, sys
from pathlib import Path
from workers.local.services import LocalServices

async def main():
    async with LocalServices(Path(sys.argv[1]), kafka=False):
        print("ready", file=sys.stderr, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def start_parent(state_dir: Path) -> asyncio.subprocess.Process:
    """A process whose services are ready."""
    parent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PARENT, str(state_dir)),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    assert parent.stderr is not None
    assert await asyncio.wait_for(parent.stderr.readline(), PATIENCE_S) == b"ready\n"
    return parent


async def test_start_after_the_parent_was_killed_finds_ports_and_data_free(tmp_path: Path) -> None:
    parent = await start_parent(tmp_path)
    try:
        old = read_addresses(tmp_path)
        assert old is not None
        recorded = json.loads((tmp_path / "services.json").read_text())["processes"]
        orphans = [ProcessIdentity(**entry["identity"]) for entry in recorded.values()]
        assert len(orphans) == 2
        client = clickhouse(old)
        client.command("CREATE TABLE kept (a UInt64) ENGINE = MergeTree ORDER BY a")
        client.insert("kept", [(1,)])
        client.close()
    finally:
        parent.kill()
        await parent.wait()
    async with LocalServices(tmp_path, kafka=False) as services:
        assert not any(is_alive(orphan) for orphan in orphans)
        assert services.addresses == old
        client = clickhouse(services.addresses)
        assert client.command("SELECT count() FROM kept") == 1
        client.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ties children to their parent")
async def test_services_end_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    parent = await start_parent(tmp_path)
    try:
        pids = json.loads((tmp_path / "services.json").read_text())["pids"].values()
    finally:
        parent.kill()
        await parent.wait()
    for pid in pids:
        await until(lambda pid=pid: identity_of(pid) is None, f"the end of {pid}")  # type: ignore[misc]
    assert read_addresses(tmp_path) is None


# --- who may connect, and what a client may ask for -----------------------------------------


async def test_redis_listens_on_a_socket_of_its_owner_and_on_no_port(tmp_path: Path) -> None:
    async with LocalServices(tmp_path, kafka=False, clickhouse=False) as services:
        path = tmp_path / "valkey" / "valkey.sock"
        url = services.addresses.redis_url or ""
        assert url.startswith("unix://") and str(path) in url
        assert S_IMODE(path.stat().st_mode) == 0o700
        assert S_IMODE(path.parent.stat().st_mode) == 0o700
        async with Redis.from_url(url) as redis:
            assert await redis.config_get("port") == {"port": "0"}
        assert read_addresses(tmp_path) == services.addresses
        assert "redis" not in json.loads((tmp_path / "ports.json").read_text())


@pytest.mark.parametrize("folder", ["x" * 110, "a folder with spaces"])
async def test_a_folder_of_any_name_serves_redis(tmp_path: Path, folder: str) -> None:
    """A path that is too long for a socket gives a port."""
    async with LocalServices(tmp_path / folder, kafka=False, clickhouse=False) as services:
        url = services.addresses.redis_url or ""
        assert url.startswith("redis://127.0.0.1:" if len(folder) > 100 else "unix://") or "@127.0.0.1:" in url
        async with Redis.from_url(url) as redis:
            assert await redis.ping()


async def test_without_the_password_nothing_is_answered(addresses: ServiceAddresses) -> None:
    shown = addresses.without_passwords()
    assert shown.redis_url is not None and shown.clickhouse_url is not None
    async with Redis.from_url(shown.redis_url) as redis:
        # On a socket the client raises what it could not send before the password.
        with pytest.raises(
            (AuthenticationError, RedisConnectionError), match=r"already authenticated|NOAUTH|Authentication"
        ):
            await redis.ping()
    for options in ({}, {"username": "default", "password": ""}, {"password": "wrong"}):
        with pytest.raises(DatabaseError, match="AUTHENTICATION_FAILED"):
            clickhouse(addresses, **{"username": "touchstone", "password": ""} | options)
    async with aiohttp.ClientSession() as http, http.get(f"{shown.clickhouse_url}/ping") as answer:
        assert await answer.text() == "Ok.\n"


def holders_of(text: str, folder: Path) -> dict[str, int]:
    """The files that hold a text, with their modes."""
    files = [path for path in folder.rglob("*") if path.is_file() and text in path.read_text("latin-1")]
    return {str(path.relative_to(folder)): path.stat().st_mode & 0o777 for path in files}


def command_line(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()


async def test_passwords_are_read_by_their_owner_alone_and_outlive_a_restart(tmp_path: Path) -> None:
    async with LocalServices(tmp_path, kafka=False, clickhouse=False) as services:
        url = services.addresses.redis_url
        assert read_addresses(tmp_path) == services.addresses
        assert url is not None
        password = urlsplit(url).password
        assert password is not None and len(password) == 48
        assert holders_of(password, tmp_path) == {"passwords.json": 0o600, "valkey/valkey.conf": 0o600}
        assert password not in command_line(services.pids["redis"]), "every user sees the list of processes"
    async with LocalServices(tmp_path, kafka=False, clickhouse=False) as services:
        assert services.addresses.redis_url == url


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM file('{file}', 'LineAsString')",
        "SELECT file('{file}')",
        "SELECT * FROM `FILE`('{file}', 'LineAsString')",
        "SELECT * FROM /* a comment */ file /* another */ ('{file}', 'LineAsString')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM system.one AS a, '{file}' AS b",
        "SELECT * FROM system.one AS a JOIN system.one AS b ON a.dummy = b.dummy, '{file}'",
        "SELECT * FROM (SELECT 1, 'x'), /* one more */ '{file}'",
        "SELECT * FROM `{file}`",
        'SELECT * FROM default."{file}"',
        "DESCRIBE TABLE file('{file}')",
        "WITH read AS (SELECT * FROM file('{file}', 'LineAsString')) SELECT * FROM read",
        "SELECT ‘'’, file('{file}')",
        "INSERT INTO FUNCTION file('{file}', 'LineAsString', 'a String') SELECT 'changed'",
        "INSERT INTO TABLE FUNCTION file('{file}', 'LineAsString', 'a String') VALUES ('changed')",
        "INSERT INTO {table} (body) VALUES (file('{file}'))",
        "INSERT INTO {table} (body) FROM INFILE '{file}' FORMAT LineAsString",
        "SELECT 'changed' INTO OUTFILE '{file}' TRUNCATE",
        "CREATE TABLE of_file (a String) ENGINE = File(LineAsString, '{file}')",
        "CREATE TABLE of_file (a String) ENGINE File(LineAsString, '{file}')",
        "CREATE TABLE of_file AS file('{file}', 'LineAsString')",
        "CREATE DATABASE of_files ENGINE = Filesystem('/')",
        "CREATE DICTIONARY d (a String) PRIMARY KEY a SOURCE(FILE(path '{file}' format 'CSV')) LAYOUT(FLAT()) LIFETIME(0)",
        "CREATE TABLE d (a Int8) ENGINE = MergeTree ORDER BY a SETTINGS disk = disk(type = local, path = '{folder}/')",
        "BACKUP TABLE {table} TO File('{folder}/backup')",
        "BACKUP DATABASE default TO File('{folder}/backup')",
        "BACKUP DATABASE default TO File('../backup')",
        "BACKUP DATABASE default TO Disk('default', 'backup')",
        "BACKUP DATABASE default TO S3('http://127.0.0.1:9/a/b')",
        "BACKUP DATABASE default TO File('backup') SETTINGS base_backup = File('{file}')",
        "RESTORE DATABASE default AS other FROM File('{folder}/backup')",
        "SELECT * FROM url('http://127.0.0.1:9/', 'LineAsString', 'a String')",
        "SELECT * FROM s3('http://127.0.0.1:9/a/b', 'LineAsString')",
        "SELECT * FROM remote('127.0.0.1:9', system.one)",
        "SELECT * FROM executable('cat', 'LineAsString', 'a String')",
        "SELECT * FROM filesystem('{folder}')",
        "SELECT 1 FORMAT Template SETTINGS format_template_row = '{file}'",
    ],
)
def test_statements_that_reach_files_programs_or_other_hosts_are_refused(
    client: Client, table: str, statement: str, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("secret")
    with pytest.raises(DatabaseError, match="ACCESS_DENIED"):
        client.command(statement.format(file=secret, folder=tmp_path, table=table))
    assert secret.read_text() == "secret"
    assert [path.name for path in tmp_path.iterdir()] == ["secret.csv"]


def test_a_setting_cannot_name_a_file(client: Client, tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="ACCESS_DENIED"):
        client.command("SELECT 1", settings={"format_schema": str(tmp_path / "x")})


def test_names_that_are_refused_as_functions_can_be_columns_and_texts(client: Client) -> None:
    client.command("CREATE TABLE named (url String, file String, engine String) ENGINE = MergeTree ORDER BY url")
    client.command("INSERT INTO named (url, file, engine) VALUES ('http://x/y', 'file(''/etc/passwd'')', 'File')")
    sql = "SELECT url, file FROM named WHERE engine = 'File' AND url LIKE '%/%'"
    assert client.query(sql).result_rows == [("http://x/y", "file('/etc/passwd')")]
    sql = "SELECT concat(trim(BOTH '/' FROM url), 'x'), 'y' FROM named, (SELECT 1, 'z') AS other WHERE url IN ('a', 'http://x/y') ORDER BY 1, 'b'"
    assert client.query(sql).result_rows == [("http://x/yx", "y")]
    client.command("DROP TABLE named")
