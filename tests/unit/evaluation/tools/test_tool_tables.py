"""Results of tools become tables, whatever printed them."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.evaluation.tools.results.tool_tables import MAX_CELLS, MAX_ROWS, read_tables

PSQL = "  city  | rain_mm\n--------+---------\n Porto  |     120\n Braga  |      85\n(2 rows)\n"
MYSQL = "+-------+---------+\n| city  | rain_mm |\n+-------+---------+\n| Porto |     120 |\n| Braga |      85 |\n+-------+---------+\n2 rows in set (0.00 sec)\n"
MARKDOWN = "| city | rain_mm |\n|---|---:|\n| Porto | 120 |\n| Braga | 85 |\n"
PANDAS = "    city  rain_mm\n0  Porto      120\n1  Braga       85\n"
CSV = "city,rain_mm\nPorto,120\nBraga,85\n"
TSV = "city\train_mm\nPorto\t120\nBraga\t85\n"
SEMICOLONS = "city;rain_mm\nPorto;120\nBraga;85\n"
XML = (
    "<rain><row><city>Porto</city><rain_mm>120</rain_mm></row><row><city>Braga</city><rain_mm>85</rain_mm></row></rain>"
)
ATTRIBUTES = '<rain><row city="Porto" rain_mm="120"/><row city="Braga" rain_mm="85"/></rain>'
ROWS = [{"city": "Porto", "rain_mm": 120}, {"city": "Braga", "rain_mm": 85}]
COLUMNS = {"columns": ["city", "rain_mm"], "data": [["Porto", 120], ["Braga", 85]]}


@pytest.mark.parametrize(
    "content",
    [PSQL, MYSQL, MARKDOWN, PANDAS, CSV, TSV, SEMICOLONS, XML, ATTRIBUTES, json.dumps(ROWS), json.dumps(COLUMNS),
     "\n".join(map(json.dumps, ROWS)), json.dumps({"page": 1, "data": {"rows": ROWS}})],
)  # fmt: skip
def test_the_same_table_is_read_from_every_form(content: str) -> None:
    table = next(table for table in read_tables(content) if len(table.rows) == 2)
    rows = [{cell.path[-1]: (cell.text, cell.number) for cell in row} for row in table.rows]
    assert rows == [
        {"city": ("Porto", None), "rain_mm": ("120", 120.0)},
        {"city": ("Braga", None), "rain_mm": ("85", 85.0)},
    ]


def test_an_object_of_alike_objects_is_a_table_with_its_keys() -> None:
    plans = {"plans": {"basic": {"users": 5, "churn": 0.03}, "pro": {"users": 2, "churn": 0.01}}}
    [table] = read_tables(json.dumps(plans))
    assert [[cell.text for cell in row] for row in table.rows] == [["basic", "5", "0.03"], ["pro", "2", "0.01"]]


def test_nested_objects_belong_to_their_row_and_lists_are_tables() -> None:
    order = {"id": "A-1", "customer": {"name": "Lum"}, "lines": [{"sku": "x", "qty": 2}, {"sku": "y", "qty": 1}]}
    one, lines = read_tables(json.dumps(order))
    assert [cell.path for cell in one.rows[0]] == [("id",), ("customer", "name")]
    assert (lines.name, len(lines.rows)) == (("lines",), 2)


def test_names_and_values_of_a_program_are_one_record() -> None:
    [table] = read_tables("Host: web-3\nUptime: 512\nload=0.25\n")
    assert [(cell.path, cell.text) for cell in table.rows[0]] == [
        (("Host",), "web-3"), (("Uptime",), "512"), (("load",), "0.25"),
    ]  # fmt: skip


def test_units_beside_numbers_are_read() -> None:
    [table] = read_tables("Filesystem  Size  Use%\n/dev/sda  10G  25%\n/dev/sdb  2T  91%\n")
    assert [(cell.number, cell.unit) for cell in table.rows[0][1:]] == [(10 * 2.0**30, "bytes"), (25.0, "%")]


@pytest.mark.parametrize(
    "content", ["", " ", "[]", "{}", "The weather is fine, with 20 degrees.", "<p>no</q>", "{broken"]
)
def test_prose_and_empty_results_have_no_table_of_rows(content: str) -> None:
    assert not [table for table in read_tables(content) if len(table.rows) > 1]


def test_a_document_type_is_not_read() -> None:
    assert read_tables('<!DOCTYPE x [<!ENTITY a "b">]><x><y>&a;</y></x>') == ()


def test_rows_and_cells_are_bounded() -> None:
    tables = read_tables(json.dumps([{f"k{column}": row for column in range(40)} for row in range(2_000)]))
    assert sum(len(table.rows) for table in tables) <= MAX_ROWS
    assert sum(len(row) for table in tables for row in table.rows) <= MAX_CELLS
    read_tables("[" * 5_000 + "]" * 5_000)
    read_tables("<a>" * 5_000 + "</a>" * 5_000)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(alphabet="ab1 ,;|\t\n-+{}[]<>/\"'=:.%", max_size=200), st.text(max_size=80)))
def test_any_text_is_read_without_an_error(content: str) -> None:
    read_tables(content)


@settings(max_examples=80, deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
                    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4), max_leaves=25))  # fmt: skip
def test_any_json_is_read_without_an_error(value: object) -> None:
    read_tables(json.dumps(value))


@pytest.mark.parametrize("end", ["<tr><td>Faro<td", "<!-- cut", "<a href='/x", "", "<p>AT&T"])
def test_a_page_that_was_cut_keeps_its_complete_rows(end: str) -> None:
    page = f"<table><tr><th>city<th>rain_mm<tr><td>Porto<td>120<tr><td>Braga<td>85{end}"
    [table] = read_tables(page)
    assert [row[0].text for row in table.rows][:2] == ["Porto", "Braga"]
    assert table.rows[0][1].number == 120.0
