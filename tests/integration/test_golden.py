"""The repository's own golden answers are judged as they were; a change that matters is noticed."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from workers.cli import app
from workers.commands import golden as command
from workers.commands.judging import LocalJudge
from workers.inference.backends import SentenceTransformerBackend
from workers.replay.golden import changes, judgement_of, read_golden
from workers.settings import Settings
from workers.steps.thresholds import GroundingThresholds

OWN = Path(__file__).resolve().parent.parent / "golden" / "answers.jsonl"


def test_the_golden_answers_are_judged_as_they_were(backend: SentenceTransformerBackend) -> None:
    judge = LocalJudge(Settings(_env_file=None), backend)
    found = {
        each.answer.answer_id: changed
        for each in read_golden(OWN)
        if (changed := changes(each.judgement, judgement_of(judge.judge(each.answer))))
    }
    assert found == {}, "if it is meant: touchstone golden add tests/golden/answers.jsonl tests/golden/answers.jsonl"


def test_another_threshold_is_noticed_and_can_be_agreed_to(
    backend: SentenceTransformerBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_bytes(b"".join(OWN.read_bytes().splitlines(keepends=True)[::8]))
    strict = Settings(_env_file=None, grounding=GroundingThresholds(grounding_minimum=0.97))
    monkeypatch.setattr(command, "LocalJudge", lambda settings: LocalJudge(settings, backend))
    monkeypatch.setattr(command, "read_settings", lambda quiet: strict)
    run = CliRunner().invoke
    checked = run(app, ["golden", "check", str(path), "--json"])
    assert checked.exit_code == 1
    found = json.loads(checked.stdout)
    assert found["checked"] == 6 and found["changed"]
    told = run(app, ["golden", "check", str(path)])
    assert told.exit_code == 1
    assert re.search(rf"{6 - len(found['changed'])} of 6 are judged as before", told.stdout)
    assert run(app, ["golden", "add", str(path), str(path), "--reason", "stricter"]).exit_code == 0
    assert run(app, ["golden", "check", str(path)]).exit_code == 0
    assert {each.reason for each in read_golden(path)} == {"stricter"}
