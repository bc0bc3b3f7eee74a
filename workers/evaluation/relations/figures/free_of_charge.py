"""Compare who pays with who does not: "apprentices pay 5 euros" over "employees pay 5 euros and apprentices nothing"."""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.units import FAMILIES
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words

MAX_TEXT = 300
"""Longest claim, question and sentence that are read, code points."""

_FREE = PrefilteredPattern(
    r"\b(?:for free|free of charge|(?:is|are|travels?|enters?|gets? in|go|stay|park|eat|be) free(?! (?:of|from)\b)|pays? (?:no \w+|nothing)|nothing|no charge|at no (?:cost|charge))\b",
    re.IGNORECASE,
)
_PIECE = re.compile(r"[;,]\s(?:and\s|but\s|while\s|whereas\s)?|\s(?:and|but|while|whereas)\s", re.IGNORECASE)
_SAID = content_words(
    "free pay pays charge cost costs nothing enter get travel go stay park eat fee entry admission price euro"
)


def is_free_of_charge_right(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim takes money from those who pay nothing, or nothing from those who pay.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` unless a part of the evidence names those of the claim, and another part has what the claim says of them.
    """
    claim = claim[:MAX_TEXT]
    is_free = bool(_FREE.search(claim))
    if is_free == _has_price(claim) or DENIED.search(_FREE.sub(" ", claim)):
        return None
    told = _words(f"{claim} {question}")
    parts = [part for sentence in sentences for part in _parts(sentence[:MAX_TEXT])]
    own = {words & told for words, free, priced in parts if (priced if is_free else free)} - {frozenset()}
    same = frozenset().union(*(words for words, free, priced in parts if (free if is_free else priced)))
    return False if own and same and not told & same else None


def _parts(sentence: str) -> Iterator[tuple[frozenset[str], bool, bool]]:
    """Yield the words of each part of a sentence, and whether it is free or has a price."""
    for piece in _PIECE.split(sentence):
        yield _words(piece), bool(_FREE.search(piece)), _has_price(piece)


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in content_words(text) if word not in _SAID and not word[0].isdigit())


def _has_price(text: str) -> bool:
    return any(FAMILIES.get(number.dimension) == "money" for number in read_details(text).quantities)
