"""Compare shares in words with stated ones: "a majority of users agreed" over "21 % of users agreed" or "14 of 20"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.facts.numbers.number_words import NUMBER_NAME
from workers.evaluation.facts.units import FRACTIONS, NUMBER_WORDS
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words, kept_for_sentences, key_of

MAX_TEXT = 300
"""Longest claim, question and sentence that are read, code points."""
EXACT = 0.02
"""Difference up to which a share is a fraction: 66 % are two thirds."""
LOOSE = 0.06
"""Least difference from which a share is not a fraction; between both it is left open."""
MAX_OTHERS = 1
"""Most words of the evidence beside the share that the claim may leave out; more may name another group."""
FEW = 0.5
"""Share from which on it is not said of few."""

_NUMBER = rf"(?:\d{{1,9}}(?:,\d{{3}})*|{NUMBER_NAME})"
_SHARE = PrefilteredPattern(
    r"(?:\b(?P<above>(?:well |far |slightly )?(?:more than|over|above)|at least)\s|\b(?P<below>(?:less|fewer) than|under|below|at most)\s"
    r"|\b(?P<about>about|around|roughly|approximately|nearly|almost|some|just (?:over|under))\s)?"
    rf"(?:(?P<percent>(?<![\d.,])\d{{1,3}}(?:\.\d{{1,3}})?)(?:\s?%|\s(?:percent|per cent)\b)"
    rf"|\b(?P<part>{_NUMBER})\s(?:out\s)?of\s(?:the\s|all\s|its\s|our\s|their\s)?(?P<all>{_NUMBER})\b(?!\s?(?:%|percent))"
    r"|\b(?P<times>an?|one|two|three|four)[\s-](?P<fraction>thirds?|quarters?|fifths?|tenths?)\sof\b|\b(?P<half>half)\s(?:of\s)?(?=the\b|all\b|its\b|our\b|their\b|of\b|[^\W\d_]{3,}s\b)"
    r"|\b(?P<most>(?<!at )(?<!the )most\s(?!likely|recent|important|common\b)|(?:the|an?)\s(?:\w+\s)?majority\b)"
    r"|\b(?P<minority>(?:the|an?)\s(?:\w+\s)?minority\b)|\b(?P<few>(?<!a )(?<!the )few\s(?!of\b)|only\sa\sfew\b"
    r"|an?\s(?:(?:very\s)?(?:small|tiny|minor)\s(?:share|part|proportion|fraction|number|percentage)|handful)\b)"
    rf"|\bone\sin\s(?:every\s)?(?P<one_in>{_NUMBER})\b(?=\s[a-z])"
    r")(?:\s?of\b)?(?:\s?\b(?:the|all|its|our|their|these)\b)?",
    re.IGNORECASE,
)
_PIECE = re.compile(r"[;,:]\s|\s(?:and|but|while|whereas)\s", re.IGNORECASE)
_RELATIVE = re.compile(r"\b(?:who|whom|whose|which|that|if|unless|when)\b", re.IGNORECASE)
_NOUN = re.compile(r"\s*(?P<noun>[^\W\d_]{3,})")
_GROUP = re.compile(r"\W*of\s(?:the|all|its|our|their|these)\s(?P<noun>[^\W\d_]{3,})", re.IGNORECASE)
"""The group at the beginning of "Of the patients who slept badly, a small share …"."""
_FIGURE = re.compile(r"\d")
_ASKING = content_words("how many much what share part percentage proportion did do does survey")


@dataclass(frozen=True, slots=True)
class _Stated:
    """Hold a share of things.

    Attributes:
        least: least share, 0..1.
        most: largest share, 0..1.
        words: stems of what is said of the share.
        in_words: whether it is stated without figures.
    """

    least: float
    most: float
    words: frozenset[str]
    in_words: bool


def is_share_right(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return whether the evidence states the share that a claim has in words.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` unless the claim has one share in words, and the evidence a share of the same things.
    """
    own = _read(claim)
    if len(own) != 1 or not own[0].in_words:
        return None
    (share,) = own
    words = share.words or content_words(question[:MAX_TEXT]) - _ASKING
    answers = {
        answer
        for sentence in sentences
        for stated in _read(sentence)
        if words and words <= stated.words and len(stated.words - words) <= MAX_OTHERS
        for answer in (_agrees(share, stated),)
    }
    return True if True in answers else False if answers == {False} else None


def _agrees(claimed: _Stated, stated: _Stated) -> bool | None:
    """Return whether a stated share is a claimed one; ``None`` between both limits of a fraction."""
    exact, loose = (EXACT, LOOSE) if _is_point(claimed) else (0.0, 0.0)
    if stated.least >= claimed.least - exact and stated.most <= claimed.most + exact:
        return True
    return False if stated.least > claimed.most + loose or stated.most < claimed.least - loose else None


def _is_point(share: _Stated) -> bool:
    return share.least == share.most


@kept_for_sentences
def _read(text: str) -> tuple[_Stated, ...]:
    """Return the shares of a text, those without a noun with that of the share before."""
    found: list[_Stated] = []
    noun: frozenset[str] = frozenset()
    for piece in _PIECE.split(text[:MAX_TEXT]):
        if group := _GROUP.match(piece):
            noun = content_words(group["noun"])
        matches = list(_SHARE.finditer(piece))
        if len(matches) != 1 or _RELATIVE.search(piece):
            continue
        (match,) = matches
        if (ends := _ends(match)) is None:
            continue
        if DENIED.search(piece):
            ends = 1.0 - ends[1], 1.0 - ends[0]
        rest = f"{piece[: match.start()]} {piece[match.end() :]}"
        words = frozenset(word for word in content_words(rest) if not _FIGURE.search(word))
        if match[0].endswith(("of", "the", "all", "its", "our", "their", "these")) or match["all"]:
            named = _NOUN.match(piece, match.end())
            noun = content_words(named["noun"]) if named else noun
        else:
            words |= noun
        found.append(_Stated(*ends, words, not _FIGURE.search(match[0])))
    return tuple(found)


def _ends(match: re.Match[str]) -> tuple[float, float] | None:
    """Return the least and the largest share that a match tells; ``None`` for one of more than all."""
    if match["most"]:
        return 0.5 + 1e-6, 1.0
    if match["minority"]:
        return 0.0, 0.5 - 1e-6
    if match["few"]:
        return 0.0, FEW - 1e-6
    if match["one_in"]:
        share = 1 / max(1.0, _number(match["one_in"]))
    elif match["percent"]:
        share = float(match["percent"]) / 100
    elif match["part"]:
        part, whole = _number(match["part"]), _number(match["all"])
        share = part / whole if whole else 2.0
    else:
        share = _number(match["times"] or "one") * (0.5 if match["half"] else FRACTIONS[key_of(match["fraction"])])
    if share > 1.0:
        return None
    if match["above"]:
        return share + (0.0 if key_of(match["above"]).startswith("at ") else 1e-6), 1.0
    if match["below"]:
        return 0.0, share - (0.0 if key_of(match["below"]).startswith("at ") else 1e-6)
    return (share - LOOSE, share + LOOSE) if match["about"] else (share, share)


def _number(text: str) -> float:
    return float(text.replace(",", "")) if text[0].isdigit() else float(NUMBER_WORDS.get(key_of(text), 1.0))
