"""The labelled set: balanced, in six languages, and found as well as the reference says."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.harness.paths import ROOT
from workers.cli.main import app
from workers.evaluation.quality.failure_signals import find_signals, is_refusal, is_tool_failure, stated_failure
from workers.evaluation.thresholds import QualityThresholds
from workers.measurement.signal_scores import SIGNALS, LabelledSignals, count_false_alarms, score_signals

FILES = [ROOT / "evaluation" / "quality" / name for name in ("dev.jsonl", "heldout.jsonl", "fresh.jsonl")]


def rows(path: Path) -> list[LabelledSignals]:
    return [LabelledSignals.model_validate_json(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_set_is_large_balanced_and_without_repeats() -> None:
    every = [row for path in FILES for row in rows(path)]
    assert len(every) >= 300
    assert len({row.id for row in every}) == len({row.answer for row in every}) == len(every)
    counts = Counter(signal for row in every for signal in row.signals)
    assert set(counts) == set(SIGNALS)
    assert min(counts.values()) >= 15
    assert 0.3 <= sum(not row.signals for row in every) / len(every) <= 0.5
    assert min(Counter(row.language for row in every).values()) >= 25


@pytest.mark.parametrize("length", [60, 400, 60_000])
def test_a_search_for_failures_alone_finds_the_same_failures(length: int) -> None:
    thresholds = QualityThresholds(custom_patterns={"refusal": ("Rufen Sie uns an",), "confusion": ("the",)})
    texts = [row.answer[:length] for path in FILES for row in rows(path)]
    texts += [text + " Rufen Sie uns an." for text in texts[:50]]
    found = {text: stated_failure(text, thresholds) for text in texts}
    for text, failure in found.items():
        signals = find_signals(text, thresholds)
        assert (failure == "tool_failure") == is_tool_failure(signals)
        assert (failure is not None) == (is_tool_failure(signals) or is_refusal(signals))
    counts = Counter(found.values())
    assert min(counts["refusal"], counts["tool_failure"], counts[None]) > 20


@pytest.mark.parametrize("paths", [FILES[:1], FILES[1:2], FILES], ids=["dev", "heldout", "all"])
def test_signals_are_found_as_the_reference_says(paths: list[Path]) -> None:
    found = score_signals([row for path in paths for row in rows(path)], QualityThresholds())
    for name, score in found.by_signal.items():
        assert score.precision is not None
        assert score.recall is not None
        assert score.precision >= 0.95, name
        assert score.recall >= 0.9, name
    assert min(found.right_by_language.values()) >= 0.9


def test_false_alarms_are_counted_by_signal() -> None:
    found = count_false_alarms(
        [("a", "I cannot help with that."), ("b", "The limit is 2 GiB for each pod.")], QualityThresholds()
    )
    assert (found.answers, found.escalated, found.share) == (2, 1, 0.5)
    assert (found.ids, found.by_signal) == (["a"], {"refusal": 1})
    assert count_false_alarms([], QualityThresholds()).share is None


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["eval", "quality", *arguments])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "bad.jsonl is empty"),
        ('{"answer": "OK", "label": 0}\n\n{"label": 0}\n', "bad.jsonl, line 3: field answer (text) is missing"),
        ('{"answer": 1}\n', "bad.jsonl, line 1: field answer (text) is missing"),
        ('["OK"]\n', "bad.jsonl, line 1: not a JSON object"),
        ('{"answer": "OK", "label": 0}\n{"answer": \n', "bad.jsonl, line 2: not valid JSON"),
    ],
)
def test_the_command_names_the_line_that_is_wrong(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(content, encoding="utf-8")
    result = run("--data", str(file))
    assert result.exit_code != 0
    assert message in " ".join(f"{result.output}{result.exception}".split())


def test_the_command_measures_both_kinds_of_files(tmp_path: Path) -> None:
    good = tmp_path / "good.jsonl.gz"
    lines = [{"id": "a", "answer": "OK", "label": 0}, {"id": "b", "answer": "OK", "label": 1}]
    good.write_bytes(gzip.compress("\n".join(json.dumps(line) for line in lines).encode()))
    result = run("--data", str(FILES[0]), "--data", str(good), "--json")
    assert result.exit_code == 0, result.output
    read = json.loads(result.stdout)
    assert read["dev.jsonl"]["answers"] == len(rows(FILES[0]))
    assert (read["good.jsonl.gz"]["answers"], read["good.jsonl.gz"]["escalated"]) == (1, 1)
    assert "precision" in run("--data", str(FILES[0])).output


@pytest.mark.parametrize(
    "content", ["", "x", '{"id": "a"}', '{"answer": "a"}', '{"id": "a", "answer": "b", "signals": ["joy"]}']
)
def test_a_file_that_is_no_labelled_set_is_named(content: str, tmp_path: Path) -> None:
    file = tmp_path / "odd.jsonl"
    file.write_text(content)
    result = run("--data", str(file))
    assert result.exit_code != 0
    assert "odd.jsonl" in str(result.exception)
