"""Compare who did something by full names: "Ida Boone scored the winner in the 88th minute" over another's goal."""

import re
from collections.abc import Sequence

from workers.evaluation.text.words import content_words

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""
MIN_WORDS = 3
"""Fewest words of a claim beside the name from which another sentence is known to tell the same."""
SHARED = 0.75
"""Least share of these words in the sentence on another person."""
OWN_SHARE = 0.4
"""Largest share in a sentence on the claim's person, or on one that it does not name."""

_NAME = r"[A-Z][^\W\d_A-Z]+(?:[-'’][A-Z][^\W\d_]+)?"
_SUBJECT = re.compile(rf"(?P<first>{_NAME})\s(?P<last>{_NAME})\s(?P<rest>[a-z].*)", re.DOTALL)
_FULL_NAME = re.compile(rf"\b(?P<first>{_NAME})\s(?P<last>{_NAME})\b")
_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")


def is_person_right(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a sentence has all that a claim says, of another person, and no sentence has half of it otherwise.

    Args:
        claim: the claim, or the short answer.
        sentences: the evidence.

    Returns:
        ``None`` if the claim does not begin with a full name that the evidence has, or its deed is not found.
    """
    match = _SUBJECT.match(claim[:MAX_TEXT])
    if not match or not any(match["last"] in sentence for sentence in sentences):
        return None
    words, figures = content_words(match["rest"]), set(_FIGURE.findall(match["rest"]))
    if len(words) < MIN_WORDS:
        return None
    of_others = False
    for sentence in sentences:
        sentence = sentence[:MAX_TEXT]
        share = len(words & content_words(sentence)) / len(words)
        persons = {name["last"] for name in _FULL_NAME.finditer(sentence)}
        if match["last"] in sentence or match["first"] in sentence or not persons:
            if share > OWN_SHARE:
                return None
        elif share >= SHARED and figures and figures <= set(_FIGURE.findall(sentence)) and len(persons) == 1:
            of_others = True
    return False if of_others else None
