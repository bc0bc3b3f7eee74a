"""Answer questions for yes or no about the members of a list: "Is Windows 10 supported?" over "Supported systems: …"."""

import re
from collections.abc import Sequence

from workers.evaluation.clauses.predicates import predicate_stem
from workers.evaluation.text.words import STOP_WORDS

MAX_TEXT = 600
"""Longest sentence that is read, code points."""
MAX_TITLE = 5
"""Most words before the colon of a list."""

_LIST = re.compile(r"^\W*(?P<title>[^:.;]{3,60}):\s+(?P<items>[^:]+?)\W*$")
_ITEM = re.compile(r",\s+(?:and\s+|or\s+)?|;\s+|\s+(?:and|or)\s+", re.IGNORECASE)
_OPEN = re.compile(
    r"\b(?:etc|and (?:more|others)|among others|such as|e\.g|for example|including)\b|\.\.\.|…", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]+")
_DENIED = re.compile(r"\b(?:not|no|never|\w+n['’]t|un\w+|except|excluded|without)\b", re.IGNORECASE)
_POLAR = re.compile(r"\W*(?:is|are|was|were|do|does|did|can|could|will|has|have)\s+(?:there\s+)?", re.IGNORECASE)


def answer_by_list(question: str, sentences: Sequence[str]) -> bool | None:
    """Return whether a list has the member that a question asks for; ``None`` if no list is on its matter.

    The title shares a word with the question; all other words of the question are those of one member. A list that
    says that it is not complete, or has one member only, denies nothing; nor does one of several lists on the matter.

    Args:
        question: a question for yes or no.
        sentences: the evidence.
    """
    opening = _POLAR.match(question)
    if opening is None or _DENIED.search(question):
        return None
    asked = _stems(question[opening.end() :])
    others = [_stems(sentence) for sentence in sentences if not _LIST.match(sentence[:MAX_TEXT])]
    denied, fitting = 0, 0
    for sentence in sentences:
        found = _LIST.match(sentence[:MAX_TEXT])
        if found is None or len(found["title"].split()) > MAX_TITLE or _DENIED.search(found["title"]):
            continue
        title, items = _stems(found["title"]), [_stems(item) for item in _ITEM.split(found["items"])]
        wanted = asked - title
        if not wanted or not asked & title or len(items) < 2:
            continue
        fitting += 1
        if any(wanted <= item for item in items):
            return True
        is_alike = any(bool(wanted & item) for item in items) or _has_name(question[opening.end() :])
        if is_alike and not _OPEN.search(sentence) and not any(wanted <= other for other in others):
            denied += 1
    # One list of two need not have what the other has.
    return False if denied == 1 and fitting == 1 else None


def _has_name(text: str) -> bool:
    return any(character.isupper() or character.isdigit() for character in text)


def _stems(text: str) -> frozenset[str]:
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(predicate_stem(word) for word in words if word not in STOP_WORDS)
