"""Find claims that give the thing of one labelled line a value of another line.

"Basic plan: 9 euros a month, e-mail support" and "Pro plan: 19 euros a month, phone support" may stand in two sources. A
claim that names the label of one line alone, and has a value that only lines with other labels have, is on the wrong
line if its own line has another value of that kind. A value is a figure, or the word before a noun ("phone support").
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from workers.evaluation.budget import spend
from workers.evaluation.facts.calculation.arithmetic import same_dimension, same_quantity
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.sentence_pieces import AGGREGATES, told_stems
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.ownership.record_owners import EVERY
from workers.evaluation.text.words import STOP_WORDS, kept_for_sentences

MAX_LINES = 60
"""Maximum number of lines that a claim is compared with."""
MAX_LABEL = 4
"""Maximum number of words of a label."""
MAX_CLAIMED = 8
"""Maximum number of figures of a claim that are compared."""
MIN_WORD = 3
"""Least length of a word before a noun."""

_LINE = re.compile(r"[^\w\n]{0,4}(?P<label>[^\W\d][^:;,.!?\d\n]{1,40}):\s(?P<rest>\S.*)", re.DOTALL)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_REMARKS = frozenset(
    ("note", "notes", "warning", "tip", "important", "example", "attention", "caution", "question", "answer")
)
_DENIAL = re.compile(r"\b(?:no|not|without|never|only|neither|nor|than|instead|unlike)\b|n['’]t\b", re.IGNORECASE)
_INCLUDES = re.compile(r"\b(?:everything|all|same|plus|also|additionally|includes?|any)\b", re.IGNORECASE)
"""Words of a line that has what other lines have."""


@dataclass(frozen=True, slots=True)
class Line:
    """Describe the lines of one label.

    Attributes:
        label: stems of the label.
        quantities: the figures behind it.
        pairs: neighbouring words behind it, in lower case.
        is_open: whether it also has what other lines have.
    """

    label: frozenset[str]
    quantities: tuple[Quantity, ...]
    pairs: frozenset[tuple[str, str]]
    is_open: bool


@kept_for_sentences
def read_line(text: str) -> Line | None:
    """Return a sentence as a labelled line; ``None`` for any other sentence."""
    match = _LINE.match(text)
    if match is None or len(match["label"].split()) > MAX_LABEL or match["label"].strip().lower() in _REMARKS:
        return None
    label, rest = told_stems(match["label"]), match["rest"]
    if match["label"][0].islower() or ": " in rest:
        return None  # a field of a record
    return Line(label, read_details(rest).quantities, _pairs(rest), bool(_INCLUDES.search(rest))) if label else None


def _pairs(text: str) -> frozenset[tuple[str, str]]:
    words = [match[0].lower() for match in _WORD.finditer(text)]
    return frozenset(
        (one, two)
        for one, two in pairwise(words)
        if len(one) >= MIN_WORD
        and len(two) >= MIN_WORD
        and not {one, two} & STOP_WORDS
        and not any(character.isdigit() for character in one + two)
    )


def lines_of(sources: Sequence[Sequence[str]]) -> list[Line]:
    """Return the labelled lines of all sources; lines with one label are one."""
    found: dict[frozenset[str], Line] = {}
    read = (line for texts in sources for text in texts if (line := read_line(text)) is not None)
    for line in islice(read, MAX_LINES):
        before = found.get(line.label, Line(line.label, (), frozenset(), is_open=False))
        found[line.label] = replace(
            before,
            quantities=(*before.quantities, *line.quantities),
            pairs=before.pairs | line.pairs,
            is_open=before.is_open or line.is_open,
        )
    return list(found.values())


def from_another_line(claim: str, topic: str, lines: Sequence[Line], sources: Sequence[Sequence[str]]) -> bool:
    """Return true if a claim names one labelled line and states a value of another one.

    Args:
        claim: plain text of the claim.
        topic: text that names the claim's subject where the claim does not.
        lines: the labelled lines of the evidence; see ``lines_of``.
        sources: the sentences of the evidence.
    """
    words = told_stems(EVERY.sub("", claim))
    if len(lines) < 2 or words & AGGREGATES:
        return False
    spend(len(lines))
    own = _named(words, lines) or _named(words | told_stems(topic), lines)
    if own is None:
        return False
    others = [line for line in lines if line is not own and _are_parallel(own, line)]
    return any(
        _is_only_in(sources, quantity) for quantity in _figures_of_others(claim, own, others)
    ) or _has_word_of_others(claim, own, others, sources)


def _named(words: frozenset[str], lines: Sequence[Line]) -> Line | None:
    """Return the only line whose label some words name; words of several labels tell them not apart."""
    marks = [line.label.difference(*(other.label for other in lines if other is not line)) for line in lines]
    named = [line for line, mark in zip(lines, marks, strict=True) if mark and mark <= words]
    return named[0] if len(named) == 1 and sum(bool(mark & words) for mark in marks) == 1 else None


def _are_parallel(one: Line, two: Line) -> bool:
    """Return true if two lines tell of things of one sort: their labels share a word, or their figures a unit."""
    units = ({each.dimension for each in line.quantities if each.dimension} for line in (one, two))
    return bool(one.label & two.label or set.intersection(*units))


def _figures_of_others(claim: str, own: Line, others: Sequence[Line]) -> Iterator[Quantity]:
    for quantity in read_details(claim).quantities[:MAX_CLAIMED]:
        if quantity.bound or quantity.approximate or not quantity.dimension:
            continue
        alike = [each for each in own.quantities if same_dimension(quantity.dimension, each.dimension)]
        if not alike or any(each.bound or same_quantity(quantity, each) for each in alike):
            continue
        if any(same_quantity(quantity, each) and each.dimension for line in others for each in line.quantities):
            yield quantity


def _is_only_in(sources: Sequence[Sequence[str]], quantity: Quantity) -> bool:
    """Return true if no sentence without a label has a figure."""
    unlabelled = [text for texts in sources for text in texts if read_line(text) is None]
    spend(sum(map(len, unlabelled)))
    return not any(same_quantity(quantity, each) for text in unlabelled for each in read_details(text).quantities)


def _has_word_of_others(claim: str, own: Line, others: Sequence[Line], sources: Sequence[Sequence[str]]) -> bool:
    """Return true if a claim has the word before a noun of another line, where its own line has another word before it."""
    if own.is_open or _DENIAL.search(claim):
        return False
    mine = {word for pair in own.pairs for word in pair}
    told = _pairs(claim) & frozenset[tuple[str, str]]().union(*(line.pairs for line in others))
    return any(
        word not in mine
        and any(two == noun for _, two in own.pairs)
        and not any(read_line(text) is None and (word, noun) in _pairs(text) for texts in sources for text in texts)
        for word, noun in told
    )
