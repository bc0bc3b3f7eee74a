"""The cost of an evaluation is measured on the lines of a file that are answers."""

import json
from pathlib import Path

import pytest

from schemas.answers import GeneratedAnswer
from schemas.export import example
from workers.measurement.evaluation_cost import evaluation_cpu
from workers.settings import Settings


@pytest.mark.parametrize("broken", [b"{", b'{"answer_id": "a-2"}', b"", b"x" * 70_000])
def test_lines_that_are_no_answers_are_left_out(tmp_path: Path, broken: bytes) -> None:
    file = tmp_path / "answers.jsonl"
    settings = Settings(_env_file=None)
    settings.files.max_line_bytes = 65_536
    file.write_bytes(broken + b"\n" + json.dumps(example(GeneratedAnswer)).encode() + b"\n" + broken + b"\n")
    assert 0 < evaluation_cpu(settings, file) < 60_000
