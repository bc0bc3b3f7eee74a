"""Recognise one event from its other side: "Ann sells the shop to Bob" and "Bob buys the shop from Ann"."""

import re

from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words

MAX_TEXT = 400
"""Longest text that is read, code points."""

_PAIRS: tuple[tuple[str, str], ...] = (
    (r"s[eo]ll(?:s|ing)?|sold|sale of", r"buy(?:s|ing)?|bought|purchas(?:e[sd]?|ing)|acquir(?:e[sd]?|ing)"),
    (r"lend(?:s|ing)?|lent|loan(?:s|ed|ing)?", r"borrow(?:s|ed|ing)?"),
    (r"let(?:s|ting)?|leas(?:e[sd]?|ing)|rent(?:s|ed|ing)? out", r"rent(?:s|ed|ing)?(?! out)|leas(?:e[sd]?|ing)"),
    (r"teach(?:es|ing)?|taught", r"learn(?:s|ed|t|ing)?|studie[sd]"),
    (r"give[sn]?|giving|gave|award(?:s|ed|ing)?|grant(?:s|ed|ing)?", r"receiv(?:e[sd]?|ing)|gets?|got"),
    (r"beat(?:s|en|ing)?|defeat(?:s|ed|ing)?|w[io]n(?:s|ning)? against", r"los(?:e[sd]?|t|ing)"),
    (r"export(?:s|ed|ing)?", r"import(?:s|ed|ing)?"),
    (r"preced(?:e[sd]?|ing)", r"follow(?:s|ed|ing)?|succeed(?:s|ed|ing)?"),
)
_Parties = tuple[frozenset[str], frozenset[str]]
_VERBS = tuple(tuple(PrefilteredPattern(rf"\b(?:{side})\b", re.IGNORECASE) for side in pair) for pair in _PAIRS)
_AGENT = re.compile(r"\bby\s((?:(?!\b(?:from|to|for|in|on|at|and|with)\b)[^,;.])+)", re.IGNORECASE)
_PASSIVE = re.compile(r"\b(?:is|are|was|were|be|been|being)\s(?:\w+\s)?$", re.IGNORECASE)


def is_other_side(claim: str, evidence: str) -> bool:
    """Return true if two texts have the two verbs of one event, and the parties have changed their places.

    Args:
        claim: plain text.
        evidence: plain text of a sentence.
    """
    claim, evidence = claim[:MAX_TEXT], evidence[:MAX_TEXT]
    for one, two in _VERBS:
        for ours, theirs in ((one, two), (two, one)):
            own = ours.search(claim)
            if own and not theirs.search(claim) and theirs.search(evidence):
                parties = _parties(claim, own)
                # "Ann sold it to Bob, who sold it to Cid" has two events.
                return any(_are_exchanged(parties, _parties(evidence, other)) for other in theirs.finditer(evidence))
    return False


def _are_exchanged(own: _Parties, other: _Parties) -> bool:
    # What both parties are ("the museum in Ghent", "the museum in Lyon") tells neither from the other.
    acting, others = own[0] - own[1], own[1] - own[0]
    their_acting, their_others = other[0] - other[1], other[1] - other[0]
    return bool(acting & their_others and others & their_acting and not acting & their_acting)


def _parties(text: str, verb: re.Match[str]) -> _Parties:
    """Return the words for who acts, and those of everything else."""
    before, after = text[: verb.start()], text[verb.end() :]
    agent = _AGENT.search(after) if _PASSIVE.search(before) else None
    if agent is None:
        return content_words(before), content_words(after)
    return content_words(agent[1]), content_words(before) | content_words(after[: agent.start()] + after[agent.end() :])
