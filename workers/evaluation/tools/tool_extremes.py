"""Check superlatives and ranks against the columns of a result: "the largest is Lakes with 4,466".

The figures of a claim tell the column. Without a figure, the only numeric column of the named row is taken. A subset of
rows that share a value counts as well ("the cheapest nonstop"), unless the shared value is the name of the row.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.text.words import stem
from workers.evaluation.tools.results.tool_tables import Table
from workers.evaluation.tools.tool_figures import Figure, groups_of, key_words, numeric_columns

_HIGH = re.compile(
    r"\b(?:(?<!at )most(?! of\b(?! (?:all|them)))(?! recent)|highest|largest|biggest|greatest|longest|maximum|top|peak|heaviest|hottest|warmest|busiest"
    r"|furthest|farthest|strongest|tallest|priciest|costliest|dearest|leads?(?= (?:with|at|by|the|in)\b)|ahead(?! of)|ranks first)\b",
    re.IGNORECASE,
)
_LOW = re.compile(
    r"\b(?:(?<!at )least|lowest|smallest|fewest|shortest|minimum|cheapest|quickest|coldest|coolest|lightest|weakest"
    r"|nearest|closest)\b",
    re.IGNORECASE,
)
_EITHER = re.compile(r"\b(?:slowest|fastest|best|worst)\b", re.IGNORECASE)
_OF_TIME = re.compile(r"\b(?:latest|earliest|oldest|newest|youngest|soonest|most recent|least recent)\b", re.IGNORECASE)
"""Superlatives of time, which figures do not tell."""
GREW_MOST = re.compile(
    r"\b(?:(?:grew|grown|rose|gained|increased|improved)\s+(?:the\s+)?(?:most|fastest|strongest)"
    r"|(?:biggest|largest|strongest|highest|fastest)\s+(?:growth|increase|rise|gain))\b"
    r"|\b(?P<down>(?:fell|dropped|declined|shrank|decreased|lost)\s+(?:the\s+)?(?:most|fastest)"
    r"|(?:biggest|largest|sharpest|steepest)\s+(?:drop|decline|decrease|fall|loss))\b",
    re.IGNORECASE,
)
"""Superlatives of a change between two columns, which one column does not tell."""
_RANK = re.compile(r"\b(second|third|fourth|fifth|2nd|3rd|4th|5th)[\s-]+(?=\w)", re.IGNORECASE)
_RANKS = {"second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3, "4th": 3, "fifth": 4, "5th": 4}
_RESTRICTED = re.compile(
    r"\b(?:(?:of|among) (?:them|these|those|the (?:(?P<number>two|three|four|five|six)|rest|others|remaining))|that (?:still )?(?:fits?|meets?|match(?:es)?"
    r"|qualif(?:y|ies)|works?|has|have|is|are|can)|within your|left in|still (?:available|open|free))\b",
    re.IGNORECASE,
)
"""Words that choose rows by a condition that no column states: an extreme of these may be none of all rows."""
_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_SIZE = re.compile(r"\b(?:biggest|largest|greatest|most|smallest|least|maximum|minimum|top)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[.;]\s|\b(?:but|though|although|while|whereas)\b|,\s(?=(?:and|ahead|followed)\b)", re.IGNORECASE)


class LocatedFigure(Protocol):
    """A figure of a claim with its place and sources."""

    @property
    def quantity(self) -> Quantity:
        """Return the figure."""

    @property
    def start(self) -> int:
        """Return its offset in the claim."""

    @property
    def sources(self) -> Sequence[Figure]:
        """Return the figures of results that it may be."""


class NamedRows(Protocol):
    """A name of rows in a claim."""

    @property
    def start(self) -> int:
        """Return its offset in the claim."""

    @property
    def path(self) -> tuple[str, ...]:
        """Return the column of the name."""

    @property
    def rows(self) -> frozenset[tuple[int, int]]:
        """Return the rows that have it."""


def false_extreme(
    claim: str,
    figures: Sequence[LocatedFigure],
    mentions: Sequence[NamedRows],
    tables: Sequence[Table],
) -> bool:
    """Return true if a superlative of a claim is not true of the column of its figures.

    Args:
        claim: plain text.
        figures: figures of the claim.
        mentions: names of rows in the claim.
        tables: tables of the results.
    """
    found = False
    for start, end in _clauses(claim):
        text = claim[start:end]
        direction = direction_of(text)
        if direction is None or GREW_MOST.search(text) or _is_restricted(text, tables):
            continue
        own = [each for each in figures if start <= each.start < end]
        named = [each for each in mentions if start <= each.start < end]
        verdicts = list(_verdicts(text.casefold(), direction, own, named, tables))
        found = found or (bool(verdicts) and not any(verdicts))
    return found


def _is_restricted(text: str, tables: Sequence[Table]) -> bool:
    """Return true if the superlative is of a part of the rows; "of the four" are all of four rows."""
    return any(
        match["number"] is None or not any(len(table.rows) == _NUMBERS[match["number"].lower()] for table in tables)
        for match in _RESTRICTED.finditer(text)
    )


def _clauses(claim: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _CLAUSE.finditer(claim):
        yield start, match.start()
        start = match.end()
    yield start, len(claim)


def direction_of(text: str) -> int | None:
    """Return 1 for words such as "highest", -1 for "lowest", 0 for words that may mean both, ``None`` without any."""
    if _OF_TIME.search(text):
        return None
    high, low = bool(_HIGH.search(text)), bool(_LOW.search(text))
    if high != low:
        return 1 if high else -1
    return 0 if high or _EITHER.search(text) else None


def _rank(text: str) -> int:
    match = _RANK.search(text)
    return _RANKS[match[1].lower()] if match else 0


def _verdicts(
    text: str,
    direction: int,
    figures: Sequence[LocatedFigure],
    mentions: Sequence[NamedRows],
    tables: Sequence[Table],
) -> Iterator[bool]:
    """Yield for each column that the figures may be of whether they are its extremes."""
    rows = frozenset[tuple[int, int]]().union(*(each.rows for each in mentions))
    columns: dict[tuple[int, tuple[str, ...]], list[Figure]] = {}
    for figure in figures:
        for source in figure.sources:
            if source.column is not None and (not rows or source.rows & rows):
                columns.setdefault(source.column, []).append(source)
    if not figures:
        columns = _only_column(mentions, tables)
    names, rank = {each.path for each in mentions}, _rank(text)
    words = {stem(word)[:4] for word in re.findall(r"\w+", text)}
    for (place, path), found in columns.items():
        values = _column(place, path, tables[place])
        if len(values) < 2:
            continue
        told = list(dict.fromkeys((next(iter(each.rows))[1], each.number) for each in found))
        if told and all(number < 0 for _, number in told) and _SIZE.search(text):
            # The biggest expense is the lowest amount: expenses are stated by their size.
            told, values = (
                [(row, -number) for row, number in told],
                {row: -each for row, each in values.items() if each < 0},
            )
        yield _holds(direction, rank, told, values)
        for cell, subset in groups_of(tables[place]):
            is_told = cell.text.lower()[:4] in words or any(
                word[:4] in text for word in (*key_words(cell.path), cell.text.lower()) if len(word) > 3
            )
            if (cell.path in names and not _is_kind(cell.text, text)) or not is_told:
                continue
            if len(subset) > 1 and all(row in subset for row, _ in told):
                part = {row: value for row, value in values.items() if row in subset}
                if len(part) > 1 and _holds(direction, rank, told, part):
                    yield True


def _is_kind(value: str, text: str) -> bool:
    """Return true if a value says of what kind the extreme is: "the longest run", not "the biggest expense was rent"."""
    match = next((found for pattern in (_HIGH, _LOW, _EITHER) if (found := pattern.search(text))), None)
    following = re.findall(r"\w+", text[match.end() :])[:2] if match else []
    return any(stem(word) == stem(value.lower()) for word in following)


def _only_column(
    mentions: Sequence[NamedRows], tables: Sequence[Table]
) -> dict[tuple[int, tuple[str, ...]], list[Figure]]:
    found: dict[tuple[int, tuple[str, ...]], list[Figure]] = {}
    for mention in mentions[:1]:
        for place, row in sorted(mention.rows)[:1]:
            columns = numeric_columns(place, tables[place])
            if len(columns) == 1:
                [(path, column)] = columns.items()
                found[place, path] = [column[row]] if row in column else []
    return {key: each for key, each in found.items() if each}


def _column(place: int, path: tuple[str, ...], table: Table) -> dict[int, float]:
    """Return the values of a column by row; a column of sums or differences of two others is computed."""
    columns = numeric_columns(place, table)
    if path in columns:
        return {row: figure.number for row, figure in columns[path].items()}
    operation = path[-1]
    for first, one in columns.items():
        for second, two in columns.items():
            if (*first, *second, operation) == path:
                rows = one.keys() & two.keys()
                return {
                    row: one[row].number + two[row].number
                    if operation == "sum"
                    else abs(one[row].number - two[row].number)
                    for row in rows
                }
    return {}


def _holds(direction: int, rank: int, told: Sequence[tuple[int, float]], values: dict[int, float]) -> bool:
    """Return true if the stated values are the extremes of a column, the first of them at the rank."""
    numbers = [number for _, number in told]
    for sign in (direction,) if direction else (1, -1):
        ordered = sorted(values.values(), key=lambda value: -sign * value)
        best = ordered[rank : rank + len(numbers)]
        if rank < len(ordered) and numbers and numbers[0] == ordered[rank] and (len(numbers) == 1 or numbers == best):
            return True
        if rank < len(ordered) and len(numbers) > 1 and numbers[0] == ordered[rank] and not rank and len(numbers) == 2:
            return True  # "19 minutes, ahead of … at 22"
    return False
