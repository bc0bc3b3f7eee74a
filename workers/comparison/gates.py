"""Gates: conditions over a comparison's figures under which a change must not go live.

A condition compares figures and numbers (``<``, ``<=``, ``>``, ``>=``, ``==``, ``!=``), joined by ``and``, ``or`` and
brackets. It is parsed into Python's syntax tree, of which nothing else is let through, and then
read by this module: nothing of it is ever run. A figure without a value is unknown, and what
cannot be told counts as a failure, so that a gate never passes because nothing was measured.
"""

import ast
import math
import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

MAX_LENGTH = 500
"""Characters of a condition."""

OPERATORS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}  # fmt: skip

Figures = Mapping[str, float | None]


class GateUnreadable(ValueError):
    """A condition that cannot be read; the message says what and how to mend it."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition that was read.

    Attributes:
        expression: as written.
        names: the figures that it names, in their order.
    """

    expression: str
    names: tuple[str, ...]
    tree: ast.expr


@dataclass(frozen=True, slots=True)
class GateResult:
    """What became of a condition.

    Attributes:
        expression: as written.
        holds: whether it is so; ``None`` where a figure is missing that decides it.
        figures: those it names.
    """

    expression: str
    holds: bool | None
    figures: Figures

    @property
    def failed(self) -> bool:
        """Whether the change must not go live: the condition holds, or cannot be told."""
        return self.holds is not False


def read_gate(expression: str, known: Sequence[str]) -> Gate:
    """Read a condition.

    Args:
        expression: such as ``grounding_score.difference < -0.01 or newly_held > 0.02``.
        known: names of the figures there are.

    Raises:
        GateUnreadable: it is none, or names a figure that there is not.
    """
    if len(expression) > MAX_LENGTH:
        raise GateUnreadable(f"a condition has at most {MAX_LENGTH} characters; write several")
    try:
        # What Python thinks of a number's spelling is nothing to whoever typed it.
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
            f"there is no figure {unknown[0]!r}{_nearest(unknown[0], known)}; there are {_told(known)}"
        )
    return Gate(expression, tuple(dict.fromkeys(names)), tree)


def _nearest(name: str, known: Sequence[str]) -> str:
    found = get_close_matches(name, known, n=1)
    return f" (did you mean {found[0]}?)" if found else ""


def _told(known: Sequence[str]) -> str:
    """All figures, those with the same parts together: "pairs, changed; .a, .b of held, warned"."""
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
        f"{expression!r} is no condition; compare figures and numbers, as in 'newly_held > 0.02 and held.b > 0.1'"
    )


def _check(node: ast.expr, expression: str, names: list[str]) -> None:
    """Let through conditions alone, and note the figures that they name."""
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
    """Whether a condition holds."""
    return GateResult(gate.expression, _holds(gate.tree, figures), {name: figures[name] for name in gate.names})


def _holds(node: ast.expr, figures: Figures) -> bool | None:
    """With three values: what is unknown stays so unless the rest decides."""
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
    raise AssertionError("only conditions are let through")


def _value(node: ast.expr, figures: Figures) -> float | None:
    name = _name(node)
    return figures[name] if name is not None else _number(node)
