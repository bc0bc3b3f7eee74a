"""Find figures of a claim that no source states and that follow from stated figures; keep the calculation.

Example: "47 minutes of downtime cost $2,350", with records that say 47 minutes and $3,000 per hour. The citation of
    such a figure is the calculation with its inputs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from schemas.grounding import Operation
from workers.evaluation.facts.calculation.arithmetic import MAX_INPUTS, Pool, derive
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.text_details import read_details

MAX_FIGURES = 20
"""Maximum number of different figures of a claim that a calculation is searched for; the limit bounds the time."""

_SIGNS: dict[Operation, str] = {"sum": " + ", "difference": " − ", "product": " × ", "ratio": " / "}


@dataclass(frozen=True, slots=True)
class DerivedFigure:
    """Describe a figure of a claim and the figures from which it follows.

    Attributes:
        figure: the figure in the claim.
        operation: name of the calculation.
        inputs: the numbers in the order of the calculation, each with the index of its text; ``None`` for the
            claim itself.
    """

    figure: Quantity
    operation: Operation
    inputs: tuple[tuple[int | None, Quantity], ...]


def derived_figures(claim: str, evidence: Sequence[str]) -> list[DerivedFigure]:
    """Return figures of a claim that no text states and that follow from the figures of the texts.

    Numbers of the claim are inputs only if those of the texts do not suffice ("two hours of downtime" at a
    rate that the texts give).

    Args:
        claim: plain text.
        evidence: texts compared with the claim, the best first.
    """
    details = read_details(claim)
    own, is_mean = details.quantities, details.is_mean
    if not own:
        return []
    near: list[tuple[int | None, Quantity]] = []
    for place, text in enumerate(evidence):
        theirs = read_details(text)
        near += [(place, number) for number in (*theirs.quantities, *theirs.implied)]
    if not near:
        return []
    known = Pool(number for _, number in near)
    unknown = list(islice((figure for figure in dict.fromkeys(own) if not known.has(figure)), MAX_FIGURES))
    found = []
    for figure in unknown:
        others = [(None, other) for other in unknown[:MAX_INPUTS] if other != figure]
        for inputs in (near, *([*near[: MAX_INPUTS - 1], other] for other in others)):
            derivation = derive(figure, [number for _, number in inputs[:MAX_INPUTS]], is_mean=is_mean)
            if derivation is not None:
                used = tuple(inputs[place] for place in derivation.inputs)
                found.append(DerivedFigure(figure, derivation.operation, used))
                break
    return found


def expression(figure: DerivedFigure) -> str:
    """Render the calculation for readers: "47 minutes × $3,000 per hour = $2,350"."""
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
