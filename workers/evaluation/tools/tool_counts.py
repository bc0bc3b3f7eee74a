"""Hold the counts of a claim against the fields that they name: "one stop" beside ``stops``, "retried twice" beside ``retry_count``."""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.facts.units import NUMBER_WORDS
from workers.evaluation.text.words import stem
from workers.evaluation.tools.computed.columns import single_rows
from workers.evaluation.tools.computed.row_counts import ALL_EXCEPT
from workers.evaluation.tools.results.tool_results import PREFIX, TOKEN, Mention, ToolResults
from workers.evaluation.tools.results.tool_tables import Cell, Table
from workers.evaluation.tools.tool_figures import key_words

MAX_ROWS = 200
"""Most rows of a table that an exception is looked for in."""

_COUNT = r"(?P<count>\d{1,6}(?![\d.,:%/-]*\d)|no|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_COUNTED = re.compile(
    rf"(?<![\w.,:/-])(?<!\bof ){_COUNT}\s(?P<noun>[a-z]{{3,20}})\b(?=\s*(?:[,.;)]|$|and\b))", re.IGNORECASE
)
_TIMES = re.compile(
    rf"\b(?P<verb>[a-z]{{4,20}})\s(?:again\s|only\s|already\s|just\s)?(?:(?P<word>once|twice)|{_COUNT}\stimes)\b",
    re.IGNORECASE,
)
_DERIVED = re.compile(
    r"\b(?:more|fewer|less|than|total|together|altogether|combined|left|remain\w*|at least|at most|up to|over|under|about|around|nearly"
    r"|of the|out of|average|per|another|further|last|next|first)\b",
    re.IGNORECASE,
)
"""Words beside which a count may be another one than that of the field."""
_COUNTING = frozenset(("count", "times", "number", "num", "total"))
_FREQUENCIES = {"once": 1.0, "twice": 2.0, "one": 1.0, "no": 0.0, "zero": 0.0}
_YES, _NO = frozenset(("true", "yes")), frozenset(("false", "no"))


def has_another_count(claim: str, mentions: Sequence[Mention], results: ToolResults) -> bool:
    """Return true if a count of a claim differs from the field of the one record that it names.

    Args:
        claim: plain text.
        mentions: names of rows in the claim.
        results: the results of the answer's tools.
    """
    if _DERIVED.search(claim):
        return False
    told = [(_number(match["count"]), match["noun"], False) for match in _COUNTED.finditer(claim)]
    told += [(_number(match["word"] or match["count"]), match["verb"], True) for match in _TIMES.finditer(claim)]
    if not told:
        return False
    cells = [cell for place, row in single_rows(mentions, results) for cell in results.tables[place].rows[row]]
    for number, word, is_frequency in told:
        held = {cell.number for cell in cells if cell.number is not None and _counts(cell, word, is_frequency)}
        if len(held) == 1 and number not in held:
            return True
    return False


def _counts(cell: Cell, word: str, is_frequency: bool) -> bool:
    """Return true if the key of a cell says that it counts what a word names: ``stops``, ``seat_count``, ``attempts``."""
    words = key_words(cell.path[-1:])
    things = [each for each in words if each not in _COUNTING]
    is_count = len(things) < len(words) or (len(words) == 1 and words[0].endswith("s"))
    if not is_count or len(things) != 1:
        return False
    lowered = word.lower()
    # "Retried" and "retry" have different stems.
    return things[0][:PREFIX] == lowered[:PREFIX] if is_frequency else stem(things[0]) == stem(lowered)


def _number(word: str) -> float:
    lowered = word.casefold()
    if lowered in _FREQUENCIES:
        return _FREQUENCIES[lowered]
    return float(lowered) if lowered.isdecimal() else float(NUMBER_WORDS[lowered])


def excepts_wrongly(claim: str, mentions: Sequence[Mention], results: ToolResults) -> bool:
    """Return true if a claim leaves out of all rows another one than the only one for which a field says no.

    Args:
        claim: plain text, such as "all except D. Kim are remote".
        mentions: names of rows in the claim.
        results: the results of the answer's tools.
    """
    match = ALL_EXCEPT.search(claim)
    left_out = next((each for each in mentions if match and each.start >= match.end()), None)
    if left_out is None or len(left_out.rows) != 1:
        return False
    [(place, row)] = left_out.rows
    told = {token.casefold() for token in TOKEN.findall(claim)}
    columns = [each for words, each in _switches(results.tables[place]) if told.issuperset(words)]
    return any(row not in refused and len(refused) == 1 for refused in columns)


def _switches(table: Table) -> Iterator[tuple[tuple[str, ...], frozenset[int]]]:
    """Yield the words of the key of each column that says yes or no, with the rows in which it says no."""
    rows = table.rows[:MAX_ROWS]
    for path in dict.fromkeys(cell.path for cell in rows[0]):
        values = [next((cell.text.casefold() for cell in cells if cell.path == path), "") for cells in rows]
        if words := key_words(path[-1:]) if set(values) <= _YES | _NO else ():
            yield words, frozenset(place for place, value in enumerate(values) if value in _NO)
