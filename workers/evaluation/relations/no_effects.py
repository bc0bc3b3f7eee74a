"""Compare a stated change with evidence that there was none: "no effect of the drug on sleep", "did not affect sales"."""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words, stem, word_set

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""

SHARED = 0.5
"""Share of the words of what was not affected that a claim or its question must have."""

_DEGREE = r"(?:(?:significant|measurable|noticeable|clear|detectable|real|direct|apparent|lasting|\w{3,12}ly)\s)?"
_THING = (
    r"(?P<thing>[^.;,:()]{3,80}?)"
    r"(?=[.;,:()]|$|\s(?:but|and|while|whereas|although|though|which|that|was|were|is|are|has|have|had)\b)"
)
_NO_EFFECT = PrefilteredPattern(
    rf"\b(?:no|not any|not an?|little or no|n['’]t any|n['’]t an?|not have an?)\s{_DEGREE}(?:effects?|impact|influence|bearing)"
    rf"\s(?:of\s(?P<cause>[^.;,:()]{{2,60}}?)\s)?(?:up)?on\s{_THING}",
    re.IGNORECASE,
)
_NO_DIFFERENCE = PrefilteredPattern(rf"\b(?:made?|makes|making)\sno\s{_DEGREE}difference\sto\s{_THING}", re.IGNORECASE)
_NOT_AFFECTED = PrefilteredPattern(
    rf"\b(?:did|does|has|have|had|will|would)(?:\snot|n['’]t)\s{_DEGREE}(?:affect|influence|change|alter|impact)(?:ed|d)?\s{_THING}",
    re.IGNORECASE,
)
_UNAFFECTED = PrefilteredPattern(
    r"(?:^|[.;:,]\s|\b(?:while|but|and|that)\s)(?P<thing>[^.;,:()]{3,80}?)\s"
    r"(?:(?:was|were|is|are|remained|stayed)\s(?:un(?:affected|changed|altered)|not\s(?:affected|influenced|altered)\sby)|(?:did|does|do)\snot\schange)\b",
    re.IGNORECASE,
)
_CHANGES = frozenset(
    map(
        stem,
        word_set(
            "improve improves improved improving improvement increase increases increased increasing rise rises rose risen rising"
            " raise raises raised raising grow grows grew grown growing boost boosts boosted boosting reduce reduces reduced reducing"
            " reduction lower lowers lowered lowering decrease decreases decreased decreasing decline declines declined declining fall"
            " falls fell fallen falling drop drops dropped dropping shorten shortens shortened lengthen lengthens lengthened extend"
            " extends extended cut cuts cutting worsen worsens worsened worse harm harms harmed hurt hurts damage damages damaged help"
            " helps helped ease eases eased relieve relieves relieved cure cures cured prevent prevents prevented slow slows slowed"
            " slower speed speeds sped faster better longer shorter higher gain gains gained lose loses lost double doubles doubled"
            " halve halves halved strengthen strengthens strengthened weaken weakens weakened affect affects affected"
        ),
    )
)
_REPORTED = content_words(
    "study trial survey test experiment analysis author researcher find found show showed see saw seen observe observed report reported there"
)
"""Words that say by whom it was found."""
_EXCEPTED = re.compile(r"\b(?:except|unless|without|other than|apart from|besides|only|until|if|when)\b", re.IGNORECASE)
_OPEN = re.compile(
    r"\b(?:whether|if|may|might|could|would|should|aim\w*|goals?|hop(?:e|es|ed)|expect\w*|intend\w*|want\w*|claim\w*|believ\w*|suppos\w*|unclear|unknown)\b"
    r"|\bto\s(?:\w{3,12}ly\s)?(?P<purpose>\w{3,12})\b",
    re.IGNORECASE,
)
"""Words of a claim that does not state a change, and verbs of a purpose: "was meant to improve"."""
_PRONOUN = re.compile(r"\b(?:it|they|he|she|this|these|that|those|both)\b", re.IGNORECASE)
_GROUP = re.compile(r"\b(?:in|among|for|during|within|at|over)\s(?:the\s)?(?P<group>[^.;,]{3,40})", re.IGNORECASE)
_PIECE = re.compile(r"[.;]\s|,?\s(?:but|while|whereas|although|though|and)\s", re.IGNORECASE)


def is_change_stated(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim states a change of a thing on which the evidence finds no effect.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if the claim denies a change, names a group that the finding does not name, or the evidence states a
        change of the thing as well.
    """
    own = content_words(claim[:MAX_TEXT])
    if not own & _CHANGES or DENIED.search(claim[:MAX_TEXT]) or _is_open(claim[:MAX_TEXT]):
        return None
    words = own | content_words(question[:MAX_TEXT])
    for sentence in sentences:
        for thing, cause in _unaffected(sentence[:MAX_TEXT]):
            if (
                len(thing & words) >= SHARED * len(thing)
                and (not cause or cause & words)
                and _is_of_group(claim[:MAX_TEXT], f"{question} {sentence}")
                and not _is_changed(thing, own - thing - _CHANGES, sentences)
            ):
                return False
    return None


def _is_open(claim: str) -> bool:
    return any(not match["purpose"] or stem(match["purpose"]) in _CHANGES for match in _OPEN.finditer(claim))


def _unaffected(sentence: str) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yield the words of each thing on which a sentence finds no effect, and those of what had none."""
    if _EXCEPTED.search(sentence):
        return
    for pattern in (_NO_EFFECT, _NO_DIFFERENCE, _NOT_AFFECTED, _UNAFFECTED):
        for match in pattern.finditer(sentence):
            thing = content_words(match["thing"])
            beside = match.groupdict().get("cause") or f"{sentence[: match.start()]} {sentence[match.end() :]}"
            if thing:
                yield thing, content_words(beside) - thing - _REPORTED


def _is_of_group(claim: str, known: str) -> bool:
    """Return true unless a claim names a group, place or time that neither question nor evidence names."""
    words = content_words(known)
    return all(content_words(match["group"]) & words for match in _GROUP.finditer(claim))


def _is_changed(thing: frozenset[str], further: frozenset[str], sentences: Sequence[str]) -> bool:
    """Return true if a piece of the evidence states a change of the thing, or of what a pronoun names.

    Args:
        thing: words of what nothing had an effect on.
        further: further words of the claim, of which the piece has one.
        sentences: the evidence.
    """
    pieces = (piece for sentence in sentences for piece in _PIECE.split(sentence[:MAX_TEXT]))
    return any(
        not DENIED.search(piece)
        and not any(_unaffected(piece))
        and (words := content_words(piece)) & _CHANGES
        and (words & thing or _PRONOUN.search(piece))
        and (words & further or not further)
        for piece in pieces
    )
