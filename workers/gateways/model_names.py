"""Give a model one name, whatever way a call took: through a proxy, a router, an instrumentation or directly.

Gateways write a provider before the name (``openai/gpt-4o-mini``), and services answer with the dated version of what was
requested (``gpt-4o-mini-2024-07-18``), or with nothing where a call failed. The requested name is stable, so rewards and
figures of a model are kept under it.
"""

import re

PROVIDERS = frozenset(
    {
        "ai21", "anthropic", "azure", "azure_ai", "bedrock", "cerebras", "cohere", "cohere_chat", "databricks", "deepinfra",
        "deepseek", "fireworks_ai", "gemini", "google", "groq", "hosted_vllm", "huggingface", "litellm_proxy", "lm_studio",
        "mistral", "nvidia_nim", "ollama", "ollama_chat", "openai", "openai_like", "openrouter", "perplexity", "replicate",
        "sagemaker", "text-completion-openai", "together_ai", "vertex_ai", "vllm", "voyage", "watsonx", "xai",
    }
)  # fmt: skip
"""Prefixes that gateways write before the name of a model."""
_SAME_PROVIDER = {
    "aws.bedrock": "bedrock", "aws_bedrock": "bedrock", "amazon-bedrock": "bedrock", "gcp.gemini": "gemini",
    "gcp.gen_ai": "gemini", "gcp.vertex_ai": "vertex_ai", "google-gemini": "gemini", "azure.ai.openai": "azure",
    "az.ai.openai": "azure", "azure.ai.inference": "azure_ai", "az.ai.inference": "azure_ai", "cohere_chat": "cohere",
    "ollama_chat": "ollama", "mistral_ai": "mistral", "mistralai": "mistral", "x_ai": "xai", "google.generative-ai": "gemini",
    "google.vertex": "vertex_ai", "google_genai": "gemini",
}  # fmt: skip
"""Names of one provider in conventions and clients, and the name that gateways use."""
_PARTS = frozenset({"chat", "responses", "completion", "messages", "generative-ai"})
_VERSION = re.compile(r"-(?:20\d{2}-\d{2}-\d{2}|20\d{6}|\d{3,4}|v\d+(?::\d+)?)")


def model_name(requested: str | None, answered: str | None) -> str | None:
    """Return the name of a model without providers before it.

    Args:
        requested: name in the request.
        answered: name in the response; it counts if the request named none, or an alias.
    """
    asked, said = _without_providers(requested), _without_providers(answered)
    if asked is None or said is None:
        return asked or said
    is_version = said == asked or (said.startswith(asked) and _VERSION.fullmatch(said[len(asked) :]) is not None)
    return asked if is_version else said


def provider_name(provider: str | None, *models: str | None) -> str | None:
    """Return the name of a provider as gateways write it; without one, the prefix of a model's name.

    Args:
        provider: name in the record.
        models: names of the model in the record.
    """
    if provider:
        name = provider.strip()
        first, _, rest = name.partition(".")
        name = first if rest in _PARTS and first else name
        return _SAME_PROVIDER.get(name.lower(), name)
    prefixes = (model.partition("/")[0] for model in models if model and "/" in model)
    found = next((prefix for prefix in prefixes if prefix in PROVIDERS and prefix != "litellm_proxy"), None)
    return _SAME_PROVIDER.get(found, found) if found else None


def _without_providers(name: str | None) -> str | None:
    while name and name.partition("/")[0] in PROVIDERS and name.partition("/")[2]:
        name = name.partition("/")[2]
    return name or None
