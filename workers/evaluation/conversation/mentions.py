"""List what earlier turns mention, and choose the mention that a pronoun or a choice ("the second one") stands for.

A mention is ranked by how recent its turn is, by its part in its sentence, and by whether it is a name. The order is
that of centering (Grosz, Joshi and Weinstein, 1995): the subject before the object before the rest.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from workers.evaluation.text.words import word_set

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

Gender = Literal["he", "she", "person", "thing"]

_ROLES = {"nsubj": 2.0, "nsubjpass": 2.0, "dobj": 1.0, "attr": -1.0, "npadvmod": -3.0}
_NAME = 2.0
_AGE = 2.0
"""Rank that a mention loses for each turn after it."""
_FRAGMENT = 6.0
"""Rank that mentions of a turn without a verb lose: it answers a question, which says what it is about."""
_OWNED = 3.0
"""Rank that "its zone" loses: what owns it was named before."""
_CONTINUED = 2.0
"""Rank that mentions beside "it" or "she" as the subject lose: the sentence is about what was named before."""
_PLURAL = 1.0
_HE = word_set(
    "mr sir lord father dad husband son brother uncle grandfather grandson nephew boyfriend man boy king gentleman"
)
_SHE = word_set(
    "ms mrs miss dame lady mother mum mom wife daughter sister aunt grandmother granddaughter niece girlfriend woman girl"
    " queen"
)
_PEOPLE = word_set(
    "dr prof professor doctor nurse teacher boss manager customer patient client tenant landlord colleague friend partner"
    " child kid baby cousin neighbour neighbor author founder director coach engineer president minister employee student"
)
TIMES = word_set(
    "second minute hour day week month year today tomorrow yesterday monday tuesday wednesday thursday friday saturday sunday"
    " morning afternoon evening night time spring summer autumn winter january february march april may june july august"
    " september october november december mondays tuesdays wednesdays thursdays fridays saturdays sundays"
)
_PLACES = word_set("in at to on near from inside outside")
_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+(?P<item>[^\n:–]{1,80})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Mention:
    """Describe a phrase that stands for something.

    Attributes:
        text: the phrase as written, without what follows it ("who joined in May").
        rank: the higher, the likelier is it what a pronoun stands for.
        is_plural: more than one.
        gender: a man, a woman, a person, or anything else.
        is_place: whether it says where.
    """

    text: str
    rank: float
    is_plural: bool
    gender: Gender
    is_place: bool


def mentions(doc: "Doc", age: int) -> list[Mention]:
    """Return what a turn mentions, in the order of the text.

    Args:
        doc: the parsed turn.
        age: number of turns after it.
    """
    found: list[Mention] = []
    for sentence in doc.sents:
        if sentence.text.rstrip().endswith("?") and age == 0:
            continue  # a question at the end of an answer ("What would you like to know?") names nothing new
        has_verb = any(token.pos_ in ("VERB", "AUX") for token in sentence)
        continued = any(token.dep_ in ("nsubj", "nsubjpass") and token.lower_ in _KINDS for token in sentence)
        lost = _AGE * age + (0.0 if has_verb else _FRAGMENT) + (_CONTINUED if continued else 0.0)
        for chunk in sentence.noun_chunks:
            found += phrase_mentions(chunk, lost)
    return found


def phrase_mentions(chunk: "Span", lost: float) -> Iterator[Mention]:
    """Yield what a phrase stands for, and its owner ("Ms Oduya's application")."""
    root = chunk.root
    words = [token for token in chunk if not (token.is_punct or token.is_space)]
    named = any(token.pos_ == "PROPN" for token in words)
    if root.pos_ not in ("NOUN", "PROPN", "NUM") or root.lower_ in TIMES or root.lemma_.lower() in TIMES:
        return
    if not words or words[0].tag_ in ("WDT", "WP", "WRB", "WP$") or (root.like_num and not named):
        return
    owner = next((token for token in words if token.dep_ == "poss" and token.pos_ in ("PROPN", "NOUN")), None)
    owned = list(owner.subtree) if owner is not None else []
    behind = chunk.doc[chunk.end] if chunk.end < len(chunk.doc) else None
    if behind is not None and behind.like_num and behind.head is root:
        words.append(behind)  # "crane 2"
    rank = _ROLES.get(root.dep_, 0.0) + (_NAME if root.pos_ == "PROPN" else 0.0) - lost
    rank -= _OWNED if words[0].tag_ == "PRP$" and words[0].lower_ in ("its", "their", "his", "her") else 0.0
    is_place = root.head.lower_ in _PLACES and root.dep_ == "pobj"
    gender = _gender([token for token in words if token not in owned])
    yield Mention(_written(words), rank, root.tag_ in ("NNS", "NNPS"), gender, is_place)
    if root.dep_ != "conj" and any(child.dep_ == "conj" for child in root.children):
        yield Mention(_written(list(root.subtree)), rank, True, "thing", is_place)
    if owner is not None and (own := [token for token in owned if token.tag_ != "POS"]):
        yield Mention(_written(own), rank, owner.tag_ in ("NNS", "NNPS"), _gender(own), False)


def _written(words: "Sequence[Token]") -> str:
    """Return words as they stand in the text, an article at the start in lower case."""
    text = str(words[0].doc[words[0].i : words[-1].i + 1].text)
    return text[0].lower() + text[1:] if words[0].tag_ in ("DT", "PRP$", "PDT") else text


def _gender(words: "Sequence[Token]") -> Gender:
    said = {token.lower_.rstrip(".") for token in words}
    if said & _HE:
        return "he"
    if said & _SHE:
        return "she"
    if said & _PEOPLE:
        return "person"
    names = [token for token in words if token.pos_ == "PROPN" and token.is_alpha and token.is_title]
    # Two words with capitals may be a person or a product; either is possible.
    return "person" if len(names) >= 2 and len(names) == len(words) else "thing"


def antecedent(pronoun: str, found: Sequence[Mention]) -> Mention | None:
    """Return the mention that a pronoun stands for; of equals the one that comes first.

    Args:
        pronoun: in lower case: he, she, they, it, there or a form of these.
        found: the mentions.
    """
    kind = _KINDS.get(pronoun)
    ranked = [(rank, mention) for mention in found if (rank := _fit(kind, mention)) is not None]
    return max(ranked, key=lambda each: each[0], default=(0.0, None))[1]


_KINDS = {
    **dict.fromkeys(("he", "him", "his"), "he"),
    **dict.fromkeys(("she", "her", "hers"), "she"),
    **dict.fromkeys(("they", "them", "their", "theirs", "these", "those", "both"), "they"),
    "there": "there",
}


def _fit(kind: str | None, mention: Mention) -> float | None:
    """Return the rank of a mention for a kind of pronoun; ``None`` if it cannot be meant."""
    if kind in ("he", "she"):
        if mention.is_plural or mention.gender not in (kind, "person"):
            return None
        return mention.rank + (_NAME if mention.gender == kind else 0.0)
    if kind == "they":
        return mention.rank + (_PLURAL if mention.is_plural else -_PLURAL)
    if kind == "there":
        return mention.rank + _NAME if mention.is_place else None
    # "it": a man, a woman or several things are not meant.
    if mention.gender in ("he", "she") or mention.is_plural:
        return None
    return mention.rank


def listed(doc: "Doc", text: str) -> list[str]:
    """Return the items of the list in a turn: of its lines, or of its longest coordination ("A, B and C")."""
    lines = [match["item"].strip(" *_`.,;") for match in _ITEM.finditer(text)]
    if len(lines) > 1:
        return lines
    chunks = {chunk.root.i: chunk for chunk in doc.noun_chunks}
    best: list[str] = []
    for chunk in chunks.values():
        if chunk.root.dep_ == "conj":
            continue
        items = [chunks[token.i].text for token in _chain(chunk.root) if token.i in chunks]
        best = items if len(items) > len(best) else best
    return best if len(best) > 1 else []


def _chain(token: "Token") -> "Iterator[Token]":
    following: Token | None = token
    while following is not None:
        yield following
        following = next((child for child in following.children if child.dep_ == "conj"), None)
