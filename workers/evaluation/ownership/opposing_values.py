"""Notice that a source gives another value than a claim, where the words of the two differ too much for a comparison.

"Is guarded" and "is not guarded", "on by default" and "off by default", a price list and a sentence, a record and a
sentence. Every word of the claim that names its subject must be in the passage, so that another subject, attribute or
condition is no other value.
"""

import re

from workers.evaluation.facts.calculation.arithmetic import same_quantity
from workers.evaluation.facts.dates import read_weekdays
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.text_details import Details, read_details
from workers.evaluation.facts.units import MONTHS, NUMBER_WORDS, SCALES, UNITS, WEEKDAYS
from workers.evaluation.text.words import content_words, stem, word_set

MAX_LENGTH = 400
"""Maximum length of a passage that is compared, code points."""

_OPPOSITES = tuple(
    (re.compile(rf"\b(?:{one})\b", re.IGNORECASE), re.compile(rf"\b(?:{other})\b", re.IGNORECASE))
    for one, other in (
        (r"(?:is|are|was|turned|switched) on|on by default", r"(?:is|are|was|turned|switched) off|off by default"),
        ("enabled|active|activated", "disabled|inactive|deactivated"),
        ("allowed|permitted", "forbidden|prohibited|banned"),
        ("open to|is open|are open", "closed to|is closed|are closed"),
        ("included", "excluded|extra"),
        ("available", "unavailable"),
        ("required|mandatory|compulsory", "optional"),
        ("free|free of charge", "charged"),
    )
)
_LABEL = re.compile(r"\b(?:version|release|edition|step|phase|level) (\d+(?:\.\d+)*)\b", re.IGNORECASE)
_PLACE = re.compile(r"\b([^\W\d_]{3,20}) in ([A-ZÄÖÜ][^\W\d_]+)")
_PART_OF = re.compile(r"\b([^\W\d_]+) (?:of|for|in|behind|beside|near) (?:the |an? |its )?([^\W\d_]+)", re.IGNORECASE)
_ROOM_FOR = re.compile(r"\b(?:room|space) for\b", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_FORMS = {
    stem(word): words[0]
    for words in (
        ("leave", "leaves", "departs", "depart", "departure", "sails"),
        ("capacity", "seats", "seat", "accommodates"),
        ("employee", "employees", "employs", "staff", "workers", "employ"),
    )
    for word in words
}
"""Words of one meaning, by stem."""
_SILENT = frozenset(
    map(
        stem,
        word_set(
            "cost costs price pay pays paid charge charges has is are people persons list hour one am pm set default since"
        ),
    )
)
"""Words that tell neither the subject nor the attribute."""
_VARYING = frozenset(map(stem, (*MONTHS, *WEEKDAYS, *NUMBER_WORDS, *SCALES, *UNITS)))


def gives_other_value(claim: str, passage: str) -> bool:
    """Return true if a passage denies a claim or gives another value of the same attribute of its subject.

    Args:
        claim: plain text of a claim that another source supports.
        passage: plain text of a passage.
    """
    claim, passage = claim[:MAX_LENGTH], passage[:MAX_LENGTH]
    own, theirs = read_details(claim), read_details(passage)
    if _has_another_condition(claim, passage) or (theirs.codes and not own.codes & theirs.codes):
        return False
    words, known = _telling(claim), _telling(passage)
    if not words:
        return False
    return _denies(claim, passage, own, theirs, words, known) or _differs(claim, passage, own, theirs, words, known)


def is_of_another(claim: str, passage: str) -> bool:
    """Return true if a passage has none of the names that a figure of the claim belongs to, or denies another thing."""
    claim, passage = claim[:MAX_LENGTH], passage[:MAX_LENGTH]
    own, theirs = read_details(claim), read_details(passage)
    if own.names and theirs.names and (own.quantities or own.dates):
        return not own.names & theirs.names
    denied = any(governed for _, governed in own.clauses), any(governed for _, governed in theirs.clauses)
    subject = next((word for word in re.findall(r"[^\W\d_]+", claim) if _telling(word)), "")
    return denied[0] != denied[1] and bool(subject) and not _telling(subject) <= _telling(passage)


def _has_another_condition(claim: str, passage: str) -> bool:
    """Return true if the passage names days, months, years or versions of which the claim has none."""
    pairs = (
        (read_weekdays(claim), read_weekdays(passage)),
        (frozenset(_YEAR.findall(claim)), frozenset(_YEAR.findall(passage))),
        (_months(claim), _months(passage)),
        (frozenset(_LABEL.findall(claim)), frozenset(_LABEL.findall(passage))),
    )
    return any(two and not one & two for one, two in pairs)


def _months(text: str) -> frozenset[str]:
    return frozenset(word for word in re.findall(r"[A-ZÄ][^\W\d_]{2,9}", text) if word.lower() in MONTHS)


def _telling(text: str) -> frozenset[str]:
    """Return the words that tell the subject and the attribute, words of one meaning in one form."""
    words = (word for word in content_words(_ROOM_FOR.sub("capacity", text)) if any(map(str.isalpha, word)))
    return frozenset(_FORMS.get(word, word) for word in words if word not in _VARYING and word not in _SILENT)


def _denies(
    claim: str, passage: str, own: Details, theirs: Details, words: frozenset[str], known: frozenset[str]
) -> bool:
    denied = frozenset().union(*(governed for _, governed in own.clauses))
    theirs_denied = frozenset().union(*(governed for _, governed in theirs.clauses))
    if len(words) > 1 and words <= known and (theirs_denied & words) - denied and not denied:
        return True
    for one, other in _OPPOSITES:
        for mine, theirs_pattern in ((one, other), (other, one)):
            if mine.search(claim) and theirs_pattern.search(passage) and not mine.search(passage):
                rest = _telling(mine.sub(" ", claim))
                return bool(rest) and rest <= known and not denied and not theirs_denied
    return False


def _differs(
    claim: str, passage: str, own: Details, theirs: Details, words: frozenset[str], known: frozenset[str]
) -> bool:
    places = {stem(verb.lower()): place for verb, place in _PLACE.findall(passage)}
    for verb, place in _PLACE.findall(claim):
        other = places.get(stem(verb.lower()), place)
        rest = words - {stem(place.lower())}
        if other != place and place.lower() not in passage.lower() and rest and rest <= known:
            return True
    values = [each for each in own.quantities if each.face != 1.0]
    if len(words) < 2 or not words <= known or len(values) != 1 or _has_another_head(passage, words):
        return False
    value = values[0]
    rivals = [each for each in theirs.quantities if _is_alike(value, each)]
    return len(rivals) == 1 and not value.bound and not rivals[0].bound and not same_quantity(value, rivals[0])


def _has_another_head(passage: str, words: frozenset[str]) -> bool:
    """Return true if a passage speaks of a part of the subject: "the battery of the drill"."""
    return any(
        stem(whole.lower()) in words and (head := _telling(part)) and not head <= words
        for part, whole in _PART_OF.findall(passage)
    )


def _is_alike(one: Quantity, two: Quantity) -> bool:
    return one.is_unit == two.is_unit and (not one.is_unit or one.dimension == two.dimension)
