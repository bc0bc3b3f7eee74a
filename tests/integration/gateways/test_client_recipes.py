"""Every recipe, run with the real packages of its client in an environment of its own, sends what was recorded.

An environment is made once a machine, which needs a package registry and about a minute.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.clients.model_server import model_server
from tests.clients.recipes import RECIPES
from tests.clients.recordings import RECORDINGS, row
from tests.harness.client_environment import client_environment, node_environment
from tests.harness.paths import ROOT

EXPORTER = ("opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http", "protobuf")
RUN_SECONDS = 300


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(RECIPES))
def test_the_real_client_sends_what_was_recorded(name: str, tmp_path: Path) -> None:
    recorded = RECORDINGS[name]
    pins = [f"{package}=={version}" for package, version in recorded["versions"].items()]
    programs = client_environment(*pins, *RECIPES[name].beside, *EXPORTER)
    settings = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [programs / "python", "-m", "tests.clients.record", name, str(tmp_path)],
        cwd=tmp_path, env=settings, capture_output=True, text=True, timeout=RUN_SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3_000:]
    sent: Any = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
    assert sent["versions"] == recorded["versions"]
    assert row(sent) == row(recorded)


@pytest.mark.long
def test_the_vercel_ai_sdk_sends_what_was_recorded() -> None:
    recorded = RECORDINGS["vercel-ai-5"]
    pins = [f"{package}@{version}" for package, version in recorded["versions"].items()]
    folder = node_environment(
        *pins, "@opentelemetry/sdk-trace-node@2", "@opentelemetry/exporter-trace-otlp-http", "zod"
    )
    shutil.copy(ROOT / "tests" / "clients" / "vercel.mjs", folder)
    with model_server() as (base, kept):
        done = subprocess.run(
            ["node", "vercel.mjs", base], cwd=folder, capture_output=True, text=True, timeout=RUN_SECONDS, check=False
        )
    assert done.returncode == 0, done.stderr[-3_000:]
    assert row({"traces": kept.traces}) == row(recorded)
