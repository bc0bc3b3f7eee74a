"""Compare claims with rows that a sentence has: "Mia 12 goals, 5 assists; Lena 9 goals, 11 assists".

The question or the claim names a row and what is counted there. Differences of two rows are computed.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from workers.evaluation.facts.units import NUMBER_WORDS
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import kept_for_sentences, stem

MAX_TEXT = 600
"""Longest claim, question and sentence that are read, code points."""
LEAST_ROWS = 2
"""Fewest names that have a figure for one noun."""

Rows = Mapping[str, Mapping[str, frozenset[float]]]
"""Figures by name and by the stem of what they count."""

_WORDS = {**NUMBER_WORDS, "one": 1.0}
_NUMBER = rf"(?:\d{{1,3}}(?:,\d{{3}})+|\d+(?:\.\d+)?|{'|'.join(_WORDS)})"
_NAME = r"(?P<name>[A-Z][\w.&’'-]*(?:\s[A-Z\d][\w.&’'-]*){0,2})"
_ROW = PrefilteredPattern(
    rf"(?<![\w.]){_NAME}(?:\s(?:has|have|had|scored?s?|won|wins?|got|sold|with|at|took|made)|:|\s[–-])?\s"
    rf"(?P<cells>{_NUMBER}\s[a-z]{{3,}}(?:,?\s(?:and\s)?{_NUMBER}\s[a-z]{{3,}}){{0,7}})"
)
_CELL = re.compile(rf"(?P<number>{_NUMBER})\s(?P<noun>[a-z]{{3,}})")
_ALONE = re.compile(rf"\W*(?P<number>{_NUMBER})(?:\s(?P<noun>[a-z]{{3,}}))?\W*", re.IGNORECASE)
_MARKS = ".'’-"
_MORE = r"(?:more|further|better|higher|greater|larger|longer|heavier|faster)"
_LESS = r"(?:less|fewer|lower|smaller|shorter|lighter|slower)"
_DIFFERENCE = PrefilteredPattern(
    rf"{_NAME}\s[^.;,]{{0,30}}?\b(?P<number>{_NUMBER})\s(?:(?P<first>[a-z]{{3,}})\s)?"
    rf"(?P<side>{_MORE}|{_LESS}|ahead|above|behind|below)\s(?:(?P<second>[a-z]{{3,}})\s)?(?:than|of)?\s?{_NAME.replace('name', 'other')}"
)
_IS_LESS = re.compile(rf"{_LESS}|behind|below", re.IGNORECASE)


def is_row_figure_right(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return whether a claim has the figure of the row that it or its question names.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if no sentence has rows, or the claim neither answers for one row nor compares two.
    """
    claim, question = claim[:MAX_TEXT], question[:MAX_TEXT]
    difference, alone = _DIFFERENCE.search(claim), _ALONE.fullmatch(claim)
    if not difference and not (alone and question):
        return None
    for sentence in sentences:
        rows = _rows(sentence[:MAX_TEXT])
        if not rows:
            continue
        found = _is_difference_right(difference, rows) if difference else _is_cell_right(alone, question, rows)
        if found is not None:
            return found
    return None


def _is_difference_right(match: re.Match[str], rows: Rows) -> bool | None:
    own, other = (rows.get(match[name].rstrip(_MARKS)) for name in ("name", "other"))
    if own is None or other is None:
        return None
    noun = stem(match["first"] or match["second"] or "")
    nouns = [noun] if noun in own and noun in other else [] if noun else [each for each in own if each in other]
    if len(nouns) != 1 or len(own[nouns[0]]) != 1 or len(other[nouns[0]]) != 1:
        return None
    (mine,), (theirs,) = own[nouns[0]], other[nouns[0]]
    return mine - theirs == _value(match["number"]) * (-1 if _IS_LESS.fullmatch(match["side"]) else 1)


def _is_cell_right(match: re.Match[str] | None, question: str, rows: Rows) -> bool | None:
    if match is None:
        return None
    names = [name for name in rows if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question)]
    asked = {stem(word) for word in re.findall(r"[a-z]{3,}", question.lower())}
    if len(names) != 1:
        return None
    row = rows[names[0]]
    nouns = [stem(match["noun"].lower())] if match["noun"] else [noun for noun in row if noun in asked]
    if len(nouns) != 1 or nouns[0] not in row or (asked.isdisjoint(nouns) and len(row) > 1):
        return None
    return row[nouns[0]] == {_value(match["number"])}


@kept_for_sentences
def _rows(text: str) -> Rows:
    """Read the rows of a sentence; empty unless several names have a figure for the same noun."""
    found: dict[str, dict[str, set[float]]] = defaultdict(lambda: defaultdict(set))
    for match in _ROW.finditer(text):
        for cell in _CELL.finditer(match["cells"]):
            found[match["name"].rstrip(_MARKS)][stem(cell["noun"])].add(_value(cell["number"]))
    counts: dict[str, int] = defaultdict(int)
    for row in found.values():
        for noun in row:
            counts[noun] += 1
    shared = {noun for noun, count in counts.items() if count >= LEAST_ROWS}
    return {
        name: {noun: frozenset(values) for noun, values in row.items() if noun in shared}
        for name, row in found.items()
        if not shared.isdisjoint(row)
    }


def _value(number: str) -> float:
    word = number.lower()
    return _WORDS[word] if word in _WORDS else float(word.replace(",", ""))
