"""Apache Kafka for tests: nodes that can be killed, stopped, frozen and started again."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.harness.deployment import until
from tests.harness.paths import ROOT
from workers.local.apache_kafka import HOME_VARIABLE, Installation, Node, find_installation, new_cluster_id
from workers.local.child import die_with
from workers.local.errors import LocalServiceError
from workers.local.ports import LOOPBACK, free_port

STARTED = b"Kafka Server started"
SHARED = ROOT.parent / "shared" / "kafka"
"""Folder of the jars by version, beside the checkout."""

ARCHIVES = ROOT / ".pytest_cache" / "kafka"
"""Folder of the archives of classes, which later runs use again."""

VERSIONS = ("4.3.1", "3.9.1")


class KafkaMissing(Exception):
    """Java or the jars are missing; the text says which."""


def installation(version: str | None = None) -> Installation:
    """Find Kafka: in the folder that the environment names, else beside the checkout.

    Args:
        version: a version that must be beside the checkout; by default the newest.

    Raises:
        KafkaMissing: there is none.
    """
    home = None if version else os.environ.get(HOME_VARIABLE)
    try:
        return find_installation(home or str(SHARED / (version or VERSIONS[0])))
    except LocalServiceError as error:
        raise KafkaMissing(f"{error.problem} {error.remedy}") from error


@dataclass(slots=True)
class KafkaNode:
    """One process of Kafka. Its log and its data outlive it, so that it can be started again."""

    node: Node
    installation: Installation
    archive: Path
    process: asyncio.subprocess.Process | None = None

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.node.advertised or self.node.port}"

    @property
    def log(self) -> Path:
        return self.node.directory / "log"

    async def format(self, arguments: Sequence[str] = ()) -> None:
        """Prepare the folder of the data, once."""
        self.node.write()
        process = await asyncio.create_subprocess_exec(
            *self.node.format_command(self.installation, arguments),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        output, _ = await process.communicate()
        assert process.returncode == 0, output.decode()

    async def spawn(self) -> None:
        """Start the process; see :meth:`wait_started`."""
        self.node.write()
        with self.log.open("wb") as output:
            self.process = await asyncio.create_subprocess_exec(
                *self.node.run_command(self.installation, self._archive_options()),
                stdout=output, stderr=asyncio.subprocess.STDOUT, preexec_fn=die_with(os.getpid()),
            )  # fmt: skip

    async def wait_started(self) -> None:
        async def started() -> bool:
            content = self.log.read_bytes()
            process = self.process
            assert process is not None and process.returncode is None, content.decode(errors="replace")[-4_000:]
            return STARTED in content

        await until(started, f"node {self.node.number} of Kafka started")

    async def start(self) -> None:
        await self.spawn()
        await self.wait_started()

    async def kill(self) -> None:
        """SIGKILL: an unclean end."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        """SIGTERM: a clean end."""
        await self._end(signal.SIGTERM)
        if self._draft.exists():
            self._draft.replace(self.archive)

    def upgrade(self, version: str) -> None:
        """Run another version from the next start on, with the same data.

        Raises:
            KafkaMissing: that version is not there.
        """
        self.installation = installation(version)
        self.archive = self.archive.with_name(f"kafka-{version}.jsa")

    def pause(self) -> None:
        """Freeze the process; its connections stay."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    async def _end(self, number: signal.Signals) -> None:
        if self.process is not None and self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(number)
                self.process.send_signal(signal.SIGCONT)
            await self.process.wait()

    @property
    def _draft(self) -> Path:
        return self.archive.with_name(f"{self.archive.name}.{os.getpid()}")

    def _archive_options(self) -> list[str]:
        """Read the classes from an archive: half of the start. The first node that stops cleanly writes it."""
        if self.archive.exists():
            return [f"-XX:SharedArchiveFile={self.archive}"]
        return [f"-XX:ArchiveClassesAtExit={self._draft}"] if self.node.number == 1 else []


@dataclass(slots=True)
class KafkaCluster:
    """Nodes of one cluster."""

    nodes: list[KafkaNode] = field(default_factory=list)

    @property
    def addresses(self) -> str:
        return ",".join(node.address for node in self.nodes)

    @classmethod
    async def start(
        cls,
        directory: Path,
        size: int = 1,
        *,
        advertised: int | None = None,
        port: int | None = None,
        properties: Mapping[str, str] | None = None,
        format_arguments: Sequence[str] = (),
        version: str | None = None,
        listeners: Mapping[str, int] | None = None,
    ) -> "KafkaCluster":
        """Format and start nodes; return once all have started.

        Args:
            directory: for configuration, data and logs.
            size: number of nodes.
            advertised: port that clients are told, for one node behind a proxy.
            port: port of the first node; a free one by default.
            properties: further properties of the servers; ``{number}`` stands for the number of the node.
            format_arguments: further arguments of the tool that formats.
            version: of Kafka, beside the checkout.
            listeners: ports of further listeners by name, for one node.
        """
        found = installation(version)
        ARCHIVES.mkdir(parents=True, exist_ok=True)
        archive = ARCHIVES / f"{found.jars.parent.name}-{found.jars.name}.jsa"
        controllers = {number: free_port() for number in range(1, size + 1)}
        identifier = new_cluster_id()
        cluster = cls(
            [
                KafkaNode(
                    Node(
                        directory / f"node-{number}",
                        (port if number == 1 else None) or free_port(),
                        controllers,
                        identifier,
                        number,
                        advertised,
                        {name: value.format(number=number) for name, value in (properties or {}).items()},
                        dict(listeners or {}),
                    ),
                    found,
                    archive,
                )
                for number in controllers
            ]
        )
        try:
            for node in cluster.nodes:
                await node.format(format_arguments)
                await node.spawn()
            for node in cluster.nodes:
                await node.wait_started()
        except BaseException:
            await cluster.kill()
            raise
        return cluster

    async def kill(self) -> None:
        await asyncio.gather(*(node.kill() for node in self.nodes))

    async def stop(self) -> None:
        """Stop cleanly where that is still possible, which writes the archive of classes."""
        first = self.nodes[0]
        if len(self.nodes) == 1 and not first.archive.exists():
            await first.stop()
        await self.kill()
