"""Environments of their own for packages of clients, which need other versions than Touchstone's."""

import fcntl
import os
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

import pytest

INSTALL_SECONDS = 600


def client_environment(*requirements: str) -> Path:
    """Return the folder of the programs of an environment with these packages; made once a machine.

    A test whose packages the registry does not have is skipped.
    """
    name = sha256("\n".join((sys.version, *sorted(requirements))).encode()).hexdigest()[:16]
    default = Path(tempfile.gettempdir()) / f"touchstone-clients-{os.getuid()}"
    folder = Path(os.environ.get("TOUCHSTONE_CLIENT_ENVIRONMENTS", default)) / name
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder.parent / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # processes of one test run share the environment
        if not (folder / "complete").exists():
            _install(folder, requirements)
    return folder / "bin"


def _install(folder: Path, requirements: tuple[str, ...]) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True, timeout=INSTALL_SECONDS)
    command = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *requirements]
    done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    if done.returncode:
        pytest.skip(f"{', '.join(requirements)} cannot be installed: {done.stderr.strip().splitlines()[-1]}")
    (folder / "complete").touch()
