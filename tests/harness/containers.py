"""Images and containers for tests, with Podman, as root."""

import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

from tests.harness.paths import ROOT

FOLDER = ROOT / "tests" / "deploy"
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


def run(
    *command: str | Path, seconds: float = 300.0, text: str = "", **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run a program with a text as its input, and return what it printed.

    Input and output are files, since containers keep pipes open.
    """
    with TemporaryFile("w+") as given, TemporaryFile("w+") as output, TemporaryFile("w+") as errors:
        given.write(text)
        given.seek(0)
        done = subprocess.run(
            [str(part) for part in command], cwd=ROOT, stdin=given, stdout=output, stderr=errors, timeout=seconds,
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
    """Build images with tests/deploy/images.sh, a part with its arguments; what has not changed is kept."""
    require_podman()
    for part in parts:
        done = run("nice", "-n", "19", FOLDER / "images.sh", *part.split(), seconds=BUILD_SECONDS)
        assert done.returncode == 0, f"{done.stdout[-2_000:]}\n{done.stderr[-4_000:]}"


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


def wait_until(
    holds: Callable[[], bool], what: str, seconds: float = 240.0, told: Callable[[], str] = lambda: ""
) -> None:
    """Wait until a condition holds; the error says what was awaited, and what `told` returns."""
    waiting = threading.Event()
    for _ in range(int(seconds)):
        if holds():
            return
        waiting.wait(1.0)
    raise AssertionError(f"not within {seconds:g} s: {what}\n{told()}")
