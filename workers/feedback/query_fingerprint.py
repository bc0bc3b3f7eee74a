"""Reduce a query to digests that tell whether another query asks something else.

Embeddings put "grinder 5 down?" next to "grinder 6 down?". Two queries ask different things if

- each has a number, date or identifier that the other lacks,
- each has a name that the other lacks,
- they ask for different kinds of things, such as a price and a time (`asked_kinds`),
- one has a word and the other its opposite ("the first tram" and "the last tram"), or
- they are one sentence in which one part was replaced ("the default of max_connections" and "the maximum of
  max_connections").

A query that only adds or drops a detail ("revenue?", then "revenue in 2024?") narrows or widens the same question, which
is what a person does whom the first answer did not serve. It stays a retry.

A replaced part may be a synonym ("the price of the plan", "the cost of the plan"). Neither cosine nor letters tell a
synonym from another thing, so that such a pair counts as two questions: a retry lowers the reward of a model, and is
signalled only where it is sure.

No text is kept. A word is kept as 15 bits of a digest that is salted by the person: many words share each digest, and
a word has other digests for other people.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

from workers.evaluation.contradictions.antonyms import POLES
from workers.evaluation.facts.dates import read_dates, read_weekdays
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.units import AMBIGUOUS_NUMBER_WORDS, MONTHS, NUMBER_WORDS
from workers.evaluation.text.words import STOP_WORDS, key_of, stem, undotted, word_set
from workers.feedback.asked_kinds import MEASURE_WORDS, ask_for_others, asked_kinds

MAX_WORDS = 256
"""Most words of a query that are kept, and most of its values; further ones are not compared."""

_WORD = re.compile(r"[^\W_]+(?:[.,:/'’_-][^\W_]+)*")
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")
_GROUPED = re.compile(r"\d{1,3}(?:[.,'’]\d{3})+")
_FIGURES = re.compile(r"\d+")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_NO_MONTHS = word_set("may march mar mars")
"""Names of months that are other words as well; they count with a day or year."""
_TITLE = re.compile(r"\b(Mr|Mrs|Ms|Dr|Prof)\.")
"""A full stop that does not end a sentence, so that the name behind it is none by its place."""
_OPEN_WORDS = word_set(
    "when where who whose whom why wann wo wohin woher wer wen wem warum wieso quand où qui pourquoi cuándo dónde quién"
    " quando dove chi perché"
)
"""Words for what is asked. "What", "which" and "how" are not among them, since they ask for anything."""
_REQUESTS = word_set(
    "show give tell list need want find get know please explain describe zeig zeige zeigen gib nenne nennen sag brauche"
    " möchte bitte erkläre montre montrez donne donnez dis veux voudrais besoin muestra muéstrame dame dime quiero"
    " necesito favor mostra dammi dimmi voglio cuánto cuánta cuántos cuántas cuál combien quanto quanta quanti quante hoeveel"
    " tiene tienen"
)
"""Words of a request that do not tell what is requested."""


@dataclass(frozen=True, slots=True)
class QueryFingerprint:
    """Hold the digests of a query.

    Attributes:
        words: digests of its words in order, 0..65535; odd ones are of words that tell what is asked.
        values: digests of its numbers, dates and identifiers.
        names: digests of its names, which are among its words.
        asks: the kinds of things that it asks for.
        poles: digests of the pairs of opposites that its words belong to; the lowest bit is the side.
    """

    words: tuple[int, ...]
    values: frozenset[int]
    names: frozenset[int]
    asks: frozenset[str] = frozenset()
    poles: frozenset[int] = frozenset()


def fingerprint(text: str, salt: str) -> QueryFingerprint:
    """Reduce the plain text of a query to digests.

    Args:
        text: the query.
        salt: of the person, so that the digests of two people cannot be compared.
    """
    key = salt.encode()[:64]
    words = [_digest(stem(word), key, odd=_tells(word)) for word in _words(text)[:MAX_WORDS]]
    values = {_digest(value, key, odd=True) for value in sorted(set(_values(text)))[:MAX_WORDS]}
    names = {_digest(stem(name), key, odd=True) for name in read_details(_TITLE.sub(r"\1", text)).names}
    poles = {
        _digest(f"pole {row}", key, odd=side > 0)
        for word in _words(text)[:MAX_WORDS]
        for row, side in POLES.get(word, ())
    }
    return QueryFingerprint(
        tuple(words), frozenset(values), frozenset(names & set(words)), asked_kinds(text), frozenset(poles)
    )


def asks_something_else(one: QueryFingerprint, other: QueryFingerprint) -> bool:
    """Return true if two queries ask different things; symmetric."""
    return bool(
        (one.values - other.values and other.values - one.values)
        or (one.names.difference(other.words) and other.names.difference(one.words))
        or ask_for_others(one.asks, other.asks)
        or any(pole ^ 1 in other.poles - one.poles for pole in one.poles - other.poles)
        or _has_replaced_part(one.words, other.words)
    )


def _has_replaced_part(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Return true if two sentences differ in one part, shorter than the rest, that tells what is asked."""
    shorter = min(len(one), len(other))
    start = next((place for place in range(shorter) if one[place] != other[place]), shorter)
    end = next((place for place in range(shorter - start) if one[-1 - place] != other[-1 - place]), shorter - start)
    parts = one[start : len(one) - end], other[start : len(other) - end]
    tells = [{word for word in part if word % 2} for part in parts]
    return start + end >= max(map(len, parts)) and bool(tells[0] - tells[1] and tells[1] - tells[0])


def _words(text: str) -> list[str]:
    found: list[str] = []
    for token in _WORD.findall(undotted(text)):
        word = key_of(token)
        found += list(word) if _UNSPACED.search(word) else [word]
    return found


def _tells(word: str) -> bool:
    if word in _REQUESTS or word in MEASURE_WORDS:
        return False
    return word in _OPEN_WORDS or word not in STOP_WORDS or word in POLES


def _values(text: str) -> Iterator[str]:
    """Yield the numbers, dates and identifiers of a text, each in one form.

    An identifier yields its number as well ("P-101" also yields 101), so that "pump 101" is no other pump. Parts of
    dates are numbers, so that "May 2024" is "05/2024".
    """
    plain = "".join(str(int(character)) if character.isdecimal() else character for character in text)
    dates, rest = read_dates(plain)
    for date in dates:
        yield from (str(part) for part in (date.year, date.month, date.day) if part is not None)
        if date.minute is not None:
            yield f"time {date.minute}"
    yield from (f"weekday {day}" for day in read_weekdays(plain))
    for token in _WORD.findall(rest):
        word = key_of(token)
        if word in MONTHS and word not in _NO_MONTHS:
            yield str(MONTHS[word])
        elif word in NUMBER_WORDS and word not in AMBIGUOUS_NUMBER_WORDS:
            yield f"{NUMBER_WORDS[word]:g}"
        elif _GROUPED.fullmatch(word):
            yield "".join(_FIGURES.findall(word))
        elif figures := _FIGURE.findall(word):
            if any(character.isalpha() for character in word):
                yield "".join(filter(str.isalnum, word))
            yield from (figure.replace(",", ".").lstrip("0") or "0" for figure in figures)


def _digest(word: str, key: bytes, *, odd: bool) -> int:
    digest = int.from_bytes(blake2b(word.encode(), digest_size=2, key=key).digest())
    return digest | 1 if odd else digest & ~1
