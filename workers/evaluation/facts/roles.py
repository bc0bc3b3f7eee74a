"""Detect exchanged roles ("Contoso sued Northwind" for "Northwind sued Contoso") and exchanged steps.

Two sentences with the same words contradict each other if two groups of words have exchanged places around the same
middle, unless the middle is symmetric ("and", "met", "equals").
"""

import re
from functools import lru_cache
from itertools import islice

from workers.evaluation.text.words import KEPT_TEXTS, content_words, stem, word_set

MAX_WORDS = 40
"""Maximum number of words of a sentence that is compared word by word."""

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_THEN = re.compile(r",? (?:and )?then |,? after which |; then ", re.IGNORECASE)
_IN_ORDER = re.compile(r"\b(?:first|then|afterwards|next|finally|later|subsequently)\b", re.IGNORECASE)
_ARTICLES = word_set("a an the der die das den dem le la les el los las")
_SYMMETRIC = word_set(
    """
    and or is are was were be equals equal with to from between vs versus met meets meet married marries marry near
    borders border resembles resemble differs differ matches match joins joined shares share und oder et y both
    have has had been being also part include includes included consist consists
    in on at of by as same like different similar apart together alongside linked connected compared
    """
)


def swapped(claim: str, evidence: str) -> bool:
    """Return true if a claim exchanges two roles of the evidence."""
    own, theirs = _tokens(claim), _tokens(evidence)
    if not 3 <= len(own) <= MAX_WORDS or len(own) != len(theirs) or own == theirs or sorted(own) != sorted(theirs):
        return False
    start = next(index for index, (one, two) in enumerate(zip(own, theirs, strict=True)) if one != two)
    end = next(index for index, (one, two) in enumerate(zip(own[::-1], theirs[::-1], strict=True)) if one != two)
    first, second = own[start : len(own) - end], theirs[start : len(theirs) - end]
    for left in range(1, len(first) - 1):
        for right in range(1, len(first) - left):
            middle = first[left : len(first) - right]
            turned = first[len(first) - right :] + middle + first[:left]
            if turned == second and not set(middle) <= _SYMMETRIC:
                return True
    return False


def reordered(claim: str, evidence: str) -> bool:
    """Return true if the evidence has the two steps of a claim ("…, then …") in the reverse order.

    The evidence must state an order and contain all words of both steps.
    """
    parts = _THEN.split(claim)
    if len(parts) != 2 or not _IN_ORDER.search(evidence):
        return False
    steps = [[stem(match[0]) for match in _WORD.finditer(part) if content_words(match[0])] for part in parts]
    matches = list(_WORD.finditer(evidence))
    places = {stem(match[0]): match.start() for match in reversed(matches)}
    last = {stem(match[0]): match.start() for match in matches}
    if min(map(len, steps)) < 2 or not all(word in places for step in steps for word in step):
        return False
    # In an instruction the verb comes first: "then start the pump".
    return places[steps[0][0]] > last[steps[1][0]]


@lru_cache(maxsize=KEPT_TEXTS)
def _tokens(text: str) -> tuple[str, ...]:
    words = [match[0] for match in _WORD.finditer(text)]
    # The "A" of "plan A" is a name; at the start of a sentence it is an article.
    kept = (
        word
        for index, word in enumerate(words)
        if word.lower() not in _ARTICLES or (index and word in ("A", "LA", "EL"))
    )
    return tuple(word.lower() for word in islice(kept, MAX_WORDS + 1))
