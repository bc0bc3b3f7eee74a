"""Figures of a claim that stand in no source and follow from those that do, with the way to them.

"47 minutes of downtime cost $2,350" over records that say 47 minutes and $3,000 per hour: the
citation of such a figure is the calculation and its inputs (seed 004, acceptance criterion 5: the
calculation basis).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.grounding import Operation
from workers.steps.arithmetic import MAX_INPUTS, Pool, derive
from workers.steps.checks import read_details
from workers.steps.quantities import Quantity

_SIGNS: dict[Operation, str] = {"sum": " + ", "difference": " − ", "product": " × ", "ratio": " / "}


@dataclass(frozen=True, slots=True)
class DerivedFigure:
    """A figure of a claim and what it follows from.

    Attributes:
        figure: the figure as the claim has it.
        operation: what is calculated.
        inputs: the numbers in the order of the calculation, each with the index of the text that it
            stands in, ``None`` for the claim itself.
    """

    figure: Quantity
    operation: Operation
    inputs: tuple[tuple[int | None, Quantity], ...]


def derived_figures(claim: str, evidence: Sequence[str]) -> list[DerivedFigure]:
    """Figures of a claim that no text has and that follow from theirs.

    A number of the claim itself is an input only where those of the texts do not suffice ("two
    hours of downtime" at a rate that the texts give).

    Args:
        claim: plain text.
        evidence: the texts that it was compared with, the best first.
    """
    own = read_details(claim).quantities
    if not own:
        return []
    near: list[tuple[int | None, Quantity]] = []
    for place, text in enumerate(evidence):
        details = read_details(text)
        near += [(place, number) for number in (*details.quantities, *details.implied)]
    known = Pool(number for _, number in near)
    found = []
    for figure in own:
        if not near or known.has(figure):
            continue
        others = [(None, other) for other in own if other is not figure and not known.has(other)]
        for inputs in (near, *([*near[: MAX_INPUTS - 1], other] for other in others)):
            derivation = derive(figure, [number for _, number in inputs])
            if derivation is not None:
                used = tuple(inputs[place] for place in derivation.inputs)
                found.append(DerivedFigure(figure, derivation.operation, used))
                break
    return found


def expression(figure: DerivedFigure) -> str:
    """The calculation for readers: "47 minutes × $3,000 per hour = $2,350"."""
    names = [number.written for _, number in figure.inputs]
    return f"{_formula(figure.operation, names)} = {figure.figure.written}"


def _formula(operation: Operation, names: Sequence[str]) -> str:
    if operation in _SIGNS:
        return _SIGNS[operation].join(names)
    if operation == "mean":
        return f"({' + '.join(names)}) / {len(names)}"
    first, second = names
    formulas: dict[Operation, str] = {
        "share": f"{first} / {second} × 100 %",
        "change": f"({second} − {first}) / {first} × 100 %",
        "part": f"{first} × {second}",
        "increase": f"{first} × (1 + {second})",
        "decrease": f"{first} × (1 − {second})",
    }
    return formulas[operation]
