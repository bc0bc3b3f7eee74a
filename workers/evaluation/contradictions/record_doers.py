"""Hold who did something against the field of a record that says so: "The treasurer approved it" over ``approved_by``."""

import re
from collections.abc import Sequence
from itertools import takewhile

from workers.evaluation.facts.evidence_units import RecordValue
from workers.evaluation.facts.verb_forms import verb_stem
from workers.evaluation.text.words import content_words

Doer = tuple[str, str]
"""Stem of a verb, and who did it as written: ("approv", "group controller")."""

MAX_WHO = 6
"""Most words of a subject that is compared."""

_KEY = re.compile(
    r"(?P<verb>[a-z]{2,20}(?:ed|en|wn|id|nt|ld|de))_?by(?:_(?:role|name|title|user|person|team|department))?$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_][\w.'’-]*")
_PASSIVE = frozenset(("is", "are", "was", "were", "be", "been", "being", "gets", "got"))
_HELPING = frozenset(("has", "have", "had", "also", "already", "then", "finally", "only", "did"))
_OPEN = frozenset(
    ("he", "she", "it", "they", "we", "i", "you", "who", "which", "that", "this", "someone", "somebody", "nobody", "one", "no")
)  # fmt: skip
_ENDS = frozenset(("on", "in", "at", "and", "for", "after", "before", "as", "with", "but"))
_DENIED = re.compile(r"\b(?:not|never|nobody|no one|neither)\b|n['’]t\b", re.IGNORECASE)


def doer_of(value: RecordValue) -> Doer | None:
    """Return who did what by a field; ``None`` if it does not say so, or names an account instead of a person."""
    match = _KEY.fullmatch(value.path[-1]) if value.path and isinstance(value.text, str) else None
    if match is None or not value.text or re.search(r"[\d@_/]", value.text):
        return None
    return verb_stem(match["verb"].lower()), value.text


def is_doer_wrong(claim: str, question: str, doers: Sequence[Doer], known: frozenset[str]) -> bool:
    """Return true if a claim, or a reply to "Who approved it?", names another one than each record does.

    Names are compared with names and roles with roles. What a claim says to be done must be a pronoun, or in the records or
    the question: a council that approved a plan did not approve the order of a record.

    Args:
        claim: plain text.
        question: the question that it answers, or an empty text.
        doers: who did what by the records.
        known: stems of the words of the records.
    """
    if not doers or _DENIED.search(claim):
        return False
    known |= content_words(question)
    said = ((verb, *_act(claim, question, verb)) for verb in dict.fromkeys(verb for verb, _ in doers))
    return any(
        (alike := [name for verb, name in doers if verb == own and _is_name(name) == _is_name(who)])
        and not any(_is_same(who, name) for name in alike)
        for own, who, done in said
        if who and content_words(done) <= known
    )


def _act(claim: str, question: str, verb: str) -> tuple[str, str]:
    """Return the words for who did something by a claim, and for what was done; who is empty if the claim does not tell."""
    words = [match[0] for match in _WORD.finditer(claim)]
    place = next((place for place, word in enumerate(words) if verb_stem(word.lower()) == verb), None)
    if place is None:
        asked = [match[0].lower() for match in _WORD.finditer(question)]
        is_asked = asked[:1] == ["who"] and any(verb_stem(word) == verb for word in asked)
        return (_subject(words), "") if is_asked else ("", "")
    before, after = words[:place], words[place + 1 :]
    while before and before[-1].lower() in _HELPING:
        before.pop()
    if not before or before[-1].lower() not in _PASSIVE:
        return _subject(before), _phrase(after)
    return (_subject(_phrase(after[1:]).split()), " ".join(before)) if after[:1] == ["by"] else ("", "")


def _subject(words: Sequence[str]) -> str:
    is_told = 0 < len(words) <= MAX_WHO and not any(word.lower() in _OPEN for word in words)
    return " ".join(words) if is_told else ""


def _phrase(words: Sequence[str]) -> str:
    """Return the words before the next preposition or conjunction."""
    return " ".join(takewhile(lambda word: word.lower() not in _ENDS, words))


def _is_name(who: str) -> bool:
    """Return true for the name of a person or team; a capital at the beginning alone may be that of a sentence."""
    words = [word for word in who.split() if word.lower() not in ("the", "a", "an")]
    return any(word[0].isupper() for word in (words[1:] or words))


def _is_same(who: str, name: str) -> bool:
    initials = "".join(word[0] for word in name.split()).lower()
    return bool(content_words(who) & content_words(name)) or initials in who.lower().split()
