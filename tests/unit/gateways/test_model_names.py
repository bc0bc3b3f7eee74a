"""One name of a model and of its provider over proxies, routers, instrumentations and direct calls."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.clients.recordings import RECORDINGS, arrived
from workers.gateways.adapted import MAX_IDENTIFIER, Received, bounded_identifier
from workers.gateways.formats import format_named
from workers.gateways.model_names import model_name, provider_name

NOW = datetime(2026, 11, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("requested", "answered", "expected"),
    [
        ("gpt-4o-mini", "gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("openai/gpt-4o-mini", "gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("openai/gpt-4o-mini", None, "gpt-4o-mini"),
        ("openrouter/anthropic/claude-sonnet-4-5", None, "claude-sonnet-4-5"),
        ("litellm_proxy/openai/gpt-4o-mini", "gpt-4o-mini", "gpt-4o-mini"),
        ("fast", "gpt-4o-mini-2024-07-18", "gpt-4o-mini-2024-07-18"),
        ("gpt-4o", "gpt-4o-mini-2024-07-18", "gpt-4o-mini-2024-07-18"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929"),
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("gemini-2.5-flash", "gemini-2.5-flash-001", "gemini-2.5-flash"),
        ("meta-llama/Llama-3.1-8B", None, "meta-llama/Llama-3.1-8B"),
        ("openai/", None, "openai/"),
        (None, "gpt-4o-mini", "gpt-4o-mini"),
        (None, None, None),
    ],
)
def test_a_model_has_the_name_that_was_requested_without_a_provider(
    requested: str | None, answered: str | None, expected: str | None
) -> None:
    assert model_name(requested, answered) == expected


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        ("openai", "x", "openai"),
        ("openai.chat", "x", "openai"),
        ("aws.bedrock", "x", "bedrock"),
        ("gcp.gen_ai", "x", "gemini"),
        ("acme.cloud", "x", "acme.cloud"),
        (None, "openai/gpt-4o", "openai"),
        (None, "meta-llama/Llama-3.1-8B", None),
        (None, None, None),
    ],
)
def test_a_provider_has_the_name_that_gateways_use(
    provider: str | None, model: str | None, expected: str | None
) -> None:
    assert provider_name(provider, model) == expected


def test_clients_of_one_model_arrive_with_one_name() -> None:
    names = {arrived(RECORDINGS[name])[0].answer.model.id for name in RECORDINGS}
    assert {name for name in names if name.startswith("gpt")} == {"gpt-4o-mini", "gpt-4o-mini-2024-07-18"}
    by_request = ["openai", "litellm-callback", "openllmetry-openai", "openllmetry-langchain", "vercel-ai", "vercel-ai-5",
                  "pydantic-ai", "langfuse-sdk"]  # fmt: skip
    assert {arrived(RECORDINGS[name])[0].answer.model.id for name in by_request} == {"gpt-4o-mini"}


def test_a_long_identifier_leads_to_its_answer() -> None:
    def read(identifier: str) -> Any:
        record = {"id": identifier, "response": {"choices": [{"message": {"content": "Yes."}}]}}
        (found,) = format_named("openai").answers(json.dumps(record).encode(), Received(NOW))
        return found

    long = "i" * (MAX_IDENTIFIER + 1)
    found = read(long)
    assert found.given_id == long
    assert bounded_identifier(long) == found.answer.answer_id
    assert read("short").given_id is None
    assert bounded_identifier("short") == read("short").answer.answer_id
