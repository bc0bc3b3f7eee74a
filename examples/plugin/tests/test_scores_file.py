"""Scores as files: one line for each answer, and a folder that must be named."""

import json
from pathlib import Path

import pytest
from touchstone_reading_ease.scores_file import FOLDER, open_folder

from schemas.enriched import EnrichedAnswer
from schemas.export import example
from workers.settings import Settings

SETTINGS = Settings(_env_file=None)


def test_each_answer_is_one_line_without_its_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "scores"))
    enriched = EnrichedAnswer.model_validate(example(EnrichedAnswer))
    write = open_folder(SETTINGS)
    write(enriched)
    write(enriched)
    (file,) = (tmp_path / "scores").iterdir()
    first, second = map(json.loads, file.read_text().splitlines())
    assert first == second
    assert first["answer_id"] == enriched.answer_id
    assert first["gate"] == enriched.evaluation.score
    assert enriched.answer.answer not in file.read_text()


def test_a_folder_that_is_not_named_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER, raising=False)
    with pytest.raises(ValueError, match="READING_EASE_FOLDER is not set"):
        open_folder(SETTINGS)
