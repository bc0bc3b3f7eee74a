"""The exported contracts: one JSON Schema for each model and an AsyncAPI document that holds together."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from schemas.export import asyncapi, export_schemas, models
from schemas.topics import TOPICS, Topic
from tests.harness.command import bare_environment, run_command


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """As a consumer reads it: through JSON."""
    return json.loads(json.dumps(asyncapi(prefix="prod.", partitions=6)))  # type: ignore[no-any-return]


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def resolve(document: dict[str, Any], reference: str) -> Any:
    assert reference.startswith("#/"), reference
    node: Any = document
    for part in reference[2:].split("/"):
        node = node[part.replace("~1", "/").replace("~0", "~")]
    return node


def test_every_reference_resolves(document: dict[str, Any]) -> None:
    found = list(references(document))
    assert len(found) > 50
    for reference in found:
        # The definition of any JSON value is empty.
        assert resolve(document, reference) or reference.endswith("/JsonValue"), reference


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_every_topic_is_a_channel_with_its_kafka_binding(document: dict[str, Any], topic: Topic) -> None:
    channels = [c for c in document["channels"].values() if c["address"] == f"prod.{topic.name}"]
    assert len(channels) == 1
    kafka = channels[0]["bindings"]["kafka"]
    assert kafka["topic"] == channels[0]["address"]
    assert kafka["partitions"] == 6
    configuration = kafka["topicConfiguration"]
    assert configuration["cleanup.policy"] == [topic.cleanup]
    assert configuration["retention.ms"] == (-1 if topic.retention is None else topic.retention.total_seconds() * 1000)
    assert channels[0]["x-key"] == topic.key
    assert list(channels[0]["messages"]) == [topic.model.__name__]


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_every_topic_has_an_operation_seen_from_touchstone(document: dict[str, Any], topic: Topic) -> None:
    name = topic.name.replace(".", "_").replace("-", "_")
    operation = document["operations"][name]
    assert operation["action"] == ("receive" if topic.direction == "in" else "send")
    assert resolve(document, operation["channel"]["$ref"]) is document["channels"][name]
    # An operation's messages point into its channel, as AsyncAPI 3 asks.
    prefix = operation["channel"]["$ref"] + "/messages/"
    assert [message["$ref"].startswith(prefix) for message in operation["messages"]] == [True]


def test_the_examples_of_messages_are_valid_under_their_payload(document: dict[str, Any]) -> None:
    for name, message in document["components"]["messages"].items():
        # References point into the whole document, so the payload is validated inside of it.
        schema = message["payload"] | {"components": document["components"]}
        validator = Draft202012Validator(schema, format_checker=FormatChecker())
        assert message["examples"]
        for example in message["examples"]:
            assert [error.message for error in validator.iter_errors(example["payload"])] == [], name


def test_a_wrong_payload_is_refused_by_the_schema(document: dict[str, Any]) -> None:
    message = document["components"]["messages"]["GeneratedAnswer"]
    validator = Draft202012Validator(message["payload"] | {"components": document["components"]})
    right = message["examples"][0]["payload"]
    assert validator.is_valid(right)
    for wrong in (
        {"answer": None},
        {"schema_version": "one"},
        {"risk_mode": "maybe"},
        {"contexts": [{"chunk_id": "c", "content": "x", "confidence": 1.5}]},
        {"contexts": [{"chunk_id": "c", "content": "x", "confidence": "certain"}]},
    ):
        assert not validator.is_valid(right | wrong), wrong


def test_a_dead_letter_is_the_original_with_the_reason_in_its_headers(document: dict[str, Any]) -> None:
    message = document["components"]["messages"]["DeadLetter"]
    assert message["contentType"] == "application/octet-stream"
    assert "properties" not in message["payload"]
    for example in message["examples"]:
        assert Draft202012Validator(message["headers"]).is_valid(example["headers"])
        assert example["headers"]["dlq_topic"] == "answers.generated"


def test_messages_have_cloudevents_headers_and_a_summary(document: dict[str, Any]) -> None:
    headers = document["components"]["schemas"]["headers"]["properties"]
    assert {"ce_id", "ce_type", "ce_source", "ce_time", "ce_specversion", "content-type", "traceparent"} <= set(headers)
    for name, message in document["components"]["messages"].items():
        assert message["summary"]
        assert name == "DeadLetter" or message["headers"] == {"$ref": "#/components/schemas/headers"}


def test_the_export_writes_a_file_for_each_model_and_the_document(tmp_path: Path) -> None:
    written = export_schemas(tmp_path / "deep" / "schemas")
    names = {path.name for path in written}
    assert names == {f"{model.__name__}.schema.json" for model in models()} | {"asyncapi.json"}
    for path in written:
        content = json.loads(path.read_text(encoding="utf-8"))
        if path.name != "asyncapi.json":
            Draft202012Validator.check_schema(content)
            assert all(Draft202012Validator(content).is_valid(each) for each in content["examples"])


def test_the_command_exports_the_same(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "workers.cli", "schemas", "export", str(tmp_path / "from-command")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert "files written" in done.stdout
    export_schemas(tmp_path / "here")
    exported = {path.name: path.read_bytes() for path in (tmp_path / "from-command").iterdir()}
    assert exported == {path.name: path.read_bytes() for path in (tmp_path / "here").iterdir()}


def test_the_command_names_the_files_for_machines(tmp_path: Path) -> None:
    done = run_command("schemas", "export", str(tmp_path), "--json", folder=tmp_path, environment=bare_environment())
    assert {Path(name) for name in json.loads(done.stdout)["files"]} == set(tmp_path.iterdir())
