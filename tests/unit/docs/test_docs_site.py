"""The documentation site builds without a warning."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.paths import ROOT


def test_the_site_builds_in_strict_mode_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="mkdocs is not installed; it comes with the extra dev")
    finished = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    told = finished.stdout + finished.stderr
    assert finished.returncode == 0, told
    assert not [line for line in told.splitlines() if line.startswith(("WARNING", "ERROR"))], told
    assert (tmp_path / "site" / "operations" / "alerts" / "index.html").is_file()
