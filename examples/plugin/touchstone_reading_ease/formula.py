"""Compute Flesch's reading ease of English text."""

import re
from dataclasses import dataclass

_NOT_PROSE = re.compile(r"```.*?```|`[^`]*`|\[[^\]]*\]|https?://\S+", re.S)
_SENTENCE_END = re.compile(r"[.!?:]+(?:\s|$)|\n+")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_VOWELS = re.compile(r"[aeiouy]+")


@dataclass(frozen=True, slots=True)
class Readability:
    """Figures of a text.

    Attributes:
        words: number of words.
        words_in_sentence: mean length of a sentence, words.
        syllables_in_word: mean length of a word, syllables.
        ease: Flesch's reading ease; about 100 for very easy text, 0 and less for very difficult text.
    """

    words: int
    words_in_sentence: float
    syllables_in_word: float
    ease: float


def readability(text: str) -> Readability | None:
    """Return the figures of a text, or ``None`` if it has no words. Code, references and addresses do not count."""
    prose = _NOT_PROSE.sub(" ", text)
    words = _WORD.findall(prose)
    if not words:
        return None
    sentences = sum(bool(_WORD.search(part)) for part in _SENTENCE_END.split(prose))
    in_sentence, in_word = len(words) / sentences, sum(map(_syllables, words)) / len(words)
    return Readability(len(words), in_sentence, in_word, 206.835 - 1.015 * in_sentence - 84.6 * in_word)


def _syllables(word: str) -> int:
    letters = word.lower()
    silent = letters.endswith("e") and not letters.endswith("le")
    return max(1, len(_VOWELS.findall(letters)) - silent)
