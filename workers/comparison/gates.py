"""Evaluate gates: conditions over the figures of a comparison under which a change must not go live.

A condition compares figures and numbers (``<``, ``<=``, ``>``, ``>=``, ``==``, ``!=``), joined by ``and``, ``or`` and
brackets. The condition is parsed into Python's syntax tree, and all other syntax is refused. This module
interprets the tree; the condition is never executed. A figure without a value is unknown. A condition with an
unknown result counts as a failure, so that a gate never passes because nothing was measured.
"""

import ast
import math
import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

MAX_LENGTH = 500
"""Maximum length of a condition, characters."""

OPERATORS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}  # fmt: skip

Figures = Mapping[str, float | None]


class GateUnreadable(ValueError):
    """A condition that cannot be parsed; the message says why and how to correct it."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A parsed condition.

    Attributes:
        expression: text of the condition.
        names: the figures in the condition, in order.
    """

    expression: str
    names: tuple[str, ...]
    tree: ast.expr


@dataclass(frozen=True, slots=True)
class GateResult:
    """The result of a condition.

    Attributes:
        expression: text of the condition.
        holds: true if the condition holds; ``None`` where a missing figure decides the result.
        figures: values of the figures in the condition.
    """

    expression: str
    holds: bool | None
    figures: Figures

    @property
    def failed(self) -> bool:
        """Return true if the change must not go live: the condition holds or its result is unknown."""
        return self.holds is not False


def read_gate(expression: str, known: Sequence[str]) -> Gate:
    """Parse a condition.

    Args:
        expression: such as ``grounding_score.difference < -0.01 or newly_held > 0.02``.
        known: names of the existing figures.

    Raises:
        GateUnreadable: the expression is not a condition, or names an unknown figure.
    """
    if len(expression) > MAX_LENGTH:
        raise GateUnreadable(f"a condition must have at most {MAX_LENGTH} characters; use several conditions")
    try:
        # Python's warnings about the spelling of a number do not help the user of the command.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _unreadable(expression) from None
    names: list[str] = []
    _check(tree, expression, names)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise GateUnreadable(
            f"unknown figure {unknown[0]!r}{_nearest(unknown[0], known)}; use one of: {_listed(known)}"
        )
    return Gate(expression, tuple(dict.fromkeys(names)), tree)


def _nearest(name: str, known: Sequence[str]) -> str:
    found = get_close_matches(name, known, n=1)
    return f" (did you mean {found[0]}?)" if found else ""


def _listed(known: Sequence[str]) -> str:
    """List all figures, those with the same suffixes together: "pairs, changed; .a, .b of held, warned"."""
    parts: dict[str, list[str]] = {}
    for name in known:
        owner, dot, part = name.partition(".")
        parts.setdefault(owner, []).extend([dot + part] if dot else [])
    owners: dict[str, list[str]] = {}
    for owner, its in parts.items():
        owners.setdefault(", ".join(its), []).append(owner)
    return "; ".join(f"{its} of {', '.join(names)}" if its else ", ".join(names) for its, names in owners.items())


def _unreadable(expression: str) -> GateUnreadable:
    return GateUnreadable(
        f"{expression!r} is not a condition; compare figures and numbers, as in 'newly_held > 0.02 and held.b > 0.1'"
    )


def _check(node: ast.expr, expression: str, names: list[str]) -> None:
    """Refuse all syntax except conditions, and record the figures that they name."""
    match node:
        case ast.BoolOp(values=values):
            for value in values:
                _check(value, expression, names)
        case ast.Compare(left=left, ops=[kind], comparators=[right]) if type(kind) in OPERATORS:
            for side in (left, right):
                name = _name(side)
                if name is not None:
                    names.append(name)
                elif _number(side) is None:
                    raise _unreadable(expression)
        case _:
            raise _unreadable(expression)


def _name(node: ast.expr) -> str | None:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=name), attr=part):
            return f"{name}.{part}"
    return None


def _number(node: ast.expr) -> float | None:
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() as operand):
            value = _number(operand)
            return None if value is None else -value
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() | float() as value):
            try:
                return float(value) if math.isfinite(value) else None
            except OverflowError:
                return None
    return None


def try_gate(gate: Gate, figures: Figures) -> GateResult:
    """Evaluate a condition with the figures of a comparison."""
    return GateResult(gate.expression, _holds(gate.tree, figures), {name: figures[name] for name in gate.names})


def _holds(node: ast.expr, figures: Figures) -> bool | None:
    """Evaluate with three values: an unknown operand makes the result unknown unless the other operands decide."""
    match node:
        case ast.BoolOp(op=kind, values=values):
            decisive = isinstance(kind, ast.Or)
            found = [_holds(value, figures) for value in values]
            if decisive in found:
                return decisive
            return None if None in found else not decisive
        case ast.Compare(left=left, ops=[kind], comparators=[right]):
            a, b = _value(left, figures), _value(right, figures)
            return None if a is None or b is None else OPERATORS[type(kind)](a, b)
    raise AssertionError("only conditions are accepted")


def _value(node: ast.expr, figures: Figures) -> float | None:
    name = _name(node)
    return figures[name] if name is not None else _number(node)
