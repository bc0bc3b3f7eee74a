"""Look figures of results up by their size: each figure of a claim is compared with those near it and not with all."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from workers.evaluation.facts.quantities import Quantity
from workers.evaluation.tools.tool_figures import ROUNDED, Figure, has_value, numbers_as, units_of

MAX_READINGS = 64
"""Maximum number of units for which sizes are kept."""


class FigureIndex:
    """Index figures by their sizes in the units in which a quantity may be written.

    Args:
        figures: figures of results.
    """

    def __init__(self, figures: Sequence[Figure]) -> None:
        self._figures = figures
        self._readings: dict[tuple[object, ...], tuple[list[float], list[int]]] = {}

    def equal_to(self, quantity: Quantity) -> list[Figure]:
        """Return the figures that are a quantity of a claim (``has_value``), in their order."""
        sizes, places = self._sizes(quantity)
        # An infinite figure has an infinite tolerance.
        near = set(places[bisect_left(sizes, math.inf) :])
        for value in quantity.values:
            size = abs(value)
            # Somewhat more than has_value accepts, which decides.
            slack = 1.1 * max(quantity.step, (ROUNDED if quantity.approximate else 1e-9) * size, 1e-9)
            near.update(places[bisect_left(sizes, size - slack) : bisect_right(sizes, size + slack)])
        return [figure for place in sorted(near) if has_value(figure := self._figures[place], quantity)]

    def _sizes(self, quantity: Quantity) -> tuple[list[float], list[int]]:
        """Return the sizes of all figures in ascending order, and beside each the place of its figure."""
        units = units_of(quantity)
        if units not in self._readings:
            if len(self._readings) >= MAX_READINGS:
                self._readings.clear()
            pairs = sorted(
                (abs(number), place)
                for place, figure in enumerate(self._figures)
                for number in (numbers_as(figure, quantity) if math.isfinite(figure.number) else (math.inf,))
            )
            self._readings[units] = [size for size, _ in pairs], [place for _, place in pairs]
        return self._readings[units]
