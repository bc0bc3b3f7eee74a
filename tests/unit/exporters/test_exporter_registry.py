"""Exporters are found through the entry points, built-in ones and plug-ins alike; what is wrong is told."""

import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from schemas.answers import GeneratedAnswer
from schemas.base import Event
from schemas.enriched import EnrichedAnswer
from schemas.topics import ANSWERS_ENRICHED
from tests.harness.distributions import write_distribution
from tests.harness.paths import ROOT
from workers.agents.export.event_exporter import event_exporter
from workers.agents.export.registry import BUILTIN, builtin_exporters, enabled_exporters
from workers.process.plugins import EXPORTERS, PluginError
from workers.runtime.agent_choice import AGENTS, chosen_agents
from workers.settings import Settings

SCORES = """
from schemas.enriched import EnrichedAnswer
from workers.agents.export.event_exporter import event_exporter

FILE = event_exporter("scores-file", EnrichedAnswer, lambda settings: print)
QUALITY = event_exporter("quality", EnrichedAnswer, lambda settings: print)
"""
POINTS = {
    "scores-file": "scores_plugin:FILE",
    "misnamed": "scores_plugin:FILE",
    "quality": "scores_plugin:QUALITY",
    "no-agent": "scores_plugin:EnrichedAnswer",
    "gone": "scores_gone:FILE",
}


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    write_distribution(tmp_path, "scores-plugin", {EXPORTERS: POINTS}, {"scores_plugin.py": SCORES})
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("scores_plugin", None)


def settings(*plugins: str) -> Settings:
    return Settings(_env_file=None, exports={"plugins": plugins})


def test_the_project_declares_the_exporters_that_are_built_in() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"][EXPORTERS] == BUILTIN
    assert list(builtin_exporters()) == list(BUILTIN)


def test_a_plugin_that_the_settings_name_runs_beside_the_others() -> None:
    assert [agent.name for agent in chosen_agents(None, settings())] == list(AGENTS)
    *others, exporter = chosen_agents(None, settings("scores-file"))
    assert [agent.name for agent in others] == list(AGENTS)
    assert (exporter.name, exporter.reads, exporter.kind) == ("scores-file", (ANSWERS_ENRICHED,), "exporter")
    assert chosen_agents(["scores-file"], settings("scores-file")) == [exporter]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("unknown", r"no plug-in 'unknown'.*install its distribution.*installed: otel,.*scores-file"),
        ("otel", "contains otel, which is built in and runs once its export target is set; remove it"),
        ("misnamed", "has the name 'scores-file'; use the name of its entry point"),
        ("no-agent", "instead of AgentDefinition; correct its entry point scores_plugin:EnrichedAnswer"),
        ("gone", "cannot be imported from scores_gone:FILE.*repair or uninstall scores-plugin"),
        ("quality", r"several agents have the name quality; remove the plug-in"),
    ],
)
def test_what_is_wrong_with_an_exporter_is_told_with_the_remedy(name: str, told: str) -> None:
    with pytest.raises(PluginError, match=told):
        chosen_agents(None, settings(name))


def test_two_exporters_of_one_name_are_refused_with_their_distributions(site: Path) -> None:
    write_distribution(site, "more-scores", {EXPORTERS: {"scores-file": "scores_plugin:FILE"}}, {})
    with pytest.raises(PluginError, match=r"more-scores 1\.0 and scores-plugin 1\.0; uninstall all but one"):
        enabled_exporters(settings("scores-file"))


def test_an_exporter_reads_a_topic_that_holds_its_events_and_is_told_which_there_are() -> None:
    assert event_exporter("x", GeneratedAnswer, lambda _: print).reads[0].name == "answers.generated"
    with pytest.raises(ValueError, match=r"0 topics have events of Event; an exporter must read one of Alert,"):
        event_exporter("x", Event, lambda _: print)


async def test_an_exporter_that_cannot_be_started_is_told_with_its_name() -> None:
    def open_sender(_: Settings) -> Callable[[EnrichedAnswer], None]:
        raise KeyError("DECISIONS_URL")

    context: Any = SimpleNamespace(settings=settings())
    agent = event_exporter("decisions-http", EnrichedAnswer, open_sender)
    with pytest.raises(PluginError, match=r"exporter decisions-http cannot be started: KeyError: 'DECISIONS_URL'"):
        await agent.open(context, AsyncExitStack())
