"""Compare counts of one, which are no figures elsewhere: "you get one key" over "each tenant gets two keys"."""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.facts.units import MONTHS, NUMBER_WORDS, ORDINALS, SCALES, UNITS
from workers.evaluation.facts.verb_forms import is_past_form, verb_stem
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import PEOPLE, STOP_WORDS, content_words, kept_for_sentences, key_of, stem, word_set

MAX_TEXT = 300
"""Longest claim, question and sentence that are read, code points."""

SHARED = 0.3
"""Least share of the other words of claim and question that a sentence has which counts for them."""

_ONE = r"one|a single|a sole"
_COUNT = PrefilteredPattern(
    rf"\b(?P<count>{_ONE}|\d{{1,3}}|{'|'.join(NUMBER_WORDS)})\s(?!of\b)(?P<adjective>[a-z-]{{3,}}\s)?(?P<noun>[a-z]{{3,}})\b",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(r"\bhow many\s(?P<noun>[a-z]{3,}(?:\s[a-z]{3,})?)\s", re.IGNORECASE)
_ALONE = re.compile(rf"\W*(?:only\s|just\s)?(?P<count>one|\d{{1,3}}|{'|'.join(NUMBER_WORDS)})\W*", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(?:an?|the|each|every|per)\s(?:[a-z-]{3,}\s)?(?P<noun>[a-z]{3,})\b", re.IGNORECASE)
_PARTS = re.compile(
    r"\bone (?:of|is|was|has|for|in|on|with|and|or|by|at)\b|\bthe other\b|\bone by one\b", re.IGNORECASE
)
"""Words of a text that speaks of one of several."""
_PER = re.compile(r"\b(?:times|per|daily|at a time|an? (?:day|week|month|year|hour))\b", re.IGNORECASE).search
"""Words of a dose or rate, of which several make up another count."""
_SAID = content_words(f"need get have has there are is include includes many much one {' '.join(NUMBER_WORDS)}")
"""Stems of words that say little of what is counted."""
_NO_THING = word_set("another day time way more side hand thing else point half third quarter hundred thousand million")


def is_count_right(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim counts one thing where the evidence counts several, or several where it counts one.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if the evidence has the claim's count, or counts nothing of that kind, or speaks of one of several.
    """
    claim, question = claim[:MAX_TEXT], question[:MAX_TEXT]
    if _PARTS.search(claim):
        return None
    for noun, count in _claimed(claim, question):
        matter = content_words(f"{claim} {question}") - {stem(noun)} - _SAID
        near = [text for text in sentences if len(matter & content_words(text)) >= SHARED * len(matter)]
        found = {value for text in near for other, value in _counts(text[:MAX_TEXT]) if _are_alike(noun, other)}
        has_article = any(
            _are_alike(noun, verb_stem(match["noun"].lower()))
            for text in sentences
            for match in _ARTICLE.finditer(text)
        )
        if not found or count in found or (count == 1 and has_article) or any(map(_PARTS.search, near)):
            continue
        if count == 1 or (found == {1} and not any(map(_PER, near))):
            return False
    return None


def _claimed(claim: str, question: str) -> Iterator[tuple[str, int]]:
    asked, alone = _HOW_MANY.search(question), _ALONE.fullmatch(claim)
    if asked and alone:
        for word in asked["noun"].split():
            yield verb_stem(word.lower()), _value(alone["count"])
        return
    yield from _counts(claim)


@kept_for_sentences
def _counts(text: str) -> tuple[tuple[str, int], ...]:
    return tuple(_read(text))


def _read(text: str) -> Iterator[tuple[str, int]]:
    for match in _COUNT.finditer(text):
        before, noun = (match["adjective"] or "").strip().lower(), match["noun"].lower()
        # "Eight councillors voted" counts councillors, and "three failed attempts" attempts.
        counted = before if before and (before.endswith("s") or is_past_form(noun)) else noun
        if counted not in STOP_WORDS and counted not in _NO_THING and not _is_measure(counted):
            yield verb_stem(counted), _value(match["count"])


def _is_measure(word: str) -> bool:
    """Return true for units, scales and ordinals, which are compared as figures."""
    return any(key_of(word) in words for words in (UNITS, SCALES, ORDINALS, NUMBER_WORDS, MONTHS))


def _are_alike(one: str, two: str) -> bool:
    return one == two or {one, two} <= PEOPLE


def _value(count: str) -> int:
    word = count.lower()
    if word.isdigit():
        return int(word)
    return int(NUMBER_WORDS.get(word, 1))
