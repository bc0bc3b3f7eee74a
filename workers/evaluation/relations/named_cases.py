"""Compare what holds in one of two cases: "On Linux install the MSI package" over "Windows: the MSI; on Linux: the archive"."""

import re
from collections.abc import Sequence

from workers.evaluation.text.words import content_words

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""

_CASE = re.compile(
    r"^(?:On|For|In|At|Under|During)\s(?:the\s|an?\s)?(?P<case>[^\W\d_][\w-]*(?:\s[\w-]+)?),?\s(?=[a-z])"
)
_PIECE = re.compile(r";\s|,\s(?:while|whereas|but)\s|\s(?:while|whereas)\s", re.IGNORECASE)


def is_named_case_right(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim on one case has words of the other case of a sentence, and none of its own.

    Args:
        claim: the claim, which begins with the case: "On Linux, …".
        sentences: the evidence.

    Returns:
        ``None`` unless a sentence has two parts, of which one alone names the case.
    """
    match = _CASE.match(claim[:MAX_TEXT])
    case = content_words(match["case"]) if match else frozenset[str]()
    if not match or not case:
        return None
    words = content_words(claim[match.end() : MAX_TEXT]) - case
    for sentence in sentences:
        pieces = [content_words(piece) for piece in _PIECE.split(sentence[:MAX_TEXT])]
        own = [piece for piece in pieces if case <= piece]
        if len(pieces) == 2 and len(own) == 1:
            (other,) = (piece for piece in pieces if piece is not own[0])
            if words & (other - own[0]) and not words & (own[0] - other - case) and own[0] - other - case:
                return False
    return None
