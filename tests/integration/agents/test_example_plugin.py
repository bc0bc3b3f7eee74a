"""examples/plugin, installed into a fresh environment: its score in ClickHouse and on the page, its exporter's file."""

import json
import shutil
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient

from schemas.answers import GeneratedAnswer
from tests.harness.console import ConsoleThread
from tests.harness.deployment import Deployment, until
from tests.harness.paths import ROOT
from tests.harness.plugin_environment import PluginEnvironment, plugin_environment
from workers.inference.backends import SentenceTransformerBackend
from workers.settings.addresses import Addresses

EASY = "The pump is off. Turn the red key to the left. Wait for the light. Then press the green button and stand back."
ANSWERS = {"easy-1": EASY, "short-1": "Turn it off."}
AGENTS = ["citations", "grounding", "quality", "reading-ease", "assembly", "analytics", "scores-file"]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> PluginEnvironment:
    folder = tmp_path_factory.mktemp("example")
    shutil.copytree(ROOT / "examples" / "plugin", folder / "plugin", ignore=shutil.ignore_patterns("__pycache__"))
    made = plugin_environment(folder / "environment")
    made.run("pip install .", folder / "plugin")
    return made


@pytest.fixture
async def deployment(
    addresses: Addresses, tmp_path: Path, int8_folder: Path, environment: PluginEnvironment
) -> AsyncIterator[Deployment]:
    variables = {
        "TOUCHSTONE_EVALUATORS__ENABLED": '["reading-ease"]',
        "TOUCHSTONE_EXPORTS__PLUGINS": '["scores-file"]',
        "READING_EASE_FOLDER": str(tmp_path / "scores"),
    }
    made = Deployment(addresses, tmp_path, environment=variables, int8=int8_folder)
    await made.prepare()
    yield made
    await made.close()


def page_of(deployment: Deployment, directory: Path, backend: SentenceTransformerBackend, answer_id: str) -> str:
    """Return the page of an answer that this deployment has stored."""
    console = ConsoleThread(deployment.addresses, directory, backend)
    console.settings.clickhouse.database = deployment.name
    console.start()
    try:
        return console.client().get(f"/answers/{answer_id}").raise_for_status().text
    finally:
        console.stop()


def test_the_tests_of_the_package_pass_in_its_environment(environment: PluginEnvironment) -> None:
    output = environment.run("python -m pytest -q -p no:cacheprovider tests", environment.folder.parent / "plugin")
    assert "8 passed" in output


async def test_the_score_of_an_installed_plugin_is_stored_shown_and_exported(
    deployment: Deployment,
    client: AsyncClient,
    environment: PluginEnvironment,
    backend: SentenceTransformerBackend,
    tmp_path: Path,
) -> None:
    await deployment.start_worker(AGENTS, python=environment.python)
    now = datetime.now(UTC)
    answers = [GeneratedAnswer(answer_id=name, answer=text, completed_at=now) for name, text in ANSWERS.items()]
    await deployment.send([(answer.answer_id.encode(), answer.to_bytes()) for answer in answers])

    stored: dict[str, Any] = {}
    query = f"SELECT answer_id, status, value, reason, explanation FROM {deployment.name}.scores FINAL"

    async def all_stored() -> bool:
        rows = (await client.query(query)).result_rows
        stored.update({row[0]: row[1:] for row in rows if row[1] != "missing"})
        return set(stored) == set(ANSWERS)

    await until(all_stored, "the scores are in ClickHouse", 180)
    explanation = "Sentences have 6 words and words have 1.0 syllables on average."
    assert stored["easy-1"] == ("ok", 1.0, "", explanation)
    assert stored["short-1"][:3] == ("skipped", None, "fewer than 20 words")

    exported: dict[str, Any] = {}

    async def all_exported() -> bool:
        lines = [line for file in (tmp_path / "scores").iterdir() for line in file.read_text().splitlines()]
        exported.update({line["answer_id"]: line for line in map(json.loads, lines)})
        return set(exported) == set(ANSWERS)

    await until(all_exported, "the exporter has written every answer", 60)
    assert (exported["easy-1"]["reading-ease"], exported["easy-1"]["decision"]) == (1.0, "warned")
    assert exported["short-1"]["reading-ease"] is None

    page = page_of(deployment, tmp_path / "console", backend, "easy-1")
    assert "reading-ease" in page
    assert explanation in page
