"""Compare a stated change with evidence that there was none: "no effect of the drug on sleep", "did not affect sales"."""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words, key_of, stem, word_set

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""

SHARED = 0.5
"""Share of the words of what was not affected that a claim or its question must have."""

_DEGREE = (
    r"(?:(?!(?:small|negative|adverse|harmful|positive|beneficial|good|further|additional|other)\b)[^\W\d_]{3,15}\s)?"
)
"""An adjective that leaves no effect open: "no measurable effect", but not "no small effect" or "no adverse effect"."""
_THING = (
    r"(?P<thing>[^.;,:()]{3,80}?)"
    r"(?=[.;,:()]|$|\s(?:but|and|while|whereas|although|though|which|that|was|were|is|are|has|have|had)\b)"
)
_NO_EFFECT = PrefilteredPattern(
    rf"(?:\b(?:no|little or no)|(?:\bnot|n['’]t)\s(?:(?:had|have)\s)?(?:any|an?))\s{_DEGREE}(?:effects?|impact|influence|bearing)"
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
_CHANGES = word_set(
    """
    improve improves improved improving improvement increase increases increased increasing rise rises rose
    risen rising raise raises raised raising grow grows grew grown growing boost boosts boosted boosting
    reduce reduces reduced reducing reduction lower lowers lowered lowering decrease decreases decreased
    decreasing decline declines declined declining fall falls fell fallen falling drop drops dropped dropping
    shorten shortens shortened lengthen lengthens lengthened extend extends extended cut cuts cutting worsen
    worsens worsened worse harm harms harmed hurt hurts damage damages damaged help helps helped ease eases
    eased relieve relieves relieved cure cures cured prevent prevents prevented slow slows slowed slower
    speed speeds sped faster better longer shorter higher gain gains gained lose loses lost double doubles
    doubled halve halves halved strengthen strengthens strengthened weaken weakens weakened affect affects
    affected
    """
)
"""Words in the form that states a change: "higher" does, "high" does not, and both have one stem."""
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
_WORD = re.compile(r"[^\W\d_]+")
_PRONOUN = re.compile(r"\b(?:it|they|he|she|this|these|that|those|both|which|who)\b", re.IGNORECASE)
_PIECE = re.compile(r"[.;,]\s|\s(?:but|while|whereas|although|though|and)\s", re.IGNORECASE)


def is_change_stated(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim states a change of a thing on which the evidence finds no effect.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if the claim denies a change, has words that neither question nor finding has, or the evidence states
        a change of the thing as well.
    """
    claim = claim[:MAX_TEXT]
    own, asked = content_words(claim), content_words(question[:MAX_TEXT])
    changing = _changing(claim)
    if not changing or DENIED.search(claim) or _is_open(claim):
        return None
    sentences = [sentence[:MAX_TEXT] for sentence in sentences]
    findings = [(sentence, *found) for sentence in sentences for found in _unaffected(sentence)]
    changes = list(_changes(sentences)) if findings else []
    for sentence, thing, cause in findings:
        words = own | asked
        further = own - thing - changing
        is_told = all(word[0].isdigit() for word in further - asked - content_words(sentence))
        is_same = len(thing & words) >= SHARED * len(thing) and (not cause or bool(cause & words))
        is_changed = any(
            (stated & thing or is_of_named) and (stated & further or not further) for stated, is_of_named in changes
        )
        if is_told and is_same and not is_changed:
            return False
    return None


def _is_open(claim: str) -> bool:
    return any(not match["purpose"] or key_of(match["purpose"]) in _CHANGES for match in _OPEN.finditer(claim))


def _changing(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that state a change."""
    return frozenset(stem(word) for word in map(key_of, _WORD.findall(text)) if word in _CHANGES)


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


def _changes(sentences: Sequence[str]) -> Iterator[tuple[frozenset[str], bool]]:
    """Yield the words of each piece of the evidence that states a change, and whether a pronoun may name the thing."""
    for sentence in sentences:
        for piece in _PIECE.split(sentence):
            if _changing(piece) and not DENIED.search(piece) and not any(_unaffected(piece)):
                yield content_words(piece), bool(_PRONOUN.search(piece))
