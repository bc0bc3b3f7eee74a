"""Answer a question for yes or no that the evidence itself asks and answers: "Q: Do I have to …? A: No. …"."""

import re
from collections.abc import Sequence
from itertools import pairwise

from workers.evaluation.claims.short_answers import consents
from workers.evaluation.clauses.kinds.marked_fields import root_of
from workers.evaluation.clauses.kinds.permissions import norm_of
from workers.evaluation.text.words import STOP_WORDS, stem, word_set

_LABEL = re.compile(r"^\W*(?:(?:Q|A|Question|Answer)\s?\d{0,2}\s?[.:)]\s*)?", re.IGNORECASE)
_POLAR = re.compile(
    r"(?:is|are|was|were|am|do|does|did|has|have|can|could|will|would|may|might|must|should)\s", re.IGNORECASE
)
_CONDITION = re.compile(r"\b(?:if|unless|only|provided|but|except|long as|until|depends|however)\b", re.IGNORECASE)
_APART = re.compile(r"\b(?P<verb>take|takes|taking|taken|pull|pulling)\s(?P<what>(?:\w+\s){1,4}?)out\b", re.IGNORECASE)
_ONE = {
    word: row.split()[0]
    for row in (
        "remove detach", "switch turn", "buy purchase order", "change alter modify amend edit", "ship deliver dispatch", "repair fix mend", "refund reimburse",
        "start begin commence", "end finish", "join enrol enroll register", "children kids", "pictures photos photographs", "bicycle bike", "bicycles bikes",
        "telephone phone", "help assist", "wash clean",
    )
    for word in row.split()
}  # fmt: skip
"""By word the first one of those that mean the same in questions of customers."""
_WORD = re.compile(r"[^\W_]+")
_ASKING = frozenset(
    map(
        stem,
        word_set(
            "have need needs must required require requires necessary obliged possible allow allowed permit permitted able please really still actually ever"
            " one someone else people you it get want like"
        ),
    )
)
"""Stems of words that ask, permit or require; what kind of norm they make is compared by itself."""
_BEHIND_ARTICLE = (
    r"\b(?:the|my|your|our|this|an?)\s{word}\b(?=\W*$|\s(?:and|or|in|on|at|for|with|before|after|to|of)\b)"
)


def answer_by_asked(question: str, texts: Sequence[str]) -> bool | None:
    """Return the answer that the evidence gives to the same question; ``None`` if it does not ask it or answers with conditions.

    Args:
        question: a question for yes or no.
        texts: sentences of the evidence in order.
    """
    found = set[bool]()
    for one, two in pairwise(texts):
        if not one.rstrip().endswith("?"):
            continue
        asked = _LABEL.sub("", one, count=1)
        says = consents(asked, _LABEL.sub("", two, count=1)) if _POLAR.match(asked) else None
        if says is not None and are_one_question(question, asked):
            if _CONDITION.search(re.split(r"(?<=[.!])\s", _LABEL.sub("", two, count=1))[0]):
                return None
            found.add(says)
    return found.pop() if len(found) == 1 else None


def are_one_question(one: str, two: str) -> bool:
    """Return true if two questions are the same but for words for one act, and for a thing that only the second names."""
    norms = [None if (norm := norm_of(text)) == ("permission", True) else norm for text in (one, two)]
    own, theirs = _words(one), _words(two)
    common, other = own.keys() & theirs.keys(), [theirs[key] for key in theirs.keys() - own.keys()]
    if norms[0] != norms[1] or own.keys() - common or len(common) < 2 or len(other) > 1:
        return False
    return not other or (
        len(common) > 2 and bool(re.search(_BEHIND_ARTICLE.format(word=re.escape(other[0])), two, re.IGNORECASE))
    )


def _words(text: str) -> dict[str, str]:
    text = _APART.sub(r"remove \g<what>", text)
    told = (word.lower() for word in _WORD.findall(text))
    return {
        root_of(_ONE.get(word, word)): word for word in told if word not in STOP_WORDS and stem(word) not in _ASKING
    }
