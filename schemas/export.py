"""Export the contracts for other languages: JSON Schema for each model and one AsyncAPI 3 document."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from schemas.base import SCHEMA_VERSION, Event
from schemas.dead_letters import FIRST_HEADER, HEADER_FIELDS, HEADER_PREFIX, DeadLetter, reason_headers
from schemas.topics import DEFAULT_PARTITIONS, TOPICS, Topic

HEADERS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "CloudEvents 1.0, Kafka binding, binary mode, and Touchstone's own headers.",
    "properties": {
        "ce_id": {"type": "string", "description": "Deterministic identifier of the event."},
        "ce_type": {"type": "string"},
        "ce_source": {"type": "string"},
        "ce_time": {"type": "string", "format": "date-time"},
        "ce_specversion": {"const": "1.0"},
        "content-type": {"const": "application/json"},
        "traceparent": {"type": "string", "description": "W3C trace context."},
        "pipeline_version": {"type": "string"},
        "replay_id": {"type": "string", "description": "Set for events of a replay."},
    },
}


def models() -> list[type[Event]]:
    """Return every model that a topic carries, once."""
    return list(dict.fromkeys(topic.model for topic in TOPICS))


def example(model: type[Event]) -> dict[str, Any]:
    """Return the realistic example of a model from ``schemas/examples``.

    Raises:
        FileNotFoundError: the model has no example.
    """
    text = files("schemas").joinpath("examples", f"{model.__name__}.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def json_schema(model: type[Event]) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a model, with its example."""
    schema = model.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "examples": [example(model)]}


def asyncapi(prefix: str = "", partitions: int = DEFAULT_PARTITIONS) -> dict[str, Any]:
    """Return the AsyncAPI 3.0 document of all topics.

    Args:
        prefix: prefix of every topic name.
        partitions: number of partitions of every topic.
    """
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Touchstone",
            "version": SCHEMA_VERSION,
            "description": "Events of the Touchstone worker for LLM gateways. Delivery is at least once; "
            "identifiers are deterministic, so that a repeat overwrites.",
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "channels": {_identifier(topic): _channel(topic, prefix, partitions) for topic in TOPICS},
        "operations": {_identifier(topic): _operation(topic) for topic in TOPICS},
        "components": {
            "schemas": {"headers": HEADERS_SCHEMA},
            "messages": {model.__name__: _message(model) for model in models()},
        },
    }


def export_schemas(directory: Path, *, prefix: str = "", partitions: int = DEFAULT_PARTITIONS) -> list[Path]:
    """Write the AsyncAPI document and the JSON Schema of every model.

    Args:
        directory: output folder; created if it is missing.
        prefix: prefix of every topic name.
        partitions: number of partitions of every topic.

    Returns:
        The written files.
    """
    directory.mkdir(parents=True, exist_ok=True)
    documents: dict[str, Any] = {f"{model.__name__}.schema.json": json_schema(model) for model in models()}
    documents["asyncapi.json"] = asyncapi(prefix, partitions)
    paths = []
    for name, document in documents.items():
        path = directory / name
        path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        paths.append(path)
    return paths


def _identifier(topic: Topic) -> str:
    return topic.name.replace(".", "_").replace("-", "_")


def _channel(topic: Topic, prefix: str, partitions: int) -> dict[str, Any]:
    retention = -1 if topic.retention is None else int(topic.retention.total_seconds() * 1000)
    return {
        "address": prefix + topic.name,
        "description": topic.purpose,
        "messages": {topic.model.__name__: {"$ref": f"#/components/messages/{topic.model.__name__}"}},
        "bindings": {
            "kafka": {
                "topic": prefix + topic.name,
                "partitions": partitions,
                "topicConfiguration": {"cleanup.policy": [topic.cleanup], "retention.ms": retention},
                "bindingVersion": "0.5.0",
            }
        },
        "x-key": topic.key,
    }


def _operation(topic: Topic) -> dict[str, Any]:
    """Return an operation from Touchstone's view: it receives input topics and sends the others."""
    identifier = _identifier(topic)
    return {
        "action": "receive" if topic.direction == "in" else "send",
        "channel": {"$ref": f"#/channels/{identifier}"},
        "summary": topic.purpose,
        "messages": [{"$ref": f"#/channels/{identifier}/messages/{topic.model.__name__}"}],
    }


def _message(model: type[Event]) -> dict[str, Any]:
    if model is DeadLetter:
        return _dead_letter_message()
    # Definitions stay inside each payload, so that every message is complete.
    schema = model.model_json_schema(ref_template=f"#/components/messages/{model.__name__}/payload/$defs/{{model}}")
    return {
        "name": model.__name__,
        "title": model.__name__,
        "summary": (model.__doc__ or "").strip().partition("\n")[0],
        "headers": {"$ref": "#/components/schemas/headers"},
        "payload": schema,
        "bindings": {"kafka": {"key": {"type": "string"}, "bindingVersion": "0.5.0"}},
        "examples": [{"name": "example", "payload": example(model)}],
    }


def _dead_letter_message() -> dict[str, Any]:
    """Describe a message of the dead-letter topic: the original record with additional headers."""
    letter = DeadLetter.model_validate(example(DeadLetter))
    properties = DeadLetter.model_json_schema()["properties"]
    described = {
        HEADER_PREFIX + name: {"type": "string", "description": properties[name].get("description", name)}
        for name in HEADER_FIELDS
    }
    return {
        "name": DeadLetter.__name__,
        "title": DeadLetter.__name__,
        "summary": "The original value to the byte, JSON or not; the reason is in the headers.",
        "contentType": "application/octet-stream",
        "headers": {"type": "object", "properties": described, "required": [FIRST_HEADER]},
        "payload": {"description": "The value of the failed record; null for a tombstone."},
        "bindings": {"kafka": {"bindingVersion": "0.5.0"}},
        "examples": [
            {
                "name": "example",
                "headers": {name: (content or b"").decode() for name, content in reason_headers(letter)},
                "payload": (letter.value or b"").decode(),
            }
        ],
    }
