"""Find short answers that a list gives to another of its members than the question asks about.

"La fase è grigia, il neutro rosso e la terra bianca" gives each wire a colour. The question for the neutral wire names
a word of the second part, and "grigio" stands in the first one. The parts are compared word by word, without a grammar.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from workers.evaluation.contradictions.parallel_clauses import cut_clauses, is_small, stems_of
from workers.evaluation.text.words import KEPT_TEXTS, word_set

LETTERS = 2
"""Number of characters that count as a word in scripts without spaces."""
KEY = 5
"""Letters by which words are compared, since endings vary: "grigio" and "grigia"."""
MAX_VALUE = 4
"""Most words of a short answer."""
MAX_OTHERS = 4
"""Most words of a part besides those of the question and the answer; longer parts are statements of their own."""

_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_VERBS = word_set(
    "ist sind war waren hat haben wird werden kann können est sont était a ont peut es son era está tiene puede è sono"
    " ha può foi é são tem pode was heeft kan wordt jest są był była ma может имеет"
)
"""Verbs that make a part a statement of its own."""


def belongs_to_other(question: str, answer: str, sentences: Iterable[str]) -> bool:
    """Return true if a list gives a short answer to another member than the one that its question names.

    Args:
        question: the question.
        answer: a figure, a name or a few words without a verb.
        sentences: the evidence.
    """
    value, asked = _keys(answer), _keys(question)
    if not value or _size(value) > MAX_VALUE or value <= asked:
        return False
    found = [result for text in sentences if (result := _placed(value, asked - value, _parts(text))) is not None]
    return found == [True]


def _placed(value: frozenset[str], asked: frozenset[str], parts: tuple[frozenset[str], ...]) -> bool | None:
    """Return whether a value stands in the part of another member; ``None`` if the parts do not hold it."""
    holding = [place for place, part in enumerate(parts) if value <= part]
    if not holding:
        return None
    if len(holding) > 1:
        return False
    place = holding[0]
    own = parts[place]
    foreign = own - value - asked
    if not foreign or _size(foreign) > MAX_OTHERS:
        return False
    return any(_is_asked(own, rival, asked, value, is_first=not place) for rival in parts if rival is not own)


def _is_asked(
    own: frozenset[str], rival: frozenset[str], asked: frozenset[str], value: frozenset[str], *, is_first: bool
) -> bool:
    """Return true if a part names what the question names, and has a value of the same form."""
    theirs = rival - asked - own
    if not (rival & asked) - own or not 0 < len(theirs) <= MAX_OTHERS:
        return False
    if (own & asked) - rival and not is_first:
        return False  # only the first part has the words that hold for all
    return any(map(_is_figure, theirs)) == any(map(_is_figure, value))


def _size(keys: frozenset[str]) -> float:
    return sum(1 / LETTERS if _UNSPACED.match(key) else 1 for key in keys)


def _is_figure(key: str) -> bool:
    return key[0].isdigit()


@lru_cache(maxsize=KEPT_TEXTS)
def _parts(text: str) -> tuple[frozenset[str], ...]:
    """Return the words of the parts of a list; a sentence with two statements is none."""
    cut = cut_clauses(text)
    # The verb of a list stands once: "la fase è grigia, il neutro rosso".
    if len(cut) < 2 or sum(bool(_VERBS & set(part.lower().split())) for part in cut) > 1:
        return ()
    parts: list[frozenset[str]] = []
    for part in map(_keys, reversed(cut)):
        if parts and len(part) == 1:
            parts[-1] |= part  # "top and sides of maple"
        else:
            parts.append(part)
    return tuple(reversed(parts))


def _keys(text: str) -> frozenset[str]:
    return frozenset(word[:KEY] for word in stems_of(text) if not is_small(word))
