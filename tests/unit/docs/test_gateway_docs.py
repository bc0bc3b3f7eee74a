"""What the pages of the gateways show can be copied: settings, configurations, the callback, the mapping."""

import importlib.util
import json
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.harness.paths import ROOT
from workers.gateways.adapted import Received
from workers.gateways.formats import BUILTIN, format_named
from workers.gateways.mapped import FIELDS
from workers.settings import Settings

FOLDER = ROOT / "docs" / "reference"
PAGES = sorted(FOLDER.glob("gateways*.md"))
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.M | re.S)
NOW = datetime(2026, 11, 3, tzinfo=UTC)


def blocks(name: str, language: str) -> list[str]:
    return [body for found, body in FENCE.findall((FOLDER / name).read_text(encoding="utf-8")) if found == language]


def exported(name: str) -> dict[str, str]:
    """What the shell blocks of a page export."""
    lines = re.findall(r"^export (\w+)=(.*)$", "\n".join(blocks(name, "sh")), re.M)
    return {variable: value.strip("'") for variable, value in lines}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_settings_of_a_page_are_accepted_as_they_stand(
    page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for mapping in blocks("gateways-mapping.md", "toml"):
        (tmp_path / "bot.toml").write_text(mapping)
    found = {name: value for name, value in exported(page.name).items() if name.startswith("TOUCHSTONE_GATEWAYS")}
    for name, value in found.items():
        monkeypatch.setenv(name, value)
    settings = Settings(_env_file=None)
    assert bool(settings.gateways.topics) is any("TOPICS" in name for name in found)


def test_every_format_has_its_row_and_every_page_is_named() -> None:
    overview = (FOLDER / "gateways.md").read_text(encoding="utf-8")
    assert set(BUILTIN) <= set(re.findall(r"`([\w-]+)`", overview))
    assert {page.name for page in PAGES} - {"gateways.md"} == set(re.findall(r"\]\((gateways-[\w-]+\.md)\)", overview))


def test_the_proxy_finds_the_callback_where_its_page_puts_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from litellm.integrations.custom_logger import CustomLogger
    from litellm.proxy.types_utils.utils import get_instance_fn

    configuration, _ = blocks("gateways-litellm.md", "yaml")
    (name,) = yaml.safe_load(configuration)["litellm_settings"]["callbacks"]
    shutil.copy(ROOT / "workers" / "gateways" / "callback.py", tmp_path / "touchstone_callback.py")
    variables = exported("gateways-litellm.md")
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    callback = get_instance_fn(name, str(tmp_path / "config.yaml"))
    assert isinstance(callback, CustomLogger)
    assert callback._servers == variables["LITELLM_TOUCHSTONE_KAFKA"]
    topics = json.loads(variables["TOUCHSTONE_GATEWAYS__TOPICS"])
    assert callback._topic in topics
    assert topics[callback._topic]["format"] == "litellm"


def test_sources_in_a_request_to_the_proxy_become_contexts() -> None:
    (request,) = (json.loads(block) for block in blocks("gateways-litellm.md", "json"))
    golden = json.loads((ROOT / "tests/data/gateways/litellm.json").read_text(encoding="utf-8"))["cases"][5]["record"]
    golden["metadata"] = {"requester_metadata": request["metadata"]}  # as the proxy copies it
    (found,) = format_named("litellm").adapt(golden, Received(NOW))
    answer = found.answer
    assert [(chunk.chunk_id, chunk.source_name) for chunk in answer.contexts or []] == [
        ("runbook-loki-1", "Loki crash loop")
    ]
    assert (answer.tenant, answer.query_type, answer.risk_mode) == ("acme", "troubleshooting", "observer")


def test_the_collector_sends_what_is_read_to_the_topic_that_is_read() -> None:
    found = {
        path.stem: yaml.safe_load(path.read_text("utf-8")) for path in (ROOT / "deploy" / "otelcol").glob("*.yaml")
    }
    assert set(found) == {"http", "kafka"}
    for collector in found.values():
        (pipeline,) = collector["service"]["pipelines"].values()
        for kind in ("receivers", "processors", "exporters"):
            assert set(pipeline[kind]) == set(collector[kind])
    topics = json.loads(exported("gateways-opentelemetry.md")["TOUCHSTONE_GATEWAYS__TOPICS"])
    (default,) = re.findall(r":-(\w+)}", found["kafka"]["exporters"]["kafka"]["traces"]["topic"])
    assert topics[default]["format"] == "otlp"


def test_the_pair_of_the_page_is_an_answer_with_its_context() -> None:
    (pair,) = (json.loads(block) for block in blocks("gateways-model-apis.md", "json"))
    (found,) = format_named("openai").adapt(pair, Received(NOW))
    assert found.missing == []
    assert len(found.answer.contexts or []) == 1


def test_the_mapping_of_the_page_does_with_its_record_what_the_page_says(monkeypatch: Any, tmp_path: Path) -> None:
    (record,) = (json.loads(block) for block in blocks("gateways-mapping.md", "json"))
    (source,) = blocks("gateways-mapping.md", "toml")
    (tmp_path / "bot.toml").write_text(source)
    settings = Settings(_env_file=None, gateways={"mappings": {"support-bot": str(tmp_path / "bot.toml")}})
    (found,) = settings.gateways.format_named("support-bot").adapt(record, Received(NOW))
    assert found.missing == ["requested_at"]
    assert set(found.kept) == {"took_ms", "region"}
    assert (found.answer.tenant, found.answer.model.id) == ("acme", "llama-3.1-8b")
    assert [chunk.retrieval_score for chunk in found.answer.contexts or []] == [0.91]


def test_the_fields_of_a_mapping_are_told() -> None:
    text = (FOLDER / "gateways-mapping.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^- Fields of `\[answer\]`: (.*)\. Only", text, re.M)
    assert set(re.findall(r"`(\w+)`", line)) == FIELDS


def test_the_callback_is_one_file_that_stands_by_itself() -> None:
    source = (ROOT / "workers" / "gateways" / "callback.py").read_text(encoding="utf-8")
    assert not re.search(r"^\s*(from|import) (workers|schemas)\b", source, re.M)
    assert importlib.util.find_spec("workers.gateways.callback") is not None
