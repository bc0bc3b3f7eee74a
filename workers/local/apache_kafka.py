"""Start Apache Kafka as the local broker: one KRaft node from the jars of an installation.

Touchstone contains no part of Kafka. ``KAFKA_HOME`` names an unpacked release, whose jars are in ``libs``, or a folder
of jars. Java 17 is found in ``JAVA_HOME`` or on the path. Unlike the light broker, Kafka keeps its log on disk.
"""

from __future__ import annotations

import base64
import os
import shlex
import shutil
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workers.local.broker import NAME, answers_as
from workers.local.child import ServiceSpec
from workers.local.errors import LocalServiceError
from workers.local.ports import LOOPBACK, free_port

HOME_VARIABLE = "KAFKA_HOME"
HEAP = "512m"
START_SECONDS = 120.0
STOP_SECONDS = 30.0
LOG_CONFIGURATION = """\
appender.c.type=Console
appender.c.name=C
appender.c.layout.type=PatternLayout
appender.c.layout.pattern=%d %p %m (%c)%n
rootLogger.level=INFO
rootLogger.appenderRef.c.ref=C
"""


@dataclass(frozen=True, slots=True)
class Installation:
    """Name the programs of an installation.

    Attributes:
        java: path of the Java program.
        jars: folder of the jars.
    """

    java: str
    jars: Path


@dataclass(frozen=True, slots=True)
class Node:
    """Describe one node of a cluster, which is broker and controller.

    Attributes:
        directory: folder of its configuration and its data.
        port: port for clients.
        controllers: port of the controller by node number, for all nodes of the cluster.
        cluster: identifier of the cluster, as Kafka writes it: 16 bytes in base64.
        number: number of this node.
        advertised: port that the broker tells to clients; ``port`` if absent.
        properties: further properties of the server; they replace the defaults.
        listeners: ports of further listeners by name.
    """

    directory: Path
    port: int
    controllers: Mapping[int, int]
    cluster: str
    number: int = 1
    advertised: int | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    listeners: Mapping[str, int] = field(default_factory=dict)

    @property
    def configuration(self) -> Path:
        """Return the path of the properties file."""
        return self.directory / "server.properties"

    @property
    def is_formatted(self) -> bool:
        """Return true if the folder of the data belongs to a cluster already."""
        return (self.directory / "data" / "meta.properties").exists()

    def write(self) -> None:
        """Write the configuration files."""
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        lines = [f"{name}={value}" for name, value in self._all_properties().items()]
        self.configuration.write_text("\n".join(lines) + "\n", encoding="utf-8")
        (self.directory / "log4j2.properties").write_text(LOG_CONFIGURATION, encoding="utf-8")

    def format_command(self, installation: Installation, arguments: Sequence[str] = ()) -> list[str]:
        """Return the command that prepares the folder of the data."""
        tool = ["kafka.tools.StorageTool", "format", "-t", self.cluster, "-c", str(self.configuration), *arguments]
        return [*self._java(installation), *tool]

    def run_command(self, installation: Installation, options: Sequence[str] = ()) -> list[str]:
        """Return the command that runs the node.

        Args:
            installation: names the programs.
            options: further options of Java.
        """
        return [*self._java(installation, f"-Xmx{HEAP}", *options), "kafka.Kafka", str(self.configuration)]

    def _java(self, installation: Installation, *options: str) -> list[str]:
        # The quick compiler only and one thread for collection: a node starts in two thirds of the time.
        fixed = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
        logs = f"-Dlog4j2.configurationFile={self.directory / 'log4j2.properties'}"
        return [installation.java, *fixed, *options, logs, "-cp", f"{installation.jars}/*"]

    def _all_properties(self) -> dict[str, str]:
        further = "".join(f",{name}://{LOOPBACK}:{port}" for name, port in self.listeners.items())
        replicas = str(min(3, len(self.controllers)))
        in_sync = str(min(2, len(self.controllers)))
        return {
            "process.roles": "broker,controller",
            "node.id": str(self.number),
            "controller.quorum.voters": ",".join(f"{n}@{LOOPBACK}:{port}" for n, port in self.controllers.items()),
            "listeners": f"PLAINTEXT://{LOOPBACK}:{self.port},CONTROLLER://{LOOPBACK}:{self.controllers[self.number]}{further}",
            "advertised.listeners": f"PLAINTEXT://{LOOPBACK}:{self.advertised or self.port}{further}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": str(self.directory / "data"),
            # A topic exists because somebody created it, with the number of partitions that it needs.
            "auto.create.topics.enable": "false",
            "min.insync.replicas": in_sync,
            "offsets.topic.num.partitions": "8",
            "offsets.topic.replication.factor": replicas,
            "transaction.state.log.replication.factor": replicas,
            "transaction.state.log.min.isr": in_sync,
            "share.coordinator.state.topic.replication.factor": replicas,
            "share.coordinator.state.topic.min.isr": in_sync,
            # Otherwise the first member of each group waits for others.
            "group.initial.rebalance.delay.ms": "0",
            **self.properties,
        }


def find_installation(home: str | None = None) -> Installation:
    """Return the programs of Kafka.

    Args:
        home: folder of the installation; by default the environment names it.

    Raises:
        LocalServiceError: Java or the jars are missing.
    """
    java_home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{java_home}/bin" if java_home else None)
    if java is None:
        raise LocalServiceError(
            NAME, "Apache Kafka needs Java 17, which is not installed.", "Install it, or set JAVA_HOME."
        )
    home = home or os.environ.get(HOME_VARIABLE)
    remedy = f"Set {HOME_VARIABLE} to an unpacked release of Apache Kafka, or use the light broker."
    if not home:
        raise LocalServiceError(NAME, f"{HOME_VARIABLE} is not set.", remedy)
    folder = Path(home).absolute()
    jars = folder / "libs" if (folder / "libs").is_dir() else folder
    if not any(jars.glob("kafka_2*.jar")):
        raise LocalServiceError(NAME, f"no jars of Apache Kafka are in {jars}.", remedy)
    return Installation(java, jars)


def new_cluster_id() -> str:
    """Return an identifier for a new cluster. It begins with a letter: Kafka's tools would read a dash as an option."""
    first, *rest = uuid.uuid4().bytes
    return base64.urlsafe_b64encode(bytes([first & 0x7F, *rest])).decode().rstrip("=")


def apache_kafka_service(directory: Path) -> ServiceSpec:
    """Return the start specification of one node with its log in `directory`.

    Raises:
        LocalServiceError: Java or the jars are missing.
    """
    installation = find_installation()
    cluster_file = directory / "cluster-id"
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not cluster_file.exists():
        cluster_file.write_text(new_cluster_id(), encoding="utf-8")
    cluster = cluster_file.read_text(encoding="utf-8")

    def command(port: int) -> list[str]:
        node = Node(directory, port, {1: free_port()}, cluster)
        node.write()
        run = f"exec {shlex.join(node.run_command(installation))}"
        if node.is_formatted:
            return ["/bin/sh", "-c", run]
        return ["/bin/sh", "-c", f"{shlex.join(node.format_command(installation))} && {run}"]

    async def ready(port: int, pid: int) -> bool:
        del pid  # the identifier of the cluster identifies the process
        return await answers_as(port, cluster)

    return ServiceSpec(NAME, command, ready, start_timeout_s=START_SECONDS, stop_grace_s=STOP_SECONDS)
