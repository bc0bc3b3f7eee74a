"""The lines of the pages are run as they stand, against a console."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from schemas.answers import GeneratedAnswer
from schemas.topics import ANSWERS_GENERATED
from tests.harness.console import ConsoleThread, secret
from tests.harness.deployment import Deployment
from tests.harness.paths import ROOT
from workers.settings.addresses import Addresses

FOLDER = ROOT / "docs" / "reference"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.M | re.S)


def blocks(name: str, language: str) -> list[str]:
    return [body for found, body in FENCE.findall((FOLDER / name).read_text(encoding="utf-8")) if found == language]


@pytest.mark.parametrize(
    ("page", "accepted"),
    [("gateways-http.md", [1, 1, 1]), ("gateways-model-apis.md", [1])],
    ids=lambda value: str(value),
)
def test_the_lines_for_the_shell_send_answers(
    console: ConsoleThread, tmp_path: Path, page: str, accepted: list[int]
) -> None:
    for pair in blocks(page, "json"):
        (tmp_path / "call.json").write_text(pair)
    lines = "\n".join(block for block in blocks(page, "sh") if block.startswith("curl")).replace(
        '"$CONSOLE', '-w "\\n" "$CONSOLE'
    )
    done = subprocess.run(
        ["bash", "-euc", lines], cwd=tmp_path, env=os.environ | {"CONSOLE": console.url, "TOKEN": secret("ingest")},
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert [len(json.loads(line)["accepted"]) for line in done.stdout.splitlines()] == accepted


def test_the_exporter_of_the_page_sends_spans(
    console: ConsoleThread, addresses: Addresses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source,) = blocks("gateways-opentelemetry.md", "python")
    monkeypatch.setenv("CONSOLE", console.url)
    monkeypatch.setenv("TOKEN", secret("ingest"))
    scope: dict[str, Any] = {}
    exec(compile(source, "gateways-opentelemetry.md", "exec"), scope)
    messages = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Two GiB."}]}])
    with scope["provider"].get_tracer("app").start_as_current_span("chat m") as span:
        span.set_attributes({"gen_ai.operation.name": "chat", "gen_ai.output.messages": messages})
        context = span.get_span_context()
    scope["provider"].shutdown()
    deployment = Deployment(addresses, tmp_path, name=console.settings.kafka.group_prefix)
    name = f"{context.trace_id:032x}-{context.span_id:016x}".encode()
    (record,) = [each for each in console.call(deployment.read(ANSWERS_GENERATED)) if each.key == name]
    assert GeneratedAnswer.from_bytes(record.value).answer == "Two GiB."
