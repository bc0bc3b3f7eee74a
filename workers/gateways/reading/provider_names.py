"""Give a provider one name: that of the service which answered, as gateways write it."""

import re

UNTOLD = frozenset(
    {"crewai", "custom", "custom_openai", "dspy", "gateway", "gcp_vertex_agent", "haystack", "langchain", "litellm",
     "litellm_proxy", "llamaindex", "pydantic_ai", "semantic_kernel", "strands_agents", "unknown"}
)  # fmt: skip
"""Names that clients write where they do not know the provider: of frameworks and proxies."""
PREFIXES = UNTOLD | {
    "ai21", "aiml", "aleph_alpha", "alibaba", "amazon", "anthropic", "anyscale", "azure", "azure_ai", "azure_text", "baseten",
    "bedrock", "bedrock_converse", "cerebras", "cloudflare", "codestral", "cohere", "cohere_chat", "dashscope", "databricks",
    "deepinfra", "deepseek", "featherless_ai", "fireworks_ai", "friendliai", "gemini", "github", "github_copilot", "google",
    "groq", "hosted_vllm", "huggingface", "hyperbolic", "lambda_ai", "llamafile", "lm_studio", "meta_llama", "mistral",
    "mistralai", "moonshot", "moonshotai", "nebius", "novita", "nscale", "nvidia_nim", "oci", "ollama", "ollama_chat",
    "openai", "openai_like", "openrouter", "perplexity", "replicate", "sagemaker", "sagemaker_chat", "sambanova",
    "snowflake", "text-completion-openai", "together_ai", "vercel_ai_gateway", "vertex_ai", "vertex_ai_beta", "vllm",
    "volcengine", "voyage", "watsonx", "x-ai", "xai", "xinference", "z-ai", "zai",
}  # fmt: skip
"""Prefixes that gateways and routers write before the name of a model."""
_SAME = {
    "amazon": "bedrock", "amazon_bedrock": "bedrock", "aws": "bedrock", "aws_bedrock": "bedrock", "bedrock_converse": "bedrock",
    "az_ai_inference": "azure_ai", "azure_ai_inference": "azure_ai", "az_ai_openai": "azure", "azure_ai_openai": "azure",
    "azure_openai": "azure", "azure_text": "azure", "azureopenai": "azure", "microsoft_azure": "azure",
    "cohere_chat": "cohere", "fireworks": "fireworks_ai", "gcp_gemini": "gemini", "gcp_gen_ai": "gemini",
    "gcp_vertex_ai": "vertex_ai", "google": "gemini", "google_ai_studio": "gemini", "google_gemini": "gemini",
    "google_genai": "gemini", "google_generative_ai": "gemini", "google_gla": "gemini", "google_vertex": "vertex_ai",
    "google_vertexai": "vertex_ai", "google_vertex_anthropic": "vertex_ai", "vertex_anthropic": "vertex_ai", "hugging_face": "huggingface", "ibm_watsonx": "watsonx", "ibm_watsonx_ai": "watsonx",
    "mistral_ai": "mistral", "mistralai": "mistral", "moonshot_ai": "moonshot", "moonshotai": "moonshot",
    "ollama_chat": "ollama", "sagemaker_chat": "sagemaker", "text_completion_openai": "openai", "together": "together_ai",
    "togetherai": "together_ai", "vertex": "vertex_ai", "vertex_ai_beta": "vertex_ai", "vertexai": "vertex_ai", "x_ai": "xai",
    "z_ai": "zai",
}  # fmt: skip
"""Names of one provider in conventions and clients, and the name that gateways use."""
_PARTS = re.compile(r"[._](?:chat|responses|completions?|messages|embeddings?|language_model)$")
"""Ends of a provider's name that name the interface: ``openai.chat``."""
_MAKERS = (
    ("openai", re.compile(r"chatgpt-|gpt-\d|o[134](?:-|$)")),
    ("anthropic", re.compile(r"claude-")),
    ("gemini", re.compile(r"gemini-")),
)
"""Families of models that only their maker publishes."""
_ADDRESSES = (
    (
        "bedrock",
        re.compile(
            r"arn:[\w-]+:bedrock:|(?:[a-z-]+\.)?(?:anthropic|amazon|meta|mistral|cohere|ai21|deepseek|qwen)\.[a-z]"
            r"|[a-z-]+\.[a-z0-9.-]+-v?\d+:\d"
        ),
    ),
    ("vertex_ai", re.compile(r"projects/|publishers/|[^/]+@(?:20\d{6}|default)$")),
    ("gemini", re.compile(r"models/")),
    ("fireworks_ai", re.compile(r"accounts/[^/]+/models/")),
    ("cloudflare", re.compile(r"@cf/")),
    ("openai", re.compile(r"ft:(?:gpt|o\d)")),
)
"""Notations of a model's name that only one service has."""


def provider_name(provider: str | None, *models: str | None) -> str | None:
    """Return the name of a provider as gateways write it; without one, what a model's name tells.

    Args:
        provider: name in the record.
        models: names of the model in the record.
    """
    return stated(provider) or served_by(*models) or made_by(*models)


def stated(provider: str | None) -> str | None:
    """Return the name of a provider in lower case; ``None`` for names of frameworks and proxies.

    Args:
        provider: name in the record.
    """
    given = (provider or "").strip().lower()
    key = re.sub(r"[\s._-]+", "_", given)
    while key not in _SAME and (shorter := _PARTS.sub("", key)) != key:
        key = given = shorter
    return None if not given or key in UNTOLD else _SAME.get(key, given)


def served_by(*models: str | None) -> str | None:
    """Return the service that a model's name tells, by its prefix or its notation.

    Args:
        models: names of the model in the record.
    """
    for model in models:
        name = (model or "").strip().lower()
        first, _, rest = name.partition("/")
        while rest and first in UNTOLD:
            name = rest
            first, _, rest = name.partition("/")
        if rest and first in PREFIXES:
            return stated(first)
        found = next((service for service, notation in _ADDRESSES if notation.match(name)), None)
        if found:
            return found
    return None


def made_by(*models: str | None) -> str | None:
    """Return the maker of a model that its name tells; only families count that no one else publishes.

    Args:
        models: names of the model in the record.
    """
    names = [model.strip().lower() for model in models if model]
    return next((maker for maker, family in _MAKERS if any(family.match(name) for name in names)), None)
