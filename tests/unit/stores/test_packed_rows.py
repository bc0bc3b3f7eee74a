"""Rows of one answer travel in few records, and every row comes out as it went in."""

import json
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.base import UnreadableEvent
from schemas.enriched import EnrichedAnswer
from schemas.export import example
from schemas.feedback import AnalyticsRow
from schemas.topics import FEEDBACK_ANALYTICS
from workers.delivery.followers.record_subjects import subject_of
from workers.delivery.records import Record
from workers.errors import UnreadableRecord
from workers.stores.clickhouse.rows.clickhouse_rows import enriched_rows
from workers.stores.clickhouse.rows.recorded_rows import stored_rows
from workers.stores.tables import packed_rows
from workers.stores.tables.packed_rows import packed, unpacked
from workers.stores.tables.table_row import TableRow

ROWS = enriched_rows(EnrichedAnswer.model_validate(example(EnrichedAnswer)))


def through_a_record(rows: list[TableRow]) -> list[tuple[str, dict[str, Any]]]:
    values = [record.to_bytes() for record in packed(rows)]
    return [row for value in values for row in stored_rows(Record(FEEDBACK_ANALYTICS.name, 0, 0, None, value))]


def by_table(rows: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    tables = list(dict.fromkeys(table for table, _ in rows))
    return sorted(rows, key=lambda row: tables.index(row[0]))


def as_json(rows: list[TableRow]) -> list[tuple[str, dict[str, Any]]]:
    return [(row.table, json.loads(json.dumps(row.columns))) for row in rows]


def test_all_rows_of_an_answer_are_one_record_of_a_smaller_size() -> None:
    (record,) = packed(ROWS)
    assert len(ROWS) > 3
    assert through_a_record(ROWS) == as_json(ROWS)
    singly = sum(len(row.record().to_bytes()) for row in ROWS)
    assert len(record.to_bytes()) < 0.8 * singly


@given(data=st.data())
def test_any_choice_of_rows_comes_out_as_it_went_in(data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(ROWS), max_size=8))
    rows = []
    for row in chosen:
        names = [name for name in ("tenant", "answer_id", "run", "user_id", "rank") if hasattr(row, name)]
        changed = data.draw(st.sets(st.sampled_from(names))) if names else set()
        other = {name: (7 if name == "rank" else "other") for name in changed}
        rows.append(cast(TableRow, replace(cast(Any, row), **other)))
    assert through_a_record(rows) == by_table(as_json(rows))


def test_a_missing_value_is_not_filled_with_that_of_another_row() -> None:
    claim: Any = next(row for row in ROWS if row.table == "claims")
    without = replace(claim, earlier_turn=None, claim_id="b")
    rows: list[TableRow] = [replace(claim, earlier_turn=3), without]
    assert through_a_record(rows) == as_json(rows)
    assert "earlier_turn" not in through_a_record(rows)[1][1]


def test_one_row_travels_as_before() -> None:
    (record,) = packed(ROWS[:1])
    assert (record.table, record.rows) == (ROWS[0].table, [])
    assert record == ROWS[0].record()
    assert packed([]) == []


def test_large_rows_are_spread_over_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_rows, "PACKED_BYTES", 2_000)
    assert 1 < len(packed(ROWS)) < len(ROWS)
    assert through_a_record(ROWS) == as_json(ROWS)


def test_a_reader_of_single_rows_refuses_several_instead_of_losing_them() -> None:
    """Workers of the version before had a required table: they dead-letter the record."""
    (record,) = packed(ROWS)
    assert "table" not in json.loads(record.to_bytes())


@pytest.mark.parametrize(
    "content", [{"columns": {}}, {"table": "a", "columns": {}, "rows": [{"table": "b", "columns": [], "values": [[]]}]}]
)
def test_a_record_has_one_form(content: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="name a table, or rows"):
        AnalyticsRow.model_validate(content)


@pytest.mark.parametrize("values", [[], ["a"], ["a", "b", "c"]])
def test_a_row_with_too_few_or_too_many_values_is_unreadable(values: list[str]) -> None:
    content = {"columns": {}, "rows": [{"table": "answers", "columns": ["run", "tenant"], "values": [values]}]}
    value = json.dumps(json.loads(packed(ROWS)[0].to_bytes()) | content).encode()
    with pytest.raises(UnreadableEvent, match="give each row of answers 2 values"):
        stored_rows(Record(FEEDBACK_ANALYTICS.name, 0, 0, None, value))


def test_rows_of_a_later_version_are_told() -> None:
    record = AnalyticsRow(columns={}, rows=[{"table": "later", "columns": [], "values": [[]]}])
    with pytest.raises(UnreadableRecord, match="later version; upgrade"):
        unpacked(record)


@pytest.mark.parametrize("other", [False, True])
def test_the_person_and_the_answer_of_several_rows_are_found(other: bool) -> None:
    answer: Any = next(row for row in ROWS if row.table == "answers")
    rows: list[TableRow] = [replace(answer, user_id="ada")]
    rows += [replace(answer, user_id="", run="r")] if other else [row for row in ROWS if row.table == "claims"]
    (record,) = packed(rows)
    subject = subject_of(Record(FEEDBACK_ANALYTICS.name, 0, 0, None, record.to_bytes()))
    assert (subject.tenant, subject.user_id, subject.answer_id) == (answer.tenant, "ada", answer.answer_id)
