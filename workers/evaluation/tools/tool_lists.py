"""Check the lines of a list against each other: their order, and the columns of their figures."""

import re
from collections.abc import Sequence

from workers.evaluation.tools.results.tool_details import located
from workers.evaluation.tools.results.tool_results import ToolResults
from workers.evaluation.tools.tool_extremes import direction_of
from workers.evaluation.tools.tool_figures import Figure
from workers.evaluation.tools.tool_rows import mentions_in

_ASKS_ORDER = re.compile(
    r"\b(?:sort\w*|order\w*|rank\w*|top|first|ascending|descending|(?:by|from) (?:the )?(?:most|highest|lowest|largest|smallest)"
    r"|(?:two|three|four|five|six|ten|\d+) (?:\w+ )?\w+est|(?:two|three|four|five|six|ten|\d+) (?:most|least))\b",
    re.IGNORECASE,
)
"""Words that ask for rows in the order of their figures."""


def disordered(claims: Sequence[str], question: str, results: ToolResults) -> frozenset[int]:
    """Return the claims of a list that stand out of its order, or that exchange the columns of the others.

    Args:
        claims: the claims of an answer in order; lines of a list are claims of their own.
        question: the question, which may ask for an order ("the three slowest").
        results: the results of the answer's tools.
    """
    found: set[int] = set()
    run: list[tuple[int, list[Figure]]] = []
    asked = question
    for place, claim in enumerate((*claims, "")):
        own = _row_figures(claim, results)
        if own:
            run.append((place, own))
            continue
        if len(run) > 1:
            found |= _out_of_order(run, asked) | _exchanged(run)
        run, asked = [], f"{question} {claim}"
    return frozenset(found)


def _row_figures(claim: str, results: ToolResults) -> list[Figure]:
    """Return the stated figures of the one row that a claim names, in the order of the claim; empty if unsure."""
    mentions = mentions_in(claim, results) if claim else []
    rows = frozenset.intersection(*(each.rows for each in mentions)) if mentions else frozenset()
    if len(rows) != 1:
        return []
    found = []
    for each in located(claim, mentions, results):
        own = [source for source in each.sources if source.operation == "stated" and source.rows == rows]
        if len(own) == 1:
            found.append(own[0])
    return found


def _out_of_order(run: Sequence[tuple[int, list[Figure]]], asked: str) -> set[int]:
    direction = direction_of(asked)
    column = run[0][1][0].column
    values = [(place, figures[0].number) for place, figures in run if figures[0].column == column]
    if direction is None or len(values) < len(run) or len({next(iter(each[0].rows)) for _, each in run}) < len(run):
        return set()
    rows = [next(iter(figures[0].rows)) for _, figures in run]
    if rows == sorted(rows) and not _ASKS_ORDER.search(asked):
        return set()  # the rows as the result has them, one of which is the longest
    numbers = [number for _, number in values]
    for sign in (direction,) if direction else (1, -1):
        if numbers == sorted(numbers, key=lambda number: -sign * number):
            return set()
    best = sorted(numbers, key=lambda number: -(direction or (1 if numbers[0] >= numbers[-1] else -1)) * number)
    return {place for (place, number), right in zip(values, best, strict=True) if number != right}


def _exchanged(run: Sequence[tuple[int, list[Figure]]]) -> set[int]:
    """Return the lines whose figures are of the columns of most lines, in another order."""
    columns = [tuple(figure.column for figure in figures) for _, figures in run]
    usual = max(columns, key=columns.count)
    if columns.count(usual) < 2 or len(usual) < 2:
        return set()
    return {
        place
        for (place, _), own in zip(run, columns, strict=True)
        if own != usual and sorted(map(str, own)) == sorted(map(str, usual))
    }
