"""Figures that are looked up by size are those of a comparison with every figure."""

from dataclasses import replace

import pytest

from tests.harness.hostile_results import RESULTS
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.tools.results.figure_index import FigureIndex
from workers.evaluation.tools.results.tool_tables import read_tables
from workers.evaluation.tools.tool_figures import Figure, figures_of, has_value

CLAIM = (
    "About 47 of 120 took 11, 12.5 or 13.0 minutes, 3 hours, 2 days and 7 ms; -4 °C, 68 °F, 3 K, 25 %, about 30 %, 0.5 %, "
    "$33, €1,200.50, $0.3 million, 61 GB, 4 KiB, 1.5 kg, 3 pounds, 12 km, 40 km/h, 0, 1, 2, 3.000, 1e3, 600 and 1,700,000,000."
)
EDGES = [
    Figure(number, path, frozenset({(0, 0)}), operation, unit)
    for number in (0.0, -4.0, 11.0, 0.25, 12.25, 33.0, 300.0, 7000.0, 3.3e5, 61e9, float("inf"), float("-inf"))
    for path, operation, unit in (
        (("count",), "count", ""), (("latency", "ms"), "stated", ""), (("weight_kg",), "stated", ""), (("share",), "ratio", ""),
        (("speed",), "rate", ""), (("used",), "stated", "bytes"), (("hours",), "stated", ""),
    )
]  # fmt: skip


@pytest.mark.parametrize("name", [*RESULTS, "edges"])
def test_figures_near_a_size_are_those_of_a_comparison_with_every_figure(name: str) -> None:
    figures = EDGES if name == "edges" else figures_of(read_tables(RESULTS[name](800)))
    index = FigureIndex(figures)
    read = read_details(CLAIM).quantities
    # Each quantity also exactly at, and just beyond, the limit of its tolerance.
    shifted = [
        replace(each, values=tuple(value + part * max(each.step, 0.02 * abs(value)) for value in each.values))
        for each in read
        for part in (-1.0, 0.99, 1.01)
    ]
    assert len(read) > 20
    for quantity in (*read, *shifted, *read):
        assert index.equal_to(quantity) == [figure for figure in figures if has_value(figure, quantity)], quantity
