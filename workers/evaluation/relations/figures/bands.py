"""Look a value up in bands: "parcels from 2 to 5 kg cost 9 euros" holds for a parcel of 3 kg, and no other band does."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from workers.evaluation.text.words import STOP_WORDS, stem

MAX_TEXT = 300
"""Longest claim and question that are read, code points."""
MAX_EVIDENCE = 1_500
"""Longest evidence that is read, code points."""
MAX_BANDS = 20
"""Maximum number of bands."""
LEAST_BANDS = 2
"""Number of bands from which a value can be that of another band."""

_FIGURE = r"[-−]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-−]?\d+(?:[.,]\d+)?"
_BEFORE = r"(?:(?P<before>[^\W\d_]{1,30})\s)?(?:(?:of|from|between|aged)\s)?(?P<series>[^\W\d_]{1,4}-)?[$€£]?"
_BAND = re.compile(
    rf"{_BEFORE}(?P<low>{_FIGURE})(?:\s?[^\W\d_%]{{1,3}}\.?|\s?%)?\s?(?:to|and|–|-|up to|through|until)\s?(?:[^\W\d_]{{1,4}}-)?[$€£]?(?P<high>{_FIGURE})(?:[-\s]?(?P<unit>[^\W\d_]{{1,30}}|%))?",
    re.IGNORECASE,
)
_JOINED = re.compile(
    r"\d(?:\s?[^\W\d_%]{1,3}\.?|\s?%)?\s?(?:to|and|–|-|up to|through|until)\s?(?:[^\W\d_]{1,4}-)?[$€£]?[-−]?\d",
    re.IGNORECASE,
)
"""The middle of a band, which begins with a figure and is found much faster."""
_VALUE = re.compile(
    rf"(?:(?P<before>[^\W\d_]{{1,30}})\s)?(?:of\s)?(?P<series>[^\W\d_]{{1,4}}-)?[$€£]?(?P<value>{_FIGURE})(?!\d)(?:[-\s]?(?P<unit>[^\W\d_]{{1,30}}|%))?",
    re.IGNORECASE,
)
_END = re.compile(r"[;|\n]|\.\s|\.$")
_PART = re.compile(r",?\s(?:and|or)\s|,\s")
_TOKEN = re.compile(r"(?<![\w-])[-−]\d[\d.,]*\d|[^\W_]+(?:[.,]\d+)*")
_AGE = frozenset(map(stem, ("age", "ages", "aged", "year", "years", "old", "children", "child", "kids")))


@dataclass(frozen=True, slots=True)
class _Band:
    low: float
    high: float
    keys: frozenset[str]
    tokens: frozenset[str]


def is_in_band(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Compare a claim with the band of the evidence that contains its value.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence, those of one source in order.

    Returns:
        False if the claim says what another band has, true if it says what its own band alone has; ``None`` without
        two bands of one kind, a value of that kind in claim or question, or a word that tells the bands apart.
    """
    bands = _bands(" ".join(sentences)[:MAX_EVIDENCE])
    if len(bands) < LEAST_BANDS:
        return None
    claim, question = claim[:MAX_TEXT], question[:MAX_TEXT]
    for text in (claim, question):
        for written, value, keys in _values(text):
            tokens = tokens_of(claim) - {written}
            alike = [band for band in bands if band.keys & keys]
            own = [band for band in alike if band.low <= value <= band.high]
            if len(alike) < 2 or len(own) != 1:
                continue
            others = [band for band in alike if band is not own[0]]
            elsewhere = frozenset().union(*(band.tokens for band in others))
            # What every other band has as well does not tell them apart.
            is_own = bool(tokens & (own[0].tokens - elsewhere))
            is_other = bool(tokens & (elsewhere - own[0].tokens))
            return None if is_own == is_other else is_own
    return None


@lru_cache(maxsize=256)
def _bands(text: str) -> tuple[_Band, ...]:
    return tuple(_read_bands(text))


def _read_bands(text: str) -> Iterator[_Band]:
    if len(_JOINED.findall(text)) < LEAST_BANDS:
        return
    matches = list(_BAND.finditer(text))[:MAX_BANDS]
    last: frozenset[str] = frozenset()
    for match in matches:
        low, high = _number(match["low"]), _number(match["high"])
        if low >= high:
            continue
        # A list of bands names its thing once: "Dogs of 2 to 4.9 kg: XS. 5 to 9.9 kg: S."
        last = keys = _keys(match) or last
        start = max((end.end() for end in _END.finditer(text, 0, match.start())), default=0)
        end = next((end.start() for end in _END.finditer(text, match.end())), len(text))
        if any(start <= other.start() < end for other in matches if other is not match):
            start = max((part.end() for part in _PART.finditer(text, start, match.start())), default=start)
            end = next((part.start() for part in _PART.finditer(text, match.end(), end)), end)
        told = tokens_of(text[start : match.start("low")]) | tokens_of(text[match.end("high") : end])
        yield _Band(low, high, keys, told - keys)


def _values(text: str) -> Iterator[tuple[str, float, frozenset[str]]]:
    for match in _VALUE.finditer(text):
        if keys := _keys(match):
            yield match["value"], _number(match["value"]), keys


def _keys(match: re.Match[str]) -> frozenset[str]:
    """Return the words that say what is measured: the unit, else the thing before the figure."""
    if match["series"]:
        return frozenset((match["series"].lower(),))
    words = [stem(word.lower()) for word in (match["unit"], match["before"]) if word]
    words = [word for word in words if word not in STOP_WORDS]
    return _AGE if any(word in _AGE for word in words) else frozenset(words)


def _number(text: str) -> float:
    text = text.replace("−", "-")
    return float(re.sub(r",(?=\d{3}(?:\D|$))", "", text).replace(",", "."))


def tokens_of(text: str) -> frozenset[str]:
    """Return the stems of words, and figures and capital letters as they are: "size M"."""
    found = (match[0] for match in _TOKEN.finditer(text) if match.start() or len(match[0]) > 1 or match[0].isdigit())
    return frozenset(
        word if len(word) == 1 and word.isupper() else stem(word.lower())
        for word in found
        if (len(word) == 1 and word.isupper()) or word.lower() not in STOP_WORDS
    )
