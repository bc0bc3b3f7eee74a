"""Detect the language of a code block where it is certain.

A wrong language would highlight code wrongly, so a language is returned only if it is certain: the text parses as JSON,
has a shebang, or has statements of only one common language.
"""

import re

from pydantic_core import from_json

MAX_CODE = 20_000
"""Maximum length of a block to check, code points."""

_SHEBANG = re.compile(r"#!\s*(?:/\S*/)?(?:env\s+)?(\w+)")
_INTERPRETERS = {
    "bash": "bash",
    "sh": "sh",
    "zsh": "zsh",
    "python": "python",
    "python3": "python",
    "node": "javascript",
}
_SHELL = re.compile(
    r"^(?:\$ |(?:sudo|kubectl|docker|helm|systemctl|journalctl|git|curl|wget|ssh|scp|apt|apt-get|yum|pip|npm|cd|ls|export|chmod"
    r"|chown|mkdir|grep|tail|touchstone) [\w./~\-\"'$])"
)
_SQL = re.compile(
    r"^\s*(?:SELECT\b[\s\S]{1,2000}?\bFROM\b|INSERT INTO \w|UPDATE \S{1,100} SET\b|DELETE FROM \w|CREATE (?:TABLE|INDEX|VIEW) \w"
    r"|ALTER TABLE \w)",
    re.IGNORECASE,
)
_PYTHON = re.compile(
    r"^(?:(?:async )?def \w{1,80}\([^\n]{0,300}\)[^\n]{0,80}:|class \w{1,80}(?:\([^\n]{0,100}\))?:|from [\w.]{1,100} import \w"
    r"|import [\w.]{1,100}(?: as \w{1,40})?$)",
    re.MULTILINE,
)
_YAML_KEY = re.compile(r"^[ \t]*(?:- )?[A-Za-z_][\w.-]{0,80}:(?: [^\n]*)?$")
_YAML_ITEM = re.compile(r"^[ \t]*- [^\n]+$")
_MARKUP = re.compile(r"^\s*(?:<!DOCTYPE html|<html[\s>])", re.IGNORECASE)


def detect_language(code: str) -> str | None:
    """Return the language of a block as a fence names it, or ``None`` if it is not certain."""
    code = code[:MAX_CODE]
    first = code.lstrip()[:200]
    if shebang := _SHEBANG.match(first):
        return _INTERPRETERS.get(shebang[1])
    if first[:1] in ("{", "[") and _is_json(code):
        return "json"
    if _MARKUP.match(first):
        return "html"
    if first.startswith("<?xml"):
        return "xml"
    if _SQL.match(code):
        return "sql"
    if _SHELL.match(first):
        return "bash"
    if _PYTHON.search(code):
        return "python"
    return "yaml" if _is_yaml(code) else None


def _is_json(code: str) -> bool:
    try:
        return isinstance(from_json(code), dict | list) and ('"' in code)
    except ValueError:
        return False


def _is_yaml(code: str) -> bool:
    """Return true for three lines or more, all keys or items, most of them keys, and one nested."""
    lines = [line for line in code.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    keys = sum(bool(_YAML_KEY.match(line)) for line in lines)
    items = sum(bool(_YAML_ITEM.match(line)) and not _YAML_KEY.match(line) for line in lines)
    nested = any(line.startswith("  ") for line in lines)
    return len(lines) >= 3 and keys + items == len(lines) and keys > items and nested
