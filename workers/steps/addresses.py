"""The address of a source for readers, by configurable rules (seed 000's ``_generate_url``).

A rule is a pattern for the source's path, or for its ``table/record``, and a template:

    {"/runbooks/*": "https://git.example.org/docs/tree/main{path}",
     "*grafana*": "https://grafana.example.org{path}",
     "daily_summaries/*": "https://console.example.org/{table}/{record}"}

The first pattern that matches decides (``*`` stands for anything, ``?`` for one character). A
source whose path is an http(s) address needs no rule. What is put into a template is quoted, so
that a hostile path can add neither a host nor a parameter; the address is never fetched.
"""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from urllib.parse import quote, urlsplit

from schemas.citations import Citation

MAX_MATCHED = 500
"""Longest path that patterns are tried on, code points: matching may be quadratic in it."""
FIELDS = ("path", "table", "record", "chunk")
"""What a template may name."""

_UNSAFE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_FIELD = re.compile(r"\{([^{}]*)\}")


def source_address(citation: Citation, rules: Mapping[str, str] | None = None) -> str | None:
    """The address of a citation's source, or ``None`` if there is none.

    An address is never made up from a path without a rule, and one with a user name in it
    ("bank.com@evil.com") is none.
    """
    if _is_web(citation.source_path):
        return citation.source_path
    record = "/".join(part for part in (citation.source_table, citation.record_id) if part)
    for pattern, template in (rules or {}).items():
        for name in (citation.source_path, record):
            if name and not _UNSAFE.search(name) and fnmatchcase(name[:MAX_MATCHED], pattern):
                address = _filled(template, citation)
                return address if _is_web(address) else None
    return None


def check_template(template: str) -> str:
    """A template as it is.

    Raises:
        ValueError: it is no http(s) address, or names a field that does not exist.
    """
    unknown = [name for name in _FIELD.findall(template) if name not in FIELDS]
    if unknown:
        raise ValueError(f"an address template may name {', '.join(FIELDS)}, not {unknown[0]!r}")
    host = re.match(r"https?://([^/?#{}@]+)(?:\{path\}|[/?#]|$)", template)
    if not host:
        raise ValueError("an address template begins with http:// or https:// and a fixed host")
    return template


def _filled(template: str, citation: Citation) -> str:
    # "https://host{path}": a path that does not begin with a slash would run into the host.
    path = (
        "/" + citation.source_path.lstrip("/")
        if re.match(r"https?://[^/?#]*\{path\}", template)
        else citation.source_path
    )
    values = {
        "path": quote(path, safe="/"),
        "table": quote(citation.source_table or "", safe=""),
        "record": quote(citation.record_id or "", safe=""),
        "chunk": quote(citation.chunk_id, safe=""),
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
