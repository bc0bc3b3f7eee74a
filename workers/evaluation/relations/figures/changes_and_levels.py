"""Compare whether a figure is a change or a level: "rose to 5 %" over "rose by 5 % to 840 units"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from workers.evaluation.budget import spend
from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.facts.calculation.arithmetic import same_dimension
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.units import FRACTIONS, NUMBER_WORDS, SCALES, UNITS
from workers.evaluation.text.languages.local_words import content_words
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import KEPT_TEXTS, stem

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""
MAX_FIGURE = 45
"""Longest figure with its unit behind a preposition, code points."""
SHARED = 0.5
"""Share of the claim's other words that the evidence of its figure must have."""
CLOSE = 0.02
"""Relative difference up to which a calculated change is the stated one."""

_Role = Literal["change", "start", "end"]

_ENGLISH = (
    r"r[io]s(?:e|es|en|ing)|f[ae]ll(?:s|en|ing)?|gr[eo]w(?:s|n|th|ing)?|drop(?:s|ped|ping)?|climb(?:s|ed|ing)?|jump(?:s|ed|ing)?"
    r"|(?:in|de)creas(?:e[sd]?|ing)|declin(?:e[sd]?|ing)|reduc(?:e[sd]?|ing|tion)|rais(?:e[sd]?|ing)|lower(?:s|ed|ing)?|cuts?|cutting"
    r"|shr[aiu]nk(?:s|ing)?|slump(?:s|ed)?|surg(?:e[sd]?|ing)|soar(?:s|ed)?|plung(?:e[sd]?|ing)|slip(?:s|ped)?|edged|eas(?:ed|es)|gain(?:s|ed|ing)?"
    r"|lost|los(?:e|es|ing)|extend(?:s|ed|ing)?|extension|lengthen(?:s|ed)?|shorten(?:s|ed|ing)?|expand(?:s|ed|ing)?|widen(?:s|ed)?|narrow(?:s|ed)"
    r"|(?:go|goes|going|gone|went)\s(?:up|down)|(?:is|are|was|were)\s(?:up|down)|,\s(?:up|down)|dip(?:s|ped)?|tumbl(?:ed|es)|swell(?:s|ed)?|swollen"
)
_GERMAN = (
    r"st(?:eig(?:t|en|e|erte?n?)|ieg(?:en)?)|gestiegen|w(?:ächst|achsen|uchs(?:en)?)|gewachsen|s(?:inkt|inken|ank(?:en)?)|gesunken|f(?:ällt|allen|iel(?:en)?)|gefallen"
    r"|erhöh(?:t|te|ten|en|ung)|gesenkt|senk(?:t|te|ten|en)|gekürzt|kürz(?:t|te|ten|en)|verringer(?:t|te|ten|n)|reduzier(?:t|te|ten|en)|anheb(?:t|en)|angehoben"
    r"|zugenommen|abgenommen|kletter(?:t|te|ten|n)|Anstieg|Rückgang|Zuwachs"
)
_FRENCH = (
    r"augment(?:e|ent|é|ée|és|ées|er|ait|ation)|baiss(?:e|ent|é|ée|és|ées|er)|diminu(?:e|ent|é|ée|és|ées|er|tion)|progress(?:e|ent|é|er|ion)|recul(?:e|ent|é|er)?"
    r"|chut(?:e|ent|é|er)|grimp(?:e|ent|é|er)|rédui(?:t|te|ts|tes|re)|hausse"
)
_SPANISH = (
    r"sub(?:e|en|ió|ieron|ido|ir)|aument(?:a|an|ó|aron|ado|ar|o)|baj(?:a|an|ó|aron|ado|ar)|ca(?:e|en|yó|yeron|ído|er|ída)|crec(?:e|en|ió|ieron|ido|er|imiento)"
    r"|redu(?:ce|cen|jo|jeron|cido|cir)|disminuy(?:e|en|ó|eron)|disminuido|increment(?:ó|aron|ado|o)"
)
_MARKS: dict[str, tuple[tuple[_Role, str], ...]] = {
    "en": (
        ("change", r"by(?:\sup\sto)?|(?<=rise\s)of|(?<=fall\s)of|(?<=drop\s)of|(?<=gain\s)of|(?<=loss\s)of|(?<=cut\s)of|(?<=crease\s)of|(?<=growth\s)of|(?<=decline\s)of|(?<=reduction\s)of"),
        ("start", r"from"),
        ("end", r"(?<!up\s)(?<!down\s)to|(?<=[gw]o\sup\s)to|(?<=went\sup\s)to|(?<=gone\sup\s)to|(?<=down\s)to"),
    ),
    "de": (("change", r"um"), ("start", r"von"), ("end", r"auf")),
    "fr": (("end", r"à|pour\satteindre|jusqu['’]à"), ("change", r"de")),
    "es": (("end", r"a|hasta"), ("change", r"en(?:\sun)?|un"), ("start", r"de|desde")),
}  # fmt: skip
_CHANGES = {"en": _ENGLISH, "de": _GERMAN, "fr": _FRENCH, "es": _SPANISH}
_REACHED = r"reach(?:es|ed)?|clos(?:es|ed)\sat|stands?\sat|stood\sat|ended\sat|atteint|erreich(?:t|te|ten)"
"""Verbs whose figure is a level."""
_LEVEL = PrefilteredPattern(rf"\b(?:{_REACHED})\b", re.IGNORECASE)
_HEDGE = (
    r"(?:(?:about|around|some|nearly|almost|roughly|just|over|more|less|than|under|exactly|only|an?|another|further|further|as|much|at|least|most|approximately|the|rund|etwa|knapp|fast"
    r"|ein(?:en?|em)?|environ|près|presque|une?|casi|unos|cerca)\s){0,4}"
)
_NUMBER = rf"(?:[$€£]\s?)?(?:\d|\b(?:{'|'.join(sorted((*NUMBER_WORDS, *FRACTIONS), key=len, reverse=True))})\b)"
_FIGURE = rf"\s(?P<figure>{_HEDGE}{_NUMBER}[^;()]{{0,{MAX_FIGURE}}})"
_STOP = re.compile(
    r"[,:]\s|\.\s|\.$|\s(?:to|from|by|in|on|at|for|since|after|before|and|but|between|during|with|over|as|while|when|because|per|every|auf|um|von|im|seit|nach|pro|und|à|pour|en|depuis|par"
    r"|et|a|hasta|desde|por|y)\s",
    re.IGNORECASE,
)
_ROLES = {
    language: re.compile(
        "|".join(
            (
                *(rf"\b(?P<{role}>{mark}){_FIGURE.replace('figure', f'{role}_figure')}" for role, mark in marks),
                rf"\b(?P<reached>{_REACHED}){_FIGURE.replace('figure', 'reached_figure')}",
            )
        ),
        re.IGNORECASE,
    )
    for language, marks in _MARKS.items()
}
_CHANGED = {
    language: PrefilteredPattern(rf"(?:\b|(?=,))(?:{words})\b", re.IGNORECASE) for language, words in _CHANGES.items()
}
_BARE = {
    language: re.compile(rf"(?:\b|(?=,))(?:{words}){_FIGURE}", re.IGNORECASE) for language, words in _CHANGES.items()
}
"""A figure right behind the verb is a change: "rose 5 %"."""
_TO_FRENCH = re.compile(r"\sà\s", re.IGNORECASE)
_SCORE = re.compile(r"\d\s(?:to|or|bis|à|a)\s\d|\d\s?[–-]\s?\d")
"""A range or the score of a game."""
_PIECE = re.compile(r"[;.]\s")
_OPEN = re.compile(r"\b(?:if|whether|would|could|might|may|should|want\w*|between)\b", re.IGNORECASE)
_OF_FIGURES = frozenset(map(stem, (*UNITS, *SCALES, *NUMBER_WORDS, *FRACTIONS)))


@dataclass(frozen=True, slots=True)
class _Figure:
    """Hold a figure and whether a text gives it as a change, or as the level before or after one."""

    role: _Role
    value: Quantity


def is_change_no_level(claim: str, question: str, sentences: Sequence[str], language: str) -> bool | None:
    """Return false if a figure of a claim is a change, and in the evidence a level before or after one, or the reverse.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence, those of one source in order.
        language: language of the claim, ISO 639-1.

    Returns:
        ``None`` unless the claim gives the figure of a change, and the evidence has it in another place of one.
    """
    claim = claim[:MAX_TEXT]
    if language not in _ROLES or DENIED.search(claim) or _OPEN.search(claim) or not (own := _read(claim, language)):
        return None
    words = _topic(claim, language)
    asked = content_words(question[:MAX_TEXT], language)
    known, near = list[_Figure](), list[_Figure]()
    for before, sentence in pairwise(("", *sentences)):
        found = _read(sentence[:MAX_TEXT], language)
        spend(len(found) * len(own))
        known += found
        beside = content_words(f"{before[:MAX_TEXT]} {sentence[:MAX_TEXT]}", language)
        if not words or len(words & beside) >= SHARED * len(words) or (asked & beside and len(words - beside) <= 1):
            near += found
    wrong = any(
        any(_are_equal(figure.value, other.value) for other in near if other.role != figure.role)
        and not any(_are_equal(figure.value, other.value) for other in known if other.role == figure.role)
        and not (figure.role == "change" and _is_calculated(figure.value, known))
        for figure in own
    )
    return False if wrong else None


def _topic(text: str, language: str) -> frozenset[str]:
    text = _CHANGED[language].sub(" ", text)
    return frozenset(
        word for word in content_words(text, language) if word not in _OF_FIGURES and not word[0].isdigit()
    )


@lru_cache(maxsize=KEPT_TEXTS)
def _read(text: str, language: str) -> tuple[_Figure, ...]:
    """Return the figures of changes of a text, each with its role."""
    return tuple(figure for piece in _PIECE.split(text) for figure in _read_piece(piece, language))


def _read_piece(piece: str, language: str) -> Iterator[_Figure]:
    changed = _CHANGED[language].search(piece)
    if changed is None and not _LEVEL.search(piece):
        return
    place = 0
    while (match := _ROLES[language].search(piece, place)) and match.lastgroup:
        place, name = match.start(match.lastgroup), match.lastgroup.removesuffix("_figure")
        is_of_change = name == "reached" or (changed is not None and match.start() >= changed.start())
        if is_of_change and (value := _figure(text := match[match.lastgroup])):
            role: _Role = "change" if name == "change" else "start" if name == "start" else "end"
            # "De 5 à 9" has the level before, "de 6 %" the change.
            is_range = language == "fr" and not value.is_unit and _TO_FRENCH.search(text)
            yield _Figure("start" if is_range else role, value)
    for match in _BARE[language].finditer(piece):
        if not _SCORE.search(match["figure"]) and (value := _figure(match["figure"])):
            yield _Figure("change", value)


def _figure(text: str) -> Quantity | None:
    """Return the figure with which a text begins, if that is the only one up to the next preposition."""
    figures = read_details(_STOP.split(f"{text} ", maxsplit=1)[0].strip()).quantities
    return figures[0] if len(figures) == 1 and figures[0].dimension != "ordinal" else None


def _are_equal(one: Quantity, two: Quantity) -> bool:
    """Return true for equal figures of one unit; the second end of a change may have it alone: "from 30 to 36 dollars"."""
    if one.is_unit and two.is_unit:
        return same_dimension(one.dimension, two.dimension) and bool(set(one.values) & set(two.values))
    return one.face == two.face


def _is_calculated(change: Quantity, known: Sequence[_Figure]) -> bool:
    """Return true if a change, also one in percent, is that between two levels of the evidence."""
    starts, ends = ([each.value for each in known if each.role == role] for role in ("start", "end"))
    spend(len(starts) * len(ends))
    for start in starts:
        for end in ends:
            difference = abs(end.face - start.face)
            share = 100 * difference / abs(start.face) if start.face else 0.0
            if any(abs(change.face - each) <= CLOSE * max(each, 1e-9) for each in (difference, share)):
                return True
    return False
