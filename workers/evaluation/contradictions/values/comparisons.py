"""Check claims that compare figures of the evidence: more, most, and changes over time.

"Plan A costs more than plan B" contradicts "Plan A costs $10. Plan B costs $20.", and "output tripled from March to
April" contradicts "400 units in March and 800 units in April". There is no result unless the evidence gives exactly
the compared figures.
"""

import re
from collections.abc import Sequence

from workers.evaluation.contradictions.values.dated_values import direction_of
from workers.evaluation.contradictions.values.rankings import is_negated, without_bounds
from workers.evaluation.facts.dates import read_dates
from workers.evaluation.facts.quantities import Quantity, read_quantities
from workers.evaluation.facts.series import Code, find_codes
from workers.evaluation.facts.units import SCALES
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words

CHANGE_TOLERANCE = 0.02
"""Accepted relative difference between a stated and a calculated change; stated changes are rounded."""

_UP, _DOWN = 1, -1
_SIZES = {
    **dict.fromkeys(
        [
            "more",
            "most",
            "higher",
            "highest",
            "larger",
            "largest",
            "greater",
            "greatest",
            "bigger",
            "biggest",
            "longer",
            "longest",
        ],
        _UP,
    ),
    **dict.fromkeys(["heavier", "heaviest", "taller", "tallest", "expensive", "costlier", "costliest"], _UP),
    **dict.fromkeys(
        ["less", "least", "fewer", "fewest", "lower", "lowest", "smaller", "smallest", "shorter", "shortest"], _DOWN
    ),
    **dict.fromkeys(["lighter", "lightest", "cheaper", "cheapest"], _DOWN),
}
"""Words that say which of two figures is larger."""
_MULTIPLES = {"doubled": 2.0, "tripled": 3.0, "trebled": 3.0, "quadrupled": 4.0, "halved": 0.5}
_FROM_TO = re.compile(r"\b(?:from|between) (\w{3,20}) (?:to|and) (\w{3,20})\b", re.IGNORECASE)
_NUMBER = r"(?<![\d.,])(?:\d{1,3}(?:,\d{3})+|\d{1,9}(?:\.\d{1,4})?)(?![\d])"
_SCALE = r"(?: ?(?:thousand|million|billion))?"
_SHARE_OF = re.compile(
    rf"({_NUMBER})({_SCALE}) (?:out )?of (?:the |all )?({_NUMBER})({_SCALE})\b"
    rf"(?:(?!{_NUMBER}{_SCALE} (?:out )?of )[^.;]){{0,60}}?"
    r"(?:which is|that is|i\.e\.|\()\s?(?:about |around )?(\d{1,3})(?:\.(\d{1,4}))?\s?(?:%|percent)",
    re.IGNORECASE,
)
"""A share with its percentage; what stands between has no other share, of which the percentage would be."""
_CHANGED_BY = PrefilteredPattern(
    r"\b(?:fell|fallen|falls?|dropp?(?:ed|s)?|declined?|decreased?|reduced|cut|shorten(?:ed|s)?|rose|risen|rises?|grew|grown|grows?|increased?|gained|climbed|went (?:up|down)|lowered|raised)\b"
    r"(?:\s[\w-]+){0,3}?\sby (?:about |around |some |exactly )?(?P<figure>[$€£]?\d[\d.,]*(?:\s?%|[ -][^\W\d_]+){0,2})",
    re.IGNORECASE,
)
_FROM_TO_FIGURES = re.compile(
    r"\bfrom [$€£]?\d[\d.,]*(?:\s?%|[ -][^\W\d_]+){0,2}? to [$€£]?\d[\d.,]*(?:\s?%|[ -][^\W\d_]+){0,2}", re.IGNORECASE
)
_BY = re.compile(r"\bby\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")


def wrong_order(claim: str, evidence: Sequence[str]) -> bool:
    """Return true if the figures of the evidence contradict the direction of the claim's comparison."""
    ranks = [word for word in _words(without_bounds(claim)) if word in _SIZES]
    if len(ranks) != 1:
        return False
    size, negated = _SIZES[ranks[0]], is_negated(claim, ranks[0])
    codes = [code for code, _, _ in find_codes(claim)]
    figures = _figures(claim, evidence)
    if " than " in claim:
        if len(codes) != 2 or not all(code in figures for code in codes):
            return False
        one, two = figures[codes[0]], figures[codes[1]]
        return one.dimension == two.dimension and (size * (one.values[0] - two.values[0]) > 0) == negated
    if len(codes) != 1 or codes[0] not in figures or not ranks[0].endswith("st"):
        return False
    own = figures[codes[0]]
    rivals = [
        other.values[0]
        for code, other in figures.items()
        if code != codes[0] and code[0] == codes[0][0] and other.dimension == own.dimension
    ]
    if negated:
        return bool(rivals) and all(size * (own.values[0] - rival) > 0 for rival in rivals)
    return any(size * (own.values[0] - rival) < 0 for rival in rivals)


def _figures(claim: str, evidence: Sequence[str]) -> dict[Code, Quantity]:
    """Return the figure of each series member, from texts that share a word with the claim."""
    found: dict[Code, Quantity] = {}
    for text in evidence:
        codes = find_codes(text)
        series = content_words(" ".join(name for (name, _), _, _ in codes))
        if not (content_words(claim) & content_words(text)) - series:
            continue
        for index, (code, _, end) in enumerate(codes):
            behind = text[end : codes[index + 1][1] if index + 1 < len(codes) else end + 60]
            numbers = read_quantities(read_dates(behind)[1])
            if len(numbers) == 1:
                found.setdefault(code, numbers[0])
    return found


def wrong_change(claim: str, evidence: str) -> bool:
    """Return true if two figures of the evidence give a different change than the claim reports."""
    span = _FROM_TO.search(claim)
    if not span:
        return False
    lowered = evidence.lower()
    first, last = lowered.find(span[1].lower()), lowered.find(span[2].lower())
    if first < 0 or last < 0 or first == last:
        return False
    told = [number for number in read_quantities(claim) if number.is_unit or _BY.search(claim)]
    values = _pair(evidence, told)
    if not values:
        return False
    before, after = values if first < last else values[::-1]
    direction, multiple = _direction(claim)
    if multiple:
        return not _near(after, multiple * before)
    if direction and direction * (after - before) < 0:
        return True
    if not direction or not before:
        return False
    changes = [
        100 * abs(after - before) / abs(before) if number.dimension == "percent" else abs(after - before)
        for number in told
    ]
    return bool(told) and not any(
        _near(number.values[0], change, number.step) for number, change in zip(told, changes, strict=True)
    )


def is_end_taken_for_change(claim: str, evidence: str) -> bool:
    """Return true if a claim tells a change by the value at one of its ends: "fell by 62" over "from 95 to 62"."""
    told, span = _CHANGED_BY.search(claim), _FROM_TO_FIGURES.search(evidence)
    if not told or not span or _FROM_TO_FIGURES.search(claim):
        return False
    change = read_quantities(told["figure"])
    ends = read_quantities(f"fell {span[0]}")  # the unit belongs to both ends of a change
    if len(change) != 1 or len(ends) != 2 or {each.dimension for each in ends} != {change[0].dimension}:
        return False
    (amount,), (first, last) = change[0].values[:1], (each.values[0] for each in ends)
    return amount in (first, last) and not _near(amount, abs(last - first), change[0].step)


def wrong_share(claim: str) -> bool:
    """Return true if a claim's share contradicts its own figures ("60 of the 80, which is 80 %")."""
    return any(map(_is_wrong_share, _SHARE_OF.finditer(claim)))


def _is_wrong_share(match: re.Match[str]) -> bool:
    part, all_of = (float(match[group].replace(",", "")) for group in (1, 3))
    # "1.5 of 3 million" leaves out the first scale.
    scales = [SCALES.get((match[group] or match[4]).strip().lower(), 1.0) for group in (2, 4)]
    if not all_of:
        return False
    step = 0.5 * 10.0 ** -len(match[6] or "")
    told = float(f"{match[5]}.{match[6] or 0}")
    return abs(100 * part * scales[0] / (all_of * scales[1]) - told) > max(step, 1.0)


def _pair(evidence: str, told: Sequence[Quantity]) -> tuple[float, float] | None:
    """Return the two figures of the evidence if it has exactly two of one kind and does not state the change."""
    groups: dict[str, list[float]] = {}
    for number in read_quantities(evidence):
        groups.setdefault(number.dimension, []).append(number.values[0])
    if any(number.dimension in groups and number.values[0] in groups[number.dimension] for number in told):
        return None
    pairs = [values for values in groups.values() if len(values) == 2]
    return (pairs[0][0], pairs[0][1]) if len(pairs) == 1 and len(groups) == 1 else None


def _direction(claim: str) -> tuple[int, float]:
    """Return the direction of the change that a claim reports, and its factor where the claim gives one."""
    words = _words(claim)
    multiple = next((_MULTIPLES[word] for word in words if word in _MULTIPLES), 0.0)
    return direction_of(claim), multiple


def _near(one: float, two: float, step: float = 0.0) -> bool:
    return abs(one - two) <= max(step, CHANGE_TOLERANCE * max(abs(one), abs(two)))


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]
