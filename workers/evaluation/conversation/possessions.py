"""List what the speaker and others have, do or chose in the earlier turns, for "mine", "theirs" and "her car".

"I booked room Elm and my colleague booked room Oak" gives the speaker room Elm and the colleague room Oak.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workers.evaluation.conversation.mentions import Gender, phrase_mentions
from workers.evaluation.text.parser import parse_together

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_OWN = frozenset(("mine", "ours", "my", "our"))
_STANDING = frozenset(("mine", "ours", "theirs", "hers"))
"""Forms that stand without a noun."""
_OTHERS: dict[str, Gender] = {"hers": "she", "her": "she", "his": "he"}
_WORDS = frozenset((*_OWN, *_STANDING, *_OTHERS, "their"))
_JOINT = re.compile(r"(?<=[.!?])\s+|[,;]?\s+(?:and|but|while|whereas)\s+(?=(?:I|we|my|our|his|her|their|he|she)\b)")
"""The joint before a clause about another person; a parse often joins such clauses wrongly."""
_OBJECTS = frozenset(("dobj", "attr", "oprd", "pobj"))
MAX_THING = 6
"""Most words of what somebody has."""
_SPEAKER = frozenset(("i", "we"))


@dataclass(frozen=True, slots=True)
class Possession:
    """Describe what somebody has: the owner's gender, ``None`` for the speaker, and the thing as written."""

    owner: Gender | None
    thing: str


def possessions(query: "Doc", texts: Sequence[str]) -> list[Possession]:
    """Return what the turns of a user give to whom, in order, if a query asks for it; questions give nothing."""
    if not any(token.lower_ in _WORDS for token in query):
        return []
    clauses = [part for text in texts for part in _JOINT.split(text) if "?" not in part]
    return [found for doc in parse_together(clauses) for sentence in doc.sents for found in _of_sentence(sentence)]


def _of_sentence(sentence: "Span") -> Iterator[Possession]:
    chunks = {chunk.root.i: chunk for chunk in sentence.noun_chunks}
    for verb in sentence:
        if verb.pos_ not in ("VERB", "AUX"):
            continue
        subject = next((each for each in verb.children if each.dep_ == "nsubj"), None)
        thing = _thing(verb, chunks)
        if subject is None or not thing:
            continue
        if subject.lower_ in _SPEAKER:
            yield Possession(None, thing)
        elif subject.i in chunks and (told := next(phrase_mentions(chunks[subject.i], 0.0), None)):
            yield Possession(told.gender, thing)


def _thing(verb: "Token", chunks: "dict[int, Span]") -> str:
    """Return the objects of a verb as written, if they have a name or a number that tells which one it is."""
    words = [verb, *(word for word in verb.children if word.dep_ == "prep")]
    places = [each.i for word in words for each in word.children if each.dep_ in _OBJECTS and each.i in chunks]
    if not places:
        return ""
    found = verb.doc[chunks[min(places)].start : chunks[max(places)].end]
    is_named = any(token.text[0].isupper() or token.like_num for token in found)
    return found.text if is_named and len(found) <= MAX_THING else ""


def owned(token: "Token", known: Sequence[Possession]) -> tuple[int, int, str] | None:
    """Return which part of a query is to be replaced for a possessive word, and by what; ``None`` without a thing."""
    word = token.lower_
    if word in _OWN:
        things = [each.thing for each in known if each.owner is None]
    elif word in ("theirs", "their"):
        things = [each.thing for each in known if each.owner is not None]
    elif (gender := _OTHERS.get(word)) is not None:
        things = [each.thing for each in known if each.owner in (gender, "person")]
    else:
        return None
    if len(set(things)) != 1 or not known or len({each.owner is None for each in known}) < 2:
        return None  # with one owner alone nothing can be confused
    if word in _STANDING:
        return token.idx, token.idx + len(token), things[0]
    if token.tag_ != "PRP$":
        return None
    end = token.head.idx + len(token.head)
    return end, end, f" ({things[0]})"
