"""Compare what holds with a thing and without it: a refund "with a receipt", store credit "without a receipt"."""

import re
from collections.abc import Sequence

from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words, key_of

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""

_CASE = PrefilteredPattern(
    r"\b(?P<side>with|without)\s(?:an?\s|the\s|their\s|your\s)?(?P<noun>[^\W\d_]{3,})\b", re.IGNORECASE
)


def is_case_right(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim on what holds without a thing has words of what holds with it, and none of its own case.

    Args:
        claim: the claim, or the short answer.
        sentences: the evidence.

    Returns:
        ``None`` unless claim and evidence name both sides of one thing, each in sentences of its own.
    """
    claim = claim[:MAX_TEXT]
    cases = {(key_of(match["noun"]), key_of(match["side"])) for match in _CASE.finditer(claim)}
    if len(cases) != 1:
        return None
    ((noun, side),) = cases
    own, other = set[str](), set[str]()
    for sentence in sentences:
        for piece in re.split(r"[;,]\s", sentence[:MAX_TEXT]):
            sides = {key_of(match["side"]) for match in _CASE.finditer(piece) if key_of(match["noun"]) == noun}
            if len(sides) == 1:
                (own if side in sides else other).update(content_words(piece))
    words = content_words(claim) - content_words(noun)
    return False if own and other and words & (other - own) and not words & (own - other) else None
