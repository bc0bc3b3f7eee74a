"""Answer questions that a figure decides: "Can it hold 20 kg?" over "up to 25 kg".

The sentence that shares most words with the question gives the limit or figure. Without a single one there is no result.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workers.evaluation.claims.short_answers import stated_by
from workers.evaluation.clauses.ranked_subjects import ORDER_WORDS
from workers.evaluation.facts.calculation.arithmetic import same_dimension
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.units import NUMBER_WORDS
from workers.evaluation.text.words import PEOPLE, content_words, key_of, stem, word_set

SHARED = 0.6
"""Least share of a question's words in a sentence that says what holds of a figure, where nothing is permitted."""
MAX_TEXT = 400
"""Longest question and sentence that is read, code points."""

_NUMBER = rf"(?P<number>[$€£]?\d[\d.,]*|(?:{'|'.join(sorted(NUMBER_WORDS, key=len, reverse=True))})\b)"
_UNIT = r"[-\s]?(?:[^\W\d_]{1,12}\.?)?"
_AGE = r"(?:(?:the )?age(?:s|d)?(?: of)?:? )?"
_LIMITS: tuple[tuple[int, bool, re.Pattern[str]], ...] = tuple(
    (side, inclusive, re.compile(pattern, re.IGNORECASE))
    for side, inclusive, pattern in (
        (-1, True, rf"\b(?:up to|at most|(?:no|not) more than|(?:a )?max(?:imum|\.)?(?: \w+)?(?: is| of|:)?|limit(?:ed to| is| of|:)|not exceed(?:ing)?|until) {_AGE}{_NUMBER}"),
        (-1, False, rf"\b(?:under|below|(?<!no )(?:less|fewer|younger|shorter|smaller|lighter) than) {_AGE}{_NUMBER}"),
        (-1, True, rf"\b{_NUMBER}{_UNIT} (?:or|and) (?:under|less|fewer|younger|below|lighter|shorter)\b"),
        (-1, True, rf"\b{_NUMBER}{_UNIT} (?:maximum|limit|at most)\b"),
        (1, True, rf"\b(?:at least|(?:a )?min(?:imum|\.)?(?: \w+)?(?: is| of|:)?|(?:no|not) (?:less|fewer|younger|shorter) than|not under|from) {_AGE}{_NUMBER}"),
        (1, False, rf"\b(?:over|above|exceeds?|exceeding|(?<!no )(?<!not )(?:more|older|taller|longer|larger|heavier) than) {_AGE}{_NUMBER}"),
        (1, True, rf"\b{_NUMBER}{_UNIT} (?:or|and) (?:over|older|more|above|up|upwards?|taller|heavier|longer)\b"),
    )
)  # fmt: skip
"""Patterns of limits: the side on which figures lie within it, whether the limit itself does."""
_EARLIER = re.compile(
    r",?\s(?:after|up from|down from|compared (?:with|to)|against)\s[^;]{1,60}?\b(?:before|earlier|previous(?:ly| \w+)|last (?:year|month|quarter))\b",
    re.IGNORECASE,
)
"""A figure of an earlier time that stands beside the present one."""
_PERMITTED = re.compile(
    r"\b(?:can|could|may|allowed|permitted|able|fit|eligible|qualif\w+|admitted|enough|accept\w*|hold|carry|join|enter)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|no|never|nobody|none|cannot|\w+n['’]t|forbidden|prohibited|banned|excluded|refused|neither)\b",
    re.IGNORECASE,
)
_POLAR = re.compile(
    r"\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|may|must|should)\s", re.IGNORECASE
)
_YEARS_OLD = re.compile(
    rf"\b({'|'.join(sorted(NUMBER_WORDS, key=len, reverse=True))})(?=[- ]years?[- ]old\b)", re.IGNORECASE
)
_OF_LIMITS = frozenset(
    map(
        stem,
        word_set(
            "age minimum maximum limit closed shut least most only under over above below years must may can need allowed required"
        ),
    )
)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Limit:
    """Hold a figure of a sentence, and on which side of it other figures lie within its limit; 0 without a limit."""

    figure: Quantity
    side: int = 0
    inclusive: bool = True

    def has(self, value: float, limit: float) -> bool:
        """Return true if a value lies within the limit."""
        return (value - limit) * self.side > 0 or (self.inclusive and value == limit)


def answer_by_figure(question: str, sentences: Sequence[str]) -> bool | None:
    """Return the answer that a limit or a figure of the evidence gives to a question for yes or no.

    Args:
        question: the question.
        sentences: the evidence.

    Returns:
        ``None`` if the question is none of this kind or the evidence does not decide it.
    """
    asked = re.split(r"(?<=[.!?])\s+", question.strip())[-1].rstrip(" ?")
    asked = _YEARS_OLD.sub(lambda match: f"{NUMBER_WORDS[key_of(match[0])]:g}", asked)
    if not _POLAR.match(asked) or len(asked) > MAX_TEXT:
        return None
    figures = read_details(asked).quantities
    if len(figures) != 1:
        return None
    told = content_words(asked)
    found: dict[int, set[bool]] = {}
    for piece in _pieces(sentences):
        shared = len(told & content_words(piece))
        if shared and (answer := _answer(asked, figures[0], piece)) is not None:
            found.setdefault(shared, set()).add(answer)
    best = found[max(found)] if found else set()
    return best.pop() if len(best) == 1 else None


def _pieces(sentences: Sequence[str]) -> Iterator[str]:
    for sentence in sentences:
        yield from re.split(r";\s|,?\s(?:but|while|whereas)\s", _EARLIER.sub("", sentence[:MAX_TEXT]))


def _answer(question: str, asked: Quantity, piece: str) -> bool | None:
    limits = [limit for limit in read_limits(piece) if is_comparable(asked, limit.figure)]
    if len(limits) != 1:
        return None
    (limit,) = limits
    is_same = asked.is_unit and limit.figure.is_unit
    value, bound = (asked.values[0], limit.figure.values[0]) if is_same else (asked.face, limit.figure.face)
    if asked.bound and not limit.side:
        return (bound - value) * asked.bound > 0 or (bound == value and "at" in question.lower().split())
    if asked.bound or not limit.side:
        return None
    if not _PERMITTED.search(question):
        told = content_words(question)
        if len(told & content_words(piece)) < SHARED * len(told):
            return None
    rest = piece
    for _, _, pattern in _LIMITS:
        rest = pattern.sub(" ", rest)
    return limit.has(value, bound) != (bool(_DENIED.search(rest)) != bool(_DENIED.search(question)))


def read_limits(piece: str) -> Iterator[Limit]:
    """Yield the figures of a piece with their limits."""
    found: dict[str, tuple[int, bool]] = {}
    for side, inclusive, pattern in _LIMITS:
        for match in pattern.finditer(piece):
            found.setdefault(match["number"].lower().strip("$€£.,"), (side, inclusive))
    before = (0, True)
    for figure in read_details(piece).quantities:
        known = next((limit for text, limit in found.items() if text in figure.written.lower()), None)
        if known is None:
            # "Up to 8 people or 600 kg" limits both.
            known = before if re.search(rf"\b(?:or|and) {re.escape(figure.written)}", piece) else (0, True)
        yield Limit(figure, *known)
        before = known


def is_comparable(one: Quantity, two: Quantity) -> bool:
    """Return true if two figures measure the same, as far as their units and nouns tell."""
    if one.is_unit and two.is_unit:
        return same_dimension(one.dimension, two.dimension)
    if one.is_unit or two.is_unit:
        # "A 14-year-old" and "anyone of 12 or over".
        unit, bare = (one, two) if one.is_unit else (two, one)
        return unit.dimension == "month" and (
            not bare.dimension or bare.dimension.removeprefix("noun:") in ("age", "year")
        )
    nouns = {each.dimension.removeprefix("noun:") for each in (one, two)}
    return len(nouns) == 1 or "" in nouns or nouns <= PEOPLE


def needs_no_more(question: str, reply: str, sentences: Sequence[str]) -> bool:
    """Return true if all that a short answer says beside yes or no stands in the evidence or its question."""
    rest = stated_by(question, reply)
    if rest is None:
        rest = re.sub(r"^\W*\w+[\s,.;:!–—]*", "", reply)
    known = content_words(" ".join((question, *sentences))) | ORDER_WORDS | _OF_LIMITS
    return content_words(rest) <= known
