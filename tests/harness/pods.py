"""Pods of the shipped manifests, run by Podman.

Podman 4.3 starts the containers of a pod. What a kubelet does besides is done here: variables of config maps, which the
container's own override (Podman has them override its own), folders of volumes with their owners, secrets with their
keys and modes, network policies, probes.
"""

import json
import os
import shlex
import urllib.error
import urllib.request
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.harness.containers import podman, run, wait_until
from tests.harness.kubernetes_api import kubectl
from tests.harness.network_policies import allowed_paths, enforce, used_paths
from tests.harness.paths import ROOT
from tests.harness.pod_servers import NAMESPACE, NETWORK, PodServers

BASE = ROOT / "deploy" / "kubernetes"
START_SECONDS = 500.0


@dataclass(frozen=True, slots=True)
class Manifests:
    """Objects of an overlay as kubectl renders them."""

    objects: tuple[dict[str, Any], ...]

    @classmethod
    def render(cls, overlay: Path) -> "Manifests":
        """Render an overlay."""
        done = kubectl("kustomize", overlay)
        assert done.returncode == 0, done.stderr
        return cls(tuple(yaml.safe_load_all(done.stdout)))

    def of_kind(self, kind: str) -> dict[str, dict[str, Any]]:
        """Return the objects of a kind by name."""
        return {each["metadata"]["name"]: each for each in self.objects if each["kind"] == kind}


def documented_secrets(folder: Path, values: Mapping[str, str]) -> dict[str, dict[str, bytes]]:
    """Run the commands that kustomization.yaml gives for the secrets, without a cluster.

    Args:
        folder: with the files that the commands name.
        values: values by key, instead of those of the commands.
    """
    lines = (line.removeprefix("#").strip() for line in (BASE / "kustomization.yaml").read_text().splitlines())
    found = {}
    for command in "\n".join(lines).replace("\\\n", " ").splitlines():
        if not command.startswith("kubectl") or " create secret " not in command:
            continue
        arguments = []
        for argument in shlex.split(command)[1:]:
            option, _, rest = argument.partition("=")
            key = rest.partition("=")[0]
            arguments.append(f"{option}={key}={values[key]}" if option == "--from-literal" else argument)
        done = kubectl(*arguments, "--dry-run=client", "--output=yaml", folder=folder)
        assert done.returncode == 0, done.stderr
        secret = yaml.safe_load(done.stdout)
        found[secret["metadata"]["name"]] = {key: b64decode(value) for key, value in secret["data"].items()}
    return found


@dataclass(slots=True)
class Pod:
    """One pod of a deployment.

    Attributes:
        name: of the pod.
        template: template of the deployment.
        folder: for its volumes; it is new for each start.
    """

    name: str
    template: dict[str, Any]
    folder: Path
    address: str = ""
    _pid: int = field(default=0)

    @property
    def labels(self) -> dict[str, str]:
        labels: dict[str, str] = self.template["metadata"]["labels"]
        return labels

    @property
    def container(self) -> dict[str, Any]:
        (only,) = self.template["spec"]["containers"]
        return dict(only)

    @property
    def running_container(self) -> str:
        return f"{self.name}-{self.container['name']}"

    def start(self, manifests: Manifests, secrets: Mapping[str, Mapping[str, bytes]], servers: PodServers) -> None:
        """Create the pod, put the network policies around it, and run its containers, first those that prepare."""
        self.folder.mkdir(parents=True)
        file = self.folder / "pod.yaml"
        file.write_text(yaml.safe_dump(self._manifest(manifests, secrets)))
        podman("kube", "play", "--start=false", "--network", NETWORK, "--log-driver", "k8s-file", str(file))
        infrastructure = podman("pod", "inspect", self.name, "--format", "{{.InfraContainerID}}").strip()
        podman("start", infrastructure)
        (state,) = json.loads(podman("inspect", infrastructure))
        self._pid = state["State"]["Pid"]
        self.address = state["NetworkSettings"]["Networks"][NETWORK]["IPAddress"]
        policies = manifests.of_kind("NetworkPolicy").values()
        enforce(
            self._pid,
            allowed_paths(policies, NAMESPACE, self.labels, servers.endpoints),
            servers.node,
            servers.endpoints,
        )
        started = run("podman", "pod", "start", self.name, seconds=START_SECONDS)
        assert started.returncode == 0, f"{started.stderr}\n{self.log()}"

    def stop(self) -> int:
        """End the pod within its grace; return the exit code of its container."""
        podman("pod", "stop", "--time", str(self.template["spec"]["terminationGracePeriodSeconds"]), self.name)
        code = int(podman("inspect", self.running_container, "--format", "{{.State.ExitCode}}"))
        podman("pod", "rm", "--force", self.name)
        return code

    def wait_ready(self) -> None:
        """Wait until the probes of the start, of life and of readiness have succeeded, as a kubelet asks them."""
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            wait_until(lambda probe=probe: self.passes(probe), f"{self.name} passes its {probe}", told=self.log)

    def passes(self, probe: str) -> bool:
        """Send a probe."""
        asked = self.container[probe]["httpGet"]
        ports = {port["name"]: port["containerPort"] for port in self.container["ports"]}
        url = f"http://{self.address}:{ports[asked['port']]}{asked['path']}"
        try:
            with urllib.request.urlopen(url, timeout=self.container[probe].get("timeoutSeconds", 1)) as response:
                return bool(200 <= response.status < 400)
        except (urllib.error.URLError, OSError):
            return False

    def used_paths(self) -> dict[str, set[str]]:
        """Return the names of the paths that this pod has used, by chain."""
        return used_paths(self._pid)

    def log(self) -> str:
        """Return the end of what its containers have printed."""
        names = [each["name"] for each in (*self.template["spec"]["initContainers"], self.container)]
        logs = (run("podman", "logs", "--tail", "15", f"{self.name}-{name}") for name in names)
        return "\n".join(f"{name}: {log.stdout}{log.stderr}" for name, log in zip(names, logs, strict=True))[-6_000:]

    def _manifest(self, manifests: Manifests, secrets: Mapping[str, Mapping[str, bytes]]) -> dict[str, Any]:
        spec = json.loads(json.dumps(self.template["spec"]))
        group = spec["securityContext"]["fsGroup"]
        # With Always, Podman would start containers that prepare again after they have succeeded.
        spec["restartPolicy"] = "OnFailure"
        spec["volumes"] = [
            {"name": each["name"], "hostPath": {"path": str(self._volume(each, secrets, group)), "type": "Directory"}}
            for each in spec["volumes"]
        ]
        for each in (*spec["initContainers"], *spec["containers"]):
            sources = [source["configMapRef"]["name"] for source in each.pop("envFrom")]
            variables = {k: v for name in sources for k, v in manifests.of_kind("ConfigMap")[name]["data"].items()}
            variables |= {own["name"]: own["value"] for own in each.get("env", [])}
            each["env"] = [{"name": name, "value": value} for name, value in variables.items()]
        for each in spec["containers"]:
            # Podman would send it with curl from inside the container, and take these ports of this machine.
            del each["livenessProbe"], each["ports"]
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": self.name, "labels": self.labels}, "spec": spec}

    def _volume(self, volume: Mapping[str, Any], secrets: Mapping[str, Mapping[str, bytes]], group: int) -> Path:
        folder = self.folder / volume["name"]
        folder.mkdir()
        os.chown(folder, 0, group)
        folder.chmod(0o2777)
        if "secret" in volume:
            source = volume["secret"]
            data = secrets[source["secretName"]]
            for item in source.get("items", [{"key": key, "path": key} for key in data]):
                file = folder / item["path"]
                file.write_bytes(data[item["key"]])
                os.chown(file, 0, group)
                file.chmod(source["defaultMode"])
        return folder


def pods_of(manifests: Manifests, folder: Path, replicas: int) -> Sequence[Pod]:
    """Return so many pods of each deployment; those that create topics and tables come first."""
    deployments = sorted(manifests.of_kind("Deployment"), key=lambda name: not name.endswith("storing"))
    templates = {name: manifests.of_kind("Deployment")[name]["spec"]["template"] for name in deployments}
    return [
        Pod(f"{name}-{number}", template, folder / f"{name}-{number}")
        for name, template in templates.items()
        for number in range(replicas)
    ]
