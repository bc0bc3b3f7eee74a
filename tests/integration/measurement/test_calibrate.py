"""``touchstone calibrate grounding``: a file that the evaluation reads, and its figures for people and machines."""

import json
from pathlib import Path

from typer.testing import CliRunner

from workers.cli.main import app

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


def test_answers_without_marks_are_refused_with_the_remedy(tmp_path: Path) -> None:
    data = tmp_path / "answers.jsonl"
    data.write_text(json.dumps({"id": "1", "contexts": ["A."], "answer": "B.", "label": 1}) + "\n", encoding="utf-8")
    command = ["calibrate", "grounding", "--data", str(data), "--out", str(tmp_path / "o.json"), "--version", "1"]
    refused = CliRunner().invoke(app, command)
    assert refused.exit_code == 1
    assert "spans" in str(refused.exception)
