"""Compare what must be done: "Do I have to wear a helmet?" over "Helmets are recommended but not compulsory"."""

import re
from collections.abc import Sequence

from workers.evaluation.clauses.placed_answers import read_parts
from workers.evaluation.clauses.predicates import predicate_stem
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words, stem, word_set

MAX_TEXT = 300
"""Longest statement that is read, code points."""

_DUE = "(?:compulsory|mandatory|obligatory|required|necessary)"
_FREE = PrefilteredPattern(
    rf"(?:\bnot|n['’]t|\bno longer|\bnever)\s(?:\w+\s)?{_DUE}\b|\b(?:optional|voluntary)\b"
    r"|\b(?:do|does|did)(?: not|n['’]t)\s(?:have|need)\sto\b|\bneed(?: not|n['’]t)\b",
    re.IGNORECASE,
)
"""Words for what need not be done."""
_MUST = PrefilteredPattern(
    rf"\b(?:must(?!\snot|n['’]t)|ha(?:ve|s)\sto|needs?\sto|(?:required|obliged)\sto|{_DUE})\b", re.IGNORECASE
)
"""Words for what must be done."""
_NOT_NEEDED = PrefilteredPattern(
    r"(?:\bwithout|\b(?:do|does|did|will|would)(?: not|n['’]t)\s(?:need|require)|\bneeds?\sno|\brequires?\sno)\s"
    r"(?:(?:an?|any|the|your|their|my|further|prior|written|explicit|anyone['’]s|anybody['’]s|your \w+['’]s)\s){0,3}(?P<what>[a-z][\w-]{3,40})\b",
    re.IGNORECASE,
)
"""Something that is not needed: "without approval", "you don't need a prescription"."""
_REFUSED = PrefilteredPattern(
    r"\b(?:not|cannot|never|no|nobody|refus\w+|reject\w+|impossible|denied|forbidden|prohibited|banned)\b|n['’]t\b",
    re.IGNORECASE,
)
_CONDITION = PrefilteredPattern(
    r"\b(?:if|provided|as long as|once|unless|only (?:with|after|upon)|subject to|requires?|must|needs?|required)\b",
    re.IGNORECASE,
)
_EXEMPT = PrefilteredPattern(
    r"\b(?:unless|except\w*|exempt\w*|apart from|other than|excluding|excluded)\b", re.IGNORECASE
)
"""Words that take a case out of what must be done."""
_CASE = PrefilteredPattern(r"\b(?:if|when|where)\b", re.IGNORECASE)
_UNTOLD = frozenset(
    map(
        stem,
        word_set(
            "must need needs required obliged compulsory mandatory obligatory necessary optional voluntary recommended recommend advised"
            " wear use bring carry take have has get show longer really also still always now currently use uses used person people"
        ),
    )
)
"""Words that tell neither who must do something nor what."""


def answer_by_obligation(text: str, sentences: Sequence[str]) -> bool | None:
    """Return whether the evidence demands, or leaves free, what a question or a statement does.

    Args:
        text: the question for yes or no, or the statement.
        sentences: the evidence.

    Returns:
        ``None`` if the text is about no obligation, or the evidence says nothing, or several things, about its matter, or has
        exceptions.
    """
    text = text[:MAX_TEXT]
    says = _demands(text)
    if says is None:
        return None
    matter = _matter(content_words(text))
    if any(
        _is_of_case(part) and matter & _matter(content_words(part)) for each in sentences for part in each.split(";")
    ):
        return None
    found = {
        demanded
        for part in read_parts([each for each in sentences if not each.rstrip().endswith("?")])
        if (demanded := _demands(part.text)) is not None and (own := _matter(part.words)) and own <= matter
    }
    return found.pop() is says if len(found) == 1 else None


def _demands(text: str) -> bool | None:
    return False if _FREE.search(text) else True if _MUST.search(text) else None


def _is_of_case(text: str) -> bool:
    return bool(_EXEMPT.search(text)) or (_demands(text) is not None and bool(_CASE.search(text)))


def _matter(words: frozenset[str]) -> frozenset[str]:
    """Return what stems have in common with those of their nouns: "register" and "registration"."""
    return frozenset(map(predicate_stem, words - _UNTOLD))


def denies_condition(claim: str, topic: str, sentences: Sequence[str]) -> bool:
    """Return true if a claim denies the need of something on which the evidence makes its matter depend.

    "You don't need approval" over "if the line manager has approved this". The sentence with most of the claim's other words decides.

    Args:
        claim: the claim.
        topic: text that names the matter of a claim which does not: the statement before it, or the question.
        sentences: the evidence.
    """
    denied = _NOT_NEEDED.search(claim[:MAX_TEXT])
    if denied is None:
        return False
    what = predicate_stem(denied["what"].lower())
    others = claim[: denied.start()] + claim[denied.end() : MAX_TEXT]
    # "Not possible without a ticket" demands it.
    if _REFUSED.search(others) or any(map(_EXEMPT.search, sentences)):
        return False
    rest = content_words(others) - _UNTOLD
    rest = rest or content_words(topic[:MAX_TEXT]) - _UNTOLD
    best = max(sentences, key=lambda each: len(rest & content_words(each[:MAX_TEXT])), default="")[:MAX_TEXT]
    told = content_words(best)
    # Of "visitors must show a ticket, but children need not" it is open whom the condition binds.
    is_open = _REFUSED.search(best) or _NOT_NEEDED.search(best)
    demanded = what in map(predicate_stem, told) and _CONDITION.search(best) and not is_open
    return bool(demanded) and 2 * len(rest & told) >= max(1, len(rest))
