"""The outputs that are compared before and after a change of the code."""

import json
from pathlib import Path

from benchmarks import evaluation_outputs


def test_two_runs_write_the_same_bytes_and_no_version(tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(evaluation_outputs.EXAMPLES.read_text("utf-8").splitlines(keepends=True)[:2]), "utf-8")
    files = [tmp_path / "before.jsonl", tmp_path / "after.jsonl"]
    for file in files:
        evaluation_outputs.main([str(file), "--answers", str(answers)])
    assert files[0].read_bytes() == files[1].read_bytes()
    written = [json.loads(line) for line in files[0].read_text("utf-8").splitlines()]
    assert [each["enriched"]["answer"]["answer_id"] for each in written]
    assert len(written) == 2
    assert "pipeline_version" not in files[0].read_text("utf-8")
