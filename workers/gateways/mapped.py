"""Read any other format with a mapping file: a JMESPath expression for each field of an answer.

::

    version = 1
    name = "support-bot"
    each = "events[?type=='completion']"   # one record or a list of records; by default the whole document

    [answer]
    answer_id = "request_id"
    query = "input.question"
    answer = "output.text"
    completed_at = "finished"

    [contexts]
    each = "retrieval.hits"
    chunk_id = "doc.id"
    content = "doc.body"

A fixed value is a raw string of JMESPath: ``tenant = "'acme'"``. Top-level fields of the record that no expression
uses are kept in the metadata.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError

from schemas.answers import ContextChunk, ProvidedCitation, Turn
from workers.gateways.adapted import Adapted, Draft, Received, finished, named_apart
from workers.gateways.apis.chat_messages import turns_of
from workers.gateways.errors import NothingToJudge, UnadaptableRecord
from workers.gateways.reading.contexts import chunks_of
from workers.gateways.reading.lenient_reading import count, items, mapping, number, text, time

VERSION = 1
_TEXTS = ("answer_id", "tenant", "session_id", "user_id", "query", "answer", "model", "provider", "prompt_version", "query_type",
          "risk_mode", "reference_answer", "error", "error_type", "finish_reason", "trace_id", "span_id", "traceparent")  # fmt: skip
_TIMES = ("requested_at", "completed_at", "first_token_at")
_NUMBERS = ("temperature", "latency_seconds", "cost_usd")
_COUNTS = ("prompt_tokens", "completion_tokens")
_FLAGS = ("failed", "cache_hit")
FIELDS = frozenset({*_TEXTS, *_TIMES, *_NUMBERS, *_COUNTS, *_FLAGS})
"""Allowed fields of the table ``answer``."""
_RENAMED = {"answer_id": "identifier", "model": "model_id"}
_LISTS = {"contexts": frozenset(ContextChunk.model_fields), "citations": frozenset(ProvidedCitation.model_fields),
          "conversation": frozenset(Turn.model_fields)}  # fmt: skip

_STUMBLES = (JMESPathError, RecursionError, TypeError, ValueError, AttributeError, ArithmeticError)
"""Exceptions that JMESPath raises for values that its functions and comparisons do not support; several are not its own
classes."""


class UnusableMapping(ValueError):
    """Mapping file that cannot be used; the message names the entry and the remedy."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """A parsed mapping file.

    Attributes:
        name: name of the format.
        each: expression for the records of a document; ``None`` if the document is one record.
        answer: compiled expressions by field.
        lists: for ``contexts``, ``citations`` and ``conversation`` the expression for the items, and compiled expressions by field.
        used: top-level fields of a record that the expressions use.
    """

    name: str
    each: Any
    answer: Mapping[str, Any]
    lists: Mapping[str, tuple[Any, Mapping[str, Any]]]
    used: frozenset[str]


def read_mapping(content: bytes, name: str, where: str | None = None) -> Mapped:
    """Read a mapping file (TOML).

    Args:
        content: content of the file.
        name: name of the format if the file gives none.
        where: name of the file for error messages; ``name`` by default.

    Raises:
        UnusableMapping: the file is not a valid mapping.
    """
    where = where or name
    try:
        tables = tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise UnusableMapping(f"{where} is not TOML: {error}") from None
    if tables.get("version") != VERSION:
        raise UnusableMapping(f"{where}: write version = {VERSION} at the top")
    unknown = set(tables) - {"version", "name", "each", "answer", *_LISTS}
    if unknown:
        raise UnusableMapping(
            f"{where}: unknown entry {sorted(unknown)[0]}; use name, each, answer, contexts, citations, conversation"
        )
    answer = _expressions(tables.get("answer"), FIELDS, f"{where}: answer")
    if "answer" not in answer:
        raise UnusableMapping(f"{where}: answer.answer is missing; give the expression for the text of the answer")
    lists = {}
    for key, fields in _LISTS.items():
        table = tables.get(key)
        if table:
            rest = {entry: source for entry, source in _table(table, f"{where}: {key}").items() if entry != "each"}
            rows = _expression(table.get("each"), f"{where}: {key}.each")
            lists[key] = rows, _expressions(rest, fields, f"{where}: {key}")
    each = _expression(tables["each"], f"{where}: each") if "each" in tables else None
    looked_at = [*answer.values(), *(rows for rows, _ in lists.values())]
    return Mapped(str(tables.get("name") or name), each, answer, lists, frozenset().union(*map(_roots, looked_at)))


def adapt(record: Any, received: Received, *, by: Mapped) -> list[Adapted]:
    """Return the answers of a document.

    Args:
        record: the document.
        received: metadata of the record.
        by: the mapping.

    Raises:
        NothingToJudge: the document holds no record.
        UnadaptableRecord: an expression cannot be evaluated on a record, or a value is not valid.
    """
    records = [record] if by.each is None else items(_found(by.each, record, f"{by.name}: each"))
    if not records:
        raise NothingToJudge("no_answer")
    drafts = [_draft(each, by) for each in records]
    known = named_apart(drafts, received)
    return [finished(draft, by.name, each, beside) for draft, each, beside in zip(drafts, records, known, strict=True)]


def adapter(by: Mapped) -> Any:
    """Return ``adapt`` bound to a mapping."""
    return partial(adapt, by=by)


def _draft(record: Any, by: Mapped) -> Draft:
    draft = Draft(kept={name: value for name, value in mapping(record).items() if name not in by.used})
    said: Any = None
    for name, expression in by.answer.items():
        value = _found(expression, record, f"{by.name}: answer.{name}")
        said = value if name == "answer" else said
        if name in _FLAGS:
            _flag(draft, name, value)
            continue
        convert: Any = time if name in _TIMES else number if name in _NUMBERS else count if name in _COUNTS else text
        setattr(draft, _RENAMED.get(name, name), convert(value))
    if draft.status == "error":
        draft.answer = None
    elif draft.answer is None and not isinstance(said, str):
        raise UnadaptableRecord(
            f"{by.name}: answer.answer finds no text in this record; correct the expression, or leave such records "
            "out with each",
            "answer",
        )
    for key, (where, fields) in by.lists.items():
        rows = [
            _row(each, fields, f"{by.name}: {key}") for each in items(_found(where, record, f"{by.name}: {key}.each"))
        ]
        if key == "contexts":
            draft.contexts = chunks_of(rows)
        elif key == "conversation":
            draft.conversation = turns_of(rows, draft.query)
        else:
            draft.citations = [row for row in rows if isinstance(row, dict)]
    return draft


def _flag(draft: Draft, name: str, value: Any) -> None:
    # JMESPath's false values are null, an empty text, list or object, and false.
    if name == "cache_hit":
        draft.cache_hit = bool(value) if value is not None else None
    elif value:
        draft.status = "error"


def _row(item: Any, fields: Mapping[str, Any], where: str) -> Any:
    if not fields:
        return item
    return {name: _found(expression, item, f"{where}.{name}") for name, expression in fields.items()}


def _expressions(table: Any, known: frozenset[str], where: str) -> dict[str, Any]:
    for name in _table(table, where):
        if name not in known:
            raise UnusableMapping(f"{where}: unknown field {name}; use {', '.join(sorted(known))}")
    return {name: _expression(source, f"{where}.{name}") for name, source in table.items()}


def _table(table: Any, where: str) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise UnusableMapping(f"{where} is missing or not a table; write a table with an expression for each field")
    return table


def _expression(source: Any, where: str) -> Any:
    if not isinstance(source, str):
        raise UnusableMapping(f"{where} must be a JMESPath expression in quotes")
    try:
        return jmespath.compile(source)
    except JMESPathError as error:
        raise UnusableMapping(f"{where}: {' '.join(str(error).split())[:200]}") from None
    except RecursionError:
        raise UnusableMapping(f"{where} is nested too deeply; write a simpler expression") from None


def _found(expression: Any, record: Any, where: str) -> Any:
    try:
        return expression.search(record)
    except _STUMBLES as error:
        raise UnadaptableRecord(f"{where} cannot be evaluated on this record ({type(error).__name__})") from None


def _roots(expression: Any) -> frozenset[str]:
    """Return the top-level fields that an expression uses; all names in the expression where this cannot be decided."""
    names: set[str] = set()

    def walk(node: Mapping[str, Any]) -> None:
        children = [child for child in node.get("children", ()) if isinstance(child, dict)]
        if node.get("type") == "field":
            names.add(str(node.get("value")))
        # The right side of these nodes is looked up in the result of the left side.
        leading = node.get("type") in (
            "subexpression",
            "index_expression",
            "projection",
            "value_projection",
            "filter_projection",
            "pipe",
        )
        for child in children[:1] if leading else children:
            walk(child)

    walk(expression.parsed)
    return frozenset(names)
