"""Files that cannot be used, and numbers without a value, end a command with one sentence and before its work."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harness.command import bare_environment, run_command_as_text
from workers.cli.output import require_writable
from workers.errors import TouchstoneError

Touchstone = Callable[..., subprocess.CompletedProcess[str]]
ROW = {"id": "r", "contexts": ["Loki needs 2 GiB."], "answer": "Loki needs 2 GiB.", "label": 0, "spans": []}


@pytest.fixture
def touchstone(tmp_path: Path) -> Touchstone:
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
    (tmp_path / "file").write_text("a file\n")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = bare_environment() | {"TOUCHSTONE_STATE_DIR": str(tmp_path / "state"), "NO_COLOR": "1"}
        return run_command_as_text(*arguments, folder=tmp_path, environment=environment)

    return run


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (("calibrate", "grounding", "--data", "rows.jsonl", "--version", "2", "--out", "none/x.json"), "none/x.json"),
        (("calibrate", "grounding", "--data", "rows.jsonl", "--version", "2", "--out", "."), "."),
        (("eval", "grounding", "--data", "rows.jsonl", "--json", "none/x.json"), "none/x.json"),
        (("eval", "grounding", "--data", "rows.jsonl", "--plot", "file/x.png"), "file/x.png"),
        (("compare", "live", "other", "--html", "none/x.html"), "none/x.html"),
        (("demo", "--summary-json", "none/x.json"), "none/x.json"),
        (("chaos", "--json", "none/x.json"), "none/x.json"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_an_output_that_cannot_be_written_is_refused_before_the_work(
    touchstone: Touchstone, arguments: tuple[str, ...], place: str
) -> None:
    done = touchstone(*arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: {place} cannot be written: ")
    assert "\n" not in done.stderr.rstrip("\n"), "nothing else was begun"


def test_the_check_of_an_output_leaves_no_trace(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("old")
    require_writable(kept, tmp_path / "new", None, Path("/dev/null"))
    assert [each.name for each in tmp_path.iterdir()] == ["kept"]
    assert kept.read_text() == "old"
    with pytest.raises(TouchstoneError, match="cannot be written"):
        require_writable(tmp_path)


def test_an_unusable_file_of_any_command_is_named_without_a_traceback(touchstone: Touchstone) -> None:
    done = touchstone("schemas", "export", "file", "--json")
    assert (done.returncode, done.stderr) == (1, "error: file: File exists\n")


@pytest.mark.parametrize("length", [256, 5_000])
def test_an_identifier_that_is_too_long_for_a_file_is_looked_up(touchstone: Touchstone, length: int) -> None:
    done = touchstone("explain", "x" * length)
    assert done.returncode == 1
    assert "ClickHouse" in done.stderr or "CLICKHOUSE" in done.stderr
    assert "too long" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", "--rate", "inf"),
        ("plan", "--rate", "nan"),
        ("plan", "--rate", "10", "--answer-kb", "inf"),
        *(("plan", "--rate", "10", "--price", f"core={number}") for number in ("nan", "inf", "-inf", "-1", "")),
        ("doctor", "--wait", "nan"),
        ("doctor", "--wait", "inf"),
    ],
    ids=" ".join,
)
def test_a_number_that_is_none_is_refused(touchstone: Touchstone, arguments: tuple[str, ...]) -> None:
    done = touchstone(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Invalid value" in done.stderr


def rows(folder: Path, *labels: dict[str, object]) -> None:
    lines = [{"id": f"r{number}", "answer": "I cannot help with that."} | label for number, label in enumerate(labels)]
    (folder / "labels.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_labels_as_texts_are_labels(touchstone: Touchstone, tmp_path: Path) -> None:
    """Files that were written from tables have texts."""
    labels: list[dict[str, object]] = [{"label": label} for label in (0, "0", "false", False, 1, "1", "true")]
    rows(tmp_path, *labels)
    done = touchstone("eval", "quality", "--data", "labels.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["labels.jsonl"]["answers"] == 4


@pytest.mark.parametrize("second", [{}, {"label": "maybe"}, {"label": None}, {"label": 2}])
def test_a_row_without_a_label_is_named(touchstone: Touchstone, tmp_path: Path, second: dict[str, object]) -> None:
    rows(tmp_path, {"label": 0}, second)
    done = touchstone("eval", "quality", "--data", "labels.jsonl")
    assert done.returncode == 1
    assert done.stderr.startswith("error: labels.jsonl, line 2: field label ")


def test_the_largest_errors_control_no_terminal_and_stay_json(touchstone: Touchstone, tmp_path: Path) -> None:
    hostile = "Loki \x9b31m needs \u202e 4 GiB."
    (tmp_path / "rows.jsonl").write_text(
        json.dumps(ROW | {"answer": hostile, "label": 1}) + "\n" + json.dumps(ROW) + "\n"
    )
    done = touchstone("eval", "grounding", "--data", "rows.jsonl", "--errors", "2")
    assert done.returncode == 0, done.stderr
    assert not {"\x9b", "\u202e"} & set(done.stdout)
    printed = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert any("\x9b31m needs \u202e" in json.dumps(each, ensure_ascii=False) for each in printed)
