"""The calls of the API that docs/usage shows, run as they stand there."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.console.test_decided_answers import held_answer
from tests.harness.console import ConsoleThread, secret
from tests.harness.paths import ROOT

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")


def block_with(page: str, part: str) -> str:
    """The block for the shell that holds some text."""
    text = (ROOT / "docs/usage" / page).read_text(encoding="utf-8")
    (block,) = [each for each in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL) if part in each]
    return str(block)


def run(block: str, where: Path, **environment: str) -> dict[str, Any]:
    finished = subprocess.run(
        ["sh", "-c", block],
        cwd=where, env=os.environ | environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stdout + finished.stderr
    printed: dict[str, Any] = json.loads(finished.stdout)
    return printed


@pytest.mark.usefixtures("long_undo")
def test_a_review_is_decided_and_taken_back_by_the_documented_calls(console: ConsoleThread, tmp_path: Path) -> None:
    console.store([held_answer("by-call")])
    block = block_with("review.md", "/decision")
    receipt = run(f"{block}\necho $REVIEW > review", tmp_path, CONSOLE=console.url, TOKEN=secret("review"))
    assert receipt["undo_until"]
    review = (tmp_path / "review").read_text().strip()
    assert console.client("review").post(f"/api/reviews/{review}/undo").status_code == 204


def test_an_answer_is_voted_on_by_the_documented_call(console: ConsoleThread, tmp_path: Path) -> None:
    (answer,) = console.store([held_answer("voted")])
    (tmp_path / ".touchstone").mkdir()
    (tmp_path / ".touchstone/console-token").write_text(secret("feedback"))
    block = block_with("feedback.md", "/vote").replace("demo-1", answer.answer_id)
    accepted = run(block.replace("http://127.0.0.1:8080", console.url), tmp_path)
    assert len(accepted["accepted"]) == 1
