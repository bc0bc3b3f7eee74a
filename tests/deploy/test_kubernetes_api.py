"""The manifests on a real API server: accepted, applied again, upgraded."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml

from tests.harness.kubernetes_api import KubernetesApi, KubernetesMissing
from tests.harness.paths import ROOT

DEPLOY = ROOT / "deploy"
BASE, EXAMPLE = DEPLOY / "kubernetes", DEPLOY / "kubernetes-example"
FOLDERS = pytest.mark.parametrize("folder", [BASE, EXAMPLE], ids=["base", "example"])
NEXT = "99.1.0"


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
def test_the_manifests_are_accepted_and_a_second_time_nothing_changes(
    api: KubernetesApi, namespace: str, tmp_path: Path, folder: Path
) -> None:
    own = overlay(tmp_path / "own", folder, namespace)
    assert {line.rpartition(" ")[2] for line in apply(api, own)} == {"created"}
    before = generations(api, namespace)
    difference = api.kubectl("diff", "--kustomize", own)
    assert (difference.returncode, difference.stdout) == (0, "")
    apply(api, own)
    assert generations(api, namespace) == before != {}


@FOLDERS
def test_an_upgrade_with_a_changed_setting_reaches_every_pod(
    api: KubernetesApi, namespace: str, tmp_path: Path, folder: Path
) -> None:
    apply(api, overlay(tmp_path / "present", folder, namespace))
    images = [{"name": name, "newTag": NEXT} for name in image_names(api, namespace)]
    changed = {"name": "touchstone-settings", "behavior": "merge", "literals": ["TOUCHSTONE_KAFKA__PARTITIONS=24"]}
    apply(api, overlay(tmp_path / "next", folder, namespace, images=images, configMapGenerator=[changed]))
    (settings,) = [
        name
        for name, each in api.objects("configmaps", namespace).items()
        if each["data"].get("TOUCHSTONE_KAFKA__PARTITIONS") == "24"
    ]
    for pod in templates(api, namespace).values():
        for each in containers(pod):
            assert each["image"].endswith(f":{NEXT}")
            assert {"configMapRef": {"name": settings}} in each["envFrom"]


@FOLDERS
def test_pods_are_admitted_where_only_restricted_ones_are(
    api: KubernetesApi, namespace: str, tmp_path: Path, folder: Path
) -> None:
    apply(api, overlay(tmp_path / "own", folder, namespace))
    for name, template in templates(api, namespace).items():
        metadata = {"name": name, "namespace": namespace, "labels": template["metadata"]["labels"]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
        made = api.kubectl("create", "--dry-run=server", "--filename", "-", text=json.dumps(pod))
        assert (made.returncode, made.stderr) == (0, ""), name


def test_a_pod_that_runs_as_root_would_be_refused(api: KubernetesApi, namespace: str, tmp_path: Path) -> None:
    apply(api, overlay(tmp_path / "own", BASE, namespace))
    spec = templates(api, namespace)["touchstone-console"]["spec"]
    spec["securityContext"]["runAsNonRoot"] = False
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "root", "namespace": namespace}, "spec": spec}
    made = api.kubectl("create", "--dry-run=server", "--filename", "-", text=json.dumps(pod))
    assert "violates PodSecurity" in made.stderr


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


@pytest.mark.parametrize("name", ["exporting", "intake"])
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
