"""The reference of settings is that of the code, and whole."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.harness.command import bare_environment, run_command
from tests.harness.paths import ROOT
from workers.settings import Settings, is_group
from workers.settings.reference import settings_reference, settings_rows

WRITTEN = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")


def test_the_written_reference_is_current() -> None:
    assert settings_reference() == WRITTEN, "run: touchstone settings > docs/reference/settings.md"


def test_every_setting_has_its_row_with_a_meaning_and_nothing_else_has() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| .* \| (.*) \|$", WRITTEN, re.M)
    expected = set()
    for name, field in Settings.model_fields.items():
        if is_group(field.annotation):
            expected |= {f"TOUCHSTONE_{name}__{inner}".upper() for inner in field.annotation.model_fields}
        else:
            expected.add(name.upper() if field.validation_alias else f"TOUCHSTONE_{name}".upper())
    assert sorted(name for name, _ in rows) == sorted(expected)
    assert [name for name, meaning in rows if not meaning] == []


def test_no_secret_and_no_path_of_this_machine_is_written() -> None:
    assert "SecretStr" not in WRITTEN
    assert "PydanticUndefined" not in WRITTEN
    assert str(Path.home()) not in WRITTEN
    assert "| `TOUCHSTONE_CLICKHOUSE__PASSWORD` | secret |  |" in WRITTEN


def test_the_command_prints_it() -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "workers.cli", "settings"], env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert (finished.returncode, finished.stdout) == (0, WRITTEN), finished.stderr[-1_000:]


def test_the_command_prints_the_same_settings_for_machines() -> None:
    finished = run_command("settings", "--json", folder=ROOT, environment=bare_environment())
    rows = json.loads(finished.stdout)
    assert [row["variable"] for row in rows] == [row["variable"] for row in settings_rows()]
    assert {row["variable"] for row in rows} == set(re.findall(r"^\| `([A-Z_]+)` \|", WRITTEN, re.M))
    assert all(row["meaning"] and row["value"] for row in rows)
    (password,) = (row for row in rows if row["variable"] == "TOUCHSTONE_CLICKHOUSE__PASSWORD")
    assert (password["value"], password["default"]) == ("secret", None)
