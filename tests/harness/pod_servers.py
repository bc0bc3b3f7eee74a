"""Servers beside pods, on a network of Podman, under the names and ports of an overlay."""

import json
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import yaml

from tests.harness.containers import podman, run, wait_until
from tests.harness.network_policies import Endpoint
from tests.harness.paths import ROOT
from workers.local.ports import LOOPBACK, free_port

NAMESPACE = "touchstone"
NETWORK = "touchstone-pods"
PARTITIONS = 4
_JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_touchstone="{}";'


@dataclass(frozen=True, slots=True)
class PodServers:
    """Running servers.

    Attributes:
        passwords: passwords by the key that the secrets have for them.
        kafka: address on this machine, for which no login is needed.
        node: address of this machine on the network, from which a kubelet would send probes.
        endpoints: servers, and clients that ask the pods.
    """

    passwords: dict[str, str]
    kafka: str
    node: str
    endpoints: tuple[Endpoint, ...]

    def address(self, name: str) -> str:
        """Return the address of an endpoint."""
        return next(each.address for each in self.endpoints if each.name == name)

    @property
    def settings(self) -> list[str]:
        """Settings of an overlay for these servers."""
        return [
            "KAFKA_BOOTSTRAP_SERVERS=kafka-1.kafka:9093", "CLICKHOUSE_URL=http://clickhouse.clickhouse:8443",
            "TOUCHSTONE_KAFKA__SECURITY_PROTOCOL=SASL_PLAINTEXT", "TOUCHSTONE_KAFKA__SASL_MECHANISM=PLAIN",
            f"TOUCHSTONE_KAFKA__PARTITIONS={PARTITIONS}", "TOUCHSTONE_KAFKA__REPLICATION=1",
            "TOUCHSTONE_KAFKA__TOPIC_PREFIX=touchstone.", "TOUCHSTONE_MEMORY__URI=/var/lib/touchstone/memory",
            # Only then do the pods that compute vectors use Valkey.
            "TOUCHSTONE_INFERENCE__SHARED_CACHE_SECONDS=3600",
        ]  # fmt: skip


@contextmanager
def pod_servers() -> Iterator[PodServers]:
    """Start Kafka, Valkey and ClickHouse, and clients that stand for Prometheus, an ingress and a stranger."""
    remove()
    keys = ("kafka-sasl-password", "clickhouse-password", "clickhouse-migrate-password", "valkey", "mask-key")
    passwords = {name: secrets.token_hex(16) for name in keys}
    passwords["redis-url"] = f"redis://:{passwords['valkey']}@valkey:6379/0"
    try:
        podman("network", "create", NETWORK)
        (network,) = json.loads(podman("network", "inspect", NETWORK))
        node = network["subnets"][0]["gateway"]
        port = free_port()
        endpoints = (
            # Podman answers questions for names at the address of this machine.
            Endpoint("names", node, "kube-system", {"k8s-app": "kube-dns"}),
            Endpoint("kafka", _kafka(passwords, port), "kafka"),
            Endpoint("clickhouse", _clickhouse(passwords), "clickhouse"),
            Endpoint("valkey", _valkey(passwords), NAMESPACE, {"app.kubernetes.io/name": "valkey"}),
            *(Endpoint(name, _client(name), name) for name in ("monitoring", "ingress-nginx", "stranger")),
        )
        for name, number in (("kafka", 9093), ("clickhouse", 8443), ("valkey", 6379)):
            address = next(each.address for each in endpoints if each.name == name)
            wait_until(lambda address=address, number=number: _accepts(address, number), f"{name} accepts connections")
        yield PodServers(passwords, f"{LOOPBACK}:{port}", node, endpoints)
    finally:
        remove()


def remove() -> None:
    """Remove pods, containers and the network, also those of a run that was killed."""
    for kind in (["pod"], []):
        found = podman(*kind, "ps", "--quiet", *([] if kind else ["--all"]), "--filter", f"network={NETWORK}").split()
        if found:
            podman(*kind, "rm", "--force", "--time", "0", *found)
    podman("network", "rm", "--force", NETWORK)


def _accepts(address: str, port: int) -> bool:
    with socket.socket() as connection:
        connection.settimeout(1)
        return connection.connect_ex((address, port)) == 0


def _service(name: str) -> dict[str, Any]:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    found: dict[str, Any] = services[name]
    return found


def _serve(name: str, alias: str, environment: dict[str, str], *options: str, command: tuple[str, ...] = ()) -> str:
    variables = [part for key, value in environment.items() for part in ("--env", f"{key}={value}")]
    podman(
        "run", "--detach", "--name", f"{NETWORK}-{name}", "--network", f"{NETWORK}:alias={alias}", *variables, *options,
        f"docker.io/{_service(name)['image']}", *command,
    )  # fmt: skip
    return _address(name)


def _address(name: str) -> str:
    (state,) = json.loads(podman("inspect", f"{NETWORK}-{name}"))
    return str(state["NetworkSettings"]["Networks"][NETWORK]["IPAddress"])


def _kafka(passwords: dict[str, str], port: int) -> str:
    """Start Kafka with a login on port 9093, and without one on this machine."""
    listeners = {"CLIENTS": ("kafka-1.kafka", 9093), "OUTSIDE": (LOOPBACK, port)}
    changes = {
        "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@localhost:9094",
        "KAFKA_LISTENERS": ",".join(f"{name}://:{number}" for name, (_, number) in listeners.items())
        + ",CONTROLLER://:9094",
        "KAFKA_ADVERTISED_LISTENERS": ",".join(f"{name}://{host}:{n}" for name, (host, n) in listeners.items()),
        "KAFKA_INTER_BROKER_LISTENER_NAME": "OUTSIDE",
        "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "CLIENTS:SASL_PLAINTEXT,OUTSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "KAFKA_SASL_ENABLED_MECHANISMS": "PLAIN",
        "KAFKA_LISTENER_NAME_CLIENTS_PLAIN_SASL_JAAS_CONFIG": _JAAS.format(passwords["kafka-sasl-password"]),
    }
    environment = _service("kafka")["environment"] | changes
    return _serve("kafka", "kafka-1.kafka", environment, "--publish", f"{LOOPBACK}:{port}:{port}")


def _clickhouse(passwords: dict[str, str]) -> str:
    migrator = {"touchstone_migrate": passwords["clickhouse-migrate-password"]}
    environment = {
        "CLICKHOUSE_USER": "touchstone", "CLICKHOUSE_PASSWORD": passwords["clickhouse-password"],
        "CLICKHOUSE_FURTHER_USERS": json.dumps(migrator), "CLICKHOUSE_PORT": "8443",
    }  # fmt: skip
    return _serve("clickhouse", "clickhouse.clickhouse", environment)


def _valkey(passwords: dict[str, str]) -> str:
    command = tuple(part.replace("$$", "$") for part in _service("valkey")["command"])
    return _serve("valkey", "valkey", {"REDISCLI_AUTH": passwords["valkey"]}, command=command)


def _client(name: str) -> str:
    """Start a container that only waits, from which pods can be asked."""
    podman(
        "run", "--detach", "--init", "--name", f"{NETWORK}-{name}", "--network", NETWORK,
        "--entrypoint", "/bin/sleep", "docker.io/library/python:3.11.15-slim-bookworm", "infinity",
    )  # fmt: skip
    return _address(name)


def can_reach(client: str, url: str) -> bool:
    """Tell whether a client gets an answer from a pod."""
    code = f"import urllib.request; urllib.request.urlopen('{url}', timeout=5)"
    return run("podman", "exec", f"{NETWORK}-{client}", "/usr/local/bin/python", "-c", code).returncode == 0
