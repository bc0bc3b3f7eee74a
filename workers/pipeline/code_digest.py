"""Compute digests of Python source that change only where the code changes."""

import ast
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import TypeGuard

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
    return digest_of_trees(map(parsed, sources))


def digest_of_trees(trees: Iterable[ast.AST]) -> str:
    """Return the same digest of parsed modules, which are changed by it."""
    return digest_of_bytes(to_json(sorted(digest_of_bytes(_bare(tree).encode()) for tree in trees)))


def digest_of_bytes(content: bytes) -> str:
    """Return the SHA-256 of bytes, hexadecimal."""
    return sha256(content).hexdigest()


def parsed(source: str) -> ast.AST:
    """Parse a module."""
    try:
        return ast.parse(source)
    except SystemError:
        # CPython 3.11 counts the depth of all threads together, so another thread that parses at the same time can
        # fail this one (python/cpython#106905).
        return ast.parse(source)


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield a module and all its statements, at a fraction of the cost of all nodes."""
    open_nodes = [tree]
    while open_nodes:
        node = open_nodes.pop()
        yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, name, None)
            if isinstance(inner, list):
                open_nodes += inner


def _bare(tree: ast.AST) -> str:
    for node in statements(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            # Strings that stand alone: docstrings of functions, and those below an attribute.
            kept = [each for each in body if not _is_remark(each)]
            own = [name for each in kept if _is_own_import(each) for name in each.names]
            # Imports are sorted by the names of modules, so a moved module stands in another place.
            names = ast.ImportFrom("own", sorted(own, key=lambda each: each.name), 0)
            node.body = [names] * bool(own) + [each for each in kept if not _is_own_import(each)]  # type: ignore[attr-defined]
    return ast.unparse(tree)


def _is_own_import(node: ast.AST) -> TypeGuard[ast.ImportFrom]:
    return isinstance(node, ast.ImportFrom) and (node.module or "").startswith(OWN_ROOTS)


def _is_remark(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
