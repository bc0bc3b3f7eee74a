"""Compile patterns that are searched only in texts with one of the words that a match needs.

Most patterns of the rules match in few sentences. A pattern without regard to case has no fast way to skip a sentence
where it cannot match, because it is tried at every position. So the words of which each match has at least one are
taken from the pattern itself, and looked for in the text in lower case first.
"""

import re
from collections.abc import Callable, Iterator, Sequence

# The parser of the standard library is the only one that reads its patterns exactly.
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final

from workers.evaluation.text.words import kept_for_sentences, key_of

MAX_WORDS: Final = 200
"""Most words that are looked for; a larger alternation is not faster than the pattern."""
MAX_JOINED: Final = 40
"""Most words that are made of neighbouring alternatives: "s[eo]ll(?:s|ing)?" has six."""
_DIGIT: Final = "\0"
"""Stands for any digit in a needed word."""
_Words = frozenset[str]


class PrefilteredPattern:
    """Search a pattern in texts that have one of the words that each match needs.

    The methods are those of ``re.Pattern`` and have the same results.

    Args:
        pattern: the pattern.
        flags: its flags.

    Attributes:
        pattern: the pattern.
    """

    def __init__(self, pattern: str, flags: int | re.RegexFlag = 0) -> None:
        self.pattern = pattern
        self._pattern = re.compile(pattern, flags)
        # Without needed words the search finds the empty text, and the pattern is searched everywhere.
        needed = needed_words(pattern, flags)
        self._may_match: Callable[[str], object] = re.compile("|".join(map(_as_pattern, sorted(needed)))).search

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match."""
        return self._pattern.search(text) if self._may_match(folded(text)) else None

    def match(self, text: str) -> re.Match[str] | None:
        """Return the match at the start of the text."""
        return self._pattern.match(text) if self._may_match(folded(text)) else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Return all matches."""
        return self._pattern.finditer(text) if self._may_match(folded(text)) else iter(())

    def findall(self, text: str) -> list[Any]:
        """Return the texts or groups of all matches."""
        return self._pattern.findall(text) if self._may_match(folded(text)) else []

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str) -> str:
        """Return the text with all matches replaced."""
        return self._pattern.sub(replacement, text) if self._may_match(folded(text)) else text

    def split(self, text: str) -> list[Any]:
        """Return the parts of the text between the matches."""
        return self._pattern.split(text) if self._may_match(folded(text)) else [text]


def _as_pattern(word: str) -> str:
    return r"\d".join(map(re.escape, word.split(_DIGIT)))


@kept_for_sentences
def folded(text: str) -> str:
    """Return a text in lower case, its look-alike letters as those that patterns without regard to case match."""
    return text.lower() if text.isascii() else key_of(text)


def needed_words(pattern: str, flags: int | re.RegexFlag = 0) -> _Words:
    """Return words of which each match has at least one, in lower case; empty if none follow from the pattern."""
    needed = _needed(parser.parse(pattern, flags)) or frozenset()
    return needed if len(needed) <= MAX_WORDS else frozenset()


def _needed(parts: Sequence[tuple[Any, Any]]) -> _Words | None:
    """Return the most telling set of words of a sequence of parts; ``None`` without any."""
    found: list[_Words] = []
    run: _Words = frozenset(("",))
    for kind, value in parts:
        if kind is codes.AT:
            continue
        own = _all_texts(kind, value)
        if own is not None and len(run) * len(own) <= MAX_JOINED:
            run = _joined(run, own)
            continue
        found.append(run)
        run = frozenset(("",))
        if own is not None:
            run = own
        elif kind in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT) and value[0]:
            # The first of the repeated parts follows on what stands before, the last is followed by what stands behind.
            once = _finite(value[2])
            if once is not None:
                found[-1] = _joined(found[-1], once) if len(found[-1]) * len(once) <= MAX_JOINED else once
                run = once
            else:
                found.append(_needed(value[2]) or run)
        elif kind is codes.SUBPATTERN:
            found.append(_needed(value[3]) or run)
        elif kind is codes.ATOMIC_GROUP:
            found.append(_needed(value) or run)
        elif kind is codes.BRANCH:
            each = [_needed(branch) for branch in value[1]]
            found.append(frozenset().union(*filter(None, each)) if all(each) else run)
    return max((_shortest(words) for words in (*found, run) if "" not in words), key=_telling, default=None)


def _finite(parts: Sequence[tuple[Any, Any]]) -> _Words | None:
    """Return all texts of a sequence; ``None`` if they are too many."""
    texts: _Words = frozenset(("",))
    for kind, value in parts:
        own = frozenset(("",)) if kind is codes.AT else _all_texts(kind, value)
        if own is None or len(texts) * len(own) > MAX_JOINED:
            return None
        texts = _joined(texts, own)
    return texts


def _all_texts(kind: Any, value: Any) -> _Words | None:
    """Return all texts of a part of a pattern in lower case; ``None`` if they are too many."""
    if kind is codes.LITERAL:
        return frozenset((key_of(chr(value)),))
    if kind is codes.IN:
        return _characters(value)
    if kind is codes.SUBPATTERN:
        return _finite(value[3])
    if kind is codes.BRANCH:
        each = [_finite(branch) for branch in value[1]]
        return None if None in each else _bounded(frozenset().union(*filter(None, each)))
    if kind in (codes.MAX_REPEAT, codes.MIN_REPEAT) and value[1] == 1 and not value[0]:
        once = _finite(value[2])
        return None if once is None else _bounded(once | {""})
    return None


def _bounded(texts: _Words) -> _Words | None:
    return texts if len(texts) <= MAX_JOINED else None


def _characters(items: Sequence[tuple[Any, Any]]) -> _Words | None:
    found = set()
    for kind, value in items:
        if kind is codes.LITERAL:
            found.add(key_of(chr(value)))
        elif (kind is codes.CATEGORY and value is codes.CATEGORY_DIGIT) or (
            kind is codes.RANGE and ord("0") <= value[0] and value[1] <= ord("9")
        ):
            found.add(_DIGIT)
        else:
            return None
    return frozenset(found)


def _joined(before: _Words, after: _Words) -> _Words:
    return frozenset(one + two for one in before for two in after)


def _shortest(words: _Words) -> _Words:
    """Return the words that contain no other: each text with "lacks" has "lack"."""
    return frozenset(word for word in words if not any(other != word and other in word for other in words))


def _telling(words: _Words) -> tuple[int, int, int]:
    """Return how much a set of words tells: by its shortest word; of equals figures and small sets tell more."""
    return min(map(len, words)), sum(_DIGIT in word for word in words) // len(words), -len(words)
