"""Compare colours and materials: "a concrete dam" over "an earth-filled dam", "the light turns green" over "red"."""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.contradictions.traits import TRAITS, Trait
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words, kept_for_sentences, stem, word_set

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""
NEAR = 4
"""Number of words on each side of a trait among which its thing stands."""

_STEMS = frozenset(map(stem, (part for word in TRAITS for part in word.split("-")))) | {"fill"}
_KNOWN = PrefilteredPattern(rf"\b(?:{'|'.join(sorted(TRAITS, key=len, reverse=True))})\b")
"""Words for traits in lower case: "the White House" is a name."""
_EITHER = PrefilteredPattern(rf"{_KNOWN.pattern}(?:,?\s(?:or|and)\s{_KNOWN.pattern})+")
"""Traits of which a thing has one or the other: "concrete or brick"."""
_PIECE = re.compile(r"[,;:.]\s|\s(?:and|but|while|whereas|or|until)\s", re.IGNORECASE)
_WEAK = frozenset(
    map(stem, word_set("turn turns go goes become becomes made make show shows cover covered covers build built"))
)
"""Words beside a trait that do not tell whose it is."""
_PAST = re.compile(r"\b(?:was|were|had|formerly|originally|until|used to|painted)\b", re.IGNORECASE)
_PRESENT = re.compile(r"\b(?:is|are|has been|have been|since|now|today|currently)\b", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:it|they)\s(?:is|are|was|were|has|have|had|turn\w*|bec[ao]me\w*)\b", re.IGNORECASE)
_Placed = tuple[Trait, frozenset[str], bool]
"""A trait, the content words near it, and whether the sentence tells of the past."""


def is_trait_right(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if the evidence gives the thing of a claim another colour or material, and not that of the claim.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.
    """
    own = _traits(claim)
    pieces = list(_of_sources(sentences)) if own else []
    is_now = not _PAST.search(claim)
    for (row, side), words, _ in own:
        told = words - _WEAK or content_words(question) - _STEMS - _WEAK
        about = [(trait, is_past) for trait, theirs, is_past in pieces if trait[0] == row and told & theirs]
        # "It has been blue since" says how it is, "it was painted green" how it was.
        about = [each for each in about if not each[1]] or about if is_now else about
        if about and not any(trait == (row, side) for trait, _ in about):
            return False
    return None


def _of_sources(sentences: Sequence[str]) -> Iterator[_Placed]:
    """Yield the traits of all sentences; "it" has the words of the thing before."""
    before = frozenset[str]()
    for sentence in sentences:
        for trait, words, is_past in _traits(sentence):
            yield trait, words | before if _PRONOUN.search(sentence) else words, is_past
        before = content_words(sentence[:MAX_TEXT]) - _STEMS


@kept_for_sentences
def _traits(text: str) -> tuple[_Placed, ...]:
    return tuple(_read(text[:MAX_TEXT]))


def _read(text: str) -> Iterator[_Placed]:
    """Yield the trait of each piece that has one."""
    is_past = bool(_PAST.search(text)) and not _PRESENT.search(text)
    text = _EITHER.sub(" ", text)
    for piece in _PIECE.split(text) if _KNOWN.search(text) else ():
        found = list(_KNOWN.finditer(piece))
        if len({TRAITS[match[0]] for match in found}) == 1:
            before, after = piece[: found[0].start()].split(), piece[found[0].end() :].split()
            yield TRAITS[found[0][0]], content_words(" ".join((*before[-NEAR:], *after[:NEAR]))) - _STEMS, is_past
