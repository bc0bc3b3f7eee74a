"""Compare claims on all places and times with statements on some: "everywhere" over "in the lobby"."""

import re
from collections.abc import Sequence

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.facts.verb_forms import verb_stem
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import STOP_WORDS, word_set

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""

_PLACES = (
    r"everywhere|anywhere|all over (?:the )?\w+|throughout (?:the )?\w+|across (?:all|the (?:whole|entire)) \w+"
    r"|(?:in|on|at|for|under|to|from|of|within) (?:all|every|any|each|the (?:whole|entire)) (?:of )?(?:the )?(?:\w+)"
)
_TIMES = (
    r"always|at all times|at any time|any ?time|(?:around|round) the clock|24/7|day and night|(?:all )?(?:the )?year[- ]round"
    r"|all (?:day|year)(?: long)?"
)
_DAYS = r"every day|daily|seven days a week"
_EVERYWHERE = PrefilteredPattern(
    rf"\b(?:(?P<times>{_TIMES})|(?P<days>{_DAYS})|(?P<places>{_PLACES}))\b",
    re.IGNORECASE,
)
_DAY = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekdays?|weekends?|working days?|holidays?|spring|summer|autumn|winter|seasons?"
    r"|january|february|march|april|may|june|july|august|september|october|november|december|months?)"
)
_OF_DAYS = re.compile(rf"\b{_DAY}\b", re.IGNORECASE)
"""Words of a limit to some days or months."""
_OF_TIMES = re.compile(
    rf"^(?:until|before|after|during|since|as of)\b|\b{_DAY}\b|\d\s?(?:am|pm|a\.m|p\.m|h\b|o['’]clock|hours?|days?|weeks?|years?|minutes?)|\d[:.]\d\d"
    r"|\b(?:nights?|mornings?|afternoons?|evenings?|noon|midnight|daytime)\b",
    re.IGNORECASE,
)
"""Words of a limit to some time."""
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
    r"|on (?:request|demand|foot|time|average)|under (?:the )?(?:name|law)|above all)\b",
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
    is_of_extent = _OF_TIMES if widened["times"] else _OF_DAYS if widened["days"] else None
    extent = _words(widened[0])
    return False if all(_is_limited(text, rest, extent, is_of_extent) for text in near) else None


def _is_limited(
    sentence: str, rest: frozenset[str], extent: frozenset[str], is_of_extent: re.Pattern[str] | None
) -> bool:
    """Return true if a sentence sets a limit that the claim does not have.

    Args:
        sentence: a sentence of the evidence.
        rest: other words of the claim.
        extent: words of all places or times: those of "in the building" are no limit of "throughout the building".
        is_of_extent: finds the words of a limit of time; ``None`` for any place or case.
    """
    text = _AS_IT_IS.sub(" ", sentence)
    for match in _LIMIT.finditer(text):
        where = _words(match["where"])
        if where <= rest:
            continue
        if is_of_extent is not None:
            if is_of_extent.search(match[0]):
                return True
        elif not match["where"][0].isdigit() and not _begins_with(match["where"], extent):
            return True
    return False


def _begins_with(where: str, extent: frozenset[str]) -> bool:
    """Return true if the first content word of a place is one of these."""
    first = next((word for word in _WORD.findall(where.lower()) if word not in STOP_WORDS), "")
    return verb_stem(first) in extent


def _words(text: str) -> frozenset[str]:
    return frozenset(verb_stem(word) for word in _WORD.findall(text.lower()) if word not in STOP_WORDS)
