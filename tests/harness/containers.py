"""Images and containers for tests: deploy/Dockerfile and docker-compose.yml with Podman, as root."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from tests.harness.paths import ROOT

FOLDER = ROOT / "tests" / "deploy"
PROJECT = "touchstone-tests"
BUILD_SECONDS = 2_400.0
CHECK_SECONDS = 3.0


class PodmanMissing(Exception):
    """Containers cannot be started here; the text says why."""


def require_podman() -> None:
    """Raise an error that names what is missing.

    Raises:
        PodmanMissing: a program is missing, or this is not root.
    """
    if os.geteuid() != 0:
        raise PodmanMissing("only root starts containers in these tests")
    for program in ("podman", "buildah", "runc", "debootstrap"):
        if shutil.which(program) is None:
            raise PodmanMissing(f"{program} is not installed")


def compose_program() -> str:
    """Return the path of podman-compose.

    Raises:
        PodmanMissing: it is not installed.
    """
    found = shutil.which("podman-compose", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if found is None:
        raise PodmanMissing("podman-compose is not installed; make test-deploy installs it")
    return found


def run(*command: str | Path, seconds: float = 300.0, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a program, and return what it printed. The output goes to files, since containers keep pipes open."""
    with TemporaryFile("w+") as output, TemporaryFile("w+") as errors:
        done = subprocess.run(
            [str(part) for part in command], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, timeout=seconds,
            env={**os.environ, "CONTAINERS_CONF": str(FOLDER / "containers.conf"), **environment}, check=False,
        )  # fmt: skip
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read())
    return subprocess.CompletedProcess(done.args, done.returncode, *texts)


def podman(*arguments: str, seconds: float = 300.0) -> str:
    """Run podman, which must succeed, and return its output."""
    done = run("podman", *arguments, seconds=seconds)
    assert done.returncode == 0, done.stderr[-4_000:]
    return done.stdout


def build(*parts: str) -> None:
    """Build images with tests/deploy/images.sh; what has not changed is kept from the last time."""
    require_podman()
    for part in parts:
        done = run("nice", "-n", "19", FOLDER / "images.sh", part, seconds=BUILD_SECONDS)
        assert done.returncode == 0, f"{done.stdout[-2_000:]}\n{done.stderr[-4_000:]}"


@dataclass(frozen=True, slots=True)
class Compose:
    """docker-compose.yml as a project of the tests.

    Attributes:
        passwords: values of the variables that the file asks for.
    """

    passwords: Mapping[str, str]

    def __call__(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        files = ["-f", "docker-compose.yml", "-f", str(FOLDER / "compose.tests.yml")]
        return run(compose_program(), "-p", PROJECT, *files, *arguments, **self.passwords)

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
def health_checks() -> Iterator[None]:
    """Run the health checks of all containers, as systemd does elsewhere."""
    stop = threading.Event()

    def check() -> None:
        while not stop.wait(CHECK_SECONDS):
            for name in run("podman", "ps", "--format", "{{.Names}}").stdout.split():
                run("podman", "healthcheck", "run", name)

    thread = threading.Thread(target=check, name="health checks")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def wait_until(holds: Callable[[], bool], what: str, seconds: float = 240.0) -> None:
    """Wait until a condition holds."""
    waiting = threading.Event()
    for _ in range(int(seconds)):
        if holds():
            return
        waiting.wait(1.0)
    raise AssertionError(f"not within {seconds:g} s: {what}")
