"""Check requests of real clients: recordings of their packages (``tests/clients``), each with one question and one answer."""

from typing import Any

import pytest

from tests.clients.model_server import ANSWER, DOCUMENT, QUESTION
from tests.clients.recipes import RECIPES
from tests.clients.recordings import RECORDINGS, arrived
from tests.clients.table import page
from tests.harness.paths import ROOT

RETRIEVING = [
    "langfuse-sdk", "openinference-langchain", "openinference-langchain-openai", "openllmetry-langchain",
    "openinference-llamaindex", "openllmetry-llamaindex", "openinference-haystack",
]  # fmt: skip
"""Clients with a retriever; the others have the document in their instructions, where no client marks it as a source."""
AGENTS = ["langgraph-agent", "openinference-agents", "pydantic-ai", "vercel-ai", "vercel-ai-5"]
"""Clients whose model asked for a tool first, some with a text beside it."""


@pytest.mark.parametrize("name", sorted(RECORDINGS))
def test_one_answer_arrives_for_one_question(name: str) -> None:
    (found,) = arrived(RECORDINGS[name])
    assert found.answer.answer == ANSWER
    assert QUESTION in found.answer.query
    assert found.answer.status == "success"


@pytest.mark.parametrize("name", [*RETRIEVING, *AGENTS])
def test_documents_and_results_of_tools_are_the_contexts(name: str) -> None:
    (found,) = arrived(RECORDINGS[name])
    assert [chunk.content for chunk in found.answer.contexts or ()] == [DOCUMENT]


@pytest.mark.parametrize("name", AGENTS)
def test_the_call_that_asked_for_a_tool_is_kept_as_a_step(name: str) -> None:
    (found,) = arrived(RECORDINGS[name])
    assert [step.kind for step in found.answer.steps].count("model") == 1


@pytest.mark.parametrize("name", [name for name, recording in RECORDINGS.items() if "traces" in recording])
def test_the_order_of_spans_in_an_export_does_not_matter(name: str) -> None:
    recording: Any = RECORDINGS[name]
    turned = []
    for export in reversed(recording["traces"]):
        for resource in export["resourceSpans"]:
            scopes = [scope | {"spans": scope["spans"][::-1]} for scope in reversed(resource["scopeSpans"])]
            turned.append({"resourceSpans": [resource | {"scopeSpans": scopes}]})
    (first,), (other,) = arrived(recording), arrived(recording | {"traces": turned})
    assert first.answer.answer_id == other.answer.answer_id
    assert (first.answer.answer, first.answer.query) == (other.answer.answer, other.answer.query)


def test_the_table_of_clients_is_that_of_their_recordings() -> None:
    written = (ROOT / "docs" / "reference" / "clients.md").read_text(encoding="utf-8")
    assert page() == written, "run: python -m tests.clients.table > docs/reference/clients.md"
    assert len(RECORDINGS) >= 24


@pytest.mark.parametrize("name", sorted(set(RECIPES) | set(RECORDINGS)))
def test_every_recipe_has_a_recording_with_the_versions_of_its_packages(name: str) -> None:
    recording = RECORDINGS[name]
    assert recording["client"] == name
    assert all(recording["versions"].values())
    if name in RECIPES:
        assert set(recording["versions"]) == set(RECIPES[name].packages)
