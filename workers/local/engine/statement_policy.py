"""Refuse statements that reach files, programs or other hosts.

The engine runs with all rights of the user who started it, and has no user of its own with fewer. So a statement is
read before it runs. Names are compared without regard to quotes and case. What the scan cannot read is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from workers.local.engine.statements import TOKEN, Statement

SAFE_TABLE_FUNCTIONS = frozenset(
    {
        "numbers", "numbers_mt", "zeros", "zeros_mt", "primes", "generaterandom", "generateseries", "generate_series",
        "values", "sqlstandardvalues", "null", "view", "viewifpermitted", "viewexplain", "merge", "input", "format", "loop",
        "fuzzquery", "fuzzjson",
    }
)  # fmt: skip
"""Table functions that read no file and no other host, in lower case. All others of the engine are refused."""

_CALLS = frozenset({"disk", "catboostevaluate", "modelevaluate", "hascolumnintable"})
_AI_CALL = re.compile(r"ai[a-z]+")
VERBS = frozenset(
    {
        "SELECT", "WITH", "FROM", "SHOW", "DESCRIBE", "DESC", "EXISTS", "EXPLAIN", "CHECK", "VALUES", "INSERT", "CREATE",
        "ALTER", "DROP", "TRUNCATE", "OPTIMIZE", "RENAME", "EXCHANGE", "DELETE", "UPDATE", "SYSTEM", "KILL", "REPLACE",
        "BACKUP", "RESTORE",
    }
)  # fmt: skip
"""First words of the statements that run. ATTACH reaches files. Backups have a folder of their own."""
_NAME = rb"File\('\w[\w.-]*'\)"
_BACKUP = re.compile(
    rb"\s*(?:BACKUP\s+DATABASE\s+\w+\s+TO|RESTORE\s+DATABASE\s+\w+(?:\s+AS\s+\w+)?\s+FROM)\s+"
    rb"%b(?:\s+SETTINGS\s+base_backup\s*=\s*%b)?\s*" % (_NAME, _NAME),
    re.IGNORECASE,
)
"""Backup of a database to a name in the folder of backups, and its way back."""
_CREATED = frozenset({"TABLE", "VIEW", "DATABASE", "MATERIALIZED"})
_BEFORE_KIND = frozenset({"OR", "REPLACE", "TEMPORARY"})
_LITERAL = "?"
_ENGINES = re.compile(
    r"\w*mergetree|memory|null|log|tinylog|stripelog|buffer|set|join|merge|atomic|view|materializedview"
)
_OF_FILES = frozenset({"infile", "outfile", "filesystem"})
_SETTINGS = frozenset({"format_schema", "format_schema_source", "format_template_row", "format_template_resultset"})
_BEFORE_TABLE = frozenset({"from", "join", "into", "table", "describe", "desc", "exists", "check", ".", "view"})
_AFTER_TABLES = frozenset(
    {
        "where", "prewhere", "group", "order", "limit", "having", "settings", "union", "select", "window", "qualify",
        "intersect", "except", "format", "offset", "fetch", "array", "set",
    }
)  # fmt: skip
"""Words that end the list of tables after FROM."""
_CURLY = (b"\xe2\x80\x98", b"\xe2\x80\x99", b"\xe2\x80\x9c", b"\xe2\x80\x9d")
"""Quotation marks that the engine reads as quotes, and TOKEN does not."""


def refusal(statement: Statement, settings: Mapping[str, str], table_functions: Iterable[str] = ()) -> str | None:
    """Return the reason why a statement is refused, or None.

    Args:
        statement: the statement.
        settings: settings that come with it.
        table_functions: names of the engine's table functions.
    """
    if found := {name.lower() for name in settings} & _SETTINGS:
        return f"the setting {min(found)} reads files"
    if statement.verb in ("BACKUP", "RESTORE"):
        is_named = _BACKUP.fullmatch(statement.sql)
        return None if is_named else "a backup here is of one database, with File('name') without folders as its place"
    refused = _CALLS | (frozenset(name.lower() for name in table_functions) - SAFE_TABLE_FUNCTIONS)
    reason = _scan(statement.sql, refused)
    if reason is None and statement.data is not None and statement.data.format.lower() == "values":
        # Rows of this format may be expressions.
        reason = _scan(bytes(statement.data.content), refused)
    return reason


def _scan(sql: bytes, refused: frozenset[str]) -> str | None:
    before, name, depth = "", "", 0  # the last two tokens and the open brackets
    is_definition, awaits_kind = False, False
    lists_tables = [False]  # by open bracket, whether the list after FROM goes on
    for token in TOKEN.finditer(sql):
        kind, text = token.lastgroup, token.group()
        if kind == "blank":
            continue
        if kind == "open" or sql.startswith(_CURLY, token.start()):
            return "a quotation mark or comment is not closed, or is not one of ASCII"
        word = _name_of(kind, text)
        if reason := _refused_here(text, word, name, refused):
            return reason
        if name == "," and lists_tables[-1] and text[:1] in (b"'", b"$"):
            return "a file cannot be read as a table"
        if word in ("(", "["):
            lists_tables.append(False)
        elif word in (")", "]") and len(lists_tables) > 1:
            lists_tables.pop()
        elif word in ("from", "join") or word in _AFTER_TABLES:
            lists_tables[-1] = word in ("from", "join")
        depth += (word in ("(", "[")) - (word in (")", "]"))
        if not name:
            is_definition = awaits_kind = word in ("create", "replace")
        elif awaits_kind and word.upper() not in _BEFORE_KIND:
            awaits_kind = False
            if word.upper() not in _CREATED:
                return f"CREATE {word[:40].upper()} is not supported"
        after_engine = name == "engine" or (before == "engine" and name == "=")
        if is_definition and depth == 0 and after_engine and word != "=" and not _ENGINES.fullmatch(word):
            return f"the engine {word[:40]} reaches files or other hosts"
        before, name = name, word or _LITERAL
    return None


def _refused_here(text: bytes, word: str, name: str, refused: frozenset[str]) -> str | None:
    """Return the reason to refuse a token after the word `name`, or None."""
    if text[:1] in (b"'", b"$") and name in _BEFORE_TABLE:
        return "a file cannot be read as a table"
    if text[:1] in (b"`", b'"') and "/" in word:
        return "a name with a slash could be a file"
    if word in _OF_FILES or word in _SETTINGS:
        return f"{word} reaches files"
    if word == "(" and (name in refused or _AI_CALL.fullmatch(name)):
        return f"{name}() reaches files or other hosts"
    return None


def _name_of(kind: str | None, text: bytes) -> str:
    """Return a word, a quoted name without its quotes, or a sign, in lower case; of a literal nothing."""
    if kind in ("word", "number", "sign"):
        return text.decode("utf-8", "replace").lower()
    if text[:1] in (b"`", b'"'):
        return re.sub(r"\\(.)", r"\1", text[1:-1].decode("utf-8", "replace")).lower()
    return ""
