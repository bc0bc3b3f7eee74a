"""Compare claims on all places and times with statements on some: "everywhere" over "in the lobby"."""

import re
from collections.abc import Sequence

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.facts.verb_forms import verb_stem
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import STOP_WORDS, word_set

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""

_EVERYWHERE = PrefilteredPattern(
    r"\b(?:everywhere|anywhere|all over (?:the )?\w+|throughout (?:the )?\w+|across (?:all|the (?:whole|entire)) \w+"
    r"|(?:in|on|at|for|under|to|from|of|within) (?:all|every|any|each|the (?:whole|entire)) (?:of )?(?:the )?(?:\w+)"
    r"|always|at all times|at any time|any ?time|(?:around|round) the clock|24/7|day and night|(?:all )?(?:the )?year[- ]round|all (?:day|year)(?: long)?"
    r"|every day|daily|seven days a week)\b",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\b(?:all|every\w*|each|any\w*|always|both|whole|entire|throughout|daily|24/7|round the clock|year-round|no matter|regardless)\b",
    re.IGNORECASE,
)
"""Words of a sentence that is limited to nothing."""
_LIMIT = re.compile(
    r"\b(?:in|on|at|inside|behind|within|between|after|before|until|from|during|near|along|above|below|under|as of|since)\s(?P<where>(?:the |an? )?[^,;.]{2,60})",
    re.IGNORECASE,
)
_AS_IT_IS = re.compile(
    r"\b(?:at (?:least|most|first|last|once|no)|in (?:addition|general|total|full|particular|order|use|place|advance|case|english|writing|cash|person|time)"
    r"|on (?:request|demand|foot|time|average)|from \d[\d.,]*|under (?:the )?(?:name|law)|above all)\b",
    re.IGNORECASE,
)
"""Phrases that are no place and no time."""
_WORD = re.compile(r"[^\W_]+")
_UNTOLD = frozenset(
    map(verb_stem, word_set("available offer offered possible permitted allowed kept keep given there reachable"))
)


def is_place_kept(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim says of all places or times what the evidence says of some, and of no others.

    One sentence has all other words of the claim and a place or time of its own; no sentence with these words speaks of
    all.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if the claim does not speak of all places or times, or if the evidence sets no limit.
    """
    claim = claim[:MAX_TEXT]
    widened = _EVERYWHERE.search(claim)
    if not widened or DENIED.search(claim):
        return None
    rest = _words(f"{claim[: widened.start()]} {claim[widened.end() :]}") - _UNTOLD
    if not rest:
        rest = _words(question) - _UNTOLD
    near = [text[:MAX_TEXT] for text in sentences if rest and rest <= _words(text)]
    if not near or any(_ALL.search(text) or _EVERYWHERE.search(text) or DENIED.search(text) for text in near):
        return None
    return False if all(_is_limited(text, rest) for text in near) else None


def _is_limited(sentence: str, rest: frozenset[str]) -> bool:
    """Return true if a sentence names a place or time that the claim does not name."""
    text = _AS_IT_IS.sub(" ", sentence)
    return any(not _words(match["where"]) <= rest for match in _LIMIT.finditer(text) if _words(match["where"]))


def _words(text: str) -> frozenset[str]:
    return frozenset(verb_stem(word) for word in _WORD.findall(text.lower()) if word not in STOP_WORDS)
