"""Read numbers written in words."""

import re
from collections.abc import Iterator

from workers.evaluation.facts.numbers.bounds import bound_of
from workers.evaluation.facts.numbers.number_forms import is_sign
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.numbers.units_of import noun, rate_of, unit_of
from workers.evaluation.facts.units import AMBIGUOUS_NUMBER_WORDS, NUMBER_WORDS, UNITS
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import key_of

NUMBER_NAME = "(?:" + "|".join(sorted(NUMBER_WORDS, key=len, reverse=True)) + ")"
_POWER = "(?:hundred|thousand|million|billion)"
_AND_ONE = r"(?:(?<=ty)[\s-]one\b(?!-)|(?<=hundred) (?:and )?one\b(?!-)|(?<=thousand|.million|.billion) and one\b(?!-))"
"""The last part of "twenty-one" and "a thousand and one"; "twenty one-bedroom flats" are twenty."""
_WORD_NUMBER = PrefilteredPattern(
    rf"(?<!\d[\s-])\b((?:(?:an?|one)[ -](?={_POWER}))?{NUMBER_NAME}(?:(?:[\s-]|(?:(?<=hundred)|(?<=thousand)|(?<=[mb]illion)) and ){NUMBER_NAME}|{_AND_ONE}){{0,5}})\b(?:[\s-]+([^\W\d_]+))?",
    re.IGNORECASE,
)
_TENS_AND_ONES = PrefilteredPattern(
    r"(?<!hundred )(?<!hundred and )\b(twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)[- ]"
    r"(one|two|three|four|five|six|seven|eight|nine)\b(?!-)",
    re.IGNORECASE,
)
_MINUS = re.compile(r"^(.*)\bminus\s$", re.IGNORECASE | re.DOTALL)
_TIMES = PrefilteredPattern(r"\b(once|twice|thrice)\b(?! (?:as|the|an?|per|more)\b)", re.IGNORECASE)


def cardinal(word: str) -> float:
    """Return the value of one number in digits or in a word; 1 for any other word, such as "a"."""
    lowered = key_of(word)
    return float(lowered) if lowered.isdecimal() else NUMBER_WORDS.get(lowered, 1.0)


def spelled_numbers(text: str) -> Iterator[Quantity]:
    """Read the numbers of a text that are written in words, "twice" and "thrice" among them."""
    for match in _WORD_NUMBER.finditer(text):
        words = [word for word in re.split(r"[\s-]+", key_of(match[1])) if word not in ("a", "an", "and")]
        following = key_of(match[2] or "")
        if (
            len(words) == 1
            and words[0] in AMBIGUOUS_NUMBER_WORDS
            and following not in UNITS
            and match[1] == match[1].split()[-1]
        ):
            continue
        value = composed(words)
        if (minus := _MINUS.search(text[max(0, match.start() - 30) : match.start()])) and is_sign(minus[1]):
            value = -value
        dimension, factor, is_unit = unit_of(following, "")
        bound = bound_of(text, match.start())
        per = rate_of(text, match.end())
        yield Quantity((value * factor,), dimension, is_unit, bool(bound), 0.5 * factor, bound, value, per, match[0])
    for match in _TIMES.finditer(text):
        value = 1.0 + ("once", "twice", "thrice").index(key_of(match[1]))
        if value > 1:
            yield Quantity((value,), noun("times"), False, False, 0.5, 0, value, written=match[0])


def tens_in_digits(text: str) -> str:
    """Return a text with "24" for "twenty-four", which a parser of sentences reads as two numbers."""
    return _TENS_AND_ONES.sub(lambda match: f"{composed([key_of(match[1]), key_of(match[2])]):g}", text)


def composed(words: list[str]) -> float:
    """Compute the value of consecutive number words: "two hundred fifty", "twenty four"."""
    total, current = 0.0, 0.0
    for word in words:
        value = 1.0 if word == "one" else NUMBER_WORDS[word]
        if word == "dozen" and current:
            current *= value
        elif value >= 1000:
            total, current = total + (current or 1.0) * value, 0.0
        elif value == 100:
            current = (current or 1.0) * value
        else:
            current += value
    return total + current
