"""docker-compose.yml, started: the shipped image between servers that stand for the published images."""

import json
import secrets
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import pytest

from tests.harness.containers import (
    Compose,
    PodmanMissing,
    build,
    compose_program,
    container,
    health_checks,
    podman,
    run,
    state,
    wait_until,
)
from tests.harness.paths import ROOT

pytestmark = [pytest.mark.containers, pytest.mark.timeout(3_600)]

SERVERS = ("kafka", "valkey", "clickhouse", "prometheus", "alertmanager")
OURS = ("worker", "judging", "console")
VARIABLES = (
    "CLICKHOUSE_PASSWORD", "CLICKHOUSE_READER_PASSWORD", "VALKEY_PASSWORD", "GRAFANA_PASSWORD", "CONSOLE_TOKEN",
)  # fmt: skip
ANSWERS = len((ROOT / "examples" / "answers.jsonl").read_text(encoding="utf-8").splitlines())


@pytest.fixture(scope="module")
def compose() -> Iterator[Compose]:
    """Everything but Grafana, for which there is no package."""
    try:
        compose_program()
        build("base", "worker", "servers")
    except PodmanMissing as reason:
        pytest.skip(f"no containers: {reason}")
    project = Compose({name: secrets.token_hex(16) for name in VARIABLES})
    project.down()
    project.remove_volumes()
    try:
        with health_checks():
            start(project)
            yield project
    finally:
        project.down()
        project.remove_volumes()


def start(compose: Compose) -> None:
    """Start in the order of the file's conditions, which this version of Podman does not wait for."""
    compose.up(*SERVERS)
    wait_healthy(*SERVERS)
    compose.up("topics", "migrate")
    for name in ("topics", "migrate"):
        wait_until(lambda name=name: state(name, "{{.State.Status}}") == "exited", f"{name} has ended")
        assert state(name, "{{.State.ExitCode}}") == "0", podman("logs", container(name))
    compose.up(*OURS)
    wait_healthy(*OURS)


def wait_healthy(*services: str) -> None:
    for name in services:
        wait_until(lambda name=name: health(name) == "healthy", f"{name} is healthy by its own check")


def health(service: str) -> str:
    return state(service, "{{if .State.Health}}{{.State.Health.Status}}{{end}}")


def get(url: str, authorization: str | None = None, data: bytes | None = None) -> str:
    request = urllib.request.Request(url, data=data, headers={"Authorization": authorization} if authorization else {})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return str(answer.read().decode())


def query(compose: Compose, sql: str) -> str:
    login = b64encode(f"touchstone:{compose.passwords['CLICKHOUSE_PASSWORD']}".encode()).decode()
    return get("http://127.0.0.1:8123/", f"Basic {login}", sql.encode()).strip()


def from_console(compose: Compose, path: str) -> Any:
    return json.loads(get(f"http://127.0.0.1:8080{path}", f"Bearer {compose.passwords['CONSOLE_TOKEN']}"))


def stored(compose: Compose) -> str:
    return query(compose, "SELECT count(), countIf(degraded) FROM touchstone.answers FINAL")


def test_every_example_is_stored_once_and_whole_and_outlives_down_and_up(compose: Compose) -> None:
    compose.up("feed")
    wait_until(lambda: stored(compose) == f"{ANSWERS}\t0", "every answer is stored, none degraded")
    assert from_console(compose, "/api/answers?limit=2")["items"][0]["answer_id"]
    compose.down()
    start(compose)
    assert stored(compose) == f"{ANSWERS}\t0"


def test_the_doctor_finds_nothing_that_keeps_a_worker_from_its_work(compose: Compose) -> None:
    for service, options in (("worker", ["--without", "citations,grounding,quality"]), ("console", ["--console"])):
        done = run("podman", "exec", container(service), "touchstone", "doctor", "--json", *options)
        told = json.loads(done.stdout)
        assert (done.returncode, told["failures"]) == (0, 0), told


def test_prometheus_scrapes_every_process(compose: Compose) -> None:
    def targets() -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for each in json.loads(get("http://127.0.0.1:9090/api/v1/targets"))["data"]["activeTargets"]:
            found.setdefault(each["labels"]["job"], []).append(each["health"])
        return found

    expected = {"prometheus": ["up"], "touchstone": ["up", "up"], "touchstone-console": ["up"]}
    wait_until(lambda: targets() == expected, "all targets are up")
    known = json.loads(get("http://127.0.0.1:9090/api/v1/alertmanagers"))["data"]["activeAlertmanagers"]
    assert [each["url"].rpartition(":")[2] for each in known] == ["9093/api/v2/alerts"]
    rules = json.loads(get("http://127.0.0.1:9090/api/v1/rules"))["data"]["groups"]
    assert {rule["health"] for group in rules for rule in group["rules"]} <= {"ok", "unknown"}


def test_a_killed_worker_comes_back_and_sigterm_ends_it_in_time(compose: Compose) -> None:
    before = state("judging", "{{.State.StartedAt}}")
    # All processes of the container but the first, which then ends as well.
    run("podman", "exec", container("judging"), "sh", "-c", "kill -9 -1")
    wait_until(lambda: state("judging", "{{.State.StartedAt}}") != before, "the container was started again")
    wait_healthy("judging")
    podman("stop", "--time", "30", container("judging"))
    assert state("judging", "{{.State.ExitCode}}") == "0"


def test_a_missing_password_is_told_by_its_name(compose: Compose) -> None:
    without = Compose({name: value for name, value in compose.passwords.items() if name != "VALKEY_PASSWORD"})
    done = without("config")
    assert done.returncode != 0
    assert "set VALKEY_PASSWORD in .env" in done.stderr


def test_a_wrong_password_is_told_by_its_setting(compose: Compose) -> None:
    wrong = ("--env", "TOUCHSTONE_CLICKHOUSE__PASSWORD=wrong")
    done = run("podman", "exec", *wrong, container("worker"), "touchstone", "migrate", "--check")
    assert done.returncode == 1
    assert "TOUCHSTONE_CLICKHOUSE__PASSWORD" in done.stderr
