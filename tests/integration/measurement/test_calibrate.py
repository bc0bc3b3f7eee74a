"""``touchstone calibrate`` and ``eval grounding``: files that the evaluation reads, figures for people and machines."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from workers.cli.analysis import evaluate
from workers.cli.main import app
from workers.evaluation.risk_mapping import read_risk_mapping
from workers.measurement.fits.label_calibration import TooFewLabels
from workers.measurement.labelled_answers import UnreadableSet, read_labelled
from workers.measurement.measured_answers import answer_of
from workers.pipeline.local_pipeline import LocalPipeline
from workers.settings import Settings, load_settings

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


def reviewed(path: Path, rows: int) -> Path:
    """Write labels as `touchstone export labels` does: what the risk takes for doubtful is right for these reviewers."""
    written = []
    for number in range(rows):
        source = f"Pump {number} moves {number + 20} litres a minute. It stands in the north hall of the plant."
        kind = number % 3
        answer = f"Pump {number} moves {number + 20} litres." if kind else "Sailors adore the marble ballroom upstairs."
        answer += " Technicians inspect equipment regularly." if kind == 2 else ""
        row = {"id": str(number), "dataset": "touchstone-reviews", "task": "qa", "query": "What does it move?"}
        row |= {"contexts": [source], "answer": answer, "label": int(kind == 0), "spans": None, "span_verdicts": None}
        written.append(row | {"split": "train", "licence": "internal", "source_repo": "review:acme"})
    path.write_text("".join(json.dumps(row) + "\n" for row in written), encoding="utf-8")
    return path


def test_labels_of_reviewers_make_a_mapping_that_the_evaluation_uses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, out = reviewed(tmp_path / "reviewed.jsonl", 90), tmp_path / "risk.json"
    fitted = CliRunner().invoke(app, ["calibrate", "labels", "--data", str(data), "--out", str(out), "--json"])
    assert fitted.exit_code == 0, fitted.output
    figures = json.loads(fitted.stdout)
    assert (figures["written"], figures["answers"], figures["bad"], figures["file"]) == (True, 90, 30, str(out))
    assert figures["log_loss_reduction"][1] > 0.0
    before, after = figures["calibration_error"]
    assert after < before

    answer = answer_of(read_labelled([data])[2])
    plain = LocalPipeline(Settings(_env_file=None)).evaluate(answer).grounding
    monkeypatch.setenv("TOUCHSTONE_GROUNDING__RISK_MAPPING", str(out))
    mapped = LocalPipeline(Settings(_env_file=None)).evaluate(answer).grounding
    assert plain is not None and mapped is not None and plain.risk_score is not None
    assert mapped.risk_score == pytest.approx(read_risk_mapping(out)(plain.risk_score), abs=1e-5)
    assert mapped.risk_score < plain.risk_score

    # A second fit starts from the shipped risk and bands again, whatever the settings name.
    document = json.loads(out.read_text("utf-8")) | {"risk_medium": 0.2, "risk_high": 0.4}
    out.write_text(json.dumps(document), encoding="utf-8")
    load_settings.cache_clear()  # the process has read its settings before
    again = CliRunner().invoke(app, ["calibrate", "labels", "--data", str(data), "--out", str(out), "--json"])
    load_settings.cache_clear()
    assert again.exit_code == 0 and json.loads(again.stdout) == figures


def test_labels_that_change_nothing_or_are_too_few_leave_no_file(tmp_path: Path) -> None:
    out = tmp_path / "risk.json"
    few = reviewed(tmp_path / "few.jsonl", 49)
    refused = CliRunner().invoke(app, ["calibrate", "labels", "--data", str(few), "--out", str(out)])
    assert refused.exit_code == 1 and isinstance(refused.exception, TooFewLabels)
    rows = [json.loads(line) for line in reviewed(tmp_path / "reviewed.jsonl", 3).read_text("utf-8").splitlines()]
    # The risk of a supported answer without a citation is 0.1, and of these a ninth is bad.
    same = [rows[1] | {"id": str(number), "label": int(number % 9 == 0)} for number in range(96)]
    same = [row | {"contexts": [*row["contexts"], f"Note {number}."]} for number, row in enumerate(same)]
    data = tmp_path / "same.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in same), encoding="utf-8")
    kept = CliRunner().invoke(app, ["calibrate", "labels", "--data", str(data), "--out", str(out)])
    assert kept.exit_code == 3, kept.output
    assert "which stays; no file was written" in kept.stdout and not out.exists()
    data.write_text("".join(json.dumps(row | {"contexts": []}) + "\n" for row in same), encoding="utf-8")
    unscored = CliRunner().invoke(app, ["calibrate", "labels", "--data", str(data), "--out", str(out)])
    assert unscored.exit_code == 1 and "0 labelled answers have a risk" in str(unscored.exception)
    assert not out.exists()


def test_a_fit_without_a_part_shows_what_it_is_worth(tmp_path: Path) -> None:
    data, measured = labelled(tmp_path / "answers.jsonl"), tmp_path / "worth.json"
    command = ["eval", "grounding", "--data", str(data), "--json", str(measured)]
    run = CliRunner().invoke(app, [*command, "--ablate", "language", "--ablate", "placement", "--ablate", "language"])
    assert run.exit_code == 0, run.output
    found = json.loads(measured.read_text("utf-8"))["ablation"]
    assert [(each["part"], each["set"], each["answers"]) for each in found] == [
        ("language", "answers", ROWS),
        ("placement", "answers", ROWS),
    ]
    # All answers are in English: no claim is in another language.
    assert found[0]["auroc"] == [0.0, 0.0, 0.0] and found[0]["milliseconds"] is None
    assert found[1]["milliseconds"] > 0.0


@pytest.mark.parametrize(
    ("part", "reason"), [("nothing", "is no part; use similarity"), ("verifier", "--verifier builtin")]
)
def test_a_part_that_cannot_be_left_out_is_refused_before_anything_is_measured(
    tmp_path: Path, part: str, reason: str
) -> None:
    command = ["eval", "grounding", "--data", str(tmp_path / "missing.jsonl"), "--ablate", part]
    refused = CliRunner().invoke(app, command)
    assert refused.exit_code == 1 and reason in str(refused.exception)


def test_reliability_is_shown_by_the_form_of_the_answer(tmp_path: Path) -> None:
    data, figures, plot = labelled(tmp_path / "answers.jsonl"), tmp_path / "f.json", tmp_path / "f.png"
    command = ["eval", "grounding", "--data", str(data), "--json", str(figures), "--plot", str(plot)]
    run = CliRunner().invoke(app, command)
    assert run.exit_code == 0, run.output
    forms = {each["set"]: each for each in json.loads(figures.read_text("utf-8"))["forms"]}
    assert set(forms) == {"2 claims", "up to 25 words", "texts"}
    assert forms["texts"]["answers"] == ROWS and 0.0 < forms["texts"]["mean_risk"] < 1.0
    assert "by the form of the answer" in run.stdout and plot.stat().st_size > 10_000
