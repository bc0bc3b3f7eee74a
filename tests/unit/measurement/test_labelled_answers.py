"""Rows of labelled sets become answers, whatever their contexts' length; what cannot be one is named."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.answers import GeneratedAnswer
from schemas.base import MAX_SOURCE_LENGTH
from workers.gateways.labelled_rows import cut_context, labelled_answer
from workers.measurement.labelled_answers import LabelledRow, UnreadableSet
from workers.measurement.measured_answers import answer_of

NOW = datetime(2026, 11, 2, tzinfo=UTC)


def row(contexts: list[str], answer: str = "The pump runs.") -> dict[str, object]:
    return {"id": "1", "answer": answer, "contexts": contexts}


def test_a_context_longer_than_an_answer_may_have_goes_on_behind_the_others() -> None:
    # Of 26 code points, so that no sentence ends by chance where a piece must.
    long = "The pump runs at 400 rpm. " * 9_000
    answer = GeneratedAnswer.model_validate(labelled_answer(row([long, "Short."]), NOW))
    contents = [chunk.content for chunk in answer.contexts or []]
    assert len(contents) == 4
    assert contents[1] == "Short.", "references by number still lead where they did"
    assert "".join([contents[0], *contents[2:]]) == long
    assert all(content.endswith(" ") for content in (contents[0], contents[2])), "no sentence is cut inside a word"
    assert [chunk.source_name for chunk in answer.contexts or []] == [
        "context 1",
        "context 2",
        "context 1",
        "context 1",
    ]
    assert len({chunk.chunk_id for chunk in answer.contexts or []}) == 4


@given(st.text(alphabet="ab .\n", max_size=60), st.integers(1, 20))
def test_pieces_together_are_the_context(text: str, most: int) -> None:
    pieces = cut_context(text, most)
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= most for piece in pieces) or pieces == [""]


def test_a_row_that_no_answer_can_hold_is_named_with_its_field(tmp_path: Path) -> None:
    wrong = LabelledRow("7", "set", "qa", "", ("Evidence.",), "x" * 70_000, False, None)
    with pytest.raises(UnreadableSet, match=r"set, row 7: field answer: .*60000"):
        answer_of(wrong)


def test_the_longest_context_is_not_cut() -> None:
    assert cut_context("a" * MAX_SOURCE_LENGTH, MAX_SOURCE_LENGTH) == ["a" * MAX_SOURCE_LENGTH]
