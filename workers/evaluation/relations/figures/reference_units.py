"""Compare what a figure is stated for: "32 mg per bottle" over "32 mg per 100 ml", "48 dollars a month" over "a year"."""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.text.words import content_words, stem, word_set

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""

_TIMES = "second minute hour day night week fortnight month quarter term semester season year"
_COUNTED = "person head guest visitor passenger piece unit item kilo kilogram gram litre liter metre meter mile bottle box group cycle trip"
_KIND = r"(?:(?:calendar|full|whole|single|academic|financial)\s)?"
"""Adjectives of a reference that leave it the same: "per calendar year"."""
_REFERENCE = re.compile(
    r"(?<![\d.,])(?P<figure>[$€£¥]?\d(?:[\d.,]{0,15}\d)?)(?!\d)(?P<unit>(?:[-\s](?!(?:per|each|every|an?|and|or|but|to)\b)[^\W\d_]+){0,5}|\s?%)?"
    rf"(?P<references>(?:\s?(?:\bper\b|\beach\b|\bevery\b|/|\ban?\b(?=\s(?:{'|'.join((_TIMES + ' ' + _COUNTED).split())})\b))\s?(?:\d[\d.,]*\s?)?{_KIND}[^\W\d_]+)+)",
    re.IGNORECASE,
)
_ONE = re.compile(
    rf"(?:\bper|\beach|\bevery|/|\ban?)\s?(?P<amount>\d[\d.,]*\s?)?{_KIND}(?P<noun>[^\W\d_]+)", re.IGNORECASE
)
_GENERIC = re.compile(rf"\b(?:{'|'.join(_TIMES.split())})ly\b|\b(?:daily|annual(?:ly)?)\b", re.IGNORECASE)
_SAME = {
    **dict.fromkeys(word_set("head capita guest visitor passenger participant pax"), "person"),
    **dict.fromkeys(word_set("annum yr annual"), "year"),
    **dict.fromkeys(word_set("night daily dai diem"), "day"),
    **dict.fromkeys(word_set("unit item"), "piece"),
    **dict.fromkeys(word_set("kg kilo kilos"), "kilogram"),
    **dict.fromkeys(word_set("l liter"), "litre"),
    **dict.fromkeys(word_set("ml millilitre milliliter"), "millilitre"),
    **dict.fromkeys(word_set("m meter"), "metre"),
    **dict.fromkeys(word_set("h hr"), "hour"),
    "s": "second", "sec": "second", "min": "minute", "wk": "week", "g": "gram", "semester": "term",
}  # fmt: skip


def is_reference_kept(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if the evidence has a claim's figure for another reference only: per group, not per person.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if the evidence has not each figure of the claim with a reference, or has one as the claim does.
    """
    told = content_words(f"{question} {claim}")
    for figure, unit, references in _read(claim[:MAX_TEXT]):
        known = set[str]()
        for sentence in sentences:
            sentence = sentence[:MAX_TEXT]
            known |= {
                reference
                for other, their_unit, theirs in _read(sentence)
                # "5 dollars a child and 5 euros an adult" are two figures.
                if other == figure
                and (not unit or not their_unit or unit & their_unit)
                and told & content_words(sentence)
                for reference in theirs
            }
            known |= {_name(match[0].removesuffix("ly")) for match in _GENERIC.finditer(sentence)} if known else set()
        if known and not references & known:
            return False
    return None


def _read(text: str) -> Iterator[tuple[str, frozenset[str], frozenset[str]]]:
    """Yield each figure that has a reference, with the words of its unit and its references."""
    for match in _REFERENCE.finditer(text):
        references = frozenset(_reference(each) for each in _ONE.finditer(match["references"]))
        yield re.sub(r"[$€£¥,]", "", match["figure"]).rstrip("."), content_words(match["unit"] or ""), references


def _reference(match: re.Match[str]) -> str:
    amount = (match["amount"] or "").strip().replace(",", "")
    return f"{'' if amount == '1' else amount}{_name(match['noun'])}"


def _name(noun: str) -> str:
    word = noun.lower()
    word = word[:-1] if word.endswith("s") and len(word) > 3 and not word.endswith("ss") else word
    return stem(_SAME.get(word, word))
