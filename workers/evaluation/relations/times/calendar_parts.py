"""Compare months and seasons that are named without a day: "paid with the April salary" is not "with the June salary".

Dates are compared as dates; a name of a month alone is none.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from workers.evaluation.contradictions.antonyms import POLES
from workers.evaluation.contradictions.languages.opposite_words import OPPOSITES
from workers.evaluation.facts.dates import read_dates
from workers.evaluation.facts.units import MONTHS
from workers.evaluation.text.languages.calendar_names import MONTHS as ENGLISH_MONTHS
from workers.evaluation.text.languages.local_words import LOCAL_LANGUAGES, content_words
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import KEPT_TEXTS, key_of

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""
SHARED = 0.7
"""Share of the claim's other words that a sentence on its matter has."""
NEAR = 0.5
"""The same for a sentence whose month the claim may mean."""
YEAR = 12

_NAMES = "|".join(sorted(MONTHS, key=len, reverse=True))
_MONTH = PrefilteredPattern(rf"\b(?:{_NAMES})\b", re.IGNORECASE)
_GERMAN = {name: number for name, number in MONTHS.items() if len(name) > 3 or name == "mai"}
_COMPOUND = PrefilteredPattern(
    rf"\b({'|'.join(_GERMAN)})(?:gehalts?|lohns?|rechnung|abrechnung|ausgabe|miete|beitrag|rate|heft|sitzung|treffen|termin|zahlung|woche|wochen)\b",
    re.IGNORECASE,
)
_RANGE = PrefilteredPattern(
    rf"\b({_NAMES})\s?(?:–|-|to|through|till|until|bis(?:\szum)?|à|au|a|al|tot)\s?(?:end of |late |ende |fin )?({_NAMES})\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    r"\b(?:months?|weeks?|later|next|following|previous|preceding|quarter\w*|monate?n?|wochen?|später|folgenden?|mois|semaines?|suivante?|mes(?:es)?|semanas?|siguiente)\b",
    re.IGNORECASE,
)
"""Words for a time that lies a while before or after another."""
_LIMIT = re.compile(
    rf"\b(?:until|till|before|after|since|from|by|through|between|except|bis|vor|nach|seit|ab|von|zwischen|außer|avant|après|depuis|dès|jusqu['’]\w+|entre|sauf|hasta|desde|antes|después|salvo)\b[^.;]{{0,25}}?\b(?:{_NAMES}|spring|summer|autumn|fall|winter)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|no|never|cannot|\w+n['’]t|nicht|kein\w*|nie|pas|jamais|nunca|non|não|niet|geen|except|außer|sauf|salvo)\b",
    re.IGNORECASE,
)
_SEASONS = (
    "spring frühling frühjahr printemps primavera lente voorjaar",
    "summer sommer été verano estate verão zomer",
    "autumn fall herbst automne otoño autunno outono herfst",
    "winter hiver invierno inverno",
)
_SEASON_OF = {name: number for number, names in enumerate(_SEASONS) for name in names.split()}
_SEASON = PrefilteredPattern(
    rf"\b(?:in|during|every|each|im|en|au|in|no|na|inverno|de|del|di)\s(?:the\s|de\s|el\s|la\s|l['’]|early\s|late\s)?(?P<name>{'|'.join(_SEASON_OF)})\b",
    re.IGNORECASE,
)


def is_month_right(claim: str, sentences: Sequence[str], language: str) -> bool | None:
    """Return false if a claim names a month or season and the evidence has another for the same matter.

    Args:
        claim: the claim.
        sentences: the evidence.
        language: language of the claim, ISO 639-1.

    Returns:
        ``None`` if the claim names none, or the evidence none for it.
    """
    claim = claim[:MAX_TEXT]
    stated = [(read, own) for read in (_months, _seasons) if (own := read(claim, language))]
    if not stated or _DENIED.search(claim) or _RELATIVE.search(claim) or _LIMIT.search(claim):
        return None
    for read, own in stated:
        if read is _months and not _bare_months(claim, language):
            continue
        words = _words(claim, language)
        near = [
            sentence[:MAX_TEXT]
            for sentence in sentences
            if words and len(words & _words(sentence, language)) >= NEAR * len(words)
        ]
        if any(_DENIED.search(text) or _RELATIVE.search(text) or _LIMIT.search(text) for text in near):
            continue
        told = frozenset[int]().union(*(read(text, language) for text in near))
        closest = [text for text in near if len(words & _words(text, language)) >= max(1, SHARED * len(words))]
        if any(read(text, language) and not _is_turned(claim, text) for text in closest) and not own <= told:
            return False
    return None


def _months(text: str, language: str) -> frozenset[int]:
    found = {MONTHS[key_of(name)] for name in _names(text, language)}
    for match in _RANGE.finditer(text):
        first, last = (MONTHS[key_of(name)] for name in match.groups())
        found.update((first + step - 1) % YEAR + 1 for step in range((last - first) % YEAR + 1))
    dates, _ = read_dates(text)
    return frozenset(found | {date.month for date in dates if date.month})


def _bare_months(text: str, language: str) -> frozenset[int]:
    """Return the months that a text names without a day or year, which make no date."""
    dates, _ = read_dates(text)
    return _months(text, language) - {date.month for date in dates if date.month}


def _names(text: str, language: str) -> Iterator[str]:
    yield from (match[1] for match in _COMPOUND.finditer(text))
    for match in _MONTH.finditer(text):
        name = match[0]
        if language in LOCAL_LANGUAGES:
            # The names of these languages are written as English ones.
            if name.lower() in ENGLISH_MONTHS:
                yield name
        elif name[0].isupper() and (match.start() or name.lower() not in ("may", "march", "mar", "mai", "august")):
            yield name


def _seasons(text: str, _: str) -> frozenset[int]:
    return frozenset(_SEASON_OF[key_of(match["name"])] for match in _SEASON.finditer(text))


@lru_cache(maxsize=KEPT_TEXTS)
def _words(text: str, language: str) -> frozenset[str]:
    return content_words(_SEASON.sub(" ", _COMPOUND.sub(_rest, _MONTH.sub(" ", text))), language)


def _rest(match: re.Match[str]) -> str:
    return match[0][len(match[1]) :]


def _is_turned(one: str, two: str) -> bool:
    """Return true if two texts have opposite words: closed in winter, and open in summer."""
    rows = [
        {(row, side) for word in re.findall(r"[^\W_]+", text.lower()) for row, side in POLES.get(word, ())}
        for text in (one, two)
    ]
    return any((row, -side) in rows[1] for row, side in rows[0]) or any(
        (first.search(one) and second.search(two)) or (second.search(one) and first.search(two))
        for first, second in OPPOSITES
    )
