"""Manifests for Kubernetes: valid by its schemas, about agents, commands, settings, ports and secrets that exist."""

import re
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import typer.main
import yaml

from schemas.topics import DEFAULT_PARTITIONS
from tests.harness.paths import ROOT
from tests.unit.deploy.test_deployment import image_environment, known_names, ours, settings_from
from workers.cli.main import app
from workers.observability.metrics import CONSUMER_LAG, RECORDS_CONSUMED
from workers.runtime.agent_choice import AGENTS, EXPORTERS, chosen_agents
from workers.stores.clickhouse.clickhouse_roles import MIGRATOR, READER, WRITER

FOLDER = ROOT / "deploy" / "kubernetes"
VERSIONS = ("1.29", "1.33", "1.37")
"""The oldest that is in use with autoscaling/v2 and policy/v1, one between, the newest whose schemas are at hand."""

KUSTOMIZATION = yaml.safe_load((FOLDER / "kustomization.yaml").read_text(encoding="utf-8"))
OPTIONAL = ("exporting/exporting.yaml", "intake/intake.yaml", "streams/streams.yaml")
"""Manifests of agents that are off by default; they are held to the same rules."""
OBJECTS: list[dict[str, Any]] = [
    document
    for name in (*KUSTOMIZATION["resources"], *OPTIONAL)
    for document in yaml.safe_load_all((FOLDER / name).read_text(encoding="utf-8"))
]


def of_kind(kind: str) -> dict[str, dict[str, Any]]:
    return {each["metadata"]["name"]: each for each in OBJECTS if each["kind"] == kind}


CONSOLE = of_kind("Deployment")["touchstone-console"]
DEPLOYMENTS = {name: each for name, each in of_kind("Deployment").items() if each is not CONSOLE}
PODS = {name: each["spec"]["template"] for name, each in of_kind("Deployment").items()}
POD = pytest.mark.parametrize("pod", PODS.values(), ids=PODS)
CONTAINERS = [
    pytest.param(pod, each, id=f"{name}-{each['name']}")
    for name, pod in PODS.items()
    for each in (*pod["spec"].get("initContainers", []), *pod["spec"]["containers"])
]
CONTAINER = pytest.mark.parametrize(("pod", "only"), CONTAINERS)


def settings_file() -> dict[str, str]:
    ((name,),) = [generator["envs"] for generator in KUSTOMIZATION["configMapGenerator"]]
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def container(pod: dict[str, Any]) -> dict[str, Any]:
    (only,) = pod["spec"]["containers"]
    return dict(only)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("manifest", OBJECTS, ids=lambda each: f"{each['kind']}-{each['metadata']['name']}")
def test_every_object_is_valid_and_has_no_field_that_does_not_exist(manifest: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(manifest, version, strict=True)


def test_a_misspelt_field_would_be_noticed() -> None:
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(DEPLOYMENTS["touchstone-judging"] | {"spce": {}}, VERSIONS[0], strict=True)


def test_every_manifest_is_part_of_the_kustomization_or_says_that_it_is_not() -> None:
    others = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.yaml") if path.name != "kustomization.yaml"}
    others -= set(KUSTOMIZATION["resources"])
    own = {f"keda/{name}" for name in ("scaled-objects.yaml", *OPTIONAL)}
    own.add("monitoring/pod-monitor.yaml")
    assert others == {"prometheus-adapter.yaml", *OPTIONAL, *own}
    for name in others - own:
        assert "Not part of the kustomization" in (FOLDER / name).read_text(encoding="utf-8")


def test_every_agent_runs_in_exactly_one_deployment() -> None:
    agents = [name for pod in DEPLOYMENTS.values() for name in agents_of(pod["spec"]["template"])]
    assert sorted(agents) == sorted([*AGENTS, *EXPORTERS, "intake", "streams"])
    assert set(agents_of(DEPLOYMENTS["touchstone-exporting"]["spec"]["template"])) == set(EXPORTERS)


def test_the_settings_of_the_exporters_switch_them_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pod = DEPLOYMENTS["touchstone-exporting"]["spec"]["template"]
    secrets = {
        "PASSWORD": "0123456789abcdef", "URL": "https://hooks.example", "SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "KEY": "sk", "HEADERS": "a=b",
    }  # fmt: skip
    given = {}
    for variable in container(pod)["env"]:
        name, value = variable["name"], variable.get("value")
        if name.endswith("_FILE"):
            (tmp_path / name).write_text(secrets[name.removesuffix("_FILE").rpartition("_")[2]])
            value = str(tmp_path / name)
        if value is not None:
            given[name] = value
    settings = settings_from(given, monkeypatch)
    assert {agent.name for agent in chosen_agents(agents_of(pod), settings)} == set(EXPORTERS)


@pytest.mark.parametrize("agent", ["intake", "streams"])
def test_the_settings_of_what_reads_from_gateways_switch_it_on(agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pod = DEPLOYMENTS[f"touchstone-{agent}"]["spec"]["template"]
    given = {each["name"]: each["value"] for each in container(pod)["env"] if "value" in each}
    del given["REDIS_URL_FILE"]  # a file of the secret
    settings = settings_from(given, monkeypatch)
    assert [agent.name for agent in chosen_agents(agents_of(pod), settings)] == [agent]


def agents_of(pod: dict[str, Any]) -> list[str]:
    arguments = container(pod)["args"]
    return arguments[arguments.index("--agents") + 1].split(",") if "--agents" in arguments else []


@CONTAINER
def test_every_command_is_one_of_the_command_line(pod: dict[str, Any], only: dict[str, Any]) -> None:
    command: Any = typer.main.get_command(app)
    for word in only["args"]:
        if word.startswith("--"):
            assert word in {name for option in command.params for name in option.opts}
            break
        command = command.commands[word]
    assert not hasattr(command, "commands")


def test_the_settings_accept_what_workers_get(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment = settings_file()
    assert ours(environment) == set(environment) <= known_names()
    secret = tmp_path / "secret"
    secret.write_text("0123456789abcdef")
    files = {name: str(secret) for name in environment if name.endswith("_FILE")}
    settings = settings_from(environment | files, monkeypatch)
    assert settings.kafka.sasl_password is not None
    assert settings.kafka.sasl_password.get_secret_value() == "0123456789abcdef"
    assert settings.kafka.partitions >= DEFAULT_PARTITIONS
    assert settings.privacy.is_on
    for deployment in DEPLOYMENTS.values():
        grace = deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
        assert grace > settings.delivery.shutdown_grace_seconds


@CONTAINER
def test_secrets_are_references_and_their_names_are_those_of_the_instructions(
    pod: dict[str, Any], only: dict[str, Any]
) -> None:
    instructions = "".join((FOLDER / name).read_text(encoding="utf-8") for name in ("kustomization.yaml", *OPTIONAL))
    told = set(re.findall(r"--from-(?:literal|file)=([\w.-]+)", instructions))
    mount = next(each for each in only["volumeMounts"] if each["name"] == "secrets")
    assert mount["readOnly"] is True
    files = [Path(value) for name, value in settings_file().items() if name.endswith("_FILE")]
    assert {str(file.parent) for file in files} == {mount["mountPath"]}
    keys = {file.name for file in files}
    for variable in only.get("env", []):
        assert variable["name"] in known_names()
        if variable["name"].endswith("_FILE"):
            keys.add(Path(variable["value"]).name)
        elif "valueFrom" in variable:
            keys.add(variable["valueFrom"]["secretKeyRef"]["key"])
    assert keys <= told
    volume = next(each for each in pod["spec"]["volumes"] if each["name"] == "secrets")
    assert volume["secret"]["secretName"] == "touchstone-secrets"
    assert not [name for name in settings_file() if re.search(r"(PASSWORD|SECRET|TOKEN|__KEY)$", name)]


def test_who_defines_tables_is_a_user_of_its_own_whose_secret_no_other_container_has() -> None:
    (migrate,) = [each.values[1] for each in CONTAINERS if each.values[1]["args"] == ["migrate"]]
    own = {variable["name"]: variable["value"] for variable in migrate["env"]}
    assert own["TOUCHSTONE_CLICKHOUSE__USERNAME"] != settings_file()["TOUCHSTONE_CLICKHOUSE__USERNAME"]
    folder = str(Path(own["TOUCHSTONE_CLICKHOUSE__PASSWORD_FILE"]).parent)
    (mount,) = [each for each in migrate["volumeMounts"] if each["mountPath"] == folder]
    assert mount["readOnly"] is True
    spec = PODS["touchstone-storing"]["spec"]
    (secret,) = [each["secret"]["secretName"] for each in spec["volumes"] if each["name"] == mount["name"]]
    holders = [
        each.id
        for each in CONTAINERS
        for volume in each.values[0]["spec"]["volumes"]
        if volume.get("secret", {}).get("secretName") == secret
        and volume["name"] in {mounted["name"] for mounted in each.values[1]["volumeMounts"]}
    ]
    assert holders == ["touchstone-storing-migrate"]
    header = (FOLDER / "kustomization.yaml").read_text(encoding="utf-8")
    assert f"create secret generic {secret} " in header
    assert {MIGRATOR, WRITER, READER} <= set(re.findall(r"\w+", header))


def test_every_pod_is_examined_for_what_its_own_agents_need_before_it_starts() -> None:
    for pod in PODS.values():
        doctor, own = pod["spec"]["initContainers"][-1], container(pod)
        asked = ["--console"] if own["args"] == ["console"] else own["args"][1:]
        assert doctor["args"] == ["doctor", "--wait", "300", *asked]
        for name in ("image", "envFrom", "env", "volumeMounts"):
            assert doctor.get(name) == own.get(name)


def test_topics_and_tables_are_there_before_the_workers_that_store() -> None:
    """The pods of no other deployment do it, so that only as many processes as those have do it at the same time."""
    setup = {
        name: [
            each["args"] for each in pod["spec"].get("initContainers", []) if each["args"][0] in ("topics", "migrate")
        ]
        for name, pod in PODS.items()
    }
    expected = {name: [] for name in PODS} | {"touchstone-storing": [["topics", "create"], ["migrate"]]}
    assert setup == expected


@CONTAINER
def test_pods_run_as_an_ordinary_user_on_a_read_only_file_system_within_limits(
    pod: dict[str, Any], only: dict[str, Any]
) -> None:
    assert pod["spec"]["securityContext"]["runAsNonRoot"] is True
    assert pod["spec"]["securityContext"]["runAsUser"] == 10001
    assert pod["spec"]["automountServiceAccountToken"] is False
    assert only["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
    }  # fmt: skip
    assert set(only["resources"]["limits"]) == set(only["resources"]["requests"]) == {"cpu", "memory"}
    state = settings_file()["TOUCHSTONE_STATE_DIR"]
    assert {"/tmp", state} <= {each["mountPath"] for each in only["volumeMounts"]}
    assert {each["name"] for each in only["volumeMounts"]} <= {each["name"] for each in pod["spec"]["volumes"]}


@CONTAINER
def test_the_image_is_the_one_that_is_built_and_its_version_that_of_the_package(
    pod: dict[str, Any], only: dict[str, Any]
) -> None:
    version = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M)
    assert version is not None
    assert only["image"] == f"touchstone-worker:{version[1]}"
    for path in FOLDER.rglob("kustomization.yaml"):
        images = yaml.safe_load(path.read_text(encoding="utf-8")).get("images")
        if images is None:
            assert path.parent.relative_to(FOLDER).parts[0] in ("keda", "monitoring"), "no pod of its own"
            continue
        assert images == [{"name": "touchstone-worker", "newTag": version[1]}]


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_each_deployment_has_probes_a_budget_and_an_autoscaler_of_its_own(name: str) -> None:
    spec = DEPLOYMENTS[name]["spec"]
    only = container(spec["template"])
    port = int(settings_file()["TOUCHSTONE_HTTP__METRICS_PORT"])
    assert only["ports"] == [{"name": "metrics", "containerPort": port}]
    assert str(port) == image_environment()["TOUCHSTONE_HTTP__METRICS_PORT"]
    assert spec["template"]["metadata"]["annotations"]["prometheus.io/port"] == str(port)
    paths = [only[f"{kind}Probe"]["httpGet"] for kind in ("startup", "liveness", "readiness")]
    assert [(probe["path"], probe["port"]) for probe in paths] == [
        ("/healthz", "metrics"), ("/healthz", "metrics"), ("/readyz", "metrics"),
    ]  # fmt: skip
    labels = spec["selector"]["matchLabels"]
    assert spec["template"]["metadata"]["labels"] == labels == DEPLOYMENTS[name]["metadata"]["labels"]
    assert of_kind("PodDisruptionBudget")[name]["spec"]["selector"]["matchLabels"] == labels
    scaler = of_kind("HorizontalPodAutoscaler")[name]["spec"]
    assert scaler["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    # A number in the manifest would undo the autoscaler's whenever the manifests are applied.
    assert "replicas" not in spec
    assert scaler["maxReplicas"] <= int(settings_file()["TOUCHSTONE_KAFKA__PARTITIONS"])


def test_the_console_listens_where_its_service_and_probes_ask(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    only = container(CONSOLE["spec"]["template"])
    given = {each["name"]: each["value"] for each in only["env"] if not each["name"].endswith("_FILE")}
    tokens = tmp_path / "tokens.json"
    tokens.write_text('[{"name": "a", "token": "0123456789abcdef", "scopes": ["read"]}]')
    settings = settings_from(given | {"TOUCHSTONE_CONSOLE__TOKENS_FILE": str(tokens)}, monkeypatch).console
    assert (settings.host, len(settings.tokens)) == ("0.0.0.0", 1)
    metrics_port = int(settings_file()["TOUCHSTONE_HTTP__METRICS_PORT"])
    assert only["ports"] == [
        {"name": "http", "containerPort": settings.port}, {"name": "metrics", "containerPort": metrics_port},
    ]  # fmt: skip
    assert {only[f"{kind}Probe"]["httpGet"]["port"] for kind in ("startup", "liveness", "readiness")} == {"http"}
    service = of_kind("Service")["touchstone-console"]["spec"]
    assert service["selector"] == CONSOLE["spec"]["template"]["metadata"]["labels"]
    assert [port["targetPort"] for port in service["ports"]] == ["http"]
    assert (
        of_kind("PodDisruptionBudget")["touchstone-console"]["spec"]["selector"]["matchLabels"] == service["selector"]
    )


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_an_autoscaler_follows_the_records_of_an_agent_of_its_pods_and_takes_its_time(name: str) -> None:
    scaler = of_kind("HorizontalPodAutoscaler")[name]["spec"]
    (metric,) = [each["external"]["metric"] for each in scaler["metrics"] if each["type"] == "External"]
    assert metric["selector"]["matchLabels"]["agent"] in agents_of(DEPLOYMENTS[name]["spec"]["template"])
    adapter = yaml.safe_load((FOLDER / "prometheus-adapter.yaml").read_text(encoding="utf-8"))
    (rule,) = adapter["rules"]["external"]
    assert rule["name"]["as"] == metric["name"]
    for series in (CONSUMER_LAG._name, f"{RECORDS_CONSUMED._name}_total"):
        assert f"{series}{{<<.LabelMatchers>>}}" in rule["metricsQuery"]
    # A rebalance stops the groups for 3 to 7 s; what scales more often than it judges helps nobody.
    assert scaler["behavior"]["scaleUp"]["stabilizationWindowSeconds"] >= 120
    assert scaler["behavior"]["scaleDown"]["stabilizationWindowSeconds"] >= 600


COMPONENTS = {name.removeprefix("touchstone-"): pod for name, pod in PODS.items()}
STORE = {"clickhouse-password": 8443, "redis-url": 6379}
"""Ports of the servers for which a pod has a password."""


def used_keys(only: dict[str, Any]) -> set[tuple[str, str]]:
    """Folder and name of every secret that the settings of a container name."""
    named = [each["value"] for each in only.get("env", []) if each["name"].endswith("_FILE")]
    overridden = {each["name"] for each in only.get("env", [])}
    named += [value for name, value in settings_file().items() if name.endswith("_FILE") and name not in overridden]
    return {(str(Path(value).parent), Path(value).name) for value in named}


@CONTAINER
def test_a_container_has_the_secrets_that_its_settings_name_and_no_others(
    pod: dict[str, Any], only: dict[str, Any]
) -> None:
    volumes = {each["name"]: each["secret"] for each in pod["spec"]["volumes"] if "secret" in each}
    mounted = set()
    for mount in only["volumeMounts"]:
        if (secret := volumes.get(mount["name"])) is not None:
            assert mount["readOnly"] is True
            assert secret["defaultMode"] == 0o440
            names = [item["path"] for item in secret.get("items", [])]
            if secret["secretName"] == "touchstone-secrets":
                assert names, "without a list of keys all of them would be mounted"
            mounted |= {(mount["mountPath"], name) for name in names}
    of_shared = {(folder, name) for folder, name in used_keys(only) if not folder.endswith(("-migrate", "-exporters"))}
    assert mounted == of_shared
    assert not [each for each in only.get("env", []) if "valueFrom" in each], "a child process would inherit it"


def of_component(policy: dict[str, Any]) -> set[str]:
    selector = policy["spec"]["podSelector"]
    chosen = set(COMPONENTS)
    if (name := selector.get("matchLabels", {}).get("app.kubernetes.io/component")) is not None:
        chosen &= {name}
    for each in selector.get("matchExpressions", []):
        if each["key"] == "app.kubernetes.io/component":
            assert set(each["values"]) <= set(COMPONENTS)
            chosen &= set(each["values"])
    return chosen


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_pod_reaches_the_servers_for_which_it_has_a_password_and_no_others(component: str) -> None:
    reached = {
        port["port"]
        for policy in of_kind("NetworkPolicy").values()
        if component in of_component(policy)
        for rule in policy["spec"].get("egress", [])
        for port in rule["ports"]
    }
    keys = {name for _, name in used_keys(container(COMPONENTS[component]))}
    servers = settings_file()["KAFKA_BOOTSTRAP_SERVERS"]
    assert reached - {443} == {53, 4318} | {int(port) for port in re.findall(r":(\d+)", servers)} | {
        port for key, port in STORE.items() if key in keys
    }
    assert f":{STORE['clickhouse-password']}" in settings_file()["CLICKHOUSE_URL"]


def test_no_rule_of_the_network_policies_allows_any_address() -> None:
    for policy in of_kind("NetworkPolicy").values():
        for rule in policy["spec"].get("egress", []):
            assert rule["to"] and rule["ports"], policy["metadata"]["name"]
            for peer in rule["to"]:
                block = peer.get("ipBlock")
                assert block is None or "169.254.0.0/16" in block["except"], "the metadata service of the machine"
                assert block is not None or peer.get("namespaceSelector") != {}


def test_the_network_policy_lets_in_the_scrape_and_out_to_the_servers_of_the_settings() -> None:
    policies = of_kind("NetworkPolicy").values()
    policy = of_kind("NetworkPolicy")["touchstone"]
    environment = settings_file()
    inward = {port["port"] for each in policies for rule in each["spec"].get("ingress", []) for port in rule["ports"]}
    ports = {port["containerPort"] for port in container(CONSOLE["spec"]["template"])["ports"]}
    assert inward == ports
    assert int(environment["TOUCHSTONE_HTTP__METRICS_PORT"]) in ports
    assert of_component(policy) == set(COMPONENTS)
    assert (
        policy["spec"]["podSelector"]["matchLabels"].items() <= next(iter(PODS.values()))["metadata"]["labels"].items()
    )
