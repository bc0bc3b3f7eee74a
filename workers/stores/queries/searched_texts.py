"""Search for words in stored texts, without regard to case and accents.

Texts and words are folded in the same way: by ClickHouse in a statement, and here for the words and for what a page
marks. ``removeDiacriticsUTF8`` would do it, but the oldest tested version of ClickHouse lacks it, and it keeps "ł".
"""

import re
import unicodedata
from collections.abc import Iterable

MOST_WORDS = 20
"""Maximum number of words of a search."""
_SEARCHED = re.compile(r'"([^"]+)"|([^\s"]+)')

_MARKS = "".join(chr(code) for code in range(0x300, 0x700) if unicodedata.category(chr(code)) == "Mn")
"""Accents, points and vowel signs that Latin, Greek, Cyrillic, Hebrew and Arabic are also written without. Those of other
scripts make other letters: "が" is no "か"."""


def _letters() -> dict[str, str]:
    """Return the letter without accents of each letter with some, and the usual key of typographic characters."""
    alike = zip("łŁøØđĐħĦŧŦıς’‘‐‑\u00a0\u202f", "lLoOdDhHtTiσ''--  ", strict=True)
    found = dict(alike)
    for code in range(0x80, 0x2200):
        letter = chr(code)
        bare = unicodedata.normalize("NFD", letter).translate(dict.fromkeys(map(ord, _MARKS)))
        if letter.isalpha() and len(bare) == 1 and bare != letter:
            found[letter] = bare
    return found


_LETTERS = _letters()
_PAIRS = {"ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE"}
_FOLDED = str.maketrans(_LETTERS | dict.fromkeys(_MARKS, ""))
_PAIRED = str.maketrans(_PAIRS)


def without_accents(text: str) -> str:
    """Return a text with its letters as they are written without accents; the case stays."""
    return text if text.isascii() else text.translate(_FOLDED).translate(_PAIRED)


def words_of_search(text: str) -> list[str]:
    """Return the words and phrases of a search, without accents; of a search without a word the search as it is."""
    words = (without_accents(phrase or word) for phrase, word in _SEARCHED.findall(text))
    return [word for word in words if word][:MOST_WORDS] or [text or " "]


def folded_sql(text: str) -> str:
    """Return an expression for a text without accents.

    Args:
        text: expression of type String. Texts in ASCII, which most are, are taken as they are: folding costs more than
            the search.
    """
    letters = (_quoted("".join(part)) for part in ([*_LETTERS, _MARKS], _LETTERS.values()))
    # What has no counterpart among the letters without accents is removed.
    folded = f"translateUTF8({text}, {', '.join(letters)})"
    for letter, pair in _PAIRS.items():
        folded = f"replaceAll({folded}, {_quoted(letter)}, {_quoted(pair)})"
    return f"if(length({text}) = lengthUTF8({text}), {text}, {folded})"


def holds_words(*columns: str) -> str:
    """Return a condition for rows in which all words of a search occur, each in any of some columns.

    Its parameter is ``words``, an array of the words of ``words_of_search``.
    """
    text = "concat(" + ", '\\n', ".join(columns) + ")"
    return f"arrayAll(place -> place > 0, multiSearchAllPositionsCaseInsensitiveUTF8({folded_sql(text)}, {{{{words:Array(String)}}}}))"


def quoted_list(texts: Iterable[str]) -> str:
    """Return the elements of a list of texts in SQL."""
    return ", ".join(map(_quoted, texts))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
