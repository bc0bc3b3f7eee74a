"""Answers that readers see without an evaluation of their grounding are counted."""

from types import SimpleNamespace
from typing import Any

import pytest

from schemas.enriched import EnrichedAnswer
from schemas.export import example
from workers.agents.assembly import _observe
from workers.observability import metrics
from workers.settings import Settings

ENRICHED = EnrichedAnswer.model_validate(example(EnrichedAnswer))
CONTEXT: Any = SimpleNamespace(settings=Settings(_env_file=None))


@pytest.mark.parametrize(
    ("changes", "state", "counted"),
    [
        ({"missing": ["grounding"]}, "warned", True),
        ({"failed": ["grounding"]}, "released", True),
        ({"missing": ["quality"]}, "released", False),
        ({"missing": ["grounding"]}, "held", False),
        ({}, "released", False),
    ],
)
def test_only_shown_answers_without_a_grounding_report_count(changes: Any, state: Any, counted: bool) -> None:
    decision = ENRICHED.decision.model_copy(update={"state": state})
    answer = ENRICHED.model_copy(update={"missing": [], "failed": [], "decision": decision} | changes)
    before = metrics.UNEVALUATED.labels(state)._value.get()
    _observe(answer, 0.0, CONTEXT)
    assert metrics.UNEVALUATED.labels(state)._value.get() - before == counted


@pytest.mark.parametrize("missing", [[], ["grounding"], ["citations", "grounding", "quality"]])
def test_a_degraded_answer_counts_once_however_many_reports_it_lacks(missing: list[str]) -> None:
    before = metrics.ANSWERS_DEGRADED._value.get()
    _observe(ENRICHED.model_copy(update={"missing": missing, "failed": []}), 0.0, CONTEXT)
    assert metrics.ANSWERS_DEGRADED._value.get() - before == bool(missing)
