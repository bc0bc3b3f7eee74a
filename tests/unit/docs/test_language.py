"""Check the language of docstrings, comments, messages and log events in workers and schemas."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.harness.paths import ROOT

OPENINGS = {"Who", "What", "Whether", "How", "Where", "That", "Of", "Which", "It"}
"""First words of noun clauses. A docstring begins with a verb, or with a noun where it describes a record."""
REFERENCE = re.compile(r"\bseeds? 00\d", re.IGNORECASE)
"""A reference to a requirements document, which belongs to the documentation."""

DIALECT = re.compile(
    r"\b(?:told|judg(?:e|es|ed|ing|ements?)|at hand|whoever|nobody|mend(?:s|ed)?|goes by|leans on|anew|of ours"
    r"|held against|is no (?:UTF-8|JSON))\b(?!-as-)",
    re.IGNORECASE,
)
"""Words of a private dialect; the field says evaluate, report, available, unknown, fix, depend on, again, compare."""
QUOTED = re.compile(r"``?[^`]*``?|\"[^\"]*\"")
"""Names of code and examples, in which any word may occur."""
JOINT = re.compile(r"[\"']\s*f?[\"']")
"""Between the parts of a text that stands in several literals."""
LOG_EVENT = re.compile(r"[a-z]+(?:_[a-z]+)*_(?:\w+ed|timed_out|lost)")
"""A noun and a past participle."""
LOG_METHODS = {"debug", "info", "warning", "error", "exception", "critical"}
ELSEWHERE = {ROOT / "workers" / "gateways" / f"{name}.py" for name in ("callback", "guardrail", "trace_processor")}
"""Log into the log of another program, in sentences."""
STORED_TEXTS = {"RaisedAlert"}
"""Calls whose texts are stored outputs and therefore stay unchanged."""
TEXT_CALLS = {"fail", "Field", "Counter", "Gauge", "Histogram", "Option", "Argument", "BadParameter", "Typer"}
"""Calls whose texts people read; exceptions begin with a capital."""

Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def test_docstrings_do_not_open_with_a_noun_clause() -> None:
    found = [finding for path in _sources() for finding in _noun_clauses(path.read_text("utf-8"), _name(path))]
    assert not found, "\n".join(found)


def test_code_refers_to_no_requirements_document() -> None:
    found = [finding for path in _sources() for finding in _references(path.read_text("utf-8"), _name(path))]
    assert not found, "\n".join(found)


def test_docstrings_comments_and_messages_use_the_terms_of_the_field() -> None:
    found = [finding for path in _sources() for finding in _dialect(path.read_text("utf-8"), _name(path))]
    assert not found, "\n".join(found)


def test_log_events_are_a_noun_and_a_past_participle() -> None:
    sources = (path for path in _sources() if path not in ELSEWHERE)
    events = [event for path in sources for event in _log_events(path.read_text("utf-8"))]
    assert len(events) > 30
    assert [event for event in events if not LOG_EVENT.fullmatch(event)] == []


@pytest.mark.parametrize(
    "source",
    [
        '"""Evaluate what was told."""\n',
        "# an answer at hand\n",
        'raise ValueError(f"nobody knows {name}")\n',
        'Option(help="Judge these answers.")\n',
        'Field(description="Whoever asked.")\n',
    ],
)
def test_dialect_is_found(source: str) -> None:
    assert len(list(_dialect(source, "file.py"))) == 1


def test_names_of_code_and_ordinary_strings_pass() -> None:
    assert not list(_dialect('"""Return ``told`` and "nobody"."""\nWORDS = "told nobody"\n', "file.py"))


@pytest.mark.parametrize(("event", "passes"), [("commit_failed", True), ("waiting", False), ("redis_away", False)])
def test_log_events_are_checked(event: str, passes: bool) -> None:
    assert bool(LOG_EVENT.fullmatch(event)) is passes
    assert list(_log_events(f'log.info("{event}", offset=1)\n')) == [event]


@pytest.mark.parametrize("opening", sorted(OPENINGS))
def test_noun_clauses_are_found(opening: str) -> None:
    source = f'class Record:\n    def read(self) -> None:\n        """{opening} follows."""\n'
    assert list(_noun_clauses(source, "file.py")) == ["file.py:2 Record.read"]


def test_private_definitions_and_verbs_pass() -> None:
    assert not list(_noun_clauses('"""Read."""\ndef _read() -> None:\n    """What follows."""\n', "file.py"))


def test_references_are_found() -> None:
    assert list(_references('\nWEIGHT = 1\n"""As in seed 003."""\n', "file.py")) == ["file.py:3 seed 003"]


def _parsed(source: str) -> ast.Module:
    """Parse a file, again if need be: CPython 3.11.7 raises if another thread prints a traceback meanwhile (gh-106905)."""
    for _ in range(20):
        with suppress(SystemError):
            return ast.parse(source)
    return ast.parse(source)


def _sources() -> Iterator[Path]:
    return (path for folder in ("workers", "schemas") for path in sorted((ROOT / folder).rglob("*.py")))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _references(source: str, name: str) -> Iterator[str]:
    for number, line in enumerate(source.splitlines(), start=1):
        for match in REFERENCE.finditer(line):
            yield f"{name}:{number} {match[0]}"


def _noun_clauses(source: str, name: str) -> Iterator[str]:
    for node, qualified in _public(_parsed(source), ""):
        words = re.findall(r"\w+", ast.get_docstring(node) or "")
        if words and words[0] in OPENINGS:
            yield f"{name}:{getattr(node, 'lineno', 1)} {qualified or 'module'}"


def _dialect(source: str, name: str) -> Iterator[str]:
    if not DIALECT.search(source) and not DIALECT.search(JOINT.sub("", source)):
        return
    for line, text in (*_comments(source), *_texts(_parsed(source))):
        for match in DIALECT.finditer(QUOTED.sub("", text)):
            yield f"{name}:{line} {match[0]}"


def _comments(source: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield docstrings, messages of exceptions and texts of options, fields and metrics."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value
        elif isinstance(node, ast.Call) and _is_read_by_people(node.func):
            for value in (*node.args, *(each.value for each in node.keywords if each.arg in {"help", "description"})):
                yield value.lineno, _fixed_text(value)


def _is_read_by_people(function: ast.expr) -> bool:
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    return name in TEXT_CALLS or (isinstance(function, ast.Name) and name[0].isupper() and name not in STORED_TEXTS)


def _fixed_text(value: ast.expr) -> str:
    """Return the fixed parts of a text that contain a space; others are names."""
    parts = value.values if isinstance(value, ast.JoinedStr) else [value]
    fixed = "".join(part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str))
    return fixed if " " in fixed else ""


def _log_events(source: str) -> Iterator[str]:
    for node in ast.walk(_parsed(source)) if "log." in source else ():
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in LOG_METHODS
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "log"
            and isinstance(node.args[0], ast.Constant)
        ):
            yield str(node.args[0].value)


def _public(node: Definition, qualified: str) -> Iterator[tuple[Definition, str]]:
    yield node, qualified
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not child.name.startswith("_"):
            yield from _public(child, f"{qualified}.{child.name}".lstrip("."))
