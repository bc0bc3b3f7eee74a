"""The operations of an evaluation grow with the results of tools and with the turns before the query, not with their square."""

from datetime import UTC, datetime

import pytest

from schemas.answers import ContextChunk, GeneratedAnswer
from tests.harness.hostile_results import CLAIMS, RESULTS, TURNS, Make, conversation
from tests.harness.operations import count_operations
from tests.unit.evaluation.test_bounded_operations import GROWTH, MOST, MOST_WITH_TOOLS, OneVector
from workers.evaluation.citations.citation_finder import find_citations
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.quality.quality_evaluator import evaluate_quality, prepare_quality
from workers.evaluation.thresholds import GroundingThresholds, QualityThresholds

NOW = datetime(2026, 11, 2, tzinfo=UTC)
SHORT, LONG = 2_000, 8_000
"""Code points of the results that are compared; a short result has fewer figures than are derived at most."""
QUERIES = ("And the second one?", "How long does it run there?", "it " * 160)
"""Follow-ups, and pronouns that each turn is searched for."""
SEARCHED = ("questions", "pronouns", "lists")
"""Turns after which all of these are asked, and after the others one."""


def evaluate(answer: GeneratedAnswer) -> None:
    """Run all evaluation steps; every claim without a contradiction is supported, which is the most work."""
    find_citations(answer)
    evaluate_quality(prepare_quality(answer), OneVector(), QualityThresholds())
    evaluate_grounding(prepare_grounding(answer), GroundingThresholds(grounding_minimum=0.0))


def operations(answer: GeneratedAnswer) -> int:
    return count_operations(lambda: evaluate(answer))


def over_results(make: Make, length: int, claims: int = 600) -> GeneratedAnswer:
    """An answer over one result; no cache holds anything of an answer over a result of another length."""
    text = f"Answer over {length}. {CLAIMS(claims)}"
    results = [ContextChunk(chunk_id="t", content=make(length), source_type="tool")]
    return GeneratedAnswer(
        answer_id="a", answer=text, completed_at=NOW, query="How long did the pumps run?", contexts=results
    )


def after_turns(make: Make, turns: int, length: int, query: str) -> GeneratedAnswer:
    contexts = [ContextChunk(chunk_id="c", content=CLAIMS(1_000))]
    return GeneratedAnswer(
        answer_id="a", answer=f"Answer after {turns} of {length}. {CLAIMS(500)}", completed_at=NOW, query=query,
        contexts=contexts, conversation=conversation(make, turns, length),
    )  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_operations_grow_with_the_results_of_tools(name: str) -> None:
    short, long = (operations(over_results(RESULTS[name], length)) / length for length in (SHORT, LONG))
    assert long <= GROWTH * short + 12


@pytest.mark.parametrize("name", RESULTS)
def test_operations_for_each_code_point_of_an_answer_over_hostile_results_are_bounded(name: str) -> None:
    answer = over_results(RESULTS[name], SHORT, claims=1_000)
    assert operations(answer) / len(answer.answer) <= MOST_WITH_TOOLS


@pytest.mark.parametrize("name", TURNS)
def test_operations_grow_with_the_turns_before_the_query(name: str) -> None:
    """Twelve turns of 2,000 code points take no more for each than three of 500."""

    def for_each(turns: int, length: int, query: str) -> float:
        return operations(after_turns(TURNS[name], turns, length, query)) / (turns * length)

    for query in QUERIES if name in SEARCHED else QUERIES[1:2]:
        short, long = for_each(3, 500, query), for_each(12, 2_000, query)
        assert long <= GROWTH * short + 12, query


@pytest.mark.parametrize("name", TURNS)
def test_turns_beyond_those_that_are_read_take_no_operations(name: str) -> None:
    make = TURNS[name]
    read, most = (operations(after_turns(make, *size, QUERIES[1])) for size in ((16, 5_000), (40, 60_000)))
    assert most <= GROWTH * read + MOST
