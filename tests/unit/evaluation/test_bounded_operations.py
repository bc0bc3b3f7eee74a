"""The operations of every evaluation step grow with the answer and not with its square.

Operations are counted and not timed, so that the result depends neither on the machine nor on its load. The time inside
regular expressions is not counted here: test_linear_time.py measures it.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count, islice

import numpy as np
import pytest
from numpy.typing import NDArray

from schemas.answers import ContextChunk, GeneratedAnswer
from tests.harness.operations import count_operations
from workers.evaluation.citations.citation_finder import find_citations
from workers.evaluation.facts.calculation.calculations import derived_figures
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.quality.quality_evaluator import evaluate_quality, prepare_quality
from workers.evaluation.thresholds import GroundingThresholds, QualityThresholds

NOW = datetime(2026, 11, 2, tzinfo=UTC)
SHORT, LONG, LONGEST = 1_200, 2_400, 60_000
"""Code points of the answers that are compared."""
GROWTH_TO_LONG, GROWTH = 1.1, 1.3
"""Largest ratio of operations for each code point between a longer answer and the shorter one: linear is 1, quadratic 2 for
the long one and 50 for the longest."""
MOST = 1_200
"""Maximum operations for each code point of the answer."""
MOST_WITH_TOOLS = 2_400
"""The same over results of tools: each figure of the answer is compared with all figures that follow from the results."""

FACTS = (
    "Loki restarts at 14:03 because its memory of 2 GiB is exceeded.",
    "It costs $3,000 per hour and 47 minutes of work.",
    "The warranty is 24 months.",
    '{"asset_name": "Loki", "downtime_minutes": 47}',
    "In 2019 about 30 % of 500 rooms had 12 windows and 7 doors, at $12 each.",
)


class OneVector(dict[str, NDArray[np.float32]]):
    """The same vector for every text: each claim is near all evidence, which is the most work."""

    def __missing__(self, key: str) -> NDArray[np.float32]:
        return np.full(16, 0.25, dtype=np.float32)


def series(piece: Callable[[int], str], separator: str = " ", head: str = "") -> Callable[[int], str]:
    """Return a generator of texts of different pieces up to a length."""

    def make(length: int) -> str:
        return (head + separator.join(islice(map(piece, count()), length)))[:length]

    return make


TEXTS: dict[str, Callable[[int], str]] = {
    "equal terms": lambda n: "1+1=" * (n // 4),
    "sums": series(lambda i: f"{i % 90 + 11}+{i % 70 + 7}="),
    "numbers": series(lambda i: str(11 + i)),
    "durations": series(lambda i: f"{11 + i} minutes", ", "),
    "amounts": series(lambda i: f"${11 + 3 * i}"),
    "bounds": series(lambda i: f"at least {11 + i} minutes"),
    "number words": series(lambda i: "twenty four minutes"),
    "clock times": series(lambda i: f"{i % 24:02}:{i % 60:02}"),
    "dates": series(lambda i: f"20{i % 100:02}-{i % 12 + 1:02}-{i % 28 + 1:02}"),
    "statements with figures": series(lambda i: f"Item {i} costs ${3 * i + 11} for {i} minutes."),
    "identifiers": series(lambda i: f"INC-{i}"),
    "denials": series(lambda i: f"not w{i},"),
    "opposites": series(lambda i: "it is not open, the valve is closed;"),
    "brackets": lambda n: "(" * (n // 2) + ")" * (n // 2),
    "numbered brackets": series(lambda i: f"({i}", ""),
    "rows": series(lambda i: f"|row {i}|{7 * i} min|${3 * i}|", "\n", "|a|b|c|\n|-|-|-|\n"),
    "columns": lambda n: "|a" * (n // 12) + "|\n" + "|-" * (n // 12) + "|\n" + series(lambda i: f"|{i} min", "")(n // 2),
    "citations": series(lambda i: f"Loki [1][2] ran {i} minutes [Source: c{i}]."),
    "list items": series(lambda i: f"- {i} minutes", "\n"),
    "quotations": series(lambda i: f'He said "the limit is {i}" and'),
    "joined statements": series(lambda i: f"the pump {i} failed and the motor {i} was replaced, and"),
    "fields": series(lambda i: f"Key {i}: value {i};"),
    "the same two words": series(lambda i: "alpha beta", ". "),
}  # fmt: skip


def evaluate(text: str, contexts: list[ContextChunk]) -> None:
    """Run all evaluation steps; every claim without a contradiction is supported, which is the most work."""
    vectors = OneVector()
    answer = GeneratedAnswer(
        answer_id="a", answer=text, completed_at=NOW, query="How do I restart Loki, and why?", contexts=contexts
    )
    find_citations(answer)
    evaluate_quality(prepare_quality(answer), vectors, QualityThresholds())
    evaluate_grounding(prepare_grounding(answer), GroundingThresholds(grounding_minimum=0.0))


def five_facts(_: Callable[[int], str]) -> list[ContextChunk]:
    return [ContextChunk(chunk_id=f"c{number}", content=fact) for number, fact in enumerate(FACTS)]


def two_results(_: Callable[[int], str]) -> list[ContextChunk]:
    """Return results of tools: a table with figures, names and codes, and a record."""
    rows = [{"name": f"Pump {i}", "hours": 11 + i, "share": i / 40, "state": "open", "at": "14:03"} for i in range(20)]
    record = {"asset": "Loki", "downtime_minutes": 47, "locale": "de-AT", "active": False, "city": "Graz"}
    return [
        ContextChunk(chunk_id=f"t{place}", content=json.dumps(result), source_type="tool")
        for place, result in enumerate((rows, record))
    ]


def likewise(make: Callable[[int], str]) -> list[ContextChunk]:
    # Half of the shorter answer, so that both answers have claims that no evidence has, whose figures are searched for.
    return [ContextChunk(chunk_id=f"c{number}", content=make(SHORT // 2)) for number in range(2)]


def operations(name: str, length: int, contexts: Callable[[Callable[[int], str]], list[ContextChunk]]) -> float:
    """Return the operations for each code point of an answer; no result is cached from an earlier one."""
    # Caches of sentences would make the second answer cheaper: a prefix keeps the texts different.
    text = (f"Answer of {length}. " + TEXTS[name](length))[:length]
    given = contexts(TEXTS[name])
    return count_operations(lambda: evaluate(text, given)) / length


@pytest.mark.parametrize(
    ("name", "contexts"),
    [
        *((name, five_facts) for name in TEXTS),
        *((name, likewise) for name in ("numbers", "denials", "rows")),
    ],
)
def test_operations_grow_with_the_answer(
    name: str, contexts: Callable[[Callable[[int], str]], list[ContextChunk]]
) -> None:
    short, long = operations(name, SHORT, contexts), operations(name, LONG, contexts)
    assert long <= GROWTH_TO_LONG * short + 12
    assert max(short, long) <= MOST


@pytest.mark.parametrize("name", ["sums", "statements with figures", "list items", "denials"])
def test_operations_on_results_of_tools_grow_with_the_answer(name: str) -> None:
    short, long = operations(name, SHORT, two_results), operations(name, LONG, two_results)
    assert long <= GROWTH_TO_LONG * short + 12
    assert max(short, long) <= MOST_WITH_TOOLS


@pytest.mark.long
@pytest.mark.parametrize("name", TEXTS)
def test_operations_grow_with_the_answer_up_to_its_limit(name: str) -> None:
    short, longest = operations(name, SHORT, five_facts), operations(name, LONGEST, five_facts)
    assert longest <= GROWTH * short + 12


@pytest.mark.parametrize("name", ["equal terms", "sums", "numbers", "amounts", "durations"])
def test_a_claim_of_figures_is_searched_for_calculations_within_a_bound(name: str) -> None:
    """1+1= five hundred times took ten seconds once: each figure was tried with each other figure."""
    claim = TEXTS[name](2_000)
    assert count_operations(lambda: derived_figures(claim, FACTS)) <= 90_000
