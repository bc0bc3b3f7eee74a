"""``touchstone calibrate grounding``: a file that the evaluation reads, and its figures for people and machines."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from workers.cli.analysis import evaluate
from workers.cli.main import app
from workers.measurement.labelled_answers import UnreadableSet

ROWS = 60


def labelled(path: Path) -> Path:
    """Write answers of two claims; every other one has an invented second claim, which is marked."""
    rows = []
    for number in range(ROWS):
        right = f"Pump {number} moves {number + 20} litres."
        wrong = "Sailors adore the marble ballroom upstairs."
        answer = f"{right} {wrong if number % 2 else 'It stands in the north hall.'}"
        spans = [[len(right) + 1, len(answer)]] if number % 2 else []
        source = f"Pump {number} moves {number + 20} litres a minute. It stands in the north hall of the plant."
        rows.append({"id": str(number), "contexts": [source], "answer": answer, "label": number % 2, "spans": spans})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_fit_of_labelled_answers_separates_them_and_its_figures_are_printed_for_machines(tmp_path: Path) -> None:
    data, out = labelled(tmp_path / "answers.jsonl"), tmp_path / "grounding.json"
    command = ["calibrate", "grounding", "--data", str(data), "--out", str(out), "--version", "own", "--json"]
    fitted = CliRunner().invoke(app, command)
    assert fitted.exit_code == 0, fitted.output
    figures = json.loads(fitted.stdout)
    assert (figures["answers"], figures["file"]) == (ROWS, str(out))
    assert figures["cut"] == json.loads(out.read_text("utf-8"))["claim"]["cut"]

    measured = tmp_path / "figures.json"
    command = ["eval", "grounding", "--data", str(data), "--calibration", str(out), "--json", str(measured)]
    assert CliRunner().invoke(app, command).exit_code == 0
    (told,) = json.loads(measured.read_text("utf-8"))["figures"]
    assert told["auroc"] > 0.95


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda row, number: row | {"contexts": ["One source."]}, "1 different sources"),
        (lambda row, number: row | {"contexts": [f"Source {number % 4}."]}, "4 different sources"),
        (lambda row, number: row | {"label": 1}, "every answer has the label 1"),
        (lambda row, number: row | {"label": 0}, "every answer has the label 0"),
        (lambda row, number: {name: row[name] for name in row if name != "spans"}, "field spans marks"),
        (lambda row, number: row | {"spans": row["spans"] if number == 1 else []}, "field spans marks"),
    ],
)
def test_answers_that_nothing_can_be_fitted_to_are_refused_before_they_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[..., Any], reason: str
) -> None:
    data = labelled(tmp_path / "answers.jsonl")
    rows = [json.loads(line) for line in data.read_text("utf-8").splitlines()]
    data.write_text("".join(json.dumps(change(row, number)) + "\n" for number, row in enumerate(rows)), "utf-8")
    measured: list[object] = []
    monkeypatch.setattr(evaluate, "measure_row", lambda row, _: measured.append(row))
    command = ["calibrate", "grounding", "--data", str(data), "--out", str(tmp_path / "o.json"), "--version", "1"]
    command_of_cross_validation = ["eval", "grounding", "--data", str(data), "--cross-validate", str(data)]
    for each in (command, command_of_cross_validation):
        refused = CliRunner().invoke(app, each)
        assert refused.exit_code == 1 and isinstance(refused.exception, UnreadableSet)
        assert reason in str(refused.exception)
    assert measured == []


@pytest.mark.parametrize(
    "spans", [lambda answer: [[0, len(answer)]], lambda answer: [[len(answer) + 5, len(answer) + 9]]]
)
def test_marked_answers_of_one_class_are_refused_in_a_sentence(tmp_path: Path, spans: Callable[[str], Any]) -> None:
    data = labelled(tmp_path / "answers.jsonl")
    rows = [json.loads(line) for line in data.read_text("utf-8").splitlines()][:20]
    data.write_text("".join(json.dumps(row | {"spans": spans(row["answer"])}) + "\n" for row in rows), "utf-8")
    command = ["calibrate", "grounding", "--data", str(data), "--out", str(tmp_path / "o.json"), "--version", "1"]
    refused = CliRunner().invoke(app, command)
    assert refused.exit_code == 1 and isinstance(refused.exception, UnreadableSet)
    assert "no marked answer has a claim that is" in str(refused.exception)
