"""Build the addresses of sources for readers by configurable rules.

A rule is a pattern for the source's path, or for its ``table/record``, and a template:

    {"/runbooks/*": "https://git.example.org/docs/tree/main{path}",
     "*grafana*": "https://grafana.example.org{path}",
     "daily_summaries/*": "https://console.example.org/{table}/{record}"}

The first matching pattern applies (``*`` matches anything, ``?`` one character). A source whose path is an http(s)
address needs no rule. Values in a template are quoted, so that a path cannot add a host or a parameter. Addresses are
never fetched.
"""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Protocol
from urllib.parse import quote, urlsplit

from schemas.answers import ContextChunk

MAX_MATCHED = 500
"""Maximum length of a path to match, code points: matching may take quadratic time."""
MAX_VERSION = 100
"""Maximum length of a source's version, code points."""
FIELDS = ("path", "table", "record", "chunk")
"""Fields of a template."""

_UNSAFE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_FIELD = re.compile(r"\{([^{}]*)\}")


class Located(Protocol):
    """Source with its place: a citation, a context of an answer, or a stored description of one."""

    chunk_id: str
    source_path: str
    source_table: str | None
    record_id: str | None


def source_address(source: Located, rules: Mapping[str, str] | None = None) -> str | None:
    """Return the address of a source, or ``None`` if there is none.

    A path without a rule gives no address. An address with a user name ("bank.com@evil.com") is refused.
    """
    if _is_web(source.source_path):
        return source.source_path
    record = "/".join(part for part in (source.source_table, source.record_id) if part)
    for pattern, template in (rules or {}).items():
        for name in (source.source_path, record):
            # A blank is usual in the name of a file, and quoted in its address.
            if name and not _UNSAFE.search(name.replace(" ", "")) and fnmatchcase(name[:MAX_MATCHED], pattern):
                address = _filled(template, source)
                return address if _is_web(address) else None
    return None


def check_template(template: str) -> str:
    """Validate a template and return it unchanged.

    Raises:
        ValueError: the template is not an http(s) address, or contains an unknown field.
    """
    unknown = [name for name in _FIELD.findall(template) if name not in FIELDS]
    if unknown:
        raise ValueError(f"unknown field {unknown[0]!r} in an address template; use {', '.join(FIELDS)}")
    host = re.match(r"https?://([^/?#{}@]+)(?:\{path\}|[/?#]|$)", template)
    if not host:
        raise ValueError("an address template must begin with http:// or https:// and a fixed host")
    return template


def _filled(template: str, source: Located) -> str:
    # In "https://host{path}" a path without a leading slash would become part of the host.
    path = (
        "/" + source.source_path.lstrip("/") if re.match(r"https?://[^/?#]*\{path\}", template) else source.source_path
    )
    values = {
        "path": quote(path, safe="/"),
        "table": quote(source.source_table or "", safe=""),
        "record": quote(source.record_id or "", safe=""),
        "chunk": quote(source.chunk_id, safe=""),
    }
    return _FIELD.sub(lambda match: values[match[1]], template)


def _is_web(path: str) -> bool:
    if _UNSAFE.search(path):
        return False
    try:
        parts = urlsplit(path)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc) and "@" not in parts.netloc


def source_version(chunk: ContextChunk) -> str:
    """Return the version of a source that its retriever named, as ``version`` or ``revision``; empty without one."""
    fields = chunk.metadata | (chunk.model_extra or {})
    named = fields.get("version") or fields.get("revision")
    return str(named)[:MAX_VERSION] if isinstance(named, str | int | float) else ""
