"""Read the values of sentences together with the words of the clause that holds each of them.

"With 17 goals Nkemelu was ahead of Petrova, who scored 12" holds 17 with the words of its first clause and 12 with
those of the second, whose subject is Petrova. A sentence with one value of a kind is one clause. A sentence with
several is cut between them, at commas and conjunctions. A clause without a subject of its own takes that of the clause
before it, and a pronoun takes that of the sentence before it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from workers.evaluation.facts.addresses import read_addresses
from workers.evaluation.facts.sentence_pieces import (
    CLASS_KINDS,
    Piece,
    Value,
    has_known_verb,
    last_phrase,
    read_pieces,
    told_stems,
    values_of,
)
from workers.evaluation.facts.verb_forms import is_verb

MAX_HEADING = 8
"""Maximum number of words of a line without a stop that names what the sentences after it are about."""
KEPT_SOURCES = 64
"""Number of sources that are kept: they are compared with claims together and each for itself."""

_FORMER = re.compile(
    r"\b(?P<former>the (?:former|first(?: one)?))\b|\b(?P<latter>the (?:latter|second(?: one)?))\b(?! \w+ing)",
    re.IGNORECASE,
)
_LIST_OF_TWO = re.compile(
    r"(?:^|[,:]\s+|\b(?:both|between)\s+)(?P<one>[^,:;.]{2,50}?)\s+and\s+(?P<two>[^,:;.]{2,50})[.;:]?$", re.IGNORECASE
)
_POSSESSIVE = re.compile(
    r"\W*(?:its|his|her|their|sein\w?|ihre?\w?|su|sus|son|sa|ses)\s+(?!own\b)[^\W\d]", re.IGNORECASE
)
_SUBORDINATE = re.compile(r"\W*(?:when|if|while|after|before|until|since|because|as|once|where|to)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Clause:
    """Describe what one sentence says of the values of one kind.

    Attributes:
        sentence: number of the sentence in its source.
        values: the values that the clause holds.
        words: stems of its words, with those of the subject that it takes from elsewhere.
        subject: stems of its subject.
        names: names among its words.
        explicit: whether it names its subject itself.
    """

    sentence: int
    values: tuple[Value, ...]
    words: frozenset[str]
    subject: frozenset[str]
    names: frozenset[str]
    explicit: bool


@dataclass(frozen=True, slots=True)
class HeldSentence:
    """Describe a sentence with what it takes from the sentences before it.

    Attributes:
        number: its position in its source.
        pieces: its parts.
        inherited: stems of the subject that its pronoun stands for, or names that "the company" may stand for.
        heading: stems of the heading above it.
        explicit: whether it names its subject itself.
    """

    number: int
    pieces: tuple[Piece, ...]
    inherited: frozenset[str]
    heading: frozenset[str]
    explicit: bool


@lru_cache(maxsize=KEPT_SOURCES)
def read_sentences(texts: tuple[str, ...]) -> tuple[HeldSentence, ...]:
    """Read the sentences of one source, in order."""
    found: list[HeldSentence] = []
    topic: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    heading: frozenset[str] = frozenset()
    pair: re.Match[str] | None = None
    for number, text in enumerate(texts):
        if _is_heading(text):
            topic = names = frozenset()
            heading = told_stems(text)
            continue
        pieces = read_pieces(_resolved(text, pair))
        pair = _LIST_OF_TWO.search(text)
        if not pieces:
            continue
        opening = pieces[0]
        own_names = opening.names & opening.subject
        inherited: frozenset[str] = frozenset()
        if _POSSESSIVE.match(text) and any(piece.names for piece in pieces[:2]):
            # "Its sister tower on Gull Skerry" is another thing than "it".
            explicit = True
        elif opening.opens == "pronoun":
            inherited, explicit = topic, False
        elif opening.opens == "dependent" and topic and is_verb(opening.text.split()[0].lower()):
            # "Weighs just 890 g." under "TrailLite 40 – our lightest pack."
            pieces = (replace(opening, subject=topic, names=opening.names | names), *pieces[1:])
            inherited, explicit = topic, True
        elif _SUBORDINATE.match(text):
            inherited, explicit = names - opening.names, any(piece.names & piece.subject for piece in pieces[:2])
        elif opening.opens == "definite" and not own_names:
            inherited, explicit = names, not names
            topic = opening.subject | names
        else:
            explicit = True
            topic, names = opening.subject, own_names
        found.append(HeldSentence(number, pieces, inherited, heading, explicit))
    return tuple(found)


def _is_heading(text: str) -> bool:
    return (
        not text.rstrip().endswith((".", "!", "?", "。", ";", ","))
        and not _DIGIT.search(text)
        and not read_addresses(text)
        and len(_WORD.findall(text)) <= MAX_HEADING
        and not has_known_verb(text)
    )


def _resolved(text: str, pair: re.Match[str] | None) -> str:
    """Replace "the former" and "the latter" by the two things that the sentence before names."""
    if pair is None:
        return text
    return _FORMER.sub(lambda match: pair["one"] if match["former"] else pair["two"], text)


def read_clauses(sentence: HeldSentence, kind: str) -> Iterator[Clause]:
    """Yield the clauses of a sentence that hold values of one kind."""
    pieces = sentence.pieces
    marked = [place for place, piece in enumerate(pieces) if values_of(piece, kind)]
    if not marked:
        return
    groups = [list(pieces)] if len(marked) == 1 else _groups(pieces, marked)
    above = sentence.inherited | sentence.heading
    before: Clause | None = None
    last: Piece | None = None
    for group in groups:
        classes = frozenset() if kind in CLASS_KINDS else frozenset().union(*(piece.classes for piece in group))
        words = classes.union(*(piece.words for piece in group))
        names = frozenset().union(*(piece.names for piece in group))
        subject, explicit = group[0].subject, sentence.explicit if before is None else True
        if before is not None and last is not None:
            if group[0].opens == "relative":
                subject = last_phrase(last)
            elif group[0].opens == "dependent" and group[0].subject & before.subject:
                pass  # "In spring the pool is open 14 hours, in winter the pool is open 9 hours": it has a subject itself.
            elif group[0].opens in ("dependent", "pronoun"):
                subject, explicit = before.subject, before.explicit
            elif not words:
                words, subject, explicit = before.words, before.subject, before.explicit
        subject |= classes & group[0].classes
        values = tuple(value for piece in group for value in values_of(piece, kind))
        clause = Clause(sentence.number, values, words | subject | above, subject, names, explicit)
        yield clause
        before, last = clause, group[-1]


def _groups(pieces: Sequence[Piece], marked: Sequence[int]) -> list[list[Piece]]:
    """Divide the pieces among those with a value."""
    groups = [list(pieces[: marked[0] + 1])]
    for left, right in pairwise(marked):
        between = pieces[left + 1 : right]
        own = next((place for place, piece in enumerate(between) if not piece.opens.endswith("t")), len(between))
        groups[-1] += between[:own]
        groups.append([*between[own:], pieces[right]])
    groups[-1] += pieces[marked[-1] + 1 :]
    return groups
