"""Evaluator plug-ins in a whole pipeline: one gives a score, one raises, one hangs; no answer waits for them for long."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from schemas.evaluations import EvaluationReport
from schemas.export import example
from schemas.topics import ANSWERS_EVALUATIONS
from tests.harness.console import ConsoleThread
from tests.harness.distributions import write_distribution
from workers.decision.policy import DecisionPolicy
from workers.delivery.records import Output
from workers.inference.backends import SentenceTransformerBackend
from workers.process.plugins import EVALUATORS
from workers.settings import EvaluatorSettings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.row_reading import ask

SOURCE = """
import threading

from schemas.evaluations import EvaluationFindings
from workers.pipeline.evaluator import answer_evaluator


def score(answer, context):
    return EvaluationFindings(score=0.25, scores={"polite": 1.0}, explanation="<b>Rude</b>", details={"words": 3})


def fail(answer, context):
    raise RuntimeError("secret of the answer")


def hang(answer, context):
    threading.Event().wait()


TONE = answer_evaluator("tone", EvaluationFindings, score)
BROKEN = answer_evaluator("broken", EvaluationFindings, fail)
STUCK = answer_evaluator("stuck", EvaluationFindings, hang)
"""
POINTS = {"tone": "tone_plugin:TONE", "broken": "tone_plugin:BROKEN", "stuck": "tone_plugin:STUCK"}
AGENTS = ("citations", "grounding", "quality", "assembly", "analytics", *POINTS)
ANSWER = {
    "answer_id": "a-1",
    "query": "How fast does the rotor turn?",
    "answer": "The rotor turns at 47 rpm [1].",
    "contexts": [{"chunk_id": "c-1", "content": "The rotor turns at 47 rpm. The cover is painted green."}],
    "completed_at": datetime(2026, 11, 2, tzinfo=UTC).isoformat(),
}
ROWS = "SELECT evaluator, name, status, value, reason, details FROM {database}.scores FINAL ORDER BY evaluator, name"

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def pipeline(
    addresses: Addresses, backend: SentenceTransformerBackend, int8_folder: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[ConsoleThread]:  # fmt: skip
    """A console and, beside it, the agents of an answer with those of three plug-ins."""
    write_distribution(tmp_path / "site", "tone-plugin", {EVALUATORS: POINTS}, {"tone_plugin.py": SOURCE})
    monkeypatch.syspath_prepend(tmp_path / "site")
    console = ConsoleThread(addresses, tmp_path, backend)
    settings = console.settings
    settings.evaluators = EvaluatorSettings(enabled=tuple(POINTS), timeout_seconds=3)
    settings.decision = DecisionPolicy.model_validate({"evaluators": {"tone": {"minimum": 0.5}}, "audit_share": 0.0})
    settings.inference.precision, settings.inference.export_dir = "int8", int8_folder
    console.start()
    try:
        with console.worker(AGENTS):
            yield console
    finally:
        console.stop()


def of_answer(console: ConsoleThread, answer_id: str) -> dict[str, Any]:
    client = console.client()
    ends = time.monotonic() + 180
    while (response := client.get(f"/api/answers/{answer_id}")).status_code == 404:
        assert time.monotonic() < ends
        time.sleep(0.2)
    body: dict[str, Any] = response.raise_for_status().json()
    return body


def stored_rows(console: ConsoleThread, least: int) -> dict[tuple[str, str], tuple[Any, ...]]:
    statement = ROWS.format(database=console.settings.clickhouse.database)
    ends = time.monotonic() + 60
    while len(rows := console.call(ask(console.resources.analytics, statement, {}))) < least:
        assert time.monotonic() < ends
        time.sleep(0.2)
    return {(row[0], row[1]): tuple(row[2:]) for row in rows}


def test_scores_failures_and_conditions_of_plugins_reach_table_page_and_decision(pipeline: ConsoleThread) -> None:
    pipeline.client().post("/api/answers", json={"answers": [ANSWER | {"risk_mode": "gatekeeper"}]}).raise_for_status()
    rows = stored_rows(pipeline, 4)
    assert rows["tone", "score"] == ("ok", 0.25, "", '{"words":3}')
    assert rows["tone", "polite"] == ("ok", 1.0, "", "")
    assert rows["broken", "score"][:2] == rows["stuck", "score"][:2] == ("failed", None)
    assert "RuntimeError" in rows["broken", "score"][2] and "secret" not in rows["broken", "score"][2]
    assert "did not return within" in rows["stuck", "score"][2]

    body = of_answer(pipeline, "a-1")
    assert (body["degraded"], set(body["missing"])) == (False, {"broken", "stuck"})
    assert body["grounding_score"] is not None and body["quality_score"] is not None
    # The condition on the one score that is known decides; failed plug-ins without a condition decide nothing.
    assert (body["state"], body["reasons"]) == ("held", ["evaluations.tone.below_minimum"])
    assert [(each["evaluator"], each["status"], each["score"]) for each in body["evaluations"]] == [
        ("broken", "failed", None), ("stuck", "failed", None), ("tone", "ok", 0.25),
    ]  # fmt: skip
    page = pipeline.client().get("/answers/a-1").raise_for_status().text
    assert "&lt;b&gt;Rude&lt;/b&gt;" in page and "<b>Rude</b>" not in page
    assert "did not return within" in page

    # A report that no answer waits for is stored all the same, and completes nothing.
    report = EvaluationReport.model_validate(example(EvaluationReport) | {"agent": "retired", "answer_id": "a-1"})
    output = Output(ANSWERS_EVALUATIONS, b"a-1", report.to_bytes(), partition=0)
    pipeline.call(pipeline.resources.producer.send([output], agent="test"))
    assert stored_rows(pipeline, 7)["retired", "score"][:2] == ("ok", report.score)
