"""Formats of other distributions: found by name, tried on a file, isolated, and refused with the remedy."""

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.harness.distributions import write_distribution
from tests.harness.paths import ROOT
from workers.agents.intake import adapted_answers
from workers.delivery.records import Record
from workers.gateways import formats
from workers.gateways.adapted import Received
from workers.gateways.errors import NothingToJudge, UnadaptableRecord
from workers.gateways.formats import BUILTIN, format_named
from workers.process.plugins import FORMATS, PluginError, UnknownPlugin
from workers.settings import Settings

BOT = """
from workers.gateways.adapted import Draft, finished
from workers.gateways.errors import NothingToJudge
from workers.gateways.formats import Format


def adapt(record, received):
    if record.get("kind") == "ping":
        raise NothingToJudge("ping")
    return [finished(Draft(query=record["asked"], answer=record["said"]), "help-desk", record, received)]


HELP_DESK = Format("help-desk", "Records of the help desk", adapt)
MISNAMED = HELP_DESK
NO_FORMAT = adapt
"""
POINTS = {
    "help-desk": "help_desk:HELP_DESK",
    "misnamed": "help_desk:MISNAMED",
    "no-format": "help_desk:NO_FORMAT",
    "missing": "help_desk_gone:FORMAT",
}
RECORD = {"asked": "When do you open?", "said": "At nine."}
RECEIVED = Received(datetime(2026, 11, 3, tzinfo=UTC))


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "site"
    write_distribution(folder, "help-desk-format", {FORMATS: POINTS}, {"help_desk.py": BOT})
    monkeypatch.syspath_prepend(folder)
    formats._open_format.cache_clear()
    yield folder
    formats._open_format.cache_clear()
    sys.modules.pop("help_desk", None)


def test_the_project_declares_the_formats_that_are_built_in() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"][FORMATS] == BUILTIN
    assert [format_named(name).name for name in BUILTIN] == list(BUILTIN)


def test_a_topic_of_the_settings_is_read_in_the_format_of_a_plugin() -> None:
    settings = Settings(_env_file=None, gateways={"topics": {"desk": {"format": "help-desk", "tenant": "acme"}}})
    (found,) = adapted_answers(Record("desk", 0, 0, None, json.dumps(RECORD).encode()), settings)
    assert (found.answer.answer, found.answer.query, found.answer.tenant) == ("At nine.", "When do you open?", "acme")
    with pytest.raises(NothingToJudge):
        adapted_answers(Record("desk", 0, 0, None, b'{"kind": "ping"}'), settings)


def test_a_file_is_converted_in_the_format_of_a_plugin(tmp_path: Path, site: Path) -> None:
    (tmp_path / "desk.jsonl").write_text(json.dumps(RECORD) + '\n{"asked": "secret"}\n')
    done = subprocess.run(
        [sys.executable, "-m", "workers.cli", "adapt", "--format", "help-desk", "desk.jsonl"],
        cwd=tmp_path, env={"PYTHONPATH": f"{ROOT}:{site}", "PATH": "/usr/bin:/bin"}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert json.loads(done.stdout)["answer"] == "At nine."
    assert "record 2: the format help-desk of help-desk-format 1.0 raised KeyError in help_desk.py" in done.stderr
    assert done.returncode == 1
    assert "secret" not in done.stderr


def test_an_error_of_a_plugin_refuses_its_record_alone_and_tells_the_place_without_the_record() -> None:
    with pytest.raises(UnadaptableRecord, match=r"KeyError in help_desk\.py, line 10") as refused:
        format_named("help-desk").answers(b'{"asked": "secret"}', RECEIVED)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("unknown", "correct the name, or install its distribution .*installed: touchstone,.*help-desk"),
        ("misnamed", "is registered as misnamed but declares the name 'help-desk'; give both the same name"),
        ("no-format", "is of class function instead of Format; correct its entry point help_desk:NO_FORMAT"),
        ("missing", "cannot be imported.*No module named.*repair or uninstall help-desk-format"),
    ],
)
def test_what_is_wrong_with_a_format_is_told_with_the_remedy(name: str, told: str) -> None:
    with pytest.raises(PluginError, match=told):
        format_named(name)
    with pytest.raises(ValueError, match=rf"topics.desk.format: .*{told}"):
        Settings(_env_file=None, gateways={"topics": {"desk": {"format": name}}})


def test_two_formats_of_one_name_are_refused_with_their_distributions(site: Path) -> None:
    again = {FORMATS: {"help-desk": "another_desk:DESK", "litellm": "another_desk:DESK"}}
    write_distribution(site, "another-desk", again, {})
    with pytest.raises(PluginError, match=r"another-desk 1.0 and help-desk-format 1.0; uninstall all but one"):
        format_named("help-desk")
    with pytest.raises(PluginError, match=r"touchstone-worker \S+ and another-desk 1\.0; uninstall another-desk"):
        format_named("litellm")


def test_an_unknown_format_is_no_broken_one() -> None:
    with pytest.raises(UnknownPlugin):
        format_named("unknown")
