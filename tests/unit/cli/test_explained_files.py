"""A file of answers is explained answer by answer."""

from pathlib import Path

from typer.testing import CliRunner

from schemas.enriched import EnrichedAnswer
from schemas.export import example
from workers.cli.main import app


def test_an_answer_is_explained_before_the_next_line_is_read(tmp_path: Path) -> None:
    file = tmp_path / "enriched.jsonl"
    enriched = EnrichedAnswer.model_validate(example(EnrichedAnswer))
    file.write_text(f"{enriched.model_dump_json()}\nno answer\n")
    shown = CliRunner().invoke(app, ["explain", str(file)])
    assert shown.exit_code == 1
    assert f"{enriched.answer_id}: {enriched.decision.state}" in shown.stdout


def test_a_file_without_answers_of_the_tenant_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "enriched.jsonl"
    file.write_text(EnrichedAnswer.model_validate(example(EnrichedAnswer)).model_dump_json())
    shown = CliRunner().invoke(app, ["explain", str(file), "--tenant", "other"])
    assert shown.exit_code == 1
    assert "contains no answers of tenant other" in str(shown.exception)
