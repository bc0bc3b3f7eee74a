"""Fixtures that many tests share: real services, a prefix of its own for each test."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import hypothesis
import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# Or litellm asks the network for prices when it is imported.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

from workers.addresses import Addresses, adapted
from workers.inference.backends import SentenceTransformerBackend
from workers.inference.int8 import Int8Backend
from workers.local.services import LocalServices
from workers.settings import DeliverySettings, KafkaSettings, Settings
from workers.stores.analytics import AnalyticsStore, connect
from workers.stores.migrations import migrate

# How long an example takes is the machine's matter: benchmarks measure it.
hypothesis.settings.register_profile("touchstone", deadline=None)
hypothesis.settings.load_profile("touchstone")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    """Addresses of real servers: those of the environment, local ones for the rest."""
    import asyncio

    kafka = os.environ.get("KAFKA_BOOTSTRAP_SERVERS")
    redis = os.environ.get("REDIS_URL")
    clickhouse = os.environ.get("CLICKHOUSE_URL")
    services = LocalServices(
        tmp_path_factory.mktemp("services"), kafka=not kafka, redis=not redis, clickhouse=not clickhouse
    )
    with asyncio.Runner() as runner:
        found = runner.run(services.start())
        try:
            yield Addresses(
                kafka or found.kafka_bootstrap_servers or "",
                redis or found.redis_url or "",
                clickhouse or found.clickhouse_url or "",
                local=not kafka,
            )
        finally:
            runner.run(services.stop())


@pytest.fixture
def settings(addresses: Addresses, tmp_path: Path) -> Settings:
    """Settings with names of their own, so that tests never meet."""
    name = f"t{uuid4().hex[:10]}"
    settings = Settings(
        _env_file=None,
        kafka=KafkaSettings(topic_prefix=f"{name}.", group_prefix=name, session_timeout_seconds=6.0),
        delivery=DeliverySettings(
            commit_interval_seconds=0.2, retry_initial_seconds=0.02, retry_max_seconds=0.2, shutdown_grace_seconds=10
        ),
        state_dir=tmp_path / "state",
    )
    # Tests side by side make each other wait; that is no outage.
    settings.redis.timeout_seconds = 10.0
    settings.clickhouse.database = name
    settings.redis.key_prefix = f"{name}:"
    return adapted(settings, addresses)


@pytest.fixture
async def topics(settings: Settings, addresses: Addresses) -> AsyncIterator[None]:
    """The registry's topics under the test's prefix."""
    from workers.topics import TopicAdministration

    async with TopicAdministration(settings, addresses.kafka) as administration:
        await administration.create()
    yield


@pytest.fixture(scope="session")
def backend() -> SentenceTransformerBackend:
    """The packaged embedding model, loaded once; one thread, so that tests side by side do not starve each other."""
    return SentenceTransformerBackend("all-MiniLM-L6-v2", threads=1)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where models in int8 are kept."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def int8(models: Path) -> Int8Backend:
    """The same model in int8, exported once; two threads, since texts share them."""
    return Int8Backend("all-MiniLM-L6-v2", models, threads=2)


@pytest.fixture(scope="session")
def int8_folder(int8: Int8Backend, models: Path) -> Path:
    """The folder of that model, for deployments of tests that are about what goes on around the model.

    A worker in int8, as the image runs it, loads no torch and starts with less than half of the CPU;
    tests/e2e/test_pipeline.py has workers in fp32.
    """
    return models


@pytest.fixture
async def analytics(settings: Settings, addresses: Addresses) -> AsyncIterator[AnalyticsStore]:
    """A store over a fresh database with every table, which is dropped afterwards."""
    opened = await connect(settings.clickhouse, addresses.clickhouse)
    await migrate(opened, settings.clickhouse.database)
    yield AnalyticsStore(opened, settings.clickhouse.database)
    await opened.command(f"DROP DATABASE IF EXISTS {settings.clickhouse.database}")
    await opened.close()
