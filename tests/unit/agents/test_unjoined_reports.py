"""Reports of evaluator plug-ins that belong to no join: their scores are stored, and no answer comes of them."""

from types import SimpleNamespace
from typing import Any

import pytest

from schemas.base import UnreadableEvent
from schemas.evaluations import EvaluationReport
from schemas.export import example
from schemas.feedback import AnalyticsRow
from schemas.topics import ANSWERS_EVALUATIONS, FEEDBACK_ANALYTICS
from workers.agents.assembly import _assemble
from workers.delivery.records import Record, WorkItem
from workers.observability import metrics
from workers.settings import Settings
from workers.stores.tables.packed_rows import unpacked

REPORT = EvaluationReport.model_validate(example(EvaluationReport))
CONTEXT: Any = SimpleNamespace(settings=Settings(_env_file=None), pipeline_version="1")


def work(value: bytes) -> WorkItem:
    return WorkItem(Record(ANSWERS_EVALUATIONS.name, 2, 7, b"key", value))


def test_its_scores_are_stored_once_however_often_it_comes() -> None:
    outputs = _assemble(work(REPORT.to_bytes()), CONTEXT)
    assert {output.topic for output in outputs} == {FEEDBACK_ANALYTICS}
    rows = [row for output in outputs for row in unpacked(AnalyticsRow.from_bytes(output.value))]
    assert len(rows) == 1 + len(REPORT.scores)
    assert _assemble(work(REPORT.to_bytes()), CONTEXT) == outputs


def test_an_unreadable_one_is_refused_with_its_error() -> None:
    with pytest.raises(UnreadableEvent):
        _assemble(work(b"{}"), CONTEXT)


def test_a_metric_is_labelled_with_the_names_of_enabled_evaluators_only() -> None:
    evaluators = CONTEXT.settings.evaluators.model_copy(update={"enabled": (REPORT.agent,)})
    enabled: Any = SimpleNamespace(
        settings=CONTEXT.settings.model_copy(update={"evaluators": evaluators}), pipeline_version="1"
    )
    for context, label in ((CONTEXT, "not enabled"), (enabled, REPORT.agent)):
        before = metrics.UNJOINED_REPORTS.labels(label)._value.get()
        outputs = _assemble(work(REPORT.to_bytes()), context)
        assert metrics.UNJOINED_REPORTS.labels(label)._value.get() == before, "nothing is acknowledged yet"
        outputs.raise_metrics()
        assert metrics.UNJOINED_REPORTS.labels(label)._value.get() == before + 1
