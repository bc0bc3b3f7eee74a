"""Declare the built-in formats. They are opened through the same entry points as those of plug-ins."""

from workers.gateways import litellm, native, pairs
from workers.gateways.formats import Format
from workers.gateways.traces import langfuse_traces, otlp, otlp_encoding

TOUCHSTONE = Format(native.NAME, "Touchstone's own GeneratedAnswer", native.adapt)
LITELLM = Format(litellm.NAME, "LiteLLM StandardLoggingPayload", litellm.adapt)
OTLP = Format(
    otlp.NAME,
    "OpenTelemetry spans (OTLP), OpenInference",
    otlp.adapt,
    otlp_encoding.decoded,
    in_part=True,
    by_trace=True,
)
OTLP_LOGS = Format(
    "otlp-logs", "OpenTelemetry events (OTLP log records)", otlp.adapt, otlp_encoding.decoded_logs, in_part=True
)
OPENAI = Format("openai", "OpenAI request and response", pairs.openai)
ANTHROPIC = Format("anthropic", "Anthropic request and response", pairs.anthropic)
GOOGLE = Format("google", "Google generateContent request and response", pairs.google)
BEDROCK = Format("bedrock", "Amazon Bedrock request and response", pairs.bedrock)
COHERE = Format("cohere", "Cohere chat request and response", pairs.cohere)
LANGFUSE = Format(langfuse_traces.NAME, "Langfuse trace export", langfuse_traces.adapt)
