"""Find members that a claim takes into a group from another sentence: "full members and guests may vote".

The evidence says that full members and honorary members may vote, and of guests something else.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.facts.verb_forms import is_verb
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import STOP_WORDS, content_words, stem

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""
MAX_WORDS = 14
"""Most words of a claim; a longer one says more than who belongs to a group."""
COVERED = 0.6
"""Share of the claim's other words that the sentence on the group has."""
MAX_NAME = 2
"""Most words of a member that are compared."""

_AND = PrefilteredPattern(r"\s(?:and|or|as well as)\s(?:the\s|an?\s|its\s|their\s)?", re.IGNORECASE)
_INCLUDING = PrefilteredPattern(
    r"\b(?:all|every|everyone|everybody|any)\b.*?\b(?:including|also|even)\s(?:the\s)?", re.IGNORECASE
)
_OPEN = re.compile(r"\b(?:all|every|everyone|everybody|any|each|others?|etc|both)\b", re.IGNORECASE)
_PIECE = re.compile(r";\s|,\s(?:while|whereas|but)\s", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|[^\w\s]")


def is_member_right(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim takes a member from another sentence into the group of which it speaks.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` unless one sentence has the group with another member, and another sentence the claim's member.
    """
    claim = claim[:MAX_TEXT]
    if DENIED.search(claim) or len(claim.split()) > MAX_WORDS:
        return None
    pieces = [piece for sentence in sentences for piece in _PIECE.split(sentence[:MAX_TEXT])]
    known = [(content_words(piece), piece) for piece in pieces]
    for named, beside in _members(claim):
        # "The free plan" to "Which plans …?" is a plan as the others are.
        member = named - content_words(question) or named
        matter = content_words(f"{claim} {question}") - named - beside
        told = content_words(claim)
        groups = [
            words
            for words, piece in known
            if len(matter & words) >= COVERED * len(matter) > 0
            and not member & words
            and not _OPEN.search(piece)
            and any(
                _has_place(beside, one, two, told) or _has_place(beside, two, one, told) for one, two in _pairs(piece)
            )
        ]
        others = [words for words, _ in known if member <= words]
        most = max((len(matter & words) for words in groups), default=0)
        if others and most > max(len(matter & words) for words in others):
            return False
    return None


def _has_place(beside: frozenset[str], one: frozenset[str], two: frozenset[str], told: frozenset[str]) -> bool:
    """Return true if a pair has the claim's other member beside one that the claim does not have."""
    return not beside or ((beside <= one or one <= beside) and bool(two - one) and not (two - one) & told)


def _members(claim: str) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yield each member that a claim lists, with the one beside it; with no words for "all users, including viewers"."""
    for one, two in _pairs(claim):
        yield one - two, two - one
        yield two - one, one - two
    if match := _INCLUDING.search(claim):
        name = _behind(claim[match.end() :])
        if name:
            yield name, frozenset()


def _pairs(text: str) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    for match in _AND.finditer(text):
        one, two = _before(text[: match.start()]), _behind(text[match.end() :])
        if one and two:
            yield one, two


def _before(text: str) -> frozenset[str]:
    words = takewhile(_is_name, reversed(_WORD.findall(text)))
    return frozenset(stem(word.lower()) for word, _ in zip(words, range(MAX_NAME), strict=False))


def _behind(text: str) -> frozenset[str]:
    words = takewhile(_is_name, (word for word in _WORD.findall(text)))
    return frozenset(stem(word.lower()) for word, _ in zip(words, range(MAX_NAME), strict=False))


def _is_name(word: str) -> bool:
    return word[0].isalpha() and word.lower() not in STOP_WORDS and not is_verb(word.lower())
