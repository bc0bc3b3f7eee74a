"""A wrong setting ends every command with one message, and no message holds a secret."""

from pathlib import Path

import pytest
from pydantic import ValidationError
from typer.testing import CliRunner

from workers.cli.main import app
from workers.settings import Settings

SECRET = "hunter2-hunter2"


@pytest.fixture(autouse=True)
def wrong_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The validator of the group fails, so that pydantic quotes all of its values."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOUCHSTONE_KAFKA__SECURITY_PROTOCOL", "SASL_SSL")
    monkeypatch.setenv("TOUCHSTONE_KAFKA__SASL_PASSWORD", SECRET)


@pytest.mark.parametrize(
    "arguments",
    [
        ("eval", "grounding", "--data", "rows.jsonl"),
        ("calibrate", "grounding", "--data", "rows.jsonl", "--out", "out.json", "--version", "2"),
        ("eval", "quality", "--data", "rows.jsonl"),
        ("best", "rows.jsonl"),
    ],
    ids=" ".join,
)
def test_a_command_names_the_wrong_setting(arguments: tuple[str, ...]) -> None:
    Path("rows.jsonl").write_text('{"answer": "Yes.", "label": 0}\n')
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2, result.output
    assert "settings are invalid" in result.stderr
    assert SECRET not in result.output + str(result.exception)


def test_an_error_of_settings_quotes_no_value() -> None:
    with pytest.raises(ValidationError, match="kafka") as caught:
        Settings(_env_file=None)
    assert SECRET not in str(caught.value) + repr(caught.value)
