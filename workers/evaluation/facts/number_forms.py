"""Decide about the signs and letters around a figure, which mean different things in different places."""

import re

from workers.evaluation.facts.units import UNITS
from workers.evaluation.text.words import STOP_WORDS, word_set

_FIGURE_BEFORE = re.compile(r"\d\s?(?:[%€$£]|°[CF]?|[^\W\d_]{1,3})?\s*$")
_NUMBER_BEFORE = re.compile(r"\b(?:two|three|four|five|six|seven|eight|nine|ten|\w+teen|\w+ty|hundred|thousand)\s+$")
_SIZED = word_set(
    """
    block packet header key file payload buffer page chunk message frame record cache line object limit memory disk
    entry field hash string token_size response request body row load truck crane lorry trailer capacity
    """
)
"""Things that have a size in bytes or a weight in tonnes: "a 64B packet", "a 5T crane"."""


def is_sign(before: str) -> bool:
    """Return true unless a figure stands before a dash or "minus": "3 –5 days" is a range, "10 minus 5" a calculation.

    Args:
        before: the text before the dash or word, its last 20 code points at least.
    """
    return not (_FIGURE_BEFORE.search(before) or _NUMBER_BEFORE.search(before))


def is_scale(letter: str, figure: str, has_currency: bool, following: str) -> bool:
    """Return true if B or T behind a figure is a billion or a trillion, and not bytes or tonnes.

    It is one behind a currency ("$1.5B", "$2t"), before a currency or a noun that has no size of its own ("4.5B USD",
    "70B parameters"), and behind a fraction of a B, since there is no fraction of a byte.

    Args:
        letter: the letter as written.
        figure: the figure before it as written.
        has_currency: a currency stands before the figure.
        following: the word behind the letter, in lower case.
    """
    if has_currency:
        return True
    if letter.islower():
        return False
    if letter == "B" and ("." in figure or "," in figure):
        return True
    if following in UNITS:
        return UNITS[following][0] in ("usd", "eur", "gbp", "jpy", "chf", "pln", "rub")
    is_noun = len(following) > 2 and following not in STOP_WORDS
    return is_noun and following not in _SIZED and following.removesuffix("s") not in _SIZED
