"""The time of every text step grows with its text and not with its square, whatever the text."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.citations import Citation
from tests.harness.hostile_results import RESULTS, UNFINISHED
from tests.harness.linear_time import Run, check_linear, repeated
from workers.decision.mitigation import mitigate
from workers.decision.reader_text.formatting import format_answer
from workers.decision.reader_text.reader_texts import ENGLISH
from workers.decision.reader_text.reference_list import Style, escape
from workers.evaluation.citations.citation_finder import find_citations
from workers.evaluation.facts.evidence_units import segment_source
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.quality.characteristics import correctness
from workers.evaluation.quality.quality_evaluator import evaluate_quality, prepare_quality
from workers.evaluation.quality.validation import validate_response
from workers.evaluation.text.structure.markers import find_markers
from workers.evaluation.text.structure.segmentation import segment
from workers.evaluation.thresholds import GroundingThresholds, QualityThresholds
from workers.evaluation.tools.results.tool_tables import read_tables

NOW = datetime(2026, 11, 2, tzinfo=UTC)
CONTEXTS = [
    ContextChunk(chunk_id="c1", content="Loki restarts at 14:03 because its memory of 2 GiB is exceeded."),
    ContextChunk(chunk_id="c2", content='{"asset_name": "Loki", "downtime_minutes": 47}'),
]


class OneVector(dict[str, NDArray[np.float32]]):
    """The same vector for every text: each claim is near all evidence, which is the most work."""

    def __missing__(self, key: str) -> NDArray[np.float32]:
        return np.full(16, 0.25, dtype=np.float32)


VECTORS: Mapping[str, NDArray[np.float32]] = OneVector()


def answer(text: str, **fields: Any) -> GeneratedAnswer:
    values: dict[str, Any] = {"query": "How do I restart Loki, and why?", "contexts": CONTEXTS} | fields
    return GeneratedAnswer(answer_id="a", answer=text, completed_at=NOW, **values)


def _grounding(given: GeneratedAnswer) -> Run:
    prepared = prepare_grounding(given)
    return lambda: evaluate_grounding(prepared, GroundingThresholds())


def _quality(given: GeneratedAnswer) -> Run:
    prepared = prepare_quality(given)
    return lambda: evaluate_quality(prepared, VECTORS, QualityThresholds())


def _markers(text: str) -> Run:
    sentences = segment(text)
    return lambda: find_markers(text, 2, sentences)


def _format(style: Style) -> Callable[[str], Run]:
    citation = Citation(citation_id="i", number=1, chunk_id="c", source_type="document")
    return lambda text: lambda: format_answer(text, [citation], style=style)


STEPS: dict[str, Callable[[str], Run]] = {
    "segment": lambda text: lambda: segment(text),
    "segment_source": lambda text: lambda: segment_source(text),
    "find_markers": _markers,
    "find_citations": lambda text: partial(find_citations, answer(text)),
    "prepare_grounding": lambda text: partial(prepare_grounding, answer(text)),
    "evaluate_grounding": lambda text: _grounding(answer(text)),
    "the source of grounding": lambda text: partial(
        prepare_grounding, answer("Loki restarts at 14:03. [1]", contexts=[ContextChunk(chunk_id="c", content=text)])
    ),
    "validate_response": lambda text: lambda: validate_response(text),
    "prepare_quality": lambda text: partial(prepare_quality, answer(text)),
    "evaluate_quality": lambda text: _quality(answer(text)),
    "the query of quality": lambda text: _quality(answer("Restart it now. It has run out of memory.", query=text)),
    "format standard": _format("standard"),
    "format compact": _format("compact"),
    "format verbose": _format("verbose"),
    "mitigate": lambda text: lambda: mitigate(text, ENGLISH.disclaimer("high")),
    "correctness": lambda text: partial(correctness, answer("Loki", reference_answer=text), None, None),
    "escape": lambda text: lambda: escape(text),
}

UNITS = (
    "[", "]", "*", "`", "``` ", "```\n", "> ", "- a\n", "  - ", "a.", "A. ", "|a|b|\n", "|a|b|\n|-|-|\n", "[1](", "[1]", "[a](b)",
    '"', "“", "(", "<a ", "<!-- ", "1.", "1, ", "'", "\u0300", "。", "日。", "http://", '{"a":', '{"a":1}\n', "[1,", " ", "\t",
    "\n", "\r\n", "\\", "~~~\n", "_a", "# a\n", "&amp;", "[^1]: ", "[Source: a/b]", "a; ", "maybe ", "12:00 ", "Note: a\n", "• a\n",
    "* * *\n", "a,b,c\n", "👨\u200d👩", "\x00",
)  # fmt: skip

SHAPES: dict[str, Callable[[int], str]] = {
    # Each of these was quadratic once, or is next to what was.
    "stars behind a word": lambda n: "a " + "*" * n,
    "commas behind a turn": lambda n: "I'm sorry; but" + "," * n,
    "spaces behind 'error'": lambda n: "error" + " " * n + "x",
    "refusals in one sentence": lambda n: "I cannot help " * (n // 14),
    "hedges and code in one sentence": lambda n: "maybe `a` " * (n // 10),
    "hedges and quotations": lambda n: 'maybe "ab" ' * (n // 11),
    "statements joined by semicolons": lambda n: "aa bb cc dd [1]; " * (n // 17),
    "a word without end": lambda n: "Based on the " + "a" * n,
    "closers": lambda n: "He said so." + '"»)]' * (n // 4),
    "an open fence behind a list": lambda n: "- a\n```\n" + "x\n" * (n // 2),
    "half brackets": lambda n: "[" * (n // 2) + "]" * (n // 2),
    "half backticks": lambda n: "".join("`" * (i % 40 + 1) + " " for i in range(n // 21)),
    "definitions and uses": lambda n: "[a]: b\n" * (n // 14) + "[x][a] " * (n // 14),
    "a wide table": lambda n: "|" + "a|" * (n // 6) + "\n|" + "-|" * (n // 6) + "\n|" + "b|" * (n // 6),
    "numbers": lambda n: "".join("The " + " ".join(str(2_000 + i) for i in range(28)) + " end. " for _ in range(n // 150)),
    "nested quotations": lambda n: "".join(">" * (i % 25) + " a\n" for i in range(n // 14)),
    "nested lists": lambda n: "".join(" " * (2 * (i % 30)) + "- a\n" for i in range(n // 34)),
}  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_repeated_units(step: str) -> None:
    for unit in UNITS:
        check_linear(STEPS[step], repeated(unit), f"{step}, {unit!r} repeated")


@pytest.mark.parametrize("step", STEPS)
def test_hostile_shapes(step: str) -> None:
    for name, shape in SHAPES.items():
        check_linear(STEPS[step], shape, f"{step}, {name}")


@pytest.mark.parametrize("name", [*RESULTS, *UNFINISHED])
def test_results_of_tools(name: str) -> None:
    # Without its cache, which would give the second run for nothing.
    read = read_tables.__wrapped__
    check_linear(lambda text: partial(read, text), (RESULTS | UNFINISHED)[name], f"a result, {name}")


def test_ranges_that_cite_all_contexts() -> None:
    """20 kB of "[1-200]" made half a million spans once."""
    contexts = [ContextChunk(chunk_id=f"c{number}", content=f"Loki {number} restarts.") for number in range(200)]
    check_linear(
        lambda text: partial(find_citations, answer(text, contexts=contexts)),
        repeated("a [1-200] "),
        "ranges",
    )
    found = find_citations(answer("a [1-200] " * 1_000, contexts=contexts))
    assert len(found.citations) == 200
    assert sum(len(citation.spans) for citation in found.citations) <= 4_000


def test_passages_quoted_by_the_gateway() -> None:
    """The contexts are flattened once, not once for each of a thousand passages."""

    def make(text: str) -> Run:
        passages = [{"cited_text": f"is not there {number}"} for number in range(200)]
        given = answer("Loki restarts.", contexts=[ContextChunk(chunk_id="c", content=text)], citations=passages)
        return lambda: find_citations(given)

    check_linear(make, lambda n: "ab cd " * n, "passages")


def test_ten_thousand_nested_values_of_a_source() -> None:
    for opening in ("[", '{"a":', '[{"a":'):
        for text in (opening * 10_000, opening * 10_000 + "]" * 10_000):
            assert isinstance(segment_source(text), list)
