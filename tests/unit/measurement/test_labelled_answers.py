"""Rows of labelled sets become answers, whatever their contexts' length; what cannot be one is named."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.answers import GeneratedAnswer
from schemas.base import MAX_SOURCE_LENGTH
from workers.gateways.labelled_rows import cut_context, labelled_answer
from workers.intake.file_ingest import InputFormat, _output
from workers.measurement.labelled_answers import LabelledRow, UnreadableSet, read_labelled
from workers.measurement.measured_answers import answer_of
from workers.privacy.record_masking import Privacy
from workers.settings import Settings

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


def written(tmp_path: Path, **changes: object) -> Path:
    file = tmp_path / "set.jsonl"
    fields = {"id": "1", "answer": "The pump runs.", "contexts": ["The pump runs."], "label": 0} | changes
    file.write_text(json.dumps(fields) + "\n", encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("label", "bad"),
    [
        (0, False),
        (1, True),
        ("0", False),
        ("1", True),
        (False, False),
        (True, True),
        ("false", False),
        ("TRUE", True),
        (0.0, False),
    ],
)
def test_a_label_is_read_by_its_value_and_not_by_its_length(tmp_path: Path, label: object, bad: bool) -> None:
    (read,) = read_labelled([written(tmp_path, label=label)])
    assert read.label is bad


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"label": "maybe"}, "label is 'maybe'"),
        ({"label": ""}, "label is ''"),
        ({"label": None}, "label is 'None'"),
        ({"label": 2}, "label is '2'"),
        ({"contexts": "The pump runs."}, "contexts is no list of texts"),
        ({"contexts": None}, "contexts is no list of texts"),
        ({"contexts": ["The pump runs.", None]}, "contexts is no list of texts"),
        ({"contexts": {"1": "The pump runs."}}, "contexts is no list of texts"),
        ({"spans": [[0]]}, r"spans has '\[0\]'"),
        ({"spans": [["a", "b"]]}, "spans has"),
        ({"spans": [[5, 2]]}, "spans has"),
        ({"spans": [3]}, "spans has '3'"),
        ({"spans": 3}, "spans has '3'"),
        ({"id": None}, "id is null"),
        ({"id": True}, "id is True"),
        ({"id": ["a"]}, "id is "),
        ({"id": 1.5}, "id is 1.5"),
        ({"answer": None}, "answer is null"),
        ({"answer": 7}, "answer is 7"),
        ({"answer": ["The pump runs."]}, "answer is "),
        ({"query": {"text": "Why?"}}, "query is "),
        ({"task": 3}, "task is 3"),
    ],
)
def test_a_field_that_cannot_be_read_is_named_with_its_line(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(UnreadableSet, match=rf"line 1: field {message}"):
        read_labelled([written(tmp_path, **changes)])


def test_spans_are_read_and_a_line_that_is_no_object_is_named(tmp_path: Path) -> None:
    (read,) = read_labelled([written(tmp_path, spans=[[0, 3], [4, 8]])])
    assert read.spans == ((0, 3), (4, 8))
    file = tmp_path / "list.jsonl"
    file.write_text("[1]\n", encoding="utf-8")
    with pytest.raises(UnreadableSet, match="line 1: the line is no object"):
        read_labelled([file])


def test_an_identifier_may_be_a_whole_number_and_no_query_is_an_empty_one(tmp_path: Path) -> None:
    (read,) = read_labelled([written(tmp_path, id=7, query=None, task=None)])
    assert (read.id, read.query, read.task) == ("7", "", "unknown")


@pytest.mark.parametrize("identifier", [None, True, ["a"], 1.5, {}])
def test_an_answer_without_an_identifier_is_not_sent_under_another_name(identifier: object) -> None:
    with pytest.raises(ValueError, match="field id must be a text or a whole number"):
        labelled_answer(row([]) | {"id": identifier}, NOW)


def test_the_longest_context_is_not_cut() -> None:
    assert cut_context("a" * MAX_SOURCE_LENGTH, MAX_SOURCE_LENGTH) == ["a" * MAX_SOURCE_LENGTH]


@pytest.mark.parametrize("number", ["NaN", "1e400", "1" * 400])
def test_a_labelled_line_is_sent_with_any_number_that_an_answer_may_have(number: str) -> None:
    line = f'{{"id": "1", "answer": "Fine.", "contexts": [], "spans": [{{"score": {number}}}]}}'.encode()
    settings = Settings(_env_file=None)
    output = _output(line, InputFormat.labelled, NOW, settings, Privacy(settings.privacy, 1_000_000))
    assert GeneratedAnswer.from_bytes(output.value).answer == "Fine."
