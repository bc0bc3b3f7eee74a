"""Installation: what runs without the packages of the extras, and what a missing one costs."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.harness.paths import ROOT
from workers.cli.main import EXTRA_PACKAGES

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

BLOCKED = """
import importlib.abc, sys
class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
"""
ABSENT = sorted({package for packages in EXTRA_PACKAGES.values() for package in packages})


def run_without_extras(code: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """Run Python code where no package of an extra can be imported."""
    return subprocess.run(
        [sys.executable, "-c", f"ABSENT = {ABSENT}\n{BLOCKED}\n{code}"],
        cwd=cwd, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "COLUMNS": "200"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def command(*arguments: str) -> str:
    return f"sys.argv = ['touchstone', *{arguments}]\nfrom workers.cli.main import main\nmain()"


@pytest.mark.parametrize(
    "module", ["schemas.topics", "workers.client", "workers.feedback.model_choice", "workers.gateways.formats"]
)
def test_what_programs_beside_the_worker_import_needs_no_extra(module: str, tmp_path: Path) -> None:
    finished = run_without_extras(f"import {module}", tmp_path)
    assert finished.returncode == 0, finished.stderr


@pytest.mark.parametrize(
    "arguments",
    [("--version",), ("--help",), ("schemas", "export", "contracts"), ("settings",), ("topics", "list")],
    ids=" ".join,
)
def test_commands_that_evaluate_nothing_run_without_extras(arguments: tuple[str, ...], tmp_path: Path) -> None:
    finished = run_without_extras(command(*arguments), tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [(("explain", str(ROOT / "examples" / "answers.jsonl")), "worker"), (("services",), "local")],
    ids=["explain", "services"],
)
def test_a_command_whose_packages_are_missing_names_the_extra(
    arguments: tuple[str, ...], extra: str, tmp_path: Path
) -> None:
    finished = run_without_extras(command(*arguments), tmp_path)
    assert finished.returncode != 0
    assert f"touchstone-worker[{extra}]" in finished.stderr.replace("\n", " ")
    assert "Traceback" not in finished.stderr


def test_every_extra_of_the_commands_is_one_of_the_project() -> None:
    assert set(EXTRA_PACKAGES) <= set(PROJECT["optional-dependencies"])


def test_nothing_that_a_worker_alone_needs_is_installed_by_default() -> None:
    default = {requirement.partition(">")[0].partition("[")[0] for requirement in PROJECT["dependencies"]}
    assert not default & {"torch", "sentence-transformers", "lancedb", "scikit-learn", "scipy", "pyarrow"}
