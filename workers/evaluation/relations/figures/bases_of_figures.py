"""Compare what kind of figure a claim gives: "the measured depth is 40 m" over "the depth is estimated at 40 m"."""

import re
from collections.abc import Sequence
from functools import lru_cache

from workers.evaluation.budget import spend
from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.facts.calculation.arithmetic import same_quantity
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import KEPT_TEXTS, content_words

MAX_TEXT = 300
"""Longest claim, question and sentence that are read, code points."""
SHARED = 0.5
"""Share of the claim's other words that the sentence with its figure must have."""

_GROUPS: tuple[dict[str, str], ...] = (
    {
        "measured": r"measured|measurements?|weighed",
        "not measured": r"estimat(?:e|es|ed|ing|ion|ions)|calculat(?:e|es|ed|ing|ion|ions)|comput(?:e|es|ed)|simulat(?:e|es|ed|ion|ions)|assum(?:e|es|ed|ing|ption|ptions)|guess(?:es|ed)?",
    },
    {
        "planned": r"plan(?:s|ned)?|budget(?:s|ed)?|target(?:s|ed)?|scheduled|intend(?:s|ed)?|forecast(?:s|ed)?|expect(?:s|ed|ation|ations)?|project(?:ed|ion|ions)|predict(?:s|ed|ion|ions)"
        r"|estimat(?:e|es|ed)|theor(?:y|etical|etically)|assum(?:e|es|ed)|hope[sd]?",
        "actual": r"actual(?:ly)?|in reality|in practice|in fact|turned out|achieved|real",
    },
    {"gross": r"gross|before (?:tax|taxes|deductions)", "net": r"net|take-home|after (?:tax|taxes|deductions)"},
    {
        "with tax": r"(?:includ(?:es|ing)|with|incl\.?) (?:the )?(?:VAT|sales tax|tax|taxes)|(?:VAT|tax|taxes) (?:is |are )?included",
        "without tax": r"(?:excludes?|excluding|without|excl\.?|plus|before) (?:the )?(?:VAT|sales tax|tax|taxes)|(?:VAT|tax|taxes) (?:is |are )?(?:not included|excluded)",
    },
    {
        "mean": r"mean|averag(?:e|es|ed|ing)",
        "median": r"median",
        "highest": r"maxim(?:um|al)|max|peak(?:s|ed)?|highest|top speed",
        "lowest": r"minim(?:um|al)|min|lowest",
    },
    {"preliminary": r"preliminary|provisional|interim", "final": r"final|definitive"},
)
"""Kinds of figures that exclude each other, by group."""
_KINDS: tuple[tuple[int, str, PrefilteredPattern], ...] = tuple(
    (number, kind, PrefilteredPattern(rf"\b(?:{words})\b", re.IGNORECASE))
    for number, group in enumerate(_GROUPS)
    for kind, words in group.items()
)
_PIECE = re.compile(
    r"[.;:]\s|,\s(?!\d)|\s(?:but|while|whereas|although|though)\s|\sand\s(?=[^.;,]{0,60}\d)", re.IGNORECASE
)
_RESULT = re.compile(
    r"\b(?:was|were|made|took|reached|rose|fell|grew|earned|sold|came|amounted|recorded|achieved|lasted|ha[sd]\sbeen|cost(?=\s(?:\w+\s)?\W?\d))\b",
    re.IGNORECASE,
)
"""Verbs of a claim about what has happened."""
_EXPECTED = re.compile(
    r"\b(?:plan\w*|expect\w*|forecast\w*|estimat\w*|project(?:ed|ions?)|predict\w*|budget\w*|target\w*|schedul\w*|suppos\w*|intend\w*|aim\w*|hop(?:e|ed|es)|will|would|likely|proposed|announced|said|according)\b",
    re.IGNORECASE,
)
_PLAN = PrefilteredPattern(
    r"\b(?:is|are|was|were)\s(?:\w+ly\s)?(?:planned|expected|projected|forecast|scheduled|predicted|budgeted|set|due|likely|supposed)\s(?:to|at|for)\b"
    r"|\b(?:analysts?|experts?|economists?|government|ministry|company|bank|institute|council|board|group|firm)\s(?:forecasts?|predict(?:s|ed)?|expect(?:s|ed)?|projects)\b"
    r"|\b(?:plans?|aims?|hopes?|intends?)\sto\b|\bwill\b",
    re.IGNORECASE,
)
_OPEN = re.compile(r"\b(?:whether|if|than|between|or|both|equals?|same)\b", re.IGNORECASE)
"""Words of a claim that compares kinds or figures."""


def is_kind_right(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return whether the evidence gives a claim's figure as one of its kind; false if as one of another kind only.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` unless claim or question names one kind, and each part of the evidence with the claim's only figure
        has another kind of its group.
    """
    claim, question = claim[:MAX_TEXT], question[:MAX_TEXT]
    figures = read_details(claim).quantities
    if len(figures) != 1 or figures[0].bound or DENIED.search(_without_kinds(claim)) or _OPEN.search(claim):
        return None
    groups = _kinds(claim) or _kinds(question)
    known = _parts_with(figures[0], claim, question, sentences) if groups else []
    wrong = known and any(
        len(kinds) == 1 and all(of_part.get(group) and not kinds & of_part[group] for of_part in map(_kinds, known))
        for group, kinds in groups.items()
    )
    if wrong:
        return False
    return True if _kinds(claim) and _is_part_repeated(claim, figures[0], sentences) else None


def _is_part_repeated(claim: str, figure: Quantity, sentences: Sequence[str]) -> bool:
    """Return true if a part of a sentence says nothing else than the claim, which has its other words from the rest."""
    words, kinds = content_words(claim), _kinds(claim)
    return any(
        same_quantity(value, figure) and _kinds(part) == kinds and content_words(part) <= words
        for sentence in sentences
        if words <= content_words(sentence[:MAX_TEXT])
        for value, part in _valued(sentence[:MAX_TEXT])
    )


def is_result_stated(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim tells as a result what the evidence plans or expects: "cost 20 million" over "will cost".

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` unless the claim tells its only figure in the past, and each part of the evidence with the figure is a
        plan or a forecast.
    """
    claim, question = claim[:MAX_TEXT], question[:MAX_TEXT]
    if not _RESULT.search(claim) or _PLAN.search(claim) or _EXPECTED.search(f"{question} {claim}"):
        return None
    figures = read_details(claim).quantities
    if len(figures) != 1 or figures[0].bound or DENIED.search(claim) or _OPEN.search(claim):
        return None
    if not _is_behind(_RESULT, figures[0], claim):
        return None  # "A 22-year-old artist has been missing"
    known = _parts_with(figures[0], claim, question, sentences)
    return False if known and all(_is_behind(_PLAN, figures[0], part) for part in known) else None


def _is_behind(pattern: re.Pattern[str] | PrefilteredPattern, figure: Quantity, text: str) -> bool:
    """Return true if a text has a figure behind the first match of a pattern."""
    match = pattern.search(text)
    return match is not None and any(
        same_quantity(value, figure) for value in read_details(text[match.end() :]).quantities
    )


def _parts_with(figure: Quantity, claim: str, question: str, sentences: Sequence[str]) -> list[str]:
    """Return the parts of the evidence that have a figure; empty if the evidence has few words of the claim."""
    words = frozenset(word for word in content_words(_without_kinds(claim)) if not word[0].isdigit())
    beside = content_words(" ".join((question, *(sentence[:MAX_TEXT] for sentence in sentences))))
    if not words or len(words & beside) < SHARED * len(words):
        return []
    spend(len(sentences))
    parts = (part for sentence in sentences for part in _valued(sentence[:MAX_TEXT]))
    return [text for value, text in parts if same_quantity(value, figure)]


def _kinds(text: str) -> dict[int, frozenset[str]]:
    """Return the kinds of figures that a text names, by group."""
    found = ((number, kind) for number, kind, pattern in _KINDS if pattern.search(text))
    groups: dict[int, frozenset[str]] = {}
    for number, kind in found:
        groups[number] = groups.get(number, frozenset()) | {kind}
    return groups


def _without_kinds(text: str) -> str:
    for _, _, pattern in _KINDS:
        text = pattern.sub(" ", text)
    return text


@lru_cache(maxsize=KEPT_TEXTS)
def _valued(sentence: str) -> tuple[tuple[Quantity, str], ...]:
    """Return the figures of a sentence, each with the part of the sentence in which it stands."""
    return tuple((value, part) for part in _PIECE.split(sentence) for value in read_details(part).quantities)
