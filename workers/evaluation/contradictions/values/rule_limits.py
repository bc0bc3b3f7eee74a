"""Compare limits that rules set: what is permitted up to a figure, and demanded from a figure on.

"At most 200" follows from "at most 50" as arithmetic, but a permission of 200 is another rule than a permission of 50.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.facts.calculation.arithmetic import same_dimension, same_quantity, satisfies
from workers.evaluation.facts.quantities import Quantity
from workers.evaluation.facts.text_details import Details
from workers.evaluation.text.words import content_words

_RULE = re.compile(
    r"\b(?:may|can|could|must|should|shall|ha(?:s|ve) to|allowed|permitted|up to|limit\w*|maximum|minimum|requires?|required"
    r"|darf|dürfen|muss|müssen|höchstens|mindestens|bis zu|peu(?:t|vent)|doi(?:t|vent)|maximal\w*|pueden?|deben?|máximo|mínimo)\b",
    re.IGNORECASE,
)
_PERMISSION = re.compile(r"\b(?:may|can|could|allowed|permitted|accepted|possible)\b", re.IGNORECASE)
_CASE = re.compile(
    r"\b(?:if|when|whenever|once|unless|in case|as soon as|wenn|falls|sobald|lorsque|quand|dès que|cuando|si)\b[^.;:!?]{1,100}$"
    r"|\bfor\s(?:[^\W\d_]+\s){1,3}(?:of|with|above|over|under|below|exceeding|longer|heavier|older|younger)\b[^.;:!?,]{0,12}$",
    re.IGNORECASE,
)
"""A text in front of a figure that makes it the limit of a case: "if luggage weighs more than 23 kg"."""
MAX_CASE = 120
"""Code points in front of a figure in which its condition begins."""
_PIECE = re.compile(r"[;,.]\s")
_BEYOND = re.compile(
    r"\b(?:larger|bigger|greater|higher|more than (?:that|this)|above|over|beyond|exceed\w*|heavier|older|longer|smaller|lower|less than (?:that|this)|below|under|otherwise|others?|anything else|remaining|rest)\b(?!\s(?:than\s)?[€$£]?\d)",
    re.IGNORECASE,
)
"""Words by which a text goes on with what a limit leaves."""


def has_other_limit(claim: str, evidence: str, own: Details, theirs: Details, others: Sequence[Details] = ()) -> bool:
    """Return true if a claim sets a limit in a rule or condition and the evidence sets one other limit of its kind.

    "A charge is due above 20 kg" does not follow from "if luggage weighs more than 23 kg", as "it weighs more than 20 kg"
    would from "it weighs more than 23 kg".
    """
    is_rule = bool(_RULE.search(claim))
    known = [number for each in (theirs, *others) for number in (*each.quantities, *each.implied)]
    for number in own.quantities:
        limits = _limits(number, theirs, number.bound) if number.bound else []
        if len(limits) != 1 or not (is_rule or _is_of_case(limits[0], evidence)):
            continue
        if not any(_is_same_limit(number, other) for other in known if _is_alike(number, other)):
            return True
    return False


def keeps_limit(claim: str, own: Details, theirs: Details) -> bool:
    """Return true if a claim permits figures that lie within the limits of the evidence: 40 within "must not exceed 50"."""
    if not own.quantities or not _PERMISSION.search(claim) or DENIED.search(claim):
        return False
    return all(_is_within(number, theirs) for number in own.quantities)


def is_beyond_limit(claim: str, own: Details, theirs: Details, texts: Sequence[str]) -> bool:
    """Return true if a claim's bounds are the other sides of limits, and what it says stands with what goes beyond them.

    "The landlord pays above 100 euros" is right over "The tenant pays up to 100 euros. Larger repairs are paid by the
    landlord."
    """
    bounds = [number for number in own.quantities if number.bound]
    if not bounds or not all(any(_are_two_sides(number, other) for other in theirs.quantities) for number in bounds):
        return False
    pieces = [piece for text in texts for piece in _PIECE.split(text)]
    within = frozenset().union(*(content_words(piece) for piece in pieces if not _BEYOND.search(piece)))
    words = content_words(claim) - within
    return any(words & content_words(piece) for piece in pieces if _BEYOND.search(piece))


def _is_same_limit(one: Quantity, two: Quantity) -> bool:
    """Return true for one limit; only in another unit it may be rounded: 202 metres are not 200 metres."""
    factors = [each.values[0] / each.face if each.face else 0.0 for each in (one, two)]
    return one.face == two.face if factors[0] == factors[1] else same_quantity(one, two)


def _is_of_case(number: Quantity, text: str) -> bool:
    place = text.find(number.written) if number.bound else -1
    return place >= 0 and bool(_CASE.search(text[max(0, place - MAX_CASE) : place]))


def _are_two_sides(one: Quantity, two: Quantity) -> bool:
    return one.bound == -two.bound and same_quantity(replace(one, bound=0), replace(two, bound=0))


def _is_within(number: Quantity, theirs: Details) -> bool:
    alike = [other for other in theirs.quantities if _is_alike(number, other)]
    return len(alike) == 1 and bool(alike[0].bound) and not number.bound and satisfies(number, alike[0])


def _limits(number: Quantity, theirs: Details, side: int) -> list[Quantity]:
    alike = (other for other in theirs.quantities if _is_alike(number, other))
    return [other for other in dict.fromkeys(alike) if other.bound == side]


def _is_alike(one: Quantity, two: Quantity) -> bool:
    return (
        bool(one.dimension)
        and (one.is_unit, one.per) == (two.is_unit, two.per)
        and same_dimension(one.dimension, two.dimension)
    )
