"""Parse a ClickHouse request as far as needed to run it: verb, format and inline data.

The engine takes statement and data separately; ClickHouse's HTTP interface takes them
together: `INSERT INTO t FORMAT Native` and then, after a line break, any bytes. Only words
outside of quotes, comments and brackets are read; the engine parses the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

TOKEN = re.compile(
    rb"""
      (?P<blank>   \s+ | --[^\n]* | \#[!\ ][^\n]* | /\*.*?\*/ )
    | (?P<quoted>  '(?:[^'\\]++|\\.|'')*+' | `(?:[^`\\]++|\\.|``)*+` | "(?:[^"\\]++|\\.|"")*+"
                 | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$ )
    | (?P<open>    ['"`] | /\* | \$\w*\$ )
    | (?P<word>    [A-Za-z_]\w* )
    | (?P<number>  \d[\w.]* )
    | (?P<sign>    . )
    """,
    re.DOTALL | re.VERBOSE,
)
"""One token of ClickHouse's SQL."""

_FORMAT_CLAUSE = re.compile(rb"FORMAT\s+(\w+)\s*;?\s*\Z|FORMAT\s+(\w+)\s+SETTINGS\b", re.IGNORECASE)
_DATA_START = re.compile(rb"[ \t\f]*;?[ \t\f]*\r?\n?")
_OPENING, _CLOSING = b"([{", b")]}"
_RESULT_VERBS = frozenset(
    {"SELECT", "WITH", "FROM", "SHOW", "DESCRIBE", "DESC", "EXISTS", "EXPLAIN", "CHECK", "VALUES", "BACKUP", "RESTORE"}
)
_SESSION_VERBS = frozenset({"SET", "USE", "BEGIN", "COMMIT", "ROLLBACK"})


class MultipleStatementsError(ValueError):
    """A request holds more than one statement."""


@dataclass(frozen=True, slots=True)
class InlineData:
    """The rows inside an INSERT, in the format that the statement names."""

    format: str
    content: memoryview


@dataclass(frozen=True, slots=True)
class Statement:
    """A request's statement.

    Attributes:
        sql: the statement, UTF-8, without inline data and a closing semicolon.
        verb: the first keyword in capitals; empty for an empty statement.
        format: the result format named near the end; None if the statement names none.
        data: the rows of an INSERT, None for a statement without inline data.
        temporary: true if the statement creates a temporary table.
    """

    sql: bytes
    verb: str
    format: str | None = None
    data: InlineData | None = None
    temporary: bool = False

    @property
    def returns_rows(self) -> bool:
        """Return true if the statement returns a result set, even an empty one."""
        return self.verb in _RESULT_VERBS

    @property
    def needs_session(self) -> bool:
        """Return true if the statement only affects later statements of the same session."""
        return self.verb in _SESSION_VERBS or self.temporary


@dataclass(frozen=True, slots=True)
class _Word:
    """A keyword or name outside of brackets, or a closing semicolon."""

    text: str
    start: int
    end: int


def read_statement(request: bytes) -> Statement:
    """Split a request into its statement and, for an INSERT, its data.

    Raises:
        MultipleStatementsError: a second statement follows the first.
    """
    words = _words(request)
    first = next(words, None)
    if first is None or first.text == ";":
        return Statement(b"", "")
    if first.text.upper() == "INSERT":
        return _read_insert(request, words)
    return _read_query(request, first, words)


def _read_insert(request: bytes, words: Iterator[_Word]) -> Statement:
    """Split an INSERT. Nothing after FORMAT or VALUES is SQL, so none of it is scanned."""
    previous = "INSERT"
    for word in words:
        text = word.text.upper()
        if text == ";":
            return Statement(_before(request, word), "INSERT")
        if text == "SELECT":  # the rows come from a query
            return _read_query(request, _Word("INSERT", 0, 0), words)
        if previous in {"INTO", "TABLE", ".", "INSERT"}:  # a name, even if it is spelt like a keyword
            previous = text if text in {"INTO", "TABLE", "FUNCTION"} else ""
            continue
        if text == "VALUES":
            data = InlineData("Values", memoryview(request)[word.end :])
            return Statement(_before(request, word), "INSERT", data=data)
        if text == "FORMAT" and (name := next(words, None)):
            data = InlineData(name.text, memoryview(request)[_data_start(request, name.end) :])
            return Statement(_before(request, word), "INSERT", data=data)
        previous = text
    return Statement(request.strip(), "INSERT")


def _read_query(request: bytes, first: _Word, words: Iterator[_Word]) -> Statement:
    """Split any other statement, whose format is near its end if it names one."""
    end, form, previous, temporary = len(request), None, first.text.upper(), False
    for word in words:
        text = word.text.upper()
        if text == ";":
            if any(later.text != ";" for later in words):
                raise MultipleStatementsError
            end = word.start
            break
        temporary = temporary or (text == "TEMPORARY" and previous in {"CREATE", "REPLACE"})
        if text == "FORMAT" and (clause := _FORMAT_CLAUSE.match(request, word.start)):
            form = (clause.group(1) or clause.group(2)).decode()
        previous = text
    return Statement(request[:end].strip(), first.text.upper(), form, temporary=temporary)


def _words(request: bytes) -> Iterator[_Word]:
    """Yield words, dots and semicolons outside of brackets, and `SELECT` also inside of brackets.

    That word distinguishes a query in brackets (`INSERT INTO t (SELECT …)`) from a list of columns.
    A literal, a quoted name or a parameter is the word "?".
    """
    depth = 0
    for token in TOKEN.finditer(request):
        kind = token.lastgroup
        text = token.group()
        if kind == "open":
            # Unclosed: the engine reports the error. Scanning on would try each later quote again.
            return
        if kind == "word":
            if depth == 0 or text.upper() == b"SELECT":
                yield _Word(text.decode("ascii", "replace"), token.start(), token.end())
        elif kind == "sign":
            if text in _OPENING:
                if text == b"{" and depth == 0:
                    yield _Word("?", token.start(), token.end())  # a parameter
                depth += 1
            elif text in _CLOSING:
                depth -= 1
            elif text in b".;" and depth <= 0:
                yield _Word(text.decode(), token.start(), token.end())
        elif kind != "blank" and depth == 0:
            yield _Word("?", token.start(), token.end())  # a literal or a quoted name


def _before(request: bytes, word: _Word) -> bytes:
    """Return the statement up to a word."""
    return request[: word.start].strip()


def _data_start(request: bytes, position: int) -> int:
    """Return the start of the data after a format's name: after blanks and at most one line break."""
    match = _DATA_START.match(request, position)
    return match.end() if match else position
