"""Fixtures that many tests share: real services, a prefix of its own for each test."""

import fcntl
import gc
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import hypothesis
import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# Or litellm asks the network for prices when it is imported.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

from schemas.topics import TOPICS
from tests.harness.deployment import Deployment, session_seconds
from tests.harness.migrated import make_tables, return_tables
from tests.harness.paths import ROOT
from tests.harness.remembering_backend import RememberingBackend
from workers.inference.backends import SentenceTransformerBackend
from workers.inference.int8 import Int8Backend
from workers.local.services import LocalServices, ServiceAddresses
from workers.settings import DeliverySettings, KafkaSettings, Settings, load_settings
from workers.settings.addresses import Addresses, apply_local_defaults
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect

# How long an example takes is the machine's matter: benchmarks measure it.
hypothesis.settings.register_profile("touchstone", deadline=None)
hypothesis.settings.load_profile("touchstone")

Deployment.forks = True

BROKERS = ("light", "kafka")

UNIT = ROOT / "tests" / "unit"
LONGEST = {UNIT / "schemas" / "test_fuzz_decoders.py", UNIT / "pipeline" / "test_budget.py"}
"""Files of unit tests that take a minute or more and would come late by their names."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--broker", choices=BROKERS, default="light",
        help="broker of the tests: the light one, or Apache Kafka from KAFKA_HOME or ../shared/kafka",
    )  # fmt: skip


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests that are marked so on both brokers; the option then leaves only Kafka."""
    marked = metafunc.definition.get_closest_marker("both_brokers") is not None
    if marked and metafunc.config.getoption("--broker") == "light" and "KAFKA_BOOTSTRAP_SERVERS" not in os.environ:
        metafunc.parametrize("broker_kind", BROKERS, indirect=True, scope="session")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin the unit tests with the files that take longest, so that no process is alone with one at the end."""
    items.sort(key=lambda item: (UNIT in item.path.parents, item.path not in LONGEST))


def pytest_collection_finish() -> None:
    """Leave modules and collected tests out of garbage collections: to look through them again and again costs a run
    a seventh of its CPU."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


@pytest.fixture(autouse=True)
def fresh_settings() -> None:
    """Commands in the test's process read the settings of its own environment, not those of an earlier test."""
    load_settings.cache_clear()


@pytest.fixture(scope="session")
def broker_kind(request: pytest.FixtureRequest) -> str:
    """Return the kind of broker that the test runs on."""
    return str(getattr(request, "param", request.config.getoption("--broker")))


@pytest.fixture(scope="session")
def light_broker(request: pytest.FixtureRequest) -> bool:
    """Return whether the services include the light broker."""
    return request.config.getoption("--broker") == "light" and "KAFKA_BOOTSTRAP_SERVERS" not in os.environ


@pytest.fixture(scope="session")
def services(tmp_path_factory: pytest.TempPathFactory, light_broker: bool) -> Iterator[ServiceAddresses]:
    """Local servers, beside those that the environment names."""
    import asyncio

    services = LocalServices(
        tmp_path_factory.mktemp("services"),
        kafka=light_broker,
        redis="REDIS_URL" not in os.environ,
        clickhouse="CLICKHOUSE_URL" not in os.environ,
    )
    with asyncio.Runner() as runner:
        yield runner.run(services.start())
        runner.run(services.stop())


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of one node of Apache Kafka, warm for the whole run."""
    import asyncio

    from tests.harness.kafka_cluster import KafkaCluster, KafkaMissing

    with asyncio.Runner() as runner:
        try:
            cluster = runner.run(KafkaCluster.start(tmp_path_factory.mktemp("kafka")))
        except KafkaMissing as reason:
            pytest.skip(f"no Apache Kafka: {reason}")
        yield cluster.addresses
        runner.run(cluster.stop())


@pytest.fixture(scope="session")
def addresses(request: pytest.FixtureRequest, services: ServiceAddresses, broker_kind: str) -> Addresses:
    """Addresses of real servers: those of the environment, local ones for the rest."""
    light = services.kafka_bootstrap_servers if broker_kind == "light" else None
    return Addresses(
        light or os.environ.get("KAFKA_BOOTSTRAP_SERVERS") or request.getfixturevalue("kafka"),
        os.environ.get("REDIS_URL") or services.redis_url or "",
        os.environ.get("CLICKHOUSE_URL") or services.clickhouse_url or "",
        local=light is not None,
        light_broker=light is not None,
    )


@pytest.fixture(scope="session")
def kafka_addresses(services: ServiceAddresses, kafka: str) -> Addresses:
    """Addresses of real servers with Apache Kafka, whatever broker the run uses."""
    redis = os.environ.get("REDIS_URL") or services.redis_url or ""
    clickhouse = os.environ.get("CLICKHOUSE_URL") or services.clickhouse_url or ""
    return Addresses(kafka, redis, clickhouse, local=False, light_broker=False)


@pytest.fixture
def only_light(addresses: Addresses) -> None:
    """Skip a test of batches that only the light broker stores."""
    if not addresses.light_broker:
        pytest.skip("Apache Kafka refuses malformed batches when they are sent")


@pytest.fixture
def settings(addresses: Addresses, tmp_path: Path) -> Settings:
    """Settings with names of their own, so that tests never meet."""
    name = f"t{uuid4().hex[:10]}"
    settings = Settings(
        _env_file=None,
        kafka=KafkaSettings(
            topic_prefix=f"{name}.", group_prefix=name, session_timeout_seconds=session_seconds(addresses)
        ),
        delivery=DeliverySettings(
            commit_interval_seconds=0.2, retry_initial_seconds=0.02, retry_max_seconds=0.2, shutdown_grace_seconds=10
        ),
        state_dir=tmp_path / "state",
    )
    # Tests side by side make each other wait; that is no outage.
    settings.redis.timeout_seconds = 10.0
    settings.clickhouse.database = name
    settings.redis.key_prefix = f"{name}:"
    return apply_local_defaults(settings, addresses)


@pytest.fixture
async def topics(settings: Settings, addresses: Addresses) -> AsyncIterator[None]:
    """The registry's topics under the test's prefix."""
    from workers.delivery.topics.topic_administration import TopicAdministration

    async with TopicAdministration(settings, addresses.kafka) as administration:
        await administration.create()
        yield
        # The light broker tells every client of all topics; each partition costs Kafka memory maps, whose number is limited.
        await administration.delete(TOPICS)


@pytest.fixture(scope="session")
def backend() -> SentenceTransformerBackend:
    """The packaged embedding model, loaded once; one thread, so that tests side by side do not starve each other."""
    return RememberingBackend("all-MiniLM-L6-v2", threads=1)


@pytest.fixture(scope="session")
def models() -> Path:
    """Return the folder of the int8 models, which all runs share: a file's name tells all that it was exported from."""
    folder = ROOT / ".pytest_cache" / "models"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def int8(models: Path) -> Int8Backend:
    """The same model in int8, exported by the first process that needs it; two threads, since texts share them."""
    with (models / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return Int8Backend("all-MiniLM-L6-v2", models, threads=2)


@pytest.fixture(scope="session")
def int8_folder(int8: Int8Backend, models: Path) -> Path:
    """The folder of that model, for deployments of tests that are about what goes on around the model.

    A worker in int8, as the image runs it, loads no torch and starts with less than half of the CPU;
    tests/e2e/test_pipeline.py has workers in fp32.
    """
    return models


@pytest.fixture
def refreshed_figures() -> bool:
    """Return whether a test's database has the views that refresh the hourly figures: files that test these override it."""
    return False


@pytest.fixture
async def migrated_client(
    settings: Settings, addresses: Addresses, refreshed_figures: bool
) -> AsyncIterator[AsyncClient]:
    """A client with a database of every table, all of them empty."""
    opened = await connect(settings.clickhouse, addresses.clickhouse)
    await make_tables(opened, settings.clickhouse.database, refreshed=refreshed_figures)
    yield opened
    await return_tables(opened, settings.clickhouse.database)
    await opened.close()


@pytest.fixture
def analytics(migrated_client: AsyncClient, settings: Settings) -> AnalyticsStore:
    """A store over that database."""
    return AnalyticsStore(migrated_client, settings.clickhouse.database)
