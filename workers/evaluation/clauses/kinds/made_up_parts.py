"""Find reasons and steps that a claim adds: "… because the kitchen is being renovated" over evidence without a reason.

Most words of such a claim stand in the evidence, so that it looks supported. A reason or step is made up if no evidence
and no question has any of its words, and, for a reason, if no sentence on the matter states or suggests a cause.
"""

import re
from collections.abc import Iterable, Sequence

from workers.evaluation.budget import spend
from workers.evaluation.clauses.clause_reader import is_instruction
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""
MIN_REASON, MIN_STEP = 2, 3
"""Fewest content words of a reason and of a step; fewer may be another word for what the evidence says."""
KNOWN = 0.6
"""Least share of the words of the rest that the evidence has."""
KEY = 5
"""Letters by which words are compared with those of the evidence: "renovated" and "renovation"."""

_REASON = PrefilteredPattern(
    r"(?P<before>^|[^,;]\s|,\s)(?:because(?:\sof)?|due\sto|owing\sto|as\sa\sresult\sof)\s(?P<reason>[^,;.()]{8,140})",
    re.IGNORECASE,
)
_NO_REASON = re.compile(
    r"\b(?:no|not|never|n['’]t|without|unknown|unclear|any|open|why)\b[^.;]{0,40}?\b(?:reasons?|causes?|explanations?)\b(?:\s(?:was|were|has\sbeen|is)\s\w+)?"
    r"|\b(?:reasons?|causes?)\b[^.;]{0,30}?\b(?:not|n['’]t|unknown|unclear|open)\b"
    r"|\b(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|shortly|soon|just|and|or|before)\safter\b",
    re.IGNORECASE,
)
"""Words that deny or leave open a reason, and times after an event."""
_CAUSE = re.compile(
    r"\b(?:because|due|owing|since|as|so|caus\w+|reasons?|therefore|thus|hence|result\w*|le[ad]d?s?\sto|forc\w+|prompt\w+|trigger\w+"
    r"|blam\w+|thanks|after|following|when|if|given\s(?:that|the|its)|why|explain\w*|explanation|attribut\w+|mean(?:s|t|ing)|make\w*|made|require\w*|in\sorder"
    r"|in\s(?:view|light)|with\s(?:the|a|no)|by\s\w+ing|to\s(?:allow|make|enable|avoid|prevent|protect|save|keep|let|give|carry))\b|:\s",
    re.IGNORECASE,
)
_THEN = PrefilteredPattern(r"\bthen\b|\bfirst\b|\b(?:before|after)\s\w+ing\b", re.IGNORECASE)
_STEPS = re.compile(
    r"[,;]?\s(?:and\s)?(?:then|after\sthat|finally)\s|[,;]?\s(?:before|after)\s(?=\w+ing\b)|;\s", re.IGNORECASE
)
_ORDER = content_words("first then next finally afterwards before after second begin start")


def has_made_up_part(claim: str, question: str, sentences: Sequence[str], evidence: Iterable[frozenset[str]]) -> bool:
    """Return true if a claim has a reason or step of which nothing stands in the evidence, beside a part that does.

    Args:
        claim: plain text, English.
        question: the question, or an empty text.
        sentences: all sentences of short evidence, or those nearest to the claim.
        evidence: stems of each piece of all evidence.
    """
    claim = claim[:MAX_TEXT]
    reason = _REASON.search(claim)
    is_sequence = reason is None and bool(_THEN.search(claim))
    if reason is None and not is_sequence:
        return False
    spend(len(claim) + sum(map(len, sentences)))
    known = {word[:KEY] for words in (*evidence, content_words(question)) for word in words}
    if reason is not None:
        rest = f"{claim[: reason.start()]} {claim[reason.end() :]}"
        return (
            _is_strange(reason["reason"], known, MIN_REASON)
            and _is_known(rest, known)
            and not _has_cause(content_words(rest), sentences)
        )
    parts = [part for part in _STEPS.split(claim) if part.strip()]
    return (
        len(parts) > 1
        and any(
            _is_strange(part, known, MIN_STEP) and _is_known(" ".join(parts[:place] + parts[place + 1 :]), known)
            for place, part in enumerate(parts)
        )
        and is_instruction(claim)
    )


def _told(text: str) -> frozenset[str]:
    return content_words(text) - _ORDER


def _is_strange(text: str, known: set[str], least: int) -> bool:
    words = _told(text)
    return len(words) >= least and not any(word[:KEY] in known or word[0].isdigit() for word in words)


def _is_known(text: str, known: set[str]) -> bool:
    words = _told(text)
    return len(words) > 1 and sum(word[:KEY] in known for word in words) >= KNOWN * len(words)


def _has_cause(matter: frozenset[str], sentences: Sequence[str]) -> bool:
    """Return true if a sentence on a matter, or one beside it, may state a cause."""
    on_matter = [place for place, text in enumerate(sentences) if matter & content_words(text[:MAX_TEXT])]
    near = {place + step for place in on_matter for step in (-1, 0, 1)}
    return not on_matter or any(
        _CAUSE.search(_NO_REASON.sub(" ", text)) for place, text in enumerate(sentences) if place in near
    )
