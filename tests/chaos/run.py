"""One scenario's run: a deployment, its proxies and what it has sent."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from clickhouse_connect.driver.asyncclient import AsyncClient

from tests.chaos.proxy import TcpProxy
from tests.harness.answers import identifier, records
from tests.harness.deployment import Deployment, WorkerProcess, until

FAULTS_PATH = Path(__file__).parent / "faults"


@dataclass(slots=True)
class Run:
    """What a scenario works with.

    Attributes:
        deployment: topics, groups and tables of its own.
        answers: how many answers to send.
        sent: identifiers of readable answers.
        poison: unreadable records sent.
        faults: faults injected.
        patience: longest wait for the pipeline, in seconds.
    """

    deployment: Deployment
    answers: int
    client: AsyncClient
    sent: set[str] = field(default_factory=set)
    poison: int = 0
    faults: int = 0
    peak_bytes: int = 0
    recovered_seconds: float = 0.0
    expected_degraded: bool = False
    proxy: TcpProxy | None = None

    @property
    def patience(self) -> float:
        return 120.0 + self.answers / 20

    async def worker(self, agents: list[str] | None = None, **environment: str) -> WorkerProcess:
        return await self.deployment.start_worker(agents, environment=environment)

    async def send(self, count: int | None = None, prefix: str = "a", start: int = 0) -> None:
        """Send answers; counted as sent once the broker has confirmed them."""
        count = self.answers if count is None else count
        await self.deployment.send(records(count, prefix, start))
        self.sent |= {identifier(number, prefix) for number in range(start, start + count)}

    async def send_poison(self, values: Iterable[bytes]) -> None:
        """Send records that nobody can read."""
        self.poison += await self.deployment.send((None, value) for value in values)
        self.faults = self.poison

    async def stored(self) -> int:
        row = await self.deployment.query(self.client, "SELECT uniqExact(answer_id) FROM {db}.answers")
        return int(row[0])

    async def settled(self) -> int:
        """Answers stored, and records that assembly has dead-lettered, as ClickHouse knows them."""
        row = await self.deployment.query(
            self.client,
            "SELECT (SELECT uniqExact(answer_id) FROM {db}.answers),"
            " (SELECT count() FROM {db}.dead_letters FINAL WHERE agent = 'assembly')",
        )
        return int(row[0]) + int(row[1])

    async def until_stored(self, count: int) -> float:
        async def enough() -> bool:
            return await self.stored() >= count

        return await until(enough, f"{count} answers stored", self.patience)

    async def until_settled(self) -> None:
        """Until everything sent is stored or dead-lettered; the time counts as recovery."""

        async def everything() -> bool:
            self.observe()
            return await self.settled() >= len(self.sent) + self.poison

        self.recovered_seconds = await until(
            everything, f"{len(self.sent) + self.poison} records settled", self.patience
        )

    def observe(self) -> None:
        """Keep the highest memory of any worker."""
        self.peak_bytes = max([self.peak_bytes, *(worker.peak_bytes() for worker in self.deployment.workers)])

    async def proxy_clickhouse(self) -> TcpProxy:
        """Put a proxy between workers and ClickHouse; the oracle looks past it."""
        target = urlsplit(self.deployment.addresses.clickhouse).port
        assert target is not None
        self.proxy = TcpProxy(target)
        await self.proxy.start()
        self.deployment.environment["CLICKHOUSE_URL"] = f"http://127.0.0.1:{self.proxy.port}"
        return self.proxy

    async def close(self) -> None:
        self.observe()
        await self.deployment.stop()
        if self.proxy is not None:
            await self.proxy.stop()
        await self.client.close()

    @staticmethod
    def faulty(fault: str, switch: Path | None = None) -> dict[str, str]:
        """Environment of a worker with a fault inside."""
        root = FAULTS_PATH.parent.parent.parent
        environment = {"CHAOS_FAULT": fault, "PYTHONPATH": f"{FAULTS_PATH}:{root}"}
        return environment | ({"CHAOS_SWITCH": str(switch)} if switch else {})


async def soon(*coroutines: Any) -> None:
    """Run several at once."""
    await asyncio.gather(*coroutines)
