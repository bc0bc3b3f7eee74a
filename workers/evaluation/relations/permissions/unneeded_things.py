"""Compare what a claim demands with what goes without it: "a permit is required" over "can be walked without a permit"."""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.contradictions.needless import NEEDLESS, REQUIRED
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""

_THING = r"(?:an?\s|any\s|the\s|your\s|their\s|his\s|her\s|its\s|prior\s|valid\s)*(?P<{0}>[^\W\d_]+(?:[\s-][^\W\d_]+){{0,2}}?)"
_NEEDED = r"(?:required|needed|necessary|mandatory|compulsory|obligatory)"
_DEMAND = PrefilteredPattern(
    rf"(?:^|[,;]\s|\b(?:and|but|that)\s){_THING.format('subject')}\s(?:is|are)\s(?:\w+ly\s|always\s|also\s)?{_NEEDED}\b"
    rf"|\b(?:is|are)\s{_THING.format('asked')}\s{_NEEDED}\b"
    rf"|\b(?:needs?|requires?|must\s(?:have|bring|show|present|hold|get|obtain|book|make))\s{_THING.format('object')}(?=[\s.,;:!?]|$)"
    rf"|\bonly\s(?:[^\W\d_]+\s){{0,3}}?(?:with|on|by|upon|against)\s{_THING.format('only')}(?=[.,;:!?]|$|\s(?:and|for|in|on|at)\b)",
    re.IGNORECASE,
)
_WITHOUT = PrefilteredPattern(
    r"\bwithout\s(?:needing\s|having\s|showing\s|presenting\s)?(?:an?\s|any\s|the\s|your\s|their\s|prior\s|valid\s)*(?P<thing>(?:(?!\sbut\b)[^.,;:!?]){3,40})",
    re.IGNORECASE,
)
_PERMITS = re.compile(
    r"\b(?:can|may|could|possible|allowed|permitted|free|available|works?|is|are|was|were)\b", re.IGNORECASE
)
_OTHER_CASE = re.compile(
    r"\b(?:after|beyond|over|above|under|below|more than|less than|longer than|except|unless|if|otherwise|else|outside)\b",
    re.IGNORECASE,
)
"""Words of a case that the sentence may leave out: "after 90 days a visa is necessary"."""
_SAID = content_words(
    "required needed necessary mandatory only available possible need must have yes bring show present"
)


def is_need_stated(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim demands a thing that a sentence goes without, and no sentence demands it.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if the claim demands nothing of the evidence.
    """
    claim = claim[:MAX_TEXT]
    if NEEDLESS.search(claim) or DENIED.search(claim) or _OTHER_CASE.search(claim):
        return None
    for thing in _demanded(claim):
        matter = content_words(f"{claim} {question}") - thing - _SAID
        waiving = [sentence for sentence in sentences if _goes_without(sentence[:MAX_TEXT], thing)]
        demanding = any(
            thing & content_words(sentence) and REQUIRED.search(sentence) and not _WITHOUT.search(sentence)
            for sentence in sentences
        )
        if waiving and not demanding and any(not matter or matter & content_words(text) for text in waiving):
            return False
    return None


def demands(claim: str) -> bool:
    """Return true if a claim says that a thing is needed."""
    return bool(_DEMAND.search(claim[:MAX_TEXT]))


def _demanded(claim: str) -> Iterator[frozenset[str]]:
    for match in _DEMAND.finditer(claim):
        thing = content_words(match["subject"] or match["asked"] or match["object"] or match["only"])
        if thing:
            yield thing


def _goes_without(sentence: str, thing: frozenset[str]) -> bool:
    """Return true if a sentence permits or describes something without a thing."""
    match = _WITHOUT.search(sentence)
    if match is None or not thing <= content_words(match["thing"]):
        return False
    before = sentence[: match.start()]
    return bool(_PERMITS.search(before)) and not DENIED.search(before) and not re.search(r"\bonly\b", before, re.I)
