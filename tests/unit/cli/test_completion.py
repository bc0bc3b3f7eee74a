"""Check that a shell completes commands, their subcommands and options, and that commands print JSON for machines."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from workers.cli.main import app

TOUCHSTONE = Path(sys.executable).with_name("touchstone")


def completed(shell: str, line: str) -> str:
    given = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1), "_TYPER_COMPLETE_ARGS": line,
             "_TYPER_COMPLETE_FISH_ACTION": "get-args", "_TOUCHSTONE_COMPLETE": f"complete_{shell}"}  # fmt: skip
    return subprocess.run([TOUCHSTONE], env=os.environ | given, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("line", "word"),
    [("touchstone wor", "worker"), ("touchstone dlq ", "requeue"), ("touchstone worker --ag", "--agents")],
)
def test_a_shell_completes_commands_and_options(shell: str, line: str, word: str) -> None:
    assert word in completed(shell, line)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_names_the_program(shell: str) -> None:
    done = subprocess.run(
        [TOUCHSTONE], env=os.environ | {"_TOUCHSTONE_COMPLETE": f"source_{shell}"}, capture_output=True, text=True, check=True
    )  # fmt: skip
    assert "_TOUCHSTONE_COMPLETE=complete_" in done.stdout


def test_settings_and_schemas_are_printed_for_machines(tmp_path: Path) -> None:
    settings = json.loads(CliRunner().invoke(app, ["settings", "--json"]).stdout)
    assert {"variable", "value", "default", "meaning"} == settings[0].keys()
    exported = json.loads(CliRunner().invoke(app, ["schemas", "export", str(tmp_path), "--json"]).stdout)
    assert all(Path(name).exists() for name in exported["files"])
