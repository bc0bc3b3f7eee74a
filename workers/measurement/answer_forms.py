"""Group labelled answers by their form: number of claims, length and kind of evidence.

A calibration that holds for all answers together may be wrong for those of one form. Labelled answers have no earlier
turns, so a conversation is no form here.
"""

from collections.abc import Mapping, Sequence

from workers.measurement.measured_answers import MeasuredRow

MOST_FEW = 5
"""Largest number of claims of an answer with few claims."""
SHORT, LONG = 25, 100
"""Words up to which an answer is short, and from which on it is long."""


def forms_of(row: MeasuredRow) -> tuple[str, ...]:
    """Return the forms of an answer: one by its claims, one by its length, one by its evidence."""
    return _of_claims(len(row.claims)), _of_length(len(row.row.answer.split())), _of_evidence(row)


def rows_by_form(rows: Sequence[MeasuredRow]) -> Mapping[str, list[int]]:
    """Return the places of the rows of each form, in the order of the forms."""
    order = (
        *("1 claim", "2 claims", f"3 to {MOST_FEW} claims", f"over {MOST_FEW} claims"),
        *(f"up to {SHORT} words", f"{SHORT + 1} to {LONG - 1} words", f"{LONG} words or more"),
        *("texts", "records"),
    )
    found: dict[str, list[int]] = {name: [] for name in order}
    for place, row in enumerate(rows):
        for form in forms_of(row):
            if form in found:
                found[form].append(place)
    return {name: places for name, places in found.items() if places}


def _of_claims(count: int) -> str:
    if count <= 2:
        return "1 claim" if count == 1 else f"{count} claims"
    return f"3 to {MOST_FEW} claims" if count <= MOST_FEW else f"over {MOST_FEW} claims"


def _of_length(words: int) -> str:
    if words <= SHORT:
        return f"up to {SHORT} words"
    return f"{LONG} words or more" if words >= LONG else f"{SHORT + 1} to {LONG - 1} words"


def _of_evidence(row: MeasuredRow) -> str:
    return "records" if row.prepared.records else "texts"
