"""Compare what a claim needs no more with conditions of the evidence: "no agreement is needed" over "provided they agreed"."""

import re
from collections.abc import Sequence

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words, stem, word_set

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""

_WAIVED = PrefilteredPattern(
    r"\bno (?P<what>[^,.;]{3,60}?) (?:is|are) (?:needed|required|necessary)\b"
    r"|\bwithout (?:needing |having )?(?:any |the |an? )?(?P<without>[^,.;]{3,40})",
    re.IGNORECASE,
)
_CONDITION = PrefilteredPattern(
    r"\b(?:provided(?: that)?|only (?:if|when|with|after|once)|as long as|on condition that|subject to)\b(?P<condition>[^.;]{3,160})",
    re.IGNORECASE,
)
_PERMITTED = re.compile(r"\b(?:can|may|could|possible|allowed|permitted|free)\b", re.IGNORECASE)
_WEAK = frozenset(map(stem, word_set("further additional extra other special separate written prior previous")))


def _permits(text: str) -> bool:
    """Return true if what stands before "without" permits something and denies nothing."""
    return bool(_PERMITTED.search(text)) and not DENIED.search(text)


def is_condition_kept(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim does without what a condition of the evidence demands.

    Args:
        claim: the claim, or the short answer.
        sentences: the evidence.

    Returns:
        ``None`` if the claim waives nothing that a condition names.
    """
    waived = _WAIVED.search(claim[:MAX_TEXT])
    if not waived or (waived["without"] and not _permits(claim[: waived.start()])):
        return None
    words = content_words(waived["what"] or waived["without"]) - _WEAK
    demanded = (
        content_words(match["condition"])
        for sentence in sentences
        for match in _CONDITION.finditer(sentence[:MAX_TEXT])
    )
    return False if words and any(words <= told for told in demanded) else None
