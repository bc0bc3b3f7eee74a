"""Compare directions: "from Kourna to Tessaly", votes for and against, fewer and more of what rose or fell."""

import re
from collections.abc import Sequence

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.contradictions.values.dated_values import direction_of
from workers.evaluation.facts.verb_forms import verb_stem
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words, key_of

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""

_PLACE = r"(?:the\s)?(?P<{}>[A-Z][^\W\d_]+)"
_ROUTE = PrefilteredPattern(
    rf"\b[Ff]rom\s{_PLACE.format('start')}\b[^.;]{{0,60}}?\s(?:to|into|towards)\s{_PLACE.format('end')}\b"
)
_HANDS = (
    r"(?P<verb>pass(?:es|ed)?|hand(?:s|ed)?|forward(?:s|ed)?|transfer(?:s|red)?|sen(?:ds?|t)|refer(?:s|red)?|deliver(?:s|ed)?|giv(?:es?|en)|gave"
    r"|report(?:s|ed)?|escalate[sd]?|return(?:s|ed)?|submit(?:s|ted)?|lend?s?|lent|s(?:ells?|old)|pa(?:ys?|id)|present(?:s|ed)?|assign(?:s|ed)?|move[sd]?)"
)
_TRANSFER = PrefilteredPattern(
    rf"(?:(?:after|within|in|on|at|once|when)\s[^,.;:]{{2,30}}?\s(?=the\s))?(?P<giver>[^,.;:]{{3,60}}?)\s(?:then\s|will\s|must\s)?{_HANDS}\s[^,.;:]{{1,50}}?\sto\s(?P<receiver>[^,.;:]{{3,40}}?)(?=[,.;:]|$|\s(?:and|within|after|before|by|when|if|in|on|for|who|which|at)\b)",
    re.IGNORECASE,
)
_RECEIVED = PrefilteredPattern(
    rf"(?=\b{_HANDS}\b[^,.;:]{{0,50}}?\sto\s(?P<receiver>[^,.;:]{{3,40}}?)(?=[,.;:]|$|\s(?:and|within|after|before|by|when|if|in|on|for|who|which|at)\b))",
    re.IGNORECASE,
)
"""An act of giving with its receiver: "is passed on to the network team"."""
_VOTE = PrefilteredPattern(
    r"\b(?:vot(?:e|es|ed|ing)|campaign(?:s|ed|ing)?|argu(?:e|es|ed|ing)|sp(?:eak|eaks|oke|oken)|rul(?:e|es|ed|ing)|decid(?:e|es|ed)|testif(?:y|ies|ied)|appeal(?:s|ed)?)"
    r"\s(?:\w+\s){0,2}?(?:(?P<against>against)|(?P<for>for|in favou?r of))\s(?P<rest>[^.;,]{3,60})",
    re.IGNORECASE,
)
_SHARE = PrefilteredPattern(
    r"\b(?P<degree>fewer|more)\s(?!than\b|of\b|often\b|about\b|information\b)(?P<noun>[^\W\d_]{3,}s|people|children|men|women)\b(?!\sthan\b)",
    re.IGNORECASE,
)
_COUNTED = content_words("fewer more count counted counts came come register registered record recorded")
_PIECE = re.compile(r"[;,]\s|\s(?:while|whereas|but|and)\s", re.IGNORECASE)


def is_direction_kept(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return false if the evidence has the route, vote or change of a claim in the other direction only.

    Args:
        claim: the claim, or the short answer.
        sentences: the evidence.
    """
    claim, sentences = claim[:MAX_TEXT], [sentence[:MAX_TEXT] for sentence in sentences]
    wrong = _is_turned_back(claim, sentences) or _is_other_vote(claim, sentences) or _is_other_change(claim, sentences)
    return False if wrong else None


def is_giver_right(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return false if the one who gives a thing to another in a claim is the one who gets it in the evidence.

    Args:
        claim: the claim, or the short answer.
        sentences: the evidence.

    Returns:
        ``None`` if a sentence gives it as the claim does, or if it has another verb.
    """
    claim, sentences = claim[:MAX_TEXT], [sentence[:MAX_TEXT] for sentence in sentences]
    own = _TRANSFER.search(claim)
    if not own or DENIED.search(claim):
        return None
    giver, receiver, verb = content_words(own["giver"]), content_words(own["receiver"]), verb_stem(own["verb"].lower())
    marks = receiver - giver
    known = [
        (content_words(match["receiver"]), content_words(sentence))
        for sentence in sentences
        for match in _RECEIVED.finditer(sentence)
        if verb_stem(match["verb"].lower()) == verb
    ]
    if not (marks and giver - receiver) or any(marks & got for got, _ in known):
        return None
    return False if any(got == giver and receiver <= words for got, words in known) else None


def _is_turned_back(claim: str, sentences: Sequence[str]) -> bool:
    own = {(match["start"], match["end"]) for match in _ROUTE.finditer(claim)}
    if len(own) != 1 or DENIED.search(claim):
        return False
    known = {(match["start"], match["end"]) for sentence in sentences for match in _ROUTE.finditer(sentence)}
    ((start, end),) = own
    return (end, start) in known and (start, end) not in known


def _is_other_vote(claim: str, sentences: Sequence[str]) -> bool:
    own = _VOTE.search(claim)
    if not own or DENIED.search(claim):
        return False
    rest = content_words(own["rest"])
    sides = {
        bool(match["against"])
        for sentence in sentences
        if not DENIED.search(sentence)
        for match in _VOTE.finditer(sentence)
        if _is_on_one_thing(rest, content_words(match["rest"]))
    }
    return sides == {not own["against"]}


def _is_on_one_thing(one: frozenset[str], two: frozenset[str]) -> bool:
    """Return true if two texts share a word, also in another form: "merger" and "merging"."""
    return any(word[:4] == other[:4] for word in one for other in two)


def _is_other_change(claim: str, sentences: Sequence[str]) -> bool:
    own = list(_SHARE.finditer(claim))
    if len(own) != 1 or DENIED.search(claim):
        return False
    noun = content_words(own[0]["noun"])
    # "Fewer cyclists were hurt" is about something else than the number of cyclists.
    if not content_words(claim) - noun <= content_words(" ".join(sentences)) | _COUNTED:
        return False
    directions = {
        direction_of(piece)
        for sentence in sentences
        for piece in _PIECE.split(sentence)
        if noun and noun <= content_words(piece) and not DENIED.search(piece)
    } - {0}
    return directions == {1 if key_of(own[0]["degree"]) == "fewer" else -1}
