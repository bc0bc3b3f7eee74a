"""Compare who may do something: "Users can replace the battery" over "can only be replaced by a service partner"."""

import re
from collections.abc import Sequence

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.facts.verb_forms import verb_stem
from workers.evaluation.text.words import STOP_WORDS, key_of, word_set

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""

_RESERVES: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?P<what>.{2,120}?)\b(?:can|may|must|should|shall|(?:is|are) to) only be (?P<verb>[^\W\d_]{3,20})\b(?P<more>[^.;]{0,60}?)\bby (?P<who>[^.;,]{3,80})",
        r"^(?P<what>.{2,120}?)\b(?:can|may|must|should|shall|(?:is|are) to) be (?P<verb>[^\W\d_]{3,20})\b(?P<more>[^.;]{0,60}?)\b(?:only|exclusively|solely) by (?P<who>[^.;,]{3,80})",
        r"^(?P<what>.{2,120}?)\b(?:can|may|must|should|shall|(?:is|are) to) be (?P<verb>[^\W\d_]{3,20})\b(?P<more>[^.;]{0,60}?)\bby (?P<who>[^.;,]{3,80}?) (?:only|alone|exclusively)\b",
        r"^(?P<what>.{2,120}?)\b(?:must|has to|have to) be (?P<verb>[^\W\d_]{3,20})\b(?P<more>[^.;]{0,60}?)\bby (?P<who>(?:an? |the )?(?:authori[sz]ed|qualified|certified|licensed|trained|approved)\b[^.;,]{3,80})",
        r"\bonly (?P<who>[^.;,]{3,80}?) (?:can|may|(?:is|are) (?:allowed|permitted|authori[sz]ed|entitled) to) (?P<verb>[^\W\d_]{3,20}) (?P<what>[^.;,]{3,120})(?P<more>)",
    )
)
_PERMITS = re.compile(
    r"\b(?:may|can|could|(?:is|are) (?:allowed|permitted|free|entitled|able) to|easy to)\b", re.IGNORECASE
)
_LAYMEN = word_set(
    "you i we user users customer customers owner owners anyone anybody everyone everybody yourself yourselves themselves tenant tenants"
    " resident residents patient patients guest guests visitor visitors passenger passengers buyer buyers driver drivers"
    " employee employees student students pupil pupils parent parents reader readers operator operators client clients"
)
_DONE_FOR = re.compile(
    r"\b(?:have|get|had|let)\b(?: \w+){1,5} (?:\w+ed|done|made)\b|\b(?:ask|contact|through|via|only|with the help)\b",
    re.I,
)
_OTHER_WORDS = re.compile(r"\b(?:swap|chang|exchang)(?:e|es|ed|ing|ped|ping)?\b", re.IGNORECASE)
_REPAIRS = re.compile(r"\b(?:fix|mend)(?:es|ed|ing|s)?\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")


def is_act_of_others(claim: str, sentences: Sequence[str]) -> bool:
    """Return true if a claim permits laymen an act that a sentence of the evidence reserves to others.

    Args:
        claim: the claim without an opening yes.
        sentences: the evidence.
    """
    claim = claim[:MAX_TEXT]
    laymen = _LAYMEN.intersection(_WORD.findall(key_of(claim)))
    if not laymen or DENIED.search(claim) or _DONE_FOR.search(claim) or not _PERMITS.search(claim):
        return False
    own = _words(claim)
    for sentence in sentences:
        for match in filter(None, (pattern.search(sentence[:MAX_TEXT]) for pattern in _RESERVES)):
            who = frozenset(_WORD.findall(key_of(match["who"])))
            if who & _LAYMEN or _words(match["who"]) & own:
                continue
            if _words(match["verb"]) <= own and _words(match["what"]) & (own - _words(match["verb"])):
                return True
    return False


def _words(text: str) -> frozenset[str]:
    text = _REPAIRS.sub("repair", _OTHER_WORDS.sub("replace", text))
    return frozenset(verb_stem(word) for word in _WORD.findall(key_of(text)) if word not in STOP_WORDS)
