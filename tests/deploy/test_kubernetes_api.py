"""The manifests on a real API server: accepted, applied again, upgraded."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml

from tests.harness.documented_commands import documented_commands
from tests.harness.kubernetes_api import KubernetesApi, KubernetesMissing
from tests.harness.paths import ROOT
from workers.measurement.sizing import overlay as overlay_of
from workers.measurement.sizing import plan
from workers.settings import Settings

DEPLOY = ROOT / "deploy"
BASE, EXAMPLE = DEPLOY / "kubernetes", DEPLOY / "kubernetes-example"
FOLDERS = pytest.mark.parametrize("folder", [BASE, EXAMPLE], ids=["base", "example"])
NEXT = "99.1.0"
IMAGE_OF_EXAMPLE = "registry.example.com/touchstone-worker"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KubernetesApi]:
    try:
        server = KubernetesApi(tmp_path_factory.mktemp("kubernetes"))
    except KubernetesMissing as reason:
        pytest.skip(f"no Kubernetes API server: {reason}")
    with server:
        yield server


@pytest.fixture
def namespace(api: KubernetesApi) -> str:
    """A namespace that admits only pods of the standard `restricted`."""
    name = f"t{uuid4().hex[:10]}"
    levels = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")}
    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": levels}}
    made = api.kubectl("create", "--filename", "-", text=json.dumps(manifest))
    assert made.returncode == 0, made.stderr
    return name


def overlay(folder: Path, base: Path, namespace: str, **content: Any) -> Path:
    """Write an overlay of the base; return its folder."""
    folder.mkdir()
    kustomization = {"namespace": namespace, "resources": [os.path.relpath(base, folder)], **content}
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    return folder


def apply(api: KubernetesApi, folder: Path) -> list[str]:
    """Apply with strict validation; nothing may be refused or warned of."""
    applied = api.kubectl("apply", "--validate=strict", "--kustomize", folder)
    assert (applied.returncode, applied.stderr) == (0, "")
    return applied.stdout.splitlines()


@FOLDERS
def test_the_manifests_are_accepted_and_a_second_time_nothing_changes_and_the_pods_are_restricted(
    api: KubernetesApi, namespace: str, tmp_path: Path, folder: Path
) -> None:
    """Pods are admitted where only restricted ones are; one that runs as root would not be."""
    own = overlay(tmp_path / "own", folder, namespace)
    assert {line.rpartition(" ")[2] for line in apply(api, own)} == {"created"}
    before = generations(api, namespace)
    difference = api.kubectl("diff", "--kustomize", own)
    assert (difference.returncode, difference.stdout) == (0, "")
    apply(api, own)
    assert generations(api, namespace) == before != {}
    pods = [pod_of(name, namespace, template) for name, template in templates(api, namespace).items()]
    made = create(api, *pods)
    assert (made.returncode, made.stderr) == (0, "")
    assert {line.split()[0] for line in made.stdout.splitlines()} == {f"pod/{pod['metadata']['name']}" for pod in pods}
    for pod in pods:
        pod["spec"]["securityContext"]["runAsNonRoot"] = False
    assert create(api, *pods).stderr.count("violates PodSecurity") == len(pods)


def pod_of(name: str, namespace: str, template: Mapping[str, Any]) -> dict[str, Any]:
    """Return the pod that a controller would make."""
    metadata = {"name": name, "namespace": namespace, "labels": template["metadata"]["labels"]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


def create(api: KubernetesApi, *objects: dict[str, Any]) -> "subprocess.CompletedProcess[str]":
    """Ask the server whether it would take objects."""
    together = {"apiVersion": "v1", "kind": "List", "items": objects}
    return api.kubectl("create", "--dry-run=server", "--filename", "-", text=json.dumps(together))


@FOLDERS
def test_an_upgrade_with_a_changed_setting_reaches_every_pod(
    api: KubernetesApi, namespace: str, tmp_path: Path, folder: Path
) -> None:
    apply(api, overlay(tmp_path / "present", folder, namespace))
    images = [{"name": name, "newTag": NEXT} for name in image_names(api, namespace)]
    changed = {"name": "touchstone-settings", "behavior": "merge", "literals": ["TOUCHSTONE_KAFKA__PARTITIONS=48"]}
    apply(api, overlay(tmp_path / "next", folder, namespace, images=images, configMapGenerator=[changed]))
    (settings,) = [
        name
        for name, each in api.objects("configmaps", namespace).items()
        if each["data"].get("TOUCHSTONE_KAFKA__PARTITIONS") == "48"
    ]
    for pod in templates(api, namespace).values():
        for each in containers(pod):
            assert each["image"].endswith(f":{NEXT}")
            assert {"configMapRef": {"name": settings}} in each["envFrom"]


def test_an_upgrade_leaves_the_number_of_replicas_to_the_autoscaler(
    api: KubernetesApi, namespace: str, tmp_path: Path
) -> None:
    apply(api, overlay(tmp_path / "present", BASE, namespace))
    scalers = api.objects("horizontalpodautoscalers", namespace)
    for name in scalers:
        scaled = api.kubectl("scale", "deployment", name, "--replicas", "5", "--namespace", namespace)
        assert scaled.returncode == 0, scaled.stderr
    apply(api, overlay(tmp_path / "next", BASE, namespace, images=[{"name": "touchstone-worker", "newTag": NEXT}]))
    deployments = api.objects("deployments", namespace)
    assert {name: deployments[name]["spec"]["replicas"] for name in scalers} == dict.fromkeys(scalers, 5)


@pytest.mark.parametrize("name", ["exporting", "intake", "streams"])
def test_an_overlay_adds_the_agents_that_the_base_leaves_out(
    api: KubernetesApi, namespace: str, tmp_path: Path, name: str
) -> None:
    own = tmp_path / "own"
    overlay(own, BASE, namespace)
    resources = [os.path.relpath(BASE, own), os.path.relpath(BASE / name, own)]
    (own / "kustomization.yaml").write_text(yaml.safe_dump({"namespace": namespace, "resources": resources}))
    apply(api, own)
    pods = templates(api, namespace)
    (settings,) = [found for found in api.objects("configmaps", namespace) if found.startswith("touchstone-settings")]
    assert {"configMapRef": {"name": settings}} in pods[f"touchstone-{name}"]["spec"]["containers"][0]["envFrom"]


@pytest.fixture(scope="module")
def kinds(api: KubernetesApi) -> None:
    """The kinds of KEDA and of the Prometheus operator, by their own schemas."""
    made = api.kubectl("apply", "--filename", ROOT / "tests" / "data" / "kubernetes_kinds.json")
    assert made.returncode == 0, made.stderr
    waited = api.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
    assert waited.returncode == 0, waited.stderr


def components(tmp_path: Path, namespace: str, **content: Any) -> Path:
    """Write an overlay of the base with KEDA and a monitor of pods; return its folder."""
    own = tmp_path / "own"
    own.mkdir()
    places = [os.path.relpath(BASE / name, own) for name in ("keda", "monitoring")]
    resources = [os.path.relpath(BASE, own), *content.pop("resources", [])]
    kustomization = {"namespace": namespace, "resources": resources, "components": places, **content}
    (own / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    return own


@pytest.mark.usefixtures("kinds")
def test_keda_scales_in_place_of_the_other_autoscalers(api: KubernetesApi, namespace: str, tmp_path: Path) -> None:
    apply(api, components(tmp_path, namespace))
    scaled = api.objects("scaledobjects.keda.sh", namespace)
    assert {each["spec"]["scaleTargetRef"]["name"] for each in scaled.values()} == set(
        api.objects("deployments", namespace)
    ) - {"touchstone-console"}
    assert api.objects("horizontalpodautoscalers", namespace) == {}
    (monitor,) = api.objects("podmonitors.monitoring.coreos.com", namespace).values()
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    for template in templates(api, namespace).values():
        assert monitor["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
        ports = {port["name"] for each in containers(template) for port in each.get("ports", [])}
        assert endpoint["port"] in ports


@pytest.mark.usefixtures("kinds")
@pytest.mark.parametrize("name", ["exporting", "intake", "streams"])
def test_keda_scales_the_agents_that_an_overlay_adds(
    api: KubernetesApi, namespace: str, tmp_path: Path, name: str
) -> None:
    added = [os.path.relpath(BASE / name, tmp_path / "own"), os.path.relpath(BASE / "keda" / name, tmp_path / "own")]
    apply(api, components(tmp_path, namespace, resources=added))
    assert api.objects("horizontalpodautoscalers", namespace) == {}
    assert f"touchstone-{name}" in api.objects("scaledobjects.keda.sh", namespace)


@pytest.mark.usefixtures("kinds")
def test_a_misspelt_field_of_their_kinds_would_be_refused(api: KubernetesApi, namespace: str, tmp_path: Path) -> None:
    patch = '[{"op": "add", "path": "/spec/maxReplicas", "value": 3}]'
    wrong = components(tmp_path, namespace, patches=[{"target": {"kind": "ScaledObject"}, "patch": patch}])
    refused = api.kubectl("apply", "--validate=strict", "--kustomize", wrong)
    assert 'unknown field "spec.maxReplicas"' in refused.stderr


@pytest.mark.usefixtures("kinds")
@pytest.mark.parametrize("keda", [True, False], ids=["keda", "adapter"])
def test_the_overlay_of_a_plan_gives_its_pods_and_partitions(
    api: KubernetesApi, namespace: str, tmp_path: Path, keda: bool
) -> None:
    found = plan(2_000, 2.6, Settings())
    given = yaml.safe_load(overlay_of(found))
    folder = components(tmp_path, namespace, **given) if keda else overlay(tmp_path / "own", BASE, namespace, **given)
    apply(api, folder)
    kind, most = ("scaledobjects.keda.sh", "maxReplicaCount") if keda else ("horizontalpodautoscalers", "maxReplicas")
    scalers = api.objects(kind, namespace)
    for each in found.pods:
        assert scalers[f"touchstone-{each.name}"]["spec"][most] == each.pods
    partitions = {
        each["data"].get("TOUCHSTONE_KAFKA__PARTITIONS") for each in api.objects("configmaps", namespace).values()
    }
    assert str(found.partitions) in partitions


@pytest.mark.usefixtures("kinds")
@pytest.mark.parametrize("keda", [True, False], ids=["keda", "adapter"])
def test_the_commands_of_an_upgrade_are_accepted_in_their_order(
    api: KubernetesApi, namespace: str, tmp_path: Path, keda: bool
) -> None:
    images = [{"name": IMAGE_OF_EXAMPLE, "newTag": NEXT}]
    scaling = {"components": [os.path.relpath(BASE / "keda", tmp_path / "own")]} if keda else {}
    apply(api, overlay(tmp_path / "own", EXAMPLE, namespace, **scaling))
    overlay(tmp_path / "next", EXAMPLE, namespace, images=images, **scaling)
    paused = "autoscaling.keda.sh/paused-replicas"
    ran = []
    for command in documented_commands(ROOT / "docs" / "operations" / "upgrade.md"):
        # Logs are read from a kubelet; there is none.
        if not command.startswith("kubectl") or " logs " in command or ("scaledobject" in command and not keda):
            continue
        play_controller(api, namespace)
        words = (
            command.replace("OVERLAY", str(tmp_path / "next")).replace("=touchstone ", f"={namespace} ", 1).split()[1:]
        )
        done = api.kubectl(*words)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        ran.append(words[1] if words[0].startswith("--namespace") else words[0])
        if "scale" in ran[-1]:
            replicas = {each["spec"]["replicas"] for each in api.objects("deployments", namespace).values()}
            assert replicas == {int(words[-1])}
            scaled = api.objects("scaledobjects.keda.sh", namespace)
            assert bool(scaled) == keda
            annotated = {each["metadata"]["annotations"].get(paused) for each in scaled.values()}
            assert annotated <= {"0" if replicas == {0} else None}
    pause = ["annotate"] if keda else []
    assert ran == ["apply", "rollout", *pause, "scale", "wait", "apply", *pause, "scale"]


def play_controller(api: KubernetesApi, namespace: str) -> None:
    """Tell that every deployment has the pods that it asks for, as the controller does that this server lacks."""
    deployments = [*api.objects("deployments", namespace).values()]
    for each in deployments:
        each["status"] = dict.fromkeys(
            ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), each["spec"]["replicas"]
        ) | {"observedGeneration": each["metadata"]["generation"]}
    together = json.dumps({"apiVersion": "v1", "kind": "List", "items": deployments})
    done = api.kubectl("replace", "--subresource=status", "--filename", "-", text=together)
    assert done.returncode == 0, done.stderr


def templates(api: KubernetesApi, namespace: str) -> dict[str, dict[str, Any]]:
    """Return the pod template of every stored object that has one."""
    found = {**api.objects("deployments", namespace), **api.objects("jobs", namespace)}
    return {name: each["spec"]["template"] for name, each in found.items()}


def generations(api: KubernetesApi, namespace: str) -> dict[str, int]:
    """Return how often each deployment was changed, by name."""
    return {name: each["metadata"]["generation"] for name, each in api.objects("deployments", namespace).items()}


def containers(template: dict[str, Any]) -> list[dict[str, Any]]:
    return [*template["spec"].get("initContainers", []), *template["spec"]["containers"]]


def image_names(api: KubernetesApi, namespace: str) -> set[str]:
    return {
        each["image"].rpartition(":")[0]
        for template in templates(api, namespace).values()
        for each in containers(template)
    }
