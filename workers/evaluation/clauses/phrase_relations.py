"""Relate two phrases of clauses, which are the same, may be the same, differ or are unrelated."""

from enum import IntEnum

from workers.evaluation.clauses.clause_reader import Phrase
from workers.evaluation.contradictions.antonyms import are_sides
from workers.evaluation.contradictions.traits import exclude
from workers.evaluation.facts.units import NUMBER_WORDS, UNITS
from workers.evaluation.text.words import word_set

_ANYWHERE = frozenset({"subject", "object", "attribute", "any", "for", "in", "after", "within"})
"""Parts of a clause that may hold one figure in other words."""
_MEASURES = word_set("amount number group pair set kind type sort piece part lot majority member total share")
"""Nouns that only measure or choose what stands behind their "of"."""
SHORTEST_ABBREVIATION = 3
"""Fewest letters of a word that may stand for the initials of others."""


class Relation(IntEnum):
    """Order how far two phrases mean one thing."""

    UNRELATED = 0
    DIFFERENT = 1
    POSSIBLE = 2
    SAME = 3


def relation(one: Phrase, two: Phrase) -> Relation:
    """Compare two phrases."""
    if one.is_pronoun or two.is_pronoun:
        return Relation.POSSIBLE
    if one.numbers and two.numbers:
        return _of_numbers(one, two)
    if one.names and two.names:
        if one.names <= two.names or two.names <= one.names or _are_initials(one, two) or _are_initials(two, one):
            return Relation.SAME
        return Relation.POSSIBLE if one.names & two.names else Relation.DIFFERENT
    if one.names or two.names:
        named, other = (one, two) if one.names else (two, one)
        if named.names & other.words or other.head in named.words:
            return Relation.SAME
        return Relation.POSSIBLE if other.is_definite or _is_abbreviated(named, other) else Relation.UNRELATED
    return _of_nouns(one, two)


def _are_initials(one: Phrase, two: Phrase) -> bool:
    """Return true for "UN" and "United Nations"; the order of the words is not known here."""
    return len(two.names) > 1 and any(
        len(name) == len(two.names) and sorted(name) == sorted(word[0] for word in two.names) for name in one.names
    )


def _of_numbers(one: Phrase, two: Phrase) -> Relation:
    counted = {
        phrase.head
        for phrase in (one, two)
        if not (phrase.head in UNITS or phrase.head in NUMBER_WORDS or phrase.head == "one" or phrase.head[0].isdigit())
    }
    if len(counted) == 2:
        return Relation.UNRELATED  # "84 rooms" and "12 suites"
    if one.numbers & two.numbers and not (one.bound and one.bound == -two.bound):
        return Relation.SAME
    if one.bound == two.bound and (amount := _amount(one)) is not None and amount == _amount(two):
        return Relation.SAME  # "two years" and "24 months"
    if (kept := _keeps_bound(one, two)) is not None:
        return Relation.SAME if kept else Relation.DIFFERENT
    alike = one.head == two.head or one.role == two.role or "any" in (one.role, two.role)
    return Relation.DIFFERENT if alike else Relation.UNRELATED


def _amount(phrase: Phrase) -> tuple[str, float] | None:
    """Return the dimension of a phrase's unit and its figure in the base unit; ``None`` without one of both."""
    if len(phrase.numbers) != 1 or phrase.head not in UNITS:
        return None
    dimension, factor = UNITS[phrase.head]
    try:
        return dimension, round(float(next(iter(phrase.numbers))) * factor, 9)
    except ValueError:
        return None  # "10:30"


def _keeps_bound(one: Phrase, two: Phrase) -> bool | None:
    """Return whether "28 days" keeps the bound "more than 25 days"; ``None`` without a bound or a figure of its own."""
    bound, other = (one, two) if one.bound else (two, one)
    if one.role != two.role and not {one.role, two.role} & _ANYWHERE:
        return None  # "will rise to 168,600" keeps no "growth of over 50"
    if not bound.bound or other.bound or len(bound.numbers) != 1 or len(other.numbers) != 1:
        return None
    try:
        limit, value = (float(next(iter(phrase.numbers))) for phrase in (bound, other))
    except ValueError:
        return None  # "10:30"
    return (value - limit) * bound.bound > 0


def _of_nouns(one: Phrase, two: Phrase) -> Relation:
    if one.words <= two.words or two.words <= one.words:
        longer, shorter = (one, two) if two.words <= one.words else (two, one)
        # "The exposure to the wind" is not the wind; "a group of relatives" and "31 mm of rain" are what they are of.
        is_same = longer.head in shorter.words or longer.head in UNITS or longer.head in _MEASURES
        return Relation.SAME if is_same or longer.words == shorter.words else Relation.POSSIBLE
    if one.head == two.head:
        if have_other_traits(one, two):
            return Relation.DIFFERENT
        mine, theirs = one.modifiers, two.modifiers
        if not mine or not theirs or mine & theirs:
            return Relation.SAME
        is_short = _is_abbreviated(one, two) or _is_abbreviated(two, one)
        return Relation.POSSIBLE if is_short else Relation.DIFFERENT
    if one.head in two.words or two.head in one.words or _may_stand_for(one, two):
        return Relation.POSSIBLE
    if _is_abbreviated(one, two) or _is_abbreviated(two, one):
        return Relation.POSSIBLE
    return Relation.UNRELATED


def have_other_traits(one: Phrase, two: Phrase) -> bool:
    """Return true for "the red button" and "the green button", "the old pump" and "the new pump"."""
    return one.head == two.head and any(
        exclude(mine, theirs) or are_sides(mine, theirs)
        for mine in one.words - two.words
        for theirs in two.words - one.words
    )


def _is_abbreviated(one: Phrase, two: Phrase) -> bool:
    """Return true for "the cause of IBS" and "the cause of irritable bowel syndrome"; the order is not known here."""
    initials = [word[0] for word in two.words - one.words]
    return len(initials) >= SHORTEST_ABBREVIATION and any(
        SHORTEST_ABBREVIATION <= len(word) <= len(initials)
        and word.isalpha()
        and all(word.count(letter) <= initials.count(letter) for letter in word)
        for word in one.words - two.words
    )


def _may_stand_for(one: Phrase, two: Phrase) -> bool:
    """Return true for "the company" and "the firm": each may stand for what was named before."""
    return one.is_definite and two.is_definite and "attribute" not in (one.role, two.role)
