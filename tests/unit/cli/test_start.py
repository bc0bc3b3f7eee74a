"""Check which modules a process loads at its start, and which it loads on first use."""

import subprocess
import sys

import pytest
import typer.main
from typer.core import TyperGroup
from typer.testing import CliRunner

from tests.harness.paths import ROOT
from workers.cli.main import Commands, app

HEAVY = ["chdb", "fastapi", "lancedb", "onnxruntime", "pandas", "scipy.stats", "sklearn", "torch", "transformers"]


def test_a_worker_is_there_before_the_libraries_that_only_some_agents_need() -> None:
    """They take seconds of CPU, at every restart: models and stores load theirs when they are opened."""
    code = f"import sys, workers.cli, workers.runtime.worker; print(*(name for name in {HEAVY} if name in sys.modules))"
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert told.stdout.split() == []


def test_the_help_of_all_commands_imports_none_of_them() -> None:
    """It takes a fifth of a second of CPU; the commands and their settings take two."""
    code = (
        "import sys, workers.cli.main as cli\n"
        "try: cli.app(['--help'])\n"
        "except SystemExit: pass\n"
        "print('loaded:', *sorted(set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    text, _, loaded = told.stdout.partition("loaded:")
    assert "dlq" in text
    modules = set(loaded.split())
    assert modules.isdisjoint({*HEAVY, "aiokafka", "clickhouse_connect", "faust", "numpy", "workers.settings"})
    assert not [name for name in modules if name.startswith("workers.cli.") and name.count(".") == 3], (
        "a command's module"
    )


def test_the_help_read_from_the_source_is_that_of_the_command() -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    for name, place in Commands.places.items():
        assert place.help().split() == (group.commands[name].help or "").split(), name


def test_an_unknown_command_is_answered_with_a_similar_one() -> None:
    done = CliRunner().invoke(app, ["topic"])
    assert done.exit_code == 2
    assert "Did you mean 'topics'" in done.output


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "many"])
@pytest.mark.parametrize(
    "option", ["golden check x --tolerance", "doctor --wait", "plan --rate", "plan --rate 1 --answer-kb"]
)
def test_an_option_refuses_what_is_no_finite_number(option: str, value: str) -> None:
    name = option.split()[-1]
    done = CliRunner().invoke(app, f"{option}={value}".split())
    assert done.exit_code == 2
    assert f"Invalid value for '{name}'" in done.output
