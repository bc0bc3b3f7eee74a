"""Manifests that kubectl renders from the folders for Kubernetes and from overlays, without a cluster."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.harness.paths import ROOT
from tests.unit.deploy.test_prometheus import ALERTS

BASE = ROOT / "deploy" / "kubernetes"


def built(folder: Path) -> list[dict[str, Any]]:
    """Return the objects of a kustomization."""
    tool = shutil.which("kubectl")
    if tool is None:
        pytest.skip("kubectl is not installed")
    finished = subprocess.run([tool, "kustomize", folder], capture_output=True, text=True, timeout=60, check=False)
    assert finished.returncode == 0, finished.stderr
    return list(yaml.safe_load_all(finished.stdout))


def of_kind(objects: list[dict[str, Any]], kind: str) -> dict[str, dict[str, Any]]:
    return {each["metadata"]["name"]: each for each in objects if each["kind"] == kind}


def snake_case(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def test_the_monitor_of_pods_gives_the_jobs_that_the_alerts_ask_for(tmp_path: Path) -> None:
    """The operator sets ``job`` to namespace and name of the monitor, and applies the monitor's rules afterwards."""
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed; Debian's package prometheus brings it (make tools)")
    resources = [os.path.relpath(BASE, tmp_path), os.path.relpath(BASE / "exporting", tmp_path)]
    components = [os.path.relpath(BASE / "monitoring", tmp_path)]
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump({"resources": resources, "components": components}))
    objects = built(tmp_path)
    (monitor,) = of_kind(objects, "PodMonitor").values()
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    rules = [{"target_label": "job", "replacement": "touchstone/touchstone"}] + [
        {snake_case(name): value for name, value in rule.items()} for rule in endpoint.get("relabelings", [])
    ]
    targets = [
        {"targets": [f"{name}:9464"],
         "labels": {f"__meta_kubernetes_pod_label_{label.translate(str.maketrans('./', '__'))}": value
                    for label, value in each["spec"]["template"]["metadata"]["labels"].items()}}
        for name, each in of_kind(objects, "Deployment").items()
    ]  # fmt: skip
    (tmp_path / "pods.json").write_text(json.dumps(targets))
    job = {"job_name": "pods", "file_sd_configs": [{"files": ["pods.json"]}], "relabel_configs": rules}
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump({"scrape_configs": [job]}))
    command = [promtool, "check", "service-discovery", "--timeout=1s", "prometheus.yml", "pods"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, cwd=tmp_path)
    jobs = {each["labels"]["instance"].split(":")[0]: each["labels"]["job"] for each in json.loads(found.stdout)}
    assert set(jobs) == set(of_kind(objects, "Deployment"))
    assert jobs.pop("touchstone-console") == "touchstone-console"
    assert set(jobs.values()) == {"touchstone"}
    assert 'job="touchstone"' in ALERTS["TouchstoneWorkerDown"]["expr"]


@pytest.mark.parametrize("folder", [BASE, ROOT / "deploy" / "kubernetes-example"], ids=["base", "example"])
def test_the_network_policies_allow_the_servers_of_the_settings(folder: Path) -> None:
    objects = built(folder)
    ((settings,),) = [[each["data"] for name, each in of_kind(objects, "ConfigMap").items() if "settings" in name]]
    given = {*settings["KAFKA_BOOTSTRAP_SERVERS"].split(","), settings["CLICKHOUSE_URL"].removeprefix("https://")}
    # A name in the cluster: service.namespace, possibly with .svc behind it.
    servers = {
        match.groups() for each in given if (match := re.fullmatch(r"[\w-]+\.([\w-]+)(?:\.svc\S*)?:(\d+)", each))
    }
    assert len(servers) == 2
    allowed = {
        (peer["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"], str(port["port"]))
        for policy in of_kind(objects, "NetworkPolicy").values()
        for rule in policy["spec"].get("egress", [])
        for peer in rule["to"]
        if "namespaceSelector" in peer
        for port in rule["ports"]
    }
    assert servers <= allowed
    assert {namespace for namespace, port in allowed if port in {port for _, port in servers}} == {
        namespace for namespace, _ in servers
    }


def test_the_upgrade_without_workers_pauses_keda_which_would_start_them_again() -> None:
    scaled = yaml.safe_load_all((BASE / "keda" / "scaled-objects.yaml").read_text(encoding="utf-8"))
    assert all(each["spec"]["minReplicaCount"] > 0 for each in scaled)
    page = (ROOT / "docs" / "operations" / "upgrade.md").read_text(encoding="utf-8")
    (block,) = [each for each in re.findall(r"```sh\n(.+?)```", page, re.S) if "--replicas 0" in each]
    steps = ["paused-replicas=0", "--replicas 0", "wait --for delete", "apply", "paused-replicas-\n", "--replicas 2"]
    places = [block.find(step) for step in steps]
    assert -1 not in places
    assert places == sorted(places)
