"""Environments of their own for packages of clients, which need other versions than Touchstone's."""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

INSTALL_SECONDS = 600


def client_environment(*requirements: str) -> Path:
    """Return the folder of the programs of an environment with these packages of PyPI; made once a machine.

    A test whose packages the registry does not have is skipped.
    """

    def install(folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True, timeout=INSTALL_SECONDS)
        _run([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *requirements], folder)

    return _made((sys.version, *sorted(requirements)), install) / "bin"


def node_environment(*requirements: str) -> Path:
    """Return a folder with these packages of npm in ``node_modules``; made once a machine."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    return _made(
        ("npm", *sorted(requirements)),
        lambda folder: _run(["npm", "install", "--silent", "--no-fund", "--no-audit", *requirements], folder),
    )


def _made(named: tuple[str, ...], install: Callable[[Path], None]) -> Path:
    name = sha256("\n".join(named).encode()).hexdigest()[:16]
    default = Path(tempfile.gettempdir()) / f"touchstone-clients-{os.getuid()}"
    folder = Path(os.environ.get("CLIENT_ENVIRONMENTS", default)) / name
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder.parent / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # processes of one test run share the environment
        if not (folder / "complete").exists():
            folder.mkdir(exist_ok=True)
            install(folder)
            (folder / "complete").touch()
    return folder


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    if done.returncode:
        told = (done.stderr.strip() or "no reason").splitlines()[-1]
        pytest.skip(f"packages of a client cannot be installed: {told}")
