"""Read whether a claim denies its figure or bounds it, so that the figure of another subject is no contradiction.

"The flat costs less than 900 euros" is right over "the flat costs 700 euros and the house costs 900 euros", although
the 900 euros are those of the house.
"""

import re
from collections.abc import Collection, Sequence

from workers.evaluation.contradictions.parallel_clauses import cut_clauses, is_small, stems_of
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import kept_for_sentences

_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
_AMOUNT = r"\s(?:[^\W\d_]+\s){0,2}?[^\s\w]?\d"
_DAY = r"\s(?:the\s)?(?:(?:end|start|beginning) of\s)?(?:\d{1,2}\s)?(?:[A-Z][^\W\d_]+\s)?\d{4}\b"
_HIGH = rf"(?:until|by){_DAY}|(?:at most|up to|less than|fewer than|under|below|before|earlier than|younger than|shorter than|lower than|cheaper than){_AMOUNT}"
_LOW = rf"(?:since|from){_DAY}|(?:at least|more than|over|above|after|later than|older than|longer than|higher than){_AMOUNT}"
_DENIAL = r"(?:\b(?:not|never|no|cannot|neither)\b|n['’]t\b)"
_BOUND = PrefilteredPattern(
    rf"(?P<denied>{_DENIAL}\s(?:(?!and\b|but\b)[^\W\d_]+\s){{0,4}}?)?\b(?:(?P<high>{_HIGH})|(?P<low>{_LOW}))",
    re.IGNORECASE,
)
_LATEST = PrefilteredPattern(r"\d[^.;]{0,20}?\bat (?:the )?(?:latest|most)\b", re.IGNORECASE)
_EARLIEST = PrefilteredPattern(r"\d[^.;]{0,20}?\bat the (?:earliest|least)\b", re.IGNORECASE)
_DENIED = re.compile(_DENIAL, re.IGNORECASE)
_CONTRASTED = PrefilteredPattern(rf"{_DENIAL}[^.;]{{0,150}}?\bbut\b|,\s(?:and |but )?not\b|\bnot only\b", re.IGNORECASE)


@kept_for_sentences
def side_of(text: str) -> int | None:
    """Return 1 for a text with a lower bound, -1 for an upper one, 0 for a plain denial, ``None`` for neither or several."""
    if _CONTRASTED.search(text):
        return None
    sides = [(1 if match["low"] else -1) * (-1 if match["denied"] else 1) for match in _BOUND.finditer(text)]
    sides += [side for pattern, side in ((_LATEST, -1), (_EARLIEST, 1)) if pattern.search(text)]
    if sides:
        return sides[0] if len(sides) == 1 else None
    return 0 if _DENIED.search(text) else None


def keeps_side(side: int | None, own: Collection[str], claimed: Collection[str]) -> bool:
    """Return true if the figure of a claim's subject makes its denial or bound true.

    Args:
        side: what ``side_of`` says of the claim.
        own: the figure that the evidence has for the claim's subject.
        claimed: the figure of the claim.
    """
    if side is None or len(own) != 1 or len(claimed) != 1:
        return False
    try:
        value, limit = (float(next(iter(each)).replace(",", "")) for each in (own, claimed))
    except ValueError:
        return side == 0  # "10:30", "twelve"
    return value != limit if side == 0 else (value - limit) * side >= 0


def denies_other_figure(claim: str, evidence: Sequence[str]) -> bool:
    """Return true if a claim denies a figure, and the evidence has another one for the claim's subject.

    "Anna did not win in 2019" is no contradiction to "Anna won in 2018 and Carla won in 2019".
    """
    return bool(_DENIED.search(claim)) and keeps_own_figure(claim, evidence)


def keeps_own_figure(claim: str, evidence: Sequence[str]) -> bool:
    """Return true if the clause of the evidence on the claim's subject has a figure that makes its denial or bound true.

    Args:
        claim: plain text of the claim.
        evidence: sentences; nothing is concluded from one that denies something or has a bound of the other side.
    """
    side, claimed = side_of(claim), frozenset(_FIGURE.findall(claim))
    if side is None or len(claimed) != 1:
        return False
    words = _subject_matter(claim)
    parts = [(text, part, len(words & _subject_matter(part))) for text in evidence for part in cut_clauses(text)]
    most = max((shared for *_, shared in parts), default=0)
    nearest = [(text, part) for text, part, shared in parts if shared == most > 0]
    if any(is_limited(text) and (not side or side_of(text) != side) for text, _ in nearest):
        return False
    own = {frozenset(_FIGURE.findall(part)) for _, part in nearest}
    return len(own) == 1 and keeps_side(side, own.pop(), claimed)


def _subject_matter(text: str) -> frozenset[str]:
    return frozenset(word for word in stems_of(text) if not is_small(word) and not word[0].isdigit())


@kept_for_sentences
def is_limited(text: str) -> bool:
    """Return true if a text denies something or bounds a figure."""
    return any(pattern.search(text) for pattern in (_DENIED, _BOUND, _LATEST, _EARLIEST))
