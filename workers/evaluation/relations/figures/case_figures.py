"""Hold a figure of a case against the one that the evidence gives to it: "with liver damage at most 2000 mg a day".

The general figure and that of the case stand in two sentences, of which the second often names its subject by a pronoun or
not at all. A claim that names the case and has the general figure has all of its words in the evidence.
"""

import re
from collections.abc import Sequence

from workers.evaluation.facts.text_details import read_details
from workers.evaluation.text.words import content_words, kept_for_sentences, word_set

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""

_CASE = re.compile(
    r"^\W*(?:(?:in (?:the )?(?:case|event) of|im fall[e]? (?:von|einer|eines)|en cas (?:de |d['’])|en caso de|in caso di"
    r"|with|(?P<none>without|ohne|sans|sin|senza)|for|in|on|during|under|at|bei|für|mit|während|unter|an|am|im|chez|pour|avec|con|para|per)\s)"
    r"(?P<case>(?:[^\W\d_][\w'’-]*,?\s){1,6}?)"
    r"(?=(?:is|are|was|it|they|you|the|a|an|at most|up to|only|no|ist|sind|beträgt|betragen|gilt|gelten|dürfen|darf|höchstens|maximal|nur|bis|es|sie|il|elle|on|la|le|les|est|el|los|se|es|è|si)\b|\d|[$€£])",
    re.IGNORECASE,
)
"""A case at the start of a sentence: "With liver damage", "Bei Leberschäden"."""
_JOINT = re.compile(
    r"[,;]\s+(?:(?:and|but|or|und|aber|et|mais|y|pero|e|ma)\s+)?|\s(?:and|but|while|whereas|und|aber|et|mais|y|pero)\s",
    re.IGNORECASE,
)
_WITHOUT = "without"
"""Word of a case that is none: "without load"."""
_ARTICLES = word_set("the a an this that der die das den dem le la les el los il")


def is_case_figure_right(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim gives a case a figure that the evidence has elsewhere and not for the case.

    Args:
        claim: plain text of the claim.
        sentences: the evidence.

    Returns:
        ``None`` unless the claim has one figure, and a sentence that begins with a case of the claim has one of the same unit.
    """
    claim = claim[:MAX_TEXT]
    figures = _figures(claim)
    if len(figures) != 1:
        return None
    ((value, unit),) = figures
    named = _case(claim)
    own = content_words(claim) | named
    texts = [part for sentence in sentences for part in _cases_of(sentence[:MAX_TEXT])]
    if not any(map(_case, texts)):
        return None
    read = [
        (content_words(text), _case(text), {number for number, other in _figures(text) if other == unit})
        for text in texts
    ]
    cases = {case for _, case, _ in read if case and case <= own} | ({named} if named else set())
    if _WITHOUT in named:
        cases = {case for case in cases if _WITHOUT in case}  # "with load" is another case
    of_case, elsewhere = set[float](), set[float]()
    for place, (words, case, theirs) in enumerate(read):
        if not theirs:
            continue
        if case in cases:
            told = words - case - _figure_words(texts[place])
            if len(theirs) > 1 and case <= own:
                return None  # "In spring 14 hours, 9 of them with staff": only one of them may be that of the claim.
            if place == 0 or told <= own or told & (own - case):
                of_case |= theirs
        elif any(each <= words for each in cases):
            return None  # The case stands within a sentence, whose figure may be another's.
        else:
            elsewhere |= theirs
    if not of_case:
        return None
    if value in of_case:
        return True
    return False if value in elsewhere else None


@kept_for_sentences
def _cases_of(text: str) -> tuple[str, ...]:
    """Cut a sentence before each further case: "in spring the pool is open 14 hours, in winter 9"."""
    parts = _JOINT.split(text)
    found = parts[:1]
    for part in parts[1:]:
        if _CASE.match(part):
            found.append(part)
        else:
            found[-1] = f"{found[-1]}, {part}"
    return tuple(found)


@kept_for_sentences
def _case(text: str) -> frozenset[str]:
    """Return the words of the case with which a text begins; empty if it begins with none."""
    match = _CASE.match(text)
    if match is None:
        return frozenset()
    return content_words(match["case"]) - _ARTICLES | (frozenset((_WITHOUT,)) if match["none"] else frozenset())


def _figure_words(text: str) -> frozenset[str]:
    """Return the words of the figures of a text, with their units."""
    return content_words(" ".join(each.written for each in read_details(text).quantities))


@kept_for_sentences
def _figures(text: str) -> frozenset[tuple[float, str]]:
    """Return single figures by their value in base units and the dimension of their unit."""
    return frozenset(
        (each.values[0], each.dimension)
        for each in read_details(text).quantities
        if each.is_unit and len(each.values) == 1
    )
