"""Compare the cells of an answer's table with sentences: "| Pro | 100 GB |" under "Storage" over "Pro: 29 EUR, 100 GB".

A cell reads "Plan: Pro; Storage: 100 GB". The titles of the columns need not be words of the source.
"""

from collections.abc import Sequence

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.contradictions.values.row_mismatch import read_fields
from workers.evaluation.facts.calculation.arithmetic import is_derived, same_dimension, same_quantity
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.quantities import read_quantities
from workers.evaluation.text.words import content_words

MAX_TEXT = 300
"""Longest row and sentence that are read, code points."""


def is_row_right(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return whether the one sentence with the name of a row bears out its figures.

    It does if it has each figure as the only one of its unit. It contradicts them if it has one other figure of the unit
    instead, and no sentence has or gives the figure of the claim.

    Args:
        claim: the cells of a row with the titles of their columns, the name of the row first.
        sentences: the evidence.

    Returns:
        ``None`` if neither is so.
    """
    fields = read_fields(claim[:MAX_TEXT]) or []
    if len(fields) < 2:
        return None
    name = content_words(fields[0][1])
    named = [text for text in sentences if len(text) <= MAX_TEXT and name <= content_words(text)] if name else []
    cells = [_figure(f"{title}: {value}") for title, value in fields[1:]] if named else []
    figures = [each for each in cells if each is not None]
    if not figures or len(figures) < len(cells) or any(map(DENIED.search, named)):
        return None
    rows = [read_quantities(text) for text in named]
    if any(all(_has_alone(figure, row) for figure in figures) for row in rows):
        # Two sources may speak of two things of one name.
        return (
            True
            if all(same_quantity(each, other) for row in rows for each in figures for other in _alike(each, row))
            else None
        )
    if len(named) > 1:
        return None
    known = [number for text in sentences for number in read_quantities(text[:MAX_TEXT])]
    return False if any(_is_other(figure, rows[0], known) for figure in figures) else None


def _figure(cell: str) -> Quantity | None:
    own = read_quantities(cell)
    return own[0] if len(own) == 1 and own[0].dimension and not own[0].bound else None


def _has_alone(figure: Quantity, row: Sequence[Quantity]) -> bool:
    alike = _alike(figure, row)
    return len(alike) == 1 and not alike[0].bound and same_quantity(figure, alike[0])


def _is_other(figure: Quantity, row: Sequence[Quantity], known: Sequence[Quantity]) -> bool:
    alike = _alike(figure, row)
    if not figure.is_unit or len(alike) != 1 or alike[0].bound or alike[0].per != figure.per:
        return False
    return not any(same_quantity(figure, other) for other in known) and not is_derived(figure, row)


def _alike(figure: Quantity, row: Sequence[Quantity]) -> list[Quantity]:
    return [other for other in row if same_dimension(figure.dimension, other.dimension)]
