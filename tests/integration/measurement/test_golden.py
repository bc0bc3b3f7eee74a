"""The repository's own golden answers are judged as they were; a change that matters is noticed."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.harness.paths import ROOT
from workers.cli.analysis import golden_command as command
from workers.cli.main import app
from workers.evaluation.thresholds import GroundingThresholds
from workers.inference.backends import SentenceTransformerBackend
from workers.measurement.golden_answers import GoldenUnusable, changes, judgement_of, read_golden
from workers.pipeline.local_pipeline import LocalPipeline
from workers.settings import Settings

OWN = ROOT / "tests" / "golden" / "answers.jsonl"


def test_the_golden_answers_are_judged_as_they_were(backend: SentenceTransformerBackend) -> None:
    pipeline = LocalPipeline(Settings(_env_file=None), backend)
    found = {
        each.answer.answer_id: changed
        for each in read_golden(OWN)
        if (changed := changes(each.judgement, judgement_of(pipeline.evaluate(each.answer))))
    }
    assert found == {}, "if it is meant: touchstone golden add tests/golden/answers.jsonl tests/golden/answers.jsonl"


def test_another_threshold_is_noticed_and_can_be_agreed_to(
    backend: SentenceTransformerBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_bytes(b"".join(OWN.read_bytes().splitlines(keepends=True)[::8]))
    strict = Settings(_env_file=None, grounding=GroundingThresholds(grounding_minimum=0.97))
    monkeypatch.setattr(command, "LocalPipeline", lambda settings: LocalPipeline(settings, backend))
    monkeypatch.setattr(command, "read_settings", lambda quiet: strict)
    run = CliRunner().invoke
    checked = run(app, ["golden", "check", str(path), "--json"])
    assert checked.exit_code == 1
    found = json.loads(checked.stdout)
    assert found["checked"] == 6 and found["changed"]
    told = run(app, ["golden", "check", str(path)])
    assert told.exit_code == 1
    assert re.search(rf"{6 - len(found['changed'])} of 6 are unchanged", told.stdout)
    assert run(app, ["golden", "add", str(path), str(path), "--reason", "stricter"]).exit_code == 0
    assert run(app, ["golden", "check", str(path)]).exit_code == 0
    assert {each.reason for each in read_golden(path)} == {"stricter"}


def test_two_tenants_are_added_and_checked_beside_each_other_and_nothing_is_no_success(
    backend: SentenceTransformerBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, answers = tmp_path / "golden.jsonl", tmp_path / "answers.jsonl"
    monkeypatch.setattr(command, "LocalPipeline", lambda settings: LocalPipeline(settings, backend))
    monkeypatch.setattr(command, "read_settings", lambda quiet: Settings(_env_file=None))
    path.touch()
    answers.touch()
    run = CliRunner().invoke
    for arguments in (["check", str(path)], ["add", str(path), str(answers)]):
        refused = run(app, ["golden", *arguments])
        assert refused.exit_code and isinstance(refused.exception, GoldenUnusable)
    content = read_golden(OWN)[0].answer.model_dump(mode="json")
    lines = [json.dumps(content | {"answer_id": "a-1", "tenant": tenant}) for tenant in ("acme", "globex")]
    answers.write_text("\n".join(lines))
    assert run(app, ["golden", "add", str(path), str(answers)]).exit_code == 0
    assert {(each.answer.tenant, each.answer.answer_id) for each in read_golden(path)} == {
        ("acme", "a-1"), ("globex", "a-1")
    }  # fmt: skip
    path.write_text(path.read_text().replace('"state":"', '"state":"not '))
    checked = run(app, ["golden", "check", str(path), "--json"])
    assert set(json.loads(checked.stdout)["changed"]) == {'["acme","a-1"]', '["globex","a-1"]'}


def test_no_answer_replaces_another_one(
    backend: SentenceTransformerBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "LocalPipeline", lambda settings: LocalPipeline(settings, backend))
    monkeypatch.setattr(command, "read_settings", lambda quiet: Settings(_env_file=None))
    path, one, other, named = (tmp_path / name for name in ("golden.jsonl", "one.jsonl", "other.jsonl", "named.jsonl"))
    context = {"chunk_id": "c", "content": "The pump runs at 4.2 bar."}
    unnamed = {"query": "Which pressure?", "answer": "4.2 bar.", "contexts": [context]}
    one.write_text(json.dumps(unnamed))
    other.write_text(json.dumps(unnamed | {"answer": "5 bar."}))

    def add(*files: Path) -> Result:
        return CliRunner().invoke(app, ["golden", "add", str(path), *map(str, files)])

    assert add(one, other).exit_code == add(one).exit_code == 0
    assert sorted(each.answer.answer for each in read_golden(path)) == ["4.2 bar.", "5 bar."]
    named.write_text(json.dumps(unnamed | {"answer_id": "a"}))
    assert add(named).exit_code == add(named).exit_code == add(path).exit_code == 0
    before = path.read_bytes()
    for change in ({"answer": "5 bar."}, {"query": "Why?"}, {"contexts": [context | {"content": "At 5 bar."}]}):
        other.write_text(json.dumps(unnamed | {"answer_id": "a"} | change))
        refused = add(other)
        assert isinstance(refused.exception, GoldenUnusable)
        assert "answer a of the tenant default has another" in str(refused.exception)
        assert path.read_bytes() == before
    path.unlink()
    assert isinstance(add(named, other).exception, GoldenUnusable), "both are given at once"
