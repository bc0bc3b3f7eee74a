"""Pods of the Kubernetes manifests, started by Podman on a network with their policies, and updated while answers come."""

import asyncio
import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.chaos.oracle import judge
from tests.deploy.test_image import IMAGE
from tests.deploy.test_kubernetes_api import BASE, NEXT, overlay
from tests.harness.answers import identifier, records
from tests.harness.containers import PodmanMissing, build, podman
from tests.harness.deployment import Deployment, until
from tests.harness.kubernetes_api import KubernetesMissing, programs
from tests.harness.pod_servers import NAMESPACE, PARTITIONS, PodServers, can_reach, pod_servers
from tests.harness.pods import Manifests, Pod, documented_secrets, pods_of
from workers.runtime.agent_choice import AGENTS
from workers.settings.addresses import Addresses

pytestmark = [pytest.mark.containers, pytest.mark.timeout(3_600)]

REPLICAS = 2
BATCH = 40


@dataclass(slots=True)
class Running:
    """All deployments, running.

    Attributes:
        pods: the pods by name.
        secrets: values by the name of the secret.
        servers: what the pods use.
        folder: for overlays and volumes.
    """

    pods: dict[str, Pod]
    secrets: dict[str, dict[str, bytes]]
    servers: PodServers
    folder: Path

    def render(self, version: str) -> Manifests:
        """Render an overlay of the base for these servers and a version of the image."""
        settings = {"name": "touchstone-settings", "behavior": "merge", "literals": self.servers.settings}
        images = [{"name": "touchstone-worker", "newName": IMAGE.rpartition(":")[0], "newTag": version}]
        folder = overlay(
            self.folder / f"overlay-{version}", BASE, NAMESPACE, images=images, configMapGenerator=[settings]
        )
        return Manifests.render(folder)

    def start(self, version: str) -> None:
        """Start each pod in turn, and wait for its probes; a pod of the same name ends before."""
        manifests = self.render(version)
        for pod in pods_of(manifests, self.folder / version, REPLICAS):
            self.replace(pod, manifests)

    def replace(self, pod: Pod, manifests: Manifests) -> None:
        """End the pod of this name, and start this one until its probes succeed."""
        if pod.name in self.pods:
            assert self.pods.pop(pod.name).stop() == 0
        self.pods[pod.name] = pod
        pod.start(manifests, self.secrets, self.servers)
        pod.wait_ready()

    def deployment(self, folder: Path) -> Deployment:
        """Return the deployment as a client on this machine sees it."""
        servers = self.servers
        clickhouse = (
            f"http://touchstone:{servers.passwords['clickhouse-password']}@{servers.address('clickhouse')}:8443"
        )
        addresses = Addresses(
            servers.kafka, servers.passwords["redis-url"], clickhouse, local=False, light_broker=False
        )
        return Deployment(addresses, folder, name="touchstone", partitions=PARTITIONS)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    try:
        programs()
        build("base", "worker", "servers")
    except (PodmanMissing, KubernetesMissing) as reason:
        pytest.skip(f"no pods: {reason}")
    folder = tmp_path_factory.mktemp("pods")
    token = {"name": "tests", "token": secrets.token_hex(16), "scopes": ["read"]}
    (folder / "console-tokens.json").write_text(json.dumps([token]))
    with pod_servers() as servers:
        found = Running({}, documented_secrets(folder, servers.passwords), servers, folder)
        found.start(IMAGE.rpartition(":")[2])
        yield found


def by_component(pods: dict[str, Pod]) -> dict[str, dict[str, set[str]]]:
    """Return the paths that the pods of each component have used, by chain."""
    found: dict[str, dict[str, set[str]]] = {}
    for pod in pods.values():
        component = found.setdefault(pod.labels["app.kubernetes.io/component"], {"INPUT": set(), "OUTPUT": set()})
        for chain, names in pod.used_paths().items():
            component[chain] |= names
    return found


async def send_and_store(running: Running, folder: Path, count: int, prefix: str) -> None:
    """Send answers until each has a row."""
    deployment = running.deployment(folder)
    client = await deployment.client()
    await deployment.send(records(count, prefix))

    async def stored() -> bool:
        found = await deployment.query(
            client, f"SELECT uniqExact(answer_id) FROM {{db}}.answers WHERE answer_id LIKE '{prefix}-%'"
        )
        return bool(found[0] == count)

    await until(stored, f"{count} answers are stored", 600)
    await client.close()


async def test_every_pod_passes_its_probes_and_together_they_store_answers(running: Running, tmp_path: Path) -> None:
    assert len(running.pods) == 5 * REPLICAS
    await send_and_store(running, tmp_path, BATCH, "probed")
    for pod in running.pods.values():
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            assert pod.passes(probe), f"{pod.name}: {probe}"


async def test_the_network_policies_allow_the_paths_that_the_pods_use_and_no_others(
    running: Running, tmp_path: Path
) -> None:
    await send_and_store(running, tmp_path, BATCH, "paths")
    with_stores = {"names:53", "kafka:9093", "clickhouse:8443"}
    expected = {
        "storing": with_stores | {"valkey:6379"},
        "feedback": with_stores | {"valkey:6379"},
        "console": with_stores | {"valkey:6379"},
        "assembly": with_stores,
        "judging": {"names:53", "kafka:9093", "valkey:6379"},
    }
    assert {name: used["OUTPUT"] for name, used in by_component(running.pods).items()} == expected


async def test_only_prometheus_and_the_ingress_reach_the_pods(running: Running) -> None:
    for pod in running.pods.values():
        metrics = f"http://{pod.address}:9464/metrics"
        assert can_reach("monitoring", metrics), pod.name
        assert not can_reach("stranger", metrics), pod.name
    console = next(pod for name, pod in running.pods.items() if "console" in name)
    page = f"http://{console.address}:8080/healthz"
    assert can_reach("ingress-nginx", page)
    assert not can_reach("monitoring", page)


async def test_a_rolling_update_of_every_deployment_loses_and_doubles_nothing(running: Running, tmp_path: Path) -> None:
    podman("tag", IMAGE, f"{IMAGE.rpartition(':')[0]}:{NEXT}")
    deployment = running.deployment(tmp_path)
    client = await deployment.client()
    manifests = running.render(NEXT)
    sent, in_flight = 0, []
    for pod in pods_of(manifests, running.folder / NEXT, REPLICAS):
        replaced = asyncio.create_task(asyncio.to_thread(running.replace, pod, manifests))
        while not replaced.done():
            await deployment.send(records(BATCH, "rolled", start=sent))
            sent += BATCH
            (stored,) = await deployment.query(
                client, "SELECT uniqExact(answer_id) FROM {db}.answers WHERE answer_id LIKE 'rolled-%'"
            )
            in_flight.append(sent - stored)
            await asyncio.wait([replaced], timeout=5)
        await replaced
    agents = {name for pod in running.pods.values() for name in agents_of(pod)}
    await deployment.all_caught_up([AGENTS[name] for name in sorted(agents)])
    identifiers = {identifier(number, "rolled") for number in range(sent)}

    async def stored_all() -> bool:
        (found,) = await deployment.query(
            client, "SELECT uniqExact(answer_id) FROM {db}.answers WHERE answer_id LIKE 'rolled-%'"
        )
        return bool(found == sent)

    await until(stored_all, f"{sent} answers are stored", 600)
    verdict = await judge(deployment, client, identifiers)
    await client.close()
    assert min(in_flight) > 0
    assert (verdict.lost, verdict.doubled, verdict.dead_lettered, verdict.worsened) == ([], 0, 0, [])
    assert verdict.broken_identifiers == []
    print(f"{sent} answers, {max(in_flight)} at most in flight, {verdict.duplicates} evaluated again")


def agents_of(pod: Pod) -> list[str]:
    """Return the agents that a pod runs; none if it is a console."""
    arguments = pod.container["args"]
    return arguments[-1].split(",") if "--agents" in arguments else []
