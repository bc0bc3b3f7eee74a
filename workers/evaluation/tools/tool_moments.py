"""Check claims on who or what was first or last against the dates and years of a result."""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.text.words import stem
from workers.evaluation.tools.computed.selections import select_rows
from workers.evaluation.tools.results.tool_results import TOKEN, Mention, ToolResults
from workers.evaluation.tools.results.tool_tables import Cell, Table
from workers.evaluation.tools.tool_figures import key_words

_FIRST = re.compile(
    r"\b(?:earliest|oldest|longest[ -]serving|longest(?=[^.;]*\bsince\b)|the first to\b|the first(?= [a-z]+(?:, [^,]{1,30},)? (?:is|was|came|started|began|dates)\b)"
    r"|(?:joined|hired|opened|started|came|arrived|registered|founded|built|released|created|born|shipped|(?:is|was)(?: \w+)?) first)\b",
    re.IGNORECASE,
)
_LAST = re.compile(
    r"\b(?:(?<!at the )latest|newest|youngest|most recent(?:ly)?|the last to\b|the last(?= [a-z]+(?:, [^,]{1,30},)? (?:is|was|came|started|began|dates)\b)"
    r"|(?:joined|hired|opened|started|came|arrived|registered|founded|built|released|created|born|shipped|(?:is|was)(?: \w+)?) last)\b"
    r"(?!\s(?:week|month|year|night|quarter|day)s?\b)",
    re.IGNORECASE,
)
_MOMENT = re.compile(r"((?:1\d|20)\d\d)-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d))?)?")
_YEAR_KEYS = frozenset(
    ("year", "founded", "built", "born", "since", "opened", "released", "established", "joined", "hired")
)


def false_moment(claim: str, question: str, mentions: Sequence[Mention], results: ToolResults) -> bool:
    """Return true if another row is earlier or later than the one that a claim calls the first or the last.

    Args:
        claim: plain text.
        question: the question that it answers, or an empty text.
        mentions: names of rows in the claim.
        results: the results of the answer's tools.
    """
    is_first, is_last = _FIRST.search(claim), _LAST.search(claim)
    if bool(is_first) == bool(is_last) or not mentions or _LIMITED.search(f"{question} {claim}"):
        return False
    superlative = is_first or is_last
    is_noun = superlative is not None and superlative[0].casefold() in ("the first", "the last")  # one word follows
    following = TOKEN.match(claim[superlative.end() :].lstrip()) if superlative and not is_noun else None
    for place, table in enumerate(results.tables):
        dated = list(_moments(table)) if len(table.rows) > 1 else []
        rows = [frozenset(row for own, row in each.rows if own == place) for each in mentions]
        named = next((each for each in rows if len(each) == 1), frozenset())
        told = {token.casefold() for token in TOKEN.findall(claim)}
        columns = [each for path, each in dated if told & set(key_words(path[-1:]))] or [each for _, each in dated]
        if not named or len(columns) != 1 or (following and not _is_known(following[0], table)):
            continue
        [row] = named
        among = select_rows(f"{question} {claim}", table, place, has_dates=False).described | named
        moments = {each: columns[0][each] for each in among}
        if moments[row] != (min if is_first else max)(moments.values()):
            return True
    return False


_LIMITED = re.compile(r"\b(?:after|before|between|until|till|past|within|next)\s+\S*\d", re.IGNORECASE)
"""A limit of time, within which something else may be the first."""


def _is_known(word: str, table: Table) -> bool:
    """Return true if a word behind a superlative adds no condition that no column has."""
    lowered = word.casefold()
    keys = {each for cell in table.rows[0] for each in (*key_words(cell.path), *key_words(table.name[-1:]))}
    values = {token.casefold() for cells in table.rows for cell in cells for token in TOKEN.findall(cell.text)}
    return lowered in _PLAIN or any(stem(lowered) == stem(each) for each in keys | values)


_PLAIN = frozenset(
    ("one", "is", "was", "are", "were", "on", "in", "since", "with", "at", "of", "event", "entry", "record", "and")
)


def _moments(table: Table) -> Iterator[tuple[tuple[str, ...], dict[int, tuple[int, ...]]]]:
    """Yield the columns of dates or years that every row has, with comparable values by row."""
    paths = dict.fromkeys(cell.path for cell in table.rows[0])
    for path in paths:
        cells = [next((cell for cell in cells if cell.path == path), None) for cells in table.rows]
        column = {row: moment for row, cell in enumerate(cells) if cell is not None and (moment := _moment(cell))}
        if len(column) == len(table.rows):
            yield path, column


def _moment(cell: Cell) -> tuple[int, ...] | None:
    if cell.number is not None:
        is_year = 1000 <= cell.number <= 2100 and _YEAR_KEYS & set(key_words(cell.path[-1:]))
        return (int(cell.number),) if is_year else None
    match = _MOMENT.match(cell.text)
    return tuple(int(part or 0) for part in match.groups()) if match else None
