"""Frequent errors of a first attempt name the field, the variable or the file, and the remedy."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from workers.cli.exchange.ingest import advice_on
from workers.cli.main import app

ANSWER = {"answer_id": "a-1", "answer": "Paris.", "completed_at": "2026-11-02T08:00:00Z"}
SECRET = "hunter2-hunter2"


@pytest.fixture(autouse=True)
def empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CLICKHOUSE_URL", raising=False)
    monkeypatch.setenv("TOUCHSTONE_STATE_DIR", str(tmp_path / "state"))


def error_of(*arguments: str) -> str:
    """Return what a command prints, or raises for the entry point to print."""
    result = CliRunner().invoke(app, arguments)
    return " ".join(f"{result.stderr} {result.exception}".split())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (json.dumps(ANSWER | {"contexts": [SECRET]}), "file.json, answer 1: GeneratedAnswer is invalid: contexts.0: "),
        (
            json.dumps(ANSWER | {"contexts": [{"text": SECRET}]}),
            "GeneratedAnswer is invalid: contexts.0.chunk_id: Field required; contexts.0.content: Field required",
        ),
        (f"{SECRET}\n", "file.json, line 1: not valid JSON ("),
    ],
    ids=["a text as context", "wrong names", "no JSON"],
)
def test_an_invalid_answer_of_a_file_is_named_by_its_field_without_its_values(content: str, message: str) -> None:
    Path("file.json").write_text(content)
    shown = error_of("explain", "file.json")
    assert message in shown
    assert SECRET not in shown and "pydantic" not in shown


def test_a_misspelt_file_is_said_to_be_missing_before_the_lack_of_a_database() -> None:
    shown = error_of("explain", "anwsers.jsonl")
    assert shown.startswith("anwsers.jsonl is no file here, and as an answer_id it cannot be looked up: ")
    assert "CLICKHOUSE_URL not set" in shown


def test_a_list_that_is_no_json_is_named_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_EVALUATORS__ENABLED", SECRET)
    shown = error_of("best", "rows.jsonl")
    assert "TOUCHSTONE_EVALUATORS__ENABLED is not JSON" in shown
    assert SECRET not in shown


def test_an_unknown_setting_is_said_to_be_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_GROUNDING__MINIMUM", "0.5")
    assert "grounding.minimum: unknown setting; `touchstone settings` lists all" in error_of("best", "rows.jsonl")


@pytest.mark.parametrize(
    ("content", "command"),
    [
        (json.dumps(ANSWER, indent=2), "jq -c . 'my answers.json' | touchstone ingest -"),
        (json.dumps([ANSWER, ANSWER]), "jq -c '.[]' 'my answers.json' | touchstone ingest -"),
        (json.dumps({"id": 1}), "touchstone adapt"),
        ("no JSON\n", "touchstone adapt"),
    ],
    ids=["an object over lines", "a list", "another record", "no JSON"],
)
def test_ingest_says_how_to_send_a_document_that_is_not_one_answer_a_line(content: str, command: str) -> None:
    Path("my answers.json").write_text(content)
    assert command in advice_on("my answers.json", 1_000)
    assert "touchstone adapt" in advice_on("-", 1_000)
