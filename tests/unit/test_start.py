"""What a process of ours loads when it starts, and what waits until it is asked for."""

import subprocess
import sys

from tests.harness.deployment import ROOT

HEAVY = ["chdb", "fastapi", "lancedb", "onnxruntime", "pandas", "scipy.stats", "sklearn", "torch", "transformers"]


def test_a_worker_is_there_before_the_libraries_that_only_some_agents_need() -> None:
    """They take seconds of CPU, at every restart: models and stores load theirs when they are opened."""
    code = f"import sys, workers.cli, workers.app; print(*(name for name in {HEAVY} if name in sys.modules))"
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert told.stdout.split() == []
