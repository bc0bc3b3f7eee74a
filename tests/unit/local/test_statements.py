"""A request is split into statement and data exactly where ClickHouse splits it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.local.engine.statements import MultipleStatementsError, read_statement


@pytest.mark.parametrize(
    ("request_body", "sql", "form", "data"),
    [
        (b"INSERT INTO t FORMAT Native\n\x00\n\n;x", b"INSERT INTO t", "Native", b"\x00\n\n;x"),
        (b"INSERT INTO t FORMAT CSV\r\n1", b"INSERT INTO t", "CSV", b"1"),
        (b'INSERT INTO t FORMAT JSONEachRow {"a":1}', b"INSERT INTO t", "JSONEachRow", b'{"a":1}'),
        (b"INSERT INTO t (a) VALUES (';')", b"INSERT INTO t (a)", "Values", b" (';')"),
        (b"INSERT INTO values VALUES (1)", b"INSERT INTO values", "Values", b" (1)"),
        (b"insert into d.format (a) format TSV\n1", b"insert into d.format (a)", "TSV", b"1"),
        (b"INSERT INTO {t:Identifier} FORMAT TSV\n1", b"INSERT INTO {t:Identifier}", "TSV", b"1"),
        (b"INSERT INTO t (`format`) FORMAT TSV\n1", b"INSERT INTO t (`format`)", "TSV", b"1"),
        (
            b"INSERT INTO t SETTINGS a = 1.5, b = ' FORMAT ' FORMAT TSV\n1",
            b"INSERT INTO t SETTINGS a = 1.5, b = ' FORMAT '",
            "TSV",
            b"1",
        ),
        (
            b"/* FORMAT x */ INSERT INTO FUNCTION null('a Int8') VALUES (1)",
            b"/* FORMAT x */ INSERT INTO FUNCTION null('a Int8')",
            "Values",
            b" (1)",
        ),
    ],
)
def test_insert_keeps_every_byte_of_its_data(request_body: bytes, sql: bytes, form: str, data: bytes) -> None:
    statement = read_statement(request_body)
    assert (statement.verb, statement.sql) == ("INSERT", sql)
    assert statement.data is not None
    assert (statement.data.format, bytes(statement.data.content)) == (form, data)
    assert not statement.returns_rows


@given(st.binary())
def test_insert_never_interprets_its_data(data: bytes) -> None:
    statement = read_statement(b"INSERT INTO t (a) FORMAT Native\n" + data)
    assert statement.data is not None
    assert bytes(statement.data.content) == data


@given(st.binary(max_size=200))
def test_any_bytes_are_read_without_a_crash(request_body: bytes) -> None:
    try:
        statement = read_statement(request_body)
    except MultipleStatementsError:
        return
    assert statement.verb == statement.verb.upper()


@pytest.mark.parametrize(
    "query",
    [
        b"INSERT INTO t SELECT * FROM u",
        b"INSERT INTO t (a) (SELECT 1)",
        b"INSERT INTO t WITH 1 AS x SELECT x",
        b"INSERT INTO t (a)",
    ],
)
def test_insert_from_a_query_brings_no_data(query: bytes) -> None:
    statement = read_statement(query)
    assert (statement.sql, statement.data) == (query, None)


@pytest.mark.parametrize(
    ("query", "sql", "form"),
    [
        (b"SELECT a FROM t\n FORMAT Native", b"SELECT a FROM t\n FORMAT Native", "Native"),
        (b"SELECT 1 FORMAT JSON SETTINGS a=1;", b"SELECT 1 FORMAT JSON SETTINGS a=1", "JSON"),
        (b" -- note\n(SELECT ';') ; -- end;", b"-- note\n(SELECT ';')", None),
        (b"SELECT format FROM t", b"SELECT format FROM t", None),
        (b"WITH 1 AS x SELECT x", b"WITH 1 AS x SELECT x", None),
    ],
)
def test_query_is_kept_whole_and_its_format_is_known(query: bytes, sql: bytes, form: str | None) -> None:
    statement = read_statement(query)
    assert (statement.sql, statement.format, statement.data) == (sql, form, None)
    assert statement.returns_rows


def test_second_statement_is_refused() -> None:
    with pytest.raises(MultipleStatementsError):
        read_statement(b"SELECT 1; DROP TABLE t")


@pytest.mark.parametrize("query", [b"SET a = 1", b"use d", b"CREATE TEMPORARY TABLE t (a Int8)"])
def test_statement_that_needs_a_session_is_known(query: bytes) -> None:
    assert read_statement(query).needs_session


@pytest.mark.parametrize("query", [b"", b" ; ", b"-- nothing"])
def test_empty_request_has_no_verb(query: bytes) -> None:
    assert read_statement(query).verb == ""


def test_unclosed_quote_takes_no_exponential_time() -> None:
    assert read_statement(b"SELECT '" + b"\\'a" * 100_000).verb == "SELECT"
