"""Compare what two texts affirm and deny, in languages other than English.

Two texts on one matter exclude each other if one of them is denied ("nicht", "не", "ません"), or if they have the two
sides of a row of opposites ("geöffnet" and "geschlossen", "höchstens" and "mindestens"). The clause of the evidence that
has most words of the claim is compared; where several have as many and do not agree, there is no result.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from workers.evaluation.contradictions.languages.opposite_words import (
    CONVERSE,
    DENYING,
    EXCEPTION,
    EXISTENCE,
    MODALITY,
    OPPOSITES,
    denial_pattern,
    plain_phrases,
)
from workers.evaluation.contradictions.parallel_clauses import cut_clauses, is_small, stems_of
from workers.evaluation.facts.units import UNITS
from workers.evaluation.text.languages.local_words import SMALL_WORDS
from workers.evaluation.text.words import KEPT_TEXTS

ON_ONE_MATTER = 0.6
"""Least share of the claim's other words that a clause has to have."""
SUBJECT = 3
"""Number of words at the beginning of a sentence that its other clauses may leave out."""
MEMBER = 2
"""Most words of a further member of a list."""
KEY = 5
"""Letters by which words are compared, since endings vary: "закрыт" and "закрыта"."""

_ATTRIBUTE = re.compile(
    r"\b(?:nicht|niet|no|non|não|не)[\s-]+(\w{3,30}?(?:(?:t|bar|en|lich|ig)e[nrsm]?|[aiu][dt][oaie]s?|bil[ei]|bles?|[áíó]ve(?:l|is)|(?:нн|ем|им|вш)\w{2,3})"
    r"|\w{3,30}bare|[gbv]\w{3,30}de)\b",
    re.IGNORECASE,
)
"""A denied attribute by its ending: "nicht erstattbare", "no reembolsables", "не зарегистрированные"."""


def is_contrary(claim: str, sentences: Iterable[str], language: str, *, is_question: bool = False) -> bool | None:
    """Return true if the evidence says the contrary of a claim, false if it says the same.

    Args:
        claim: a statement, or a question that is answered with yes.
        sentences: the evidence.
        language: language of the claim, ISO 639-1.
        is_question: whether it is a question; what must be done is then no contrary of what may be done.

    Returns:
        ``None`` if nothing in the evidence is clearly on the same matter.
    """
    claim = plain_phrases(claim)
    own = _matter(claim, language)
    if not own:
        return None
    named = frozenset(word for word in own if not word[0].isdigit() and word not in UNITS)
    best, found, missing = (0.0, 0), set[bool](), own
    clauses = list(dict.fromkeys(part for text in sentences for part in _clauses(text, language)))
    for clause in clauses:
        matter = _matter(clause, language)
        # Of two clauses with as many words, the one that has fewer of them as figures is nearer.
        shared = len(own & matter) / len(own), len(named & matter)
        if shared[0] < ON_ONE_MATTER or shared < best:
            continue
        if shared > best:
            best, found, missing = shared, set(), own - matter
        if (contrary := _excludes(claim, clause, language, is_question=is_question)) is not None:
            found.add(contrary)
    # The contrary is said of something else if another clause has the subject and does not say it.
    others = (each for each in clauses if found == {True} and _party(claim) in missing <= _matter(each, language))
    if any(not _excludes(claim, each, language, is_question=False) for each in others):
        return None
    return found.pop() if len(found) == 1 else None


_TOPIC = re.compile("^[^は、]{1,12}は")
"""The topic of a Japanese sentence, with its particle."""


@lru_cache(maxsize=KEPT_TEXTS)
def _clauses(text: str, language: str) -> tuple[str, ...]:
    text = plain_phrases(text)
    first, *others = cut_clauses(text) or [text]
    denial = denial_pattern(language)
    # A sentence that denies one thing and affirms another says neither of the whole.
    whole = (text,) if len({bool(denial.search(part)) for part in (first, *others)}) == 1 else ()
    subject = " ".join(first.split()[:SUBJECT]) if " " in first else "".join(_TOPIC.findall(first))
    for one, two in OPPOSITES:
        subject = two.sub("", one.sub("", subject))
    # A denial holds for the members of a list that follow, and not for another statement.
    affirmed = denial.sub("", subject)
    parts = (f"{subject if len(other.split()) <= MEMBER else affirmed} {other}" for other in others)
    return tuple(dict.fromkeys((first, *parts, *whole)))


@lru_cache(maxsize=KEPT_TEXTS)
def _matter(text: str, language: str) -> frozenset[str]:
    """Return the words of a text without denials and opposites, cut to their first letters."""
    for one, two in (*OPPOSITES, *MODALITY):
        text = two.sub(" ", one.sub(" ", text))
    text, small = EXISTENCE.sub(" ", text), SMALL_WORDS.get(language, frozenset())
    words = stems_of(denial_pattern(language).sub(" ", text))
    return frozenset(word[:KEY] for word in words if not is_small(word) and word not in small)


def _excludes(claim: str, clause: str, language: str, *, is_question: bool) -> bool | None:
    if EXCEPTION.search(clause):
        return None  # what holds for the rest does not hold for the exception
    denial = denial_pattern(language)
    shared = _attributes(claim) & _attributes(clause)
    turned, denied = 0, len({bool(denial.search(_without(text, shared))) for text in (claim, clause)}) == 2
    for one, two in OPPOSITES if is_question else (*OPPOSITES, *MODALITY):
        mine, theirs = _side(one, two, claim), _side(one, two, clause)
        if mine and not theirs and one.search(clause) and two.search(clause):
            return None  # "opens on Mondays and closes on Tuesdays"
        if (one, two) in CONVERSE and _party(claim) != _party(clause):
            continue
        turned += bool(mine and theirs and mine != theirs)
        if (one, two) in DENYING and {mine, theirs} == {0, -1}:
            denied = not denied  # "forbidden" denies "one takes photos"
    # "Not open" is "closed".
    return turned != 1 if denied else bool(turned)


def _attributes(text: str) -> frozenset[str]:
    """Return the denied attributes of a text: "nicht erstattbare" Tickets."""
    return frozenset(match[1][:KEY].lower() for match in _ATTRIBUTE.finditer(text))


def _without(text: str, attributes: frozenset[str]) -> str:
    """Return a text without the denied attributes that both texts have, and without words such as "нельзя" and "不可".

    These words are a side of a row of opposites, and are compared there.
    """
    text = _ATTRIBUTE.sub(lambda match: " " if match[1][:KEY].lower() in attributes else match[0], text)
    for _, two in DENYING:
        text = two.sub(" ", text)
    return text


def _party(text: str) -> str:
    """Return the first word with a meaning of its own."""
    return next((word[:KEY] for word in stems_of(text) if not is_small(word)), "")


def _side(one: re.Pattern[str], two: re.Pattern[str], text: str) -> int:
    """Return which side of a row a text has: 1 or -1; 0 for none or both."""
    return bool(one.search(two.sub(" ", text))) - bool(two.search(text))
