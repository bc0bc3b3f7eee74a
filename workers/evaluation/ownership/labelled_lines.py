"""Find claims that give the thing of one labelled line a value of another line.

"Basic plan: 9 euros a month, e-mail support" and "Pro plan: 19 euros a month, phone support" may stand in two sources. A
claim that names the label of one line alone, and has a value that only lines with other labels have, is on the wrong
line if its own line has another value of that kind. A value is a figure, or the word before a noun ("phone support").
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice, pairwise

from workers.evaluation.budget import spend
from workers.evaluation.contradictions.parallel_clauses import is_small, stems_of
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
_BY = re.compile(r"\b(?:by|durch|par|por)\b", re.IGNORECASE)
_CLAUSE = re.compile(
    r"[,;]\s|\s(?:while|whereas|but|während|aber|tandis que|mais|mientras|pero|mentre|ma|enquanto|mas|terwijl|maar)\s",
    re.IGNORECASE,
)
_SHOWN = r"(?:light|lamp|led|display|indicator|icon|symbol|sign|flag|signal|marking)"
_MEANING = re.compile(
    rf"(?:[^.;]{{3,60}}:\s)?(?:an?\s|the\s)?(?P<label>[^.;,:\d]{{3,50}}?)\s(?:{_SHOWN}\s)?(?:means|indicates|signals|signifies|stands\sfor|bedeutet|signifie|significa|betekent)\s"
    r"(?:that\s|dass\s|que\s|che\s|dat\s)?(?P<rest>[^.;]{3,160})",
    re.IGNORECASE,
)
_STATE = re.compile(
    rf"(?:[^.;]{{3,60}}:\s)?(?:if|when)\s(?:the\s|an?\s)?(?:\w+\s){{0,2}}?{_SHOWN}\s(?:is|turns|shows|glows|flashes)\s(?P<label>[^.,;]{{3,40}}),\s(?P<rest>[^.;]{{3,160}})",
    re.IGNORECASE,
)
"""Items whose label means something: "Steady amber indicates that the filter is full"."""
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


@dataclass(frozen=True, slots=True)
class _Item:
    """Hold the words of an item of a list, whether a verb joins label and value, and whether it has what others have."""

    label: frozenset[str]
    value: frozenset[str]
    is_meaning: bool
    is_open: bool


def takes_value_of_other_item(
    claim: str, topic: str, sources: Sequence[Sequence[str]], denial: re.Pattern[str]
) -> bool:
    """Return true if a claim in any language gives the label of one item of a list the words of another item's value.

    Args:
        claim: plain text of the claim.
        topic: its question, for a part that names no label.
        sources: the sentences of each source, in order.
        denial: words by which the claim's language denies.
    """
    spend(sum(map(len, sources)))
    lists = [items for texts in sources for items in _lists(texts)]
    if not lists:
        return False
    parts = [_told(part) for part in _CLAUSE.split(claim) if not (denial.search(part) or _DENIAL.search(part))]
    spend(len(claim) + sum(map(len, lists)))
    return any(
        (place := _taken_from(words, _told(topic), items)) is not None
        and not any(
            items[place].value & words <= _told(text) and _read_item(text) is None
            for texts in sources
            for text in texts
        )
        for items in lists
        for words in parts
    )


def _lists(texts: Sequence[str]) -> Iterator[list[_Item]]:
    """Yield the items that follow each other in a source and are of one form; two of them at least."""
    read = [item for text in texts[: 10 * MAX_LINES] for item in [_read_item(text)]]
    for is_meaning, group in groupby(read, key=lambda item: None if item is None else item.is_meaning):
        items = [item for item in group if item is not None][:MAX_LINES]
        if is_meaning is not None and len(items) > 1:
            yield items


@kept_for_sentences
def _read_item(text: str) -> _Item | None:
    means = _STATE.match(text) or _MEANING.match(text)
    match = means or _LINE.match(text)
    if match is None or len(match["label"].split()) > MAX_LABEL + 2 or match["label"].strip().lower() in _REMARKS:
        return None
    label, value = _told(match["label"]), _told(match["rest"])
    # Both "decided by …" and "handled by …" say who.
    sort = frozenset("by" for _ in _BY.findall(match["rest"])[:1])
    is_open = bool(_INCLUDES.search(match["rest"]))
    return _Item(label, value | sort, means is not None, is_open) if label and value else None


def _told(text: str) -> frozenset[str]:
    return frozenset(word for word in stems_of(text) if not is_small(word) and not word[0].isdigit())


def _taken_from(words: frozenset[str], topic: frozenset[str], items: Sequence[_Item]) -> int | None:
    """Return the item whose value some words give to the label of another one; ``None`` if they do not."""
    labels, values = _distinct([item.label for item in items], items), _distinct([item.value for item in items], items)
    named = _most_named(words, labels)
    if not named and not any(words & item.label for item in items):
        named = _most_named(topic, labels)
    held = [place for place, value in enumerate(values) if value and len(value & words) >= min(2, len(value))]
    if len(named) != 1 or len(held) != 1 or values[named[0]] & words or items[named[0]].is_open:
        return None
    (own,), (other,) = named, held
    is_of_one_sort = (
        items[own].is_meaning or items[own].label & items[other].label or items[own].value & items[other].value
    )
    return other if values[own] and is_of_one_sort and not labels[other] & words else None


def _most_named(words: frozenset[str], labels: Sequence[frozenset[str]]) -> list[int]:
    return [place for place, label in enumerate(labels) if label and 2 * len(label & words) >= len(label)]


def _distinct(each: Sequence[frozenset[str]], items: Sequence[_Item]) -> list[frozenset[str]]:
    """Return the words of each label or value that stand in no other item, and only once in their own."""
    return [
        own.difference({"by"}, *(item.label | item.value for place, item in enumerate(items) if place != at))
        for at, own in enumerate(each)
    ]
