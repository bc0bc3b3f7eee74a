"""docs/extending.md: the files and commands that it shows make a plug-in, in an environment of their own."""

import json
import re
from pathlib import Path

import pytest

from tests.harness.paths import ROOT
from tests.harness.plugin_environment import PluginEnvironment, plugin_environment

PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.M | re.S)
NAMED = re.compile(r"^`([\w./]+)`[^\n]*:\n\n```\w+\n(.*?)^```", re.M | re.S)


def section(heading: str) -> str:
    _, found, rest = PAGE.partition(f"\n## {heading}\n")
    assert found, heading
    return rest.partition("\n## ")[0]


def blocks(heading: str, language: str) -> list[str]:
    return [body for found, body in FENCE.findall(section(heading)) if found == language]


def write(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")


def project(name: str, entry_points: str) -> str:
    build = blocks("First evaluator", "toml")[0].partition("[project]")[0]
    return f'{build}[project]\nname = "{name}"\nversion = "1.0.0"\n\n{entry_points}'


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, int8_folder: Path) -> PluginEnvironment:
    return plugin_environment(tmp_path_factory.mktemp("extending") / "environment", int8_folder)


@pytest.fixture(scope="module")
def brevity(environment: PluginEnvironment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the first evaluator, which is installed as the page says."""
    folder = tmp_path_factory.mktemp("brevity")
    files = dict(NAMED.findall(section("First evaluator")))
    assert set(files) == {"pyproject.toml", "touchstone_brevity/__init__.py", "answers.jsonl"}
    write(folder, files)
    write(folder, {"test_brevity.py": blocks("Tests", "python")[0]})
    environment.run("pip install .", folder)
    return folder


def test_the_first_evaluator_scores_the_answer_as_the_page_shows(environment: PluginEnvironment, brevity: Path) -> None:
    first, *_ = blocks("First evaluator", "sh")
    assert first.startswith("pip install .\n")
    output = environment.run(first.replace("pip install .\n", ""), brevity)
    (shown,) = blocks("First evaluator", "text")
    assert shown.strip() in output.splitlines()


def test_the_condition_of_the_page_decides_on_the_answer(environment: PluginEnvironment, brevity: Path) -> None:
    (condition,) = [block for block in blocks("Evaluators", "sh") if "DECISION" in block]
    enabled = """export TOUCHSTONE_EVALUATORS__ENABLED='["brevity"]'\n"""
    (brevity / "long.jsonl").write_text(
        json.dumps({"answer_id": "long-2", "answer": "on " * 200, "completed_at": "2026-11-20T10:15:00Z"})
    )
    output = environment.run(enabled + condition.replace("answers.jsonl", "long.jsonl"), brevity)
    assert "evaluations.brevity.below_minimum" in output


def test_the_test_of_the_page_passes(environment: PluginEnvironment, brevity: Path) -> None:
    assert "1 passed" in environment.run("python -m pytest -q -p no:cacheprovider test_brevity.py", brevity)


def test_the_evaluators_with_needs_and_settings_score_an_answer(environment: PluginEnvironment, brevity: Path) -> None:
    vectors, verifier, imports, settings = blocks("Evaluators", "python")
    head = (
        "import os\nfrom functools import partial\nfrom touchstone_brevity import Brevity\n"
        "from workers.settings import Settings\n"
        "class Similarity(EvaluationFindings):\n    pass\nclass Support(EvaluationFindings):\n    pass\n"
        "def evaluate(answer, context, few_words):\n    return Brevity(score=1.0 if few_words == 7 else 0.0)\n"
    )
    points = '[project.entry-points."touchstone.evaluators"]\nbrevity-of = "similar:make_brevity"\n'
    points += 'similarity = "similar:SIMILARITY"\nsupport = "similar:SUPPORT"\n'
    source = "\n".join([imports, head, vectors, verifier, settings.replace('"brevity"', '"brevity-of"')])
    write(brevity / "similar", {"pyproject.toml": project("similar", points), "similar.py": source})
    output = environment.run(
        """pip install ./similar
        export TOUCHSTONE_EVALUATORS__ENABLED='["similarity", "support", "brevity-of"]' BREVITY_WORDS=7
        touchstone explain answers.jsonl""",
        brevity,
    )
    assert re.search(r"evaluator similarity 0\.\d+ \(ok\)", output)
    assert "evaluator support - (skipped): " in output
    assert "evaluator brevity-of 1.000 (ok)" in output


def test_the_exporter_of_the_page_is_an_agent(environment: PluginEnvironment, tmp_path: Path) -> None:
    (source,), (points,) = blocks("Exporters", "python"), blocks("Exporters", "toml")
    write(tmp_path, {"pyproject.toml": project("touchstone-decisions", points), "touchstone_decisions.py": source})
    environment.run("pip install .", tmp_path)
    setting, _ = blocks("Exporters", "sh")[0].splitlines()
    choose = "from workers.settings import Settings; from workers.runtime.agent_choice import chosen_agents; "
    choose += "print(chosen_agents(['decisions-http'], Settings())[0].reads[0].name)"
    assert environment.run(f'{setting}\npython -c "{choose}"', tmp_path) == "answers.enriched\n"


def test_the_format_of_the_page_reads_a_record(environment: PluginEnvironment, tmp_path: Path) -> None:
    (source,), (points,) = blocks("Formats", "python"), blocks("Formats", "toml")
    record = {
        "id": "r-1", "kind": "reply", "question": "When do you open?", "text": "At nine.",
        "pages": [{"page": "hours", "text": "We open at nine."}],
    }  # fmt: skip
    files = {
        "pyproject.toml": project("touchstone-help-desk", points),
        "touchstone_help_desk.py": source,
        "records.jsonl": json.dumps(record) + '\n{"kind": "note"}\n',
    }
    write(tmp_path, files)
    environment.run("pip install .", tmp_path)
    trial, conversion = blocks("Formats", "sh")[0].splitlines()
    assert "When do you open?" in environment.run(trial, tmp_path)
    answer = json.loads(environment.run(conversion.partition("|")[0], tmp_path))
    assert (answer["answer_id"], answer["contexts"][0]["content"]) == ("r-1", "We open at nine.")
