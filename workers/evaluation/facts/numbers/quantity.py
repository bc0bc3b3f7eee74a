"""Describe a number with its unit as read from a text."""

from dataclasses import dataclass, field

PLACE = "place:"
"""Beginning of the dimension of a number that names a place in a text: "page 36", "step 3"."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """Describe a number as written in a text.

    Attributes:
        values: possible values in base units; "3.000" is 3 or 3,000.
        dimension: ``time`` (seconds), ``bytes``, ``percent``, a currency, …; the stem of the
            noun behind it where there is no unit; of a place in a text its word; empty if nothing follows.
        is_unit: whether the dimension is a known unit (False: a noun or nothing).
        approximate: preceded by "about" or the like.
        step: half of the last written digit's place value, in base units: the precision.
        bound: 1 for "at least" and "over", -1 for "at most" and "under", else 0.
        face: the figure as written before its unit.
        per: unit of time of a rate ("$50 a month") as (dimension, factor), else ``None``.
        written: the text of the number, for display only.
    """

    values: tuple[float, ...]
    dimension: str
    is_unit: bool
    approximate: bool
    step: float
    bound: int = 0
    face: float = 0.0
    per: tuple[str, float] | None = None
    written: str = field(default="", compare=False)
