"""Count the operations of project code: statements, with each turn of a comprehension as one.

For the time of a call, functions have code that counts, which costs half as much as a trace function does.
"""

import ast
import gc
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.machinery import SourceFileLoader
from itertools import count
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, cast

ROOT = str(Path(__file__).parents[2] / "workers")

_next = count().__next__
NAME = "_next_operation"
"""Global name of the counter in the modules of the project."""

EVALUATION = ("workers.evaluation.", "workers.pipeline.")
"""Packages in which the operations of an evaluation are counted; code that counts is compiled for them alone, because
that of all of the project takes each process fifteen seconds."""

Swap = tuple[FunctionType, CodeType, CodeType]
"""A function, its code and the same code that counts."""


def count_operations(run: Callable[[], object], packages: tuple[str, ...] = EVALUATION) -> int:
    """Return the number of operations of a call in packages of the project; it does not depend on the machine or its load."""
    swaps = _swaps(frozenset(name for name in sys.modules if name.startswith(packages)))
    for function, _, counting in swaps:
        function.__code__ = counting
    before = _next()
    try:
        run()
    finally:
        counted = _next() - before - 1
        for function, plain, _ in swaps:
            function.__code__ = plain
    return counted


@cache
def _swaps(modules: frozenset[str]) -> list[Swap]:
    codes: dict[CodeType, CodeType] = {}
    for name in modules:
        codes |= _counting_codes(sys.modules[name])
    # What is frozen is in no list of objects.
    gc.unfreeze()
    functions = [each for each in gc.get_objects() if type(each) is FunctionType and each.__code__ in codes]
    gc.freeze()
    return [(function, function.__code__, codes[function.__code__]) for function in functions]


@cache
def _counting_codes(module: ModuleType) -> dict[CodeType, CodeType]:
    file = module.__file__ or ""
    if not file.startswith(ROOT):
        return {}
    plain = cast(SourceFileLoader, module.__loader__).get_code(module.__name__)
    assert plain is not None
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    counting = compile(ast.fix_missing_locations(Counting().visit(tree)), file, "exec", dont_inherit=True)
    setattr(module, NAME, _next)
    return dict(zip(_codes(plain), _codes(counting), strict=True))


def _codes(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)


class Counting(ast.NodeTransformer):
    """Add a call of the counter to each statement of a function, each turn of a loop or comprehension and each lambda."""

    def __init__(self) -> None:
        self._within = False

    def generic_visit(self, node: ast.AST) -> ast.AST:
        outside, self._within = self._within, self._within or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        super().generic_visit(node)
        for field in ("body", "orelse", "finalbody"):
            statements = getattr(node, field, None)
            if self._within and isinstance(statements, list):
                setattr(node, field, [each for one in statements for each in (*self._counter(one), one)])
        self._within = outside
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        # It counts from zero on, and once that was taken, no number is false.
        node.ifs.insert(0, self._call(node.iter))
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self.generic_visit(node)
        node.body = ast.copy_location(ast.BoolOp(ast.And(), [self._call(node.body), node.body]), node.body)
        return node

    def _call(self, node: Any) -> ast.expr:
        name = ast.copy_location(ast.Name(NAME, ast.Load()), node)
        return ast.copy_location(ast.Call(name, [], []), node)

    def _counter(self, node: ast.stmt) -> list[ast.stmt]:
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        return [] if text else [ast.copy_location(ast.Expr(self._call(node)), node)]
