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
from urllib.parse import quote, urlsplit

from schemas.citations import Citation

MAX_MATCHED = 500
"""Maximum length of a path to match, code points: matching may take quadratic time."""
FIELDS = ("path", "table", "record", "chunk")
"""Fields of a template."""

_UNSAFE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_FIELD = re.compile(r"\{([^{}]*)\}")


def source_address(citation: Citation, rules: Mapping[str, str] | None = None) -> str | None:
    """Return the address of a citation's source, or ``None`` if there is none.

    A path without a rule gives no address. An address with a user name ("bank.com@evil.com") is refused.
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


def _filled(template: str, citation: Citation) -> str:
    # In "https://host{path}" a path without a leading slash would become part of the host.
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
