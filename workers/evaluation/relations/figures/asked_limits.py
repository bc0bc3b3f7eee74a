"""Hold short answers against the tier of their question's figure: "the tenant" for 300 euros over "up to 100 euros".

A tier is a part of the evidence with one limit or range: "up to 2,000 euros", "above 2,000 and up to 10,000 euros", "from
6 to 14", "50 units or more". Of several tiers with the same side only the nearest limit counts, since "up to 30 kg" is
said of what the tier "up to 10 kg" leaves.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workers.evaluation.facts.calculation.arithmetic import same_dimension
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.relations.figures.bands import tokens_of
from workers.evaluation.text.words import content_words

MAX_TEXT = 300
"""Longest question, answer and sentence that are read, code points."""
MAX_WORDS = 9
"""Most words of an answer that names who or what the figure falls to."""
KEY = 5
"""Letters by which the noun of a figure is compared."""

_ASKED = re.compile(r"\b(?:who|whom|which|what|how (?:much|many|long))\b", re.IGNORECASE)
_NUMBER = r"[€$£]?\d+(?:[.,]\d+)*"
_UNIT = r"(?:[-\s]?[^\W\d_]{1,12}|\s?[€%])?"
_OVER = r"(?:above|over|more than|beyond|exceeding|exceeds?|greater than|larger than)"
_TO = r"(?:up to|until|at most|(?:no|not) more than|a maximum of|under|below|less than|fewer than)"
_TIER = re.compile(
    rf"\b{_OVER}\s(?P<over>{_NUMBER}){_UNIT}(?:,?\s(?:and|but)|,)?\s(?:{_TO}|to)\s(?P<upper>{_NUMBER})"
    rf"|(?:\b(?:from|between|aged)\s)?(?P<from>{_NUMBER}){_UNIT}\s?(?:to|and|–|-|up to|until|through)\s?(?P<to>{_NUMBER})"
    rf"|\b(?P<side>{_TO})\s(?P<high>{_NUMBER})|\b(?:{_OVER})\s(?P<low>{_NUMBER})"
    rf"|\b(?:from|at least|starting at)\s(?P<least>{_NUMBER})|(?P<more>{_NUMBER}){_UNIT}\s(?:or|and)\s(?:more|over|above|older|heavier)\b",
    re.IGNORECASE,
)
_STRICT = re.compile(r"under|below|than", re.IGNORECASE)
_REST = re.compile(
    r"\b(?:larger|bigger|heavier|longer|higher|older|(?:all|any|every)(?:thing|one|body)? (?:others?|else)|anything (?:more|above|beyond))\b",
    re.IGNORECASE,
)
"""Words for what the tiers before leave."""
_SENTENCE = re.compile(r";\s+|\.\s+(?=[A-Z])|\n|\s(?:while|whereas|otherwise)\s", re.IGNORECASE)
_COMMA = re.compile(
    r",\s(?!\d)|\sand\s(?=(?:those|from|anything|everything|everyone|everybody|the)\b|(?:over|above|more than)\s[€$£]?\d)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Tier:
    """Hold the figures of a tier, and the stems and figures of its words."""

    low: float
    high: float
    has_low: bool
    has_high: bool
    words: frozenset[str]

    def has(self, value: float) -> bool:
        return self.low <= value <= self.high


def is_limit_of_answer(reply: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return whether what an answer names falls to the figure of its question.

    Args:
        reply: the short answer.
        question: the question, with one figure and without a limit.
        sentences: the evidence.

    Returns:
        ``None`` if no tier or several tiers hold the question's figure or what the answer names, or if a part of the
        evidence without a limit speaks of it.
    """
    reply, question = reply[:MAX_TEXT], question[:MAX_TEXT]
    if not _ASKED.search(question) or len(reply.split()) > MAX_WORDS:
        return None
    asked = read_details(question).quantities
    if len(asked) != 1 or asked[0].bound:
        return None
    tiers, others = _read_tiers(sentences, asked[0], content_words(question))
    common = frozenset.intersection(*(tier.words for tier in tiers)) if len(tiers) > 1 else frozenset()
    told = tokens_of(reply) - tokens_of(question) - common
    holding = [tier for tier in tiers if told <= tier.words]
    if not told or not holding or any(told <= words for words in others):
        return None
    own = _own(tiers, asked[0].values[0])
    if not any(tier in own for tier in holding):
        return False
    return True if len(own) == 1 and len(tiers) > 1 else None


def _own(tiers: Sequence[_Tier], value: float) -> list[_Tier]:
    """Return the tiers of a figure, of several with one side that with the nearest limit."""
    found = [tier for tier in tiers if tier.has(value)]
    highs = [tier.high for tier in found if not tier.has_low]
    lows = [tier.low for tier in found if not tier.has_high]
    return [
        tier for tier in found if (tier.has_low or tier.high == min(highs)) and (tier.has_high or tier.low == max(lows))
    ]


def _read_tiers(
    sentences: Sequence[str], asked: Quantity, topic: frozenset[str]
) -> tuple[list[_Tier], list[frozenset[str]]]:
    """Return the tiers of the evidence, and the words of its other parts."""
    tiers, others = list[_Tier](), list[frozenset[str]]()
    rest = list[frozenset[str]]()
    for piece in (piece for sentence in sentences for piece in _pieces(sentence[:MAX_TEXT])):
        words = tokens_of(piece)
        matches = list(_TIER.finditer(piece))
        tier = _tier(matches[0], piece, asked, topic) if len(matches) == 1 else None
        if tier is not None:
            tiers.append(tier)
        elif _REST.search(piece) and not matches:
            rest.append(words)
        else:
            others.append(words)
    highest = max((tier.high for tier in tiers), default=math.inf)
    if highest < math.inf:
        tiers += [_Tier(math.nextafter(highest, math.inf), math.inf, True, True, words) for words in rest]
    return tiers, others


def _pieces(text: str) -> Iterator[str]:
    """Yield the parts of a sentence, each with at most one tier where commas and "and" tell them apart."""
    for sentence in _SENTENCE.split(text):
        label, _, behind = sentence.partition(": ")
        is_labelled = bool(behind) and not _TIER.search(label)
        shared, piece = label if is_labelled else "", ""
        for part in _COMMA.split(behind if is_labelled else sentence):
            if piece and _TIER.search(piece) and (_TIER.search(part) or _REST.search(part)):
                yield f"{shared} {piece}"
                piece = part
            else:
                piece = f"{piece} {part}" if piece else part
        yield f"{shared} {piece}"


def _tier(match: re.Match[str], piece: str, asked: Quantity, topic: frozenset[str]) -> _Tier | None:
    low = match["over"] or match["from"] or match["low"] or match["least"] or match["more"]
    high = match["upper"] or match["to"] or match["high"]
    figures = {each.written.strip("€$£ ").split()[0].rstrip("€%"): each for each in read_details(piece).quantities}
    known = [figures.get(number.strip("€$£")) for number in (low, high) if number]
    unit = known[-1]
    if unit is None or not _is_comparable(unit, asked, _shared(content_words(piece), topic)):
        return None
    scale = unit.values[0] / unit.face if unit.is_unit and unit.face else 1.0
    sizes = [scale * each.face if each is not None else math.nan for each in known]
    if any(map(math.isnan, sizes)):
        return None
    least = (
        (sizes[0] if not match["over"] and not match["low"] else math.nextafter(sizes[0], math.inf))
        if low
        else -math.inf
    )
    most = sizes[-1] if high else math.inf
    if match["side"] and _STRICT.search(match["side"]) and "more" not in match["side"].lower():
        most = math.nextafter(most, -math.inf)
    words = tokens_of(f"{piece[: match.start()]} {piece[match.end() :]}")
    return _Tier(least, most, bool(low), bool(high), words)


def _is_comparable(one: Quantity, two: Quantity, shared: frozenset[str]) -> bool:
    if one.is_unit or two.is_unit:
        return one.is_unit and two.is_unit and same_dimension(one.dimension, two.dimension)
    return one.dimension == two.dimension or bool(shared)


def _shared(words: frozenset[str], topic: frozenset[str]) -> frozenset[str]:
    """Return the words of a text that a question has in another number: "child" and "children"."""
    return frozenset(word for word in words for each in topic if word[:KEY] == each[:KEY])
