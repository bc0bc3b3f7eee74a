"""Answer questions that a figure decides: "Can it hold 20 kg?" over "up to 25 kg", "Is A higher than B?" over two heights.

The sentence that shares most words with the question gives the limit or figure. Without a single one there is no result.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workers.evaluation.claims.short_answers import stated_by
from workers.evaluation.facts.arithmetic import same_dimension
from workers.evaluation.facts.quantities import Quantity
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.units import FAMILIES, NUMBER_WORDS
from workers.evaluation.text.words import content_words, stem, word_set

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
_PEOPLE = frozenset(map(stem, word_set("people person persons guest guests passenger passengers visitor visitors player"
    " players child children adult adults member members participant participants rider riders user users")))  # fmt: skip
_LENGTHS, _WEIGHTS = frozenset({"metre"}), frozenset({"gram"})
_MONEY = frozenset(unit for unit, family in FAMILIES.items() if family == "money")
_COMPARED: dict[str, tuple[int, frozenset[str]]] = {
    **dict.fromkeys(("higher", "taller", "longer", "deeper", "wider", "farther", "further"), (1, _LENGTHS)),
    **dict.fromkeys(("lower", "shorter", "shallower", "narrower"), (-1, _LENGTHS)),
    "heavier": (1, _WEIGHTS),
    "lighter": (-1, _WEIGHTS),
    **dict.fromkeys(("costlier", "dearer", "expensive"), (1, _MONEY)),
    "cheaper": (-1, _MONEY),
    **dict.fromkeys(("bigger", "larger", "greater"), (1, frozenset())),
    "smaller": (-1, frozenset()),
}
"""By comparative its direction and the dimensions of the figures that it compares; any, if empty."""
_THAN = re.compile(
    rf"(?P<one>.+?)\b(?:more\s+)?(?P<word>{'|'.join(_COMPARED)})\b(?P<noun>[\w\s]*?)\bthan\s+(?P<two>.+)", re.IGNORECASE
)
_OR = re.compile(r"[,:]\s*(?P<one>[^,:?]+?),?\s+or\s+(?P<two>[^,:?]+)", re.IGNORECASE)
_YEARS_OLD = re.compile(
    rf"\b({'|'.join(sorted(NUMBER_WORDS, key=len, reverse=True))})(?=[- ]years?[- ]old\b)", re.IGNORECASE
)
_OF_LIMITS = frozenset(
    map(
        stem,
        word_set(
            "age minimum maximum limit least most only under over above below years must may can need allowed required"
        ),
    )
)
_LESS = re.compile(r"\bless\s+expensive\b", re.IGNORECASE)
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
    asked = _YEARS_OLD.sub(lambda match: f"{NUMBER_WORDS[match[0].lower()]:g}", asked)
    if not _POLAR.match(asked) or len(asked) > MAX_TEXT:
        return None
    if _THAN.search(_LESS.sub("cheaper", asked)):
        return is_compared_rightly(_POLAR.sub("", asked, count=1), "", sentences)
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


def is_compared_rightly(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return whether the figures of the evidence bear out a comparison: "the bus is cheaper than the train".

    Args:
        claim: the statement; it may leave out the other side where its question names both.
        question: the question, or an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if it compares nothing, or the evidence does not give one figure for each side.
    """
    claim = _LESS.sub("cheaper", claim[:MAX_TEXT])
    sides = _sides(claim, _LESS.sub("cheaper", question[:MAX_TEXT]))
    if sides is None:
        return None
    word, one, two = sides
    direction, dimensions = _COMPARED[word]
    mine, theirs = _figures(one - two, two - one, sentences, dimensions)
    pairs = [(a, b) for a in mine for b in theirs if a.dimension == b.dimension and (a.is_unit or not dimensions)]
    if len(mine) != 1 or len(theirs) != 1 or len(pairs) != 1:
        return None
    difference = pairs[0][0].values[0] - pairs[0][1].values[0]
    holds = difference * direction > 0
    return holds != bool(re.search(r"\b(?:not|n['’]t)\b", claim, re.IGNORECASE))


def _sides(claim: str, question: str) -> tuple[str, frozenset[str], frozenset[str]] | None:
    """Return the comparative and the words of the two sides; the second may stand in the question only."""
    words = [word.lower() for word in _WORD.findall(claim)]
    told = next((word for word in words if word in _COMPARED), None)
    if told is None:
        return None
    if match := _THAN.search(claim):
        return match["word"].lower(), content_words(match["one"]), content_words(match["two"])
    asked = _THAN.search(_POLAR.sub("", question, count=1)) or _OR.search(question)
    if asked is None:
        return None
    own = content_words(claim)
    one, two = content_words(asked["one"]), content_words(asked["two"])
    named = [bool(own & (one - two)), bool(own & (two - one))]
    if named[0] == named[1]:
        return None
    return (told, one, two) if named[0] else (told, two, one)


def _figures(
    one: frozenset[str], two: frozenset[str], sentences: Sequence[str], dimensions: frozenset[str]
) -> tuple[list[Quantity], list[Quantity]]:
    """Return the figures of two things: in a sentence about both, those that follow the name of each."""
    found: tuple[dict[Quantity, None], dict[Quantity, None]] = ({}, {})
    for sentence in sentences:
        places = [_place(side, sentence) for side in (one, two)]
        for figure in read_details(sentence[:MAX_TEXT]).quantities:
            if (dimensions and figure.dimension not in dimensions) or not (figure.is_unit or figure.dimension):
                continue
            at = sentence.find(figure.written) if figure.written else -1
            owner = _owner(places, at)
            if owner is not None:
                found[owner][figure] = None
    return list(found[0]), list(found[1])


def _place(words: frozenset[str], sentence: str) -> int | None:
    """Return the offset of the last of the words in a sentence; ``None`` if one of them is not there."""
    if not words:
        return None
    places = {stem(match[0].lower()): match.start() for match in reversed(list(_WORD.finditer(sentence)))}
    return max(places[word] for word in words) if all(word in places for word in words) else None


def _owner(places: Sequence[int | None], at: int) -> int | None:
    before = {place: side for side, place in enumerate(places) if place is not None and place <= at}
    if before:
        return before[max(before)]
    named = [side for side, place in enumerate(places) if place is not None]
    return named[0] if len(named) == 1 else None


def _pieces(sentences: Sequence[str]) -> Iterator[str]:
    for sentence in sentences:
        yield from re.split(r";\s|,?\s(?:but|while|whereas)\s", sentence[:MAX_TEXT])


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
    return len(nouns) == 1 or "" in nouns or nouns <= _PEOPLE


def needs_no_more(question: str, reply: str, sentences: Sequence[str]) -> bool:
    """Return true if all that a short answer says beside yes or no stands in the evidence or its question."""
    rest = stated_by(question, reply)
    if rest is None:
        rest = re.sub(r"^\W*\w+[\s,.;:!–—]*", "", reply)
    known = content_words(" ".join((question, *sentences))) | frozenset(map(stem, _COMPARED)) | _OF_LIMITS
    return content_words(rest) <= known
