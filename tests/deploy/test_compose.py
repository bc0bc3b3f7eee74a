"""docker-compose.yml, started: the shipped image between servers that stand for the published images."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.deploy.test_image import IMAGE
from tests.harness.compose import ANSWERS, OURS, Compose, container, get, query, start, state, stored, wait_healthy
from tests.harness.containers import build, podman, run, wait_until

pytestmark = [pytest.mark.containers, pytest.mark.timeout(3_600)]


def from_console(compose: Compose, path: str) -> Any:
    return json.loads(get(f"http://127.0.0.1:8080{path}", f"Bearer {compose.passwords['CONSOLE_TOKEN']}"))


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


def test_without_pytorch_the_image_does_the_same(compose: Compose) -> None:
    build("int8")
    before = query(compose, "SELECT max(enriched_at) FROM touchstone.answers")
    small = replace(compose, version=f"{IMAGE.rpartition(':')[2]}-int8")
    podman("rm", "--force", *(container(name) for name in (*OURS, "feed")))
    small.up(*OURS)
    wait_healthy(*OURS)
    assert podman("inspect", container("judging"), "--format", "{{.ImageName}}").strip().endswith("-int8")
    small.up("feed")
    again = f"SELECT countIf(enriched_at > '{before}') FROM touchstone.answers FINAL"
    wait_until(lambda: query(compose, again) == str(ANSWERS), "every answer is evaluated again")
    assert stored(compose) == f"{ANSWERS}\t0"
