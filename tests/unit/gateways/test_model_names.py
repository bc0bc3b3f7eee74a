"""One name of a model and of its provider over proxies, routers, instrumentations and direct calls."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.clients.recordings import RECORDINGS, arrived
from workers.gateways.adapted import MAX_IDENTIFIER, Received, bounded_identifier
from workers.gateways.formats import format_named
from workers.gateways.reading.model_names import MAX_NAME, model_name
from workers.gateways.reading.provider_names import provider_name

NOW = datetime(2026, 11, 3, tzinfo=UTC)


CLAUDE = "claude-sonnet-4-5-20250929"


@pytest.mark.parametrize(
    ("requested", "answered", "expected"),
    [
        ("gpt-4o-mini", "gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("openai/gpt-4o-mini", "gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("openai/gpt-4o-mini", None, "gpt-4o-mini"),
        ("openrouter/anthropic/claude-sonnet-4-5", None, "claude-sonnet-4-5"),
        ("litellm_proxy/openai/gpt-4o-mini", "gpt-4o-mini", "gpt-4o-mini"),
        ("OpenAI/GPT-4o-Mini", "gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("claude-sonnet-4-5", CLAUDE, "claude-sonnet-4-5"),
        ("gemini-2.5-flash", "gemini-2.5-flash-001", "gemini-2.5-flash"),
        ("gpt-4", "gpt-4-0613", "gpt-4"),
        (None, "gpt-4o-mini", "gpt-4o-mini"),
        (None, None, None),
        ("openai/", None, "openai/"),
    ],
)
def test_a_model_has_the_name_that_was_requested_without_a_provider(
    requested: str | None, answered: str | None, expected: str | None
) -> None:
    assert model_name(requested, answered) == expected


@pytest.mark.parametrize(
    ("requested", "answered", "expected"),
    [
        ("fast", "gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("my-deployment", "gpt-4o-2024-11-20", "gpt-4o"),
        ("openrouter/auto", "anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("gpt-4o", "gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        (None, CLAUDE, "claude-sonnet-4-5"),
        (None, "gemini-2.5-flash-002", "gemini-2.5-flash"),
        # Four digits may be a release of its own.
        ("fast", "mistral-large-2411", "mistral-large-2411"),
        # Whoever requests a version compares versions.
        ("gpt-4o-2024-11-20", "gpt-4o-2024-11-20", "gpt-4o-2024-11-20"),
        ("gpt-4o-2024-11-20", None, "gpt-4o-2024-11-20"),
        (CLAUDE, CLAUDE, CLAUDE),
    ],
)
def test_a_version_belongs_to_the_name_only_where_it_is_requested(
    requested: str | None, answered: str | None, expected: str
) -> None:
    assert model_name(requested, answered) == expected


@pytest.mark.parametrize(
    "name",
    [
        f"anthropic.{CLAUDE}-v1:0", f"eu.anthropic.{CLAUDE}-v1:0", f"us-gov.anthropic.{CLAUDE}-v1:0",
        f"global.anthropic.{CLAUDE}-v1:0", f"bedrock/us.anthropic.{CLAUDE}-v1:0",
        f"bedrock/eu-central-1/anthropic.{CLAUDE}-v1:0", f"bedrock/converse/anthropic.{CLAUDE}-v1:0",
        f"arn:aws:bedrock:eu-west-1::foundation-model/anthropic.{CLAUDE}-v1:0",
        f"arn:aws:bedrock:us-east-1:12:inference-profile/us.anthropic.{CLAUDE}-v1:0",
        "claude-sonnet-4-5@20250929", "vertex_ai/claude-sonnet-4-5@20250929",
        "projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-5@20250929", f"anthropic/{CLAUDE}",
        "openrouter/anthropic/claude-sonnet-4.5-20250929:floor", f" {CLAUDE} ",
    ],
)  # fmt: skip
def test_one_snapshot_has_one_name_at_all_services(name: str) -> None:
    assert model_name(name, None) == CLAUDE


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("models/gemini-2.5-flash", "gemini-2.5-flash"),
        ("projects/p/locations/l/publishers/google/models/gemini-2.5-flash", "gemini-2.5-flash"),
        ("azure/eu/gpt-4o", "gpt-4o"),
        ("azure/global-standard/gpt-4o", "gpt-4o"),
        ("fireworks_ai/accounts/fireworks/models/llama-v3p1-8b-instruct", "llama-v3p1-8b-instruct"),
        ("us.deepseek.r1-v1:0", "deepseek-r1"),
        ("openai.gpt-oss-120b-1:0", "gpt-oss-120b"),
        ("amazon.nova-pro-v1:0:300k", "nova-pro"),
        ("claude-sonnet-4-5@default", "claude-sonnet-4-5"),
        ("ollama/llama3.2:latest", "llama3.2"),
        ("llama3.1:8b", "llama3.1:8b"),
        ("meta-llama/Llama-3.1-8B", "meta-llama/llama-3.1-8b"),
        ("mistralai/mistral-large-2411", "mistral-large-2411"),
        ("x-ai/grok-4", "grok-4"),
        # Names that are opaque, or of models that belong to one account.
        ("ft:gpt-4o-mini-2024-07-18:acme::b1", "ft:gpt-4o-mini-2024-07-18:acme::b1"),
        ("arn:aws:bedrock:eu-west-1:12:application-inference-profile/ab1",
         "arn:aws:bedrock:eu-west-1:12:application-inference-profile/ab1"),
        ("tunedModels/warranty-7", "tunedmodels/warranty-7"),
        ("my.own.model", "my.own.model"),
    ],
)  # fmt: skip
def test_notations_of_services_are_no_part_of_a_name(name: str, expected: str) -> None:
    assert model_name(name, None) == expected


def test_a_name_is_read_to_a_bound() -> None:
    assert model_name("openai/" * MAX_NAME, None) is not None


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        ("openai", "x", "openai"),
        ("OpenAI", "x", "openai"),
        ("openai.chat", "x", "openai"),
        ("openai.responses", "x", "openai"),
        ("azure-openai.chat", "x", "azure"),
        ("az.ai.openai", "x", "azure"),
        ("aws.bedrock", "x", "bedrock"),
        ("AWS", "x", "bedrock"),
        ("amazon-bedrock", "x", "bedrock"),
        ("gcp.gen_ai", "x", "gemini"),
        ("google", "x", "gemini"),
        ("Google", "x", "gemini"),
        ("google.generative-ai", "x", "gemini"),
        ("Google AI Studio", "x", "gemini"),
        ("google-gla", "x", "gemini"),
        ("google.vertex.chat", "x", "vertex_ai"),
        ("VertexAI", "x", "vertex_ai"),
        ("acme.cloud", "x", "acme.cloud"),
        # Names of frameworks and proxies tell no provider.
        ("Langchain", "gpt-4o", "openai"),
        ("litellm_proxy", "bedrock/anthropic.claude-sonnet-4-5", "bedrock"),
        ("gateway", "anthropic/claude-sonnet-4.5", "anthropic"),
        (None, "openai/gpt-4o", "openai"),
        (None, "litellm_proxy/azure/my-gpt", "azure"),
        (None, "openrouter/anthropic/claude-sonnet-4.5", "openrouter"),
        (None, "meta-llama/Llama-3.1-8B", None),
        (None, "my-deployment", None),
        (None, None, None),
    ],
)
def test_a_provider_has_the_name_that_gateways_use(
    provider: str | None, model: str | None, expected: str | None
) -> None:
    assert provider_name(provider, model) == expected


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock"),
        ("openai.gpt-oss-120b-1:0", "bedrock"),
        ("arn:aws:bedrock:eu-west-1:12:application-inference-profile/ab1", "bedrock"),
        ("claude-sonnet-4-5@20250929", "vertex_ai"),
        ("publishers/google/models/gemini-2.5-flash", "vertex_ai"),
        ("models/gemini-2.5-flash", "gemini"),
        ("accounts/fireworks/models/llama-v3p1-8b-instruct", "fireworks_ai"),
        ("gpt-4o-mini", "openai"),
        ("o3-mini", "openai"),
        ("claude-sonnet-4-5", "anthropic"),
        ("gemini-2.5-flash", "gemini"),
        # Open weights are served by many.
        ("gpt-oss-120b", None),
        ("gpt-neo-2b", None),
        ("llama3.1:8b", None),
        ("mistral-large-2411", None),
        ("claudette", None),
    ],
)
def test_the_name_of_a_model_tells_its_provider_where_no_one_else_has_it(model: str, expected: str | None) -> None:
    assert provider_name(None, model) == expected


def _pair(form: str, request: dict[str, Any], response: dict[str, Any]) -> Any:
    record = json.dumps({"request": request, "response": response}).encode()
    (found,) = format_named(form).answers(record, Received(NOW))
    return found.answer


@pytest.mark.parametrize(
    ("model", "beside", "expected"),
    [
        ("gpt-4o-mini", {}, ("gpt-4o-mini", "openai")),
        ("anthropic/claude-sonnet-4.5", {"provider": "Amazon Bedrock"}, ("claude-sonnet-4-5", "bedrock")),
        ("anthropic/claude-sonnet-4.5", {}, ("claude-sonnet-4-5", "anthropic")),
        ("gpt4o-prod", {"model": "gpt-4o-2024-11-20", "prompt_filter_results": []}, ("gpt-4o", "azure")),
        ("groq/llama-3.1-8b-instant", {}, ("llama-3.1-8b-instant", "groq")),
        ("llama3.1", {}, ("llama3.1", "openai")),
    ],
)
def test_services_that_speak_openais_format_are_told_apart(
    model: str, beside: dict[str, Any], expected: tuple[str, str]
) -> None:
    answer = _pair("openai", {"model": model}, {"choices": [{"message": {"content": "Yes."}}], **beside})
    assert (answer.model.id, answer.model.provider) == expected


def test_the_answered_name_stays_with_the_answer() -> None:
    spoken = {"choices": [{"message": {"content": "Yes."}}], "model": "gpt-4o-mini-2024-07-18"}
    answer = _pair("openai", {"model": "fast"}, spoken)
    assert answer.model.id == "gpt-4o-mini"
    assert answer.metadata["gateway"]["answered_model"] == "gpt-4o-mini-2024-07-18"
    assert "answered_model" not in _pair("openai", {}, {**spoken, "model": "gpt-4o"}).metadata["gateway"]


def test_a_users_text_in_json_names_no_model() -> None:
    asked = {"key": "input.value", "value": {"stringValue": json.dumps({"model": "Tesla 3", "year": 2026})}}
    said = {"key": "output.value", "value": {"stringValue": "Yes."}}
    kind = {"key": "openinference.span.kind", "value": {"stringValue": "LLM"}}
    export = {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "c", "attributes": [asked, said, kind]}]}]}]}
    (found,) = format_named("otlp").answers(json.dumps(export).encode(), Received(NOW))
    assert found.answer.model.id == "unknown"


def test_clients_of_one_model_arrive_with_one_name() -> None:
    names = {name: arrived(RECORDINGS[name])[0].answer.model for name in RECORDINGS}
    assert {(model.id, model.provider) for model in names.values()} == {
        ("gpt-4o-mini", "openai"),
        ("claude-sonnet-4-5", "anthropic"),
        ("claude-sonnet-4-5", "bedrock"),
        ("titan-text-premier", "bedrock"),
        ("gemini-2.5-flash", "gemini"),
        ("command-a-03-2025", "cohere"),
    }


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
