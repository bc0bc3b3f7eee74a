"""Decide about the signs and letters around a figure, which mean different things in different places."""

import re

from workers.evaluation.facts.units import CURRENCIES, UNITS
from workers.evaluation.text.words import STOP_WORDS, word_set

_FIGURE_BEFORE = re.compile(r"\d\s?(?:[%€$£]|°[CF]?|[^\W\d_]{1,3})?\s*$")
_NUMBER_BEFORE = re.compile(r"\b(?:two|three|four|five|six|seven|eight|nine|ten|\w+teen|\w+ty|hundred|thousand)\s+$")
_SIZED = word_set(
    """
    block packet header key file payload buffer page chunk message frame record cache line object limit memory disk
    entry field hash string response request body row load truck crane lorry trailer capacity
    """
)
"""Things that have a size in bytes or a weight in tonnes: "a 64B packet", "a 5T crane"."""
_DATED_NOUNS = word_set(
    """
    results figures numbers levels sales revenues earnings profits losses costs prices wages budgets targets estimates
    forecasts projections plans emissions exports imports elections olympics games awards championships finals editions
    models versions vintages guidelines rules standards regulations laws reports accounts statements rankings ratings
    dollars terms standings wildfires fires floods protests riots events changes reforms talks negotiations
    """
)
"""Nouns behind a year: "2023 results" are those of the year."""
_COUNTED = re.compile(r"\s(?:new |other |different )?([a-z]{3,}(?<![su])s)\b")
_COUNTED_ALWAYS = re.compile(
    r"\s(?:new |other |different )?(?:employees|workers|staff|students|pupils|visitors|people|persons|children|men|women|adults"
    r"|residents|inhabitants|patients|customers|users|members|participants|guests|passengers|seats|homes|houses|flats"
    r"|tickets|books|pages|copies|units|cars|vehicles|bikes|trees|jobs|rooms|beds|species|words|lines|items|records|rows|files|points|steps"
    r"|calories|Mitarbeiter(?:innen)?|Beschäftigten?|Einwohner|Besucher|Personen|Menschen|Plätze|Stück|Teilnehmer|Kunden"
    r"|personnes|employés|habitants|salariés)\b"
)
_DATING = re.compile(
    r"(?:\b(?:in|since|by|from|until|till|during|after|before|the|its|their|our|your|his|her|this|im|seit|en|depuis)|['’]s?)\s$",
    re.IGNORECASE,
)
"""Words before a year, also where a noun stands behind it: "since 2019 customers pay"."""
_COUNTING = re.compile(
    r"\b(?:has|have|had|with|about|around|some|over|nearly|almost|approximately|roughly|than|least|most|up to|(?:total|workforce|staff|number|capacity|crew|audience|population) of|there (?:are|were)"
    r"|total(?:s|ed|led)?|(?:employ|seat|hold|host|own|contain|includ|hous|sell|attract|serv|accommodat|admit|train|treat|ship|count|produc|deliver"
    r"|receiv|number|exhibit|register|plant|load|stor|collect|sign up|hire|recruit|lose|gain|add|cover|list|fit|store)(?:e?s|e?d|e|ing)?"
    r"|sold|held)\s$"
    r"|\b(?:sales|orders|numbers|members|there) (?:is|are|was|were) $|\b[a-z]{3,}(?:ed|wn|en) by $",
    re.IGNORECASE,
)


def is_sign(before: str) -> bool:
    """Return true unless a figure stands before a dash or "minus": "3 –5 days" is a range, "10 minus 5" a calculation.

    Args:
        before: the text before the dash or word, its last 20 code points at least.
    """
    return not (_FIGURE_BEFORE.search(before) or _NUMBER_BEFORE.search(before))


def is_counted(before: str, behind: str) -> bool:
    """Return true if a number from 1900 to 2099 counts the noun behind it: "has 1950 employees", not "the 2023 results".

    Args:
        before: the text before the number, its last 30 code points at least.
        behind: the text behind it, from the space on.
    """
    if _COUNTED_ALWAYS.match(behind) and not _DATING.search(before):
        return True
    noun = _COUNTED.match(behind)
    return bool(noun and noun[1] not in _DATED_NOUNS and _COUNTING.search(before))


def is_scale(letter: str, figure: str, has_currency: bool, following: str) -> bool:
    """Return true if B or T behind a figure is a billion or a trillion, and not bytes or tonnes.

    It is one behind a currency ("$1.5B", "$2t"), before a currency or a noun that has no size of its own ("4.5B USD",
    "70B parameters"), and behind a fraction of a B, since there is no fraction of a byte.

    Args:
        letter: the letter as written.
        figure: the figure before it as written.
        has_currency: a currency stands before the figure.
        following: the word behind the letter, in lower case.
    """
    if has_currency:
        return True
    if letter.islower():
        return False
    if letter == "B" and ("." in figure or "," in figure):
        return True
    if following in UNITS:
        return UNITS[following][0] in CURRENCIES
    is_noun = len(following) > 2 and following not in STOP_WORDS
    return is_noun and following not in _SIZED and following.removesuffix("s") not in _SIZED
