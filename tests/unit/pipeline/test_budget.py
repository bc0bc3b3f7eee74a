"""An evaluation that needs more operations than its budget fails, the same in every run, and its answer is not plainly released."""

import time
from typing import Any

import pytest

from schemas.answers import GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from tests.harness.hostile_results import CLAIMS, RESULTS, TURNS, Make, conversation, series
from tests.harness.operations import count_operations
from tests.unit.evaluation.test_bounded_operations import TEXTS
from workers.errors import BudgetExceeded
from workers.evaluation.budget import MAX_OPERATIONS, Budget, spend, spending
from workers.inference.backends import SentenceTransformerBackend
from workers.pipeline import evaluator
from workers.pipeline.builtin_evaluators import grounding_evaluator
from workers.pipeline.local_pipeline import LocalPipeline
from workers.settings import Settings

MAX_STATEMENTS = 50
"""Maximum number of executed statements for each counted operation."""
CPU_SECONDS = 60.0
"""CPU that a whole budget may take on a slow machine under load; about ten seconds otherwise."""


def answer(text: str, sources: list[str], **fields: Any) -> GeneratedAnswer:
    contexts = [{"chunk_id": f"c{number}", "content": source} for number, source in enumerate(sources)]
    return GeneratedAnswer.model_validate(
        {"answer_id": "a", "answer": text, "query": "What was replaced?", "contexts": contexts,
         "completed_at": "2026-11-02T08:00:00Z"} | fields
    )  # fmt: skip


def runs_on(number: int, claims: int = 420, clauses: int = 14) -> GeneratedAnswer:
    """An answer of many claims, each of which is near sentences of a thousand code points in each of many sources."""
    text = " ".join(
        f"Pump {i} in hall {i % 7} was replaced by the technician of team {i % 13} after {i + 11} hours."
        for i in range(claims)
    )
    clause = "the pump {} in hall {} was replaced by the technician of team {} after {} hours"

    def source(place: int) -> str:
        sentences = (
            ", ".join(clause.format(place + part + each, each % 7, each % 13, place + each) for each in range(clauses))
            for part in range(3)
        )
        return " ".join(f"So {each}." for each in sentences)

    return answer(text, [source(place) for place in range(number)])


def test_operations_beyond_the_budget_end_the_evaluation() -> None:
    spend(10**12)  # no budget, no bound
    with spending(Budget(limit=10)):
        spend(10)
        with pytest.raises(BudgetExceeded, match="budget: the evaluation needs more than 10 operations"):
            spend(1)
    spend(10**12)


@pytest.mark.parametrize(("mode", "state"), [("observer", "warned"), ("gatekeeper", "held")])
def test_an_answer_beyond_its_budget_has_a_failed_report_and_is_not_plainly_released(
    backend: SentenceTransformerBackend, monkeypatch: pytest.MonkeyPatch, mode: str, state: str
) -> None:
    monkeypatch.setattr(evaluator, "Budget", lambda: Budget(limit=40_000))
    pipeline = LocalPipeline(Settings(_env_file=None), backend)

    def evaluated(claims: int) -> EnrichedAnswer:
        given = runs_on(3, claims, clauses=5).model_copy(update={"risk_mode": mode})
        return pipeline.evaluate(given)

    within, beyond, again = evaluated(2), evaluated(60), evaluated(60)
    assert within.grounding is not None and within.grounding.status == "ok"
    assert beyond.grounding is not None
    reason = "budget: the evaluation needs more than 40000 operations"
    assert (beyond.grounding.status, beyond.grounding.reason) == ("failed", reason)
    assert beyond.citations and beyond.quality and {beyond.citations.status, beyond.quality.status} == {"ok"}
    assert (beyond.decision.state, "grounding_not_evaluated" in beyond.decision.reasons) == (state, True)
    left_out = {"duration_seconds"}
    assert again.grounding is not None
    assert again.grounding.model_dump(exclude=left_out) == beyond.grounding.model_dump(exclude=left_out)


@pytest.mark.parametrize("name", TEXTS)
def test_the_budget_bounds_what_an_evaluation_does(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each counted operation stands for a bounded number of statements, whatever the texts are."""
    budget = Budget()
    monkeypatch.setattr(evaluator, "Budget", lambda: budget)
    make = TEXTS[name]
    evaluation = grounding_evaluator(Settings(_env_file=None)).begin(answer(make(1_000), [make(600)] * 4), ())

    def evaluate() -> None:
        evaluation.prepare()
        evaluation.evaluate({}, {})

    statements = count_operations(evaluate)
    assert evaluation.failure is None
    assert statements <= MAX_STATEMENTS * budget.spent, statements / budget.spent


def over_result(make: Make) -> GeneratedAnswer:
    contexts = [{"chunk_id": "t", "content": make(6_000), "source_type": "tool", "tool": {"name": "f"}}]
    return answer(CLAIMS(1_000), [], contexts=contexts)


def after_turns(make: Make) -> GeneratedAnswer:
    turns = conversation(make, 16, 1_500)
    return answer(CLAIMS(500), [CLAIMS(500)], query="How long does it run there?", conversation=turns)


def after_steps() -> GeneratedAnswer:
    """A run of as many steps as are read."""
    output = series(lambda i: f"Item {i} costs ${3 * i + 11} for {i} minutes.", " ")(2_000)
    steps = [{"kind": "tool", "name": "f", "output": output}] * 50
    return answer(CLAIMS(2_000), [CLAIMS(1_000)], steps=steps)


@pytest.mark.parametrize(
    "given", [*map(over_result, RESULTS.values()), *map(after_turns, TURNS.values()), after_steps()],
    ids=[*RESULTS, *TURNS, "steps"],
)  # fmt: skip
def test_the_budget_bounds_what_results_earlier_turns_and_steps_take(
    given: GeneratedAnswer, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = Budget()
    monkeypatch.setattr(evaluator, "Budget", lambda: budget)
    evaluation = grounding_evaluator(Settings(_env_file=None)).begin(given, ())

    def evaluate() -> None:
        evaluation.prepare()
        evaluation.evaluate({}, {})

    statements = count_operations(evaluate)
    assert evaluation.failure is None
    assert statements <= MAX_STATEMENTS * budget.spent, statements / budget.spent


@pytest.mark.parametrize(("mode", "state"), [("observer", "warned"), ("gatekeeper", "held")])
@pytest.mark.parametrize("of_turns", [False, True], ids=["results", "turns"])
def test_an_answer_whose_results_or_turns_exceed_its_budget_is_not_plainly_released(
    backend: SentenceTransformerBackend, monkeypatch: pytest.MonkeyPatch, mode: str, state: str, of_turns: bool
) -> None:
    monkeypatch.setattr(evaluator, "Budget", lambda: Budget(limit=30_000))
    given = after_turns(TURNS["statements"]) if of_turns else over_result(RESULTS["JSON records"])
    enriched = LocalPipeline(Settings(_env_file=None), backend).evaluate(given.model_copy(update={"risk_mode": mode}))
    assert enriched.grounding is not None and enriched.grounding.status == "failed"
    assert enriched.grounding.reason == "budget: the evaluation needs more than 30000 operations"
    assert (enriched.decision.state, "grounding_not_evaluated" in enriched.decision.reasons) == (state, True)


@pytest.mark.long
def test_the_most_expensive_answer_ends_with_its_budget() -> None:
    evaluation = grounding_evaluator(Settings(_env_file=None)).begin(runs_on(90), ())
    began = time.process_time()
    evaluation.prepare()
    evaluation.evaluate({}, {})
    spent = time.process_time() - began
    assert str(evaluation.failure) == f"budget: the evaluation needs more than {MAX_OPERATIONS} operations"
    assert spent < CPU_SECONDS
