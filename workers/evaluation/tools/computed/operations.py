"""Compute the figure that a claim names by an operation over rows of a result, and hold the claim against it.

"Two of the four orders were cancelled" names a count, "the delivered orders came to 270" a sum, "18 days left" the rest
of an allowance, "fell by 20 %" a change. The words of the claim and of its question select rows and columns
(``tool_selections``). A figure that none of the possible readings gives is wrong; where the words leave the column or
the rows open, nothing is said.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from workers.evaluation.budget import spend
from workers.evaluation.tools.computed.aggregates import AGGREGATES, EACH, SOME_OF, aggregates, shares
from workers.evaluation.tools.computed.columns import (
    MAX_ROWS,
    Columns,
    compared,
    compared_columns,
    named_rows,
    remainders,
    single_rows,
)
from workers.evaluation.tools.computed.row_counts import counts_wrongly, is_counted, open_words
from workers.evaluation.tools.computed.selections import select_rows
from workers.evaluation.tools.computed.states import has_another_state, has_grown_less, is_multiplied_wrongly
from workers.evaluation.tools.results.tool_results import Located, Mention, ToolResults
from workers.evaluation.tools.tool_figures import Figure, has_value, key_words, numeric_columns, pairs_of
from workers.evaluation.tools.tool_rows import mentions_in

_LEFT = re.compile(r"\b(?:left|remain\w*|unused|still\s+(?:has|have)|available|free)\b", re.IGNORECASE)


_NAMES_ALLOWANCE = re.compile(r"\b(?:left|remain\w*|unused)\b", re.IGNORECASE)


_CHANGED = re.compile(
    r"\b(?P<up>rose|risen|rise|grew|grown|growth|increas\w+|gain\w*|climbed|up)\b"
    r"|\b(?P<down>fell|fallen|fall|dropp?\w*|decreas\w+|declin\w+|shrank|lost|down)\b",
    re.IGNORECASE,
)


def is_computed_wrongly(
    claim: str, question: str, figures: Sequence[Located], mentions: Sequence[Mention], results: ToolResults
) -> bool:
    """Return true if the operation that a claim names gives another figure than the claim.

    Args:
        claim: plain text.
        question: the question that it answers, or an empty text.
        figures: figures of the claim, in order.
        mentions: names of rows in the claim.
        results: the results of the answer's tools.
    """
    if counts_wrongly(claim, question, mentions, results) or is_multiplied_wrongly(claim, figures):
        return True
    if has_grown_less(claim, mentions, results) or has_another_state(claim, mentions, results):
        return True
    return any(
        bool(expected) and not any(has_value(value, each.quantity) for value in expected)
        for each in figures
        if not each.quantity.bound and not _is_quoted(each, claim, results)
        for expected in readings(claim, question, each, figures, mentions, results)
    )


def _is_quoted(figure: Located, claim: str, results: ToolResults) -> bool:
    """Return true if a figure repeats a value with its unit as a program prints it: "44G"."""
    match = _PRINTED.match(claim, figure.start)
    return match is not None and match[0].casefold() in results.text


_PRINTED = re.compile(r"\d[\d.]*[A-Za-z]+\b")


def is_computed(
    figure: Located,
    claim: str,
    question: str,
    figures: Sequence[Located],
    mentions: Sequence[Mention],
    results: ToolResults,
) -> bool:
    """Return true if an operation that a claim names gives one of its figures.

    Args:
        figure: the figure.
        claim: plain text.
        question: the question that it answers, or an empty text.
        figures: figures of the claim, in order.
        mentions: names of rows in the claim.
        results: the results of the answer's tools.
    """
    expected = (value for found in readings(claim, question, figure, figures, mentions, results) for value in found)
    return is_counted(figure, claim, question, results) or any(
        has_value(value, figure.quantity)
        for values in (expected, _implied(claim, question, figure, mentions, results))
        for value in values
    )


def _implied(
    claim: str, question: str, figure: Located, mentions: Sequence[Mention], results: ToolResults
) -> Iterator[Figure]:
    """Yield the sums of the rows that a claim describes without a word for it: "without the cancelled order you spent 209.50"."""
    for place, table in enumerate(results.tables if not figure.sources else ()):
        if 1 < len(table.rows) <= MAX_ROWS and select_rows(claim, table, place, question).is_part:
            yield from aggregates(claim, "sum", sum, place, results, mentions, figure.quantity)


def readings(
    claim: str,
    question: str,
    figure: Located,
    figures: Sequence[Located],
    mentions: Sequence[Mention],
    results: ToolResults,
) -> Iterator[list[Figure]]:
    """Yield for each operation that stands beside a figure the values that it may give; none where the columns are open."""
    before, behind = _around(claim, figure, figures)
    clause = f"{before}{claim[figure.start : _end(figure)]}{behind}"
    own = _own_mentions(figure, before, behind, mentions)
    for place, table in enumerate(results.tables):
        if not 1 < len(table.rows) <= MAX_ROWS:
            continue
        columns = numeric_columns(place, table)
        spend(sum(map(len, columns.values())))
        aggregated = [
            (operation, function)
            for operation, ahead, after, function in AGGREGATES
            if (ahead.search(before) or after.search(behind)) and not SOME_OF.search(claim)
        ]
        for operation, function in aggregated:
            text = f"{question} {clause}"
            yield list(aggregates(text, operation, function, place, results, own, figure.quantity))
        if not aggregated and figure.sources and all(source.operation == "sum" for source in figure.sources):
            chosen = select_rows(claim, table, place, question)
            if chosen.is_part and not open_words(claim, chosen, table):
                yield list(aggregates(claim, "sum", sum, place, results, own, figure.quantity))
        is_share = figure.quantity.dimension == "percent" and _IS_SHARE.match(behind) is not None
        if is_share and len(named := named_rows(mentions, place)) == 1:
            yield list(shares(f"{question} {claim}", columns, next(iter(named)), figure.quantity))
        if len(named := named_rows(own, place)) == 1:
            [row] = named
            if changed := _CHANGED.search(before):
                yield list(_changes(columns, row, -1 if changed["down"] else 1))
    if _DIFFERS.match(behind) or _DIFFERS_BY.search(before):
        yield list(_distances(claim, question, figure, mentions, results))
    for place, row in single_rows(mentions, results):
        cells = {
            path: column[row] for path, column in numeric_columns(place, results.tables[place]).items() if row in column
        }
        others = [each for each in figures if each is not figure and each.start < figure.start]
        if len(others) == 1 and _COSTS.search(before):
            yield list(_for_several(claim, others[0], cells))
        if _SPREAD.search(before):
            yield list(_spreads(before, cells))
        if _LEFT.search(before) or _LEFT.search(behind):
            yield list(remainders(cells, has_allowance=not _NAMES_ALLOWANCE.search(before + behind)))


_IS_SHARE = re.compile(r"\s*(?:%|percent)?\s*of\b")


def _around(claim: str, figure: Located, figures: Sequence[Located]) -> tuple[str, str]:
    """Return the text between a figure and its neighbours, up to the ends of the clause."""
    last = max((each.start + len(each.quantity.written) for each in figures if each.start < figure.start), default=0)
    following = min((each.start for each in figures if each.start > figure.start), default=len(claim))
    before, behind = claim[min(last, figure.start) : figure.start], claim[_end(figure) : following]
    return _CLAUSE.split(before)[-1], _CLAUSE.split(behind)[0]


def _end(figure: Located) -> int:
    # What follows a figure without a unit is a noun, which may be the word that matters: "15 free".
    written = figure.quantity.written if figure.quantity.is_unit else figure.quantity.written.split(" ")[0]
    return figure.start + len(written)


def _own_mentions(figure: Located, before: str, behind: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Return the names of rows in the clause of a figure; without any, those before it."""
    start, end = figure.start - len(before), _end(figure) + len(behind)
    return [each for each in mentions if start <= each.start < end] or [
        each for each in mentions if each.end <= figure.start
    ]


_CLAUSE = re.compile(
    r"[;:.](?:\s|$)|,\s(?=(?:so|plus|up|down|and|but|which|because|while|with|compared)\b)|\b(?:because|while|whereas|but|plus|than|after|from)\b"
)


def _changes(columns: Columns, row: int, sign: int) -> Iterator[Figure]:
    """Yield how far the only two comparable columns of a row differ in a direction, as an amount and as a share."""
    for one, two in compared(columns):
        if row in one and row in two:
            first, second = one[row].number, two[row].number
            yield Figure(sign * (second - first), (), one[row].rows, "difference", one[row].unit)
            if first:
                yield Figure(sign * (second - first) / abs(first), (), one[row].rows, "change")


def _distances(
    claim: str, question: str, figure: Located, mentions: Sequence[Mention], results: ToolResults
) -> Iterator[Figure]:
    """Yield how far the only two rows that a claim, or its question, names lie apart in the columns that are meant."""
    for place, table in enumerate(results.tables):
        for named in (mentions, mentions_in(question, results)):
            rows = sorted({row for each in named if len(each.rows) == 1 for own, row in each.rows if own == place})
            if len(rows) == 2:
                columns = numeric_columns(place, table)
                for path in compared_columns(f"{question} {claim}", columns, figure.quantity):
                    one, two = (columns[path].get(row) for row in rows)
                    if one is not None and two is not None:
                        yield Figure(abs(one.number - two.number), path, one.rows | two.rows, "difference", one.unit)
                        yield from (each for each in pairs_of(path, one, two) if each.operation == "change")
                return


def _for_several(claim: str, count: Located, cells: dict[tuple[str, ...], Figure]) -> Iterator[Figure]:
    """Yield the price of a row for the number of pieces, nights or months that a claim tells."""
    if not count.quantity.is_unit and re.match(r"\w+\s[a-z]+s\b", claim[count.start :]):
        prices = [each for path, each in cells.items() if EACH & set(key_words(path[-1:]))]
        yield from (replace(each, number=each.number * count.quantity.face, operation="sum") for each in prices)


_COSTS = re.compile(r"\bcosts?\b|\bcomes?\sto\b", re.IGNORECASE)


_COMPARATIVE = (
    r"(?:more|less|fewer|higher|lower|longer|shorter|cheaper|dearer|older|younger|larger|smaller|heavier|lighter)"
)


_DIFFERS = re.compile(rf"\s*(?:[\w%€$£]+\s){{0,2}}{_COMPARATIVE}\b", re.IGNORECASE)


_DIFFERS_BY = re.compile(rf"\b{_COMPARATIVE}\b[^,;]*\bby\s(?:about\s|around\s|exactly\s)?[$€£]?$", re.IGNORECASE)


def _spreads(text: str, cells: dict[tuple[str, ...], Figure]) -> Iterator[Figure]:
    """Yield the distance of the ends that a row states, or of its quartiles."""
    ends = {path[-1].casefold(): each for path, each in cells.items() if path}
    for low, high in _QUARTILES if "quartile" in text.casefold() else _ENDS:
        if low in ends and high in ends:
            one, two = ends[low], ends[high]
            yield Figure(two.number - one.number, two.path, two.rows, "difference", two.unit)


_SPREAD = re.compile(r"\b(?:range\b(?!s? from)|spans?|spread)\b", re.IGNORECASE)


_QUARTILES = (("25%", "75%"), ("p25", "p75"), ("q1", "q3"))


_ENDS = (("min", "max"), ("minimum", "maximum"), ("low", "high"), ("lowest", "highest"))
