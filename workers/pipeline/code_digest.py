"""Compute digests of Python source that change only where the code changes."""

import ast
from collections.abc import Iterable
from hashlib import sha256

from pydantic_core import to_json

OWN_ROOTS = ("workers", "schemas")
"""Packages whose modules may be renamed without a new version."""


def digest_of_code(sources: Iterable[str]) -> str:
    """Return the digest of what modules do.

    Comments, docstrings, layout, the names of modules and their order do not count, so that a module can be
    moved or renamed without a new version.

    Args:
        sources: Python source of each module.

    Raises:
        SyntaxError: a source is not Python.
    """
    return digest_of_bytes(to_json(sorted(digest_of_bytes(_bare(source).encode()) for source in sources)))


def digest_of_bytes(content: bytes) -> str:
    """Return the SHA-256 of bytes, hexadecimal."""
    return sha256(content).hexdigest()


def _bare(source: str) -> str:
    try:
        tree = ast.parse(source)
    except SystemError:
        # CPython 3.11 counts the depth of all threads together, so another thread that parses at the same time can
        # fail this one (python/cpython#106905).
        tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(OWN_ROOTS):
            node.module = "own"
            node.names.sort(key=lambda each: each.name)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            # Strings that stand alone: docstrings of functions, and those below an attribute.
            node.body = [each for each in body if not _is_remark(each)]  # type: ignore[attr-defined]
    return ast.unparse(tree)


def _is_remark(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
