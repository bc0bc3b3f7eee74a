"""docker-compose.yml as a project of the tests: the shipped image between servers that stand for the published images."""

import json
import os
import secrets
import shlex
import shutil
import subprocess
import sys
import urllib.request
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from tests.harness.containers import FOLDER, PodmanMissing, build, health_checks, podman, run, wait_until
from tests.harness.paths import ROOT

PROJECT = "touchstone-tests"
SERVERS = ("kafka", "valkey", "clickhouse", "prometheus", "alertmanager")
OURS = ("worker", "judging", "console")
ONCE = ("topics", "migrate", "feed")
VARIABLES = (
    "CLICKHOUSE_PASSWORD", "CLICKHOUSE_READER_PASSWORD", "VALKEY_PASSWORD", "GRAFANA_PASSWORD", "CONSOLE_TOKEN",
)  # fmt: skip
ANSWERS = len((ROOT / "examples" / "answers.jsonl").read_text(encoding="utf-8").splitlines())


def compose_program() -> str:
    """Return the path of podman-compose.

    Raises:
        PodmanMissing: it is not installed.
    """
    found = shutil.which("podman-compose", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if found is None:
        raise PodmanMissing("podman-compose is not installed; make test-deploy installs it")
    return found


@dataclass(frozen=True, slots=True)
class Compose:
    """docker-compose.yml as a project of the tests.

    Attributes:
        passwords: values of the variables that the file asks for.
        version: tag of the image of the services that are Touchstone's; by default that of the file.
        file: the file, that of this version by default.
        servers: services that are not Touchstone's.
        ours: services of Touchstone that keep running.
    """

    passwords: Mapping[str, str]
    version: str | None = None
    file: Path = ROOT / "docker-compose.yml"
    servers: tuple[str, ...] = SERVERS
    ours: tuple[str, ...] = OURS

    def __call__(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        with NamedTemporaryFile("w", suffix=".yml") as images:
            image = {"image": f"docker.io/library/touchstone-worker:{self.version}"} if self.version else {}
            images.write(json.dumps({"services": dict.fromkeys((*ONCE, *self.ours), image)}))
            images.flush()
            files = [
                part for name in (self.file, FOLDER / "compose.tests.yml", images.name) for part in ("-f", str(name))
            ]
            return run(compose_program(), "-p", PROJECT, *files, *arguments, **self.passwords)

    def touchstone(self, command: str, folder: Path) -> "subprocess.CompletedProcess[str]":
        """Run a command of the documents in a container of its own, with a folder of this machine at /backup."""
        words = shlex.split(command)
        assert words[0] == "touchstone", command
        return self("run", "--rm", "--no-deps", "-T", "--volume", f"{folder}:/backup", "worker", *words[1:])

    def up(self, *services: str) -> None:
        """Start services in the background; what they depend on has been started before."""
        done = self("--profile", "examples", "up", "--detach", "--no-build", "--no-deps", *services)
        assert done.returncode == 0, done.stderr[-4_000:]

    def down(self) -> None:
        """Remove the containers; volumes stay."""
        self("down")
        left = podman("ps", "--all", "--quiet", "--filter", f"name={PROJECT}").split()
        if left:
            podman("rm", "--force", *left)

    def remove_volumes(self) -> None:
        """Remove the volumes of the project."""
        volumes = podman("volume", "ls", "--quiet", "--filter", f"name={PROJECT}").split()
        if volumes:
            podman("volume", "rm", "--force", *volumes)


def container(service: str) -> str:
    """Return the name of a service's container."""
    return f"{PROJECT}_{service}_1"


def state(service: str, template: str) -> str:
    """Return a part of a container's state."""
    return podman("inspect", container(service), "--format", template).strip()


@contextmanager
def running_compose(**version: Any) -> Iterator[Compose]:
    """Start everything but Grafana, for which there is no package.

    Args:
        **version: attributes of the project that are those of another version.

    Raises:
        PodmanMissing: a program is not installed, or this is not root.
    """
    compose_program()
    build("base", "worker", "servers")
    project = Compose({name: secrets.token_hex(16) for name in VARIABLES}, **version)
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
    compose.up(*compose.servers)
    wait_healthy(*compose.servers)
    compose.up("topics", "migrate")
    for name in ("topics", "migrate"):
        wait_until(lambda name=name: state(name, "{{.State.Status}}") == "exited", f"{name} has ended")
        assert state(name, "{{.State.ExitCode}}") == "0", podman("logs", container(name))
    compose.up(*compose.ours)
    wait_healthy(*compose.ours)


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


def stored(compose: Compose) -> str:
    return query(compose, "SELECT count(), countIf(degraded) FROM touchstone.answers FINAL")
